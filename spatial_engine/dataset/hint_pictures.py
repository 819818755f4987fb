"""Draws the pictures of hints: distance as colour beside its scale, and two photos with lines between matches."""

import math
from collections.abc import Sequence

import cv2
import numpy as np

from experts.clip import Picture
from spatial_engine.dataset.canvas import DARK, Canvas, Rgb
from spatial_engine.dataset.photo_marks import stored_size
from templates.media import XY, DepthMap

SIDE_PX = 640
"""Longest side of one photo in these pictures."""

_BAR = 104
"""Width of the scale beside a photo of `SIDE_PX`."""
_GAP = 8
"""Between two photos."""
_UNKNOWN: Rgb = (150, 150, 150)
_MOST_TICKS = 7
_SERIES: tuple[tuple[float, ...], ...] = (
    (1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3.2, 3.6, 4, 4.5, 5, 5.5, 6, 7, 8, 9),
    (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8),
    (1, 1.5, 2, 3, 5, 7),
    (1, 2, 5),
    (1, 3),
    (1,),
)
"""Round numbers in one power of ten, about evenly spaced by their logarithm; the densest series first."""
_LINES: tuple[Rgb, ...] = (
    (240, 228, 66),  # after Okabe and Ito: told apart without colour vision, too
    (86, 180, 233),
    (213, 94, 0),
    (0, 158, 115),
    (255, 255, 255),
    (204, 121, 167),
    (230, 159, 0),
    (0, 114, 178),
)


def depth_size(frame_size: tuple[int, int]) -> tuple[int, int]:
    """(width, height) in pixels of the picture of a depth map, for frames of that size."""
    width, height = stored_size(*frame_size, SIDE_PX)
    return width + round(_BAR * _unit(width, height)), height


def drawn_depth(depth: DepthMap, frame_size: tuple[int, int]) -> Picture:
    """Near is yellow, far is dark blue (viridis), unknown is grey. Ticks of the scale are in the unit of the map."""
    width, height = stored_size(*frame_size, SIDE_PX)
    levels = np.frombuffer(depth.levels, dtype=np.uint8).reshape(-1, depth.columns)
    picture = np.full((height, depth_size(frame_size)[0], 3), 255, dtype=np.uint8)
    picture[:, :width] = cv2.resize(_coloured(levels), (width, height), interpolation=cv2.INTER_NEAREST)
    _draw_scale(picture, depth, width)
    return picture


def matches_size(frame_size: tuple[int, int]) -> tuple[int, int]:
    """(width, height) in pixels of the picture of two matched photos, for frames of that size."""
    width, height = stored_size(*frame_size, SIDE_PX)
    return 2 * width + _GAP, height


def drawn_matches(photos: Sequence[Picture], lines: Sequence[tuple[XY, XY]], scale: XY) -> Picture:
    """Two photos of equal size side by side. `lines`: pixels of the first and second frame; `scale`: pixels of a photo
    for each pixel of the frame, in x and y."""
    height, width = photos[0].shape[:2]
    picture = np.full((height, 2 * width + _GAP, 3), 255, dtype=np.uint8)
    picture[:, :width], picture[:, width + _GAP :] = photos
    canvas, unit = Canvas(picture), _unit(width, height)
    ends = (np.array(lines).reshape(-1, 2, 2) + 0.5) * scale - 0.5 + np.array([(0, 0), (width + _GAP, 0)])
    for core in (False, True):
        for number, line in enumerate(ends):
            ink = _LINES[number % len(_LINES)] if core else DARK
            canvas.line(line, ink, (2 if core else 4.5) * unit)
            for end in line:
                canvas.disc(end, (4.5 if core else 6.5) * unit, ink)
    return picture


def _unit(width: int, height: int) -> float:
    return max(width, height) / SIDE_PX


def _coloured(levels: np.ndarray) -> Picture:
    """Colours of levels from 1 (near) to 255 (far)."""
    colours = cv2.cvtColor(cv2.applyColorMap(255 - levels, cv2.COLORMAP_VIRIDIS), cv2.COLOR_BGR2RGB)
    colours[levels == 0] = _UNKNOWN
    return np.asarray(colours)


def _draw_scale(picture: Picture, depth: DepthMap, left: int) -> None:
    """A bar from near (above) to far, with ticks at round numbers."""
    height, unit = picture.shape[0], _unit(left, picture.shape[0])
    top, bottom = round(34 * unit), height - round(18 * unit)
    bar = np.linspace(1, 255, bottom - top).round().astype(np.uint8)
    start, end = left + round(12 * unit), left + round(32 * unit)
    picture[top:bottom, start:end] = _coloured(np.repeat(bar[:, None], end - start, axis=1))
    canvas = Canvas(picture)
    canvas.text(depth.unit or "times", ((start + end) / 2 + 14 * unit, 15 * unit), 17 * unit)
    for value in ticks(depth.near, depth.far):
        share = np.log(value / depth.near) / np.log(depth.far / depth.near)
        y = top + share * (bottom - top - 1)
        canvas.line([(end, y), (end + 7 * unit, y)], DARK, 2 * unit)
        canvas.text(f"{value:g}", (end + 34 * unit, y), 17 * unit)


def ticks(near: float, far: float) -> list[float]:
    """Round numbers within the scale, from the densest series of at most `_MOST_TICKS`; else its ends."""
    decades = range(math.floor(math.log10(near)), math.ceil(math.log10(far)) + 1)
    for series in _SERIES:
        found = [value for ten in decades for step in series if near <= (value := round(step * 10.0**ten, 9)) <= far]
        if 2 <= len(found) <= _MOST_TICKS:
            return found
    return [near, far]
