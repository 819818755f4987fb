"""Replay of a plan, from a path's first pose or from the identity, and its error against the path."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from action_mapping import Residual, replay_all, residuals
from spatial_engine.actions.plan import ActionPlan
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories import Trajectory
from templates.columns import Json


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """The poses to which a plan leads."""

    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """The start, and the pose after each segment."""
    step: float
    """Step length of a plan of unknown scale, in path units, fitted to the path; 1 for metric plans."""
    residuals: tuple[Residual, ...] | None
    """Error against the path's pose after each segment, in path units; None without a path."""

    def as_json(self, *, is_metric: bool) -> dict[str, Json]:
        """The JSON value that `--replay --json` prints."""
        errors = self.residuals
        return {
            "world_from_cam": self.world_from_cam.tolist(),
            "residual_m": [part.translation for part in errors] if errors and is_metric else None,
            "residual_rad": [part.rotation_rad for part in errors] if errors else None,
        }


def replay_plan(plan: ActionPlan, trajectory: Trajectory | None) -> Replayed:
    """Replay a plan. Raises `UsageError` if it cannot be a plan of the path."""
    if trajectory is not None:
        _check_belongs(plan, trajectory)
    start = np.eye(4) if trajectory is None else trajectory.world_from_cam[plan.segments[0].first]
    poses = replay_all(start, [part.plan for part in plan.segments if part.plan])
    if trajectory is None:
        return Replayed(world_from_cam=poses, step=1.0, residuals=None)
    target = trajectory.world_from_cam[[plan.segments[0].first, *(part.last for part in plan.segments)]]
    step = 1.0
    if plan.scale == "relative":
        step = _fitted_step(poses[:, :3, 3] - start[:3, 3], target[:, :3, 3] - start[:3, 3])
        poses[:, :3, 3] = start[:3, 3] + step * (poses[:, :3, 3] - start[:3, 3])
    return Replayed(world_from_cam=poses, step=step, residuals=tuple(residuals(target[1:], poses[1:])))


def _check_belongs(plan: ActionPlan, trajectory: Trajectory) -> None:
    """Raises `UsageError` if the plan cannot be a plan of the path."""
    if trajectory.axes == "body":
        raise UsageError("the plan is of a camera, but the poses are of a body", "give --cam-from-body FILE")
    if plan.scale == "metric" and trajectory.scale == "relative":
        raise UsageError(
            "the plan is in metres, but the path has unknown scale",
            "give --scale metric if its positions are in metres",
        )
    count, last = len(trajectory.times_s), plan.segments[-1].last
    if last >= count:
        raise UsageError(f"the plan leads to pose {last}, but the path has {count} poses", "give the path of this plan")


def _fitted_step(planned: Float64[np.ndarray, "n 3"], target: Float64[np.ndarray, "n 3"]) -> float:
    """The scale factor, at least 0, that fits planned positions to target positions (least squares)."""
    size = float((planned**2).sum())
    return max(0.0, float((planned * target).sum()) / size) if size > 0 else 1.0
