"""The plan that leads from one pose to another: exact amounts, a round unit, whole steps."""

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.plan import CAP, Action, Plan, PlanError
from action_mapping.primitives import CAMERA_AXIS, COMPONENTS, ROTATIONS, STAY, TRANSLATIONS, Component, primitive_of
from action_mapping.rigid import checked_poses

MAX_TILT_RAD = math.radians(85.0)
"""Beyond it pan and roll turn about nearly the same axis, and a plan is not unique."""
FEWEST_STEPS = 3
"""Of the largest action: with fewer, half a step of rounding is a large part of the answer."""
LEAST_STEPS = 2.5
"""Amounts below this many of the smallest unit are none: rounding would be half of them."""
NOISE_SIGMAS = 3.5
"""Amounts below this many σ are none: under 1 in 300 plans names one that is noise."""

MAX_FRACTION = 100
"""On relative paths one step is at least this fraction of the distance to the marked point."""

ROUND_METRES = tuple(digit * 10.0**power for power in range(-4, 4) for digit in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))
"""Units to choose from, close enough together that any count can be hit."""
ROUND_RADIANS = tuple(
    math.radians(degrees)
    for degrees in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45)
)


def pair_amounts(
    world_from_a: Float64[np.ndarray, "4 4"], world_from_b: Float64[np.ndarray, "4 4"]
) -> dict[Component, float]:
    """Exact signed amounts of the plan from A to B. Raises PlanError where tilt lies within 5° of ±90°."""
    checked_poses(np.stack([world_from_a, world_from_b]))
    return amounts_of(np.linalg.solve(world_from_a, world_from_b))


def amounts_of(a_from_b: Float64[np.ndarray, "4 4"]) -> dict[Component, float]:
    """The amounts of a motion already known to be rigid."""
    tilt = math.asin(min(1.0, max(-1.0, -float(a_from_b[1, 2]))))
    if abs(tilt) > MAX_TILT_RAD:
        raise PlanError(
            f"tilt of {math.degrees(tilt):.1f}° is within 5° of straight up or down, where pan and roll cannot be "
            "told apart; choose a pose in between"
        )
    pan, tilt, roll = Rotation.from_matrix(a_from_b[:3, :3], assume_valid=True).as_euler("YXZ").tolist()
    x, y, z = a_from_b[:3, 3].tolist()
    return dict(zip(COMPONENTS, (pan, tilt, roll, x, y, z), strict=True))


def draw_unit(largest: float, choices: tuple[float, ...], rng: np.random.Generator, *, cap: int = CAP) -> float:
    """A round unit of which `largest` is a number of steps drawn evenly from 3..cap, or as near as a unit leads.

    `choices` ascend. Where `largest` is too small for any, the unit is drawn freely: nothing will be counted in it.
    Raises PlanError where even the largest unit leads to more than `cap` steps.
    """
    steps = int(rng.integers(min(FEWEST_STEPS, cap), cap + 1))
    if largest < LEAST_STEPS * choices[0]:
        return choices[len(choices) // 2]
    fitting = [unit for unit in choices if largest / unit < cap + 0.5]
    fitting = [unit for unit in fitting if largest / unit > FEWEST_STEPS - 0.5] or fitting
    if not fitting:
        raise PlanError(f"{largest:g} is more than {cap} steps of the largest unit, {choices[-1]:g}")
    return min(fitting, key=lambda unit: abs(largest / unit - steps))


def pair_plan(
    world_from_a: Float64[np.ndarray, "4 4"],
    world_from_b: Float64[np.ndarray, "4 4"],
    *,
    rng: np.random.Generator,
    cap: int = CAP,
    position_sigma: float = 0.0,
    rotation_sigma_rad: float = 0.0,
    distance_to_point: float | None = None,
) -> Plan:
    """Plan from A to B in round units drawn from `rng`, the largest count within 3..cap.

    Metric paths: steps in metres. Relative paths: give `distance_to_point`, from A to the marked point in path units,
    and one step is 1/k of it. σ are of B as seen from A, per axis; amounts below 3.5 of them are left out.
    Raises PoseError, PlanError.
    """
    amounts = pair_amounts(world_from_a, world_from_b)
    lengths = ROUND_METRES
    if distance_to_point is not None:
        if not (math.isfinite(distance_to_point) and distance_to_point > 0):
            raise PlanError(f"distance_to_point must be a positive, finite length, not {distance_to_point}")
        lengths = tuple(distance_to_point / k for k in range(MAX_FRACTION, 0, -1))
    steps = {}
    for family, choices, sigma in (
        (TRANSLATIONS, lengths, position_sigma),
        (ROTATIONS, ROUND_RADIANS, rotation_sigma_rad),
    ):
        floor = max(NOISE_SIGMAS * sigma, LEAST_STEPS * choices[0])
        for name in family:
            amounts[name] = amounts[name] if abs(amounts[name]) > floor else 0.0
        steps[family] = draw_unit(max(abs(amounts[name]) for name in family), choices, rng, cap=cap)
    plan = counted(amounts, steps[TRANSLATIONS], steps[ROTATIONS])
    if distance_to_point is None:
        return plan
    return replace(plan, point_fraction=round(distance_to_point / plan.translation_step))


def counted(amounts: dict[Component, float], translation_step: float, rotation_step_rad: float) -> Plan:
    """Amounts as whole steps, each rounded to the nearest; Stay where all round to none."""
    actions = []
    for name in (*TRANSLATIONS, *ROTATIONS):
        amount = amounts.get(name, 0.0)
        steps = round(abs(amount) / (rotation_step_rad if name in ROTATIONS else translation_step))
        if steps:
            actions.append(Action(primitive=primitive_of(name, amount), steps=steps))
    return Plan(
        actions=tuple(actions) or (Action(primitive=STAY, steps=0),),
        translation_step=translation_step,
        rotation_step_rad=rotation_step_rad,
    )


def other_plans(plan: Plan) -> list[Plan]:
    """Plans that differ from `plan` in the direction or the axis of one action: wrong in any scale."""
    others = []
    for place, action in enumerate(plan.actions):
        name = action.primitive.component
        if name not in CAMERA_AXIS:
            continue
        family = ROTATIONS if name in ROTATIONS else TRANSLATIONS
        taken = {other.primitive.component for other in plan.actions}
        changed = [primitive_of(name, -action.primitive.sign)]
        changed += [primitive_of(other, sign) for other in family if other not in taken for sign in (1, -1)]
        for primitive in changed:
            actions = (*plan.actions[:place], replace(action, primitive=primitive), *plan.actions[place + 1 :])
            others.append(replace(plan, actions=actions))
    return others
