"""Matches that sparse points give: a point that two frames show is at known pixels of both."""

from itertools import combinations

import numpy as np
from jaxtyping import Float64, Int64

from experts.intrinsics import Intrinsics
from experts.matching.frame_pairs import evenly_spaced
from experts.signals import Matches
from templates.scene.surface import MAX_DISTANCE_PX, SparseSurface

_FRAMES = 8
"""Matches are between all pairs of so many frames, evenly spaced, ..."""
_LEAST_SHIFT = 0.04
"""... if the median displacement is at least this share of the width (as in `SiftSettings`)."""
_BY_REPROJECTION = 2
_SIGMA_RESIDUALS, _LEAST_SIGMA_PX = 1.2, 0.15
"""σ per axis of a match whose two residuals are the same, over the median length of residuals; and at least this in a
picture of 640 px width (as in `SiftSettings`)."""


def with_matches_of_points(matches: Matches, surface: SparseSurface, camera: Intrinsics) -> Matches:
    """The matches, and those of sparse points in pairs of frames that have none."""
    found = matches_of_points(surface, camera)
    known = (found.pairs[:, None] == matches.pairs).all(axis=2).any(axis=1)
    return matches.and_also(found.take(~known[found.pair]))


def matches_of_points(surface: SparseSurface, camera: Intrinsics) -> Matches:
    """Pixels of reliable points in two frames each, with neighbours of similar range on all sides in both.

    σ is 1.2 median residuals (distances of pixels from where the point is projected) ⊕ the difference of the two
    residuals over √2.
    """
    points = surface.points
    frames = np.array(evenly_spaced(np.unique(points.observation_frame), _FRAMES), dtype=np.int64)
    rows = np.flatnonzero(np.isin(points.observation_frame, frames))
    rows = rows[surface.enclosed(rows)]
    frame, xy_px = points.observation_frame[rows], points.observation_xy_px[rows]
    shown: Int64[np.ndarray, "f p"] = np.full((len(frames), len(points.xyz_world)), -1)
    shown[np.searchsorted(frames, frame), points.observation_point[rows]] = np.arange(len(rows))
    pairs = [(i, j, (shown[i] >= 0) & (shown[j] >= 0)) for i, j in combinations(range(len(frames)), 2)]
    ends = [(i, j, shown[i, both], shown[j, both]) for i, j, both in pairs]
    far = [pair for pair in ends if _shift_px(xy_px[pair[2]], xy_px[pair[3]]) >= _LEAST_SHIFT * camera.width_px]
    a, b = (np.concatenate([np.empty(0, dtype=np.int64), *(pair[k] for pair in far)]) for k in (2, 3))
    residual_px = camera.project(surface.xyz_cam[rows]) - xy_px
    typical_px = np.median(np.linalg.norm(residual_px, axis=1)) if len(rows) else 0.0
    least_px = _LEAST_SIGMA_PX * surface.radius_px / MAX_DISTANCE_PX
    apart_px = np.linalg.norm(residual_px[a] - residual_px[b], axis=1)
    return Matches(
        pairs=frames[np.array([pair[:2] for pair in far], dtype=np.int64).reshape(-1, 2)],
        pair=np.repeat(np.arange(len(far)), [len(pair[2]) for pair in far]).astype(np.int64),
        xy_a_px=xy_px[a],
        xy_b_px=xy_px[b],
        sigma_px=np.hypot(max(_SIGMA_RESIDUALS * typical_px, least_px), apart_px / np.sqrt(2)),
        outlier_probability=points.outlier_probability[points.observation_point[rows[a]]],
        confirmed_by=np.full(len(a), _BY_REPROJECTION, dtype=np.int32),
        provenance=points.provenance,
    )


def _shift_px(xy_a_px: Float64[np.ndarray, "k 2"], xy_b_px: Float64[np.ndarray, "k 2"]) -> float:
    """Median displacement; 0 of no points."""
    return float(np.median(np.linalg.norm(xy_b_px - xy_a_px, axis=1))) if len(xy_a_px) else 0.0
