"""Walks the user's files and folders, and decides for every file whether it is footage, and if not, why."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from experts.footage.decoding import DecodingError
from experts.footage.file_state import state_of
from experts.footage.video import probe_video
from spatial_engine.errors import UsageError
from spatial_engine.sources.footage import Footage, Found, ImageFolder, Skipped, VideoFile
from spatial_engine.sources.image_groups import group_images, natural_key

# fmt: off
VIDEO_ENDINGS = frozenset({
    ".3gp", ".avi", ".flv", ".gif", ".h264", ".hevc", ".m2ts", ".m4v", ".mjpeg", ".mkv", ".mov", ".mp4", ".mpeg",
    ".mpg", ".mts", ".mxf", ".ogv", ".ts", ".webm", ".wmv",
})
IMAGE_ENDINGS = frozenset({
    ".bmp", ".jp2", ".jpeg", ".jpg", ".pgm", ".png", ".pnm", ".ppm", ".tif", ".tiff", ".webp",
})
# fmt: on


Files = Mapping[Path, os.stat_result]


class Known(NamedTuple):
    """Footage that an earlier run took."""

    state: str
    """Of its files at that time."""
    width_px: int = 0
    """Of the images of a folder."""
    height_px: int = 0


KnownFootage = Mapping[str, Known]
"""By place."""
NONE_KNOWN: KnownFootage = MappingProxyType({})


def find_footage(path: Path, images: str | None = None, known: KnownFootage = NONE_KNOWN) -> Found:
    """Every video and every image sequence at or below `path`.

    Args:
        path: a video, or a folder (searched to the bottom; links are followed once).
        images: a pattern ("*.jpg", "cam0/*"); only images whose name or path below `path` matches it are frames.
        known: footage whose files are not read if they are as they were.

    Raises:
        UsageError: there is nothing at `path`.
    """
    if not path.exists():
        raise UsageError(f"there is no {str(path)!r}", "give a video file, or a folder of videos or images")
    if path.is_file():
        footage, skipped = _of_files(path.parent, "", {path: path.stat()}, images, path.parent, known)
        return Found(taken=tuple(footage), skipped=tuple(skipped))
    taken: list[Footage] = []
    skipped = []
    for folder, files, unread in _walk(path, set()):
        skipped.extend(unread)
        name = path.resolve().name if folder == path else folder.relative_to(path).as_posix()
        footage, rest = _of_files(folder, name, files, images, path, known)
        taken.extend(footage)
        skipped.extend(rest)
    return Found(taken=tuple(taken), skipped=tuple(skipped))


def _walk(folder: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, Files, list[Skipped]]]:
    """(folder, its files, what was not entered), each folder once, in natural order."""
    try:
        stat = folder.stat()
        number = (stat.st_dev, stat.st_ino)
        if number in seen:
            yield folder, {}, [Skipped(path=folder, reason="seen already (a link)")]
            return
        seen.add(number)
        entries = sorted(os.scandir(folder), key=lambda entry: natural_key(entry.name))
    except OSError as error:
        yield folder, {}, [Skipped(path=folder, reason=f"folder cannot be read ({error.strerror})")]
        return
    files: dict[Path, os.stat_result] = {}
    folders, skipped = [], []
    for entry in entries:
        place = Path(entry.path)
        if entry.name.startswith("."):
            skipped.append(Skipped(path=place, reason="hidden"))
        elif entry.is_dir():
            folders.append(place)
        elif not entry.is_file():
            skipped.append(Skipped(path=place, reason="broken link or special file"))
        else:
            try:
                files[place] = entry.stat()
            except OSError as error:
                skipped.append(Skipped(path=place, reason=f"cannot be read ({error.strerror})"))
    yield folder, files, skipped
    for place in folders:
        yield from _walk(place, seen)


def _of_files(
    folder: Path, name: str, files: Files, images: str | None, root: Path, known: KnownFootage
) -> tuple[list[Footage], list[Skipped]]:
    """Footage among the files of one folder."""
    taken: list[Footage] = []
    skipped: list[Skipped] = []
    pictures: dict[Path, os.stat_result] = {}
    for file, stat in files.items():
        ending, video = file.suffix.lower(), VideoFile(path=file, name="", state=state_of([(file.name, stat)]))
        reason = _why_not(file, stat, ending, images, root)
        if not reason and ending in VIDEO_ENDINGS and known.get(video.place) != Known(video.state):
            reason = _why_no_video(file)
        if reason:
            skipped.append(Skipped(path=file, reason=reason))
        elif ending in IMAGE_ENDINGS:
            pictures[file] = stat
        else:
            taken.append(replace(video, name=file.relative_to(root).as_posix()))
    groups, rest = _of_images(folder, name, pictures, known)
    return [*taken, *groups], [*skipped, *rest]


def _of_images(
    folder: Path, name: str, pictures: Files, known: KnownFootage
) -> tuple[list[ImageFolder], list[Skipped]]:
    """Clips among the images of one folder. Where all of them were one clip, and none has changed, they still are."""
    paths = tuple(pictures)
    former = known.get(str(paths[0].absolute())) if paths else None
    if former is not None and former.state == _state(paths, pictures):
        known_size = {"width_px": former.width_px, "height_px": former.height_px}
        return [ImageFolder(paths=paths, name=name, state=former.state, **known_size)], []
    groups, skipped = group_images(folder, name, paths)
    return [replace(group, state=_state(group.paths, pictures)) for group in groups], skipped


def _state(paths: tuple[Path, ...], pictures: Files) -> str:
    return state_of((path.name, pictures[path]) for path in paths)


def _why_not(file: Path, stat: os.stat_result, ending: str, images: str | None, root: Path) -> str:
    """Why a file alone is no footage; empty if it may be."""
    if file.name == "clips.yaml":
        return "options of clips count only in the folder that the command names"
    if file.name == "intrinsics.json" or file.name.endswith(".intrinsics.json"):
        return "a camera, read with the clip beside it"
    if ending not in VIDEO_ENDINGS | IMAGE_ENDINGS:
        return f"neither a video nor an image ({ending or 'no ending'})"
    if stat.st_size == 0:
        return "empty file"
    if ending in VIDEO_ENDINGS or not images:
        return ""
    matches = fnmatch(file.name, images) or fnmatch(file.relative_to(root).as_posix(), images)
    return "" if matches else f"does not match --images {images}"


def _why_no_video(file: Path) -> str:
    """Why a file with the name of a video is none; empty if it is one."""
    try:
        probe_video(file)
    except DecodingError as error:
        return error.cause
    return ""
