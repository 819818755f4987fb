"""The outline of a room: the lines of its walls cut the floor into cells, and it surrounds those that are seen into."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from experts.rooms.surfaces import Surfaces
from experts.rooms.walls import Wall

Polygon = Float64[np.ndarray, "_ 2"]


@dataclass(frozen=True, kw_only=True)
class OutlineSettings:
    """Lengths are in the unit of `LevelSettings`."""

    inside_share: float = 0.25
    """A cell belongs to the room if this share of it is seen into."""
    wall_share: float = 0.5
    """A side counts as seen if the wall is seen on this share of it."""
    rays: int = 40_000
    """Number of rays that are followed."""
    grid: float = 0.08
    """Side of the squares in which they are counted (0.11 m)."""


@dataclass(frozen=True, kw_only=True)
class Outline:
    """A polygon, anticlockwise, and what is known of its sides."""

    corners: Polygon
    sigma: Float64[np.ndarray, "c"]
    """Of the side from corner k to the next; inf where no wall was seen."""
    walls: tuple[int | None, ...]
    """The wall on which each side lies."""


def outline_of(seen: Surfaces, walls: Sequence[Wall], unit: float, settings: OutlineSettings) -> Outline | None:
    """The outline of the place where most cameras are; None where no wall is seen, or no camera is inside.

    Rays end at the walls, also in doorways, windows and mirrors.
    """
    if not walls or not len(seen):
        return None
    rng = np.random.default_rng(0)
    rays = seen.of(rng.permutation(len(seen))[: settings.rays])
    ends = ended_at(rays, walls)
    grid = settings.grid * unit
    axes = np.stack([walls[0].along, walls[0].normal])  # rows; walls[0] is the largest
    where, reached = _reached(rays.camera[:, :2], ends, axes, grid)
    cells = _cut(_rectangle(reached, where, grid, axes), walls)
    middles = _squares(reached, where, grid, axes)
    share = [contains(cell, middles).sum() * grid**2 / max(abs(signed_area(cell)), 1e-12) for cell in cells]
    inside = np.array(share) >= settings.inside_share
    cameras = np.unique(seen.camera[:, :2], axis=0)
    kept = _around_cameras(cells, inside, cameras, walls, settings)
    corners, on = _border([cells[k] for k in np.flatnonzero(kept).tolist()], walls)
    if len(corners) < 3:
        return None
    sigma = np.full(len(corners), np.inf)
    for k, wall in enumerate(on):
        if wall is not None:
            first, last = sorted((corners[k] @ walls[wall].along, corners[(k + 1) % len(corners)] @ walls[wall].along))
            if walls[wall].seen_share(first, last) >= settings.wall_share:
                sigma[k] = walls[wall].sigma_within(first, last)
    return Outline(corners=corners, sigma=sigma, walls=tuple(on))


def ended_at(rays: Surfaces, walls: Sequence[Wall]) -> Float64[np.ndarray, "r 2"]:
    """Where each ray ends on the floor plan: at what it hits, or at the first wall that it meets."""
    start, share = rays.camera[:, :2], np.ones(len(rays))
    way = rays.xyz[:, :2] - start
    for wall in walls:
        low, high = wall.span
        with np.errstate(divide="ignore", invalid="ignore"):
            at = (wall.offset - start @ wall.normal) / (way @ wall.normal)
            u = (start + at[:, None] * way) @ wall.along
        share = np.where((at > 0) & (at < share) & (u >= low) & (u <= high), at, share)
    return np.asarray(start + share[:, None] * way)


def contains(cell: Polygon, points: Float64[np.ndarray, "p 2"]) -> Bool[np.ndarray, "p"]:
    """Whether points lie in a polygon."""
    inside = np.zeros(len(points), dtype=bool)
    for a, b in zip(cell, np.roll(cell, -1, axis=0), strict=True):
        crosses = (a[1] > points[:, 1]) != (b[1] > points[:, 1])
        if crosses.any():
            x = a[0] + (points[:, 1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1] if b[1] != a[1] else 1.0)
            inside ^= crosses & (points[:, 0] < x)
    return inside


def _reached(
    start: Float64[np.ndarray, "r 2"],
    end: Float64[np.ndarray, "r 2"],
    axes: Float64[np.ndarray, "2 2"],
    grid: float,
) -> tuple[Float64[np.ndarray, "2"], Bool[np.ndarray, "h w"]]:
    """Where the grid begins in the given axes, and which of its squares rays pass."""
    a, b = start @ axes.T, end @ axes.T
    steps = int(np.ceil(np.linalg.norm(b - a, axis=1).max(initial=grid) / grid)) + 1
    low, high = np.minimum(a.min(axis=0), b.min(axis=0)), np.maximum(a.max(axis=0), b.max(axis=0))
    low = low - 1e-6 * grid
    shape = np.maximum(np.ceil((high - low) / grid).astype(int), 1)
    reached = np.zeros((shape[1], shape[0]), dtype=bool)
    for share in np.linspace(0, 1, steps, endpoint=False):
        x, y = np.clip(((a + share * (b - a) - low) / grid).astype(int), 0, shape - 1).T
        reached[y, x] = True
    return low, reached


def _rectangle(
    reached: Bool[np.ndarray, "h w"], where: Float64[np.ndarray, "2"], grid: float, axes: Float64[np.ndarray, "2 2"]
) -> Polygon:
    """Around the squares that are reached, with a margin of two: the lines of walls cut it where they bound them."""
    x, y = np.flatnonzero(reached.any(axis=0)), np.flatnonzero(reached.any(axis=1))
    low, high = where + grid * np.array([x[0] - 2, y[0] - 2]), where + grid * np.array([x[-1] + 3, y[-1] + 3])
    corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    turned = corners @ axes
    return turned if np.linalg.det(axes) > 0 else turned[::-1]


def _squares(
    reached: Bool[np.ndarray, "h w"], where: Float64[np.ndarray, "2"], grid: float, axes: Float64[np.ndarray, "2 2"]
) -> Float64[np.ndarray, "s 2"]:
    """Middles of the squares that are reached."""
    return np.asarray((where + grid * (np.argwhere(reached)[:, ::-1] + 0.5)) @ axes)


def _cut(whole: Polygon, walls: Sequence[Wall]) -> list[Polygon]:
    """The parts into which the lines of the walls cut a convex polygon."""
    parts = [whole]
    for wall in walls:
        halves = []
        for part in parts:
            side = part @ wall.normal - wall.offset
            side = np.where(np.abs(side) < 1e-9 * np.abs(part).max(), 0.0, side)
            if (side >= 0).all() or (side <= 0).all():
                halves.append(part)
            else:
                halves += [_half(part, side), _half(part, -side)]
        parts = halves
    return parts


def _half(part: Polygon, side: Float64[np.ndarray, "c"]) -> Polygon:
    """What lies on the positive side."""
    corners = []
    for k in range(len(part)):
        j = (k + 1) % len(part)
        if side[k] >= 0:
            corners.append(part[k])
        if side[k] * side[j] < 0:
            corners.append(part[k] + side[k] / (side[k] - side[j]) * (part[j] - part[k]))
    return np.array(corners)


def _around_cameras(
    cells: Sequence[Polygon],
    inside: Bool[np.ndarray, "cells"],
    cameras: Float64[np.ndarray, "n 2"],
    walls: Sequence[Wall],
    settings: OutlineSettings,
) -> Bool[np.ndarray, "cells"]:
    """The cells that are seen into and hang together, without a wall between them, where most cameras are."""
    of_edge: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    rounding = _rounding(cells)
    for k in np.flatnonzero(inside).tolist():
        for a, b in _edges(cells[k]):
            if not _walled(a, b, walls, settings):
                of_edge.setdefault(_key(a, b, rounding), []).append(k)
    group = np.arange(len(cells))
    for together in of_edge.values():
        for k in together[1:]:
            group[group == group[k]] = group[together[0]]
    count = np.bincount(
        group[inside],
        weights=[contains(cells[k], cameras).sum() for k in np.flatnonzero(inside).tolist()],
        minlength=len(cells),
    )
    return np.asarray(inside & (group == count.argmax()) & (count.max() > 0))


def _walled(
    a: Float64[np.ndarray, "2"], b: Float64[np.ndarray, "2"], walls: Sequence[Wall], settings: OutlineSettings
) -> bool:
    wall = _wall_on(a, b, walls)
    if wall is None:
        return False
    first, last = sorted((a @ walls[wall].along, b @ walls[wall].along))
    return walls[wall].seen_share(first, last) >= settings.wall_share


def _wall_on(a: Float64[np.ndarray, "2"], b: Float64[np.ndarray, "2"], walls: Sequence[Wall]) -> int | None:
    """The wall on whose line a and b lie."""
    near = 1e-6 * max(float(np.abs([a, b]).max()), 1e-9)
    on = (k for k, w in enumerate(walls) if np.abs(np.stack([a, b]) @ w.normal - w.offset).max() < near)
    return next(on, None)


def _edges(cell: Polygon) -> list[tuple[Float64[np.ndarray, "2"], Float64[np.ndarray, "2"]]]:
    return list(zip(cell, np.roll(cell, -1, axis=0), strict=True))


def _rounding(cells: Sequence[Polygon]) -> float:
    return 1e-6 * max(float(np.abs(cell).max()) for cell in cells)


def _corner(xy: Float64[np.ndarray, "2"], rounding: float) -> tuple[int, ...]:
    return tuple(np.round(xy / rounding / 10).astype(np.int64).tolist())


def _key(a: Float64[np.ndarray, "2"], b: Float64[np.ndarray, "2"], rounding: float) -> tuple[tuple[int, ...], ...]:
    return tuple(sorted((_corner(a, rounding), _corner(b, rounding))))


def _border(cells: Sequence[Polygon], walls: Sequence[Wall]) -> tuple[Polygon, list[int | None]]:
    """The outer border of convex cells that share their edges, without corners inside a straight side, and the wall on
    which each side lies."""
    if not cells:
        return np.zeros((0, 2)), []
    rounding = _rounding(cells)
    shared: dict[tuple[tuple[int, ...], ...], int] = {}
    for cell in cells:
        for a, b in _edges(cell):
            shared[_key(a, b, rounding)] = shared.get(_key(a, b, rounding), 0) + 1
    following: dict[tuple[int, ...], list[tuple[Float64[np.ndarray, "2"], Float64[np.ndarray, "2"]]]] = {}
    for cell in cells:
        for a, b in _edges(cell):
            if shared[_key(a, b, rounding)] == 1 and _corner(a, rounding) != _corner(b, rounding):
                following.setdefault(_corner(a, rounding), []).append((a, b))
    loops = []
    while following:
        start = at = next(iter(following))
        loop = []
        while at in following:
            a, b = following[at].pop()
            if not following[at]:
                del following[at]
            loop.append(a)
            at = _corner(b, rounding)
            if at == start:
                break
        loops.append(np.array(loop))
    whole = max(loops, key=lambda loop: abs(signed_area(loop)))
    return _straightened(whole, walls)


def _straightened(corners: Polygon, walls: Sequence[Wall]) -> tuple[Polygon, list[int | None]]:
    ahead = np.roll(corners, -1, axis=0) - corners
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    behind = np.roll(ahead, 1, axis=0)
    turns = np.abs(behind[:, 0] * ahead[:, 1] - behind[:, 1] * ahead[:, 0]) > 1e-5
    corners = corners[turns]
    return corners, [_wall_on(a, b, walls) for a, b in _edges(corners)] if len(corners) >= 3 else []


def signed_area(corners: Polygon) -> float:
    """Area of a polygon; negative if its corners run clockwise."""
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y) / 2)
