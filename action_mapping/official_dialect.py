"""What the benchmark's published scorer makes of a plan, reproduced to reproduce its numbers.

It departs from geometry (docs/motion.md shows how): translations run along the world's axes whatever the camera's
heading, and turns are about the world's axes, permuted: pan about z, tilt about y, roll about x.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.plan import PlanError
from action_mapping.primitives import COMPONENTS, PRIMITIVES, Component

TRANSLATION_STEP_M = 0.02
"""Its step where a question gives none."""
ROTATION_STEP_RAD = math.radians(0.5)
"""Likewise."""

_SYMBOLS = {p.symbol: p for p in PRIMITIVES if p.component in COMPONENTS}


def official_replay(
    world_from_a: Float64[np.ndarray, "4 4"],
    actions: Sequence[object],
    step_nums: Sequence[object],
    *,
    translation_step: float = TRANSLATION_STEP_M,
    rotation_step_rad: float = ROTATION_STEP_RAD,
) -> Float64[np.ndarray, "4 4"]:
    """The pose after one segment, read as the scorer reads it: unknown keys are skipped, a missing count is 1,
    counts may be negative, fractional and of any size. Raises PlanError on counts that are no finite numbers."""
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
    """The scorer's motion by signed amounts (rad, path units)."""
    start = RigidTransform.from_matrix(world_from_a)
    way = np.array([amounts["truck"], amounts["pedestal"], amounts["dolly"]])
    turn = Rotation.from_euler("zyx", [amounts["pan_rad"], amounts["tilt_rad"], amounts["roll_rad"]])
    return RigidTransform.from_components(start.translation + way, turn * start.rotation).as_matrix()
