"""Finds tracks that move in the world, from their residuals against static points and from rigidly moving neighbours.

A track dragged along by the edge of a passing object also deviates from every static point. It differs from the points
of that object: it is static before, moves with the background at times, or is outside of them. So a track counts as
moving only if neighbours on several sides move rigidly with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64
from scipy.spatial import cKDTree

from experts.tracking.static_fit import Observations, StaticFit, fit_whole, fit_window


@dataclass(frozen=True, kw_only=True)
class MovingSettings:
    """Thresholds; those in px are for a picture 640 px wide. Checked on the rendered demo room."""

    departure_px: float = 6.0
    """A pair of frames shows motion if the residual vector changes by at least this much."""
    pairs: int = 3
    """Smallest number of pairs that show motion."""
    frames: int = 8
    """Shorter tracks are not judged."""
    third_px: float = 0.6
    """Smallest RMS residual of a moving track within each third of its frames; a track that slipped to another surface
    is static before the slip. About twice the tracking drift over 30 frames (0.26 px)."""
    half_px: float = 1.0
    """The same within each half: two static points, before and after a slip, do not explain the track."""
    explained_share: float = 0.5
    """If tracks that a static point explains hold a smaller share of all observations, the camera path itself is
    suspect, and no track is called moving (7-Scenes under the poses of its other camera: 67 false detections without
    this)."""
    samples: int = 30
    """Number of evenly spaced frames in which neighbours are tested."""
    neighbour_radius_px: float = 70.0
    """Radius of the neighbourhood."""
    neighbours: int = 6
    """Smallest number of tracks that move rigidly with it (with 3 to 5, a static kitchen of 7-Scenes gave 1 to 3 false
    detections; with 6 none, and the demo room kept all moving tracks)."""
    distance_change: float = 0.15
    """Distances within a rigid object change by at most this share between samples, plus `slack_px`."""
    slack_px: float = 1.0
    """Twice the tracking drift between samples, for two tracks."""
    open_angle_rad: float = float(np.pi)
    """Largest angular gap between neighbours: a larger one means that the track is outside the convex hull of the
    moving points."""
    neighbour_share: float = 0.7
    """Smallest share of a track's samples with such neighbours."""
    like_static_px: float = 1.0
    """A track whose motion between any two samples equals that of two static neighbours within this is static."""
    border_radius_px: float = 32.0
    """A track is near an occlusion border if static points within this radius ..."""
    border_depth_ratio: float = 1.25
    """... differ in depth by more than this factor."""
    border_share: float = 0.3
    """A track that is near a border in more than this share of its samples is not called moving."""


@dataclass(frozen=True, kw_only=True)
class MovingTracks:
    """Result for every track."""

    moving: Bool[np.ndarray, "t"]
    """Moves in the world."""
    residual_px: Float64[np.ndarray, "t"]
    """Median change of the residual vector over the pairs; NaN for tracks that are too short."""
    pairs: Int32[np.ndarray, "t"]
    """Number of pairs that show motion."""


def find_moving(
    s: Observations,
    consensus: StaticFit,
    static: Bool[np.ndarray, "t"],
    explained: Bool[np.ndarray, "t"],
    located: Bool[np.ndarray, "t"],
    settings: MovingSettings,
) -> MovingTracks:
    """Tracks that no static point explains and that have rigidly moving neighbours on all sides.

    `static` tracks are certainly static and are skipped. `explained` ones may be static. `located` ones have a known
    depth, which shows occlusion borders.
    """
    residual, pairs = _departing_pairs(fit_whole(s), settings)
    moving = (pairs >= settings.pairs) & (residual >= settings.departure_px) & ~static
    candidates = np.flatnonzero(moving)
    moving[candidates] = _departs_throughout(s.of(candidates), settings)
    judged = s.seen[np.isfinite(residual)]
    if s.seen[explained & np.isfinite(residual)].sum() < settings.explained_share * judged.sum():
        moving[:] = False
    samples = evenly_spaced(s.u.shape[1], settings.samples)
    moving &= near_border(s, consensus, located, moving, samples, settings) <= settings.border_share
    moving &= ~_moves_like_static(s, static, moving, samples, settings)
    moving &= _neighbour_share(s, moving, samples, settings, surrounded=False) >= settings.neighbour_share
    moving &= _neighbour_share(s, moving, samples, settings, surrounded=True) >= settings.neighbour_share
    return MovingTracks(moving=moving, residual_px=residual, pairs=pairs)


def moves_with_neighbours(
    s: Observations, moving: Bool[np.ndarray, "t"], settings: MovingSettings, span: int = 3
) -> Bool[np.ndarray, "t n"]:
    """Frames in which a moving track keeps its position among its neighbours, over `span` frames before and after."""
    frames = s.u.shape[1]
    along = np.zeros(s.seen.shape, dtype=bool)
    for n in range(frames):
        a, b = max(0, n - span), min(frames - 1, n + span)
        for track, neighbours, _ in _rigid_neighbours(s, moving & s.seen[:, n], a, b, settings):
            along[track, n] = len(neighbours) >= settings.neighbours
    return along


def near_border(
    s: Observations,
    fit: StaticFit,
    located: Bool[np.ndarray, "t"],
    tested: Bool[np.ndarray, "t"],
    samples: list[int],
    settings: MovingSettings,
) -> Float64[np.ndarray, "t"]:
    """Share of a track's samples in which located points around it differ clearly in depth."""
    near, total = np.zeros(len(located)), np.zeros(len(located))
    if s.rotation_only:
        return near
    for n in samples:
        here, known = np.flatnonzero(tested & s.seen[:, n]), np.flatnonzero(located & s.seen[:, n])
        total[here] += 1
        for track, around in zip(here, _around(s, n, known, here, settings.border_radius_px), strict=True):
            z = fit.z[known[around], n]
            near[track] += len(z) >= 2 and float(z.max()) > settings.border_depth_ratio * float(z.min())
    return near / np.maximum(total, 1)


def evenly_spaced(frames: int, count: int) -> list[int]:
    """At most `count` of the positions 0 ... frames-1, both ends included."""
    return sorted({round(k * (frames - 1) / (count - 1)) for k in range(count)})


def _departing_pairs(
    whole: StaticFit, settings: MovingSettings
) -> tuple[Float64[np.ndarray, "t"], Int32[np.ndarray, "t"]]:
    """Median change of the residual vector over pairs of six frames of each track, and the number of pairs that show
    motion."""
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


def _departs_throughout(s: Observations, settings: MovingSettings) -> Bool[np.ndarray, "t"]:
    thirds = [_rms(fit_window(s, (k / 3, (k + 1) / 3))) for k in range(3)]
    halves = [_rms(fit_window(s, (k / 2, (k + 1) / 2))) for k in range(2)]
    return (np.min(thirds, axis=0) >= settings.third_px) & (np.min(halves, axis=0) >= settings.half_px)


def _rms(fit: StaticFit) -> Float64[np.ndarray, "t"]:
    residual = fit.residual_px
    seen = np.isfinite(residual)
    return np.sqrt(np.where(seen, residual, 0) ** 2 @ np.ones(residual.shape[1]) / np.maximum(seen.sum(axis=1), 1))


def _moves_like_static(
    s: Observations,
    static: Bool[np.ndarray, "t"],
    moving: Bool[np.ndarray, "t"],
    samples: list[int],
    settings: MovingSettings,
) -> Bool[np.ndarray, "t"]:
    like = np.zeros(len(static), dtype=bool)
    for a, b in pairwise(samples):
        both = s.seen[:, a] & s.seen[:, b]
        here, known = np.flatnonzero(moving & both), np.flatnonzero(static & both)
        change = (s.u[:, b] - s.u[:, a]) * s.focal_px
        for track, around in zip(here, _around(s, a, known, here, settings.neighbour_radius_px), strict=True):
            difference = np.linalg.norm(change[known[around]] - change[track], axis=1)
            like[track] |= (difference < settings.like_static_px).sum() >= 2
    return like


def _neighbour_share(
    s: Observations, moving: Bool[np.ndarray, "t"], samples: list[int], settings: MovingSettings, *, surrounded: bool
) -> Float64[np.ndarray, "t"]:
    """Share of the samples of a track with rigid neighbours (on all sides, if `surrounded`)."""
    good, total = np.zeros(len(moving)), np.zeros(len(moving))
    for a, b in pairwise(samples):
        total += s.seen[:, a] & s.seen[:, b]
        for track, neighbours, offset in _rigid_neighbours(s, moving, a, b, settings):
            open_side = open_angle_rad(offset) if surrounded else 0.0
            good[track] += len(neighbours) >= settings.neighbours and open_side <= settings.open_angle_rad
    return good / np.maximum(total, 1)


def _rigid_neighbours(
    s: Observations, moving: Bool[np.ndarray, "t"], a: int, b: int, settings: MovingSettings
) -> Iterator[tuple[int, Int64[np.ndarray, "c"], Float64[np.ndarray, "c 2"]]]:
    """(track, tracks around it that keep their offset from frame a to b, these offsets) for moving tracks."""
    here = np.flatnonzero(moving & s.seen[:, a] & s.seen[:, b])
    change = (s.u[here, b] - s.u[here, a]) * s.focal_px
    at = s.u[here, a] * s.focal_px
    for i, around in enumerate(_around(s, a, here, here, settings.neighbour_radius_px)):
        others = np.array([k for k in around if k != i], dtype=np.int64)
        offset = at[others] - at[i]
        limit = settings.distance_change * np.linalg.norm(offset, axis=1) + settings.slack_px
        along = np.linalg.norm(change[others] - change[i], axis=1) <= limit
        yield int(here[i]), here[others[along]], offset[along]


def open_angle_rad(offset: Float64[np.ndarray, "c 2"]) -> float:
    """Largest angle between neighbouring directions."""
    if not len(offset):
        return float(2 * np.pi)
    angle = np.sort(np.arctan2(offset[:, 1], offset[:, 0]))
    return float(np.diff(np.append(angle, angle[0] + 2 * np.pi)).max())


def _around(
    s: Observations, n: int, known: Int64[np.ndarray, "k"], tested: Int64[np.ndarray, "q"], radius_px: float
) -> list[list[int]]:
    """For each tested track, indices into `known` of the tracks within the radius in frame n."""
    if not len(known) or not len(tested):
        return [[] for _ in tested]
    return list(cKDTree(s.u[known, n] * s.focal_px).query_ball_point(s.u[tested, n] * s.focal_px, radius_px))
