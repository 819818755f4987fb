"""The plan of a camera path: its motion named, in whole steps."""

import warnings

import numpy as np
from jaxtyping import Float64

from action_mapping import PathWarning, PlanError, PoseError, Segment, motion_segments, path_plan
from action_mapping.dead_zones import smoothing_residual
from action_mapping.primitives import ROTATIONS, STAY, TRANSLATIONS, Component
from action_mapping.reading import camera_motion
from spatial_engine.actions.plan import ActionPlan, Stretch, in_parts
from spatial_engine.actions.text import tell
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories import Trajectory

RELATIVE_EXTENT = 100.0
"""Relative paths are made this long before a unit is drawn, so that the plan does not depend on the file's unit."""


def plan_actions(
    trajectory: Trajectory, *, up_world: Float64[np.ndarray, "3"] | None, cap: int, rng: np.random.Generator
) -> ActionPlan:
    """The plan of a path. Raises `UsageError` where it has none; gaps and doubtful speeds are told."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PathWarning)
            segments = motion_segments(
                trajectory.world_from_cam, trajectory.times_s, scale=trajectory.scale,
                up_world=up_world, focal_px=trajectory.focal_px,
            )  # fmt: skip
        for warning in caught:
            tell("warning", str(warning.message))
        if trajectory.axes == "body":
            stretches = _unnamed(trajectory, segments)
        else:
            stretches = _planned(trajectory, segments, cap, rng)
    except PlanError as error:
        raise UsageError(str(error), f"raise --cap (now {cap}), or check the unit of positions") from error
    except PoseError as error:
        raise UsageError(str(error), "correct the poses, or --up") from error
    return ActionPlan(scale=trajectory.scale, axes=trajectory.axes, stretches=tuple(stretches))


def _planned(trajectory: Trajectory, segments: list[Segment], cap: int, rng: np.random.Generator) -> list[Stretch]:
    poses = _plannable(trajectory, segments)
    steps = camera_motion(poses[:-1], poses[1:])
    planned = path_plan(
        poses, segments, rng=rng, cap=cap, focal_px=trajectory.focal_px,
        position_sigma=0.0 if _names_any(segments, TRANSLATIONS) else smoothing_residual(steps[:, 3:]),
        rotation_sigma_rad=0.0 if _names_any(segments, ROTATIONS) else smoothing_residual(steps[:, :3]),
    )  # fmt: skip
    return [
        Stretch(
            first=part.first,
            last=part.last,
            t0_s=_time_s(trajectory, part.first),
            t1_s=_time_s(trajectory, part.last),
            plan=in_parts(part.plan, cap),
            levelled=_names(part.segment),
            residual=part.residual,
            is_gap=not part.segment.primitives,
        )
        for part in planned
    ]


def _plannable(trajectory: Trajectory, segments: list[Segment]) -> Float64[np.ndarray, "n 4 4"]:
    """The poses that plans are made of: on relative paths, without translation where none was decided."""
    poses = trajectory.world_from_cam.copy()
    if trajectory.scale == "relative":
        way = poses[:, :3, 3] - poses[0, :3, 3]
        extent = float(np.linalg.norm(way, axis=1).max())
        poses[:, :3, 3] = way * (RELATIVE_EXTENT / extent if _names_any(segments, TRANSLATIONS) and extent > 0 else 0.0)
    return poses


def _names_any(segments: list[Segment], family: tuple[Component, ...]) -> bool:
    """Whether the path moves so at all. What no segment names is noise, or too slow to have a name."""
    return any(primitive.component in family for part in segments for primitive in part.primitives)


def _unnamed(trajectory: Trajectory, segments: list[Segment]) -> list[Stretch]:
    """Rest and motion of a body: its axes are no camera's, so that only Stay has a name."""
    key = [(part.primitives == (STAY,), not part.primitives) for part in segments]
    starts = [row for row in range(len(segments)) if row == 0 or key[row] != key[row - 1] or key[row][1]]
    ends = [*(row - 1 for row in starts[1:]), len(segments) - 1]
    return [
        Stretch(
            first=segments[start].first,
            last=segments[end].last,
            t0_s=_time_s(trajectory, segments[start].first),
            t1_s=_time_s(trajectory, segments[end].last),
            is_still=key[start][0],
            is_gap=key[start][1],
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def _time_s(trajectory: Trajectory, pose: int) -> float | None:
    return float(trajectory.times_s[pose]) if trajectory.is_timed else None


def _names(segment: Segment) -> tuple[str, ...] | None:
    return None if segment.levelled is None else tuple(primitive.name for primitive in segment.levelled)
