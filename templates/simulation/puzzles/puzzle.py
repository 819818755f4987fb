"""Base classes of puzzles: no puzzle comes twice, and of drawn options exactly one is right."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Sheet
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.template import Template
from templates.world import Procedural, World

OPTIONS = 4
"""Of a choice."""
_TRIES = 30
"""Draws for each puzzle that is wanted: there may be fewer different ones."""
_CANDIDATES = 256
"""Most wrong options of which three are chosen."""
_OPTION_PX = 320
"""Longer side of the picture of an option."""
Row = Mapping[str, Json]
"""The parameters of one puzzle."""


@dataclass(frozen=True, kw_only=True)
class Puzzle(Template):
    """A puzzle with one solution, which is written as a text."""

    ability: str = "L3/Causal Reasoning/Geometry Puzzles"
    formats: tuple[FormatName, ...] = ("choice",)
    world: ClassVar[type[World]] = Procedural
    needs: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    spare: ClassVar[int] = 1

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A random puzzle; None where the draw gives none."""
        raise NotImplementedError(f"{type(self).__name__} has neither `drawn` nor `draws`")

    def draws(self, rng: np.random.Generator, count: int) -> Iterator[Row | None]:
        """So many random puzzles as may be needed for `count` different ones."""
        return (self.drawn(rng) for _ in range(_TRIES * count))

    @abstractmethod
    def key(self, row: Row) -> object:
        """Equal for puzzles that are alike: turned or mirrored as a whole, where that changes nothing."""

    @abstractmethod
    def solution(self, row: Row) -> str:
        """The solution."""

    def working(self, row: Row) -> str:
        """The intermediate results that lead to the solution, as evidence; by default none."""
        return ""

    @abstractmethod
    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The drawings of the puzzle."""

    def propose(self, world: Procedural, rng: np.random.Generator, count: int) -> Facts:
        """Up to `count` puzzles, no two alike."""
        rows: dict[object, Row] = {}
        for row in self.draws(rng, count):
            if row is not None:
                rows.setdefault(self.key(row), row)
            if len(rows) == count:
                break
        return self.facts.from_json([*rows.values()])

    def measure(self, facts: Facts, world: Procedural) -> Measured:
        """The solutions, which are certain."""
        rows = facts.to_json()
        zero, sure = np.zeros((len(facts), 1)), np.full(len(facts), np.inf)
        return Measured(
            why=np.full(len(facts), ""),
            value=zero,
            sigma=zero,
            label=np.array([self.solution(row) for row in rows], dtype=np.str_),
            margin=sure,
            evidence={"working": np.array([self.working(row) for row in rows], dtype=np.str_)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The solution."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """The drawings."""
        return Phrasing(media=self.shown(fact))


@dataclass(frozen=True, kw_only=True)
class DrawnChoice(Puzzle):
    """A puzzle whose options are drawings. The solution says all that the right one shows."""

    @abstractmethod
    def mistakes(self, row: Row) -> Sequence[tuple[str, str]]:
        """Wrong options, each with the mistake that leads to it. None is right in any way."""

    @abstractmethod
    def option(self, row: Row, solution: str) -> Sheet:
        """The drawing of an option."""

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """The solution and three wrong options, of as many different mistakes as there are."""
        orders = chance.uniform("wrong options", _CANDIDATES)
        chosen = [varied(self.mistakes(row), order) for row, order in zip(facts.to_json(), orders, strict=True)]
        none = [("", "")] * (OPTIONS - 1)
        rights = answers.labels().tolist()
        options = [[right, *(wrong for wrong, _ in each or none)] for right, each in zip(rights, chosen, strict=True)]
        mistakes = [["", *(name for _, name in each or none)] for each in chosen]
        shape = (len(facts), OPTIONS)
        return Offer.first_right(
            np.array(options, dtype=np.str_).reshape(shape),
            np.array(["" if each else "too few wrong options" for each in chosen], dtype=np.str_),
            np.array(mistakes, dtype=np.str_).reshape(shape),
        )

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """The drawings, and one for each option."""
        assert offer is not None
        drawn = tuple(replace(self.option(fact, solution), side_px=_OPTION_PX) for solution in offer.values(0))
        return Phrasing(media=self.shown(fact), options=drawn)


def varied(mistakes: Sequence[tuple[str, str]], chance: np.ndarray) -> list[tuple[str, str]]:
    """Three different wrong options, those of mistakes that were not yet made first; none where there are too few."""
    order = [mistakes[k] for k in np.argsort(chance[: len(mistakes)], kind="stable")]
    chosen: list[tuple[str, str]] = []
    while len(chosen) < OPTIONS - 1:
        made = [name for _, name in chosen]
        left = [one for one in order if one[0] not in {wrong for wrong, _ in chosen}]
        if not left:
            return []
        chosen.append(min(left, key=lambda one: made.count(one[1])))
    return chosen
