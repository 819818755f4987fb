"""Plans of a camera's motion, scored by where they end (`agenticnaveval` of lmms-eval's spatialtreebench)."""

from collections.abc import Sequence
from itertools import pairwise
from math import radians
from typing import Any

from spatial_engine.scoring.official.pose_score import clamped, pose_score, refusal
from spatial_engine.scoring.official.reading import read_plan
from spatial_engine.scoring.official.reference import Result, metric
from spatial_engine.scoring.official.steps import (
    Pose,
    execute,
    rotation_between_rad,
    segment_keys,
    step_sizes,
    truth_path,
)

_GOAL = 6
"""The reference takes the seven numbers of the pose reached for seven poses: the goal is the seventh, or the last."""


@metric
def agenticnaveval(response: Any, answer: Any, extra_info: Any) -> Result:
    """0.4 direction + 0.35 position + 0.25 rotation of the end of one segment {"actions", "step_nums"}.

    `extra_info`: `optimal_rel_pose`, n poses [x, y, z, qx, qy, qz, qw] in metres; the plan starts at the last but one,
    its goal is the seventh (or the last, where there are fewer). Step sizes: those of the last "i->j" key. `answer` is
    not used. Unless `unsafe`, a plan of which no action was executed, and steps that are not finite, score 0.
    """
    plan = read_plan(response)
    if plan is None:
        return {"score": 0, "error": "Invalid response format"}
    truth = truth_path(extra_info)
    start = truth[-2]
    done = execute(start, plan, step_sizes(extra_info[segment_keys(extra_info)[-1]]))
    _look_for_rotations(truth[:5])
    near = pose_score(start, done.pose, truth[: _GOAL + 1][-1])
    return {
        "score": clamped(near.weighted),
        "scores": {
            "direction_score": near.direction,
            "position_score": near.position,
            "rotation_score": near.rotation,
        },
        "final_position_error_m": near.position_error_m,
        "final_rotation_error_deg": near.rotation_error_deg,
        "detail": refusal(near.weighted, moved=done.moved, finite=done.finite),
    }


def _look_for_rotations(path: Sequence[Pose]) -> None:
    """The reference does not use the result, but fails here on a quaternion of length zero (ValueError)."""
    for before, after in pairwise(path):
        if rotation_between_rad(before, after) > radians(5):
            return
