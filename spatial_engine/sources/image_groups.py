"""Tells which images of a folder belong together as the frames of one clip, and which are no pictures at all."""

import errno
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from experts.footage.limits import DEFAULT
from spatial_engine.sources.footage import ImageFolder, Skipped

_NUMBER = re.compile(r"\d+(?:\.\d+)?")  # a time stamp with decimals is one number
_LABEL_WORD = re.compile(r"(?<![a-z])(mask|depth|disp|disparity|seg|semantic|instance|label|alpha|conf)s?(?![a-z])")
_EXIF_ORIENTATION, _EXIF_SIDEWAYS = 0x0112, {5, 6, 7, 8}
_DIGITS = 1000
"""No number of a file's name has so many; Python converts 4300 at most."""
_SAMPLES = 3
"""Images of a group whose pixels are looked at."""
_FEW_COLOURS = 32
"""A photograph has thousands of colours; masks and label maps have a handful."""
_PALETTE = 256
"""A colour map, or one 8-bit channel: too few for a photograph in colour, if the name speaks of labels too."""


@dataclass(frozen=True, kw_only=True)
class ImageHeader:
    """What an image file says without being decoded."""

    path: Path
    width_px: int
    height_px: int
    mode: str


def natural_key(path: Path | str) -> tuple[tuple[int, int, str], ...]:
    """Sorts "2" before "10", and text without regard to case. Numbers of very many digits are text."""
    parts = re.split(r"(\d+)", str(path))
    return tuple((0, int(p), p) if p.isdecimal() and len(p) < _DIGITS else (1, 0, p.casefold()) for p in parts if p)


def read_header(path: Path) -> ImageHeader:
    """Upright size and mode. Raises OSError for what is no image, or one that is too large to be opened."""
    from PIL import Image

    try:
        with warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning):
            opened = Image.open(path)  # it is held against --max-pixels before it is decoded
    except Image.DecompressionBombError as error:
        raise OSError(errno.EFBIG, "more pixels than can be opened safely") from error
    with opened as image:
        width, height = image.size
        stated = image.format != "PNG" or "exif" in image.info  # else Pillow decodes the whole PNG to look for it
        if stated and image.getexif().get(_EXIF_ORIENTATION) in _EXIF_SIDEWAYS:
            width, height = height, width
        return ImageHeader(path=path, width_px=width, height_px=height, mode=image.mode)


def group_images(folder: Path, name: str, paths: Iterable[Path]) -> tuple[list[ImageFolder], list[Skipped]]:
    """Clips among the images of one folder, and what belongs to none."""
    headers, skipped = [], []
    for path in paths:
        try:
            headers.append(read_header(path))
        except (OSError, SyntaxError, ValueError) as error:
            why = getattr(error, "strerror", None) or type(error).__name__
            skipped.append(Skipped(path=path, reason=f"not a readable image ({why})"))
    taken: list[tuple[str, list[ImageHeader]]] = []
    for pattern, group in _groups(headers):
        reason = _why_not(folder, pattern, group)
        if reason:
            skipped.extend(Skipped(path=h.path, reason=reason) for h in group)
        else:
            taken.append((pattern, group))
    several = len(taken) > 1
    folders = [_image_folder(f"{name}/{pattern}" if several else name, group) for pattern, group in taken]
    for twin, count in Counter(f.name for f in folders).items():
        if count > 1:  # one pattern, several sizes
            folders = [_with_size(f) if f.name == twin else f for f in folders]
    return folders, skipped


def _image_folder(name: str, group: list[ImageHeader]) -> ImageFolder:
    first = group[0]
    paths = tuple(h.path for h in group)
    return ImageFolder(paths=paths, name=name, width_px=first.width_px, height_px=first.height_px)


def _with_size(folder: ImageFolder) -> ImageFolder:
    name = f"{folder.name} {folder.width_px}x{folder.height_px}"
    return ImageFolder(paths=folder.paths, name=name, width_px=folder.width_px, height_px=folder.height_px)


def _groups(headers: list[ImageHeader]) -> Iterator[tuple[str, list[ImageHeader]]]:
    """(name pattern, headers in frame order), one per name pattern, size and mode."""
    alike = defaultdict(list)
    for header in sorted(headers, key=lambda h: natural_key(h.path)):
        pattern = _NUMBER.sub("#", header.path.stem) + header.path.suffix.lower()
        alike[pattern, header.width_px, header.height_px, header.mode].append(header)
    for (pattern, *_), group in alike.items():
        yield from _by_counter(pattern, group)


def _by_counter(pattern: str, group: list[ImageHeader]) -> Iterator[tuple[str, list[ImageHeader]]]:
    """Splits names with several numbers: the one with most values counts frames, the others tell cameras or scenes.

    Where that leaves most files alone (dates and times), all numbers count together.
    """
    numbers = [_NUMBER.findall(h.path.stem) for h in group]
    if len(numbers[0]) < 2:
        yield pattern, group
        return
    counter = max(range(len(numbers[0])), key=lambda k: (len({n[k] for n in numbers}), k))
    split = defaultdict(list)
    for header, number in zip(group, numbers, strict=True):
        fixed = iter(n if k != counter else "#" for k, n in enumerate(number))
        split[re.sub("#", lambda _, fixed=fixed: next(fixed), pattern)].append(header)  # type: ignore[misc]
    if sum(len(g) for g in split.values() if len(g) > 1) * 2 < len(group):
        yield pattern, group
    else:
        yield from split.items()


def _why_not(folder: Path, pattern: str, group: list[ImageHeader]) -> str:
    """Why these are not the frames of a clip; empty if they are."""
    mode = group[0].mode
    if mode.startswith(("I", "F")):
        return "one channel of 16 bits or more: a depth map or the like, not a picture"
    if mode == "1":
        return "two values only: a mask, not a picture"
    named = bool(_LABEL_WORD.search(pattern.lower()) or _LABEL_WORD.search(folder.name.lower()))
    limit = _PALETTE if named else _FEW_COLOURS
    step = max(1, len(group) // _SAMPLES)
    if all(_colours(h.path) <= limit for h in group[::step][:_SAMPLES]):
        return "too few colours for pictures: masks or labels"
    if len(group) == 1:
        return "the only image of its size, mode and name pattern here"
    return ""


def _colours(path: Path) -> int:
    """Distinct colours, counted to a little above `_PALETTE`; a huge number for what cannot be decoded."""
    from PIL import Image

    try:
        with (
            warnings.catch_warnings(action="ignore", category=Image.DecompressionBombWarning),
            Image.open(path) as image,
        ):
            if image.width * image.height > DEFAULT.pixels:
                return _PALETTE + 1  # not decoded to be looked at
            image.draft("RGB", (256, 256))  # a JPEG decodes faster at a fraction of its size
            colours = image.convert("RGB").getcolors(_PALETTE)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return _PALETTE + 1  # reported when the clip is opened
    return _PALETTE + 1 if colours is None else len(colours)
