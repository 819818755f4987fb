"""Poses per second for rates, segments, levelled segments and plans, on one core.

python benchmarks/motion_of_paths.py [poses]
"""

import os
import sys
import time
import tracemalloc
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from action_mapping import camera_rates, motion_segments, path_plan

UP = np.array([0.0, -1.0, 0.0])


def wander(count: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth hand-held walk at 30 poses per second."""
    rng = np.random.default_rng(0)
    angle_rad, position = (
        np.cumsum(gaussian_filter1d(rng.normal(size=(count, 3)), 30, axis=0), axis=0) / 30 for _ in range(2)
    )
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("YXZ", angle_rad).as_matrix()
    poses[:, :3, 3] = 4.0 * position
    return poses, np.arange(count) / 30.0


def poses_per_s(work: Callable[[], object], count: int) -> float:
    best = min(_seconds(work) for _ in range(3))
    return count / best


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_bytes(work: Callable[[], object]) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main(count: int) -> None:
    poses, times_s = wander(count)
    segments = motion_segments(poses, times_s, scale="metric")
    jobs: dict[str, Callable[[], object]] = {
        "rates": lambda: camera_rates(poses, times_s),
        "segments": lambda: motion_segments(poses, times_s, scale="metric"),
        "segments, relative scale": lambda: motion_segments(poses, times_s, scale="relative"),
        "segments, levelled too": lambda: motion_segments(poses, times_s, scale="metric", up_world=UP),
        "plans": lambda: path_plan(poses, segments, rng=np.random.default_rng(0)),
    }
    for name, work in jobs.items():
        print(f"{name:26} {poses_per_s(work, count) / 1e3:8.0f} thousand poses/s")
    half = peak_bytes(lambda: motion_segments(poses[: count // 2], times_s[: count // 2], scale="metric"))
    whole = peak_bytes(lambda: motion_segments(poses, times_s, scale="metric"))
    print(f"memory: {whole / count:.0f} bytes per pose; twice the poses take {whole / half:.2f} times as much")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
