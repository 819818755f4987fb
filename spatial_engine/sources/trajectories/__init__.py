"""Camera paths in files of other programs, read as checked `world_from_cam` poses with OpenCV axes."""

from spatial_engine.sources.trajectories.reading import FORMATS, detect_format, read_trajectory
from spatial_engine.sources.trajectories.trajectory import Trajectory, TrajectoryFormat, WrittenPoses

__all__ = ["FORMATS", "Trajectory", "TrajectoryFormat", "WrittenPoses", "detect_format", "read_trajectory"]
