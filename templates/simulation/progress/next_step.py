"""L3/Sequential Planning/Operation: which step of a task comes next, in the words of its data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.episode import Episode
from templates.scene.scene import Scene
from templates.scene.task_states import task_states
from templates.scene.task_steps import NO_START, begun, clear_starts, margin_of_starts, why_not_this_task
from templates.scene.task_words import in_one_line, instruction_of, joined_words, separated, steps_of
from templates.template import Template
from templates.world import World

_OPTIONS = 4


@dataclass(frozen=True, kw_only=True)
class MomentOfTask(Facts):
    """A photo, the task and all its steps, one in a line."""

    frame: Int64[np.ndarray, "n"]
    task: Texts
    steps: Texts


@dataclass(frozen=True, kw_only=True)
class AmongSteps(Template):
    """Base of questions whose options are steps of the task."""

    ability: str = "L3/Sequential Planning/Operation"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    needs: frozenset[str] = frozenset({"effector_path", "task"})
    reads: frozenset[str] = frozenset({"effector_path", "task"})

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The words of the step."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer:
        """The step and random other ones: steps tell nothing by which others are offered."""
        order = chance.uniform("steps", 64)
        options = [
            _with_others(right, steps, draw)
            for right, steps, draw in zip(answers.labels().tolist(), separated(_steps(facts)), order, strict=True)
        ]
        why = first_reason(len(facts), {"the task has fewer than four steps": _flags([not all(o) for o in options])})
        return Offer.first_right(np.array(options, dtype=np.str_).reshape(len(facts), _OPTIONS), why)


@dataclass(frozen=True, kw_only=True)
class NextStep(AmongSteps):
    """The step that begins at the moment of a photo. Measures its number, from 0."""

    name: str = "next_step"
    version: str = "2"
    facts: ClassVar[type[Facts]] = MomentOfTask

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MomentOfTask:
        """The beginning of every step."""
        states, task, steps = task_states(scene), instruction_of(scene), steps_of(scene)
        if isinstance(states, str) or not task or not steps:
            return MomentOfTask.none()
        starts = clear_starts(scene, states)
        frames = rng.permutation(starts[starts >= 0])[:count]
        return MomentOfTask(
            frame=frames, task=np.full(len(frames), task), steps=np.full(len(frames), joined_words(steps))
        )

    def measure(self, facts: MomentOfTask, scene: Scene) -> Measured:
        """The step of the data that begins at that frame."""
        states = task_states(scene)
        if isinstance(states, str):
            return Measured.none(len(facts), states)
        step, why = begun(scene, states, facts.frame), why_not_this_task(scene, facts.task, facts.steps)
        return Measured(
            why=np.where(why == "", first_reason(len(facts), {NO_START: step < 0}), why),
            value=step[:, None].astype(float),
            sigma=np.zeros((len(facts), 1)),
            label=named(scene, step),
            margin=margin_of_starts(scene, states, step),
            evidence=before_and_after(scene, step, step + 1),
            traps={
                "step after next": named(scene, np.where(step >= 0, step + 1, -1)),
                "step already done": named(scene, step - 1),
            },
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo."""
        assert offer is not None
        return Phrasing(
            media=(Photo(frame=fact["frame"]),),
            values={"task": fact["task"], "steps": in_one_line(fact["steps"])},
            options=tuple(offer.values(0)),
        )


def named(scene: Scene, step: Int64[np.ndarray, "n"]) -> Texts:
    """The words of each step; "" where there is none of that number."""
    steps = np.array([*steps_of(scene), ""])
    last = len(steps) - 1
    return np.asarray(steps[np.where((step >= 0) & (step < last), step, last)], dtype=np.str_)


def before_and_after(scene: Scene, first: Int64[np.ndarray, "n"], after: Int64[np.ndarray, "n"]) -> dict[str, Texts]:
    """As evidence: the steps that are done before `first`, and those that are left from `after` on."""
    steps = steps_of(scene)
    done = ["; ".join(steps[: max(k, 0)]) or "nothing" for k in first.tolist()]
    left = ["; ".join(steps[max(k, 0) :]) or "nothing" for k in after.tolist()]
    return {"done": np.array(done, dtype=np.str_), "left": np.array(left, dtype=np.str_)}


def _steps(facts: Facts) -> Texts:
    column: Texts = facts.steps  # type: ignore[attr-defined]
    return column


def _with_others(right: str, steps: tuple[str, ...], draw: np.ndarray) -> list[str]:
    others = [step for step in steps if step != right]
    chosen = [others[k] for k in np.argsort(draw[: len(others)])[: _OPTIONS - 1].tolist()]
    return [right, *chosen, *[""] * (_OPTIONS - 1 - len(chosen))]


def _flags(each: list[bool]) -> np.ndarray:
    return np.array(each, dtype=bool)
