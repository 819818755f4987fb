"""A whole path as plans, one for each segment, in one unit."""

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
    counted,
    draw_unit,
)  # fmt: skip
from action_mapping.plan import CAP, ZOOM_STEP, Action, Plan, PlanError
from action_mapping.primitives import ROTATIONS, STAY, TRANSLATIONS, Component
from action_mapping.reading import camera_motion
from action_mapping.replay import Residual, replay, residuals
from action_mapping.rigid import checked_poses
from action_mapping.segments import Segment

DRIFT_STEPS = 2.0
"""A component in which a segment itself does not move is left alone until rounding has added up to this many steps."""


@dataclass(frozen=True, kw_only=True)
class PlannedSegment:
    """A segment, or a part of one that was too long for the cap, and its plan."""

    segment: Segment
    """The segment; its primitives name the rates."""
    first: int
    """Pose that the plan starts at."""
    last: int
    """Pose that the plan leads to."""
    plan: Plan
    """From where the replay of all plans before it ended, so that rounding does not add up, and named by what the
    segment itself does."""
    residual: Residual
    """How far the replay of all plans up to this one ends from pose `last`."""


def path_plan(
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    segments: Sequence[Segment],
    *,
    rng: np.random.Generator,
    cap: int = CAP,
    position_sigma: float = 0.0,
    rotation_sigma_rad: float = 0.0,
    focal_px: Float64[np.ndarray, "n"] | None = None,
) -> list[PlannedSegment]:
    """Plans that together replay the path from its first pose, each of its six amounts within two steps (or 3.5 σ).

    One unit of length and one of angle for the path, drawn so that the median segment takes 3..10 steps (3..`cap` if
    that is fewer). A segment that needs more than `cap` is split; a gap is bridged by one plan of any size. Raises
    PlanError where even a single step between poses needs more.
    """
    rotation_step_rad, translation_step = _units(world_from_cam, segments, rng, cap)
    floors = {name: NOISE_SIGMAS * math.sqrt(2.0) * position_sigma for name in TRANSLATIONS}
    floors |= {name: NOISE_SIGMAS * math.sqrt(2.0) * rotation_sigma_rad for name in ROTATIONS}
    parts: list[tuple[Segment, int, int, Plan]] = []
    poses = [world_from_cam[segments[0].first]]
    todo = [(segment, segment.first, segment.last) for segment in reversed(segments)]
    while todo:
        segment, first, last = todo.pop()
        plan = _plan(poses[-1], world_from_cam[[first, last]], floors, translation_step, rotation_step_rad)
        is_gap = not segment.primitives
        if plan is None or (not is_gap and max(action.steps for action in plan.actions) > cap):
            if last - first == 1:
                raise PlanError(f"from pose {first} to {last} is more than {cap} steps; raise the cap")
            middle = (first + last) // 2
            todo += [(segment, middle, last), (segment, first, middle)]
            continue
        poses.append(replay(poses[-1], plan))
        parts.append((segment, first, last, _with_zoom(plan, segment, first, last, focal_px)))
    off = residuals(world_from_cam[[last for _, _, last, _ in parts]], np.stack(poses[1:]))
    return [
        PlannedSegment(segment=segment, first=first, last=last, plan=plan, residual=residual)
        for (segment, first, last, plan), residual in zip(parts, off, strict=True)
    ]


def _with_zoom(plan: Plan, segment: Segment, first: int, last: int, focal_px: Float64[np.ndarray, "n"] | None) -> Plan:
    """The zoom of a segment beside its motion, in steps of 10 %."""
    zooms = [primitive for primitive in segment.primitives if primitive.component == "zoom"]
    if focal_px is None or not zooms:
        return plan
    steps = round(abs(math.log(focal_px[last] / focal_px[first])) / ZOOM_STEP)
    moves = tuple(action for action in plan.actions if action.primitive != STAY)
    return replace(plan, actions=(*moves, Action(primitive=zooms[0], steps=steps)))


def _units(
    world_from_cam: Float64[np.ndarray, "n 4 4"], segments: Sequence[Segment], rng: np.random.Generator, cap: int
) -> list[float]:
    """One step of angle and one of length: from the median of what segments need, and never so small that
    one step between neighbouring poses is more than the cap."""
    checked_poses(world_from_cam)
    first, last = (np.array([getattr(segment, end) for segment in segments]) for end in ("first", "last"))
    needs = np.abs(camera_motion(world_from_cam[first], world_from_cam[last]))
    moves = np.abs(camera_motion(world_from_cam[:-1], world_from_cam[1:]))
    moves = np.delete(moves, [segment.first for segment in segments if not segment.primitives], axis=0)
    units = []
    for columns, choices in ((slice(0, 3), ROUND_RADIANS), (slice(3, 6), ROUND_METRES)):
        need = needs[:, columns].max(axis=1)
        least = moves[:, columns].max(initial=0.0) / (cap - 1)  # one step is left for the rounding of plans before
        fitting = tuple(unit for unit in choices if unit >= least)
        if not fitting:
            raise PlanError(f"a single step between poses is {moves[:, columns].max():g}, beyond any round unit")
        needed = need[need > LEAST_STEPS * fitting[0]]
        median = float(np.median(needed)) if len(needed) else 0.0
        units.append(draw_unit(median, fitting, rng, cap=min(cap, CAP)))
    return units


def _plan(
    here: Float64[np.ndarray, "4 4"],
    true: Float64[np.ndarray, "2 4 4"],
    floors: dict[Component, float],
    translation_step: float,
    rotation_step_rad: float,
) -> Plan | None:
    """From the replayed pose to the true last one, by what the true motion is made of. None where it tilts too far."""
    try:
        own, needed = amounts_of(np.linalg.solve(true[0], true[1])), amounts_of(np.linalg.solve(here, true[1]))
    except PlanError:
        return None
    kept = {}
    for name, amount in needed.items():
        step = rotation_step_rad if name in ROTATIONS else translation_step
        belongs = abs(own[name]) > max(0.5 * step, floors[name])
        if belongs or abs(amount) > max(DRIFT_STEPS * step, floors[name]):
            kept[name] = amount
    return counted(kept, translation_step, rotation_step_rad)
