"""TUM, KITTI odometry and EuRoC: text files with one pose in each row of numbers."""

from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories.text_rows import (
    first_fields,
    is_number,
    matrices_from_quaternions,
    read_rows,
    split_line,
)
from spatial_engine.sources.trajectories.trajectory import TrajectoryFormat, WrittenPoses

LATEST_S = 1e11
"""Larger time stamps are not seconds: they would lie beyond the year 5138."""
EARLIEST_NS = 1e15
"""Larger whole numbers are nanoseconds: as seconds they would be 30 million years."""


def read_tum(path: Path) -> WrittenPoses:
    """Rows of `time tx ty tz qx qy qz qw`: seconds, camera to world. Raises `UsageError` that names the line."""
    rows = read_rows(path, "tum", range(8, 9))
    times_s = rows.values[:, 0]
    if times_s.max() > LATEST_S:
        raise UsageError(
            f"{path}, line {rows.lines[int(times_s.argmax())]}: {times_s.max():.0f} is not a time in seconds",
            "if the file has nanoseconds and quaternions qw qx qy qz, give --format euroc",
        )
    xyz, wxyz = rows.values[:, 1:4], rows.values[:, [7, 4, 5, 6]]
    matrices = matrices_from_quaternions(path, rows.places, xyz, wxyz)
    return WrittenPoses(matrices=matrices, places=rows.places, times_s=times_s)


def looks_like_tum(head: str) -> bool:
    """Eight columns, between blanks or with time stamps that can be seconds."""
    fields = first_fields(head)
    blanks = next((line for line in head.splitlines() if split_line(line) == fields), "").split() == fields
    return len(fields) == 8 and (blanks or (is_number(fields[0]) and abs(float(fields[0])) < LATEST_S))


def read_kitti(path: Path) -> WrittenPoses:
    """Rows of twelve numbers, the upper 3x4 of each pose: camera to world, no times. Raises `UsageError`."""
    rows = read_rows(path, "kitti", range(12, 13))
    matrices = np.tile(np.eye(4), (len(rows.values), 1, 1))
    matrices[:, :3] = rows.values.reshape(-1, 3, 4)
    return WrittenPoses(matrices=matrices, places=rows.places)


def looks_like_kitti(head: str) -> bool:
    """Twelve columns between blanks."""
    return len(first_fields(head)) == 12 and "," not in head


def read_euroc(path: Path) -> WrittenPoses:
    """Rows of `stamp, px, py, pz, qw, qx, qy, qz, ...`: nanoseconds, body (IMU) to world. Raises `UsageError`."""
    rows = read_rows(path, "euroc", range(8, 1000))
    stamps = rows.values[:, 0]
    fractional = np.flatnonzero(stamps % 1)
    if len(fractional):
        row = int(fractional[0])
        raise UsageError(
            f"{path}, line {rows.lines[row]}: stamp {stamps[row]:.9g} is not whole, but euroc has nanoseconds",
            "write nanoseconds, or give --format tum for seconds and quaternions qx qy qz qw",
        )
    xyz, wxyz = rows.values[:, 1:4], rows.values[:, 4:8]
    matrices = matrices_from_quaternions(path, rows.places, xyz, wxyz)
    return WrittenPoses(matrices=matrices, places=rows.places, times_s=stamps * 1e-9)


def looks_like_euroc(head: str) -> bool:
    """Eight columns or more, between commas or with time stamps that can only be nanoseconds."""
    fields = first_fields(head)
    if len(fields) < 8 or fields[0][0] in "{[":
        return False
    return "," in head or (fields[0].isdecimal() and int(fields[0]) >= EARLIEST_NS)


TUM = TrajectoryFormat(matches=looks_like_tum, read=read_tum, poses="c2w", axes="opencv", scale="metric")
KITTI = TrajectoryFormat(matches=looks_like_kitti, read=read_kitti, poses="c2w", axes="opencv", scale="metric")
EUROC = TrajectoryFormat(matches=looks_like_euroc, read=read_euroc, poses="c2w", axes="body", scale="metric")
