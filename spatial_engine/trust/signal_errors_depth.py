"""Errors of ranges, matched pixels and tracks against true depth and poses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.provenance import Provenance
from experts.signals import Depth, Scale
from spatial_engine.trust.signal_errors_record import GROSS_SIGMAS, SignalErrors, errors_of, gross_counts
from templates.scene.correspondence import moved_with_object
from templates.scene.marks import known_pixels
from templates.scene.scene import Scene, find_rows
from templates.scene.surface import PATCH_WINDOW_PX, WINDOW_PX, DenseSurface
from templates.settings import AskSettings, MaxTolerances

GROSS_RANGE = 0.15
"""A range is plainly wrong beyond this: the tolerance of a ratio of ranges."""
SURE_DEPTH = 0.025
"""Truth at a pixel decides if its σ, its spread over 3 px around included, is at most this: no border, no hole."""
_FOCAL_SIGMA = 0.3
"""Beyond this σ_f / f the footage does not determine the focal length (a camera that only goes sideways or ahead). The
two reconstructions then have the shortest and the longest possible one; ranges at the edge of the picture err against
those in its middle, in opposite ways, and σ of a fact is that of both together. One of them alone tells nothing."""
_USABLE = 1 - AskSettings().min_confidence
"""Largest outlier probability of what questions use."""
_NEAREST = 0.29
_LEAST = 8
"""Ranges that it takes to find the scale."""


@dataclass(frozen=True, kw_only=True)
class _Ranges:
    """Estimated ranges of one kind beside true ones; rows are samples."""

    frame: Int64[np.ndarray, "n"]
    ratio: Float64[np.ndarray, "n"]
    """ln of range over true range; NaN where truth does not decide."""
    own: Float64[np.ndarray, "n"]
    truth: Float64[np.ndarray, "n"]
    outlier_probability: Float64[np.ndarray, "n"]


def range_errors(mine: Scene, true: Scene, dense: Sequence[int]) -> Iterator[SignalErrors]:
    """Errors of sparse points and of depth, in the frames that have true depth."""
    frames = [frame for frame in dense if true.has_depth(frame) and np.isfinite(mine.world_from_cam([frame])).all()]
    if mine.path is None or mine.path.focal_relative_sigma > _FOCAL_SIGMA or not frames:
        return
    if mine.points is not None and mine.points.provenance.expert == mine.path.provenance.expert:
        yield _record(mine.points.provenance, "sparse_points", _of_points(mine, true, frames), mine.path.scale)
    for name, depth, window_px in (
        ("depth", mine.depth, WINDOW_PX),
        ("depth_patches", mine.depth_patches, PATCH_WINDOW_PX),
    ):
        if depth is not None and (both := np.intersect1d(frames, depth.frames).tolist()):
            yield _record(depth.provenance, name, _of_depth(depth, mine, true, both, window_px), depth.scale)


def _of_points(mine: Scene, true: Scene, frames: Sequence[int]) -> _Ranges:
    """One row per observation."""
    points = mine.points
    assert points is not None
    seen = np.flatnonzero(np.isin(points.observation_frame, frames))
    row, frame = points.observation_point[seen], points.observation_frame[seen]
    centres = {f: mine.world_from_cam([f])[0, :3, 3] for f in frames}
    away = np.linalg.norm(points.xyz_world[row] - np.array([centres[int(f)] for f in frame]).reshape(-1, 3), axis=1)
    ratio, sigma = _against(true, frame, points.observation_xy_px[seen], away)
    return _Ranges(
        frame=frame,
        ratio=ratio,
        own=points.range_relative_sigma[row],
        truth=sigma,
        outlier_probability=points.outlier_probability[row],
    )


def _of_depth(depth: Depth, mine: Scene, true: Scene, frames: Sequence[int], window_px: int) -> _Ranges:
    """One row per pixel of a grid."""
    assert mine.path is not None
    grids = [known_pixels(mine, f) for f in frames]
    frame, xy_px = np.repeat(np.array(frames, dtype=np.int64), [len(grid) for grid in grids]), np.concatenate(grids)
    seen = DenseSurface(depth=depth, window_px=window_px).at(
        mine.path.intrinsics, find_rows(depth.frames, frame), xy_px
    )
    ratio, sigma = _against(true, frame, xy_px, seen.range)
    return _Ranges(
        frame=frame, ratio=ratio, own=seen.range_relative_sigma, truth=sigma,
        outlier_probability=seen.outlier_probability,
    )  # fmt: skip


def _against(
    true: Scene, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"], away: Float64[np.ndarray, "n"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """ln of ranges over true ones, and the σ of these."""
    ratio, sigma = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    for f in np.unique(frame).tolist():
        here = np.flatnonzero(frame == f)
        xyz_cam, sigma[here] = sure_surface(true, f, xy_px[here])
        ratio[here] = np.log(away[here] / np.linalg.norm(xyz_cam, axis=1))
    return ratio, sigma


def sure_surface(
    true: Scene, frame: int, xy_px: Float64[np.ndarray, "k 2"]
) -> tuple[Float64[np.ndarray, "k 3"], Float64[np.ndarray, "k"]]:
    """True points at pixels of a frame, in camera axes, and the relative σ of their range; NaN where truth does not
    decide.

    Only depth decides: distances that are matched in the pictures are for facts. The spread over 3 px tells borders;
    into σ goes its share that reading the nearest pixel costs: 0.29 px of slope.
    """
    assert true.depth is not None and true.path is not None
    seen, camera = replace(true, matched=None).surface(frame, xy_px), true.path.intrinsics
    own = true.depth.relative_sigma[find_rows(true.depth.frames, [frame])[0]].astype(np.float64)
    height, width = own.shape
    at = np.round((xy_px + 0.5) * [width / camera.width_px, height / camera.height_px] - 0.5).astype(int)
    own = own[np.clip(at[:, 1], 0, height - 1), np.clip(at[:, 0], 0, width - 1)]
    sure = np.nan_to_num(seen.range_relative_sigma, nan=np.inf) <= SURE_DEPTH
    slope = np.sqrt(np.maximum(seen.range_relative_sigma**2 - own**2, 0))
    return np.where(sure[:, None], seen.xyz_cam, np.nan), np.where(sure, np.hypot(own, _NEAREST * slope), np.nan)


def _record(made_by: Provenance, signal: str, ranges: _Ranges, scale: Scale) -> SignalErrors:
    error = ranges.ratio - _scale(ranges, scale)
    known = np.isfinite(error) & np.isfinite(ranges.own)
    wrong = np.zeros(len(error), dtype=bool)
    limit = np.maximum(GROSS_RANGE, GROSS_SIGMAS * np.hypot(ranges.own[known], ranges.truth[known]))
    wrong[known] = np.abs(error[known]) > limit
    return errors_of(
        made_by, signal, "range",
        error=error[:, None], own=ranges.own, truth=ranges.truth, wrong=wrong | _doubtful(ranges.outlier_probability),
        gross=gross_counts(ranges.outlier_probability[known], wrong[known]),
    )  # fmt: skip


def _doubtful(outlier_probability: Float64[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
    """What no question uses, so that σ need not describe it: likely outliers. Where a signal has nothing better,
    because only other signals confirm it, everything counts."""
    return outlier_probability > max(_USABLE, float(np.fmin.reduce(outlier_probability, initial=np.inf)))


def _scale(ranges: _Ranges, scale: Scale) -> Float64[np.ndarray, "n"]:
    """ln of the one factor that fits best, of each frame where each has its own; NaN where too few ranges tell.

    Metric lengths too: their scale has a σ of its own."""
    group = ranges.frame if scale.kind == "per_frame" else np.zeros_like(ranges.frame)
    found = np.full(len(group), np.nan)
    known: Bool[np.ndarray, "n"] = np.isfinite(ranges.ratio)
    for value in np.unique(group):
        of_it = group == value
        if (of_it & known).sum() >= _LEAST:
            found[of_it] = np.median(ranges.ratio[of_it & known])
    return found


GROSS_PX = 3.0
"""A point is an outlier beyond this error (at 640 px width), ..."""
_PER_PAIR = 80
"""So many points of two frames are looked at, evenly thinned."""


def pixel_errors(mine: Scene, true: Scene, dense: Sequence[int]) -> Iterator[SignalErrors]:
    """Errors of matches and of tracks, in the frames that have true depth."""
    frames = [frame for frame in dense if true.has_depth(frame) and np.isfinite(true.world_from_cam([frame])).all()]
    if mine.matches is not None:
        yield from _of_matches(mine, true, frames)
    if mine.tracks is not None:
        yield from _of_tracks(mine, true, frames)


def _of_matches(mine: Scene, true: Scene, frames: Sequence[int]) -> Iterator[SignalErrors]:
    matches = mine.matches
    assert matches is not None
    rows, parts = [], []
    for pair, (a, b) in enumerate(matches.pairs.tolist()):
        if a in frames and b in frames:
            own = _thinned(np.flatnonzero(matches.pair == pair))
            rows.append(own)
            parts.append(_displaced(true, a, matches.xy_a_px[own], b, matches.xy_b_px[own]))
    if not rows:
        return
    row = np.concatenate(rows)
    error, truth = (np.concatenate(each) for each in zip(*parts, strict=True))
    wrong, known = _wrong(mine, error, matches.sigma_px[row], truth)
    yield errors_of(
        matches.provenance, "matches", "pixel",
        error=error, own=matches.sigma_px[row], truth=truth, wrong=wrong | _doubtful(matches.outlier_probability[row]),
        gross=gross_counts(matches.outlier_probability[row[known]], wrong[known]),
    )  # fmt: skip


def _of_tracks(mine: Scene, true: Scene, frames: Sequence[int]) -> Iterator[SignalErrors]:
    """From the first frame in which a track is followed to each other where it is seen. A track is plainly wrong if it
    is in any of them; what is said to move is left out."""
    tracks = mine.tracks
    assert tracks is not None
    followed = np.isfinite(tracks.xy_px).all(axis=2)
    born = np.where(followed.any(axis=1), tracks.frames[followed.argmax(axis=1)], -1)
    rows, parts, sigmas = [], [], []
    for a in frames:
        column = find_rows(tracks.frames, [a])[0]
        for b in frames:
            there = find_rows(tracks.frames, [b])[0]
            if b <= a or column < 0 or there < 0:
                continue
            usable = (born == a) & tracks.visible[:, column] & tracks.visible[:, there] & (tracks.motion != 1)
            own = _thinned(np.flatnonzero(usable))
            rows.append(own)
            parts.append(_displaced(true, a, tracks.xy_px[own, column], b, tracks.xy_px[own, there]))
            sigmas.append(np.hypot(tracks.sigma_px[own, column], tracks.sigma_px[own, there]))
    if not rows:
        return
    row, sigma = np.concatenate(rows), np.concatenate(sigmas)
    error, truth = (np.concatenate(each) for each in zip(*parts, strict=True))
    wrong, known = _wrong(mine, error, sigma, truth)
    looked_at = np.unique(row[known])
    yield errors_of(
        tracks.provenance, "tracks", "pixel",
        error=error, own=sigma, truth=truth, wrong=wrong | _doubtful(tracks.outlier_probability[row]),
        gross=gross_counts(tracks.outlier_probability[looked_at], np.isin(looked_at, row[known & wrong])),
    )  # fmt: skip


def _thinned(rows: np.ndarray) -> np.ndarray:
    return rows[np.unique(np.linspace(0, len(rows) - 1, min(_PER_PAIR, len(rows))).round().astype(int))]


def _wrong(
    mine: Scene, error: Float64[np.ndarray, "n 2"], own: Float64[np.ndarray, "n"], truth: Float64[np.ndarray, "n"]
) -> tuple[Bool[np.ndarray, "n"], Bool[np.ndarray, "n"]]:
    """What is plainly wrong, and where truth decides that: by three of its σ within what a point is asked to.

    Where truth is less sure than the signal, smaller slips are not seen: then the rate is a lower bound."""
    known = np.isfinite(error).all(axis=1) & np.isfinite(own)
    known &= np.nan_to_num(truth, nan=np.inf) <= MaxTolerances().point_diagonal * mine.diagonal_px / 3
    limit = np.maximum(GROSS_PX * mine.pixel_scale, GROSS_SIGMAS * np.hypot(own[known], truth[known]))
    wrong = np.zeros(len(error), dtype=bool)
    wrong[known] = np.linalg.norm(error[known], axis=1) > limit
    return wrong, known


def _displaced(
    true: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "k 2"], frame_b: int, xy_b_px: Float64[np.ndarray, "k 2"]
) -> tuple[Float64[np.ndarray, "k 2"], Float64[np.ndarray, "k"]]:
    """Pixels in frame b minus those where truth puts what frame a shows, and σ per axis of the latter; NaN where the
    true depth in frame a is not known well. What truth hides in frame b has a place there too."""
    assert true.path is not None
    camera = true.path.intrinsics
    a, b = true.world_from_cam([frame_a, frame_b])
    xyz_cam, depth_sigma = sure_surface(true, frame_a, xy_a_px)
    away = np.linalg.norm(xyz_cam, axis=1)
    world = xyz_cam @ a[:3, :3].T + a[:3, 3]
    every_a, every_b = np.full(len(world), frame_a), np.full(len(world), frame_b)
    world = moved_with_object(true, every_a, xy_a_px, every_b, world)
    xy_px = camera.project((world - b[:3, 3]) @ b[:3, :3])
    reach = np.linalg.norm(b[:3, 3] - a[:3, 3]) / away
    placed = np.hypot(*true.position_sigma([frame_a, frame_b])) / away
    turned = true.rotation_sigma_rad([frame_a, frame_b]).max()
    focal = true.path.focal_relative_sigma * np.linalg.norm(xy_px - xy_a_px, axis=1)
    return xy_b_px - xy_px, np.hypot(camera.fx_px * np.hypot(np.hypot(reach * depth_sigma, placed), turned), focal)
