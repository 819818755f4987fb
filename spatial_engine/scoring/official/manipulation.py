"""Plans of an arm or hand in several steps (`manipulateeval` of lmms-eval's spatialtreebench)."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import exp, radians
from typing import Any

from spatial_engine.scoring.official.pose_score import PoseScore, clamped, pose_score, refusal
from spatial_engine.scoring.official.reading import read_plan
from spatial_engine.scoring.official.reference import Result, metric
from spatial_engine.scoring.official.steps import (
    Executed,
    Pose,
    execute,
    rotation_between_rad,
    segment_keys,
    step_sizes,
    truth_path,
)

_INTEGER = re.compile(r"\d+")


@metric
def manipulateeval(response: Any, answer: Any, extra_info: Any) -> Result:
    """The pose after m steps against the truth after m steps, 0.4 direction + 0.35 position + 0.25 rotation.

    Times 0.7 where the goal is over 0.1 m away and the plan moves less than 0.03 m, times 0.5 where the true path
    rotates by more than 5° and the plan by no more than 2°. `extra_info`: `optimal_rel_pose`, n poses
    [x, y, z, qx, qy, qz, qw] in metres, of which the first is the start; step sizes under "i->j". `answer` is not used.
    Unless `unsafe`, a plan of which no action was executed (the reference compares the start with itself) and steps
    that are not finite score 0.
    """
    plan = read_plan(response)
    if plan is None:
        return {"score": 0, "error": "Invalid response format"}
    truth = truth_path(extra_info)
    keys = segment_keys(extra_info)
    done = _execute(truth[0], plan, [extra_info[key] for key in keys[: len(plan)]])
    path = [truth[0], *(segment.pose for segment in done)]
    near = pose_score(truth[0], path[-1], truth[: len(path)][-1])
    raw = near.weighted * _penalty(near, truth, path)
    return {
        "score": clamped(raw),
        "scores": {
            "direction_score": near.direction,
            "position_score": near.position,
            "rotation_score": near.rotation,
            "distance_ratio_score": _distance_ratio(near),
        },
        "is_successful_binary": len(done) == len(keys) and near.position_error_m < 0.2 and near.rotation_error_deg < 10,
        "final_position_error_m": near.position_error_m,
        "final_rotation_error_deg": near.rotation_error_deg,
        "predicted_segments": len(done),
        "total_segments": len(keys),
        "gt_movement_magnitude": near.goal_distance_m,
        "pred_movement_magnitude": near.distance_m,
        "detail": refusal(raw, moved=any(s.moved for s in done), finite=all(s.finite for s in done)),
    }


def _execute(start: Pose, plan: Mapping[Any, Any], infos: Sequence[Any]) -> list[Executed]:
    """The plan's segments in order, at most as many as there are step sizes; one that is no dict still uses one up."""
    done: list[Executed] = []
    for key, info in zip(_ordered(plan), infos, strict=False):
        sizes = step_sizes(info)
        if isinstance(plan[key], dict):
            done.append(execute(done[-1].pose if done else start, plan[key], sizes))
    return done


def _ordered(plan: Mapping[Any, Any]) -> list[Any]:
    """By the first integer in each key; by the keys themselves where one has none. TypeError if one is no text."""
    try:
        return sorted(plan, key=lambda key: int(_INTEGER.search(key).group()))  # type: ignore[union-attr]
    except (AttributeError, ValueError):
        return sorted(plan)


def _penalty(near: PoseScore, truth: Sequence[Pose], path: Sequence[Pose]) -> float:
    """For not moving, and for not rotating, where the true path does."""
    penalty = 0.7 if near.goal_distance_m > 0.1 and near.distance_m < 0.03 else 1.0
    wanted, made = (sum(rotation_between_rad(a, b) for a, b in pairwise(poses)) for poses in (truth, path))
    return penalty * 0.5 if wanted > radians(5) and not made > radians(2) else penalty


def _distance_ratio(near: PoseScore) -> float:
    """Reported by the reference, not used."""
    if not near.goal_distance_m > 1e-6:
        return float(near.distance_m < 1e-6)
    excess = near.distance_m / near.goal_distance_m - 1.0
    return exp(-15.0 * (excess * excess))
