"""Which floor is free: squares of the plan in which the floor is seen, or over which low rays pass."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64

from experts.rooms.outline import ended_at
from experts.rooms.surfaces import Surfaces
from experts.rooms.walls import Wall


@dataclass(frozen=True, kw_only=True)
class FloorSettings:
    """Lengths are in the unit of `LevelSettings`."""

    cell: float = 0.072
    """Side of a square (0.1 m)."""
    low: float = 0.04
    """What is higher than this above the floor stands on it (6 cm), ⊕ `sigmas` σ; a ray lower than this passes over
    free floor."""
    sigmas: float = 2.0
    tall: float = 1.35
    """What is higher than this (1.9 m) does not stand in the way."""
    least: int = 2
    """Smallest number of points in a square."""
    largest: int = 400
    """Largest number of squares along a side; beyond, the plan ends."""


def cells_of(
    seen: Surfaces, walls: Sequence[Wall], unit: float, settings: FloorSettings
) -> tuple[Int32[np.ndarray, "h w"], Float64[np.ndarray, "2"]]:
    """The squares (`Room.cells`) and where the first of them begins. Points beyond walls do not count."""
    side = settings.cell * unit
    end = ended_at(seen, walls)
    away = np.linalg.norm(seen.xyz[:, :2] - end, axis=1)
    height = seen.camera[:, 2] - seen.xyz[:, 2]
    blur = settings.sigmas * seen.relative_sigma * np.abs(height)
    seen = seen.of(away <= side)
    blur = blur[away <= side]
    if not len(seen):
        return np.zeros((0, 0), dtype=np.int32), np.zeros(2)
    z, xy = seen.xyz[:, 2], seen.xyz[:, :2]
    low, high = np.percentile(xy, [0.2, 99.8], axis=0)
    first = np.floor(low / side) - 1
    shape = np.minimum((np.ceil(high / side) + 1 - first).astype(int), settings.largest)
    limit = np.hypot(settings.low * unit, blur)
    is_floor = np.abs(z) <= limit
    stands = (z > limit) & (z < settings.tall * unit) & ~_on_walls(seen, walls, side)
    start = _where_low(seen, np.full(len(z), settings.low * unit))
    free = np.zeros((shape[1], shape[0]), dtype=np.int64)
    for share in np.linspace(0, 1, 6):
        free += _count((start + share * (xy - start))[is_floor] / side - first, shape)
    taken = _count(xy[stands] / side - first, shape)
    cells = np.where(taken >= settings.least, 2, np.where(free >= settings.least, 1, 0)).astype(np.int32)
    x, y = np.meshgrid(*(np.arange(n) + 0.5 for n in shape))
    cells[_behind(np.stack([x, y], axis=-1).reshape(-1, 2) * side + first * side, walls, side).reshape(x.shape)] = 0
    return cells, first * side


def _where_low(seen: Surfaces, limit: Float64[np.ndarray, "p"]) -> Float64[np.ndarray, "p 2"]:
    """Where the ray to each point comes lower than a limit."""
    fall = seen.camera[:, 2] - seen.xyz[:, 2]
    share = np.clip(1 - (limit - seen.xyz[:, 2]) / np.where(fall > limit, fall, np.inf), 0, 1)
    return np.asarray(seen.camera[:, :2] + share[:, None] * (seen.xyz - seen.camera)[:, :2])


def _behind(xy: Float64[np.ndarray, "c 2"], walls: Sequence[Wall], near: float) -> Bool[np.ndarray, "c"]:
    """Just behind a wall."""
    behind = np.zeros(len(xy), dtype=bool)
    for wall in walls:
        off, u, (low, high) = xy @ wall.normal - wall.offset, xy @ wall.along, wall.span
        behind |= (off < 0) & (off > -2 * near) & (u >= low - near) & (u <= high + near)
    return behind


def _on_walls(seen: Surfaces, walls: Sequence[Wall], near: float) -> Bool[np.ndarray, "p"]:
    on = np.zeros(len(seen), dtype=bool)
    for wall in walls:
        u, (low, high) = seen.xyz[:, :2] @ wall.along, wall.span
        on |= (np.abs(seen.xyz[:, :2] @ wall.normal - wall.offset) <= 0.5 * near) & (u >= low) & (u <= high)
    return on


def _count(at: Float64[np.ndarray, "p 2"], shape: Int64[np.ndarray, "2"]) -> Int64[np.ndarray, "h w"]:
    x, y = np.floor(at).astype(np.int64).T
    inside = (x >= 0) & (y >= 0) & (x < shape[0]) & (y < shape[1])
    flat = np.bincount(y[inside] * shape[0] + x[inside], minlength=int(shape.prod()))
    return np.asarray(flat.reshape(shape[1], shape[0]), dtype=np.int64)
