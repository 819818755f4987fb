"""Walks the user's files and folders, and decides for every file whether it is footage, and if not, why."""

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from experts.footage.decoding import DecodingError
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


def find_footage(path: Path, images: str | None = None) -> Found:
    """Every video and every image sequence at or below `path`.

    Args:
        path: a video, or a folder (searched to the bottom; links are followed once).
        images: a pattern ("*.jpg", "cam0/*"); only images whose name or path below `path` matches it are frames.

    Raises:
        UsageError: there is nothing at `path`.
    """
    if not path.exists():
        raise UsageError(f"there is no {str(path)!r}", "give a video file, or a folder of videos or images")
    if path.is_file():
        footage, skipped = _of_files(path.parent, "", [path], images, path.parent)
        return Found(taken=tuple(footage), skipped=tuple(skipped))
    taken: list[Footage] = []
    skipped = []
    for folder, files, unread in _walk(path, set()):
        skipped.extend(unread)
        name = path.resolve().name if folder == path else folder.relative_to(path).as_posix()
        footage, rest = _of_files(folder, name, files, images, path)
        taken.extend(footage)
        skipped.extend(rest)
    return Found(taken=tuple(taken), skipped=tuple(skipped))


def _walk(folder: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[Path, list[Path], list[Skipped]]]:
    """(folder, its files, what was not entered), each folder once, in natural order."""
    try:
        stat = folder.stat()
        place = (stat.st_dev, stat.st_ino)
        if place in seen:
            yield folder, [], [Skipped(path=folder, reason="seen already (a link)")]
            return
        seen.add(place)
        entries = sorted((Path(e.path) for e in os.scandir(folder)), key=natural_key)
    except OSError as error:
        yield folder, [], [Skipped(path=folder, reason=f"folder cannot be read ({error.strerror})")]
        return
    files, folders, skipped = [], [], []
    for entry in entries:
        if entry.name.startswith("."):
            skipped.append(Skipped(path=entry, reason="hidden"))
        elif entry.is_dir():
            folders.append(entry)
        elif entry.is_file():
            files.append(entry)
        else:
            skipped.append(Skipped(path=entry, reason="broken link or special file"))
    yield folder, files, skipped
    for entry in folders:
        yield from _walk(entry, seen)


def _of_files(
    folder: Path, name: str, files: list[Path], images: str | None, root: Path
) -> tuple[list[Footage], list[Skipped]]:
    """Footage among the files of one folder."""
    taken: list[Footage] = []
    skipped: list[Skipped] = []
    pictures: list[Path] = []
    for file in files:
        ending = file.suffix.lower()
        reason = _why_not(file, ending, images, root)
        if reason:
            skipped.append(Skipped(path=file, reason=reason))
        elif ending in IMAGE_ENDINGS:
            pictures.append(file)
        else:
            taken.append(VideoFile(path=file, name=file.relative_to(root).as_posix()))
    groups: list[ImageFolder]
    groups, rest = group_images(folder, name, pictures)
    return [*taken, *groups], [*skipped, *rest]


def _why_not(file: Path, ending: str, images: str | None, root: Path) -> str:
    """Why a file alone is no footage; empty if it may be."""
    if file.name == "clips.yaml":
        return "options of clips count only in the folder that the command names"
    if file.name == "intrinsics.json" or file.name.endswith(".intrinsics.json"):
        return "a camera, read with the clip beside it"
    if ending not in VIDEO_ENDINGS | IMAGE_ENDINGS:
        return f"neither a video nor an image ({ending or 'no ending'})"
    try:
        if file.stat().st_size == 0:
            return "empty file"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    if ending in VIDEO_ENDINGS:
        try:
            probe_video(file)
        except DecodingError as error:
            return error.cause
    elif images and not (fnmatch(file.name, images) or fnmatch(file.relative_to(root).as_posix(), images)):
        return f"does not match --images {images}"
    return ""
