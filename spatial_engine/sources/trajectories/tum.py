"""TUM: `time tx ty tz qx qy qz qw`, seconds, camera to world."""

from pathlib import Path

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
"""Stamps beyond the year 5138 are no seconds."""


def read_tum(path: Path) -> WrittenPoses:
    """Raises `UsageError`, naming the line."""
    rows = read_rows(path, "tum", range(8, 9))
    times_s = rows.values[:, 0]
    if times_s.max() > LATEST_S:
        raise UsageError(
            f"{path}, line {rows.lines[int(times_s.argmax())]}: {times_s.max():.0f} is no time in seconds",
            "tum has seconds; if these are nanoseconds and quaternions are qw qx qy qz, say --format euroc",
        )
    xyz, wxyz = rows.values[:, 1:4], rows.values[:, [7, 4, 5, 6]]
    matrices = matrices_from_quaternions(path, rows.places, xyz, wxyz)
    return WrittenPoses(matrices=matrices, places=rows.places, times_s=times_s)


def matches(head: str) -> bool:
    """Eight columns: between blanks, or with stamps that can be seconds."""
    fields = first_fields(head)
    blanks = next((line for line in head.splitlines() if split_line(line) == fields), "").split() == fields
    return len(fields) == 8 and (blanks or (is_number(fields[0]) and abs(float(fields[0])) < LATEST_S))


TUM = TrajectoryFormat(matches=matches, read=read_tum, poses="c2w", axes="opencv", scale="metric")
