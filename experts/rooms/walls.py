"""Walls: upright planes that are the topmost thing to be seen along their line.

The front of a wardrobe is an upright plane too, but a camera sees past it, above its top. Above a doorway, a window, a
mirror or a sideboard it sees the wall.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.rooms.levels import offset_sigma
from experts.rooms.surfaces import Surfaces


@dataclass(frozen=True, kw_only=True)
class WallSettings:
    """Lengths are in the unit of `LevelSettings`."""

    planes: int = 200
    """Number of RANSAC hypotheses for each plane."""
    voters: int = 3000
    """Largest number of points that choose among them."""
    most: int = 24
    """Largest number of upright planes."""
    thickness: float = 0.02
    """Largest distance of its points from a plane, ..."""
    thickness_sigmas: float = 0.8
    """... or this many σ of depth, if that is more."""
    cone_rad: float = float(np.deg2rad(20.0))
    """Largest angle between its normal and that of its points."""
    upright_rad: float = float(np.deg2rad(20.0))
    """Largest angle between the normal of one of its points and the floor."""
    area: float = 0.25
    """Smallest area, in square units (0.5 m²)."""
    points: int = 40
    """Smallest number of sparse points."""
    length: float = 0.5
    """Smallest length (0.7 m)."""
    height: float = 0.2
    """Smallest height over which it is seen (0.28 m): above cupboards."""
    column: float = 0.08
    """Width of the columns in which hits are compared with rays that pass (0.11 m), and height of their cells."""
    counts: int = 3
    """Smallest number of rays in a cell."""
    reach: float = 1.4
    """A wall is seen up to here (2 m) if the ceiling is not known, ..."""
    reach_share: float = 0.85
    """... and else to this share of the ceiling's height: higher than most furniture. ..."""
    low_reach: float = 1.1
    """... A plane longer than `short` is a wall even if it is seen up to here only (1.5 m): the camera is close."""
    length_seen: float = 0.25
    """Smallest length over which it is seen up to there (0.35 m)."""
    behind: float = 0.65
    """A short plane less than this in front of another is a piece of furniture (0.9 m), ..."""
    short: float = 1.5
    """... if it is shorter than this (2.1 m) ..."""
    to_ceiling: float = 0.1
    """... and ends farther than this below the ceiling."""
    flatness: float = 0.002
    """σ of any wall, as none is quite plane (3 mm); of a wall of sparse points it is `thickness`."""
    common_share: float = 0.3
    """See `LevelSettings`."""


@dataclass(frozen=True, kw_only=True)
class Wall:
    """A wall, as a line on the floor."""

    normal: Float64[np.ndarray, "2"]
    """Unit vector towards the cameras that see it."""
    offset: float
    """normal · x on the line."""
    middle: float
    """Where along the line its points have their middle."""
    sigma: float
    """σ of its offset there."""
    angle_sigma_rad: float
    hit: Bool[np.ndarray, "c"]
    """Columns in which a surface lies on the line."""
    topmost: Bool[np.ndarray, "c"]
    """Columns in which that is the topmost thing to be seen, and high enough for a wall."""
    top: Float64[np.ndarray, "c"]
    """Height of the highest point in each column; NaN without one."""
    start: float
    """Where the first column begins along the line."""
    column: float
    """Width of a column."""

    @property
    def along(self) -> Float64[np.ndarray, "2"]:
        """Unit vector along the line, a quarter turn anticlockwise from the normal."""
        return np.array([-self.normal[1], self.normal[0]])

    @property
    def span(self) -> tuple[float, float]:
        """From where to where along the line it is seen."""
        at = np.flatnonzero(self.hit)
        return self.start + self.column * at[0], self.start + self.column * (at[-1] + 1)

    def seen_share(self, first: float, last: float) -> float:
        """Share of a piece of the line on which the wall is seen."""
        edges = self.start + self.column * np.arange(len(self.hit) + 1)
        inside = np.clip(np.minimum(edges[1:], last) - np.maximum(edges[:-1], first), 0, None)
        return float(inside[self.hit].sum() / max(last - first, 1e-12))

    def highest(self, first: float, last: float) -> float:
        """Height up to which the wall is seen on a piece of the line."""
        middle = self.start + self.column * (np.arange(len(self.hit)) + 0.5)
        tops = self.top[(middle >= first) & (middle <= last) & self.hit]
        return float(np.percentile(tops, 80)) if len(tops) else 0.0

    def sigma_within(self, first: float, last: float) -> float:
        """σ of the line, at its worst on a piece of it."""
        return float(
            np.hypot(self.sigma, self.angle_sigma_rad * max(abs(first - self.middle), abs(last - self.middle)))
        )


def walls_of(
    seen: Surfaces, thin: Surfaces, cell: float, unit: float, ceiling: float, settings: WallSettings
) -> list[Wall]:
    """The walls among the upright planes, in axes with the floor at z = 0.

    Args:
        seen: all surface points: their rays show where nothing is.
        thin: the same, thinned to one in each cube of side `cell`; or sparse points.
        cell: side of the cubes.
        unit: length in which the thresholds are given.
        ceiling: height of the ceiling; NaN where unknown.
        settings: thresholds.
    """
    tall = [w for w in (_examined(w, seen, unit, ceiling, settings) for w in _planes(thin, cell, unit, settings)) if w]
    whole = [w for w in tall if not any(_is_part_of(w, other, unit, settings) for other in tall if other is not w)]
    return [w for w in whole if not any(_stands_before(w, other, unit, ceiling, settings) for other in whole)]


def _thickness(points: Surfaces, unit: float, settings: WallSettings) -> Float64[np.ndarray, "p"]:
    away = np.linalg.norm((points.camera - points.xyz)[:, :2], axis=1)
    return np.asarray(np.maximum(settings.thickness * unit, settings.thickness_sigmas * points.relative_sigma * away))


def _planes(thin: Surfaces, cell: float, unit: float, settings: WallSettings) -> list[Wall]:
    """Upright planes, the largest first, without columns."""
    sparse = not thin.is_plane.any()
    with np.errstate(invalid="ignore"):
        upright = sparse | (np.abs(thin.normal[:, 2]) <= np.sin(settings.upright_rad))
    left = thin.of(upright & (thin.xyz[:, 2] > 3 * settings.thickness * unit))
    least = settings.points if sparse else settings.area * (unit / cell) ** 2
    rng = np.random.default_rng(0)
    found: list[Wall] = []
    while len(found) < settings.most and len(left) >= least:
        thick = _thickness(left, unit, settings)
        normal, offset = _hypotheses(left, settings.planes, rng)
        some = rng.permutation(len(left))[: settings.voters]
        best = int(np.argmax(_inside(left.of(some), normal, offset, thick[some], settings).sum(axis=0)))
        n, d = normal[best], float(offset[best])
        own = _inside(left, n[None], offset[best : best + 1], thick, settings)[:, 0]
        for turns in (False, False, True, True):
            if own.sum() < least:
                break
            n, d = _line(left.of(own), n, settings.column * unit) if turns or sparse else _facing(left.of(own))
            own = _inside(left, n[None], np.array([d]), thick, settings)[:, 0]
        if own.sum() < least:
            return found
        points = left.of(own)
        u = points.xyz[:, :2] @ np.array([-n[1], n[0]])
        low, high = np.percentile(u, [2, 98])
        if high - low >= settings.length * unit and np.ptp(points.xyz[:, 2]) >= settings.height * unit:
            sigma = offset_sigma(points, np.array([*n, 0.0]), settings.common_share)
            sigma = float(np.hypot(sigma, (settings.thickness if sparse else settings.flatness) * unit))
            residual = float(np.median(np.abs(points.xyz[:, :2] @ n - d))) * 1.48
            angle = np.hypot(0.3 * sigma, residual / np.sqrt(max(len(points) / 10, 1))) / float(np.std(u))
            none = np.zeros(0, dtype=bool)
            found.append(
                Wall(
                    normal=n, offset=d, middle=float(np.median(u)), sigma=sigma, angle_sigma_rad=float(angle),
                    hit=none, topmost=none, top=np.zeros(0), start=float(low), column=settings.column * unit,
                )
            )  # fmt: skip
        left = left.of(~_inside(left, n[None], np.array([d]), 2 * thick, replace(settings, cone_rad=0.6))[:, 0])
    return found


def _hypotheses(
    points: Surfaces, count: int, rng: np.random.Generator
) -> tuple[Float64[np.ndarray, "h 2"], Float64[np.ndarray, "h"]]:
    """Lines through a point, by its normal; or through two sparse points."""
    a = rng.integers(0, len(points), count)
    normal = points.normal[a, :2]
    if np.isnan(normal).any():
        along = points.xyz[rng.integers(0, len(points), count), :2] - points.xyz[a, :2]
        normal = np.stack([-along[:, 1], along[:, 0]], axis=1)
        normal *= np.where(np.sum(normal * (points.camera - points.xyz)[a, :2], axis=1) < 0, -1, 1)[:, None]
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    return normal, np.asarray(np.sum(normal * points.xyz[a, :2], axis=1))


def _inside(
    points: Surfaces,
    normal: Float64[np.ndarray, "h 2"],
    offset: Float64[np.ndarray, "h"],
    thick: Float64[np.ndarray, "p"],
    settings: WallSettings,
) -> Bool[np.ndarray, "p h"]:
    near = np.abs(points.xyz[:, :2] @ normal.T - offset) <= thick[:, None]
    ahead = points.camera[:, :2] @ normal.T > offset
    with np.errstate(invalid="ignore"):
        turned = points.normal[:, :2] @ normal.T < np.cos(settings.cone_rad)
    return np.asarray(near & ahead & ~turned)


def _facing(points: Surfaces) -> tuple[Float64[np.ndarray, "2"], float]:
    """The line that faces as its points do. Through a wall and the front of a cupboard, no line does."""
    normal = np.median(points.normal[:, :2] / np.linalg.norm(points.normal[:, :2], axis=1, keepdims=True), axis=0)
    normal /= np.linalg.norm(normal)
    return normal, float(np.median(points.xyz[:, :2] @ normal))


def _line(points: Surfaces, normal: Float64[np.ndarray, "2"], column: float) -> tuple[Float64[np.ndarray, "2"], float]:
    """The line through the medians of its columns: each place along it counts alike."""
    along = np.array([-normal[1], normal[0]])
    u, off = points.xyz[:, :2] @ along, points.xyz[:, :2] @ normal
    _, at = np.unique(np.floor(u / column), return_inverse=True)
    order = np.argsort(at, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(at))[:-1])
    places = np.array([[np.median(u[g]), np.median(off[g]), len(g)] for g in groups])
    weight = np.sqrt(np.minimum(places[:, 2], np.median(places[:, 2])))
    middle = np.average(places[:, 0], weights=weight**2)
    if len(places) < 3:
        return normal, float(np.median(off))
    design = np.column_stack([np.ones(len(places)), places[:, 0] - middle])
    keep = np.ones(len(places), dtype=bool)
    for _ in range(3):
        if keep.sum() < 3:
            return normal, float(np.median(off))
        w = weight[keep]
        a, b = np.linalg.lstsq(design[keep] * w[:, None], places[keep, 1] * w, rcond=None)[0]
        residual = np.abs(places[:, 1] - design @ [a, b])
        keep = residual <= 3 * 1.48 * np.median(residual[keep]) + 1e-9
    turned = (normal - b * along) / np.hypot(1, b)
    return turned, float(turned @ (middle * along + a * normal))


def _examined(wall: Wall, seen: Surfaces, unit: float, ceiling: float, settings: WallSettings) -> Wall | None:
    """The plane with its columns, if it is a wall."""
    column = wall.column
    along, thick = np.array([-wall.normal[1], wall.normal[0]]), _thickness(seen, unit, settings)
    end, start = seen.xyz[:, :2] @ wall.normal - wall.offset, seen.camera[:, :2] @ wall.normal - wall.offset
    with np.errstate(invalid="ignore"):  # floor, ceiling and tables cross every upright plane
        is_upright = np.abs(seen.normal[:, 2]) < np.cos(np.pi / 4) if seen.is_plane.any() else True
    on = (np.abs(end) <= 1.5 * thick) & (start > 0) & is_upright
    passes = (end < -np.maximum(3 * thick, 0.1 * unit)) & (start > 0)
    share = np.where(passes, start / np.where(passes, start - end, 1.0), 1.0)[:, None]
    at = seen.camera + share * (seen.xyz - seen.camera)
    u, z = at[:, :2] @ along, at[:, 2]
    if not on.any():
        return None
    low, high = np.percentile(u[on], [0.5, 99.5])
    shape = max(1, int(np.ceil((high - low) / column))), max(1, int(np.ceil(max(z[on].max(), 2 * unit) / column)))
    hits, passing = (_counted((u[rows] - low) / column, z[rows] / column, shape) for rows in (on, passes))
    known = hits + passing >= settings.counts
    highest = shape[1] - 1 - np.argmax(known[:, ::-1], axis=1)
    columns = np.arange(shape[0])
    is_hit = np.asarray((hits >= settings.counts).any(axis=1))
    top = np.where(is_hit, (shape[1] - np.argmax(hits[:, ::-1] >= settings.counts, axis=1)) * column, np.nan)
    reach = settings.reach * unit if np.isnan(ceiling) else settings.reach_share * ceiling
    topmost = known.any(axis=1) & (hits[columns, highest] > passing[columns, highest])
    tall = topmost & ((highest + 1) * column >= settings.low_reach * unit)
    is_long = tall.sum() * column >= settings.short * unit
    topmost = tall if is_long else topmost & ((highest + 1) * column >= reach)
    passed = known.any(axis=1) & (hits[columns, highest] < passing[columns, highest]) & is_hit
    if topmost.sum() * column < settings.length_seen * unit or topmost.sum() < passed.sum():
        return None
    return replace(wall, hit=is_hit, topmost=topmost, top=top, start=float(low))


def _counted(
    u: Float64[np.ndarray, "p"], z: Float64[np.ndarray, "p"], shape: tuple[int, int]
) -> Int64[np.ndarray, "c r"]:
    a, b = np.floor(u).astype(np.int64), np.floor(z).astype(np.int64)
    inside = (a >= 0) & (a < shape[0]) & (b >= 0) & (b < shape[1])
    flat = np.bincount(a[inside] * shape[1] + b[inside], minlength=shape[0] * shape[1])
    return np.asarray(flat.reshape(shape), dtype=np.int64)


def _is_part_of(wall: Wall, other: Wall, unit: float, settings: WallSettings) -> bool:
    """Whether a plane lies along the same stretch as a wall, close before or behind it, and the wall is seen higher up,
    or more of it: its windows, a row of cupboards, or what its mirrors and errors of depth put there."""
    if abs(wall.offset - other.offset) > settings.behind * unit or not _parallel(wall, other, settings):
        return False
    low, high = max(wall.span[0], other.span[0]), min(wall.span[1], other.span[1])
    if high - low <= 0.3 * (wall.span[1] - wall.span[0]):
        return False
    own, others = wall.highest(low, high), other.highest(low, high)
    if abs(own - others) > 2 * wall.column:
        return bool(others > own)
    return bool(
        (other.topmost.sum(), other.hit.sum(), other.offset) > (wall.topmost.sum(), wall.hit.sum(), wall.offset)
    )


def _stands_before(wall: Wall, other: Wall, unit: float, ceiling: float, settings: WallSettings) -> bool:
    """Whether a plane is the front of a piece of furniture at another wall: short, in front of it, not up to the
    ceiling."""
    gap = wall.offset - other.offset if wall is not other else -1.0
    if wall.normal @ other.normal < np.cos(settings.cone_rad) or not 0 < gap < settings.behind * unit:
        return False
    first, last = wall.span
    low, high = other.span
    if (
        last - first > settings.short * unit
        or last < low - settings.short * unit
        or first > high + settings.short * unit
    ):
        return False
    return not (np.nanmax(wall.top) > ceiling - settings.to_ceiling * unit)


def _parallel(wall: Wall, other: Wall, settings: WallSettings) -> bool:
    return bool(wall.normal @ other.normal >= np.cos(settings.cone_rad))
