"""Plans of a gripper or hand in several steps, and the format that asks for them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.spatial.transform import Rotation

from action_mapping.official_dialect import official_replay
from action_mapping.plan import MAX_STEPS, PlanError, read_plan
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
from templates.answers.answer import Answer, Recorded, Rows, by_name, finite, numbers_of
from templates.answers.format import Format, OfficialMetric
from templates.answers.measures import progress
from templates.answers.plan import MOTIONS, p_within
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question

STATES = ("open", "closed")
"""Of the gripper, as an answer writes them: 0 and 1 in a column."""
_ROTATES = np.array([name in ROTATIONS for name in COMPONENTS])
_IN_ORDER = [COMPONENTS.index(name) for name in (*TRANSLATIONS, *ROTATIONS)]
_MAX_ACTIONS = 100


@dataclass(frozen=True, kw_only=True)
class ArmPlan(Answer):
    """Whole counts of motions along and about fixed axes in each of k steps, and whether the gripper is closed after
    it. Right: after every step the wrist is within `tolerance` units of its target, in translation and in rotation, and
    the gripper is in the right state."""

    name: ClassVar[str] = "arm_plan"

    steps: Float[np.ndarray, "*n k 7"]
    """Signed counts of each component, in the order of `COMPONENTS`, then 0 (open) or 1 (closed). Rows of NaN end a
    shorter plan of a stack."""
    translation_step: Rows
    """Length of one unit in metres."""
    rotation_step_rad: Rows
    targets: Float[np.ndarray, "*n k 6"]
    """The motion from the start to the end of each step, in rad and metres."""
    sigma: Float[np.ndarray, "*n k 6"]
    tolerance: Rows = 1.0
    """In units."""

    @property
    def unit(self) -> Float[np.ndarray, "*n 1 6"]:
        """Size of one unit of each component."""
        rotation, length = (
            np.asarray(part, dtype=float)[..., None, None] for part in (self.rotation_step_rad, self.translation_step)
        )
        return np.where(_ROTATES, rotation, length)

    def p_within(self) -> Rows:
        """1 - the probabilities that a translation or a rotation is beyond its tolerance, added up."""
        distance, sigma = self.residual(self.targets), self._sigma()
        p = p_within(distance, sigma, np.asarray(self.tolerance, dtype=float)[..., None, None])
        beyond = np.where(np.isnan(self.steps[..., :1]), 0.0, 1 - p)
        return np.clip(1 - beyond.sum(axis=(-2, -1)), 0.0, 1.0)

    @property
    def limits(self) -> Float[np.ndarray, "*n e"]:
        """Of translation, rotation and state of each step."""
        count = self.steps.shape[-2]
        within = np.asarray(self.tolerance, dtype=float)[..., None]
        shape = (*self.steps.shape[:-2], 2 * count)
        return np.concatenate([np.broadcast_to(within, shape), np.full((*self.steps.shape[:-2], count), 0.5)], axis=-1)

    def error(self, truth: "ArmPlan") -> tuple[Float[np.ndarray, "*n e"], Float[np.ndarray, "... e"]]:
        """Distances and angles from the true targets in units, and 1 for each wrong state; 0 where a plan has ended."""
        ended = np.isnan(self.steps[..., 0])
        apart = np.where(ended[..., None], 0.0, self.residual(truth.targets))
        differs = np.where(ended, 0.0, self.steps[..., 6] != truth.steps[..., 6])
        sigma = np.where(ended[..., None], 0.0, truth._sigma(self))
        return (
            np.concatenate([apart[..., 0], apart[..., 1], differs], axis=-1),
            np.concatenate([sigma[..., 0], sigma[..., 1], 0 * differs], axis=-1),
        )

    def residual(self, targets: Float[np.ndarray, "*n k 6"]) -> Float[np.ndarray, "*n k 2"]:
        """Distance and angle from the targets after each step, in units."""
        moved, turned = self._reached()
        apart = np.linalg.norm(moved - targets[..., ~_ROTATES], axis=-1)
        there = _matrix(targets[..., _ROTATES])
        angle = _angle(np.swapaxes(there, -1, -2) @ turned)
        return np.stack([apart, angle], axis=-1) / self.unit[..., [3, 0]]

    def to_json(self) -> Recorded:
        """The targets in units; the answer as actions and state of each step, translations first."""
        return Recorded(
            value=_by_step([by_name(MOTIONS, row) for row in self.targets / self.unit]),
            answer=_by_step([_written(row) for row in self.steps]),
            sigma=_by_step([by_name(MOTIONS, row) for row in self.sigma / self.unit]),
            tolerance=self.tolerance,
            unit="steps",
            scorer_params={
                "translation_step_m": self.translation_step,
                "rotation_step_deg": self.rotation_step_deg,
            },
        )

    @property
    def rotation_step_deg(self) -> float:
        """As a question states it: rounded to 0.01°."""
        return round(float(np.degrees(self.rotation_step_rad)), 2)

    @classmethod
    def from_json(cls, question: Question) -> "ArmPlan":
        """Raises `UnscorableError` where the units, a target or the tolerance are missing."""
        params, value = question.scorer_params, question.value if isinstance(question.value, Mapping) else {}
        length, angle = finite(params.get("translation_step_m")), finite(params.get("rotation_step_deg"))
        spread = question.sigma if isinstance(question.sigma, Mapping) else {}
        names, tolerance = _names(len(value)), finite(question.tolerance)
        targets, sigma = (
            np.array([numbers_of(part.get(name), MOTIONS) for name in names]).reshape(-1, 6) for part in (value, spread)
        )
        if not names or not length or not angle or tolerance is None or not np.isfinite(targets).all():
            raise UnscorableError("a plan without its units, its targets, or a tolerance")
        plan = cls(
            steps=np.zeros((len(names), 7)), translation_step=length, rotation_step_rad=float(np.radians(angle)),
            targets=targets, sigma=sigma, tolerance=tolerance,
        )  # fmt: skip
        plan = replace(plan, targets=targets * plan.unit, sigma=sigma * plan.unit)
        return replace(plan, steps=plan._read(question.answer))

    def predicted(self, value: Json) -> "ArmPlan | None":
        """The same number of steps, in the same units; None for an invalid plan."""
        try:
            return replace(self, steps=self._read(value))
        except (PlanError, UnknownPrimitiveError):
            return None

    def score(self, value: Json) -> Score:
        """1 if all steps are right.

        Detail: shares of steps whose end and whose state are right (`ends_right`, `gripper_right`), and `progress` of
        all ends from 0 (no nearer than at the start) to 1.
        """
        known: dict[str, Json] = {"value": value if isinstance(value, Mapping) else None, "tolerance": self.tolerance}
        try:
            plan = replace(self, steps=self._read(value))
        except (PlanError, UnknownPrimitiveError) as error:
            return Score(value=0.0, detail={**known, "value": None, "invalid": str(error)[:200]} if value else known)
        ends = plan.residual(self.targets)
        still = replace(plan, steps=np.zeros_like(plan.steps)).residual(self.targets)
        held = float((plan.steps[:, 6] == self.steps[:, 6]).mean())
        reached = float((ends <= self.tolerance).all(axis=1).mean())
        covered = progress(float(still.sum()), float(ends.sum()))
        detail = {**known, "ends_right": reached, "gripper_right": held, "progress": covered}
        return Score(value=float(reached == held == 1.0), detail=detail, nearness=covered * held)

    def tolerance_in_words(self) -> str:
        """ "after each step ..."."""
        count = "one unit" if self.tolerance == 1 else f"{self.tolerance:g} units"
        return f"after each step within {count} of moving and {count} of turning, with the right state of the gripper"

    def _sigma(self, units: "ArmPlan | None" = None) -> Float[np.ndarray, "*n k 2"]:
        """The largest σ of three translations and of three rotations, in units."""
        each = self.sigma / (units or self).unit
        return np.stack([each[..., ~_ROTATES].max(axis=-1), each[..., _ROTATES].max(axis=-1)], axis=-1)

    def _reached(self) -> tuple[Float[np.ndarray, "*n k 3"], Float[np.ndarray, "*n k 3 3"]]:
        """Translation and rotation from the start to the end of each step."""
        amounts = np.nan_to_num(self.steps[..., :6]) * self.unit
        each = _matrix(amounts[..., _ROTATES])
        turned = each.copy()
        for k in range(1, each.shape[-3]):
            turned[..., k, :, :] = each[..., k, :, :] @ turned[..., k - 1, :, :]
        return np.cumsum(amounts[..., ~_ROTATES], axis=-2), turned

    def _read(self, value: Json) -> Float[np.ndarray, "k 7"]:
        """Raises PlanError, UnknownPrimitiveError."""
        names = _names(self.targets.shape[-2])
        if not isinstance(value, Mapping) or {*value} != {*names}:
            raise PlanError(f"a plan is an object with {', '.join(names)}")
        return np.array([self._step(value[name]) for name in names])

    def _step(self, value: Json) -> list[float]:
        found = value if isinstance(value, Mapping) else {}
        actions, counts = found.get("actions"), found.get("step_nums")
        if not isinstance(actions, list) or not isinstance(counts, list) or len(actions) > _MAX_ACTIONS:
            raise PlanError(f"actions and step_nums are lists of at most {_MAX_ACTIONS}")
        if found.get("gripper") not in STATES:
            raise PlanError("gripper is open or closed")
        length, angle = float(self.translation_step), float(self.rotation_step_rad)
        plan = read_plan(actions, counts, translation_step=length, rotation_step_rad=angle)
        total = dict.fromkeys(COMPONENTS, 0.0)
        for action in plan.actions:
            if action.primitive.component in total:
                total[action.primitive.component] += action.primitive.sign * action.steps
        return [*total.values(), float(STATES.index(found["gripper"]))]


class PlanOfArm(Format):
    """A JSON object with the actions, their counts and the state of the gripper for each step."""

    name: ClassVar[str] = "arm_plan"
    reader: ClassVar[str] = "arm_plan"
    takes: ClassVar[tuple[str, ...]] = ("arm_plan",)

    def form(self, question: Question) -> str:
        """With its keys."""
        named = ", ".join(f'"{name}"' for name in question.answer)
        return f'one JSON object with {{"actions", "step_nums", "gripper"}} for each of {named}'

    def possible(self, question: Question) -> tuple[str, ...]:
        """The right plan: there are too many to list."""
        return (json.dumps(question.answer, sort_keys=True),)

    def no_op(self, question: Question) -> Json:
        """A plan that stays, open."""
        return {name: {"actions": [STAY.name], "step_nums": [0], "gripper": "open"} for name in question.answer}

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """A random translation, and a random state, in each step."""
        names = [p.name for p in PRIMITIVES if p.component in TRANSLATIONS]
        return {
            name: {
                "actions": [names[rng.integers(len(names))]],
                "step_nums": [int(rng.integers(1, MAX_STEPS + 1))],
                "gripper": STATES[rng.integers(2)],
            }
            for name in question.answer
        }

    def near_misses(self, question: Question) -> Iterator[Json]:
        """The plan with opposite actions; the plan with opposite states of the gripper."""
        steps = question.answer.items()
        yield {name: {**step, "actions": [*map(_opposite, step["actions"])]} for name, step in steps}
        yield {name: {**step, "gripper": STATES[step["gripper"] == "open"]} for name, step in steps}

    def official(self, question: Question) -> OfficialMetric:
        """The right plan in keys, and where it leads by the scorer's own arithmetic, as for camera plans."""
        metres = float(question.scorer_params["translation_step_m"])
        radians = float(np.radians(question.scorer_params["rotation_step_deg"]))
        plan = _in_keys(question.answer)
        poses, hint = [np.eye(4)], {}
        for k, step in enumerate(plan.values()):
            sizes = {"translation_step_size": metres, "rotation_step_size": radians}
            hint[f"{k}->{k + 1}"] = {**sizes, "gripper": STATES.index(step["gripper"])}
            poses.append(
                official_replay(
                    poses[-1], step["actions"], step["step_nums"], translation_step=metres, rotation_step_rad=radians
                )
            )
        rows = [[*pose[:3, 3].tolist(), *Rotation.from_matrix(pose[:3, :3]).as_quat().tolist()] for pose in poses]
        return OfficialMetric(
            "manipulateeval", json.dumps(plan, ensure_ascii=False), {"optimal_rel_pose": rows, **hint}
        )

    def official_text(self, value: Json) -> str:
        """Keys in place of names, in a block of JSON."""
        return f"```json\n{json.dumps(_in_keys(value), ensure_ascii=False)}\n```"


def _in_keys(plan: Mapping[str, Json]) -> dict[str, Json]:
    symbols = {known.name: known.symbol for known in PRIMITIVES}
    return {
        name: {**step, "actions": [symbols.get(action, action) for action in step["actions"]]}
        for name, step in plan.items()
    }


def _written(step: Float[np.ndarray, "7"]) -> dict[str, Json]:
    named = [(COMPONENTS[k], int(step[k])) for k in _IN_ORDER if step[k]]
    actions = [primitive_of(component, count).name for component, count in named] or [STAY.name]
    counts = [abs(count) for _, count in named] or [0]
    return {"actions": actions, "step_nums": counts, "gripper": STATES[int(step[6])]}


def _names(count: int) -> list[str]:
    return [f"step_{k}" for k in range(1, count + 1)]


def _by_step(rows: list[dict[str, Json]]) -> dict[str, Json]:
    return dict(zip(_names(len(rows)), rows, strict=True))


def _matrix(angles: Float[np.ndarray, "*m 3"]) -> Float[np.ndarray, "*m 3 3"]:
    """Of pan, tilt and roll; NaN counts as 0."""
    flat = np.nan_to_num(angles).reshape(-1, 3)
    return Rotation.from_euler("YXZ", flat).as_matrix().reshape(*angles.shape[:-1], 3, 3)


def _angle(turned: Float[np.ndarray, "*m 3 3"]) -> Float[np.ndarray, "*m"]:
    return np.asarray(Rotation.from_matrix(turned.reshape(-1, 3, 3)).magnitude().reshape(turned.shape[:-2]))


def _opposite(name: str) -> str:
    known = primitive(name)
    return primitive_of(known.component, -known.sign).name if known.component in COMPONENTS else name
