"""Masks as pixels: run lengths (COCO's RLE) and polygons, drawn at the size that is wanted.

Own code, as `pycocotools` fills a mask with whatever memory held if its runs are too short for its size.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float64

from experts.detections.stated import RunLengths

_MOST_PX = 100_000_000


def run_lengths(size: tuple[int, int], counts: Sequence[int] | str) -> RunLengths | None:
    """Runs of a mask of (height, width) `size`, plain or compressed; None if they do not add up to its pixels."""
    height, width = size
    if not (0 < height * width <= _MOST_PX and min(size) > 0):
        return None
    runs = _decompressed(counts) if isinstance(counts, str) else np.array(counts, dtype=np.int64)
    if runs is None or (runs < 0).any() or int(runs.sum()) != height * width:
        return None
    return RunLengths(height_px=height, width_px=width, counts=runs)


def _decompressed(text: str) -> np.ndarray | None:
    """COCO's text: numbers of 5 bits per letter, lowest first, from the fourth on as differences to the last but one;
    None if it is none."""
    runs: list[int] = []
    value, shift = 0, 0
    for letter in text.encode("utf-8", errors="replace"):
        bits = letter - 48
        if not 0 <= bits < 64 or shift > 50:
            return None
        value |= (bits & 31) << shift
        shift += 5
        if not bits & 32:
            if bits & 16:
                value -= 1 << shift
            runs.append(value + (runs[-2] if len(runs) > 2 else 0))
            value, shift = 0, 0
    return None if shift or any(abs(run) > _MOST_PX for run in runs) else np.array(runs, dtype=np.int64)


def drawn_runs(runs: RunLengths, size: tuple[int, int]) -> Bool[np.ndarray, "h w"]:
    """The mask at (height, width) `size`: of each pixel, what lies at its middle."""
    row = ((np.arange(size[0]) + 0.5) * runs.height_px / size[0]).astype(np.int64)
    column = ((np.arange(size[1]) + 0.5) * runs.width_px / size[1]).astype(np.int64)
    place = row[:, None] + column[None] * runs.height_px
    return np.asarray(np.searchsorted(np.cumsum(runs.counts), place, side="right") % 2 == 1)


def drawn_polygons(
    polygons: Sequence[Float64[np.ndarray, "m 2"]], of: tuple[float, float], size: tuple[int, int]
) -> Bool[np.ndarray, "h w"]:
    """Polygons in a picture of (width, height) `of`, drawn at (height, width) `size`; outside of it they are cut."""
    import cv2

    out = np.zeros(size, dtype=np.uint8)
    for polygon in polygons:
        xy = polygon * [size[1] / of[0], size[0] / of[1]] - 0.5
        fixed = np.round(np.clip(xy, -10_000, 10_000) * 16).astype(np.int32)
        cv2.fillPoly(out, [fixed], 1, shift=4)
    return out > 0


def encoded(mask: Bool[np.ndarray, "h w"]) -> dict[str, list[int]]:
    """A mask as COCO's run lengths, not compressed."""
    flat = mask.T.ravel()
    runs = np.diff([0, *(np.flatnonzero(np.diff(flat)) + 1), flat.size]).tolist()
    return {"size": list(mask.shape), "counts": [0, *runs] if flat.size and flat[0] else runs}
