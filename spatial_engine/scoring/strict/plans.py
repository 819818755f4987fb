"""Plans, scored by where they end: the whole plan is executed, and its end is compared with the real goal.

s_step and s_rot are those of SpatialTree v1 (appendix); the paper gives no weights, so all terms weigh the same. The
paper compares step by step instead: `published.spatialtree_paper`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from spatial_engine.scoring.strict.plan_steps import (
    follow,
    gripper_accuracy,
    motions,
    read_steps,
    step_sizes,
    true_path,
)
from spatial_engine.scoring.strict.rows import UnreadableError, strict_metric

STILL_M = 1e-6
"""Displacements shorter than this have no direction."""
_STILL_RAD = 1e-6


@strict_metric
def agenticnaveval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of s_step and s_rot at the end of a camera's plan; 0 for a plan that moves nothing or is incomplete.

    The plan starts at the last but one pose of `extra_info["optimal_rel_pose"]`; its goal is the last pose. `answer`
    is not used.
    """
    path = true_path(extra_info)[-2:]
    sizes = step_sizes(extra_info)[-1:]
    steps = read_steps(response)
    if len(steps) > 1:
        raise UnreadableError("several plans where one was asked for")
    end = _compare(path, follow(path[0], motions(steps, sizes)))
    return (end.s_step + end.s_rot) / 2 if end.moved and steps[0].actions else 0.0, end.detail()


@strict_metric
def manipulateeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of s_step, s_rot and, where the row knows it, s_gripper; 0 for a plan that moves nothing.

    The plan of an arm or hand is executed from the first pose of `extra_info["optimal_rel_pose"]` to its end, however
    many steps it has; the goal is the last pose. s_gripper: the share of the true states (`gripper` in each "i->j", or
    a list of them, 1 closed) that the plan's steps name. `answer` is not used.
    """
    path = true_path(extra_info)
    sizes = step_sizes(extra_info)
    steps = read_steps(response)
    end = _compare(path, follow(path[0], motions(steps, sizes)))
    terms = {"s_step": end.s_step, "s_rot": end.s_rot}
    if (gripper := gripper_accuracy(steps, extra_info)) is not None:
        terms["s_gripper"] = gripper
    done = end.moved and any(step.actions for step in steps)
    detail = {**end.detail(), **terms, "steps": len(steps), "true_steps": len(sizes)}
    return sum(terms.values()) / len(terms) if done else 0.0, detail


def step_score(displacement: Float64[np.ndarray, "3"], true_displacement: Float64[np.ndarray, "3"]) -> float:
    """s_step = max(0, 1 - ‖p - g‖ / ‖g‖) · max(0, cos θ), from 0 to 1, with the angle θ between p and g.

    The norm is that of the difference of both vectors: a displacement of the full length that is 30° off scores 0.42.
    Where g is 0, 1 if p is too, else 0. In SpatialTree v1 (appendix): s_d · max(0, s_θ).
    """
    length, true_length = float(np.linalg.norm(displacement)), float(np.linalg.norm(true_displacement))
    if length < STILL_M or true_length < STILL_M:
        return float(length < STILL_M and true_length < STILL_M)
    cosine = float(displacement @ true_displacement) / (length * true_length)
    error = float(np.linalg.norm(displacement - true_displacement))
    return max(0.0, 1 - error / true_length) * min(1.0, max(0.0, cosine))


def rotation_score(error_rad: float) -> float:
    """s_rot = 1 - θ / π of the angle between two orientations."""
    return max(0.0, 1 - error_rad / math.pi)


@dataclass(frozen=True, kw_only=True)
class _End:
    """The end of a plan, compared with the goal."""

    s_step: float
    s_rot: float
    moved: bool
    """Whether the plan moves anything, or staying is right."""
    position_error_m: float
    rotation_error_deg: float

    def detail(self) -> dict[str, Any]:
        return dict(vars(self))


def _compare(path: Float64[np.ndarray, "n 4 4"], end: Float64[np.ndarray, "4 4"]) -> _End:
    """The end of a plan that starts at the first pose of `path` and should reach its last."""
    from scipy.spatial.transform import Rotation

    start, goal = path[0], path[-1]
    displacement, true_displacement = end[:3, 3] - start[:3, 3], goal[:3, 3] - start[:3, 3]
    rotations = np.stack([start, goal, start])[:, :3, :3].transpose(0, 2, 1) @ np.stack([end, end, goal])[:, :3, :3]
    rotated, error, true_rotation = Rotation.from_matrix(rotations).magnitude().tolist()
    length, true_length = float(np.linalg.norm(displacement)), float(np.linalg.norm(true_displacement))
    goal_is_start = true_length < STILL_M
    return _End(
        s_step=_return_score(length, path) if goal_is_start else step_score(displacement, true_displacement),
        s_rot=rotation_score(error),
        moved=bool((goal_is_start and true_rotation < _STILL_RAD) or length > STILL_M or rotated > _STILL_RAD),
        position_error_m=float(np.linalg.norm(displacement - true_displacement)),
        rotation_error_deg=math.degrees(error),
    )


def _return_score(distance_m: float, path: Float64[np.ndarray, "n 4 4"]) -> float:
    """s_step where the goal is the start: it falls from 1 with the distance from it, over the length of the path."""
    if distance_m < STILL_M:
        return 1.0
    path_m = float(np.linalg.norm(np.diff(path[:, :3, 3], axis=0), axis=1).sum())
    return max(0.0, 1 - distance_m / path_m) if path_m > 0 else 0.0
