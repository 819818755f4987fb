"""A path as named motion in whole steps: the plan, its JSON, and plans read from JSON."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from action_mapping import Plan, PlanError, Residual, UnknownPrimitiveError, primitive, read_plan
from action_mapping.plan import Action
from action_mapping.primitives import COMPONENTS, STAY
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories.text_rows import read_text
from spatial_engine.sources.trajectories.trajectory import Axes, Scale
from templates.columns import Json

LONGEST = 1e9
"""Largest step size, in metres or radians."""

MOST_PARTS = 100
"""Most entries of one action over a gap; with more, the poses beyond the gap are another path."""

_REMEDY = "give a plan that spatial-engine actions PATH --json printed"


@dataclass(frozen=True, kw_only=True)
class ActionSegment:
    """A part of a path, and its plan."""

    first: int
    """Index of the pose at which it starts."""
    last: int
    """Index of the pose to which it leads, where the next segment starts."""
    t0_s: float | None = None
    """Time of the first pose; None if times are unknown."""
    t1_s: float | None = None
    """Time of the last pose."""
    plan: Plan | None = None
    """Steps from the first pose to the last; None where motion has no name (poses of a body)."""
    levelled: tuple[str, ...] | None = None
    """Names of the motion in levelled axes; None if unknown."""
    residual: Residual | None = None
    """Error of the replay of all plans so far, against pose `last`; None without a plan."""
    is_still: bool = False
    """Whether a body is at rest; poses of a body have no plan."""
    is_gap: bool = False
    """Whether the poses have a gap in time here: the plan joins both ends, and was not observed."""

    def words(self) -> str:
        """The actions in words: "Dolly In 3, Pan Left 2"."""
        if self.plan is None:
            return "gap" if self.is_gap else "Stay" if self.is_still else "moves"
        counts: Counter[str] = Counter()
        for action in self.plan.actions:
            counts[action.primitive.name] += action.steps
        steps = ", ".join(f"{name} {count}" if count else name for name, count in counts.items())
        return f"gap, joined by {steps}" if self.is_gap else steps


@dataclass(frozen=True, kw_only=True)
class ActionPlan:
    """The plans of a path."""

    scale: Scale
    axes: Axes
    """Axes of the poses in the file; actions are always named in OpenCV axes of the camera."""
    segments: tuple[ActionSegment, ...]
    """In order, without holes."""
    warnings: tuple[str, ...] = ()
    """What may be wrong with the path."""
    notes: tuple[str, ...] = ()
    """What the user should know about how the plan was made."""

    @property
    def unit(self) -> str:
        """Unit of translations: metres, or steps of unknown length."""
        return "m" if self.scale == "metric" else "step"

    def as_json(self) -> dict[str, Json]:
        """The JSON value that `--json` prints."""
        segments: list[Json] = [self._segment(segment) for segment in self.segments]
        return {"scale": self.scale, "axes": self.axes, "unit": self.unit, "segments": segments}

    def _segment(self, part: ActionSegment) -> dict[str, Json]:
        plan, is_metric = part.plan, self.scale == "metric"
        actions = plan.actions if plan else (Action(primitive=STAY, steps=0),) * part.is_still
        return {
            "first": part.first,
            "last": part.last,
            "t0_s": part.t0_s,
            "t1_s": part.t1_s,
            "actions": [action.primitive.name for action in actions],
            "symbols": [action.primitive.symbol for action in actions],
            "step_nums": [action.steps for action in actions],
            "levelled": None if part.levelled is None else list(part.levelled),
            "translation_step_m": plan.translation_step if plan and is_metric else None,
            "rotation_step_rad": plan.rotation_step_rad if plan else None,
            "residual_m": part.residual.translation if part.residual and is_metric else None,
            "residual_rad": part.residual.rotation_rad if part.residual else None,
        }


def in_parts(plan: Plan, max_steps: int) -> Plan:
    """The plan with larger counts split into several entries of at most `max_steps`. Raises PlanError."""
    most = max(action.steps for action in plan.actions)
    if most > MOST_PARTS * max_steps:
        raise PlanError(f"the gap takes {most} steps, too many for one path; split the file there into two paths")
    actions: list[Action] = []
    for action in plan.actions:
        whole, rest = divmod(action.steps, max_steps)
        counts = [max_steps] * whole + ([rest] if rest or not whole else [])
        actions += [replace(action, steps=count) for count in counts]
    return replace(plan, actions=tuple(actions))


def read_action_plan(path: Path, max_steps: int) -> ActionPlan:
    """Read a plan that `as_json` made; plans of unknown scale get steps of length 1.

    Raises `UsageError` for anything else. Nothing is repaired.
    """
    try:
        value = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", _REMEDY) from error
    rows = value.get("segments") if isinstance(value, dict) else None
    if not isinstance(rows, list) or not rows:
        raise UsageError(f"{path} has no segments", _REMEDY)
    if value.get("scale") not in ("metric", "relative"):
        raise UsageError(f"{path} has scale {value.get('scale')!r:.60}, not metric or relative", _REMEDY)
    if value.get("axes") not in ("opencv", "opengl"):
        raise UsageError(f"{path} has axes {value.get('axes')!r:.60}: not a plan of a camera", _REMEDY)
    segments: list[ActionSegment] = []
    for place, row in enumerate(rows):
        try:
            segments.append(_segment_of(row, value["scale"], segments[-1].last if segments else None, max_steps))
        except (PlanError, UnknownPrimitiveError) as error:
            remedy = f"correct it; --max-steps N allows more than {max_steps} steps"
            raise UsageError(f"{path}, segment {place}: {error}"[:400], remedy) from error
    return ActionPlan(scale=value["scale"], axes=value["axes"], segments=tuple(segments))


def _segment_of(row: object, scale: Scale, before: int | None, max_steps: int) -> ActionSegment:
    """One segment of JSON, checked. Raises PlanError, UnknownPrimitiveError."""
    if not isinstance(row, dict):
        raise PlanError("is not an object")
    first, last = row.get("first"), row.get("last")
    if type(first) is not int or type(last) is not int or not 0 <= first < last:
        raise PlanError(f"first and last must be pose numbers with first < last, not {first!r:.40} and {last!r:.40}")
    if before is not None and first != before:
        raise PlanError(f"starts at pose {first}, but the segment before ends at {before}")
    actions, symbols, steps = (_list(row, key) for key in ("actions", "symbols", "step_nums"))
    if not actions:
        raise PlanError("has no actions; poses of a body have none, give --cam-from-body FILE")
    plan = read_plan(
        actions,
        steps,
        translation_step=_length(row, "translation_step_m") if scale == "metric" else 1.0,
        rotation_step_rad=_length(row, "rotation_step_rad"),
        max_steps=max_steps,
    )
    _check_symbols(plan, symbols)
    return ActionSegment(first=first, last=last, plan=plan)


def _check_symbols(plan: Plan, symbols: Sequence[object]) -> None:
    """Raises PlanError unless all actions are a camera's and `symbols` are the symbols of these actions."""
    for action in plan.actions:
        if action.primitive.component not in (*COMPONENTS, "zoom", None):
            raise PlanError(f"{action.primitive.name} is not a camera motion")
    named = [primitive(symbol) if isinstance(symbol, str) else None for symbol in symbols]
    if named != [action.primitive for action in plan.actions]:
        raise PlanError("actions and symbols differ")


def _list(row: Mapping[str, Any], key: str) -> list[object]:
    value = row.get(key)
    if not isinstance(value, list):
        raise PlanError(f"{key} must be a list, not {value!r:.40}")
    return value


def _length(row: Mapping[str, Any], key: str) -> float:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST:
        raise PlanError(f"{key} must be a positive number, not {value!r:.40}")
    return float(value)
