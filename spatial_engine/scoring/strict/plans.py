"""Plans as they are followed: in the camera's own frame, segment after segment, to the end of the true path.

Truck is along x, Pedestal along y, Dolly along z of the camera (OpenCV axes); Pan turns about y, Tilt about x, Roll
about z: T(x, y, z) · Ry(pan) · Rx(tilt) · Rz(roll), as in `action_mapping`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from action_mapping.official_dialect import ROTATION_STEP_RAD, TRANSLATION_STEP_M
from action_mapping.plan import Plan, PlanError, read_plan
from action_mapping.primitives import UnknownPrimitiveError
from action_mapping.replay import replay
from spatial_engine.scoring.reading import Unreadable, conclusion
from spatial_engine.scoring.reading import read_plan as read_reply
from spatial_engine.scoring.reading.json_object import objects
from spatial_engine.scoring.reading.plan import plan_of
from spatial_engine.scoring.strict.rows import RowFault, Unread, number, strict_metric

_STILL_M = 1e-6
_STILL_RAD = 1e-6
_MOST_SEGMENTS = 200
_INTEGER = re.compile(r"\d{1,9}")
_OPENS, _CLOSES = "Gripper Open", "Gripper Close"


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One step of a plan as read."""

    actions: Sequence[str]
    step_nums: Sequence[float]
    gripper: int | None = None
    """1 closed, 0 open; None if not said."""


@dataclass(frozen=True, kw_only=True)
class Ends:
    """How the end of a plan compares with the goal."""

    way: float
    """s_d · max(0, s_θ): how far, times in which direction."""
    turn: float
    """s_rot = max(0, 1 - θ/π)."""
    moved: bool
    """Whether the plan leads anywhere, or staying was right."""
    position_error_m: float
    rotation_error_deg: float


def true_path(extra_info: Mapping[str, Any], fewest: int) -> Float64[np.ndarray, "n 4 4"]:
    """`optimal_rel_pose`, [x, y, z, qx, qy, qz, qw] each, as matrices. Raises `RowFault`."""
    from scipy.spatial.transform import RigidTransform, Rotation

    try:
        poses = np.asarray(extra_info.get("optimal_rel_pose"), dtype=float)
    except (TypeError, ValueError):
        poses = np.empty(0)
    if poses.ndim != 2 or poses.shape[1] != 7 or len(poses) < fewest or not np.isfinite(poses).all():
        raise RowFault(f"optimal_rel_pose is not a list of {fewest} or more poses of seven finite numbers")
    if np.any(np.linalg.norm(poses[:, 3:], axis=1) < 1e-9):
        raise RowFault("a quaternion of optimal_rel_pose has no length")
    rotations = Rotation.from_quat(poses[:, 3:])
    return np.asarray(RigidTransform.from_components(poses[:, :3], rotations).as_matrix(), dtype=np.float64)


def step_sizes(extra_info: Mapping[str, Any]) -> list[tuple[float, float]]:
    """(metres, radians) of one step in every segment, in order. Raises `RowFault`."""
    keys = [key for key in extra_info if isinstance(key, str) and re.fullmatch(r"\s*\d+\s*->\s*\d+\s*", key)]
    sizes = []
    for key in sorted(keys, key=lambda key: int(key.split("->")[0])):
        info = extra_info[key] if isinstance(extra_info[key], Mapping) else {}
        size = (
            number(info.get("translation_step_size", TRANSLATION_STEP_M), "a translation_step_size"),
            number(info.get("rotation_step_size", ROTATION_STEP_RAD), "a rotation_step_size"),
        )
        if min(size) <= 0:
            raise RowFault("a step size is not positive")
        sizes.append(size)
    if not sizes:
        raise RowFault("no step sizes")
    return sizes


def read_segments(response: str) -> list[Segment]:
    """The steps of the last plan of several steps, by the number in their keys; else the one step of a flat plan.

    Raises `Unread`.
    """
    for found in objects(conclusion(response)):
        listed = found.get("steps") or found.get("plan") or found.get("segments")
        parts = listed if isinstance(listed, list) else [found[key] for key in _ordered(found)]
        parts = [part for part in parts if isinstance(part, Mapping) and ("actions" in part or "step_nums" in part)]
        if parts:
            return [_segment(part) for part in parts[:_MOST_SEGMENTS]]
    reading = read_reply(response)
    if isinstance(reading, Unreadable):
        raise Unread(reading.reason)
    plan: Any = reading.value
    return [Segment(actions=plan["actions"], step_nums=plan["step_nums"])]


def follow(
    start: Float64[np.ndarray, "4 4"], segments: Sequence[Segment], sizes: Sequence[tuple[float, float]]
) -> Float64[np.ndarray, "4 4"]:
    """Where the segments lead; those beyond the known step sizes take the last. Raises `Unread`: nothing is mended."""
    pose = start
    for place, segment in enumerate(segments):
        metres, radians = sizes[min(place, len(sizes) - 1)]
        pose = replay(pose, _plan(segment, metres, radians))
    return pose


def ends(path: Float64[np.ndarray, "n 4 4"], end: Float64[np.ndarray, "4 4"]) -> Ends:
    """The end of a plan that starts at the first pose of `path` against its last (SpatialTree v1, appendix)."""
    from scipy.spatial.transform import Rotation

    start, goal = path[0], path[-1]
    way, goal_way = end[:3, 3] - start[:3, 3], goal[:3, 3] - start[:3, 3]
    lengths = np.linalg.norm(way), np.linalg.norm(goal_way)
    turned = Rotation.from_matrix(
        np.stack([start, goal, start])[:, :3, :3].transpose(0, 2, 1) @ np.stack([end, end, goal])[:, :3, :3]
    )
    own, error, wanted = turned.magnitude().tolist()
    stay = lengths[1] < _STILL_M and wanted < _STILL_RAD
    return Ends(
        way=_way(way, goal_way, float(np.linalg.norm(np.diff(path[:, :3, 3], axis=0), axis=1).sum())),
        turn=max(0.0, 1 - error / math.pi),
        moved=bool(stay or lengths[0] > _STILL_M or own > _STILL_RAD),
        position_error_m=float(np.linalg.norm(way - goal_way)),
        rotation_error_deg=math.degrees(error),
    )


def _way(way: Float64[np.ndarray, "3"], goal_way: Float64[np.ndarray, "3"], path_m: float) -> float:
    """s_d · max(0, s_θ). Where the goal is the start, how little of the path's length the plan ends away from it."""
    length, goal_length = float(np.linalg.norm(way)), float(np.linalg.norm(goal_way))
    if goal_length < _STILL_M:
        return 1.0 if length < _STILL_M else max(0.0, 1 - length / path_m) if path_m > 0 else 0.0
    if length < _STILL_M:
        return 0.0
    cosine = float(way @ goal_way) / (length * goal_length)
    return max(0.0, 1 - abs(length - goal_length) / goal_length) * min(1.0, max(0.0, cosine))


def _plan(segment: Segment, metres: float, radians: float) -> Plan:
    try:
        return read_plan(segment.actions, segment.step_nums, translation_step=metres, rotation_step_rad=radians)
    except (PlanError, UnknownPrimitiveError) as error:
        raise Unread(str(error)) from None


def _segment(part: Mapping[str, Any]) -> Segment:
    plan = plan_of(part)
    if plan is None:
        raise Unread("a step without as many step_nums as actions")
    return Segment(actions=plan["actions"], step_nums=plan["step_nums"], gripper=_gripper(part, plan["actions"]))


def _gripper(part: Mapping[str, Any], actions: Sequence[str]) -> int | None:
    said = next((value for key, value in part.items() if "gripper" in str(key).lower()), None)
    if said is None:
        said = next((action for action in reversed(actions) if action in (_OPENS, _CLOSES)), None)
    return closed(said)


def closed(said: Any) -> int | None:
    """1 for a closed gripper, 0 for an open one, None for anything else."""
    if isinstance(said, str):
        word = said.strip().lower()
        return (
            1
            if "clos" in word or word in ("1", "grasp", "grab")
            else 0
            if "open" in word or word in ("0", "release")
            else None
        )
    return int(said) if isinstance(said, bool | int | float) and said in (0, 1) else None


def _ordered(found: Mapping[str, Any]) -> list[str]:
    """By the first number in each key; where one has none, as written."""
    keys = [key for key in found if isinstance(found[key], Mapping)]
    numbers = [_INTEGER.search(str(key)) for key in keys]
    if not all(numbers):
        return keys
    return sorted(keys, key=lambda key: int(_INTEGER.search(str(key))[0]))  # type: ignore[index]


@strict_metric
def agenticnaveval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of s_d · max(0, s_θ) and s_rot at the end of the plan; 0 for a plan that leads nowhere or is not whole.

    s_d = max(0, 1 - |d - d_goal| / d_goal), s_θ the cosine between both ways, s_rot = 1 - θ/π (SpatialTree v1,
    appendix, which gives no weights: equal ones are ours). The plan starts at the last but one pose of
    `extra_info["optimal_rel_pose"]` and is followed in that camera's frame; its goal is the last. `answer` is not
    looked at.
    """
    path = true_path(extra_info, fewest=2)[-2:]
    sizes = step_sizes(extra_info)[-1:]
    segments = read_segments(response)
    if len(segments) > 1:
        raise Unread("several plans where one was asked for")
    at = ends(path, follow(path[0], segments, sizes))
    detail = {
        "way": at.way,
        "turn": at.turn,
        "moved": at.moved,
        "position_error_m": at.position_error_m,
        "rotation_error_deg": at.rotation_error_deg,
    }
    return (at.way + at.turn) / 2 if at.moved and segments[0].actions else 0.0, detail


@strict_metric
def manipulateeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of s_d · max(0, s_θ), s_rot and, where the row knows it, s_gripper; 0 for a plan that leads nowhere.

    All of the plan is followed from the first pose of `extra_info["optimal_rel_pose"]` in the frame of the arm or
    hand, and held against the last, however many steps it has (terms: see `agenticnaveval`; equal weights are ours).
    s_gripper: share of the true states (`gripper` in each "i->j", or a list of them, 1 closed) that the plan's steps
    name. `answer` is not looked at.
    """
    path = true_path(extra_info, fewest=2)
    sizes = step_sizes(extra_info)
    segments = read_segments(response)
    at = ends(path, follow(path[0], segments, sizes))
    terms = {"way": at.way, "turn": at.turn}
    grip = _states_named(segments, _true_states(extra_info))
    if grip is not None:
        terms["gripper"] = grip
    detail = {
        **terms,
        "moved": at.moved,
        "steps": len(segments),
        "true_steps": len(sizes),
        "position_error_m": at.position_error_m,
        "rotation_error_deg": at.rotation_error_deg,
    }
    done = at.moved and any(segment.actions for segment in segments)
    return sum(terms.values()) / len(terms) if done else 0.0, detail


def _true_states(extra_info: Mapping[str, Any]) -> list[int | None]:
    listed = extra_info.get("gripper")
    if isinstance(listed, list):
        return [closed(state) for state in listed]
    keys = sorted((key for key in extra_info if "->" in str(key)), key=lambda key: (len(str(key)), str(key)))
    infos = [extra_info[key] for key in keys]
    return [closed(info.get("gripper")) if isinstance(info, Mapping) else None for info in infos]


def _states_named(segments: Sequence[Segment], states: Sequence[int | None]) -> float | None:
    """Share of the known states that are named; None where none is known."""
    known = [(place, state) for place, state in enumerate(states) if state is not None]
    if not known:
        return None
    return sum(place < len(segments) and segments[place].gripper == state for place, state in known) / len(known)
