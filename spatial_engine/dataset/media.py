"""The media of questions: ids by content, entries for `questions.jsonl`, and files in `media/`."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from PIL import Image

from experts.clip import Clip, Picture
from experts.footage.encoding import write_mp4
from spatial_engine.dataset import drawing, hint_pictures, photo_marks
from templates.columns import Json
from templates.media import DepthMap, Drawing, Mark, MatchedPhotos, Medium, Photo, PhotoMark, Sheet, Video

JPEG_QUALITY = 92
VIDEO_SIDE_PX = 640
"""Longest side of a video."""
SUFFIXES = {
    Photo: ".jpg", Video: ".mp4", Drawing: ".png", Sheet: ".png", MatchedPhotos: ".jpg", DepthMap: ".png"
}  # fmt: skip
_FPS = 2.0  # of a video of footage without time stamps


@lru_cache(maxsize=1 << 14)
def medium_id(clip_id: str, medium: Medium) -> str:
    """16 hex digits of all that a medium shows: clip, frames and marks of a photo or video, shapes of a drawing. It
    contains no name chosen by the user."""
    content: list[Json]
    match medium:
        case Photo():
            content = ["frames", clip_id, int(medium.frame), [_content(mark) for mark in medium.marks]]
            content += [medium.crop_px] if medium.crop_px else []
        case Video():
            content = ["video", clip_id, [int(frame) for frame in medium.frames]]
        case Drawing():
            content = ["drawing", _paths(medium), [_content(point) for point in medium.points]]
            content += [added] if (added := _added(medium)) else []
        case Sheet():
            content = ["sheet", medium]
        case MatchedPhotos():
            content = ["matches", clip_id, list(medium.frames), medium.lines_px]
        case DepthMap():
            levels = sha256(medium.levels).hexdigest()
            content = ["depth", clip_id, medium.frame, levels, medium.columns, medium.near, medium.far, medium.unit]
    return sha256(_dumps(content).encode()).hexdigest()[:16]


_dumps = json.JSONEncoder(check_circular=False, separators=(",", ":"), default=vars).encode
"""What is no plain value is a dataclass."""


def _content(mark: PhotoMark) -> list[Json]:
    if isinstance(mark, Mark):
        return [mark.text, *map(float, mark.xy_px)]
    return [mark.text, _shape(mark), _lists(mark.points_px)]


def record(clip: Clip | None, medium: Medium) -> dict[str, Json]:
    """The entry in `Question.media`, as `docs/data_card.md` describes it. `clip`: None for a puzzle.

    Raises `ValueError` for a crop that leaves the frame, a frame that the clip lacks, and a photo or video of no clip.
    """
    id = medium_id("" if clip is None else clip.id, medium)
    file = {"path": f"media/{id}{SUFFIXES[type(medium)]}"}
    if isinstance(medium, Drawing):
        points = [{"text": point.text, "xy": [float(v) for v in point.xy_px]} for point in medium.points]
        shown = {"polylines": _paths(medium), "points": points, **_added(medium)}
        return {"id": id, "kind": "drawing", **file, **shown, "size_px": [drawing.SIDE_PX, drawing.SIDE_PX]}
    if isinstance(medium, Sheet):
        shapes = _plain(vars(medium))
        return {"id": id, "kind": "sheet", **file, **shapes, "size_px": list(drawing.sheet_size(medium))}
    clip = _shown(clip)
    frame_size = (clip.width_px, clip.height_px)
    if isinstance(medium, MatchedPhotos):
        frames, size = list(medium.frames), hint_pictures.matches_size(frame_size)
        return {"id": id, "kind": "matches", **file, "frames": frames, "size_px": list(size)}
    if isinstance(medium, DepthMap):
        size, scale = hint_pictures.depth_size(frame_size), {"near": medium.near, "far": medium.far}
        return {
            "id": id,
            "kind": "depth",
            **file,
            "frames": [medium.frame],
            **scale,
            "unit": medium.unit,
            "size_px": list(size),
        }
    if isinstance(medium, Video):
        return {
            "id": id,
            "kind": "video",
            **file,
            "frames": [int(frame) for frame in medium.frames],
            "times_s": _times_s(clip, medium.frames),
            "fps": _fps(clip, medium.frames),
            "frame_size_px": [clip.width_px, clip.height_px],
            "size_px": list(_video_size(clip)),
        }
    return {
        "id": id,
        "kind": "frames",
        **file,
        "frames": [int(medium.frame)],
        "times_s": _times_s(clip, [medium.frame]),
        "marks": [_mark(mark) for mark in medium.marks],
        "frame_size_px": [clip.width_px, clip.height_px],
        "size_px": list(_photo_size(clip, medium)),
        **({"crop_px": list(medium.crop_px)} if medium.crop_px else {}),
    }


def _shown(clip: Clip | None) -> Clip:
    if clip is None:
        raise ValueError("a puzzle shows a photo or a video; allowed: Drawing, Sheet")
    return clip


def _mark(mark: PhotoMark) -> dict[str, Json]:
    """`xy_px` says where a mark is, whatever its shape."""
    point = {"text": mark.text, "xy_px": [float(v) for v in mark.xy_px]}
    return point if isinstance(mark, Mark) else {**point, "shape": _shape(mark), "points_px": _lists(mark.points_px)}


def _shape(mark: PhotoMark) -> str:
    """box, outline, segment or arrow."""
    return type(mark).__name__.lower()


def _paths(medium: Drawing) -> list[Json]:
    return [_lists(line) for line in medium.polylines]


def _added(medium: Drawing) -> dict[str, Json]:
    """What a map shows beside paths and points."""
    parts = {name: getattr(medium, name) for name in ("polygons", "lines", "grid", "scale_bar")}
    return _plain({name: part for name, part in parts.items() if part})


def _plain(value: Json) -> Json:
    """The value as JSON gives it back: lists for tuples, objects for dataclasses."""
    return json.loads(_dumps(value))


def _lists(points: Iterable[Sequence[float]]) -> list[Json]:
    return [[float(x), float(y)] for x, y in points]


def _times_s(clip: Clip, frames: Sequence[int]) -> list[float] | None:
    first, last = clip.frames[0], clip.frames[-1]
    if odd := [frame for frame in frames if not first <= frame <= last]:
        raise ValueError(f"a medium shows frame {odd[0]}; allowed: {first} to {last}")
    times_s = [clip.time_s(frame) for frame in frames]
    return None if None in times_s else [round(time_s, 6) for time_s in times_s if time_s is not None]


def _fps(clip: Clip, frames: Sequence[int]) -> float:
    """Mean frame rate of a video of these frames."""
    times_s = _times_s(clip, frames)
    return _FPS if times_s is None else round((len(frames) - 1) / (times_s[-1] - times_s[0]), 6)


def _photo_size(clip: Clip, photo: Photo) -> tuple[int, int]:
    left, top, right, bottom = photo.crop_px or (0, 0, clip.width_px, clip.height_px)
    if right > clip.width_px or bottom > clip.height_px:
        raise ValueError(f"Photo.crop_px is {photo.crop_px}; allowed: within {clip.width_px} x {clip.height_px} pixels")
    return photo_marks.stored_size(right - left, bottom - top)


def _video_size(clip: Clip) -> tuple[int, int]:
    """Even, as H.264 needs it."""
    width, height = photo_marks.stored_size(clip.width_px, clip.height_px, VIDEO_SIDE_PX)
    return max(2, width // 2 * 2), max(2, height // 2 * 2)


def render(clip: Clip | None, media: Iterable[Medium], folder: Path) -> None:
    """Writes the missing files of one clip's media, or of puzzles, to `folder`. Each frame is read once, in ascending
    order."""
    photos: dict[int, dict[Path, Photo]] = {}
    several: dict[int, dict[Path, Video | MatchedPhotos]] = {}
    for medium in media:
        file = folder / f"{medium_id('' if clip is None else clip.id, medium)}{SUFFIXES[type(medium)]}"
        if file.exists():
            continue
        match medium:
            case Photo():
                photos.setdefault(medium.frame, {})[file] = medium
            case Video() | MatchedPhotos():
                several.setdefault(max(medium.frames), {})[file] = medium
            case DepthMap():
                size = _shown(clip).width_px, _shown(clip).height_px
                _save(Image.fromarray(hint_pictures.drawn_depth(medium, size)), file)
            case Drawing():
                _save(drawing.with_palette(drawing.drawn_map(medium)), file)
            case Sheet():
                _save(drawing.with_palette(drawing.drawn_sheet(medium)), file)
    if photos or several:
        _read_and_write(_shown(clip), photos, several)


def _read_and_write(
    clip: Clip, photos: Mapping[int, Mapping[Path, Photo]], several: Mapping[int, Mapping[Path, Video | MatchedPhotos]]
) -> None:
    """Photos by their frame; what shows several frames by the last of them."""
    last_use = {
        (f, _frame_size(clip, medium)): last
        for last in sorted(several)
        for medium in several[last].values()
        for f in medium.frames
    }
    sizes: dict[int, list[tuple[int, int]]] = {}
    for frame, size in last_use:
        sizes.setdefault(frame, []).append(size)
    kept: dict[tuple[int, tuple[int, int]], Picture] = {}
    for frame, picture in clip.read(sorted({*photos, *sizes})):
        _write_photos(clip, picture, photos.get(frame, {}))
        for size in sizes.get(frame, ()):
            kept[frame, size] = photo_marks.scaled(picture, size)
        for file, medium in several.get(frame, {}).items():
            size = _frame_size(clip, medium)
            pictures = [kept[f, size] for f in medium.frames]
            if isinstance(medium, Video):
                _write_video(clip, pictures, medium, file)
            else:
                scale = size[0] / clip.width_px, size[1] / clip.height_px
                drawn = hint_pictures.drawn_matches(pictures, medium.lines_px, scale)
                _save(Image.fromarray(drawn), file)
        kept = {key: small for key, small in kept.items() if last_use[key] > frame}


def _frame_size(clip: Clip, medium: Video | MatchedPhotos) -> tuple[int, int]:
    """(width, height) of each frame of a medium that shows several."""
    if isinstance(medium, Video):
        return _video_size(clip)
    return photo_marks.stored_size(clip.width_px, clip.height_px, hint_pictures.SIDE_PX)


def _write_photos(clip: Clip, picture: Picture, photos: Mapping[Path, Photo]) -> None:
    """All photos of one frame, which is made smaller once for each crop."""
    stored: dict[tuple[int, ...] | None, Picture] = {}
    for file, photo in photos.items():
        left, top, right, bottom = photo.crop_px or (0, 0, clip.width_px, clip.height_px)
        size = _photo_size(clip, photo)
        if photo.crop_px not in stored:
            stored[photo.crop_px] = photo_marks.scaled(picture[top:bottom, left:right], size)
        shown = stored[photo.crop_px]
        if photo.marks:
            scale = size[0] / (right - left), size[1] / (bottom - top)
            shown = photo_marks.marked(shown, photo.marks, scale, (left, top))
        _save(Image.fromarray(shown), file)


def _write_video(clip: Clip, pictures: Sequence[Picture], video: Video, file: Path) -> None:
    fps = _fps(clip, video.frames)
    times_s = _times_s(clip, video.frames) or [k / fps for k in range(len(pictures))]
    with _whole(file) as temporary:
        write_mp4(temporary, pictures, [time_s - times_s[0] for time_s in times_s], fps=fps, preset="ultrafast")


def _save(picture: Image.Image, file: Path) -> None:
    """Drawings as PNG, photos as JPEG: by the name of the file."""
    with _whole(file) as temporary:
        if file.suffix == ".png":
            picture.save(temporary, compress_level=1)
        else:
            picture.save(temporary, quality=JPEG_QUALITY)


@contextmanager
def _whole(file: Path) -> Iterator[Path]:
    """A temporary path that becomes `file`: several processes may draw the same picture, or be killed."""
    temporary = file.with_name(f".{token_hex(4)}.{file.name}")
    try:
        yield temporary
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
