"""Footage becomes clips: one per shot, with an id computed from its content."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64, Int64

from experts.clip import Clip, FrameReader, OpeningOptions
from experts.footage.decoding import DecodingError, ImageReader
from experts.footage.limits import Limits
from experts.footage.shots import Shot, windows
from experts.reframing import cropped_camera
from spatial_engine.options import MIN_SIDE_PX, OpenOptions
from spatial_engine.sources.camera_file import camera_of
from spatial_engine.sources.cropping import Crop, CroppedReader, check_crop
from spatial_engine.sources.footage import ClipError, Footage, ImageFolder, VideoFile
from spatial_engine.sources.image_groups import read_header
from spatial_engine.sources.survey import SURVEY_VERSION, ImageSurvey, Survey, survey_images, survey_video

MIN_FRAMES = 2


@runtime_checkable
class Cache(Protocol):
    """Caches what opening footage found (`spatial_engine.store.Store` is one)."""

    def get(self, key: str) -> dict[str, Any] | None:
        """The JSON object put under `key`, or None."""
        ...

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keeps a JSON object."""
        ...


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The clips of one piece of footage."""

    clips: tuple[Clip, ...]
    """At least one, in order of time."""
    notes: tuple[str, ...] = ()
    """What was left out, in the user's words ("12 of 300 frames do not decode")."""


def open_clips(footage: Footage, options: OpenOptions | None = None, cache: Cache | None = None) -> list[Clip]:
    """The clips of one piece of footage; see `open_footage`."""
    return list(open_footage(footage, options, cache).clips)


def open_footage(footage: Footage, options: OpenOptions | None = None, cache: Cache | None = None) -> Opened:
    """Splits footage into shots of at most a minute. Reads a video once, end to end, unless the cache knows it.

    Raises:
        ClipError: nothing in it can be a clip, or it has no times for --start/--end. Other footage is still opened.
    """
    options = options or OpenOptions()
    try:
        if isinstance(footage, VideoFile):
            return _open_video(footage, options, cache)
        return _open_images(footage, options, cache)
    except DecodingError as error:
        raise ClipError(error.cause, error.remedy) from error
    except OSError as error:
        raise ClipError(f"it cannot be read ({error.strerror})", "check that it exists and is readable") from error


def open_photo(path: Path, name: str, options: OpenOptions | None = None) -> Clip:
    """One image as a clip of one frame, for scenes that are known from a single photo. Raises `ClipError`."""
    options = options or OpenOptions()
    try:
        header = read_header(path)
    except (OSError, SyntaxError, ValueError) as error:
        raise ClipError(f"{path.name} is not a readable image", "the file may be damaged") from error
    _check_size(header.width_px, header.height_px)
    try:
        _limits(options).check(path, pixels=header.width_px * header.height_px)
    except DecodingError as error:
        raise ClipError(error.cause, error.remedy) from error
    folder = ImageFolder(paths=(path,), name=name, width_px=header.width_px, height_px=header.height_px)
    reader = _image_reader(folder)
    source = _Source(footage=folder, sha256=survey_images(reader).sha256, times_s=None, reader=lambda _: reader)
    (clip,) = _clips(source, [np.zeros(1, dtype=np.int64)], options)
    return clip


@dataclass(frozen=True, kw_only=True)
class _Source:
    """Footage whose frames are known."""

    footage: Footage
    sha256: str
    """Of its contents."""
    times_s: Float64[np.ndarray, "n"] | None
    """Time stamp of every frame."""
    reader: Callable[[Int64[np.ndarray, "_"]], FrameReader]
    """Of the frames of one clip."""
    width_px: int = 0
    """Upright width; 0: that of the image folder."""
    height_px: int = 0
    rotation_deg: int = 0


def _clips(source: _Source, parts: Sequence[Int64[np.ndarray, "_"]], options: OpenOptions) -> tuple[Clip, ...]:
    """A clip of each list of frames."""
    footage, crop = source.footage, options.crop
    video = isinstance(footage, VideoFile)
    width, height = (source.width_px, source.height_px) if video else (footage.width_px, footage.height_px)  # type: ignore[union-attr]
    camera = camera_of(footage, width, height, options.intrinsics)
    if crop is not None:
        check_crop(crop, width, height, camera_is_stated=camera is not None)
        camera = None if camera is None else cropped_camera(camera, crop)
    setting = OpeningOptions(
        max_side_px=options.max_side, max_keyframes=options.max_keyframes, intrinsics=camera, upright=options.upright
    )
    clips = []
    for number, frames in enumerate(parts, start=1):
        reader = source.reader(frames)
        clips.append(
            Clip(
                id=_clip_id(source.sha256, frames, crop),
                name=footage.name if len(parts) == 1 else f"{footage.name} {'shot' if video else 'part'} {number}",
                frames=frames,
                times_s=None if source.times_s is None else source.times_s[frames],
                width_px=width if crop is None else crop[2],
                height_px=height if crop is None else crop[3],
                rotation_deg=source.rotation_deg,
                licence=options.licence,
                options=setting,
                reader=reader if crop is None else CroppedReader(reader=reader, crop=crop),
            )
        )
    return tuple(clips)


def _open_video(video: VideoFile, options: OpenOptions, cache: Cache | None) -> Opened:
    survey = _surveyed(video.path, cache, _limits(options))
    index, times_s = survey.index, survey.index.times_s
    _check_size(index.width_px, index.height_px)
    if times_s is None and options.fps is not None:
        times_s = np.arange(len(index.pts)) / options.fps  # a bare stream has no timestamps
    kept = _kept(times_s, len(index.pts), options)
    chosen = [(shot, np.intersect1d(shot.frames, kept)) for shot in _shots(survey.shots, times_s, kept)]
    chosen = [(shot, frames) for shot, frames in chosen if len(frames) >= MIN_FRAMES]
    if not chosen:
        raise ClipError(_too_few(len(index.pts), len(kept)), "a clip needs two frames of one shot")
    source = _Source(
        footage=video,
        sha256=survey.sha256,
        times_s=times_s,
        reader=lambda frames: index.reader(video.path, int(frames[0]), int(frames[-1]) + 1),
        width_px=index.width_px,
        height_px=index.height_px,
        rotation_deg=index.rotation_deg,
    )
    clips = _clips(source, [frames for _, frames in chosen], options)
    return Opened(clips=clips, notes=tuple(_notes(survey, [shot for shot, _ in chosen])))


def _open_images(folder: ImageFolder, options: OpenOptions, cache: Cache | None) -> Opened:
    if options.fps is None and (options.start is not None or options.end is not None):
        raise ClipError("--start/--end: images have no times", "give their rate with --fps")
    _check_size(folder.width_px, folder.height_px)
    count = len(folder.paths)
    seconds = 0.0 if options.fps is None else count / options.fps
    _limits(options).check(
        folder.paths[0].parent, pixels=folder.width_px * folder.height_px, frames=count, seconds=seconds
    )
    times_s = None if options.fps is None else np.arange(count) / options.fps
    reader = _image_reader(folder)
    survey = _surveyed_images(reader, cache)
    # the rate is the images' own: nothing is thinned
    frames = _between(times_s, np.arange(count, dtype=np.int64), options)
    frames = np.setdiff1d(frames, np.array(survey.damaged, dtype=np.int64))
    whole = Shot(start=0, stop=count, began="start")
    chosen = [np.intersect1d(shot.frames, frames) for shot in _shots([whole], times_s, frames)]
    chosen = [part for part in chosen if len(part) >= MIN_FRAMES]
    if not chosen:
        raise ClipError(_too_few(count - len(survey.damaged), len(frames)), "a clip needs two frames")
    source = _Source(footage=folder, sha256=survey.sha256, times_s=times_s, reader=lambda _: reader)
    damaged = [f"{folder.paths[k].name} does not decode and is left out" for k in survey.damaged]
    return Opened(clips=_clips(source, chosen, options), notes=tuple(damaged))


def _image_reader(folder: ImageFolder) -> ImageReader:
    return ImageReader(
        paths=folder.paths,
        width_px=folder.width_px,
        height_px=folder.height_px,
        file_bytes=tuple(path.stat().st_size for path in folder.paths),
    )


def _shots(
    shots: Iterable[Shot], times_s: Float64[np.ndarray, "n"] | None, kept: Int64[np.ndarray, "k"]
) -> Iterable[Shot]:
    """Shots cut down to the range of the kept frames, then into windows."""
    for shot in shots:
        inside = kept[(kept >= shot.start) & (kept < shot.stop)]
        if inside.size:
            start, stop = int(inside[0]), int(inside[-1]) + 1
            yield from windows(Shot(start=start, stop=stop, began=shot.began, foreign=shot.foreign), times_s)


def _kept(times_s: Float64[np.ndarray, "n"] | None, count: int, options: OpenOptions) -> Int64[np.ndarray, "k"]:
    """Frames of a video within --start and --end, at most --fps of them a second."""
    frames = _between(times_s, np.arange(count, dtype=np.int64), options)
    if times_s is None or options.fps is None or frames.size == 0:
        return frames
    tick = np.floor((times_s[frames] - times_s[frames[0]]) * options.fps + 1e-6)
    return frames[np.r_[True, np.diff(tick) > 0]]


def _between(
    times_s: Float64[np.ndarray, "n"] | None, frames: Int64[np.ndarray, "n"], options: OpenOptions
) -> Int64[np.ndarray, "k"]:
    if options.start is None and options.end is None:
        return frames
    if times_s is None:
        raise ClipError("--start/--end: this video has no time stamps", "give its rate with --fps")
    end = np.inf if options.end is None else options.end
    return frames[(times_s >= (options.start or 0.0)) & (times_s < end)]


def _limits(options: OpenOptions) -> Limits:
    return Limits(pixels=options.max_pixels, frames=options.max_frames, seconds=options.max_duration)


def _check_size(width_px: int, height_px: int) -> None:
    if min(width_px, height_px) < MIN_SIDE_PX:
        raise ClipError(
            f"frames of {width_px}x{height_px} pixels are too small", f"each side needs {MIN_SIDE_PX} pixels"
        )


def _too_few(decoded: int, kept: int) -> str:
    if decoded < MIN_FRAMES:
        return "one frame only"
    if kept < MIN_FRAMES:
        return f"{kept} of {decoded} frames lie within --start, --end and --fps"
    return "no shot has two frames"


def _notes(survey: Survey, shots: list[Shot]) -> Iterable[str]:
    index = survey.index
    if index.truncated:
        yield f"{index.frames_indexed - index.frames_decoded} of {index.frames_indexed} frames do not decode"
    foreign = sum(len(shot.foreign) for shot in shots)
    if foreign:
        yield f"{foreign} frames are flashes or inserts and left out"
    outside = len(index.pts) - sum(shot.stop - shot.start for shot in survey.shots)
    if outside:
        yield f"{outside} frames between shots are one colour or mixtures of two shots, and left out"
    short = sum(len(shot.frames) < MIN_FRAMES for shot in survey.shots)
    if short:
        yield f"{short} shots of one frame are left out"


def _surveyed(path: Path, cache: Cache | None, limits: Limits) -> Survey:
    key = f"survey {SURVEY_VERSION} {_state([path])}"
    known = None if cache is None else cache.get(key)
    if known is not None:
        survey = Survey.from_json(known)
        index, times_s = survey.index, survey.index.times_s
        seconds = 0.0 if times_s is None else float(times_s[-1])
        limits.check(path, pixels=index.width_px * index.height_px, frames=len(index.pts), seconds=seconds)
        return survey
    survey = survey_video(path, limits)
    if cache is not None:
        cache.put(key, survey.to_json())
    return survey


def _surveyed_images(reader: ImageReader, cache: Cache | None) -> ImageSurvey:
    key = f"images {SURVEY_VERSION} {_state(reader.paths)}"
    known = None if cache is None else cache.get(key)
    if known is not None:
        return ImageSurvey.from_json(known)
    survey = survey_images(reader)
    if cache is not None:
        cache.put(key, survey.to_json())
    return survey


def _state(paths: Iterable[Path]) -> str:
    """Changes when a file does."""
    digest = hashlib.sha256()
    for path in paths:
        stat = path.stat()
        digest.update(repr((str(path.absolute()), stat.st_size, stat.st_mtime_ns)).encode())
    return digest.hexdigest()


def _clip_id(content_sha256: str, frames: Int64[np.ndarray, "n"], crop: Crop | None) -> str:
    """The same footage, frames and crop have the same id wherever they lie and whatever they are called."""
    cut = b"" if crop is None else f"crop {crop}".encode()
    return hashlib.sha256(content_sha256.encode() + frames.astype("<i8").tobytes() + cut).hexdigest()[:16]
