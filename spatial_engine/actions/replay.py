"""A written plan followed, from a path's first pose or from the identity, and held against the path."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from action_mapping import Residual, replay_all, residuals
from spatial_engine.actions.plan import ActionPlan
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories import Trajectory
from templates.measured import Json


@dataclass(frozen=True, kw_only=True)
class Replayed:
    """Where a plan leads."""

    world_from_cam: Float64[np.ndarray, "n 4 4"]
    """The start, and the pose after each segment."""
    step: float
    """Length of a step of a relative plan, in path units, as it fits the path best; 1 for metric ones."""
    residuals: tuple[Residual, ...] | None
    """Distance from the path's pose after each segment, in path units; None without a path."""

    def as_json(self, *, is_metric: bool) -> dict[str, Json]:
        """The form that `--replay --json` prints."""
        off = self.residuals
        return {
            "world_from_cam": self.world_from_cam.tolist(),
            "residual_m": [part.translation for part in off] if off and is_metric else None,
            "residual_rad": [part.rotation_rad for part in off] if off else None,
        }


def replay_plan(plan: ActionPlan, trajectory: Trajectory | None) -> Replayed:
    """Follow a plan. Raises `UsageError` where it cannot belong to the path."""
    if trajectory is not None:
        _check_belongs(plan, trajectory)
    start = np.eye(4) if trajectory is None else trajectory.world_from_cam[plan.segments[0].first]
    poses = replay_all(start, [part.plan for part in plan.segments if part.plan])
    if trajectory is None:
        return Replayed(world_from_cam=poses, step=1.0, residuals=None)
    true = trajectory.world_from_cam[[plan.segments[0].first, *(part.last for part in plan.segments)]]
    step = 1.0
    if plan.scale == "relative":
        step = _fitted_step(poses[:, :3, 3] - start[:3, 3], true[:, :3, 3] - start[:3, 3])
        poses[:, :3, 3] = start[:3, 3] + step * (poses[:, :3, 3] - start[:3, 3])
    return Replayed(world_from_cam=poses, step=step, residuals=tuple(residuals(true[1:], poses[1:])))


def _check_belongs(plan: ActionPlan, trajectory: Trajectory) -> None:
    """Raises `UsageError` where a plan cannot be one of this path."""
    if trajectory.axes == "body":
        raise UsageError("a plan of a camera, and poses of a body", "give --cam-from-body FILE")
    if plan.scale == "metric" and trajectory.scale == "relative":
        raise UsageError(
            "a plan in metres, and a path of unknown scale", "say --scale metric if its lengths are metres"
        )
    count, last = len(trajectory.times_s), plan.segments[-1].last
    if last >= count:
        raise UsageError(f"the plan leads to pose {last}, and the path has {count} poses", "give the path of this plan")


def _fitted_step(planned: Float64[np.ndarray, "n 3"], true: Float64[np.ndarray, "n 3"]) -> float:
    """The one factor, not negative, that brings planned ways nearest to true ones."""
    size = float((planned**2).sum())
    return max(0.0, float((planned * true).sum()) / size) if size > 0 else 1.0
