"""Camera paths, the up direction, and the second reconstruction in the place of the first."""

import numpy as np
import rerun as rr
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.comparing.agreement_paths import common_rows, scale_between
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath
from spatial_engine.view.timeline import Timeline
from templates.scene.scene import Scene

_FRUSTUMS = 20
"""Cameras drawn along a path."""
_THIN = rr.Radius.ui_points(0.7)
_PATH, _SECOND, _UP = (255, 196, 0), (150, 155, 165), (80, 200, 120)


def poses(path: CameraPath) -> Float64[np.ndarray, "n 4 4"]:
    """Poses of the registered frames; a camera of unknown position stands in the origin."""
    found = path.world_from_cam[path.registered].copy()
    unknown = np.isnan(found[:, :3, 3]).any(axis=1)
    found[unknown, :3, 3] = 0.0
    return found


def show_path(line: Timeline, scene: Scene, root: str, reach: float) -> None:
    """The camera at each registered frame, the line of its positions, and cameras along it."""
    path = scene.path
    if path is None or not path.registered.any():
        return
    shown, colour = poses(path), _PATH if root == "world" else _SECOND
    line.columns(
        f"{root}/camera",
        path.frames[path.registered],
        rr.Transform3D.columns(translation=shown[:, :3, 3], mat3x3=shown[:, :3, :3]),
    )
    ends = np.flatnonzero(np.diff(np.flatnonzero(path.registered)) > 1) + 1
    strips = [part[:, :3, 3] for part in np.split(shown, ends) if len(part) > 1]
    line.fixed(f"{root}/path", rr.LineStrips3D(strips, colors=[colour] * len(strips)))
    some = shown[np.unique(np.linspace(0, len(shown) - 1, _FRUSTUMS).round().astype(int))]
    frustums = [strip for pose in some for strip in _frustum(pose, path.intrinsics, 0.035 * reach)]
    line.fixed(f"{root}/path/cameras", rr.LineStrips3D(frustums, colors=[colour] * len(frustums), radii=_THIN))


def _frustum(pose: Float64[np.ndarray, "4 4"], camera: Intrinsics, depth: float) -> list[np.ndarray]:
    """Two lines that draw a camera: around its picture, and from corner to corner through its centre."""
    right, bottom = camera.width_px - 0.5, camera.height_px - 0.5
    pixels = np.array([[-0.5, -0.5], [right, -0.5], [right, bottom], [-0.5, bottom]])
    plane = (pixels - camera.matrix[:2, 2]) / np.diag(camera.matrix)[:2]
    corners = depth * np.column_stack([plane, np.ones(4)]) @ pose[:3, :3].T + pose[:3, 3]
    centre = pose[:3, 3]
    return [corners[[0, 1, 2, 3, 0]], np.stack([corners[0], centre, corners[1]]),
            np.stack([corners[2], centre, corners[3]])]  # fmt: skip


def show_up(line: Timeline, scene: Scene, reach: float) -> None:
    """The up direction as measured in each frame, and the one of the scene at the start of the path."""
    if scene.gravity is not None and scene.path is not None:
        known = np.isfinite(scene.gravity.up_cam).all(axis=1)
        vectors = 0.1 * reach * scene.gravity.up_cam[known]
        colours = np.tile(np.array(_UP, dtype=np.uint8), (len(vectors), 1))
        line.columns(
            "world/camera/up", scene.gravity.frames[known], rr.Arrows3D.columns(vectors=vectors, colors=colours)
        )
    if scene.up_world is not None and scene.path is not None:
        start = poses(scene.path)[0, :3, 3]
        line.fixed(
            "world/up",
            rr.Arrows3D(origins=[start], vectors=[0.3 * reach * scene.up_world], colors=[_UP], labels=["up"]),
        )


def align(line: Timeline, scene: Scene, second: Scene, entity: str) -> bool:
    """Puts the second reconstruction where it fits the first best: rotation, factor and shift over common frames.

    Returns False without common frames.
    """
    if scene.path is None or second.path is None:
        return False
    a, b = common_rows(scene.path, second.path)
    if not len(a):
        return False
    ours, theirs = (np.nan_to_num(path.world_from_cam[rows]) for path, rows in ((scene.path, a), (second.path, b)))
    rotation = Rotation.from_matrix(ours[:, :3, :3] @ theirs[:, :3, :3].transpose(0, 2, 1)).mean()
    factor = scale_between(scene.path, second.path)
    factor = factor if np.isfinite(factor) else 1.0
    shift = np.median(ours[:, :3, 3] - factor * rotation.apply(theirs[:, :3, 3]), axis=0)
    line.fixed(entity, rr.Transform3D(translation=shift, mat3x3=rotation.as_matrix(), scale=factor))
    return True
