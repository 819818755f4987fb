"""Footage becomes clips: one per shot, with an id that only its content decides."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64, Int64

from experts.clip import Clip, OpeningOptions
from experts.footage.decoding import DecodingError, ImageReader
from experts.footage.shots import Shot, windows
from spatial_engine.options import MIN_SIDE_PX, OpenOptions
from spatial_engine.sources.camera_file import camera_of
from spatial_engine.sources.footage import ClipError, Footage, ImageFolder, VideoFile
from spatial_engine.sources.image_groups import read_header
from spatial_engine.sources.survey import SURVEY_VERSION, ImageSurvey, Survey, survey_images, survey_video

MIN_FRAMES = 2


@runtime_checkable
class Cache(Protocol):
    """Keeps what opening footage found out (`spatial_engine.store.Store` is one)."""

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
        ClipError: nothing in it can be a clip, or it has no times for --start/--end. Other footage is not concerned.
    """
    options = options or OpenOptions()
    try:
        if isinstance(footage, VideoFile):
            return _open_video(footage, options, cache)
        return _open_images(footage, options, cache)
    except DecodingError as error:
        raise ClipError(error.cause, error.remedy) from error
    except OSError as error:
        raise ClipError(f"it cannot be read ({error.strerror})", "check that it is there and may be read") from error


def open_photo(path: Path, name: str, options: OpenOptions | None = None) -> Clip:
    """One image as a clip of one frame, for scenes that are known from a single photo. Raises `ClipError`."""
    options = options or OpenOptions()
    try:
        header = read_header(path)
    except (OSError, SyntaxError, ValueError) as error:
        raise ClipError(f"{path.name} is not a readable image", "check that it is whole") from error
    _check_size(header.width_px, header.height_px)
    folder = ImageFolder(paths=(path,), name=name, width_px=header.width_px, height_px=header.height_px)
    reader = ImageReader(
        paths=folder.paths,
        width_px=header.width_px,
        height_px=header.height_px,
        file_bytes=(path.stat().st_size,),
    )
    frames = np.zeros(1, dtype=np.int64)
    return Clip(
        id=_clip_id(survey_images(reader).sha256, frames),
        name=name,
        frames=frames,
        times_s=None,
        width_px=header.width_px,
        height_px=header.height_px,
        licence=options.licence,
        options=_opening_options(folder, header.width_px, header.height_px, options),
        reader=reader,
    )


def _open_video(video: VideoFile, options: OpenOptions, cache: Cache | None) -> Opened:
    survey = _surveyed(video.path, cache)
    index, times_s = survey.index, survey.index.times_s
    _check_size(index.width_px, index.height_px)
    if times_s is None and options.fps is not None:
        times_s = np.arange(len(index.pts)) / options.fps  # a bare stream: the user's rate is its clock
    kept = _kept(times_s, len(index.pts), options)
    chosen = [(shot, np.intersect1d(shot.frames, kept)) for shot in _shots(survey.shots, times_s, kept)]
    chosen = [(shot, frames) for shot, frames in chosen if len(frames) >= MIN_FRAMES]
    if not chosen:
        raise ClipError(_too_few(len(index.pts), len(kept)), "a clip needs two frames of one shot")
    setting = _opening_options(video, index.width_px, index.height_px, options)
    clips = tuple(
        Clip(
            id=_clip_id(survey.sha256, frames),
            name=video.name if len(chosen) == 1 else f"{video.name} shot {number}",
            frames=frames,
            times_s=None if times_s is None else times_s[frames],
            width_px=index.width_px,
            height_px=index.height_px,
            rotation_deg=index.rotation_deg,
            licence=options.licence,
            options=setting,
            reader=index.reader(video.path, int(frames[0]), int(frames[-1]) + 1),
        )
        for number, (_, frames) in enumerate(chosen, start=1)
    )
    return Opened(clips=clips, notes=tuple(_notes(survey, [shot for shot, _ in chosen])))


def _open_images(folder: ImageFolder, options: OpenOptions, cache: Cache | None) -> Opened:
    if options.fps is None and (options.start is not None or options.end is not None):
        raise ClipError("--start/--end: images have no times", "give their rate with --fps")
    _check_size(folder.width_px, folder.height_px)
    count = len(folder.paths)
    times_s = None if options.fps is None else np.arange(count) / options.fps
    reader = ImageReader(
        paths=folder.paths,
        width_px=folder.width_px,
        height_px=folder.height_px,
        file_bytes=tuple(path.stat().st_size for path in folder.paths),
    )
    survey = _surveyed_images(reader, cache)
    # the rate is the images' own: nothing is thinned
    frames = _between(times_s, np.arange(count, dtype=np.int64), options)
    frames = np.setdiff1d(frames, np.array(survey.damaged, dtype=np.int64))
    whole = Shot(start=0, stop=count, began="start")
    chosen = [np.intersect1d(shot.frames, frames) for shot in _shots([whole], times_s, frames)]
    chosen = [part for part in chosen if len(part) >= MIN_FRAMES]
    if not chosen:
        raise ClipError(_too_few(count - len(survey.damaged), len(frames)), "a clip needs two frames")
    setting = _opening_options(folder, folder.width_px, folder.height_px, options)
    clips = tuple(
        Clip(
            id=_clip_id(survey.sha256, part),
            name=folder.name if len(chosen) == 1 else f"{folder.name} part {number}",
            frames=part,
            times_s=None if times_s is None else times_s[part],
            width_px=folder.width_px,
            height_px=folder.height_px,
            licence=options.licence,
            options=setting,
            reader=reader,
        )
        for number, part in enumerate(chosen, start=1)
    )
    damaged = [f"{folder.paths[k].name} does not decode and is left out" for k in survey.damaged]
    return Opened(clips=clips, notes=tuple(damaged))


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


def _opening_options(footage: Footage, width_px: int, height_px: int, options: OpenOptions) -> OpeningOptions:
    return OpeningOptions(
        max_side_px=options.max_side,
        max_keyframes=options.max_keyframes,
        intrinsics=camera_of(footage, width_px, height_px, options.intrinsics),
        upright=options.upright,
    )


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


def _surveyed(path: Path, cache: Cache | None) -> Survey:
    key = f"survey {SURVEY_VERSION} {_state([path])}"
    known = None if cache is None else cache.get(key)
    if known is not None:
        return Survey.from_json(known)
    survey = survey_video(path)
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


def _clip_id(content_sha256: str, frames: Int64[np.ndarray, "n"]) -> str:
    """The same footage and frames have the same id wherever they lie and whatever they are called."""
    return hashlib.sha256(content_sha256.encode() + frames.astype("<i8").tobytes()).hexdigest()[:16]
