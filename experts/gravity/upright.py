"""Whether footage confirms the user's word that a camera was held upright.

Straight lines give three orthogonal directions; `--upright` says that the one nearest to image-up is up. A picture on
its side, upside down, or of a table from above has such a direction too. Three observations tell them apart: a camera
turns mostly about the vertical, the floor lies below it, and what is lower is nearer, because the ground runs towards
the camera.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.gravity.floor import FloorSettings, depth_cloud, floor_plane
from experts.signals import CameraPath, Depth, Signals, SparsePoints


@dataclass(frozen=True, kw_only=True)
class UprightSettings:
    """What confirms and what contradicts `--upright`. Chosen on six sets whose flag is true, the same turned by 90°,
    180° and 270°, MobileBrick (a table from above, on its side) and 58 rendered rooms; checked on other rooms."""

    turn_rad: float = float(np.deg2rad(10.0))
    """A camera turns mostly about an axis if it turns by this, ..."""
    turn_ratio: float = 1.2
    """... and so many times as far as about the other two. True flags: 1.3 at least."""
    roll_rad: float = float(np.deg2rad(6.0))
    """Turns do not confirm a larger median roll: tables and furniture that lean turn like the vertical. True flags: 5°
    at most, or a floor is seen. MobileBrick: 27°."""
    min_nearness: float = 0.95
    """Median distance of the upper half of the points over that of the lower half, along the ground: with less, what
    lies lower is farther away. True flags: 0.99 at least; MobileBrick: 0.87; pictures upside down: 0.98 at most."""
    floor_nearness: float = 1.1
    """A floor counts where it is so high, because a floor runs towards the camera. True flags: 1.17 at least; a wall of
    a picture on its side: about 1."""
    floor: FloorSettings = field(default_factory=lambda: FloorSettings(cone_rad=float(np.deg2rad(5.0))))
    """What counts as a floor, ..."""
    floor_contrast: float = 1.5
    """... if it holds so many times as many points as the layer of its thickness above it."""
    max_outlier_probability: float = 0.2
    """Points that are more doubtful do not count."""
    depth_points: int = 3000
    """So many points of dense depth are used where there are no sparse points."""


def unconfirmed(
    axes: Float64[np.ndarray, "3 3"], path: CameraPath, signals: Signals, settings: UprightSettings
) -> str | None:
    """Why the footage does not confirm that the first of three axes (rows, in the path's world) is up; None where it
    does. Sparse points, or else depth, count where the path's expert made them: others have another world."""
    points, depth, maker = signals.get("sparse_points"), signals.get("depth"), path.provenance.expert
    xyz = np.zeros((0, 3))
    if isinstance(points, SparsePoints) and points.provenance.expert == maker:
        xyz = points.xyz_world[points.outlier_probability <= settings.max_outlier_probability]
    elif isinstance(depth, Depth) and depth.provenance.expert == maker and depth.scale.kind != "per_frame":
        xyz = depth_cloud(depth, path, settings.depth_points)
    return contradiction(axes, path.world_from_cam[path.registered], xyz, settings)


def contradiction(
    axes: Float64[np.ndarray, "3 3"],
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    xyz_world: Float64[np.ndarray, "p 3"],
    settings: UprightSettings,
) -> str | None:
    """Why poses and points do not confirm that the first of three axes is up; None where they do.

    The floor or the camera's turns must speak for it, and nothing against it. Where `world_from_cam` has no positions
    (NaN) or there are no points, only the turns count.
    """
    up, centre = axes[0], world_from_cam[:, :3, 3].mean(axis=0)
    turn = _turns_rad(world_from_cam[:, :3, :3], axes)
    if _mostly(turn[1:].max(), turn[0], settings):
        return f"the camera turns by {np.rad2deg(turn[1:].max()):.0f}° about a level axis"
    if np.isfinite(centre).all() and len(xyz_world):
        seen = xyz_world - centre
        nearness = _nearness(seen, up)
        if nearness < settings.min_nearness:
            return f"what lies lower is {1 / nearness:.2f} times as far away"
        if nearness >= settings.floor_nearness and _floor_below(seen, up, settings):
            return None
    roll = _median_roll_rad(world_from_cam[:, :3, :3], up)
    if abs(roll) > settings.roll_rad:
        return f"no floor is seen, and the camera rolls by {np.rad2deg(roll):.0f}°"
    if not _mostly(turn[0], turn[1:].max(), settings):
        return f"no floor is seen, and the camera turns by {np.rad2deg(turn[0]):.0f}° about the vertical"
    return None


def _mostly(about: float, others: float, settings: UprightSettings) -> bool:
    return bool(about >= settings.turn_rad and about >= settings.turn_ratio * others)


def _turns_rad(rotation: Float64[np.ndarray, "n 3 3"], axes: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "3"]:
    """How far a camera turns about each axis (rows, in the world): the most between any two of nine frames."""
    some = Rotation.from_matrix(rotation[np.linspace(0, len(rotation) - 1, 9).round().astype(int)])
    between = np.concatenate([(some * one.inv()).as_rotvec() for one in some])
    return np.asarray(np.abs(between @ axes.T).max(axis=0))


def _nearness(seen: Float64[np.ndarray, "p 3"], up: Float64[np.ndarray, "3"]) -> float:
    """Median distance of the upper half of points (from the camera) over that of the lower half, along the ground."""
    height = seen @ up
    distance = np.linalg.norm(seen - np.outer(height, up), axis=1)
    elevation = np.arctan2(height, distance)
    lower = elevation <= np.median(elevation)
    return float(np.median(distance[~lower]) / np.median(distance[lower])) if not lower.all() else 1.0


def _floor_below(seen: Float64[np.ndarray, "p 3"], up: Float64[np.ndarray, "3"], settings: UprightSettings) -> bool:
    thickness = settings.floor.thickness * np.linalg.norm(seen, axis=1)
    floor = floor_plane(seen, thickness, up, settings.floor)
    if floor is None or floor.point @ floor.normal >= 0:
        return False
    layer = (seen - floor.point) @ floor.normal / thickness
    above = np.count_nonzero((layer > 1) & (layer <= 3))
    return bool(np.count_nonzero(np.abs(layer) <= 1) >= settings.floor_contrast * above)


def _median_roll_rad(rotation: Float64[np.ndarray, "n 3 3"], up: Float64[np.ndarray, "3"]) -> float:
    up_cam = np.einsum("nij,i->nj", rotation, up)
    return float(np.median(np.arctan2(-up_cam[:, 0], -up_cam[:, 1])))
