"""Which tracks move in the world: judged by what no static point could do, and by their company.

A track that is dragged along by the edge of a passing thing departs from every static point too. It differs from
the thing's own points in that it rests before, moves with the background at times, or lies outside of them. So a
track moves only where others move with it like one rigid thing, and on several sides of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64
from scipy.spatial import cKDTree

from experts.tracking.static_fit import Sightings, StaticFit, fit_whole, fit_window


@dataclass(frozen=True, kw_only=True)
class MovingSettings:
    """Thresholds; "px" are those of a 640 px wide picture. Checked on the rendered demo room."""

    departure_px: float = 6.0
    """A pair of frames shows motion from this change of departure on (issue 2)."""
    pairs: int = 3
    """So many pairs must show it (issue 2)."""
    frames: int = 8
    """Shorter tracks are not judged."""
    third_px: float = 0.6
    """A mover departs (RMS) within each third of its life; a track that slid over a border rests before it.
    About twice the drift of tracking over 30 frames (0.26 px)."""
    half_px: float = 1.0
    """... and within each half: two static points, one before and one after a slide, do not explain it."""
    explained_share: float = 0.5
    """Where static points explain fewer of the tracks the camera path itself is in doubt: none is called moving
    (7-Scenes under the poses of its other camera: 67 false movers without this)."""
    stations: int = 30
    """Frames, spread evenly, between which company is looked for."""
    company_radius_px: float = 70.0
    """Company lies within this."""
    company: int = 6
    """So many tracks must move along (issue 2 asks for 2; with 3 to 5 a static kitchen of 7-Scenes showed 1 to 3
    false movers, with 6 none, while the demo room kept all its movers)."""
    stretch: float = 0.15
    """Distances within one thing change by at most this share between stations, plus `slack_px`."""
    slack_px: float = 1.0
    """Twice the drift of tracking between stations, for two tracks."""
    open_side_rad: float = float(np.pi)
    """Widest angle without company: more means outside of the convex hull of the moving points."""
    company_share: float = 0.7
    """Share of a track's stations at which it has such company."""
    like_static_px: float = 1.0
    """A track that moves like two static neighbours to within this, between any two stations, belongs to them."""
    border_radius_px: float = 32.0
    """An occlusion border is near where static points within this ..."""
    border_depth_ratio: float = 1.25
    """... differ in depth by more than this factor."""
    border_share: float = 0.3
    """A track with more than this share of its stations near a border is not called moving."""


@dataclass(frozen=True, kw_only=True)
class MovingTracks:
    """Judgement on every track."""

    moving: Bool[np.ndarray, "t"]
    """Moves in the world."""
    residual_px: Float64[np.ndarray, "t"]
    """Median change of departure over the pairs; NaN for tracks too short to judge."""
    pairs: Int32[np.ndarray, "t"]
    """How many pairs depart enough."""


def find_moving(
    s: Sightings,
    consensus: StaticFit,
    static: Bool[np.ndarray, "t"],
    explained: Bool[np.ndarray, "t"],
    placed: Bool[np.ndarray, "t"],
    settings: MovingSettings,
) -> MovingTracks:
    """Tracks that no static point explains, with company on all sides.

    `static` tracks certainly rest and are not asked; `explained` ones may rest; of `placed` ones the depth is
    known: it tells where occlusion borders are.
    """
    residual, pairs = _departing_pairs(fit_whole(s), settings)
    moving = (pairs >= settings.pairs) & (residual >= settings.departure_px) & ~static
    candidates = np.flatnonzero(moving)
    moving[candidates] = _departs_throughout(s.of(candidates), settings)
    judged = np.isfinite(residual)
    if (explained & judged).sum() < settings.explained_share * judged.sum():
        moving[:] = False
    stations = spread(s.u.shape[1], settings.stations)
    moving &= near_border(s, consensus, placed, moving, stations, settings) <= settings.border_share
    moving &= ~_moves_like_static(s, static, moving, stations, settings)
    moving &= _company_share(s, moving, stations, settings, surrounded=False) >= settings.company_share
    moving &= _company_share(s, moving, stations, settings, surrounded=True) >= settings.company_share
    return MovingTracks(moving=moving, residual_px=residual, pairs=pairs)


def moves_along(
    s: Sightings, moving: Bool[np.ndarray, "t"], settings: MovingSettings, span: int = 3
) -> Bool[np.ndarray, "t n"]:
    """Where a moving track keeps its place among its company, over `span` frames either way."""
    frames = s.u.shape[1]
    along = np.zeros(s.seen.shape, dtype=bool)
    for n in range(frames):
        a, b = max(0, n - span), min(frames - 1, n + span)
        for track, company, _ in _company(s, moving & s.seen[:, n], a, b, settings):
            along[track, n] = len(company) >= settings.company
    return along


def near_border(
    s: Sightings,
    fit: StaticFit,
    placed: Bool[np.ndarray, "t"],
    asked: Bool[np.ndarray, "t"],
    stations: list[int],
    settings: MovingSettings,
) -> Float64[np.ndarray, "t"]:
    """Share of a track's stations at which placed points around it lie at clearly different depths."""
    near, total = np.zeros(len(placed)), np.zeros(len(placed))
    if s.turning:
        return near
    for n in stations:
        here, known = np.flatnonzero(asked & s.seen[:, n]), np.flatnonzero(placed & s.seen[:, n])
        total[here] += 1
        for track, around in zip(here, _around(s, n, known, here, settings.border_radius_px), strict=True):
            z = fit.z[known[around], n]
            near[track] += len(z) >= 2 and float(z.max()) > settings.border_depth_ratio * float(z.min())
    return near / np.maximum(total, 1)


def spread(frames: int, count: int) -> list[int]:
    """At most `count` of the positions 0 ... frames-1, first and last among them."""
    return sorted({round(k * (frames - 1) / (count - 1)) for k in range(count)})


def _departing_pairs(
    whole: StaticFit, settings: MovingSettings
) -> tuple[Float64[np.ndarray, "t"], Int32[np.ndarray, "t"]]:
    """Median over pairs, from six frames of each life, of how much the departure changes; how many change enough."""
    seen = np.isfinite(whole.residual_px)
    rank = np.cumsum(seen, axis=1) - 1
    row = np.arange(len(seen))
    at = [
        whole.departure_px[row, np.argmax(rank >= np.round(share * np.maximum(rank[:, -1:], 0)), axis=1)]
        for share in np.linspace(0, 1, 6)
    ]
    change = [np.linalg.norm(at[i] - at[j], axis=-1) for i in range(6) for j in range(i + 2, 6)]
    table = np.nan_to_num(np.stack(change, axis=1))
    enough = seen.sum(axis=1) >= settings.frames
    residual = np.where(enough, np.median(table, axis=1), np.nan)
    return residual, np.where(enough, (table >= settings.departure_px).sum(axis=1), 0).astype(np.int32)


def _departs_throughout(s: Sightings, settings: MovingSettings) -> Bool[np.ndarray, "t"]:
    thirds = [_rms(fit_window(s, (k / 3, (k + 1) / 3))) for k in range(3)]
    halves = [_rms(fit_window(s, (k / 2, (k + 1) / 2))) for k in range(2)]
    return (np.min(thirds, axis=0) >= settings.third_px) & (np.min(halves, axis=0) >= settings.half_px)


def _rms(fit: StaticFit) -> Float64[np.ndarray, "t"]:
    residual = fit.residual_px
    seen = np.isfinite(residual)
    return np.sqrt(np.where(seen, residual, 0) ** 2 @ np.ones(residual.shape[1]) / np.maximum(seen.sum(axis=1), 1))


def _moves_like_static(
    s: Sightings,
    static: Bool[np.ndarray, "t"],
    moving: Bool[np.ndarray, "t"],
    stations: list[int],
    settings: MovingSettings,
) -> Bool[np.ndarray, "t"]:
    like = np.zeros(len(static), dtype=bool)
    for a, b in pairwise(stations):
        both = s.seen[:, a] & s.seen[:, b]
        here, known = np.flatnonzero(moving & both), np.flatnonzero(static & both)
        change = (s.u[:, b] - s.u[:, a]) * s.focal_px
        for track, around in zip(here, _around(s, a, known, here, settings.company_radius_px), strict=True):
            apart = np.linalg.norm(change[known[around]] - change[track], axis=1)
            like[track] |= (apart < settings.like_static_px).sum() >= 2
    return like


def _company_share(
    s: Sightings, moving: Bool[np.ndarray, "t"], stations: list[int], settings: MovingSettings, *, surrounded: bool
) -> Float64[np.ndarray, "t"]:
    """Share of the stations that a track lives through at which it has company (on all sides)."""
    good, total = np.zeros(len(moving)), np.zeros(len(moving))
    for a, b in pairwise(stations):
        total += s.seen[:, a] & s.seen[:, b]
        for track, company, way in _company(s, moving, a, b, settings):
            open_side = _open_side_rad(way) if surrounded else 0.0
            good[track] += len(company) >= settings.company and open_side <= settings.open_side_rad
    return good / np.maximum(total, 1)


def _company(
    s: Sightings, moving: Bool[np.ndarray, "t"], a: int, b: int, settings: MovingSettings
) -> Iterator[tuple[int, Int64[np.ndarray, "c"], Float64[np.ndarray, "c 2"]]]:
    """(track, the tracks that stay in place around it from frame a to b, the ways to them) of moving tracks."""
    here = np.flatnonzero(moving & s.seen[:, a] & s.seen[:, b])
    change = (s.u[here, b] - s.u[here, a]) * s.focal_px
    at = s.u[here, a] * s.focal_px
    for i, around in enumerate(_around(s, a, here, here, settings.company_radius_px)):
        others = np.array([k for k in around if k != i], dtype=np.int64)
        way = at[others] - at[i]
        limit = settings.stretch * np.linalg.norm(way, axis=1) + settings.slack_px
        along = np.linalg.norm(change[others] - change[i], axis=1) <= limit
        yield int(here[i]), here[others[along]], way[along]


def _open_side_rad(way: Float64[np.ndarray, "c 2"]) -> float:
    """Widest angle without any direction in it."""
    if not len(way):
        return float(2 * np.pi)
    angle = np.sort(np.arctan2(way[:, 1], way[:, 0]))
    return float(np.diff(np.append(angle, angle[0] + 2 * np.pi)).max())


def _around(
    s: Sightings, n: int, known: Int64[np.ndarray, "k"], asked: Int64[np.ndarray, "q"], radius_px: float
) -> list[list[int]]:
    """For each asked track, the indices into `known` of the tracks within the radius in frame n."""
    if not len(known) or not len(asked):
        return [[] for _ in asked]
    return list(cKDTree(s.u[known, n] * s.focal_px).query_ball_point(s.u[asked, n] * s.focal_px, radius_px))
