"""Error of a dense depth against another depth, against triangulated points, and against tracks, up to one scale
factor."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.depth.depth_on_points import log_ratios
from experts.depth.depth_reprojection import pixel_grid, sampled
from experts.signals import CameraPath, Depth, PointTracks, SparsePoints
from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.track_ranges import range_log_errors

_SIDE = 48
"""Two depths are compared on a grid of this many pixels per side."""


@dataclass(frozen=True, kw_only=True)
class DepthError:
    """Differences between two depths after one common scale factor."""

    relative: float
    """Robust σ (1.48 · median absolute deviation) of ln of their ratio, without the common factor."""
    factor: float
    """First depth over second depth; NaN where every frame has its own scale."""
    pixels: int
    """Number of pixels compared."""


@dataclass(frozen=True, kw_only=True)
class DepthLimits:
    """Beyond these limits two depths contradict each other."""

    relative: float = 0.20
    """Limit of `DepthError.relative`. Inverting the depth of a room (ranges of 1 to 5 m) gives twice as much; beyond
    the limit no distance question has a tolerance that is wide enough."""
    factor: float = 0.20
    """Largest |ln| of the scale of a path over that of its depth, measured against a second reconstruction."""
    pixels: int = 100
    """Smallest number of pixels for a comparison."""
    max_outlier_probability: float = 0.01
    """Points with a larger outlier probability are ignored."""


def compare_depths(a: Depth, b: Depth, path: CameraPath, limits: DepthLimits) -> DepthError | None:
    """Compares dense depths on their common frames; `path` gives the frame size. None: too few pixels."""
    _, row_a, row_b = np.intersect1d(a.frames, b.frames, return_indices=True)
    grid = pixel_grid(_SIDE, _SIDE, path.intrinsics)
    ratio = [
        np.log(sampled(a.z[i], path.intrinsics, grid) / sampled(b.z[j], path.intrinsics, grid))
        for i, j in zip(row_a, row_b, strict=True)
    ]
    return _error_of(ratio, "per_frame" in (a.scale.kind, b.scale.kind), limits)


def compare_depth_with_points(
    depth: Depth, points: SparsePoints, path: CameraPath, limits: DepthLimits
) -> DepthError | None:
    """Compares dense depth with triangulated points at their observations. `path` is the path of the points. None: too
    few."""
    ratio = log_ratios(depth, points, path, limits.max_outlier_probability)
    return _error_of(ratio, depth.scale.kind == "per_frame", limits)


def _error_of(ratio: list[Float64[np.ndarray, "_"]], per_frame: bool, limits: DepthLimits) -> DepthError | None:
    known = [each[np.isfinite(each)] for each in ratio]
    known = [each for each in known if len(each)]
    if sum(map(len, known)) < limits.pixels:
        return None
    joined = np.concatenate([each - np.median(each) for each in known] if per_frame else known)
    middle = float(np.median(joined))
    return DepthError(
        relative=1.4826 * float(np.median(np.abs(joined - middle))),
        factor=np.nan if per_frame else float(np.exp(middle)),
        pixels=len(joined),
    )


@dataclass(frozen=True, kw_only=True)
class TrackLimits:
    """When tracks determine ranges, and when these contradict a depth."""

    tracks: int = 50
    """Smallest number of long tracks: those that span at least `frames`."""
    frames: int = 8
    """Smallest number of frames that a long track spans."""
    depth_frames: int = 8
    """Number of depth frames compared, evenly spaced."""
    max_sigma: float = 0.10
    """A range from a track is used if its relative σ is at most this."""
    wrong: float = 0.20
    """A depth is wrong where it differs by more than this share from the range of a track, after the common factor."""
    relative: float = 0.12
    """Largest robust σ of ln of the ratio: three times that of learned depth with 4 % error. A scale that drifts by
    half over a clip gives 0.14."""
    factor: float = 0.15
    """Largest |ln| of the common factor: path and depth should have the same unit. A focal length 1.4 times too long
    gives 0.34 where the camera only trucks (moves sideways)."""
    max_wrong_share: float = 0.25
    """If a larger share of the ranges is wrong, so is the depth. With an honest σ of 4 % none is wrong; with the
    inverted depth of a room more than half are."""


@dataclass(frozen=True, kw_only=True)
class DepthTrackError:
    """Differences between the ranges of depth and of tracks after one common scale factor."""

    relative: float
    """Robust σ of ln of their ratio."""
    factor: float
    """ln of the common factor: ranges of the tracks over those of the depth."""
    wrong_share: float
    """Share of the compared ranges that are wrong."""
    compared: int
    """Number of ranges compared."""


def enough_tracks(tracks: PointTracks, limits: TrackLimits) -> bool:
    """Whether there are enough tracks for a comparison."""
    followed = np.isfinite(tracks.xy_px[..., 0]).sum(axis=1)
    return int(((followed >= limits.frames) & (tracks.motion != 1)).sum()) >= limits.tracks


def contradicts(error: DepthTrackError, limits: TrackLimits) -> bool:
    """Whether the tracks show that the depth is wrong, or not in the path's unit."""
    too_large = (error.wrong_share > limits.max_wrong_share, error.relative > limits.relative)
    return any(too_large) or abs(error.factor) > limits.factor


def tracks_contradict(
    depth: Depth, path: CameraPath, tracks: PointTracks, fitted: FittedPath | None, limits: TrackLimits
) -> bool:
    """Whether tracks contradict learned depth or poses. `fitted`: the path fitted to the tracks; None: none fits."""
    if not enough_tracks(tracks, limits):
        return False
    if fitted is None:
        return True
    error = compare_depth_with_tracks(depth, tracks, fitted, limits) if path.motion == "general" else None
    return error is not None and contradicts(error, limits)


def compare_depth_with_tracks(
    depth: Depth, tracks: PointTracks, fitted: FittedPath, limits: TrackLimits
) -> DepthTrackError | None:
    """Compares ranges at the pixels of tracks that do not move. None where the tracks determine too few ranges."""
    camera = fitted.path.intrinsics
    frames, row, column = np.intersect1d(depth.frames, tracks.frames, return_indices=True)
    found = [np.empty(0)]
    for k in np.unique(np.linspace(0, max(len(frames) - 1, 0), min(limits.depth_frames, len(frames))).astype(int)):
        seen = np.flatnonzero(tracks.visible[:, column[k]] & (tracks.motion != 1))
        xy = tracks.xy_px[seen, column[k]]
        z = sampled(depth.z[row[k]], camera, xy)
        seen, xy, z = seen[np.isfinite(z)], xy[np.isfinite(z)], z[np.isfinite(z)]
        ranges = z / camera.rays(xy)[:, 2]
        log_error, sigma = range_log_errors(ranges, tracks, seen, fitted, np.full(len(xy), frames[k]), xy)
        found.append(log_error[sigma <= limits.max_sigma])
    all_logs = np.concatenate(found)
    if len(all_logs) < limits.tracks or not np.isfinite(all_logs).any():
        return None
    middle = float(np.median(all_logs[np.isfinite(all_logs)]))
    error = np.abs(all_logs - middle)
    return DepthTrackError(
        relative=1.4826 * float(np.median(error[np.isfinite(error)])),
        factor=middle,
        wrong_share=float((error > limits.wrong).mean()),
        compared=len(all_logs),
    )
