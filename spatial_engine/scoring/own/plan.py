"""Plans: right if, followed, they end within tolerance of the measured place, in way and in turn alike."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Float64

from action_mapping.plan import Plan as Steps
from action_mapping.plan import PlanError
from action_mapping.plan import read_plan as steps_of
from action_mapping.primitives import UnknownPrimitiveError
from spatial_engine.scoring import measures, reading
from spatial_engine.scoring.own.fault import Fault, fault_if_unfit
from spatial_engine.scoring.own.numbers import finite
from spatial_engine.scoring.reading import Reading, Unreadable
from spatial_engine.scoring.score import Score
from templates.answer import MOTIONS, Plan, right
from templates.measured import Json
from templates.question import Question

_MOST_ACTIONS = 100


def read_plan(question: Question, response: str) -> Reading | Unreadable:
    """Actions and their counts."""
    return reading.read_plan(response)


def score_plan(question: Question, value: Json) -> Score:
    """1 if the plan leads there.

    In the detail: what is left, in steps (`way_steps`, `turn_steps`), at the start and after the plan, `progress`
    from 0 (no nearer than at the start) to 1, and `spl`, success weighted by the count of steps.
    """
    truth = _truth(question)
    known: dict[str, Json] = {"value": value if isinstance(value, Mapping) else None, "tolerance": truth.tolerance}
    try:
        steps = _steps(value, truth)
    except (PlanError, UnknownPrimitiveError) as error:
        return Score(value=0.0, detail={**known, "value": None, "invalid": str(error)[:200]} if value else known)
    left = replace(truth, steps=steps).left_over(truth.amounts)
    is_right = right(_followed(truth, left), truth) is True
    (way, turn), (start_way, start_turn) = left.tolist(), _at_start(truth)
    return Score(
        value=float(is_right),
        detail={
            **known,
            "way_steps": way,
            "turn_steps": turn,
            "start_way_steps": start_way,
            "start_turn_steps": start_turn,
            "progress": measures.progress(start_way + start_turn, way + turn),
            "spl": measures.spl(is_right, _count(truth.steps), _count(steps)),
        },
    )


@dataclass(frozen=True, kw_only=True)
class _Followed(Plan):
    """A plan that was followed already: replaying it is most of the work, and once is enough."""

    left: Float64[np.ndarray, "2"]

    def left_over(self, amounts: Float64[np.ndarray, "6"]) -> Float64[np.ndarray, "2"]:
        """What was left over."""
        return self.left


def _followed(truth: Plan, left: Float64[np.ndarray, "2"]) -> Plan:
    return _Followed(steps=truth.steps, amounts=truth.amounts, sigma=truth.sigma, tolerance=truth.tolerance, left=left)


def _at_start(truth: Plan) -> tuple[float, float]:
    """What is left over of way and turn, in steps, before anything is done."""
    amounts, steps = truth.amounts.tolist(), truth.steps
    return _left_by_nothing(tuple(amounts), steps.translation_step, steps.rotation_step_rad)


@lru_cache(maxsize=4096)
def _left_by_nothing(amounts: tuple[float, ...], way_step: float, turn_step_rad: float) -> tuple[float, float]:
    steps = Steps(actions=(), translation_step=way_step, rotation_step_rad=turn_step_rad)
    place = np.array(amounts)
    way, turn = Plan(steps=steps, amounts=place, sigma=np.zeros(6)).left_over(place).tolist()
    return way, turn


def _truth(question: Question) -> Plan:
    """Where the plan should lead. Its σ is left out: here the measurement is the truth."""
    with fault_if_unfit("a plan without the sizes of its steps or the place where it leads"):
        asked, fraction = question.scorer_params, question.scorer_params.get("point_fraction")
        steps = steps_of(
            question.answer["actions"],
            question.answer["step_nums"],
            translation_step=1 / fraction if fraction else asked["translation_step_m"],
            rotation_step_rad=float(np.radians(asked["rotation_step_deg"])),
        )
        place = np.array([finite(question.value[name]) for name in MOTIONS], dtype=float)
        tolerance = finite(question.tolerance)
    if tolerance is None or not np.isfinite(place).all():
        raise Fault("a plan without a tolerance or a finite goal")
    truth = Plan(steps=steps, amounts=np.zeros(6), sigma=np.zeros(6), tolerance=tolerance)
    return replace(truth, amounts=place * truth.step)


def _steps(value: Json, truth: Plan) -> Steps:
    """A response's plan in the question's steps. Raises PlanError, UnknownPrimitiveError."""
    if not isinstance(value, Mapping):
        raise PlanError("a plan is an object with actions and step_nums")
    actions, counts = value.get("actions"), value.get("step_nums")
    if not isinstance(actions, list) or not isinstance(counts, list) or len(actions) > _MOST_ACTIONS:
        raise PlanError(f"actions and step_nums are lists of at most {_MOST_ACTIONS}")
    return steps_of(
        actions,
        counts,
        translation_step=truth.steps.translation_step,
        rotation_step_rad=truth.steps.rotation_step_rad,
    )


def _count(steps: Steps) -> int:
    return sum(action.steps for action in steps.actions)
