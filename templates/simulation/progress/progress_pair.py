"""L3/Sequential Planning/Operation: which of two photos is nearer to the end of a task, in both orders (SpatialLogic).

The frames of an episode are thinned; a window is the number of kept frames between two photos. Both orders of a pair
are asked, so that no place is right more often.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Int64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.episode import Episode, effector_of, task_of
from templates.scene.scene import Scene
from templates.scene.task_states import TaskStates, task_states, why_no_progress
from templates.scene.task_words import NOT_SUCCEEDED, NOT_THIS_TASK, instruction_of, same_words, steps_of
from templates.template import Template
from templates.world import World

LEAST_WINDOW, LONG_WINDOW = 5, 12
"""Windows of the paper: 5 to 11, and 12 or more."""
_GRIPS = 0.4
"""Least change of the opening that words call opening or closing, as a share of the range it uses."""


@dataclass(frozen=True, kw_only=True)
class PairOfTask(Facts):
    """Two photos in order of time, and whether the later one is shown first."""

    frames: Int64[np.ndarray, "n 2"]
    inverse: Bool[np.ndarray, "n"]
    task: Texts
    change: Texts
    """What changes from the earlier to the later photo, in words; "" where it is not told."""


@dataclass(frozen=True, kw_only=True)
class ProgressPair(Template):
    """The photo that is nearer to the end, of two between which the effector never goes back. Measures the change of
    the state, in changes that a person sees."""

    name: str = "progress_pair"
    version: str = "2"
    ability: str = "L3/Sequential Planning/Operation"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = PairOfTask
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": ("1", "2")}
    needs: frozenset[str] = frozenset({"effector_path", "task"})
    reads: frozenset[str] = frozenset({"effector_path", "task"})
    thinned: int = 10
    """Of so many frames one is kept."""

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PairOfTask:
        """Pairs of all windows by turns, each in both orders; every second pair with its change in words."""
        states, task = task_states(scene), instruction_of(scene)
        if isinstance(states, str) or not task:
            return PairOfTask.none()
        frames = pairs_of(states, self.thinned, rng)[: (count + 1) // 2]
        told = np.arange(len(frames)) % 2 == 1
        change = np.where(told, _in_words(scene, states, frames), "")
        return PairOfTask(
            frames=np.repeat(frames, 2, axis=0),
            inverse=np.tile([False, True], len(frames)),
            task=np.full(2 * len(frames), task),
            change=np.repeat(change, 2),
        )

    def measure(self, facts: PairOfTask, scene: Scene) -> Measured:
        """The photo that was taken later, where time is progress."""
        states, task = task_states(scene), task_of(scene)
        if isinstance(states, str):
            return Measured.none(len(facts), states)
        rows = states.rows(facts.frames)
        known = np.maximum(rows, 0)
        change, margin = states.change(known[:, 0], known[:, 1]), states.margin(known[:, 0], known[:, 1])
        words = np.where((rows >= 0).all(axis=1), _in_words(scene, states, states.frames[known]), "")
        cases: dict[str, np.ndarray | bool] = {
            NOT_THIS_TASK: ~same_words(facts.task, instruction_of(scene)),
            NOT_SUCCEEDED: task is None or task.success is not True,
            "the photos are not in order of time": facts.frames[:, 0] >= facts.frames[:, 1],
            "something else changes between the photos": (facts.change != "") & (facts.change != words),
        }
        why, done = first_reason(len(facts), cases), states.way_done_percent(facts.frames)
        window = np.round(np.diff(known, axis=1)[:, 0] / self.thinned).astype(np.int64)
        return Measured(
            why=np.where(why == "", why_no_progress(states, facts.frames), why),
            value=change[:, None],
            sigma=(change / np.maximum(margin, 1e-9))[:, None],
            label=np.where(facts.inverse, "1", "2"),
            margin=margin,
            evidence={
                "change_seen": change.round(1),
                "way_done_percent": np.where(facts.inverse[:, None], done[:, ::-1], done),
                "suite": np.full(len(facts), "spatiallogic"),
                "window": window,
                "direction": np.where(facts.inverse, "inverse", "forward"),
                "pair": np.array([f"{a}-{b}" for a, b in facts.frames.tolist()], dtype=np.str_),
                "target": np.where(facts.inverse, "img1", "img2"),
            },
            traps={"shown last": np.where(facts.inverse, "2", "")},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos."""
        frames = fact["frames"][::-1] if fact["inverse"] else fact["frames"]
        told = {"change": fact["change"]} if fact["change"] else {}
        return Phrasing(
            media=tuple(Photo(frame=frame) for frame in frames),
            wording="choice.conditional" if told else "choice.plain",
            values={"task": fact["task"], **told},
        )


def pairs_of(states: TaskStates, thinned: int, rng: np.random.Generator) -> Int64[np.ndarray, "p 2"]:
    """Frames of all pairs with progress, the windows of the paper by turns."""
    kept = states.frames[::thinned]
    a, b = np.triu_indices(len(kept), LEAST_WINDOW)
    order = rng.permutation(len(a))
    a, b = a[order], b[order]
    frames = np.stack([kept[a], kept[b]], axis=1)
    steady = why_no_progress(states, frames) == ""
    frames, window = frames[steady], np.minimum((b - a)[steady], LONG_WINDOW)
    turn = np.zeros(len(window), dtype=np.int64)
    for each in np.unique(window):
        turn[window == each] = np.arange((window == each).sum())
    return frames[np.argsort(turn, kind="stable")]


def _in_words(scene: Scene, states: TaskStates, frames: Int64[np.ndarray, "n 2"]) -> Texts:
    """What the effector does between two frames, and what steps begin in between."""
    path, task = effector_of(scene), task_of(scene)
    if path is None or task is None:
        return np.full(len(frames), "")
    rows = np.maximum(states.rows(frames), 0)
    grips = np.diff(states.opening[rows], axis=1)[:, 0]
    way = np.linalg.norm(np.diff(states.at[rows], axis=1)[:, 0], axis=1) * states.room
    known, words = steps_of(scene), []
    steps = [*zip(known, task.step_frames.tolist(), strict=True)] if known else []
    for grip, length, (a, b) in zip(grips.tolist(), way.tolist(), frames.tolist(), strict=True):
        said = [f"the {path.effector} {'opens' if grip > 0 else 'closes'}"] if abs(grip) >= _GRIPS else []
        if path.scale.kind == "metric":
            said.append(f"the {path.effector} ends {max(1, round(100 * length))} cm from where it was")
        said += [f'"{text}" begins' for text, start in steps if a < start <= b]
        words.append(", ".join(said))
    return np.array(words, dtype=np.str_)
