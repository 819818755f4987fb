"""Recorded paths of a car, a drone, hand-held cameras, glasses and robot arms. Needs SPATIAL_ENGINE_DATA."""

import json
import math
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from action_mapping import (
    PathWarning,
    action_frame,
    align,
    ate,
    effector_events,
    motion_segments,
    path_plan,
    replay_all,
    residuals,
    view_path,
)  # fmt: skip
from action_mapping.segments import Segment
from tests.action_mapping.paths import names

DATA = Path(os.environ.get("SPATIAL_ENGINE_DATA", "/nowhere"))
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="SPATIAL_ENGINE_DATA names no folder")


def from_quaternions(xyz: np.ndarray, xyzw: np.ndarray) -> np.ndarray:
    poses = np.tile(np.eye(4), (len(xyz), 1, 1))
    poses[:, :3, :3] = Rotation.from_quat(xyzw).as_matrix()
    poses[:, :3, 3] = xyz
    return poses


def kitti(name: str = "KITTI_00_gt.txt") -> tuple[np.ndarray, np.ndarray]:
    poses = np.tile(np.eye(4), (4541, 1, 1))
    poses[:, :3] = np.loadtxt(DATA / "traj_evo" / name).reshape(-1, 3, 4)
    return poses, np.loadtxt(DATA / "traj_evo" / "KITTI_00_gt_times.txt")


def tum(name: str) -> tuple[np.ndarray, np.ndarray]:
    rows = np.loadtxt(DATA / "traj_evo" / name)
    rows = rows[np.append(True, np.diff(rows[:, 0]) > 0)]  # fr2_desk has one duplicated stamp
    return from_quaternions(rows[:, 1:4], rows[:, 4:8]), rows[:, 0]


def euroc() -> tuple[np.ndarray, np.ndarray]:
    rows = np.loadtxt(DATA / "traj_evo" / "V102_groundtruth.csv", delimiter=",")
    return from_quaternions(rows[:, 1:4], rows[:, [5, 6, 7, 4]]), rows[:, 0] * 1e-9


def aria() -> tuple[np.ndarray, np.ndarray]:
    rows = np.genfromtxt(DATA / "traj_aria" / "trajectory" / "closed_loop_trajectory.csv", delimiter=",", names=True,
                         dtype=None, encoding="utf-8")  # fmt: skip
    xyz = np.column_stack([rows[f"t{axis}_world_device"] for axis in "xyz"])
    xyzw = np.column_stack([rows[f"q{axis}_world_device"] for axis in "xyzw"])
    return from_quaternions(xyz, xyzw), rows["tracking_timestamp_us"] * 1e-6


PATHS = {
    "KITTI 00": kitti,
    "EuRoC V102": euroc,
    "TUM fr1": lambda: tum("freiburg1_xyz-groundtruth.txt"),
    "TUM fr2": lambda: tum("fr2_desk_groundtruth.txt"),
    "Aria": aria,
}


def segments_of(poses: np.ndarray, times_s: np.ndarray) -> list[Segment]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PathWarning)  # mocap drops out
        return motion_segments(poses, times_s, scale="metric")


@pytest.mark.parametrize("name", PATHS)
def test_replay_reproduces_the_path_within_the_stated_residual(name: str) -> None:
    poses, times_s = PATHS[name]()
    planned = path_plan(poses, segments_of(poses, times_s), rng=np.random.default_rng(0))
    replayed = replay_all(poses[0], [part.plan for part in planned])[1:]
    for part, off in zip(planned, residuals(poses[[part.last for part in planned]], replayed), strict=True):
        assert off.translation == pytest.approx(part.residual.translation, abs=1e-6)
        assert off.rotation_rad == pytest.approx(part.residual.rotation_rad, abs=1e-6)
        assert off.translation <= math.sqrt(12.0) * part.plan.translation_step + 1e-9
    print(f"{name}: {len(poses)} poses, {len(planned)} plans, step {planned[0].plan.translation_step:g} m and "
          f"{math.degrees(planned[0].plan.rotation_step_rad):g}°, largest residual "
          f"{max(part.residual.translation for part in planned):.3g} m")  # fmt: skip


def test_the_turns_of_kitti_are_its_heading_changes() -> None:
    """Every junction: pan steps of the plan between two poses against the change of heading between them."""
    poses, times_s = kitti()
    planned = path_plan(poses, segments_of(poses, times_s), rng=np.random.default_rng(0))
    heading = np.unwrap(np.arctan2(poses[:, 0, 2], poses[:, 2, 2]))
    pan = np.cumsum([0.0, *(part.plan.amounts()["pan_rad"] for part in planned)])
    at = np.array([0, *(part.last for part in planned)])
    turns = [(a, b) for a, b in zip(range(0, len(at) - 40, 40), range(40, len(at), 40), strict=False)
             if abs(heading[at[b]] - heading[at[a]]) > math.radians(45)]  # fmt: skip
    assert len(turns) >= 5
    for a, b in turns:
        read, true = pan[b] - pan[a], heading[at[b]] - heading[at[a]]
        assert math.copysign(1.0, read) == math.copysign(1.0, true)
        assert abs(read - true) < math.radians(10)


def test_a_car_dollies_in() -> None:
    poses, times_s = kitti()
    segments = segments_of(poses, times_s)
    moving = sum(s.last - s.first for s in segments if "Dolly In" in names(s.primitives))
    backing = sum(s.last - s.first for s in segments if "Dolly Out" in names(s.primitives))
    assert moving > 0.97 * (len(poses) - 1)
    assert backing < 0.005 * len(poses)  # standing, it trembles


def test_slam_paths_lie_on_the_truth() -> None:
    truth, estimate = kitti()[0][:, :3, 3], kitti("KITTI_00_ORB.txt")[0][:, :3, 3]
    assert ate(align(estimate, truth, with_scale=True).positions(estimate), truth).rmse < 2.0
    assert ate(align(estimate, truth).positions(estimate), truth).rmse < 10.0


def episodes() -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(path.read_text()) for path in sorted((DATA / "bridge_octo").glob("ep*/episode.json"))]


def test_robot_actions_are_found_to_be_in_the_base_frame() -> None:
    rows = []
    for episode in episodes():
        state, action = np.array(episode["state_xyzrpy_gripper"]), np.array(episode["action"])
        poses = from_quaternions(state[:, :3], Rotation.from_euler("xyz", state[:, 3:6]).as_quat())
        rows.append((poses[:-1], poses[1:], action[:-1, :3]))
    told = [action_frame(*row).frame for row in rows]
    assert set(told) <= {"base delta", None}  # short episodes that hardly turn cannot tell
    pooled = action_frame(*(np.concatenate(column) for column in zip(*rows, strict=True)))
    print(f"episodes told {len(told) - told.count(None)} of {len(told)}; pooled {pooled}")
    assert pooled.frame == "base delta"


def test_gripper_events_are_few_and_only_where_it_moves() -> None:
    for episode in episodes():
        state = np.array(episode["state_xyzrpy_gripper"])
        poses = np.tile(np.eye(4), (len(state), 1, 1))
        poses[:, :3, 3] = state[:, :3]
        opening = np.clip(state[:, 6], 0.0, 1.0)
        events = effector_events(view_path(poses, axes="-y,-z,+x"), opening, effector="gripper")
        moves = [event for event in events if event.primitive.component == "opening"]
        assert len(moves) <= 2
        assert not moves or np.ptp(opening) > 0.4
