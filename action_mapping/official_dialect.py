"""Replay of a plan as the benchmark's published scorer does it, to reproduce its scores.

The scorer differs from camera geometry (docs/motion.md): it translates along the world's axes whatever the camera's
heading, and rotates about the world's axes in another order: pan about z, tilt about y, roll about x.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.plan import PlanError
from action_mapping.primitives import COMPONENTS, PRIMITIVES, Component

TRANSLATION_STEP_M = 0.02
"""The scorer's default step."""
ROTATION_STEP_RAD = math.radians(0.5)
"""The scorer's default step."""

_SYMBOLS = {p.symbol: p for p in PRIMITIVES if p.component in COMPONENTS}


def official_replay(
    world_from_a: Float64[np.ndarray, "4 4"],
    actions: Sequence[object],
    step_nums: Sequence[object],
    *,
    translation_step: float = TRANSLATION_STEP_M,
    rotation_step_rad: float = ROTATION_STEP_RAD,
) -> Float64[np.ndarray, "4 4"]:
    """The pose after one segment, by the scorer's rules: unknown keys are skipped, a missing count is 1, and counts may
    be negative, fractional and of any size. Raises PlanError for counts that are not finite numbers."""
    amounts: dict[Component, float] = dict.fromkeys(COMPONENTS, 0.0)
    for place, key in enumerate(actions):
        primitive = _SYMBOLS.get(key) if isinstance(key, str) else None
        if primitive is None or primitive.component is None:
            continue
        steps = step_nums[place] if place < len(step_nums) else 1
        if not isinstance(steps, int | float) or not math.isfinite(steps):
            raise PlanError(f"step_nums must be finite numbers, not {steps!r}")
        step = rotation_step_rad if primitive.unit == "rad" else translation_step
        amounts[primitive.component] += primitive.sign * steps * step
    return official_step(world_from_a, amounts)


def official_step(
    world_from_a: Float64[np.ndarray, "4 4"], amounts: Mapping[Component, float]
) -> Float64[np.ndarray, "4 4"]:
    """The pose after signed amounts (rad, path units), as the scorer applies them."""
    start = RigidTransform.from_matrix(world_from_a)
    translation = np.array([amounts["truck"], amounts["pedestal"], amounts["dolly"]])
    rotation = Rotation.from_euler("zyx", [amounts["pan_rad"], amounts["tilt_rad"], amounts["roll_rad"]])
    return RigidTransform.from_components(start.translation + translation, rotation * start.rotation).as_matrix()
