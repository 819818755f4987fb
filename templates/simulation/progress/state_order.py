"""L3/Sequential Planning/Operation: the order of shuffled states of a task."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from templates.agent.self_goaling.most_progress import MostProgress, PhotosOfTask
from templates.answers import Answer
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_labels
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.scene import Scene
from templates.scene.task_states import task_states

_MISTAKES = ("", "reversed", "neighbours exchanged", "reversed, neighbours exchanged")


@dataclass(frozen=True, kw_only=True)
class StateOrder(MostProgress):
    """Four photos between which the effector never goes back, as in `most_progress`. Measures the least change between
    two of their states, in changes that a person sees."""

    name: str = "state_order"
    version: str = "2"
    ability: str = "L3/Sequential Planning/Operation"
    formats: tuple[FormatName, ...] = ("order", "choice")
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {}

    def measure(self, facts: PhotosOfTask, scene: Scene) -> Measured:
        """The order of time, where time is progress."""
        states, found = task_states(scene), super().measure(facts, scene)
        if isinstance(states, str):
            return found
        order = facts.frames.argsort(axis=1)
        rows = np.maximum(states.rows(np.take_along_axis(facts.frames, order, axis=1)), 0)
        a, b = np.triu_indices(rows.shape[1], 1)
        change, margin = (each(rows[:, a], rows[:, b]).min(axis=1) for each in (states.change, states.margin))
        return Measured(
            why=found.why,
            value=change[:, None],
            sigma=(change / np.maximum(margin, 1e-9))[:, None],
            label=order_labels(1 + order),
            margin=margin,
            evidence={"change_seen": change.round(1), "way_done_percent": states.way_done_percent(facts.frames)},
            traps={"as shown": np.full(len(facts), "1 2 3 4"), "reversed": order_labels(1 + order[:, ::-1])},
        )

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer:
        """The right order, one with two neighbours exchanged, and the reverse of both: no option stands out."""
        if format != "choice":
            return Offer(why=np.full(len(facts), ""))
        assert isinstance(facts, PhotosOfTask)
        right, place = 1 + facts.frames.argsort(axis=1), np.arange(facts.frames.shape[1])
        at = chance.index("neighbours", len(place) - 1)[:, None]
        exchanged = np.take_along_axis(right, place + (place == at) - (place == at + 1), axis=1)
        orders = np.stack([right, right[:, ::-1], exchanged, exchanged[:, ::-1]], axis=1)
        texts = order_labels(orders.reshape(-1, len(place))).reshape(len(facts), len(_MISTAKES))
        return Offer.first_right(texts, mistakes=_MISTAKES)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Four photos."""
        shown = super().phrase(format, fact, answer, offer)
        if format == "order":
            return Phrasing(
                media=shown.media, values=shown.values, answer=numbers_in_order(str(answer.to_json().value))
            )
        assert offer is not None
        options = tuple(value.replace(" ", ", ") for value in offer.values(0))
        return Phrasing(media=shown.media, values=shown.values, options=options)
