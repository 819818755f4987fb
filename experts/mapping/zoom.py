"""Whether the focal length changes within a map that was made with one."""

import numpy as np
from jaxtyping import Float64
from scipy.stats import theilslopes

from experts.mapping.colmap_mapping import SparseMap

_MIN_POINTS = 20
_MIN_KEYFRAMES = 5
_HUBER_PX = 1.0


def focal_drift(sparse: SparseMap) -> tuple[float, float]:
    """(slope over the clip, 10-90 % spread) of ln focal that each keyframe asks for, its own pose free.

    The map took the zoom for a dolly, so most of it is hidden; what depth does not let the dolly imitate remains.
    (0, 0) where fewer than five keyframes see 20 points.
    """
    asked = [_asked_for(sparse, row) for row in range(len(sparse.places))]
    known = np.isfinite(asked)
    if known.sum() < _MIN_KEYFRAMES:
        return 0.0, 0.0
    values = np.array(asked)[known]
    along = np.linspace(0.0, 1.0, len(sparse.places))[known]
    return float(theilslopes(values, along).slope), float(np.subtract(*np.percentile(values, [90, 10])))


def _asked_for(sparse: SparseMap, row: int) -> float:
    """Change of ln focal that lowers one keyframe's residuals most, pose free (one robust Gauss-Newton step)."""
    seen = sparse.place == sparse.places[row]
    cam_from_world = sparse.cam_from_world[row]
    xyz_cam = sparse.xyz_world[sparse.point[seen]] @ cam_from_world[:3, :3].T + cam_from_world[:3, 3]
    predicted = sparse.camera.project(xyz_cam)
    front = np.isfinite(predicted).all(axis=1)
    if front.sum() < _MIN_POINTS:
        return np.nan
    residual = sparse.xy_px[seen][front] - predicted[front]
    centre = [sparse.camera.cx_px, sparse.camera.cy_px]
    jacobian = _jacobian(xyz_cam[front], predicted[front] - centre, sparse.camera.fx_px)
    weight = np.sqrt(1 / np.maximum(1.0, np.linalg.norm(residual, axis=1) / _HUBER_PX))
    rows = (jacobian * weight[:, None, None]).reshape(-1, 7)
    step = np.linalg.lstsq(rows / np.linalg.norm(rows, axis=0), (residual * weight[:, None]).ravel(), rcond=None)[0]
    return float(step[6] / np.linalg.norm(rows[:, 6]))


def _jacobian(
    xyz_cam: Float64[np.ndarray, "n 3"], from_centre_px: Float64[np.ndarray, "n 2"], focal_px: float
) -> Float64[np.ndarray, "n 2 7"]:
    """Pixels by rotation vector, translation and ln focal, distortion neglected."""
    x, y, z = xyz_cam.T
    zero = np.zeros_like(x)
    by_place = np.stack([[focal_px / z, zero, -focal_px * x / z**2], [zero, focal_px / z, -focal_px * y / z**2]])
    by_place = by_place.transpose(2, 0, 1)
    turned = np.stack([[zero, z, -y], [-z, zero, x], [y, -x, zero]]).transpose(2, 0, 1)
    return np.concatenate([by_place @ turned, by_place, from_centre_px[:, :, None]], axis=2)
