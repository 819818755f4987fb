"""The media of questions: ids by content, entries for `questions.jsonl`, and files in `media/`."""

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from experts.clip import Clip
from spatial_engine.dataset import drawing
from templates.measured import Json
from templates.question import Drawing, Medium, Photo

JPEG_QUALITY = 92


def medium_id(clip_id: str, medium: Medium) -> str:
    """16 hex digits, from clip, frame and marks of a photo, or from the lines of a drawing. It contains no name
    chosen by the user."""
    if isinstance(medium, Photo):
        content = ["frames", clip_id, medium.frame, [[mark.text, *mark.xy_px] for mark in medium.marks]]
    else:
        content = ["drawing", medium.polylines, [[point.text, *point.xy_px] for point in medium.points]]
    return sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()[:16]


def record(clip: Clip, medium: Medium) -> dict[str, Json]:
    """The entry in `Question.media`. `size_px` is the size of the file, `frame_size_px` that of the frame, to which
    marks refer."""
    id = medium_id(clip.id, medium)
    if isinstance(medium, Drawing):
        return {
            "id": id,
            "kind": "drawing",
            "path": f"media/{id}.png",
            "polylines": [[[float(x), float(y)] for x, y in line] for line in medium.polylines],
            "points": [{"text": point.text, "xy": [float(v) for v in point.xy_px]} for point in medium.points],
            "size_px": [drawing.MAP_SIDE_PX, drawing.MAP_SIDE_PX],
        }
    time_s = clip.time_s(medium.frame)
    return {
        "id": id,
        "kind": "frames",
        "path": f"media/{id}.jpg",
        "frames": [int(medium.frame)],
        "times_s": None if time_s is None else [round(time_s, 6)],
        "marks": [{"text": mark.text, "xy_px": [float(v) for v in mark.xy_px]} for mark in medium.marks],
        "frame_size_px": [clip.width_px, clip.height_px],
        "size_px": list(drawing.stored_size(clip.width_px, clip.height_px)),
    }


def render(clip: Clip, media: Iterable[Medium], folder: Path) -> None:
    """Writes the missing files of one clip's media to `folder`. Each frame is read once, in ascending order."""
    photos: dict[int, dict[str, Photo]] = {}
    for medium in media:
        id = medium_id(clip.id, medium)
        if isinstance(medium, Photo):
            if not (folder / f"{id}.jpg").exists():
                photos.setdefault(medium.frame, {})[id] = medium
        elif not (folder / f"{id}.png").exists():
            drawing.drawn_map(medium).save(folder / f"{id}.png")
    for frame, picture in clip.read(sorted(photos)) if photos else ():
        for id, photo in photos[frame].items():
            drawing.photo(picture, photo.marks).save(folder / f"{id}.jpg", quality=JPEG_QUALITY)
