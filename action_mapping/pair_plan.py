"""The plan from one pose to another: exact amounts, round step sizes, whole steps."""

import math
from dataclasses import replace

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from action_mapping.plan import MAX_STEPS, Action, Plan, PlanError
from action_mapping.primitives import CAMERA_AXIS, COMPONENTS, ROTATIONS, STAY, TRANSLATIONS, Component, primitive_of
from action_mapping.rigid import checked_poses, known_poses

MAX_TILT_RAD = math.radians(85.0)
"""At steeper tilt, pan and roll have nearly the same axis, and a plan is not unique."""
FEWEST_STEPS = 3
"""Fewest steps of the largest action: with fewer, rounding is a large part of the answer."""
LEAST_STEPS = 2.5
"""Amounts below this many of the smallest step are ignored, since rounding would be a large part of them."""
NOISE_SIGMAS = 3.5
"""Amounts below this many σ are ignored: fewer than 1 in 300 plans contain an action that is noise."""

MAX_FRACTION = 100
"""On paths of unknown scale, one step is at least 1/MAX_FRACTION of the distance to the marked point."""

ROUND_METRES = tuple(digit * 10.0**power for power in range(-4, 4) for digit in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8))
"""Lengths of a step, so closely spaced that any number of steps can be reached."""
ROUND_RADIANS = tuple(
    math.radians(degrees)
    for degrees in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45)
)


def pair_amounts(
    world_from_a: Float64[np.ndarray, "n 4 4"], world_from_b: Float64[np.ndarray, "n 4 4"]
) -> Float64[np.ndarray, "n 6"]:
    """Exact signed amounts of the plans from A to B, columns as COMPONENTS, in rad and path units.

    Rows are NaN where a pose is not known (NaN) and where tilt is within 5° of ±90°. Raises PoseError for other invalid
    poses.
    """
    known = known_poses(world_from_a) & known_poses(world_from_b)
    amounts = np.full((len(known), len(COMPONENTS)), np.nan)
    amounts[known] = amounts_of(np.linalg.solve(world_from_a[known], world_from_b[known]))
    return amounts


def amounts_of(a_from_b: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n 6"]:
    """Exact signed amounts of rigid motions, columns as COMPONENTS. Rows are NaN where tilt is within 5° of ±90°."""
    is_unique = np.abs(_tilt_rad(a_from_b)) <= MAX_TILT_RAD
    amounts = np.full((len(a_from_b), len(COMPONENTS)), np.nan)
    angles = Rotation.from_matrix(a_from_b[is_unique, :3, :3], assume_valid=True).as_euler("YXZ")
    amounts[is_unique] = np.concatenate([angles, a_from_b[is_unique, :3, 3]], axis=1)
    return amounts


def checked_amounts(a_from_b: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n 6"]:
    """As `amounts_of`. Raises PlanError for the first tilt within 5° of ±90°."""
    amounts = amounts_of(a_from_b)
    steep = np.isnan(amounts).any(axis=1)
    if steep.any():
        tilt = math.degrees(_tilt_rad(a_from_b)[steep][0])
        raise PlanError(
            f"tilt of {tilt:.1f}° is within 5° of straight up or down, where pan and roll are ambiguous; "
            "choose a pose in between"
        )
    return amounts


def _tilt_rad(a_from_b: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n"]:
    return np.arcsin(np.clip(-a_from_b[:, 1, 2], -1.0, 1.0))


def draw_step_size(
    largest: float, choices: tuple[float, ...], rng: np.random.Generator, *, max_steps: int = MAX_STEPS
) -> float:
    """A round step size with which `largest` takes about as many steps as are drawn uniformly from 3..max_steps.

    `choices`: step sizes, ascending; their middle if `largest` is too small for any. Raises PlanError if `largest` is
    more than `max_steps` of the largest.
    """
    steps = int(rng.integers(min(FEWEST_STEPS, max_steps), max_steps + 1))
    if largest < LEAST_STEPS * choices[0]:
        return choices[len(choices) // 2]
    fitting = [size for size in choices if largest / size < max_steps + 0.5]
    fitting = [size for size in fitting if largest / size > FEWEST_STEPS - 0.5] or fitting
    if not fitting:
        raise PlanError(f"{largest:g} is more than {max_steps} steps of the largest size, {choices[-1]:g}")
    return min(fitting, key=lambda size: abs(largest / size - steps))


def pair_plan(
    world_from_a: Float64[np.ndarray, "4 4"],
    world_from_b: Float64[np.ndarray, "4 4"],
    *,
    rng: np.random.Generator,
    max_steps: int = MAX_STEPS,
    position_sigma: float = 0.0,
    rotation_sigma_rad: float = 0.0,
    distance_to_point: float | None = None,
) -> Plan:
    """The plan from A to B with round step sizes, which `rng` draws so that the largest count is within 3..max_steps.

    On metric paths a step is a length in metres. On paths of unknown scale, `distance_to_point` is the distance from A
    to a marked point in path units, and one step is 1/k of it. σ are those of B relative to A, per axis; amounts below
    3.5 σ are ignored. Raises PoseError, PlanError.
    """
    checked_poses(np.stack([world_from_a, world_from_b]))
    (row,) = checked_amounts(np.linalg.solve(world_from_a, world_from_b)[None])
    amounts = dict(zip(COMPONENTS, row.tolist(), strict=True))
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
        steps[family] = draw_step_size(max(abs(amounts[name]) for name in family), choices, rng, max_steps=max_steps)
    plan = in_whole_steps(amounts, steps[TRANSLATIONS], steps[ROTATIONS])
    if distance_to_point is None:
        return plan
    return replace(plan, point_fraction=round(distance_to_point / plan.translation_step))


def in_whole_steps(amounts: dict[Component, float], translation_step: float, rotation_step_rad: float) -> Plan:
    """The plan of signed amounts, each rounded to the nearest whole number of steps; Stay if all round to 0."""
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
    """Wrong alternatives to `plan`: each differs in the direction or the axis of one action."""
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
