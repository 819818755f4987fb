"""L4/Open-world Exploration/Self-Goaling: what is to be done next in each of two photos, and whether a third shows the
end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.agent.self_goaling.done_yet import unfinished
from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import LETTERS, FormatName, Phrasing
from templates.scene.episode import Episode
from templates.scene.scene import Scene
from templates.scene.task_states import task_states
from templates.scene.task_steps import NO_START, begun, clear_starts, margin_of_starts, why_not_this_task
from templates.scene.task_words import in_one_line, instruction_of, joined_words, separated, steps_of
from templates.template import Template
from templates.world import World

_ACTIONS = 4
"""Most actions that are listed for a photo."""
_MISTAKES = (
    "",
    "wrong end",
    "second action wrong",
    "second action and end wrong",
    "first action wrong",
    "first action and end wrong",
    "both actions wrong",
    "all wrong",
)
"""By what is wrong: 4: the first action; 2: the second one; 1: whether it is the end."""
_PAIRS = np.array([[0, 7], [1, 6], [2, 5], [3, 4]])
"""An option and its opposite. Three pairs hold each letter and each end equally often: none is right by majority."""


@dataclass(frozen=True, kw_only=True)
class StatesOfTask(Facts):
    """Three photos in order of time, and the actions listed for the first two, one in a line."""

    frames: Int64[np.ndarray, "n 3"]
    task: Texts
    steps: Texts
    """All of the task, in order."""
    first: Texts
    second: Texts


@dataclass(frozen=True, kw_only=True)
class StepsAndDone(Template):
    """Two photos in which a step begins, and one of the end or of long before. Measures the change of the third until
    the end, in changes that a person sees."""

    name: str = "steps_and_done"
    version: str = "2"
    ability: str = "L4/Open-world Exploration/Self-Goaling"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Episode
    facts: ClassVar[type[Facts]] = StatesOfTask
    needs: frozenset[str] = frozenset({"effector_path", "task"})
    reads: frozenset[str] = frozenset({"effector_path", "task"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> StatesOfTask:
        """Every two steps; the third photo shows the end as often as not."""
        states, task, steps = task_states(scene), instruction_of(scene), steps_of(scene)
        if isinstance(states, str) or not task or not steps:
            return StatesOfTask.none()
        starts, rows = clear_starts(scene, states), []
        thirds = (states.frames[states.settled :], unfinished(states))
        pairs = [(i, j) for i, j in combinations(range(len(steps)), 2) if min(starts[i], starts[j]) >= 0]
        may_follow = [[pair for pair in pairs if (third > starts[pair[1]]).any()] for third in thirds]
        for k in range(count if all(may_follow) else 0):
            third, follows = thirds[k % 2], may_follow[k % 2]
            i, j = follows[int(rng.integers(len(follows)))]
            listed = [joined_words(_listed(steps, step, rng)) for step in (i, j)]
            frames = [int(starts[i]), int(starts[j]), int(rng.choice(third[third > starts[j]]))]
            rows.append({"frames": frames, "task": task, "steps": joined_words(steps)} | _named(listed))
        return StatesOfTask.from_json(rows)

    def measure(self, facts: StatesOfTask, scene: Scene) -> Measured:
        """The letter of the step that begins in each of two photos; 1 if the third shows the end, else 0."""
        states = task_states(scene)
        if isinstance(states, str):
            return Measured.none(len(facts), states)
        step, third = begun(scene, states, facts.frames[:, :2]), states.rows(facts.frames[:, 2])
        steps = [*steps_of(scene), ""]
        letters = [
            [_letter(listed, steps[k]) for listed, k in zip(separated(column), step[:, n].tolist(), strict=True)]
            for n, column in enumerate((facts.first, facts.second))
        ]
        row, end = np.maximum(third, 0), np.full(len(third), len(states.frames) - 1)
        change, margin = states.change(row, end), states.margin(row, end)
        ends, early = third >= states.settled, np.isin(facts.frames[:, 2], unfinished(states)) & (change >= 1)
        why = why_not_this_task(scene, facts.task, facts.steps)
        cases = {
            NO_START: (step < 0).any(axis=1),
            "the next step is not among the actions": np.array(
                [not (a and b) for a, b in zip(*letters, strict=True)], dtype=bool
            ),
            "the state of the effector is not known in a photo": third < 0,
            "the task may be finished or nearly finished": ~ends & ~early,
        }
        return Measured(
            why=np.where(why == "", first_reason(len(facts), cases), why),
            value=change[:, None],
            evidence={"change_seen": change.round(1), "way_done_percent": states.way_done_percent(facts.frames)},
            sigma=np.where(margin > 0, change / np.maximum(margin, 1e-9), 1 / 3)[:, None],
            label=np.array(
                [f"{a}{b}{int(end)}" for a, b, end in zip(*letters, ends.tolist(), strict=True)], dtype=np.str_
            ),
            margin=np.minimum(
                np.where(ends, np.inf, margin), margin_of_starts(scene, states, step).min(axis=1, initial=np.inf)
            ),
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The letters and the digit."""
        return measured.as_label()

    def offer(self, format: FormatName, facts: StatesOfTask, answers: Answers, chance: Chance) -> Offer:
        """The right answer and wrong ones; every letter and digit of them occurs equally often."""
        draws, pairs = chance.uniform("letters", 2), 1 + chance.order("pairs", 3)[:, :2]
        shown = np.concatenate([np.broadcast_to(_PAIRS[0], (len(facts), 2)), _PAIRS[pairs].reshape(-1, 4)], axis=1)
        lists = zip(separated(facts.first), separated(facts.second), strict=True)
        options = [
            [_changed(right, codes, lengths, draw) for codes in row] if right else [""] * shown.shape[1]
            for right, row, lengths, draw in zip(
                answers.labels().tolist(),
                shown.tolist(),
                [(len(a), len(b)) for a, b in lists],
                draws.tolist(),
                strict=True,
            )
        ]
        texts = np.array(options, dtype=np.str_).reshape(len(facts), shown.shape[1])
        return Offer.first_right(texts, mistakes=np.array(_MISTAKES)[shown])

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Three photos, all steps in order, and the lists of actions."""
        assert offer is not None
        return Phrasing(
            media=tuple(Photo(frame=frame) for frame in fact["frames"]),
            values={
                "task": fact["task"],
                "steps": in_one_line(fact["steps"]),
                **{name: _list(fact[name]) for name in ("first", "second")},
            },
            options=tuple(offer.values(0)),
        )


def _listed(steps: tuple[str, ...], right: int, rng: np.random.Generator) -> tuple[str, ...]:
    """The step and others, in random order."""
    others = rng.permutation([k for k in range(len(steps)) if k != right])[: _ACTIONS - 1]
    return tuple(steps[k] for k in rng.permutation([right, *others]))


def _named(listed: Sequence[str]) -> dict[str, str]:
    return dict(zip(("first", "second"), listed, strict=True))


def _letter(listed: tuple[str, ...], step: str) -> str:
    return LETTERS[listed.index(step)] if step and step in listed else ""


def _list(column: str) -> str:
    return "; ".join(f"{letter}. {step}" for letter, step in zip(LETTERS, column.split("\n"), strict=False))


def _changed(right: str, code: int, lengths: tuple[int, int], draw: Sequence[float]) -> str:
    """The answer with what the code says changed; the other letter of a photo is the same in all options."""
    letters = [
        LETTERS[(LETTERS.index(letter) + 1 + int(share * (length - 1))) % length] if code & bit else letter
        for letter, length, share, bit in zip(right[:2], lengths, draw, (4, 2), strict=True)
    ]
    return "".join(letters) + (str(1 - int(right[2])) if code & 1 else right[2])
