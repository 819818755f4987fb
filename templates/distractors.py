"""Wrong options: typical spatial mistakes that differ visibly from the right option and from each other."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped

from templates.chance import Chance
from templates.offer import Offer

_POINT_SPACING = 3.0
"""Least distance of wrong points from the right one and from each other, in tolerances."""
_POINT_BORDER = 0.06
_ELSEWHERE = 30
"""Random points that stand in where too few mistakes are left."""
_CURVE_POINTS = 32
POINT_MISTAKES = ("same pixel", "displaced the other way", "mirrored left to right", "mirrored top to bottom")
_OTHER_WAYS = ("displaced the other way", "displaced to the other side", "displaced up for down")
_OTHER_LENGTHS = ("displaced the other way", "displaced by another length", "displaced the other way by another length")
SHAPE_MISTAKES = (
    "mirrored left to right",
    "mirrored front to back",
    "turned around",
    "axes exchanged",
    "axes exchanged and turned around",
    "turned by 90°",
    "bent the other way",
    "reversed",
)


def point_distractors(
    xy_px: Float64[np.ndarray, "n 2"],
    tolerance_px: Float64[np.ndarray, "n"],
    a_px: Float64[np.ndarray, "n 2"],
    size_px: Int64[np.ndarray, "n 2"],
    chance: Chance,
    count: int,
) -> tuple[Float64[np.ndarray, "n c 2"], Shaped[np.ndarray, "n c"]]:
    """Wrong pixels for the matches of `a_px`, and the mistake behind each: one of `POINT_MISTAKES`, or "" for a random
    pixel. NaN where there is no room."""
    x, y, (right, bottom) = xy_px[:, 0], xy_px[:, 1], (size_px - 1).T
    mistakes = [a_px, 2 * a_px - xy_px, np.column_stack([right - x, y]), np.column_stack([x, bottom - y])]
    spacing_px = np.tile(_POINT_SPACING * tolerance_px[:, None], 2)
    return mistaken_points(xy_px, dict(zip(POINT_MISTAKES, mistakes, strict=True)), spacing_px, size_px, chance, count)


def symmetric_points(
    xy_px: Float64[np.ndarray, "n 2"],
    tolerance_px: Float64[np.ndarray, "n"],
    a_px: Float64[np.ndarray, "n 2"],
    size_px: Int64[np.ndarray, "n 2"],
    chance: Chance,
) -> tuple[Float64[np.ndarray, "n 3 2"], Shaped[np.ndarray, "n 3"]]:
    """Three wrong pixels for the matches of `a_px`, and the mistake behind each. Together with the right one they lie
    symmetrically about `a_px`: numbers that are read without looking do not tell which is right. NaN where there is no
    room."""
    way = (xy_px - a_px)[:, None]
    longer = np.where(chance.uniform("longer", 1) < 0.5, 0.5, 2.0)[:, :, None]
    found, names = np.full((len(xy_px), 3, 2), np.nan), np.full((len(xy_px), 3), "", dtype="<U40")
    for mistakes, ways in (
        (_OTHER_LENGTHS, way * np.concatenate([-np.ones_like(longer), longer, -longer], axis=1)),
        (_OTHER_WAYS, way * np.array([[-1, -1], [-1, 1], [1, -1]])),  # where both fit
    ):
        wrong = a_px[:, None] + ways
        every = np.concatenate([xy_px[:, None], wrong], axis=1)
        apart = np.linalg.norm(every[:, :, None] - every[:, None], axis=3) + np.where(np.eye(4), np.inf, 0.0)
        border = _POINT_BORDER * size_px[:, None]
        fits = (apart >= _POINT_SPACING * tolerance_px[:, None, None]).all(axis=(1, 2))
        fits &= ((wrong >= border) & (wrong <= size_px[:, None] - border)).all(axis=(1, 2))
        found[fits], names[fits] = wrong[fits], mistakes
    return found, names


def mistaken_points(
    xy_px: Float64[np.ndarray, "n 2"],
    mistakes_px: Mapping[str, Float64[np.ndarray, "n 2"]],
    spacing_px: Float64[np.ndarray, "n 2"],
    size_px: Int64[np.ndarray, "n 2"],
    chance: Chance,
    count: int,
) -> tuple[Float64[np.ndarray, "n c 2"], Shaped[np.ndarray, "n c"]]:
    """Wrong pixels and the mistake behind each; random pixels ("") where too few mistakes fit. NaN for a mistake that
    does not apply, and where there is no room. `spacing_px`: least distance from the right one, and from each other."""
    order = chance.order("mistake", len(mistakes_px))
    mistaken = np.take_along_axis(np.stack([*mistakes_px.values()], axis=1), order[:, :, None], axis=1)
    share = _POINT_BORDER + (1 - 2 * _POINT_BORDER) * chance.uniform("elsewhere", 2 * _ELSEWHERE)
    candidates = np.concatenate([mistaken, share.reshape(-1, _ELSEWHERE, 2) * size_px[:, None]], axis=1)
    border = _POINT_BORDER * size_px[:, None]
    beyond = np.maximum(border - candidates, candidates - (size_px[:, None] - border)).max(axis=2)
    names = np.concatenate([np.array([*mistakes_px])[order], np.full((len(xy_px), _ELSEWHERE), "")], axis=1)
    kept, named = np.full((len(xy_px), count + 1, 2), np.nan), np.full((len(xy_px), count + 1), "", dtype=names.dtype)
    kept[:, 0], found = xy_px, np.ones(len(xy_px), dtype=np.int64)
    spacing = np.repeat(spacing_px, [1, count], axis=1)
    for k in range(candidates.shape[1]):
        near = np.linalg.norm(kept - candidates[:, k, None], axis=2) < spacing
        rows = np.flatnonzero((beyond[:, k] <= 0) & ~near.any(axis=1) & (found <= count))
        kept[rows, found[rows]], named[rows, found[rows]] = candidates[rows, k], names[rows, k]
        found[rows] += 1
    return kept[:, 1:], named[:, 1:]


def offered_points(
    xy_px: Float64[np.ndarray, "n 2"],
    mistakes_px: Mapping[str, Float64[np.ndarray, "n 2"]],
    spacing_px: Float64[np.ndarray, "n 2"],
    size_px: Int64[np.ndarray, "n 2"],
    chance: Chance,
    count: int,
) -> Offer:
    """The right pixels among `count` points in random order; the others as in `mistaken_points`."""
    wrong, mistakes = mistaken_points(xy_px, mistakes_px, spacing_px, size_px, chance, count - 1)
    names = np.column_stack([np.full(len(xy_px), ""), mistakes])
    order = chance.order("mark", count)
    points = np.take_along_axis(np.concatenate([xy_px[:, None], wrong], axis=1), order[:, :, None], axis=1)
    return Offer(
        why=np.where(np.isnan(wrong).any(axis=(1, 2)), "no room for distinct wrong points", ""),
        options=points.round(1),
        right=(order == 0).argmax(axis=1),
        mistakes=np.take_along_axis(names, order, axis=1),
    )


def all_apart(
    apart: Bool[np.ndarray, "n m m"], order: Int64[np.ndarray, "n m"], count: int
) -> Int64[np.ndarray, "n c"]:
    """`count` of m candidates, all apart from each other, tried in the given order; -1 where there are too few."""
    chosen, found, every = np.full((len(apart), count), -1), np.zeros(len(apart), dtype=np.int64), np.arange(len(apart))
    kept = np.zeros(order.shape, dtype=bool)
    for candidate in order.T:
        rows = every[(apart[every, candidate] | ~kept).all(axis=1) & apart[every, candidate, candidate]]
        rows = rows[found[rows] < count]
        kept[rows, candidate[rows]], chosen[rows, found[rows]] = True, candidate[rows]
        found[rows] += 1
    return np.where(found[:, None] == count, chosen, -1)


def shape_distractors(
    points: Float64[np.ndarray, "n k 2"], min_distance: float, chance: Chance, count: int
) -> tuple[Float64[np.ndarray, "n c k 2"], Int64[np.ndarray, "n"], Shaped[np.ndarray, "n c"]]:
    """Wrong drawings of paths that start at the origin, how many there are, and the mistake behind each, one of
    `SHAPE_MISTAKES`. A path may end in NaN."""
    shapes, curves = _with_mistakes(points)
    differs = np.minimum(_rms(shapes), _rms(curves)) >= min_distance  # a reader sees only the curve
    order = 1 + chance.order("drawing", shapes.shape[1] - 1)
    chosen, found = np.zeros((len(points), count), dtype=np.int64), np.zeros(len(points), dtype=np.int64)
    kept = np.zeros((len(points), shapes.shape[1]), dtype=bool)
    kept[:, 0], every = True, np.arange(len(points))
    for candidate in order.T:
        rows = every[(differs[every, candidate] | ~kept).all(axis=1)]
        kept[rows, candidate[rows]] = True
        first = rows[found[rows] < count]
        chosen[first, found[first]] = candidate[first]
        found[rows] += 1
    wrong = np.take_along_axis(shapes, chosen[:, :, None, None], axis=1)
    return wrong, found, np.array(SHAPE_MISTAKES)[np.maximum(chosen - 1, 0)]


def _with_mistakes(
    points: Float64[np.ndarray, "n k 2"],
) -> tuple[Float64[np.ndarray, "n m k 2"], Float64[np.ndarray, "n m c 2"]]:
    """The paths and their distortions, each of largest radius 1; and the curves through them, sampled evenly."""
    curve, shapes = _evenly_spaced(points), _mistakes(points)
    radius = np.fmax.reduce(np.linalg.norm(shapes, axis=3), axis=2, initial=0.0)[..., None, None]
    drawn = (np.concatenate([p[:, None], m / radius], axis=1) for p, m in ((points, shapes), (curve, _mistakes(curve))))
    return next(drawn), next(drawn)


def _mistakes(points: Float64[np.ndarray, "n k 2"]) -> Float64[np.ndarray, "n m k 2"]:
    """In the order of `SHAPE_MISTAKES`."""
    known = ~np.isnan(points[..., 0])
    last, normal = known.sum(axis=1) - 1, _aside(points)
    end = points[np.arange(len(points)), last]
    bent = points - 2 * np.einsum("nki,ni->nk", points, normal)[..., None] * normal[:, None]
    back = np.clip(last[:, None] - np.arange(points.shape[1]), 0, None)
    reverse = np.where(known[..., None], np.take_along_axis(points, back[..., None], axis=1) - end[:, None], np.nan)
    across = points[..., ::-1]
    found = [points * [-1, 1], points * [1, -1], -points, across, -across, across * [1, -1], bent, reverse]
    return np.stack(found, axis=1)


def bend(points: Float64[np.ndarray, "n k 2"]) -> Float64[np.ndarray, "n"]:
    """Largest distance of a path from the straight line between its ends."""
    return np.asarray(np.fmax.reduce(np.abs(np.einsum("nki,ni->nk", points, _aside(points))), axis=1))


def _aside(points: Float64[np.ndarray, "n k 2"]) -> Float64[np.ndarray, "n 2"]:
    """Unit vectors across the straight lines from the origin to the ends of the paths."""
    end = points[np.arange(len(points)), (~np.isnan(points[..., 0])).sum(axis=1) - 1]
    ahead = end / np.maximum(np.linalg.norm(end, axis=1, keepdims=True), 1e-9)
    return np.column_stack([-ahead[:, 1], ahead[:, 0]])


def _rms(shapes: Float64[np.ndarray, "n m k 2"]) -> Float64[np.ndarray, "n m m"]:
    """By |a - b|² = |a|² + |b|² - 2 a·b."""
    count = (~np.isnan(shapes[:, 0, :, 0])).sum(axis=1)[:, None, None]
    flat = np.nan_to_num(shapes).reshape(*shapes.shape[:2], 2 * shapes.shape[2])
    dot = flat @ flat.swapaxes(1, 2)
    square = np.diagonal(dot, axis1=1, axis2=2)
    return np.sqrt(np.maximum(square[:, :, None] + square[:, None] - 2 * dot, 0) / count)


def _evenly_spaced(points: Float64[np.ndarray, "n k 2"]) -> Float64[np.ndarray, "n c 2"]:
    """The curves through the points, sampled at equal steps along them."""
    steps = np.linalg.norm(np.diff(points, axis=1), axis=2)
    along = np.concatenate([np.zeros((len(points), 1)), np.cumsum(steps, axis=1)], axis=1)
    at = np.fmax.reduce(along, axis=1)[:, None] * np.linspace(0, 1, _CURVE_POINTS)
    reached: Bool[np.ndarray, "n c k"] = along[:, None] <= at[..., None]
    lower = np.clip(reached.sum(axis=2) - 1, 0, np.isfinite(along).sum(axis=1, keepdims=True) - 2)
    low, high = (np.take_along_axis(along, lower + k, axis=1) for k in (0, 1))
    share = np.where(high > low, (at - low) / np.where(high > low, high - low, 1.0), 0.0)[..., None]
    first, second = (np.take_along_axis(points, (lower + k)[..., None], axis=1) for k in (0, 1))
    return first + share * (second - first)
