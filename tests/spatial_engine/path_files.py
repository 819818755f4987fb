"""One path, written in five formats."""

import json
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

OPENGL = np.diag([1.0, -1.0, -1.0, 1.0])
BODY_FROM_CAM = np.eye(4)
BODY_FROM_CAM[:3, :3] = Rotation.from_euler("zyx", [0.3, -0.8, 1.2]).as_matrix()
BODY_FROM_CAM[:3, 3] = (0.05, -0.02, 0.1)
RATE = 30.0


def winding_path(count: int = 61) -> np.ndarray:
    """A path ahead, along a curve to the right, and ahead again; world z is up."""
    poses = np.tile(np.eye(4), (count, 1, 1))
    share = np.linspace(0.0, 1.0, count)
    heading = np.radians(60.0) * np.clip(3 * share - 1, 0, 1)
    level = Rotation.from_euler("x", -90, degrees=True)  # cameras look along world y, upright
    poses[:, :3, :3] = (Rotation.from_rotvec(-heading[:, None] * (0.0, 0.0, 1.0)) * level).as_matrix()
    poses[:, 0, 3] = 5.0 + 2.0 * share**2
    poses[:, 1, 3] = 3.0 * share
    poses[:, 2, 3] = 1.5
    return poses


def times_of(poses: np.ndarray) -> np.ndarray:
    return 1e9 + np.arange(len(poses)) / RATE


def _quaternions(poses: np.ndarray) -> np.ndarray:
    return Rotation.from_matrix(poses[:, :3, :3]).as_quat(scalar_first=True)


def write_tum(path: Path, poses: np.ndarray) -> Path:
    rows = np.column_stack([times_of(poses), poses[:, :3, 3], _quaternions(poses)[:, [1, 2, 3, 0]]])
    np.savetxt(path, rows, fmt="%.9f", header="timestamp tx ty tz qx qy qz qw")
    return path


def write_kitti(path: Path, poses: np.ndarray) -> Path:
    np.savetxt(path, poses[:, :3].reshape(-1, 12))
    np.savetxt(path.with_suffix(".times"), times_of(poses), fmt="%.9f")
    return path


def write_euroc(path: Path, poses: np.ndarray) -> Path:
    """Poses of a body; writes the mount of the camera as sensor.yaml and as a plain matrix, too."""
    body = poses @ np.linalg.inv(BODY_FROM_CAM)
    lines = ["#timestamp, p_RS_R_x [m], ..."]
    for stamp, xyz, wxyz in zip(times_of(poses), body[:, :3, 3], _quaternions(body), strict=True):
        lines.append(",".join([str(round(stamp * 1e9)), *(f"{value:.9f}" for value in (*xyz, *wxyz)), "0", "0"]))
    path.write_text("\n".join(lines) + "\n")
    np.savetxt(path.with_name("cam_from_body.txt"), np.linalg.inv(BODY_FROM_CAM))
    data = ", ".join(map(str, BODY_FROM_CAM.ravel().tolist()))
    path.with_name("sensor.yaml").write_text(f"%YAML:1.0\nT_BS:\n  cols: 4\n  rows: 4\n  data: [{data}]\nrate_hz: 20\n")
    return path


def write_colmap(path: Path, poses: np.ndarray) -> Path:
    """images.txt, last image first, names with blanks."""
    away = np.linalg.inv(poses)
    lines = ["# Image list with two lines of data per image:"]
    for row in reversed(range(len(poses))):
        values = (*_quaternions(away[row : row + 1])[0], *away[row, :3, 3])
        lines.append(" ".join([str(row + 1), *(f"{value:.9f}" for value in values), "1", f"frame {row}.jpg"]))
        lines.append("10.5 20.25 -1 3.5 4.5 17" if row % 2 else "")
    path.write_text("\n".join(lines) + "\n")
    return path


def write_nerfstudio(path: Path, poses: np.ndarray) -> Path:
    frames = [
        {"file_path": f"images/{row:04}.png", "transform_matrix": matrix.tolist()}
        for row, matrix in enumerate(poses @ OPENGL)
    ]
    path.write_text(json.dumps({"w": 640, "h": 480, "fl_x": 500.0, "frames": frames}))
    return path
