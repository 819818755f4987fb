"""When images were taken, and which row or file of ground truth belongs to which image."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import read_numbers
from spatial_engine.sequences.manifest import Match, Times

NONE = -1
"""No row belongs to this image."""


def by_order(images: int, count: int, what: str) -> Int64[np.ndarray, "n"]:
    """Row k for image k. Raises `UsageError` where the numbers differ."""
    if images != count:
        raise UsageError(f"{count} {what} for {images} images", "match: name (by number in the names), or match: time")
    return np.arange(images, dtype=np.int64)


def by_name(images: Sequence[Path], names: Sequence[str], what: str) -> Int64[np.ndarray, "n"]:
    """Those with the same last number in their name. Raises `UsageError` where a number stands twice, or none fits."""
    numbers = [number_in(name) for name in names]
    if len(set(numbers)) < len(numbers):
        twice = next(name for name, number in zip(names, numbers, strict=True) if numbers.count(number) > 1)
        raise UsageError(f"several names of {what} have the number in {twice!r}", "match: order, or a narrower pattern")
    row = {number: index for index, number in enumerate(numbers)}
    found = np.array([row.get(number_in(image.name), NONE) for image in images], dtype=np.int64)
    return _require_any(found, what, "no number in their names matches an image")


def by_row(images: Sequence[Path], rows: int, what: str) -> Int64[np.ndarray, "n"]:
    """The row whose number, counted from 0, stands in the image's name."""
    return by_name(images, [str(row) for row in range(rows)], what)


def by_time(
    images_s: Float64[np.ndarray, "n"], truth_s: Float64[np.ndarray, "m"], tolerance_s: float, what: str
) -> Int64[np.ndarray, "n"]:
    """The nearest in time, if it is near enough."""
    after = np.clip(np.searchsorted(truth_s, images_s), 1, max(1, len(truth_s) - 1))
    before = after - 1
    after = np.minimum(after, len(truth_s) - 1)
    nearest = np.where(np.abs(truth_s[after] - images_s) < np.abs(truth_s[before] - images_s), after, before)
    found = np.where(np.abs(truth_s[nearest] - images_s) <= tolerance_s, nearest, NONE)
    gap = float(np.min(np.abs(truth_s[nearest] - images_s)))
    return _require_any(found, what, f"the nearest is {gap:.3g} s from an image; the tolerance is {tolerance_s:g} s")


def number_in(name: str) -> int | None:
    """The last whole number in a file's name, its endings left out."""
    found = re.findall(r"\d+", Path(name).name.split(".")[0]) or re.findall(r"\d+", Path(name).stem)
    return int(found[-1]) if found else None


def _require_any(found: Int64[np.ndarray, "n"], what: str, why: str) -> Int64[np.ndarray, "n"]:
    if np.all(found == NONE):
        raise UsageError(
            f"none of the {what} belongs to an image: {why}", "check the patterns, and match: order | name | time"
        )
    return found


def matched(
    images: Sequence[Path],
    images_s: Float64[np.ndarray, "n"] | None,
    *,
    match: Match,
    count: int,
    names: Sequence[str],
    times_s: Float64[np.ndarray, "m"] | None,
    tolerance_s: float,
    what: str,
) -> Int64[np.ndarray, "n"]:
    """For each image the index of what belongs to it, or `NONE`. `names` is empty where rows have no names."""
    if match == "order":
        return by_order(len(images), count, what)
    if match == "name":
        return by_name(images, names, what) if names else by_row(images, count, what)
    if images_s is None or times_s is None:
        whose = "images" if images_s is None else what
        raise UsageError(f"match: time, but the {whose} have no timestamps", "state times, or match: order | name")
    return by_time(images_s, times_s, tolerance_s, what)


_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def times_s(folder: Path, times: Times, images: Sequence[Path]) -> Float64[np.ndarray, "n"]:
    """Seconds. Raises `UsageError` where they are stated twice or not at all, or belong to other images."""
    counted = times.from_names == "frames" and times.fps
    if not counted and sum(map(bool, (times.fps, times.file, times.from_names))) != 1:
        raise UsageError(
            "times: state one of fps, file, from_names", "fps: 30, or file: times.txt, or from_names: seconds"
        )
    if times.from_names:
        return np.array([time_in(image, times) for image in images])
    if times.fps:
        return np.arange(len(images)) / times.fps
    stated = read_numbers(folder / times.file)[:, 0]
    if len(stated) != len(images):
        raise UsageError(f"{times.file} has {len(stated)} times for {len(images)} images", "one line an image")
    return stated


def time_in(image: Path, times: Times) -> float:
    """The last number in an image's name, in seconds."""
    numbers = _NUMBER.findall(image.name[: -len(image.suffix)] if image.suffix else image.name)
    if not numbers:
        raise UsageError(f"times: the name {image.name} holds no number", "state fps or file")
    if times.from_names == "frames":
        if not times.fps:
            raise UsageError("times: frames without their rate", "state fps too")
        return float(numbers[-1]) / times.fps
    return float(numbers[-1]) * _SECONDS[times.from_names]
