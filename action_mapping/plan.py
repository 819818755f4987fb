"""A plan: a number of steps of each primitive, and the size of one step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from action_mapping.primitives import COMPONENTS, ROTATIONS, Component, Primitive, primitive

MAX_STEPS = 10
"""Most steps of one action in the published benchmark."""

ZOOM_STEP = math.log(1.1)
"""One step of zoom: the focal length changes by a factor of 1.1."""


class PlanError(ValueError):
    """A plan that cannot be made or replayed."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """Some steps of one primitive."""

    primitive: Primitive
    steps: int
    """Number of steps, at least 0; the opposite primitive moves back. 0 for Stay and for primitives without steps."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Actions from one pose to another: translations along the axes of the start, then pan, tilt and roll about the
    camera's axes, world_from_b = world_from_a · T(x, y, z) · Ry(pan) · Rx(tilt) · Rz(roll). The order of the actions
    does not matter."""

    actions: tuple[Action, ...]
    translation_step: float
    """Length of one step in path units: metres on metric paths."""
    rotation_step_rad: float
    """Angle of one step."""
    point_fraction: int | None = None
    """k, if one step is 1/k of the distance from the start to a marked point (paths of unknown scale)."""

    def amounts(self) -> dict[Component, float]:
        """Signed change of each of the six components (rad, path units)."""
        total: dict[Component, float] = dict.fromkeys(COMPONENTS, 0.0)
        for action in self.actions:
            name = action.primitive.component
            if name in COMPONENTS:
                step = self.rotation_step_rad if name in ROTATIONS else self.translation_step
                total[name] += action.primitive.sign * action.steps * step
        return total


def read_plan(
    actions: Sequence[object],
    step_nums: Sequence[object],
    *,
    translation_step: float,
    rotation_step_rad: float,
    max_steps: int = MAX_STEPS,
) -> Plan:
    """Parse a plan: names or keys of any published dialect, and as many whole numbers from 0 to `max_steps`.

    Raises PlanError for lists of unequal length, for counts that are not whole numbers in that range, and for step
    sizes that are not positive; UnknownPrimitiveError for unknown actions. Nothing is repaired.
    """
    for step, what in ((translation_step, "translation_step"), (rotation_step_rad, "rotation_step_rad")):
        if not (math.isfinite(step) and step > 0):
            raise PlanError(f"{what} must be a positive, finite number, not {step}")
    if len(actions) != len(step_nums):
        raise PlanError(f"{len(actions)} actions need as many step_nums, not {len(step_nums)}")
    return Plan(
        actions=tuple(
            Action(primitive=_primitive(key), steps=_steps(number, max_steps))
            for key, number in zip(actions, step_nums, strict=True)
        ),
        translation_step=translation_step,
        rotation_step_rad=rotation_step_rad,
    )


def _primitive(key: object) -> Primitive:
    if not isinstance(key, str):
        raise PlanError(f"an action must be a name or a key, not {key!r}")
    return primitive(key)


def _steps(number: object, max_steps: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= max_steps or number % 1:
        raise PlanError(f"step_nums must be whole numbers from 0 to {max_steps}, not {number!r}")
    return int(number)
