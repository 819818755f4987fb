"""EuRoC: `stamp, px, py, pz, qw, qx, qy, qz, ...`, nanoseconds, pose of the body (its IMU) in the world."""

from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories.text_rows import first_fields, matrices_from_quaternions, read_rows
from spatial_engine.sources.trajectories.trajectory import TrajectoryFormat, WrittenPoses

EARLIEST_NS = 1e15
"""Whole numbers from here on are nanoseconds: as seconds they would be 30 million years."""


def read_euroc(path: Path) -> WrittenPoses:
    """Raises `UsageError`, naming the line."""
    rows = read_rows(path, "euroc", range(8, 1000))
    stamps = rows.values[:, 0]
    broken = np.flatnonzero(stamps % 1)
    if len(broken):
        raise UsageError(
            f"{path}, line {rows.lines[broken[0]]}: stamp {stamps[broken[0]]:.9g} is not whole, where euroc has "
            "nanoseconds",
            "write nanoseconds, or say --format tum for seconds and qx qy qz qw",
        )
    xyz, wxyz = rows.values[:, 1:4], rows.values[:, 4:8]
    matrices = matrices_from_quaternions(path, rows.places, xyz, wxyz)
    return WrittenPoses(matrices=matrices, places=rows.places, times_s=stamps * 1e-9)


def matches(head: str) -> bool:
    """Eight columns or more, between commas or with stamps that can be nanoseconds only."""
    fields = first_fields(head)
    if len(fields) < 8 or fields[0][0] in "{[":
        return False
    return "," in head or (fields[0].isdecimal() and int(fields[0]) >= EARLIEST_NS)


EUROC = TrajectoryFormat(matches=matches, read=read_euroc, poses="c2w", axes="body", scale="metric")
