"""Reading a file of camera poses: its format, its conventions, and checks of the poses."""

import re
from pathlib import Path
from typing import cast

import numpy as np
from jaxtyping import Float64

from action_mapping import PoseError
from action_mapping.rigid import checked_poses
from experts.registry import Registry, UnknownNameError
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories.text_rows import read_text
from spatial_engine.sources.trajectories.times import with_times
from spatial_engine.sources.trajectories.trajectory import (
    Axes,
    Direction,
    Scale,
    Trajectory,
    TrajectoryFormat,
    WrittenPoses,
)
from spatial_engine.sources.yaml_file import read_yaml

FORMATS = Registry(
    "spatial_engine.trajectories",
    {
        "tum": "spatial_engine.sources.trajectories.pose_rows:TUM",
        "kitti": "spatial_engine.sources.trajectories.pose_rows:KITTI",
        "euroc": "spatial_engine.sources.trajectories.pose_rows:EUROC",
        "colmap": "spatial_engine.sources.trajectories.colmap:COLMAP",
        "nerfstudio": "spatial_engine.sources.trajectories.nerfstudio:NERFSTUDIO",
    },
)
"""Formats of paths by name. Other packages add formats as entry points of this group."""

FARTHEST = 1e9
"""Largest coordinate of a position: beyond it, rounding hides the differences between poses."""
_HEAD = 100_000
_IN_FOLDERS = ("transforms.json", "images.txt", "sparse/0/images.txt")
_OPENCV_FROM_OPENGL = np.diag([1.0, -1.0, -1.0, 1.0])


def read_trajectory(
    path: Path,
    *,
    form: str = "auto",
    poses: Direction | None = None,
    axes: Axes | None = None,
    scale: Scale | None = None,
    fps: float | None = None,
    times: Path | None = None,
    cam_from_body: Path | None = None,
    drop_duplicates: bool = False,
) -> Trajectory:
    """Read and check a path. Arguments that are None take the convention of the format.

    Args:
        form: name of the format, or "auto".
        poses: "c2w" (camera to world) or "w2c".
        axes: "opencv" or "opengl", of the camera.
        scale: "metric" or "relative".
        fps: poses per second, for formats without times.
        times: file with one time in seconds in each line, for formats without times.
        cam_from_body: file with the pose of the body in the camera, if poses are those of a body.
        drop_duplicates: keep the first of several poses with the same time, instead of raising.

    Raises:
        UsageError: anything invalid, with its line and a remedy. Nothing is repaired.
    """
    path = _file_in(path)
    name = detect_format(path) if form == "auto" else form
    try:
        known = cast(TrajectoryFormat, FORMATS.load(name))
    except UnknownNameError as error:
        raise UsageError(
            f"there is no format {name!r}", f"give one of: auto, {', '.join(FORMATS.targets())}"
        ) from error
    if known.axes == "body" and cam_from_body is None and axes is not None:
        raise UsageError(
            f"--axes {axes}: {name} has poses of a body, not of a camera",
            "give --cam-from-body FILE (the identity, if these are poses of a camera)",
        )
    written, is_timed = with_times(path, known.read(path), fps=fps, times=times, drop_duplicates=drop_duplicates)
    assert written.times_s is not None
    _check_poses(path, written)
    world_from_own = written.matrices if (poses or known.poses) == "c2w" else np.linalg.inv(written.matrices)
    if cam_from_body is not None:
        world_from_own = world_from_own @ np.linalg.inv(_cam_from_body(cam_from_body))
    axes = axes or ("opencv" if known.axes == "body" and cam_from_body is not None else known.axes)
    return Trajectory(
        world_from_cam=world_from_own @ _OPENCV_FROM_OPENGL if axes == "opengl" else world_from_own,
        times_s=written.times_s,
        is_timed=is_timed,
        axes=axes,
        scale=scale or known.scale,
        format=name,
        focal_px=written.focal_px,
        names=written.names,
        notes=written.notes,
    )


def detect_format(path: Path) -> str:
    """The format of a file. Raises `UsageError` unless exactly one matches."""
    head = read_text(path)[:_HEAD]
    found = [name for name, known in FORMATS.load_all().items() if known.matches(head)]
    if len(found) == 1:
        return found[0]
    cause = f"{path} may be {' or '.join(found)}" if found else f"{path} has no known format of camera poses"
    raise UsageError(cause, f"give --format {' | '.join(found or FORMATS.targets())}")


def _file_in(path: Path) -> Path:
    """The file, or the only file of poses in a folder."""
    if not path.exists():
        raise UsageError(f"there is no {str(path)!r}", "give a file of camera poses")
    if not path.is_dir():
        return path
    found = [path / name for name in _IN_FOLDERS if (path / name).is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{path} has several paths: {', '.join(file.name for file in found)}", "give one of them")
    if (path / "images.bin").is_file():
        raise UsageError(
            f"{path} is a binary COLMAP model", "write its images.txt with colmap model_converter --output_type TXT"
        )
    raise UsageError(f"{path} is a folder without {', '.join(_IN_FOLDERS)}", "give a file of camera poses")


def _cam_from_body(path: Path) -> Float64[np.ndarray, "4 4"]:
    """The mount of a camera: 16 numbers of a 4x4 matrix, or the inverse of T_BS (camera to body) in a sensor.yaml."""
    remedy = "give 16 numbers, row by row (camera from body), or a EuRoC sensor.yaml with T_BS (body from camera)"
    of_sensor = path.suffix.lower() in (".yaml", ".yml")
    try:
        numbers = read_yaml(path, remedy)["T_BS"]["data"] if of_sensor else re.findall(r"[^\s,;\[\]]+", read_text(path))
        matrix = np.array([float(number) for number in numbers]).reshape(4, 4)
        checked_poses(matrix[None])
    except PoseError as error:
        raise UsageError(f"{path} does not hold a rigid transform: {error}", remedy) from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{path} does not hold a 4x4 matrix", remedy) from error
    return np.linalg.inv(matrix) if of_sensor else matrix


def _check_poses(path: Path, written: WrittenPoses) -> None:
    """Raises `UsageError` that names the first invalid pose."""
    try:
        checked_poses(written.matrices)
    except PoseError as error:
        place = next(place for place, matrix in zip(written.places, written.matrices, strict=True) if _is_bad(matrix))
        raise UsageError(f"{path}, {place}: {error}", "write rotations that are rigid and right-handed") from error
    far = np.abs(written.matrices[:, :3, 3]).max(axis=1)
    if far.max() > FARTHEST:
        raise UsageError(
            f"{path}, {written.places[int(far.argmax())]}: a position of {far.max():.3g}",
            f"give positions up to {FARTHEST:g}",
        )
    if len(written.places) < 2:
        raise UsageError(f"{path} has one pose, but a path needs two", "give a file with at least two poses")


def _is_bad(matrix: Float64[np.ndarray, "4 4"]) -> bool:
    try:
        checked_poses(matrix[None])
    except PoseError:
        return True
    return False
