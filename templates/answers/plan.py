"""Plans: whole steps from one camera pose to another, and the format that asks for them."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.spatial.transform import Rotation
from scipy.special import ndtr

from action_mapping.official_dialect import official_replay
from action_mapping.plan import MAX_STEPS, PlanError, read_plan
from action_mapping.plan import Plan as Steps
from action_mapping.primitives import (
    COMPONENTS,
    PRIMITIVES,
    ROTATIONS,
    STAY,
    TRANSLATIONS,
    UnknownPrimitiveError,
    primitive,
    primitive_of,
)
from templates.answers.answer import Answer, Errors, Recorded, Rows, by_name, finite, numbers_of
from templates.answers.format import Format, OfficialMetric
from templates.answers.measures import progress, spl
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question

MOTIONS = tuple(name.removesuffix("_rad") for name in COMPONENTS)
"""Names of the six components in a question: pan, tilt, roll, truck, pedestal, dolly."""
_ROTATES = np.array([name in ROTATIONS for name in COMPONENTS])
_IN_ORDER = [COMPONENTS.index(name) for name in (*TRANSLATIONS, *ROTATIONS)]
_MAX_ACTIONS = 100
_SYMBOLS = {known.name: known.symbol for known in PRIMITIVES}


@dataclass(frozen=True, kw_only=True)
class Plan(Answer):
    """Whole steps from one pose to another. Right: the plan ends within `tolerance` steps of the target, in translation
    and in rotation."""

    name: ClassVar[str] = "plan"

    counts: Float[np.ndarray, "*n 6"]
    """Signed steps of each component, in the order of `COMPONENTS`."""
    translation_step: Rows
    """Length of a step, in metres or in the distance that the question names."""
    rotation_step_rad: Rows
    step_fraction: Rows | None = None
    """k, if a translation step is 1/k of a distance that the question names; else None, in a stack NaN."""
    amounts: Float[np.ndarray, "*n 6"]
    """The target: six signed components in rad and in the unit of `translation_step`."""
    sigma: Float[np.ndarray, "*n 6"]
    tolerance: Rows = 1.0
    """In steps; at most one."""

    def row(self, k: int) -> "Plan":
        """With a whole fraction, or none."""
        plan = super().row(k)
        fraction = plan.step_fraction
        return replace(plan, step_fraction=None if fraction is None or np.isnan(fraction) else int(fraction))

    @property
    def step(self) -> Float[np.ndarray, "*n 6"]:
        """Size of one step of each component."""
        rotation, translation = (
            np.asarray(part)[..., None] for part in (self.rotation_step_rad, self.translation_step)
        )
        return np.where(_ROTATES, rotation, translation).astype(float)

    def p_within(self) -> Rows:
        """Probability that both errors are within the tolerance, if all components have the largest σ of the three."""
        sigma = _of_translation_and_rotation(self.sigma / self.step)
        return np.prod(p_within(self.residual(self.amounts), sigma, self.limits), axis=-1)

    @property
    def limits(self) -> Float[np.ndarray, "*n 2"]:
        """The tolerance of translation and that of rotation."""
        return np.repeat(np.asarray(self.tolerance, dtype=float)[..., None], 2, axis=-1)

    def error(self, truth: "Plan") -> tuple[Float[np.ndarray, "*n 2"], Float[np.ndarray, "... 2"]]:
        """Distance of the end of the plan from the true target, in steps of the plan."""
        return self.residual(truth.amounts), _of_translation_and_rotation(truth.sigma / self.step)

    def residual(self, amounts: Float[np.ndarray, "*n 6"]) -> Float[np.ndarray, "*n 2"]:
        """Distance and angle, in steps, from the end of the plan to a target. As `action_mapping.replay.residuals`, for
        stacks."""
        reached = self.counts * self.step
        translation = np.linalg.norm((reached - amounts)[..., ~_ROTATES], axis=-1)
        there, here = (Rotation.from_euler("YXZ", part[..., _ROTATES].reshape(-1, 3)) for part in (amounts, reached))
        rotation_rad = (there.inv() * here).magnitude().reshape(translation.shape)
        return np.stack([translation / self.translation_step, rotation_rad / self.rotation_step_rad], axis=-1)

    def difference(self, truth: "Plan") -> Errors:
        """Differences of the six components of the target."""
        return by_name(MOTIONS, self.amounts - truth.amounts), by_name(MOTIONS, np.hypot(self.sigma, truth.sigma))

    def to_json(self) -> Recorded:
        """The target in steps; the answer as actions, translations first."""
        size: dict[str, Json] = {"translation_step_m": self.translation_step}
        if self.step_fraction is not None:
            size = {"step_fraction": self.step_fraction}
        return Recorded(
            value=by_name(MOTIONS, self.amounts / self.step),
            answer=self._actions(),
            sigma=by_name(MOTIONS, self.sigma / self.step),
            tolerance=self.tolerance,
            unit="steps",
            scorer_params={**size, "rotation_step_deg": self.rotation_step_deg},
        )

    @property
    def rotation_step_deg(self) -> float:
        """As a question states it: rounded to 0.01°."""
        return round(float(np.degrees(self.rotation_step_rad)), 2)

    def _actions(self) -> dict[str, list[Json]]:
        named = [(COMPONENTS[k], int(self.counts[k])) for k in _IN_ORDER if self.counts[k]]
        if not named:
            return {"actions": [STAY.name], "step_nums": [0]}
        return {
            "actions": [primitive_of(component, count).name for component, count in named],
            "step_nums": [abs(count) for _, count in named],
        }

    @classmethod
    def from_json(cls, question: Question) -> "Plan":
        """Raises `UnscorableError` where the sizes of the steps, the target or the tolerance are missing."""
        params, fraction = question.scorer_params, question.scorer_params.get("step_fraction")
        length = 1 / fraction if fraction else params.get("translation_step_m")
        target, tolerance = numbers_of(question.value, MOTIONS), finite(question.tolerance)
        if length is None or "rotation_step_deg" not in params or tolerance is None or not np.isfinite(target).all():
            raise UnscorableError("a plan without the sizes of its steps, its target, or a tolerance")
        plan = cls(
            counts=np.zeros(6),
            translation_step=length,
            rotation_step_rad=float(np.radians(params["rotation_step_deg"])),
            step_fraction=fraction,
            amounts=np.zeros(6),
            sigma=np.zeros(6),
            tolerance=tolerance,
        )
        plan = replace(plan, amounts=target * plan.step, sigma=numbers_of(question.sigma, MOTIONS) * plan.step)
        return plan._followed(plan._read(question.answer))

    def predicted(self, value: Json) -> "Plan | None":
        """Actions with their counts, in steps of the same size; None for an invalid plan."""
        try:
            return self._followed(self._read(value))
        except (PlanError, UnknownPrimitiveError):
            return None

    def score(self, value: Json) -> Score:
        """1 if the plan ends within the tolerance.

        Detail: distance to the target in steps (`translation_steps`, `rotation_steps`) after the plan and at the start,
        `progress` from 0 (no nearer than at the start) to 1, and `spl`, success weighted by the number of steps.
        """
        known: dict[str, Json] = {"value": value if isinstance(value, Mapping) else None, "tolerance": self.tolerance}
        try:
            steps = self._read(value)
        except (PlanError, UnknownPrimitiveError) as error:
            return Score(value=0.0, detail={**known, "value": None, "invalid": str(error)[:200]} if value else known)
        at_end = self._followed(steps).residual(self.amounts)
        at_start = replace(self, counts=np.zeros(6)).residual(self.amounts)
        is_right = bool((at_end <= self.limits).all())
        covered = progress(float(at_start.sum()), float(at_end.sum()))
        needed, taken = int(np.abs(self.counts).sum()), sum(action.steps for action in steps.actions)
        return Score(
            value=float(is_right),
            detail={
                **known,
                **by_name(("translation_steps", "rotation_steps"), at_end),
                **by_name(("start_translation_steps", "start_rotation_steps"), at_start),
                "progress": covered,
                "spl": spl(is_right, needed, taken),
            },
            nearness=covered,
        )

    def tolerance_in_words(self) -> str:
        """ "within one step of moving and one step of turning"."""
        count = "one step" if self.tolerance == 1 else f"{self.tolerance:g} steps"
        return f"within {count} of moving and {count} of turning"

    def _read(self, value: Json) -> Steps:
        """Parses a written plan, in steps of this size. Raises PlanError, UnknownPrimitiveError."""
        if not isinstance(value, Mapping):
            raise PlanError("a plan is an object with actions and step_nums")
        actions, counts = value.get("actions"), value.get("step_nums")
        if not isinstance(actions, list) or not isinstance(counts, list) or len(actions) > _MAX_ACTIONS:
            raise PlanError(f"actions and step_nums are lists of at most {_MAX_ACTIONS}")
        length, angle = float(self.translation_step), float(self.rotation_step_rad)
        return read_plan(actions, counts, translation_step=length, rotation_step_rad=angle)

    def _followed(self, steps: Steps) -> "Plan":
        counts = dict.fromkeys(COMPONENTS, 0)
        for action in steps.actions:
            if action.primitive.component in counts:
                counts[action.primitive.component] += action.primitive.sign * action.steps
        return replace(self, counts=np.array([float(counts[name]) for name in COMPONENTS]))


class PlanOfSteps(Format):
    """A JSON object of actions and their counts."""

    name: ClassVar[str] = "plan"
    reader: ClassVar[str] = "plan"
    takes: ClassVar[tuple[str, ...]] = ("plan",)

    def form(self, question: Question) -> str:
        """With its keys."""
        return 'one JSON object with the keys "actions" and "step_nums"'

    def possible(self, question: Question) -> Sequence[str]:
        """The right plan: there are too many to list."""
        return (json.dumps(question.answer, sort_keys=True),)

    def no_op(self, question: Question) -> Json:
        """The plan that stays."""
        return {"actions": [STAY.name], "step_nums": [0]}

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """Random steps of one translation and of one rotation."""
        families = [[p.name for p in PRIMITIVES if p.component in family] for family in (TRANSLATIONS, ROTATIONS)]
        names = [family[rng.integers(len(family))] for family in families]
        return {"actions": names, "step_nums": [int(n) for n in rng.integers(1, MAX_STEPS + 1, size=2)]}

    def near_misses(self, question: Question) -> Iterator[Json]:
        """The plan with opposite actions; then plans of maximal length."""
        answer = question.answer
        yield {"actions": [_opposite(name) for name in answer["actions"]], "step_nums": answer["step_nums"]}
        yield {"actions": ["Dolly In", "Pan Right"], "step_nums": [MAX_STEPS, MAX_STEPS]}
        yield {"actions": ["Dolly Out", "Pan Left"], "step_nums": [MAX_STEPS, MAX_STEPS]}

    def official(self, question: Question) -> OfficialMetric:
        """The right plan in keys, and where it leads by the scorer's own arithmetic (metres, rad, quaternions xyzw).

        That arithmetic rotates about permuted axes. A target that is replayed by the same arithmetic has the same
        axes, so a right plan gets full marks and a wrong one fewer by its distance; a measured pose would be compared
        across axes.
        """
        if "step_fraction" in question.scorer_params:
            raise UnscorableError("the navigation score needs metres, and the clip's scale is relative")
        metres = float(question.scorer_params["translation_step_m"])
        radians = math.radians(question.scorer_params["rotation_step_deg"])
        plan = {
            "actions": [primitive(name).symbol for name in question.answer["actions"]],
            "step_nums": list(question.answer["step_nums"]),
        }
        start = np.eye(4)
        goal = official_replay(start, *plan.values(), translation_step=metres, rotation_step_rad=radians)
        poses = [
            [*pose[:3, 3].tolist(), *Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()] for pose in (start, goal)
        ]
        steps = {"translation_step_size": metres, "rotation_step_size": radians}
        hint = {"optimal_rel_pose": poses, "0->1": steps}
        return OfficialMetric("agenticnaveval", json.dumps(plan, ensure_ascii=False), hint)

    def official_text(self, value: Json) -> str:
        """Keys in place of names, in a block of JSON."""
        keys = {**value, "actions": [_SYMBOLS.get(name, name) for name in value["actions"]]}
        return f"```json\n{json.dumps(keys, ensure_ascii=False)}\n```"


def p_within(
    distance: Float[np.ndarray, "..."] | float,
    sigma: Float[np.ndarray, "..."] | float,
    tolerance: Float[np.ndarray, "..."] | float,
) -> Float[np.ndarray, "..."]:
    """Probability that a 3-D point of isotropic σ, measured `distance` from a centre, lies within `tolerance` of it."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distance = np.maximum(distance, 1e-4 * np.asarray(tolerance))  # at 0 the formula has a limit but no value
        near, far = (tolerance - distance) / sigma, (tolerance + distance) / sigma
        tails = (_density(near) - _density(far)) / np.fmax(distance / sigma, 1e-9)
        return np.asarray(ndtr(far) + ndtr(near) - 1 - tails)


def _of_translation_and_rotation(each: Float[np.ndarray, "*n 6"]) -> Float[np.ndarray, "*n 2"]:
    """The largest σ of three translations, and of three rotations."""
    return np.stack([each[..., ~_ROTATES].max(axis=-1), each[..., _ROTATES].max(axis=-1)], axis=-1)


def _opposite(name: str) -> str:
    known = primitive(name)
    return primitive_of(known.component, -known.sign).name if known.component in COMPONENTS else name


def _density(x: Float[np.ndarray, "*k"] | float) -> Float[np.ndarray, "*k"] | float:
    """Of the standard normal; `scipy.stats` is slow to import."""
    return np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
