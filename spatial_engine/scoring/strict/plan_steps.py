"""The steps of a plan: what a row says about the true ones, and what a response says about its own.

Every step moves the camera, arm or hand in its own frame: Truck along x, Pedestal along y, Dolly along z (OpenCV
axes), Pan about y, Tilt about x, Roll about z: T(x, y, z) · Ry(pan) · Rx(tilt) · Rz(roll), as in `action_mapping`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from jaxtyping import Float64

from action_mapping.official_dialect import ROTATION_STEP_RAD, TRANSLATION_STEP_M
from action_mapping.plan import Plan, PlanError
from action_mapping.plan import read_plan as checked_plan
from action_mapping.primitives import UnknownPrimitiveError
from action_mapping.replay import replay
from spatial_engine.scoring.reading import Unreadable, conclusion, read_plan
from spatial_engine.scoring.reading.json_object import objects
from spatial_engine.scoring.reading.plan import plan_of
from spatial_engine.scoring.strict.rows import UnreadableError, number
from templates.answers.score import UnscorableError

_MOST_STEPS = 200
_INTEGER = re.compile(r"\d{1,9}")
_SEGMENT_KEY = re.compile(r"\s*\d+\s*->\s*\d+\s*")
_OPENS, _CLOSES = "Gripper Open", "Gripper Close"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a plan, as it was read: actions that are executed together."""

    actions: Sequence[str]
    step_nums: Sequence[float]
    gripper: int | None = None
    """1 closed, 0 open; None if the response does not say."""


def true_path(extra_info: Mapping[str, Any]) -> Float64[np.ndarray, "n 4 4"]:
    """`optimal_rel_pose`, two or more poses [x, y, z, qx, qy, qz, qw], as matrices. Raises `UnscorableError`."""
    from scipy.spatial.transform import RigidTransform, Rotation

    try:
        poses = np.asarray(extra_info.get("optimal_rel_pose"), dtype=float)
    except (TypeError, ValueError):
        poses = np.empty(0)
    if poses.ndim != 2 or poses.shape[1] != 7 or len(poses) < 2 or not np.isfinite(poses).all():
        raise UnscorableError("optimal_rel_pose is not a list of two or more poses of seven finite numbers")
    if np.any(np.linalg.norm(poses[:, 3:], axis=1) < 1e-9):
        raise UnscorableError("a quaternion of optimal_rel_pose has length 0")
    rotations = Rotation.from_quat(poses[:, 3:])
    return np.asarray(RigidTransform.from_components(poses[:, :3], rotations).as_matrix(), dtype=np.float64)


def step_sizes(extra_info: Mapping[str, Any]) -> list[tuple[float, float]]:
    """(metres, radians) of one count of an action, for every true step in order. Raises `UnscorableError`."""
    keys = [key for key in extra_info if isinstance(key, str) and _SEGMENT_KEY.fullmatch(key)]
    sizes = []
    for key in sorted(keys, key=lambda key: int(key.split("->")[0])):
        info = extra_info[key] if isinstance(extra_info[key], Mapping) else {}
        size = (
            number(info.get("translation_step_size", TRANSLATION_STEP_M), "a translation_step_size"),
            number(info.get("rotation_step_size", ROTATION_STEP_RAD), "a rotation_step_size"),
        )
        if min(size) <= 0:
            raise UnscorableError("a step size is not positive")
        sizes.append(size)
    if not sizes:
        raise UnscorableError("no step sizes")
    return sizes


def gripper_accuracy(steps: Sequence[Step], extra_info: Mapping[str, Any]) -> float | None:
    """Share of the gripper's known true states that the steps name; None where the row gives none."""
    known = [(place, state) for place, state in enumerate(_gripper_states(extra_info)) if state is not None]
    if not known:
        return None
    return sum(place < len(steps) and steps[place].gripper == state for place, state in known) / len(known)


def read_steps(response: str) -> list[Step]:
    """The steps of the last plan of several steps, by the number in their keys; else the one step of a flat plan.

    Raises `UnreadableError`.
    """
    for found in objects(conclusion(response)):
        listed = found.get("steps") or found.get("plan") or found.get("segments")
        parts = listed if isinstance(listed, list) else [found[key] for key in _ordered(found)]
        parts = [part for part in parts if isinstance(part, Mapping) and ("actions" in part or "step_nums" in part)]
        if parts:
            return [_step(part) for part in parts[:_MOST_STEPS]]
    reading = read_plan(response)
    if isinstance(reading, Unreadable):
        raise UnreadableError(reading.reason)
    plan: Any = reading.value
    return [Step(actions=plan["actions"], step_nums=plan["step_nums"])]


def motions(steps: Sequence[Step], sizes: Sequence[tuple[float, float]]) -> list[Float64[np.ndarray, "4 4"]]:
    """start_from_end of each step, in its own frame; steps beyond the known sizes take the last one.

    Raises `UnreadableError` for unknown actions and for counts that are not whole numbers from 0 to 10.
    """
    last = len(sizes) - 1
    return [replay(np.eye(4), _plan(step, *sizes[min(place, last)])) for place, step in enumerate(steps)]


def follow(
    start: Float64[np.ndarray, "4 4"], moves: Sequence[Float64[np.ndarray, "4 4"]]
) -> Float64[np.ndarray, "4 4"]:
    """The pose to which the motions lead from `start`, one after the other."""
    *_, end = accumulate(moves, np.matmul, initial=start)
    return end


def _gripper_states(extra_info: Mapping[str, Any]) -> list[int | None]:
    listed = extra_info.get("gripper")
    if isinstance(listed, list):
        return [_closed(state) for state in listed]
    keys = sorted((key for key in extra_info if "->" in str(key)), key=lambda key: (len(str(key)), str(key)))
    infos = [extra_info[key] for key in keys]
    return [_closed(info.get("gripper")) if isinstance(info, Mapping) else None for info in infos]


def _plan(step: Step, metres: float, radians: float) -> Plan:
    try:
        return checked_plan(step.actions, step.step_nums, translation_step=metres, rotation_step_rad=radians)
    except (PlanError, UnknownPrimitiveError) as error:
        raise UnreadableError(str(error)) from None


def _step(part: Mapping[str, Any]) -> Step:
    plan = plan_of(part)
    if plan is None:
        raise UnreadableError("a step without as many step_nums as actions")
    return Step(actions=plan["actions"], step_nums=plan["step_nums"], gripper=_gripper(part, plan["actions"]))


def _gripper(part: Mapping[str, Any], actions: Sequence[str]) -> int | None:
    state = next((value for key, value in part.items() if "gripper" in str(key).lower()), None)
    if state is None:
        state = next((action for action in reversed(actions) if action in (_OPENS, _CLOSES)), None)
    return _closed(state)


def _closed(state: Any) -> int | None:
    """1 for a closed gripper, 0 for an open one, None for anything else."""
    if isinstance(state, str):
        word = state.strip().lower()
        if "clos" in word or word in ("1", "grasp", "grab"):
            return 1
        return 0 if "open" in word or word in ("0", "release") else None
    return int(state) if isinstance(state, bool | int | float) and state in (0, 1) else None


def _ordered(found: Mapping[str, Any]) -> list[str]:
    """Keys of objects, by the first number in each; where one has none, as written."""
    keys = [key for key in found if isinstance(found[key], Mapping)]
    numbers = {key: int(match[0]) for key in keys if (match := _INTEGER.search(str(key)))}
    return sorted(keys, key=lambda key: numbers[key]) if len(numbers) == len(keys) else keys
