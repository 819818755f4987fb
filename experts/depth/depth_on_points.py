"""Dense depth against the triangulated points of a camera path: their ratio, and metric depth in the path's unit."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from experts.depth.depth_reprojection import sampled
from experts.signals import CameraPath, Depth, NoEstimate, Scale, SparsePoints


@dataclass(frozen=True, kw_only=True)
class JoinSettings:
    """When the points of a path determine its unit in metres. Chosen, not measured."""

    points: int = 20
    """Smallest number of points of a frame that counts, ..."""
    frames: int = 3
    """... and smallest number of such frames."""
    max_outlier_probability: float = 0.01
    """Points with a larger outlier probability are ignored."""


def log_ratios(
    depth: Depth, points: SparsePoints, path: CameraPath, max_outlier_probability: float
) -> list[Float64[np.ndarray, "_"]]:
    """ln of dense over triangulated depth at the points' observations, per frame with depth; NaN where either is
    unknown. `path` is the path of the points."""
    sure = points.outlier_probability[points.observation_point] <= max_outlier_probability
    ratio = log_ratio(depth, points, path)
    return [ratio[sure & (points.observation_frame == frame)] for frame in depth.frames]


def log_ratio(depth: Depth, points: SparsePoints, path: CameraPath) -> Float64[np.ndarray, "o"]:
    """ln of dense over triangulated depth at each observation; NaN where either is unknown."""
    found = np.full(len(points.observation_frame), np.nan)
    for row, frame in enumerate(depth.frames):
        at = np.flatnonzero(path.frames == frame)
        seen = np.flatnonzero(points.observation_frame == frame)
        if len(at) and len(seen):
            pose = path.world_from_cam[at[0]]
            z_point = (points.xyz_world[points.observation_point[seen]] - pose[:3, 3]) @ pose[:3, 2]
            z = sampled(depth.z[row], path.intrinsics, points.observation_xy_px[seen])
            found[seen] = np.log(z / np.where(z_point > 0, z_point, np.nan))
    return found


def in_unit_of(path: CameraPath, depth: Depth, points: SparsePoints, settings: JoinSettings) -> Depth | NoEstimate:
    """Metric depth, each frame predicted by itself, in the unit of a relative path.

    One factor for all frames, the median of theirs; their scatter is a σ of every depth, and that of the median a σ of
    the metre.
    """
    known = [each[np.isfinite(each)] for each in log_ratios(depth, points, path, settings.max_outlier_probability)]
    factors = np.array([np.median(each) for each in known if len(each) >= settings.points])
    if len(factors) < settings.frames:
        detail = f"{len(factors)} frames have {settings.points} points with depth, {settings.frames} are needed"
        return NoEstimate(reason="depth and camera path have no points in common", detail=detail)
    scatter = 1.4826 * float(np.median(np.abs(factors - np.median(factors))))
    metres = float(np.exp(np.median(factors)))
    sigma = float(np.hypot(depth.scale.relative_sigma or 0.0, scatter / np.sqrt(len(factors))))
    scale = Scale(kind="relative", relative_sigma=sigma, source=depth.scale.source, metres_per_unit=metres)
    relative_sigma = np.hypot(depth.relative_sigma, np.float32(scatter))
    return replace(depth, z=depth.z / np.float32(metres), relative_sigma=relative_sigma, scale=scale)
