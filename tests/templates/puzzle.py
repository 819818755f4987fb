"""A puzzle, as a template of others would be: two shapes of squares, one turned, and perhaps mirrored."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Label
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Polygon, Sheet
from templates.question import Phrasing
from templates.template import Template
from templates.wording import Wording
from templates.world import Procedural


@dataclass(frozen=True, kw_only=True)
class Shapes(Facts):
    first: Int64[np.ndarray, "n 3 3"]
    second: Int64[np.ndarray, "n 3 3"]


@dataclass(frozen=True, kw_only=True)
class TurnedSquares(Template):
    name, version, ability = "turned_squares", "1", "L3/Causal Reasoning/Geometry Puzzles"
    formats, facts, world = ("yes_no",), Shapes, Procedural
    needs = reads = frozenset()
    WORDS: ClassVar = Wording(
        instructions="A shape may be turned in the plane, but not flipped.",
        prompts=("Are the two shapes the same?", "Can shape 1 be turned so that it becomes shape 2?"),
    )

    def propose(self, world: Procedural, rng: np.random.Generator, count: int) -> Shapes:
        first = rng.integers(0, 2, (count, 3, 3))
        second = np.array([np.rot90(np.fliplr(shape) if rng.random() < 0.5 else shape) for shape in first])
        return Shapes(first=first, second=second)

    def measure(self, facts: Shapes, world: Procedural) -> Measured:
        turned = [np.rot90(facts.first, k, axes=(1, 2)) for k in range(4)]
        same = np.any([(shape == facts.second).all(axis=(1, 2)) for shape in turned], axis=0)
        number = same[:, None].astype(float)
        return Measured(why=np.full(len(facts), ""), value=number, sigma=np.zeros_like(number))

    def answer(self, format: str, facts: Shapes, measured: Measured) -> Label:
        same = measured.value[:, 0] == 1
        return Label(text=np.where(same, "yes", "no"), margin=np.full(len(same), np.inf))

    def phrase(self, format: str, fact: dict, answer: Label, offer: None) -> Phrasing:
        return Phrasing(media=(sheet(fact["first"]), sheet(fact["second"])))

    def wording(self, key: str) -> Wording:
        return self.WORDS


def sheet(squares: list[list[int]]) -> Sheet:
    filled = [(x, -y) for y, row in enumerate(squares) for x, is_filled in enumerate(row) if is_filled]
    corners = [((x, y), (x + 1, y), (x + 1, y - 1), (x, y - 1)) for x, y in filled]
    return Sheet(polygons=tuple(Polygon(corners=each) for each in corners), extent=(0, -3, 3, 0))
