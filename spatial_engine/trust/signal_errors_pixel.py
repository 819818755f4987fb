"""How far matched and followed points are from where true depth and poses put them."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Float64

from spatial_engine.trust.signal_errors_range import sure_surface
from spatial_engine.trust.signal_errors_record import GROSS_SIGMAS, SignalErrors, errors_of, gross_counts
from templates.scene.correspondence import moved_with_object
from templates.scene.scene import Scene, find_rows
from templates.settings import MaxTolerances

GROSS_PX = 3.0
"""A point is plainly wrong beyond this (at 640 px width), ..."""
_PER_PAIR = 80
"""So many points of two frames are looked at, evenly thinned."""


def pixel_errors(mine: Scene, true: Scene, dense: Sequence[int]) -> Iterator[SignalErrors]:
    """Of matches and of tracks, in the frames whose true depth is there."""
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
        error=error, own=matches.sigma_px[row], truth=truth, wrong=wrong,
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
        error=error, own=sigma, truth=truth, wrong=wrong,
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
    if true.objects is not None:
        world = np.array(
            [moved_with_object(true, frame_a, xy, frame_b, place) for xy, place in zip(xy_a_px, world, strict=True)]
        ).reshape(-1, 3)
    xy_px = camera.project((world - b[:3, 3]) @ b[:3, :3])
    reach = np.linalg.norm(b[:3, 3] - a[:3, 3]) / away
    placed = np.hypot(*true.position_sigma([frame_a, frame_b])) / away
    turned = true.rotation_sigma_rad([frame_a, frame_b]).max()
    focal = true.path.focal_relative_sigma * np.linalg.norm(xy_px - xy_a_px, axis=1)
    return xy_b_px - xy_px, np.hypot(camera.fx_px * np.hypot(np.hypot(reach * depth_sigma, placed), turned), focal)
