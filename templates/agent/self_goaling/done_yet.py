"""L4/Open-world Exploration/Self-Goaling: whether a task is finished in a photo."""

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
from templates.scene.episode import Episode, task_of
from templates.scene.scene import Scene
from templates.scene.task_states import TaskStates, task_states
from templates.scene.task_words import NOT_THIS_TASK, instruction_of, same_words
from templates.template import Template
from templates.world import World

_LEFT = 0.2
"""Least part of the time that is left in a photo in which the task is not finished."""


@dataclass(frozen=True, kw_only=True)
class PhotoOfTask(Facts):
    """A photo and the task."""

    frame: Int64[np.ndarray, "n"]
    task: Texts


@dataclass(frozen=True, kw_only=True)
class DoneYet(Template):
    """Whether the task is finished: at the end of an attempt that succeeds; not long before it, and not in an attempt
    that fails. Measures the change of the state until the end, in changes that a person sees."""

    name: str = "done_yet"
    version: str = "2"
    ability: str = "L4/Open-world Exploration/Self-Goaling"
    formats: tuple[FormatName, ...] = ("yes_no",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = PhotoOfTask
    needs: frozenset[str] = frozenset({"effector_path", "task"})
    reads: frozenset[str] = frozenset({"effector_path", "task"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PhotoOfTask:
        """As many photos of the end as of the time before, as far as there are any."""
        states, task = task_states(scene), instruction_of(scene)
        if isinstance(states, str) or not task:
            return PhotoOfTask.none()
        end, before = (rng.permutation(frames) for frames in (states.frames[states.settled :], unfinished(states)))
        most = max(1, min(count // 2, len(end), len(before)))
        frames = rng.permutation(np.concatenate([end[:most], before[:most]]))
        return PhotoOfTask(frame=frames, task=np.full(len(frames), task))

    def measure(self, facts: PhotoOfTask, scene: Scene) -> Measured:
        """By the time and the state; in between nobody knows."""
        states, task = task_states(scene), task_of(scene)
        success = None if task is None else task.success
        if isinstance(states, str):
            return Measured.none(len(facts), states)
        row = states.rows(facts.frame)
        end = np.full(len(row), len(states.frames) - 1)
        change, margin = states.change(np.maximum(row, 0), end), states.margin(np.maximum(row, 0), end)
        ends, early = row >= states.settled, np.isin(facts.frame, unfinished(states)) & (change >= 1)
        done = ends & (success is True)
        cases: dict[str, np.ndarray | bool] = {
            NOT_THIS_TASK: ~same_words(facts.task, instruction_of(scene)),
            "nobody says whether the task succeeds": success is None,
            "the state of the effector is not known in a photo": row < 0,
            "the task may be finished or nearly finished": ~ends & ~early,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=change[:, None],
            sigma=np.where(margin > 0, change / np.maximum(margin, 1e-9), 1 / 3)[:, None],
            label=np.where(done, "yes", "no"),
            margin=np.where(early & ~ends, margin, np.inf),
            evidence={"change_seen": change.round(1), "way_done_percent": states.way_done_percent(facts.frame)},
            traps={
                "the attempt was taken for a success": np.where(ends & (success is False), "yes", ""),
                "what is left was overlooked": np.where(early & ~ends, "yes", ""),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The word."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo."""
        return Phrasing(media=(Photo(frame=fact["frame"]),), values={"task": fact["task"]})


def unfinished(states: TaskStates) -> Int64[np.ndarray, "k"]:
    """Frames in which much of the time and of the way before the last stage is left."""
    first, finish = states.frames[0], states.frames[states.finish]
    early = states.frames <= first + (1 - _LEFT) * (finish - first)
    return states.frames[early & states.far_from_finish()]
