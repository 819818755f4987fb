"""Draws photos with their marks: dark and amber lines, visible on any background, beside what they mark."""

from collections.abc import Sequence

import cv2
import numpy as np

from experts.clip import Picture
from spatial_engine.dataset.canvas import ACCENT, DARK, Canvas, Rgb
from spatial_engine.dataset.labels import Label, draw_labels
from templates.media import XY, Arrow, Box, Mark, Outline, PhotoMark, Segment

MAX_SIDE_PX = 1280
"""Longest side of a stored photo: large enough for legible marks, small enough for a small dataset."""

_RING, _TICK = 8.2, 12.5  # radius of a ring; its ticks end this far from the point
_CLEAR = 40  # least distance of a label's corner of a box from another box
_LINE, _INSIDE = 200, 40  # how bad it is if a label covers a pixel


def stored_size(width_px: int, height_px: int, max_side_px: int = MAX_SIDE_PX) -> tuple[int, int]:
    """(width, height) of the file of a picture of this size: longer side at most `max_side_px`."""
    factor = min(1.0, max_side_px / max(width_px, height_px))
    return max(1, round(width_px * factor)), max(1, round(height_px * factor))


def scaled(picture: Picture, size: tuple[int, int]) -> Picture:
    """The picture at a smaller size (width, height)."""
    if size == (picture.shape[1], picture.shape[0]):
        return picture
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def marked(picture: Picture, marks: Sequence[PhotoMark], pixels: XY = (1.0, 1.0), origin: XY = (0, 0)) -> Picture:
    """A copy of a stored picture with its marks.

    `pixels`: pixels of the picture for each pixel of the frame, to which marks refer, in x and y. `origin`: pixel of
    the frame in the left upper corner.
    """
    image = picture.copy()
    canvas, unit = Canvas(image), max(0.75, max(image.shape[:2]) / 640)
    placed = [(mark, (np.array(mark.points_px) - origin + 0.5) * pixels - 0.5) for mark in marks]
    taken = np.zeros(image.shape[:2], dtype=np.uint8)
    for mark, points in placed:
        _draw(canvas, taken, mark, points, unit)
    lettered = [(mark, points) for mark, points in placed if mark.text]
    labels = [
        _label(mark, points, [spots for other, spots in lettered if type(other) is type(mark)], unit)
        for mark, points in lettered
    ]
    draw_labels(canvas, labels, taken, unit)
    return image


def _draw(canvas: Canvas, taken: np.ndarray, mark: PhotoMark, points: np.ndarray, unit: float) -> None:
    """Draws one mark, and enters into `taken` what no label must cover: lines above all, then what is marked."""
    match mark:
        case Mark():
            _ring(canvas, points[0], unit)
            Canvas(taken).disc(points[0], _RING * unit + _edge(unit) / 2, _LINE)
        case Box():
            _draw_around(canvas.picture, taken, _corners(points), unit)
        case Outline():
            _draw_around(canvas.picture, taken, points, unit)
        case Arrow():
            _stroke(canvas, taken, _arrow(points, unit), unit)
        case Segment():
            _stroke(canvas, taken, _segment(points, unit), unit)


def _edge(unit: float) -> int:
    """Width in pixels of the dark line, which shows on both sides of the amber one."""
    return _core(unit) + max(3, round(2.4 * unit))


def _core(unit: float) -> int:
    """Width in pixels of the amber line."""
    return max(1, round(2.2 * unit))


def _inks(unit: float) -> tuple[tuple[Rgb, int], ...]:
    return (DARK, _edge(unit)), (ACCENT, _core(unit))


def _ring(canvas: Canvas, spot: np.ndarray, unit: float) -> None:
    """A ring with a free centre, to which four ticks point."""
    ends = [spot + np.array(way) * unit for way in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    ticks = [spot + (end - spot) * reach for end in ends for reach in (_RING, _TICK)]
    for ink, width in _inks(unit):
        for start, end in zip(ticks[::2], ticks[1::2], strict=True):
            canvas.line(np.array([start, end]), ink, width - 1)
        canvas.ring(spot, _RING * unit, ink, width)


def _stroke(canvas: Canvas, taken: np.ndarray, lines: Sequence[np.ndarray], unit: float) -> None:
    for ink, width in _inks(unit):
        for line in lines:
            canvas.line(line, ink, width)
    for line in lines:
        Canvas(taken).line(line, _LINE, _edge(unit) + 1)


def _draw_around(picture: Picture, taken: np.ndarray, corners: np.ndarray, unit: float) -> None:
    """A line around a polygon that touches none of its pixels; where the polygon leaves the picture, the line runs
    along the border."""
    width = _edge(unit)
    border, size = width + 2, np.array(taken.shape[::-1])
    low = np.clip(np.floor(corners.min(axis=0)).astype(int) - border, 0, size)
    high = np.clip(np.ceil(corners.max(axis=0)).astype(int) + border + 1, 0, size)
    part = np.s_[low[1] : high[1], low[0] : high[0]]
    inside = np.zeros(taken[part].shape, dtype=np.uint8)
    if not inside.size:
        return
    Canvas(inside).polygon(corners - low, 1, smooth=False)
    # Pixels near the picture's border do not count as inside: there the line has its place.
    inner, (x, y), (right, bottom) = np.zeros_like(inside), np.maximum(border - low, 0), size - border - low
    inner[y : max(bottom, 0), x : max(right, 0)] = inside[y : max(bottom, 0), x : max(right, 0)]
    inside = inner if inner.any() else inside
    away = cv2.distanceTransform(1 - inside, cv2.DIST_L2, cv2.DIST_MASK_5)
    line = np.nonzero((away > 0) & (away < width + 1))
    away = away[line][:, None]
    pixels = picture[part][line].astype(np.float64)
    for ink, share in ((DARK, width + 1 - away), (ACCENT, (_core(unit) + 1) / 2 - np.abs(away - (width + 1) / 2))):
        pixels += np.clip(share, 0, 1) * (np.array(ink) - pixels)
    picture[part][line] = np.rint(pixels)
    taken[part] = np.maximum(taken[part], inside * np.uint8(_INSIDE))
    taken[part][line] = _LINE


def _corners(opposite: np.ndarray) -> np.ndarray:
    (left, top), (right, bottom) = opposite.min(axis=0), opposite.max(axis=0)
    return np.array([(left, top), (right, top), (right, bottom), (left, bottom)])


def _segment(ends: np.ndarray, unit: float) -> list[np.ndarray]:
    """The line, and a tick across each end."""
    start, end = ends
    tick = 7 * unit * _turned(_direction(start, end), 90)
    return [np.array([start, end]), np.array([start - tick, start + tick]), np.array([end - tick, end + tick])]


def _arrow(ends: np.ndarray, unit: float) -> list[np.ndarray]:
    """Shaft and head. The tip stops short of the second end, which stays visible."""
    start, end = ends
    ahead, length = _direction(start, end), float(np.hypot(*(end - start)))
    tip = end - min(_edge(unit), length / 2) * ahead
    barbs = [tip - min(15 * unit, max(length, 6 * unit)) * _turned(ahead, angle) for angle in (-30, 30)]
    return [np.array([start, tip]), np.array([barbs[0], tip, barbs[1]])]


def _direction(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    length = np.hypot(*(end - start))
    return (end - start) / length if length > 0 else np.array([1.0, 0.0])


def _turned(way: np.ndarray, angle_deg: float) -> np.ndarray:
    cos, sin = np.cos(np.deg2rad(angle_deg)), np.sin(np.deg2rad(angle_deg))
    return np.array([cos * way[0] - sin * way[1], sin * way[0] + cos * way[1]])


def _label(mark: PhotoMark, points: np.ndarray, alike: Sequence[np.ndarray], unit: float) -> Label:
    """The letter of a mark. That of an arrow stands ahead of its tip: no other arrow can claim it."""
    if isinstance(mark, Arrow):
        right, down = _direction(*points).tolist()
        return Label(mark.text, points[::-1], (right, down))
    return Label(mark.text, _anchors(mark, points, alike, unit))


def _anchors(mark: PhotoMark, points: np.ndarray, alike: Sequence[np.ndarray], unit: float) -> np.ndarray:
    """Points beside which the letter of a mark may stand, best first: those far from the other marks that are `alike`,
    whose letter it might seem to be."""
    match mark:
        case Box():
            corners = _corners(points)
            near = [_away(corners, other) < _CLEAR * unit for other in alike if other is not points]
            return corners[np.argsort(np.any(near, axis=0), kind="stable")] if near else corners
        case Outline():
            highest_first = points[np.argsort(points[:, 1], kind="stable")]
            return highest_first[:: -(-len(points) // 12)]
        case Segment():
            others = [_along(other) for other in alike if other is not points]
            near = [np.linalg.norm(_along(points)[:, None] - other, axis=2).min(axis=1) for other in others]
            farthest_first = np.argsort(-np.min(near, axis=0), kind="stable") if near else range(3)
            return _along(points)[farthest_first]
    return points


def _away(spots: np.ndarray, opposite: np.ndarray) -> np.ndarray:
    """Distance of points from a box; 0 inside it."""
    low, high = opposite.min(axis=0), opposite.max(axis=0)
    return np.asarray(np.linalg.norm(np.maximum(np.maximum(low - spots, spots - high), 0), axis=1))


def _along(ends: np.ndarray) -> np.ndarray:
    """The middle of a line, its ends, and points between."""
    share = np.array([0.5, 0.0, 1.0, 0.25, 0.75, 0.125, 0.375, 0.625, 0.875])[:, None]
    return np.asarray((1 - share) * ends[0] + share * ends[1])
