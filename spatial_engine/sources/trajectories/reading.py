"""Formats by name, the format that a file has, and a file read into a checked path."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import cast

import numpy as np
from jaxtyping import Float64, Int64

from action_mapping import PoseError
from action_mapping.rigid import checked_poses
from experts.registry import Registry, UnknownNameError
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories.body_mount import read_cam_from_body
from spatial_engine.sources.trajectories.text_rows import read_rows, read_text
from spatial_engine.sources.trajectories.trajectory import (
    Axes,
    Direction,
    Scale,
    Trajectory,
    TrajectoryFormat,
    WrittenPoses,
)

FORMATS = Registry(
    "spatial_engine.trajectories",
    {
        "tum": "spatial_engine.sources.trajectories.tum:TUM",
        "kitti": "spatial_engine.sources.trajectories.kitti:KITTI",
        "euroc": "spatial_engine.sources.trajectories.euroc:EUROC",
        "colmap": "spatial_engine.sources.trajectories.colmap:COLMAP",
        "nerfstudio": "spatial_engine.sources.trajectories.nerfstudio:NERFSTUDIO",
    },
)
"""All formats of paths. Third parties add theirs as entry points of that group."""

FARTHEST = 1e9
"""No position is larger; beyond it differences between poses drown in rounding."""
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
    """A path out of a file, checked. None: as the format has it.

    Args:
        form: name of the format, or "auto".
        poses: "c2w" (camera to world) or "w2c".
        axes: "opencv" or "opengl", of the camera.
        scale: "metric" or "relative".
        fps: poses a second, for formats without times.
        times: file with one time in seconds a line, for formats without times.
        cam_from_body: file with the mount of the camera, where poses are those of a body.
        drop_duplicates: keep the first of several poses with the same time, instead of raising.

    Raises:
        UsageError: whatever is wrong, with the line and what to do. Nothing is repaired.
    """
    path = _file_in(path)
    name = detect_format(path) if form == "auto" else form
    try:
        known = cast(TrajectoryFormat, FORMATS.load(name))
    except UnknownNameError as error:
        raise UsageError(f"no format is called {name!r}", f"there is: auto, {', '.join(FORMATS.targets())}") from error
    if known.axes == "body" and cam_from_body is None and axes is not None:
        raise UsageError(
            f"--axes {axes}: {name} has poses of a body, which has no camera's axes",
            "give --cam-from-body FILE (the identity, if these are poses of a camera)",
        )
    written, is_timed = _with_times(path, known.read(path), fps, times, drop_duplicates)
    assert written.times_s is not None
    _check_poses(path, written)
    world_from_own = written.matrices if (poses or known.poses) == "c2w" else np.linalg.inv(written.matrices)
    if cam_from_body is not None:
        world_from_own = world_from_own @ np.linalg.inv(read_cam_from_body(cam_from_body))
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
    """The one format that a file looks like. Raises `UsageError` where none or several do."""
    head = read_text(path)[:_HEAD]
    found = [name for name, known in FORMATS.load_all().items() if known.matches(head)]
    if len(found) == 1:
        return found[0]
    cause = f"{path} may be {' or '.join(found)}" if found else f"{path} looks like no known format of camera poses"
    raise UsageError(cause, f"say which it is: --format {' | '.join(found or FORMATS.targets())}")


def _file_in(path: Path) -> Path:
    """The file itself, or the one file of poses in a folder."""
    if not path.exists():
        raise UsageError(f"there is no {str(path)!r}", "give a file of camera poses")
    if not path.is_dir():
        return path
    found = [path / name for name in _IN_FOLDERS if (path / name).is_file()]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{path} has several: {', '.join(file.name for file in found)}", "give one of these files")
    if (path / "images.bin").is_file():
        raise UsageError(
            f"{path} is a binary COLMAP model", "colmap model_converter --output_type TXT writes its images.txt"
        )
    raise UsageError(f"{path} is a folder without {', '.join(_IN_FOLDERS)}", "give a file of camera poses")


def _with_times(
    path: Path, written: WrittenPoses, fps: float | None, times: Path | None, drop_duplicates: bool
) -> tuple[WrittenPoses, bool]:
    """The poses with a time each, and whether these times are known."""
    options = [option for option, value in (("--fps", fps), ("--times", times)) if value is not None]
    if written.times_s is not None and options:
        raise UsageError(f"{' and '.join(options)}: {path} has its own time stamps", f"leave out {options[0]}")
    if len(options) > 1:
        raise UsageError("both --fps and --times", "give one of them")
    count = len(written.places)
    file, places, times_s = path, written.places, written.times_s
    if times is not None:
        rows = read_rows(times, "a file of times", range(1, 2))
        if len(rows.lines) != count:
            raise UsageError(f"{times} has {len(rows.lines)} times for {count} poses", "give one time for each pose")
        file, places, times_s = times, rows.places, rows.values[:, 0]
    if times_s is None:
        if fps is not None and not 0 < fps < 1e6:
            raise UsageError(f"--fps {fps:g}", "give poses a second, above 0")
        return replace(written, times_s=np.arange(count) / (fps or 1.0)), fps is not None
    _check_times(file, times_s, places, allow_duplicates=drop_duplicates)
    return _first_of_each_time(replace(written, times_s=times_s), places), True


def _check_times(file: Path, times_s: Float64[np.ndarray, "n"], places: Sequence[str], allow_duplicates: bool) -> None:
    """Raises `UsageError` where times decrease, or repeat although they must not."""
    steps_s = np.diff(times_s)
    earlier, equal = np.flatnonzero(steps_s < 0), np.flatnonzero(steps_s == 0)
    if len(earlier):
        row = int(earlier[0])
        raise UsageError(
            f"{file}, {places[row + 1]}: {times_s[row + 1]} s, earlier than {places[row]} with {times_s[row]} s"
            f"{_in_all(earlier)}",
            "sort the poses by time; if the camera started anew there, split the file into two paths",
        )
    if len(equal) and not allow_duplicates:
        row = int(equal[0])
        raise UsageError(
            f"{file}, {places[row + 1]}: the same time as {places[row]}, {times_s[row]} s{_in_all(equal)}",
            "spatial-engine actions --drop-duplicates keeps the first pose of each time",
        )


def _in_all(rows: Int64[np.ndarray, "k"]) -> str:
    return f" ({len(rows)} such lines)" if len(rows) > 1 else ""


def _first_of_each_time(written: WrittenPoses, places: Sequence[str]) -> WrittenPoses:
    """The poses without those that repeat the time of the pose before, which a note counts."""
    assert written.times_s is not None
    kept = np.append(True, np.diff(written.times_s) > 0)
    dropped = len(kept) - int(kept.sum())
    if not dropped:
        return written
    first = places[int(np.argmin(kept))]
    note = (
        f"{dropped} of {len(kept)} poses are dropped, the first at {first}: they repeat the time of the pose before. "
        "Pose numbers count the remaining poses"
    )
    return WrittenPoses(
        matrices=written.matrices[kept],
        places=tuple(compress(written.places, kept)),
        times_s=written.times_s[kept],
        focal_px=None if written.focal_px is None else written.focal_px[kept],
        names=tuple(compress(written.names, kept)) if written.names else (),
        notes=(*written.notes, note),
    )


def _check_poses(path: Path, written: WrittenPoses) -> None:
    """Raises `UsageError` that names the first pose which is none."""
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
        raise UsageError(f"{path} has one pose, and a path needs two to move", "give a file with at least two poses")


def _is_bad(matrix: Float64[np.ndarray, "4 4"]) -> bool:
    try:
        checked_poses(matrix[None])
    except PoseError:
        return True
    return False
