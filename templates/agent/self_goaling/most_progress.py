"""L4/Open-world Exploration/Self-Goaling: which photo shows the most progress in a task."""

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
from templates.scene.task_states import task_states, why_no_progress
from templates.scene.task_words import NOT_SUCCEEDED, NOT_THIS_TASK, instruction_of, same_words
from templates.template import Template
from templates.world import World

_PHOTOS = 4
_TRIED = 8
"""Drawn sets of photos for each that is proposed."""


@dataclass(frozen=True, kw_only=True)
class PhotosOfTask(Facts):
    """Photos in the order in which they are shown, and the task."""

    frames: Int64[np.ndarray, "n 4"]
    task: Texts


@dataclass(frozen=True, kw_only=True)
class MostProgress(Template):
    """The photo that is nearest to the end of the task, of four between which the effector never goes back. Measures
    the least change between two of their states, in changes that a person sees."""

    name: str = "most_progress"
    version: str = "2"
    ability: str = "L4/Open-world Exploration/Self-Goaling"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = PhotosOfTask
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": ("1", "2", "3", "4")}
    needs: frozenset[str] = frozenset({"effector_path", "task"})
    reads: frozenset[str] = frozenset({"effector_path", "task"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PhotosOfTask:
        """Random frames without a way back, in random order; each place has the last one equally often."""
        states, task = task_states(scene), instruction_of(scene)
        if isinstance(states, str) or not task or len(states.frames) < _PHOTOS:
            return PhotosOfTask.none()
        drawn = rng.random((_TRIED * count, len(states.frames))).argsort(axis=1)[:, :_PHOTOS]
        frames = states.frames[np.sort(drawn, axis=1)]
        frames = frames[why_no_progress(states, frames) == ""][:count]
        shown = rng.permuted(frames, axis=1)
        latest, place = shown.argmax(axis=1), rng.permutation(len(frames)) % _PHOTOS
        every = np.arange(len(frames))
        shown[every, latest], shown[every, place] = shown[every, place], shown[every, latest]
        return PhotosOfTask(frames=shown, task=np.full(len(frames), task))

    def measure(self, facts: PhotosOfTask, scene: Scene) -> Measured:
        """The photo that was taken last, where time is progress."""
        states = task_states(scene)
        if isinstance(states, str):
            return Measured.none(len(facts), states)
        ordered = np.sort(facts.frames, axis=1)
        rows = np.maximum(states.rows(ordered), 0)
        last, others = rows[:, -1:], rows[:, :-1]
        change, margin = states.change(others, last).min(axis=1), states.margin(others, last).min(axis=1)
        task = task_of(scene)
        succeeds = task is not None and task.success is True
        cases: dict[str, np.ndarray | bool] = {
            NOT_THIS_TASK: ~same_words(facts.task, instruction_of(scene)),
            NOT_SUCCEEDED: not succeeds,
        }
        why = first_reason(len(facts), cases)
        label = (1 + facts.frames.argmax(axis=1)).astype(np.str_)
        return Measured(
            why=np.where(why == "", why_no_progress(states, ordered), why),
            value=change[:, None],
            sigma=(change / margin)[:, None],
            label=label,
            margin=margin,
            evidence={"change_seen": change.round(1), "way_done_percent": states.way_done_percent(facts.frames)},
            traps={
                "shown last": np.where(label == str(_PHOTOS), "", str(_PHOTOS)),
                "shows the least progress": (1 + facts.frames.argmin(axis=1)).astype(np.str_),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Four photos."""
        return Phrasing(media=tuple(Photo(frame=frame) for frame in fact["frames"]), values={"task": fact["task"]})
