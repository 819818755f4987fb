"""A plan: how many steps of which primitives, and what one step is."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from action_mapping.primitives import COMPONENTS, ROTATIONS, Component, Primitive, primitive

CAP = 10
"""Most steps of one action in the published benchmark."""


ZOOM_STEP = math.log(1.1)
"""One step of zoom: the focal length changes by a factor of 1.1."""


class PlanError(ValueError):
    """A plan that cannot be made or followed. The message says what was given and what is allowed."""


@dataclass(frozen=True, kw_only=True)
class Action:
    """Some steps of one primitive."""

    primitive: Primitive
    steps: int
    """How many; never negative (the opposite primitive goes back). 0 for Stay and where nothing is counted."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Actions from one pose to another. First translations along the start's axes, then pan, tilt, roll about the
    camera's own: world_from_b = world_from_a · T(x, y, z) · Ry(pan) · Rx(tilt) · Rz(roll). The order in which the
    actions are written does not matter."""

    actions: tuple[Action, ...]
    translation_step: float
    """Length of one step in path units: metres on metric paths."""
    rotation_step_rad: float
    """Angle of one step."""
    point_fraction: int | None = None
    """k where one step is 1/k of the distance from the start to the marked point (relative paths)."""

    def amounts(self) -> dict[Component, float]:
        """Signed amount of each of the six components (rad, path units) that the plan changes."""
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
    cap: int = CAP,
) -> Plan:
    """A plan as someone wrote it: names or keys of any dialect, and as many whole numbers from 0 to `cap`.

    Raises PlanError on unequal lengths, numbers that are not finite, whole and within the cap, and steps without
    length; UnknownPrimitiveError on unknown actions. Nothing is repaired.
    """
    for step, what in ((translation_step, "translation_step"), (rotation_step_rad, "rotation_step_rad")):
        if not (math.isfinite(step) and step > 0):
            raise PlanError(f"{what} must be a positive, finite number, not {step}")
    if len(actions) != len(step_nums):
        raise PlanError(f"{len(actions)} actions need as many step_nums, not {len(step_nums)}")
    return Plan(
        actions=tuple(
            Action(primitive=_primitive(key), steps=_steps(number, cap))
            for key, number in zip(actions, step_nums, strict=True)
        ),
        translation_step=translation_step,
        rotation_step_rad=rotation_step_rad,
    )


def _primitive(key: object) -> Primitive:
    if not isinstance(key, str):
        raise PlanError(f"an action is written as a name or a key, not {key!r}")
    return primitive(key)


def _steps(number: object, cap: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= cap or number % 1:
        raise PlanError(f"step_nums must be whole numbers from 0 to {cap}, not {number!r}")
    return int(number)
