"""Plans as the SpatialTree paper scores them (v1, appendix): step by step, which its published code does not do.

A step of the plan is compared with the true step of the same number, both in the frame of the camera, arm or hand at
the start of that step; a step that one of them lacks scores 0. The paper leaves three things open, and these are our
choices: that frame, equal weights of the terms, and a step without displacement, which scores 1 for staying. Responses
are read as by `scoring.strict`.
"""

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

import numpy as np
from jaxtyping import Float64

from spatial_engine.scoring.strict.plan_steps import gripper_accuracy, motions, read_steps, step_sizes, true_path
from spatial_engine.scoring.strict.plans import rotation_score, step_score
from spatial_engine.scoring.strict.rows import UnreadableError, strict_metric


@strict_metric
def agenticnaveval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """s_step of the one step from the last but one pose of `extra_info["optimal_rel_pose"]` to the last."""
    path = true_path(extra_info)[-2:]
    sizes = step_sizes(extra_info)[-1:]
    steps = read_steps(response)
    if len(steps) > 1:
        raise UnreadableError("several plans where one was asked for")
    terms = _mean_terms(motions(steps, sizes), _true_motions(path))
    return terms["s_step"], terms


@strict_metric
def manipulateeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of s_step, s_rot and, where the row knows it, s_gripper, the first two averaged over all steps."""
    path, sizes = true_path(extra_info), step_sizes(extra_info)
    steps = read_steps(response)
    terms = _mean_terms(motions(steps, sizes), _true_motions(path))
    if (gripper := gripper_accuracy(steps, extra_info)) is not None:
        terms["s_gripper"] = gripper
    return sum(terms.values()) / len(terms), {**terms, "steps": len(steps), "true_steps": len(path) - 1}


def _true_motions(path: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "m 4 4"]:
    """start_from_end of each step."""
    return np.linalg.solve(path[:-1], path[1:])


def _mean_terms(moves: list[Float64[np.ndarray, "4 4"]], true_moves: Float64[np.ndarray, "m 4 4"]) -> dict[str, float]:
    terms = [
        (0.0, 0.0) if move is None or true is None else (step_score(move[:3, 3], true[:3, 3]), _rotation(move, true))
        for move, true in zip_longest(moves, true_moves)
    ]
    s_step, s_rot = np.mean(terms, axis=0).tolist()
    return {"s_step": s_step, "s_rot": s_rot}


def _rotation(move: Float64[np.ndarray, "4 4"], true: Float64[np.ndarray, "4 4"]) -> float:
    from scipy.spatial.transform import Rotation

    return rotation_score(float(Rotation.from_matrix(true[:3, :3].T @ move[:3, :3]).magnitude()))
