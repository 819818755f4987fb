"""Doorways: gaps in a wall, with wall on both sides, that reach the floor, and through which the camera sees floor or
goes.

A mirror that reaches the floor looks the same to depth: what is seen in it is the room, reflected.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial import cKDTree

from experts.rooms.outline import Outline
from experts.rooms.surfaces import Surfaces
from experts.rooms.walls import Wall


@dataclass(frozen=True, kw_only=True)
class DoorwaySettings:
    """Lengths are in the unit of `LevelSettings`."""

    widths: tuple[float, float] = (0.43, 1.3)
    """Narrowest and widest doorway (0.6 and 1.8 m)."""
    low: float = 0.15
    """Rays pass below this (0.2 m) ..."""
    high: float = 1.1
    """... and up to this height at least (1.5 m); no surface is in between."""
    depth: float = 0.2
    """Rays that pass end at least this far behind the wall (0.3 m)."""
    counts: int = 3
    """Smallest number of rays in each column."""
    jamb: float = 0.15
    """Length of wall that must be seen on both sides (0.2 m)."""
    reflected: float = 0.5
    """It is a mirror if, reflected, this share of what is seen through it lies on surfaces of the room."""


def doorways_of(
    seen: Surfaces,
    outline: Outline | None,
    walls: Sequence[Wall],
    unit: float,
    settings: DoorwaySettings,
) -> Float64[np.ndarray, "d 2 2"]:
    """Ends of each doorway in the walls of the outline."""
    found = []
    for k in sorted({wall for wall in outline.walls if wall is not None} if outline else set()):
        found += [np.stack(ends) for ends in _in_wall(seen, walls[k], unit, settings)]
    return np.array(found).reshape(-1, 2, 2)


def _in_wall(
    seen: Surfaces, wall: Wall, unit: float, settings: DoorwaySettings
) -> Iterator[tuple[Float64[np.ndarray, "2"], Float64[np.ndarray, "2"]]]:
    start = seen.camera[:, :2] @ wall.normal - wall.offset
    end = seen.xyz[:, :2] @ wall.normal - wall.offset
    passes = (end < -settings.depth * unit) & (start > 0) | (end > settings.depth * unit) & (start < 0)
    share = np.where(passes, start / np.where(passes, start - end, 1.0), 0.0)[:, None]
    at = (seen.camera + share * (seen.xyz - seen.camera))[passes]
    u, z = at[:, :2] @ wall.along, at[:, 2]
    on = np.abs(end) <= 0.5 * settings.depth * unit
    on_u, on_z = seen.xyz[on, :2] @ wall.along, seen.xyz[on, 2]
    n = len(wall.hit)
    below = _columns(u[z < settings.low * unit], wall, n) >= settings.counts
    above = _columns(u[(z > 0.8 * settings.high * unit) & (z < 1.2 * settings.high * unit)], wall, n) >= settings.counts
    blocked = _columns(on_u[(on_z > settings.low * unit) & (on_z < settings.high * unit)], wall, n)
    through = _columns(u[z < settings.high * unit], wall, n)
    is_open = below & above & (blocked * 4 < through)
    jamb = max(1, round(settings.jamb * unit / wall.column))
    closed = wall.hit & (blocked > through)
    for first, last in _runs(is_open):
        width = (last - first) * wall.column
        beside = [closed[max(0, first - jamb - 1) : first], closed[last : last + jamb + 1]]
        if not settings.widths[0] * unit <= width <= settings.widths[1] * unit or min(b.sum() for b in beside) < jamb:
            continue
        low, high = wall.start + wall.column * np.array([first, last])
        behind = seen.xyz[passes][(u > low) & (u < high)]
        if not _is_mirror(behind, seen, wall, unit, settings):
            foot = wall.offset * wall.normal
            yield foot + low * wall.along, foot + high * wall.along


def _columns(u: Float64[np.ndarray, "p"], wall: Wall, count: int) -> np.ndarray:
    at = np.floor((u - wall.start) / wall.column).astype(np.int64)
    return np.bincount(at[(at >= 0) & (at < count)], minlength=count)


def _runs(mask: Bool[np.ndarray, "c"]) -> list[tuple[int, int]]:
    ends = np.flatnonzero(np.diff(np.pad(mask.astype(np.int8), 1)))
    return [(int(a), int(b)) for a, b in ends.reshape(-1, 2)]


def _is_mirror(
    behind: Float64[np.ndarray, "p 3"], seen: Surfaces, wall: Wall, unit: float, settings: DoorwaySettings
) -> bool:
    room = seen.xyz[seen.xyz[:, :2] @ wall.normal > wall.offset + settings.depth * unit]
    behind = behind[:: max(1, len(behind) // 500)]
    if not len(room) or not len(behind):
        return False
    reflected = behind.copy()
    reflected[:, :2] += 2 * (wall.offset - behind[:, :2] @ wall.normal)[:, None] * wall.normal
    near = cKDTree(room[::3]).query(reflected, distance_upper_bound=settings.low * unit)[0]
    return bool(np.isfinite(near).mean() >= settings.reflected)
