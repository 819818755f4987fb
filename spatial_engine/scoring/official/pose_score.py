"""How close a plan ends to the goal, in direction, position and orientation (lmms-eval's spatialtreebench)."""

from dataclasses import dataclass
from math import degrees, exp, isnan
from typing import Any

from spatial_engine.scoring.official.steps import Pose, length, rotation_between_rad

_STILL_M = 1e-6
"""Displacements shorter than this have no direction."""
_POSITION_PER_M = 13.863
"""The reference's comment says that 0.2 m scores a half; it is 0.05 m."""
_ROTATION = 0.0154
"""Of (angle / 5°)²: 33.5° score a half."""


@dataclass(frozen=True, slots=True)
class PoseScore:
    """Terms from 0 to 1, and the errors behind them."""

    direction: float
    """Cosine between the displacement and that of the goal; 1 if both are zero, 0 if one is."""
    position: float
    rotation: float
    position_error_m: float
    rotation_error_deg: float
    goal_distance_m: float
    """Distance from the start to the goal."""
    distance_m: float
    """Distance from the start to the end of the plan."""

    @property
    def weighted(self) -> float:
        """0.4 direction, 0.35 position, 0.25 rotation. NaN where the position is."""
        return 0.4 * self.direction + 0.35 * self.position + 0.25 * self.rotation


def pose_score(start: Pose, end: Pose, goal: Pose) -> PoseScore:
    """Raises ValueError for a quaternion of length zero."""
    displacement = [b - a for a, b in zip(start[:3], end[:3], strict=True)]
    goal_displacement = [b - a for a, b in zip(start[:3], goal[:3], strict=True)]
    distance_m, goal_distance_m = length(displacement), length(goal_displacement)
    error_m = length([b - a for a, b in zip(goal[:3], end[:3], strict=True)])
    error_deg = degrees(rotation_between_rad(end, goal))
    return PoseScore(
        direction=_direction(
            sum(a * b for a, b in zip(displacement, goal_displacement, strict=True)), distance_m, goal_distance_m
        ),
        position=exp(-_POSITION_PER_M * error_m),
        rotation=exp(-_ROTATION * (error_deg / 5.0) ** 2),
        position_error_m=error_m,
        rotation_error_deg=error_deg,
        goal_distance_m=goal_distance_m,
        distance_m=distance_m,
    )


def clamped(score: float) -> float:
    """Into 0 to 1. NaN becomes 1, by the order of the reference's comparisons."""
    return max(0.0, min(1.0, score))


def refusal(raw: float, *, moved: bool, finite: bool) -> dict[str, Any]:
    """The `detail` of a score: why the plan scores 0 instead. Empty if nothing is wrong, or if the score is 0
    anyway."""
    if clamped(raw) == 0:
        return {}
    if not finite:
        return {"refused": "a step is not finite"}
    if not moved:
        return {"refused": "nothing was executed"}
    return {"refused": "the score is not a number"} if isnan(raw) else {}


def _direction(product: float, distance_m: float, goal_distance_m: float) -> float:
    """`product`: the scalar product of the two displacements."""
    if distance_m < _STILL_M and goal_distance_m < _STILL_M:
        return 1.0
    if not (distance_m > _STILL_M and goal_distance_m > _STILL_M):
        return 0.0
    return max(0.0, product / (distance_m * goal_distance_m))
