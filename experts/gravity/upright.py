"""Decides whether the footage confirms the user's statement that the camera was held upright.

Straight lines determine three orthogonal directions; `--upright` states that the one nearest to image-up is up. A
picture on its side, upside down, or of a table from above also has such a direction. Three observations distinguish
them: a camera rotates mostly about the vertical, the floor is below it, and lower points are nearer, because the ground
extends towards the camera.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.gravity.floor import FloorSettings, depth_cloud, floor_plane
from experts.signals import CameraPath, Depth, Signals, SparsePoints


@dataclass(frozen=True, kw_only=True)
class UprightSettings:
    """What confirms and what contradicts `--upright`. Chosen on six upright data sets, the same rotated by 90°, 180°
    and 270°, MobileBrick (a table from above, on its side) and 58 rendered rooms; checked on other rooms."""

    rotation_rad: float = float(np.deg2rad(10.0))
    """A camera rotates mostly about an axis if it rotates about it by at least this angle, ..."""
    rotation_ratio: float = 1.2
    """... and at least this many times as far as about the other two. Upright sets: at least 1.3."""
    max_roll_rad: float = float(np.deg2rad(6.0))
    """Rotation does not confirm an axis with a larger median roll, as the camera may rotate about the axis of a leaning
    table as well. Upright sets: at most 5°, or a floor is visible. MobileBrick: 27°."""
    min_distance_ratio: float = 0.95
    """Smallest ratio of the median distance of the upper half of the points to that of the lower half, along the
    ground: below it, lower points are farther away. Upright sets: at least 0.99; MobileBrick: 0.87; upside down: at
    most 0.98."""
    floor_distance_ratio: float = 1.1
    """Smallest ratio at which a floor confirms: a floor extends towards the camera. Upright sets: at least 1.17; a wall
    in a picture on its side: about 1."""
    floor: FloorSettings = field(default_factory=lambda: FloorSettings(cone_rad=float(np.deg2rad(5.0))))
    """What counts as a floor, ..."""
    floor_contrast: float = 1.5
    """... if it has at least this many times the points of the layer of the same thickness above it."""
    max_outlier_probability: float = 0.2
    """Sparse points with a larger outlier probability are ignored."""
    depth_points: int = 3000
    """Number of points from dense depth, where there are no sparse points."""


def unconfirmed(
    axes: Float64[np.ndarray, "3 3"], path: CameraPath, signals: Signals, settings: UprightSettings
) -> str | None:
    """Why the footage does not confirm that the first of three axes (rows, in the path's world) is up; None if it does.
    Sparse points, or else depth, are used if they come from the path's expert: others have another world."""
    points, depth, maker = signals.get("sparse_points"), signals.get("depth"), path.provenance.expert
    xyz = np.zeros((0, 3))
    if isinstance(points, SparsePoints) and points.provenance.expert == maker:
        xyz = points.xyz_world[points.outlier_probability <= settings.max_outlier_probability]
    elif isinstance(depth, Depth) and depth.provenance.expert == maker and depth.scale.kind != "per_frame":
        xyz = depth_cloud(depth, path, settings.depth_points)
    return unconfirmed_by_geometry(axes, path.world_from_cam[path.registered], xyz, settings)


def unconfirmed_by_geometry(
    axes: Float64[np.ndarray, "3 3"],
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    xyz_world: Float64[np.ndarray, "p 3"],
    settings: UprightSettings,
) -> str | None:
    """Why poses and points do not confirm that the first of three axes is up; None if they do.

    The floor or the camera's rotation must confirm it, and nothing may contradict it. If `world_from_cam` has no
    positions (NaN) or there are no points, only the rotation counts.
    """
    up, centre = axes[0], world_from_cam[:, :3, 3].mean(axis=0)
    angle = _rotation_rad(world_from_cam[:, :3, :3], axes)
    if _mostly(angle[1:].max(), angle[0], settings):
        return f"the camera rotates by {np.rad2deg(angle[1:].max()):.0f}° about a level axis"
    if np.isfinite(centre).all() and len(xyz_world):
        from_camera = xyz_world - centre
        ratio = _distance_ratio(from_camera, up)
        if ratio < settings.min_distance_ratio:
            return f"lower points are {1 / ratio:.2f} times as far away"
        if ratio >= settings.floor_distance_ratio and _floor_below(from_camera, up, settings):
            return None
    roll = _median_roll_rad(world_from_cam[:, :3, :3], up)
    if abs(roll) > settings.max_roll_rad:
        return f"no floor is visible, and the camera rolls by {np.rad2deg(roll):.0f}°"
    if not _mostly(angle[0], angle[1:].max(), settings):
        return f"no floor is visible, and the camera rotates by {np.rad2deg(angle[0]):.0f}° about the vertical"
    return None


def _mostly(about: float, others: float, settings: UprightSettings) -> bool:
    return bool(about >= settings.rotation_rad and about >= settings.rotation_ratio * others)


def _rotation_rad(rotation: Float64[np.ndarray, "n 3 3"], axes: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "3"]:
    """Rotation of the camera about each axis (rows, in the world): the largest between any two of nine frames."""
    some = Rotation.from_matrix(rotation[np.linspace(0, len(rotation) - 1, 9).round().astype(int)])
    between = np.concatenate([(some * one.inv()).as_rotvec() for one in some])
    return np.asarray(np.abs(between @ axes.T).max(axis=0))


def _distance_ratio(from_camera: Float64[np.ndarray, "p 3"], up: Float64[np.ndarray, "3"]) -> float:
    """Median distance of the upper half of points (from the camera) over that of the lower half, along the ground."""
    height = from_camera @ up
    distance = np.linalg.norm(from_camera - np.outer(height, up), axis=1)
    elevation = np.arctan2(height, distance)
    lower = elevation <= np.median(elevation)
    return float(np.median(distance[~lower]) / np.median(distance[lower])) if not lower.all() else 1.0


def _floor_below(
    from_camera: Float64[np.ndarray, "p 3"], up: Float64[np.ndarray, "3"], settings: UprightSettings
) -> bool:
    thickness = settings.floor.thickness * np.linalg.norm(from_camera, axis=1)
    floor = floor_plane(from_camera, thickness, up, settings.floor)
    if floor is None or floor.point @ floor.normal >= 0:
        return False
    layer = (from_camera - floor.point) @ floor.normal / thickness
    above = np.count_nonzero((layer > 1) & (layer <= 3))
    return bool(np.count_nonzero(np.abs(layer) <= 1) >= settings.floor_contrast * above)


def _median_roll_rad(rotation: Float64[np.ndarray, "n 3 3"], up: Float64[np.ndarray, "3"]) -> float:
    up_cam = np.einsum("nij,i->nj", rotation, up)
    return float(np.median(np.arctan2(-up_cam[:, 0], -up_cam[:, 1])))
