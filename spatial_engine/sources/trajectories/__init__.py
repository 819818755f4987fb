"""Camera paths that other programs wrote: read, checked, and turned into `world_from_cam` with OpenCV axes."""

from spatial_engine.sources.trajectories.reading import FORMATS, detect_format, read_trajectory
from spatial_engine.sources.trajectories.trajectory import Trajectory, TrajectoryFormat, WrittenPoses

__all__ = ["FORMATS", "Trajectory", "TrajectoryFormat", "WrittenPoses", "detect_format", "read_trajectory"]
