"""L3/Sequential Planning/Operation: which step of a task was done between two photos, in the words of its data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.scene import Scene
from templates.scene.task_states import task_states
from templates.scene.task_steps import begun, clear_starts, margin_of_starts, why_not_this_task
from templates.scene.task_words import instruction_of, joined_words, steps_of
from templates.simulation.progress.next_step import AmongSteps, before_and_after, named


@dataclass(frozen=True, kw_only=True)
class MomentsOfTask(Facts):
    """Two photos in order of time, the task and all its steps, one in a line."""

    frames: Int64[np.ndarray, "n 2"]
    task: Texts
    steps: Texts


@dataclass(frozen=True, kw_only=True)
class MissingStep(AmongSteps):
    """The only step that is done between two photos. Measures its number, from 0."""

    name: str = "missing_step"
    version: str = "2"
    facts: ClassVar[type[Facts]] = MomentsOfTask

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MomentsOfTask:
        """The beginning of every step and of the next one, or the end."""
        states, task, steps = task_states(scene), instruction_of(scene), steps_of(scene)
        if isinstance(states, str) or not task or not steps:
            return MomentsOfTask.none()
        starts = np.append(clear_starts(scene, states), states.frames[states.settled])
        pairs = np.stack([starts[:-1], starts[1:]], axis=1)
        pairs = rng.permutation(pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] < pairs[:, 1])])[:count]
        return MomentsOfTask(
            frames=pairs, task=np.full(len(pairs), task), steps=np.full(len(pairs), joined_words(steps))
        )

    def measure(self, facts: MomentsOfTask, scene: Scene) -> Measured:
        """The step of the data that begins at the first frame, and ends at the second."""
        states = task_states(scene)
        if isinstance(states, str):
            return Measured.none(len(facts), states)
        step, last = begun(scene, states, facts.frames), len(steps_of(scene)) - 1
        first, after = step.T
        rows = states.rows(facts.frames)
        known = np.maximum(rows, 0)
        ends = (first == last) & (rows[:, 1] >= states.settled)
        change, margin = states.change(known[:, 0], known[:, 1]), states.margin(known[:, 0], known[:, 1])
        why = why_not_this_task(scene, facts.task, facts.steps)
        cases = {
            "the photos are not the beginning and the end of one step": (first < 0) | ~((after == first + 1) | ends),
            "two photos show nearly the same state": change < 1,
        }
        return Measured(
            why=np.where(why == "", first_reason(len(facts), cases), why),
            value=first[:, None].astype(float),
            sigma=np.zeros((len(facts), 1)),
            label=named(scene, first),
            margin=np.minimum(margin, margin_of_starts(scene, states, first)),
            evidence=before_and_after(scene, first, first + 1),
            traps={
                "the step after": named(scene, np.where(first >= 0, first + 1, -1)),
                "the step before": named(scene, first - 1),
            },
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos in order of time."""
        assert offer is not None
        return Phrasing(
            media=tuple(Photo(frame=frame) for frame in fact["frames"]),
            values={"task": fact["task"]},
            options=tuple(offer.values(0)),
        )
