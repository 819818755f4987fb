"""Which row or file of ground truth belongs to which image."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.errors import UsageError
from spatial_engine.sequences.manifest import Match

NONE = -1
"""Stands for: nothing belongs to this image."""


def by_order(images: int, given: int, what: str) -> Int64[np.ndarray, "n"]:
    """The k-th of what is given for the k-th image. Raises `UsageError` where the numbers differ."""
    if images != given:
        raise UsageError(f"{given} {what} for {images} images", "match: name (by number in the names), or match: time")
    return np.arange(images, dtype=np.int64)


def by_name(images: Sequence[Path], given: Sequence[str], what: str) -> Int64[np.ndarray, "n"]:
    """Those with the same last number in their name. Raises `UsageError` where a number stands twice, or none fits."""
    numbers = [number_in(name) for name in given]
    if len(set(numbers)) < len(numbers):
        twice = next(name for name, number in zip(given, numbers, strict=True) if numbers.count(number) > 1)
        raise UsageError(
            f"the number in {twice!r} stands in several names of {what}", "match: order, or a narrower pattern"
        )
    row = {number: index for index, number in enumerate(numbers)}
    found = np.array([row.get(number_in(image.name), NONE) for image in images], dtype=np.int64)
    return _some(found, what, "no number in their names is that of an image")


def by_row(images: Sequence[Path], rows: int, what: str) -> Int64[np.ndarray, "n"]:
    """The row whose number, counted from 0, stands in the image's name."""
    return by_name(images, [str(row) for row in range(rows)], what)


def by_time(
    images_s: Float64[np.ndarray, "n"], given_s: Float64[np.ndarray, "m"], tolerance_s: float, what: str
) -> Int64[np.ndarray, "n"]:
    """The nearest in time, if it is near enough."""
    after = np.clip(np.searchsorted(given_s, images_s), 1, max(1, len(given_s) - 1))
    before = after - 1
    after = np.minimum(after, len(given_s) - 1)
    nearest = np.where(np.abs(given_s[after] - images_s) < np.abs(given_s[before] - images_s), after, before)
    found = np.where(np.abs(given_s[nearest] - images_s) <= tolerance_s, nearest, NONE)
    gap = float(np.min(np.abs(given_s[nearest] - images_s)))
    return _some(found, what, f"the nearest is {gap:.3g} s from an image, and {tolerance_s:g} s are allowed")


def number_in(name: str) -> int | None:
    """The last whole number in a file's name, its endings left out."""
    found = re.findall(r"\d+", Path(name).name.split(".")[0]) or re.findall(r"\d+", Path(name).stem)
    return int(found[-1]) if found else None


def _some(found: Int64[np.ndarray, "n"], what: str, why: str) -> Int64[np.ndarray, "n"]:
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
        raise UsageError(f"match: time, and the {whose} have no times", "state times, or match: order | name")
    return by_time(images_s, times_s, tolerance_s, what)
