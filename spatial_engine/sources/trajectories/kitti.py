"""KITTI odometry: twelve numbers a line, the upper three rows of the pose, camera to world, without times."""

from pathlib import Path

import numpy as np

from spatial_engine.sources.trajectories.text_rows import first_fields, read_rows
from spatial_engine.sources.trajectories.trajectory import TrajectoryFormat, WrittenPoses


def read_kitti(path: Path) -> WrittenPoses:
    """Raises `UsageError`, naming the line."""
    rows = read_rows(path, "kitti", range(12, 13))
    matrices = np.tile(np.eye(4), (len(rows.values), 1, 1))
    matrices[:, :3] = rows.values.reshape(-1, 3, 4)
    return WrittenPoses(matrices=matrices, places=rows.places)


def matches(head: str) -> bool:
    """Twelve columns."""
    return len(first_fields(head)) == 12 and "," not in head


KITTI = TrajectoryFormat(matches=matches, read=read_kitti, poses="c2w", axes="opencv", scale="metric")
