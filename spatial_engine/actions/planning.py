"""The plan of a camera path: its motion, named and counted in whole steps."""

import warnings
from collections import Counter
from itertools import pairwise

import numpy as np
from jaxtyping import Float64

from action_mapping import PathWarning, PlanError, PoseError, Segment, SegmentSettings, motion_segments, path_plan
from action_mapping.dead_zones import smoothing_residual
from action_mapping.primitives import ROTATIONS, STAY, TRANSLATIONS, Component
from action_mapping.reading import camera_motion
from spatial_engine.actions.plan import ActionPlan, ActionSegment, in_parts
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories import Trajectory

RELATIVE_EXTENT = 100.0
"""Relative paths are scaled to this distance from the first pose to the farthest: the plan does not depend on the
file's unit, and one step is a percentage."""
MANY_SEGMENTS, MANY_SEGMENTS_S = 100, 1.0
"""From this many segments on, shorter than this on average, a note says why they are many."""


def plan_actions(
    trajectory: Trajectory,
    *,
    up_world: Float64[np.ndarray, "3"] | None,
    max_steps: int,
    rng: np.random.Generator,
    min_duration_s: float | None = None,
) -> ActionPlan:
    """Name the motion of a path, and count it in steps.

    Args:
        trajectory: the path.
        up_world: up direction in world axes; None: no motion is named in levelled axes.
        max_steps: largest number of steps of one action.
        rng: draws the size of a step.
        min_duration_s: shortest motion or pause that has a name; None: that of `SegmentSettings`.

    Raises:
        UsageError: invalid poses, or neighbouring poses between which the motion takes more than `max_steps`.
    """
    settings = SegmentSettings() if min_duration_s is None else SegmentSettings(min_duration_s=min_duration_s)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PathWarning)
            motions = motion_segments(
                trajectory.world_from_cam, trajectory.times_s, scale=trajectory.scale,
                up_world=up_world, focal_px=trajectory.focal_px, settings=settings,
            )  # fmt: skip
        if trajectory.axes == "body":
            segments = _unnamed(trajectory, motions)
        else:
            segments = _planned(trajectory, motions, max_steps, rng)
    except PlanError as error:
        raise UsageError(str(error), f"raise --max-steps (now {max_steps}), or check the unit of positions") from error
    except PoseError as error:
        raise UsageError(str(error), "correct the poses, or --up") from error
    note = None if trajectory.axes == "body" else _many_segments(trajectory, motions, segments, settings, max_steps)
    return ActionPlan(
        scale=trajectory.scale,
        axes=trajectory.axes,
        segments=tuple(segments),
        warnings=tuple(str(warning.message) for warning in caught),
        notes=(note,) if note else (),
    )


def _planned(
    trajectory: Trajectory, motions: list[Segment], max_steps: int, rng: np.random.Generator
) -> list[ActionSegment]:
    poses = _plannable(trajectory, motions)
    steps = camera_motion(poses[:-1], poses[1:])
    planned = path_plan(
        poses, motions, rng=rng, max_steps=max_steps, focal_px=trajectory.focal_px,
        position_sigma=0.0 if _names_any(motions, TRANSLATIONS) else smoothing_residual(steps[:, 3:]),
        rotation_sigma_rad=0.0 if _names_any(motions, ROTATIONS) else smoothing_residual(steps[:, :3]),
    )  # fmt: skip
    return [
        ActionSegment(
            first=part.first,
            last=part.last,
            t0_s=_time_s(trajectory, part.first),
            t1_s=_time_s(trajectory, part.last),
            plan=in_parts(part.plan, max_steps),
            levelled=_names(part.segment),
            residual=part.residual,
            is_gap=not part.segment.primitives,
        )
        for part in planned
    ]


def _many_segments(
    trajectory: Trajectory,
    motions: list[Segment],
    segments: list[ActionSegment],
    settings: SegmentSettings,
    max_steps: int,
) -> str | None:
    """Why there are so many segments, and how to get fewer; None where they are few or long."""
    length_s = float(trajectory.times_s[-1] - trajectory.times_s[0])
    if len(segments) < MANY_SEGMENTS or length_s > MANY_SEGMENTS_S * len(segments):
        return None
    unit = "s" if trajectory.is_timed else "poses"
    changed: Counter[str] = Counter()
    for before, after in pairwise(motions):
        changed.update({str(one.component).removesuffix("_rad") for one in {*before.primitives} ^ {*after.primitives}})
    del changed["None"]  # Stay
    often = ", ".join(f"{name} {count}" for name, count in changed.most_common(2))
    return (
        f"{len(segments)} segments in {length_s:.4g} {unit}, {length_s / len(segments):.2g} {unit} each: the motion "
        f"changes its name {len(motions) - 1} times ({often}), and {len(segments) - len(motions)} further cuts keep "
        f"actions at {max_steps} steps. For fewer segments, raise --min-duration (now {settings.min_duration_s:g} "
        f"{unit}), which ignores shorter motions, or --max-steps (now {max_steps})"
    )


def _plannable(trajectory: Trajectory, segments: list[Segment]) -> Float64[np.ndarray, "n 4 4"]:
    """The poses to plan: a path of unknown scale is scaled to RELATIVE_EXTENT, or to 0 if no segment translates."""
    poses = trajectory.world_from_cam.copy()
    if trajectory.scale == "relative":
        xyz = poses[:, :3, 3] - poses[0, :3, 3]
        extent = float(np.linalg.norm(xyz, axis=1).max())
        poses[:, :3, 3] = xyz * (RELATIVE_EXTENT / extent if _names_any(segments, TRANSLATIONS) and extent > 0 else 0.0)
    return poses


def _names_any(segments: list[Segment], family: tuple[Component, ...]) -> bool:
    """Whether any segment has a motion of that family; otherwise what is left of it is noise."""
    return any(primitive.component in family for part in segments for primitive in part.primitives)


def _unnamed(trajectory: Trajectory, segments: list[Segment]) -> list[ActionSegment]:
    """Rest, motion and gaps of a body. Its axes are not camera axes, so only Stay can be named."""
    key = [(part.primitives == (STAY,), not part.primitives) for part in segments]
    starts = [row for row in range(len(segments)) if row == 0 or key[row] != key[row - 1] or key[row][1]]
    ends = [*(row - 1 for row in starts[1:]), len(segments) - 1]
    return [
        ActionSegment(
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
