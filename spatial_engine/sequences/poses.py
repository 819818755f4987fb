"""Camera poses of a sequence, one per image."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping import PoseError
from action_mapping.rigid import checked_poses
from spatial_engine.errors import UsageError
from spatial_engine.sequences.association import NONE, matched
from spatial_engine.sequences.cameras import read_numbers
from spatial_engine.sequences.manifest import Poses, matching
from spatial_engine.sources.trajectories import read_trajectory

_AXES = {
    "opencv": np.eye(4),
    "opengl": np.diag([1.0, -1.0, -1.0, 1.0]),
    "ned": np.array([[0.0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]]),
}
"""own_from_opencv, by what a camera's own axes are called."""
_ROWS = {"matrices": 16, "quaternions": 7, "axis-angle": 7, "rotations": 4}
_STRECHA = 26
"""Numbers of a .camera file: K, zeros, rotation, centre, size."""


def world_from_cam(
    folder: Path, poses: Poses, images: Sequence[Path], images_s: Float64[np.ndarray, "n"] | None
) -> Float64[np.ndarray, "n 4 4"]:
    """Poses of the images with OpenCV axes; NaN where an image has none; the position is NaN where only the rotation is
    known. Raises `UsageError`."""
    if bool(poses.file) == bool(poses.files):
        raise UsageError("poses: state either file or files", "file: one for all images; files: a pattern, one each")
    if poses.files:
        stated, names, times_s = _of_files(folder, poses)
    elif poses.form in _ROWS:
        stated, times_s = read_rows(folder / poses.file, poses)
        names = ()
    else:
        if poses.axes == "ned":
            raise UsageError("axes: ned is for rows of matrices or quaternions", "form: matrices | quaternions")
        path = read_trajectory(folder / poses.file, form=poses.form, poses=poses.direction, axes=poses.axes)
        stated, names, times_s = path.world_from_cam, path.names, path.times_s if path.is_timed else None
    rows = matched(
        images, images_s, match=poses.match, count=len(stated), names=names, times_s=times_s,
        tolerance_s=poses.tolerance_s, what="poses",
    )  # fmt: skip
    return np.where((rows == NONE)[:, None, None], np.nan, stated[rows])


def _of_files(folder: Path, poses: Poses) -> tuple[Float64[np.ndarray, "n 4 4"], tuple[str, ...], None]:
    paths = matching(folder, poses.files)
    if not paths:
        raise UsageError(f"poses: no file matches {poses.files!r} in {folder}", "correct the pattern")
    read = _strecha if poses.form == "strecha" else _matrix
    matrices = np.stack([read(path) for path in paths])
    return in_opencv_axes(matrices, poses), tuple(path.name for path in paths), None


def read_rows(path: Path, poses: Poses) -> tuple[Float64[np.ndarray, "n 4 4"], Float64[np.ndarray, "n"] | None]:
    """Poses with OpenCV axes, and their times where rows begin with them. Raises `UsageError`."""
    numbers, columns = read_numbers(path), _ROWS[poses.form]
    if numbers.size % columns:
        raise UsageError(f"{path}: {numbers.size} numbers are no rows of {columns}", "state its form")
    rows = numbers.reshape(-1, columns)
    if poses.form == "matrices":
        return in_opencv_axes(_checked(rows.reshape(-1, 4, 4), path), poses), None
    if poses.form == "axis-angle":
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        turned = _assembled(Rotation.from_rotvec(rows[:, 1:4]).as_matrix(), rows[:, 4:])
        return in_opencv_axes(turned, poses), rows[:, 0]
    turns, positions = rows[:, -4:], rows[:, :-4]
    lengths = np.linalg.norm(turns, axis=1)
    if not np.all(np.abs(lengths - 1) < 0.01):
        order = "qx qy qz qw" if poses.form == "rotations" else "x y z qx qy qz qw"
        raise UsageError(f"{path}: a quaternion of length {lengths[np.argmax(np.abs(lengths - 1))]:g}", order)
    rotations = Rotation.from_quat(turns).as_matrix()
    if poses.form != "rotations":
        return in_opencv_axes(_assembled(rotations, positions), poses), None
    matrices = in_opencv_axes(_assembled(rotations, np.zeros((len(rows), 3))), poses)
    matrices[:, :3, 3] = np.nan
    return matrices, None


def _assembled(
    rotations: Float64[np.ndarray, "n 3 3"], positions: Float64[np.ndarray, "n 3"]
) -> Float64[np.ndarray, "n 4 4"]:
    matrices = np.tile(np.eye(4), (len(rotations), 1, 1))
    matrices[:, :3, :3], matrices[:, :3, 3] = rotations, positions
    return matrices


def _strecha(path: Path) -> Float64[np.ndarray, "4 4"]:
    numbers = np.array(path.read_text(encoding="utf-8").split(), dtype=np.float64)
    if numbers.size != _STRECHA:
        raise UsageError(f"{path}: {numbers.size} numbers are no camera of Strecha et al.", "26: K, zeros, R, C, size")
    return _checked(_assembled(numbers[12:21].reshape(1, 3, 3), numbers[None, 21:24]), path)[0]


def _matrix(path: Path) -> Float64[np.ndarray, "4 4"]:
    numbers = read_numbers(path).ravel()
    if numbers.size not in (12, 16):
        raise UsageError(f"{path}: {numbers.size} numbers are no matrix", "four rows of four numbers, or three")
    if not np.all(np.isfinite(numbers)):  # ScanNet writes -inf where tracking was lost
        return np.full((4, 4), np.nan)
    square = np.eye(4)
    square[: numbers.size // 4] = numbers.reshape(-1, 4)
    return _checked(square[None], path)[0]


def _checked(matrices: Float64[np.ndarray, "n 4 4"], path: Path) -> Float64[np.ndarray, "n 4 4"]:
    try:
        rotation = checked_poses(matrices)
    except PoseError as error:
        raise UsageError(f"{path}: {error}", "rotations of determinant 1, last row 0 0 0 1") from error
    matrices = matrices.copy()
    matrices[:, :3, :3] = rotation.as_matrix()  # written with few decimals
    return matrices


def in_opencv_axes(matrices: Float64[np.ndarray, "n 4 4"], poses: Poses) -> Float64[np.ndarray, "n 4 4"]:
    """World from camera with OpenCV axes, of matrices as the manifest describes them."""
    own = matrices if poses.direction == "c2w" else np.linalg.inv(matrices)
    return own @ _AXES[poses.axes]
