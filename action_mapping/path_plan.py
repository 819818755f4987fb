"""Plans of a whole path: one for each segment, all with the same step sizes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from action_mapping.pair_plan import (
    LEAST_STEPS,
    NOISE_SIGMAS,
    ROUND_METRES,
    ROUND_RADIANS,
    amounts_of,
    draw_step_size,
    in_whole_steps,
)  # fmt: skip
from action_mapping.plan import MAX_STEPS, ZOOM_STEP, Action, Plan, PlanError
from action_mapping.primitives import COMPONENTS, STAY
from action_mapping.reading import camera_motion
from action_mapping.replay import Residual, replay, residuals
from action_mapping.rigid import checked_poses
from action_mapping.segments import Segment

DRIFT_STEPS = 2.0
"""A component that does not move in a segment is corrected only after rounding has accumulated this many steps."""


@dataclass(frozen=True, kw_only=True)
class PlannedSegment:
    """A segment and its plan, or a part of a segment that needs too many steps for one plan."""

    segment: Segment
    """The segment, with the names of its motion."""
    first: int
    """Pose that the plan starts at."""
    last: int
    """Pose that the plan leads to."""
    plan: Plan
    """The plan, from the pose where the replay of all earlier plans ends, so that rounding does not accumulate. It has
    the actions of which the segment's own motion consists."""
    residual: Residual
    """Error of the replay of all plans up to this one, against pose `last`."""


def path_plan(
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    segments: Sequence[Segment],
    *,
    rng: np.random.Generator,
    max_steps: int = MAX_STEPS,
    position_sigma: float = 0.0,
    rotation_sigma_rad: float = 0.0,
    focal_px: Float64[np.ndarray, "n"] | None = None,
) -> list[PlannedSegment]:
    """Plans that together replay the path from its first pose, with an error of at most two steps (or 3.5 σ) in each of
    the six components.

    The path has one step length and one step angle, drawn so that the median segment takes 3..10 steps (3..max_steps
    if that is fewer). A segment that needs more than `max_steps` is split; a gap is bridged by one plan of any size.
    Raises PlanError if the motion between two neighbouring poses needs more than `max_steps`.
    """
    rotation_step_rad, translation_step = _step_sizes(world_from_cam, segments, rng, max_steps)
    floors = NOISE_SIGMAS * math.sqrt(2.0) * np.repeat([float(rotation_sigma_rad), float(position_sigma)], 3)
    parts: list[tuple[Segment, int, int, Plan]] = []
    poses = [world_from_cam[segments[0].first]]
    todo = [(segment, segment.first, segment.last) for segment in reversed(segments)]
    while todo:
        segment, first, last = todo.pop()
        plan = _plan(poses[-1], world_from_cam[[first, last]], floors, translation_step, rotation_step_rad)
        is_gap = not segment.primitives
        if plan is None or (not is_gap and max(action.steps for action in plan.actions) > max_steps):
            if last - first == 1:
                raise PlanError(f"the motion from pose {first} to {last} takes more than {max_steps} steps")
            middle = (first + last) // 2
            todo += [(segment, middle, last), (segment, first, middle)]
            continue
        poses.append(replay(poses[-1], plan))
        parts.append((segment, first, last, _with_zoom(plan, segment, first, last, focal_px)))
    errors = residuals(world_from_cam[[last for _, _, last, _ in parts]], np.stack(poses[1:]))
    return [
        PlannedSegment(segment=segment, first=first, last=last, plan=plan, residual=residual)
        for (segment, first, last, plan), residual in zip(parts, errors, strict=True)
    ]


def _with_zoom(plan: Plan, segment: Segment, first: int, last: int, focal_px: Float64[np.ndarray, "n"] | None) -> Plan:
    """The plan with the zoom of its segment added, in steps of 10 %."""
    zooms = [primitive for primitive in segment.primitives if primitive.component == "zoom"]
    if focal_px is None or not zooms:
        return plan
    steps = round(abs(math.log(focal_px[last] / focal_px[first])) / ZOOM_STEP)
    moves = tuple(action for action in plan.actions if action.primitive != STAY)
    return replace(plan, actions=(*moves, Action(primitive=zooms[0], steps=steps)))


def _step_sizes(
    world_from_cam: Float64[np.ndarray, "n 4 4"], segments: Sequence[Segment], rng: np.random.Generator, max_steps: int
) -> list[float]:
    """Step angle and step length: fitted to the median segment, and large enough that the motion between any two
    neighbouring poses takes at most `max_steps`."""
    checked_poses(world_from_cam)
    first, last = (np.array([getattr(segment, end) for segment in segments]) for end in ("first", "last"))
    needs = np.abs(camera_motion(world_from_cam[first], world_from_cam[last]))
    moves = np.abs(camera_motion(world_from_cam[:-1], world_from_cam[1:]))
    moves = np.delete(moves, [segment.first for segment in segments if not segment.primitives], axis=0)
    sizes = []
    for columns, choices in ((slice(0, 3), ROUND_RADIANS), (slice(3, 6), ROUND_METRES)):
        need = needs[:, columns].max(axis=1)
        least = moves[:, columns].max(initial=0.0) / (
            max_steps - 1
        )  # one step is reserved for the rounding of earlier plans
        fitting = tuple(size for size in choices if size >= least)
        if not fitting:
            raise PlanError(f"the motion between two poses is {moves[:, columns].max():g}, too large for any step size")
        needed = need[need > LEAST_STEPS * fitting[0]]
        median = float(np.median(needed)) if len(needed) else 0.0
        sizes.append(draw_step_size(median, fitting, rng, max_steps=min(max_steps, MAX_STEPS)))
    return sizes


def _plan(
    replayed: Float64[np.ndarray, "4 4"],
    target: Float64[np.ndarray, "2 4 4"],
    floors: Float64[np.ndarray, "6"],
    translation_step: float,
    rotation_step_rad: float,
) -> Plan | None:
    """Plan from the replayed pose to the second target pose, of the actions that the motion between both targets has.

    None if the motion tilts too far for a plan.
    """
    motion, needed = amounts_of(np.linalg.solve(np.stack([target[0], replayed]), target[[1, 1]]))
    if np.isnan([motion, needed]).any():
        return None
    steps = np.repeat([rotation_step_rad, translation_step], 3)
    belongs = np.abs(motion) > np.maximum(0.5 * steps, floors)
    drifted = np.abs(needed) > np.maximum(DRIFT_STEPS * steps, floors)
    kept = np.where(belongs | drifted, needed, 0.0).tolist()
    return in_whole_steps(dict(zip(COMPONENTS, kept, strict=True)), translation_step, rotation_step_rad)
