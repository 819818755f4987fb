"""L3/Causal Reasoning/Geometry Puzzles: stacks of cubes on a 3 x 3 floor, seen from another side, or counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.answers.count import Count
from templates.chance import Chance
from templates.columns import Texts
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Polygon, Sheet
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.simulation.puzzles.puzzle import OPTIONS, DrawnChoice, Puzzle, Row
from templates.simulation.puzzles.solid import Vector, drawing, visible_shares
from templates.world import Procedural

Heights = tuple[tuple[int, ...], ...]
"""Cubes on each square of the floor: rows from the front, each from the left."""
_SIDE, _HIGHEST = 3, 4
_SIDES = {"front": 0, "right": 1, "back": 2, "left": 3}
_LEAST_SEEN = 0.2
"""Least visible share of the top of every column, and of every empty square of the floor: they tell all heights."""


@dataclass(frozen=True, kw_only=True)
class SeenStacks(Facts):
    """Stacks, and the side from which each is to be imagined."""

    heights: Int64[np.ndarray, "n 3 3"]
    """Rows from the front, each from the left."""
    side: Texts
    """front | right | back | left."""


@dataclass(frozen=True, kw_only=True)
class StackView(DrawnChoice):
    """The view of a stack of cubes from one of its sides."""

    name: str = "stack_view"
    version: str = "1"
    facts: ClassVar[type[Facts]] = SeenStacks

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A stack of which all heights can be seen, and a side."""
        if (heights := drawn_stack(rng)) is None:
            return None
        return {"heights": [[*row] for row in heights], "side": str(rng.choice([*_SIDES]))}

    def key(self, row: Row) -> object:
        """All of it: a turned stack has other views."""
        return str(row)

    def solution(self, row: Row) -> str:
        """The height of what is seen in each column, from the left."""
        return _view(_heights(row), str(row["side"]))

    def working(self, row: Row) -> str:
        """The heights of the columns that lie behind each other, from the left as one sees them."""
        lines = _from_side(_heights(row), str(row["side"])).T.tolist()
        return "; ".join(", ".join(map(str, line)) for line in lines)

    def mistakes(self, row: Row) -> Sequence[tuple[str, str]]:
        """Mirrored, from another side, or one column higher or lower."""
        right = self.solution(row)
        return sorted(
            {(wrong, name) for wrong, name in _wrong_views(_heights(row), str(row["side"]), right) if wrong != right}
        )

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The stack."""
        return (stack_sheet(_heights(row)),)

    def option(self, row: Row, solution: str) -> Sheet:
        """A view as squares."""
        squares = [(x, z) for x, height in enumerate(solution) for z in range(int(height))]
        shapes = [Polygon(corners=((x, z), (x + 1, z), (x + 1, z + 1), (x, z + 1)), fill="blue") for x, z in squares]
        return Sheet(polygons=tuple(shapes), extent=(0, 0, _SIDE, _HIGHEST))

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """The stack, and a view for each option."""
        made = super().phrase(format, fact, answer, offer)
        return replace(made, values={"side": fact["side"]})


@dataclass(frozen=True, kw_only=True)
class Stacks(Facts):
    """Stacks of cubes."""

    heights: Int64[np.ndarray, "n 3 3"]
    """Rows from the front, each from the left."""


@dataclass(frozen=True, kw_only=True)
class StackCount(Puzzle):
    """The number of cubes in a stack, hidden ones included."""

    name: str = "stack_count"
    version: str = "1"
    formats: tuple[FormatName, ...] = ("numeric", "choice")
    facts: ClassVar[type[Facts]] = Stacks

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A stack of which all heights can be seen, but not all cubes."""
        heights = drawn_stack(rng)
        return {"heights": [[*row] for row in heights]} if heights and _hidden(heights) else None

    def key(self, row: Row) -> object:
        """All of it."""
        return str(row)

    def solution(self, row: Row) -> str:
        """The number."""
        return str(sum(map(sum, _heights(row))))

    def working(self, row: Row) -> str:
        """The heights of the columns, and what is hidden."""
        rows = "; ".join(" + ".join(map(str, line)) for line in _heights(row))
        return f"{rows}; {_hidden(_heights(row))} of all are hidden"

    def measure(self, facts: Facts, world: Procedural) -> Measured:
        """The numbers; traps are those of who counts what is seen alone."""
        made, rows = super().measure(facts, world), facts.to_json()
        assert made.label is not None
        count = made.label.astype(np.float64)
        seen = count - [_hidden(_heights(row)) for row in rows]
        return replace(made, value=count[:, None], traps={"visible cubes alone": seen})

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number alone is right."""
        return measured.as_label() if format == "choice" else Count(value=measured.value[:, 0])

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """Four successive numbers; the right one is any of them."""
        if format != "choice":
            return None
        count = np.array([int(text) for text in answers.labels().tolist()], dtype=np.int64)
        right = chance.index("options", OPTIONS)
        numbers = (count - right)[:, None] + np.arange(OPTIONS)
        mistakes = np.where(numbers < count[:, None], "hidden cubes forgotten", "too many hidden cubes")
        return Offer(why=np.full(len(count), ""), options=numbers.astype(np.str_), right=right, mistakes=mistakes)

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The stack."""
        return (stack_sheet(_heights(row)),)

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """The stack, and the numbers."""
        return Phrasing(media=self.shown(fact), options=() if offer is None else tuple(offer.values(0)))


def drawn_stack(rng: np.random.Generator) -> Heights | None:
    """A random stack that is no block; None where the height of a column cannot be seen."""
    heights = np.minimum(rng.poisson(1.6, (_SIDE, _SIDE)), _HIGHEST)
    stack = tuple(tuple(map(int, row)) for row in heights)
    return stack if np.ptp(heights) > 1 and can_be_read(stack) else None


@lru_cache(maxsize=1 << 12)
def can_be_read(heights: Heights) -> bool:
    """Whether enough of the top of every column is visible, and of every empty square of the floor."""
    tops = [(x, y, height - 1) for y, row in enumerate(heights) for x, height in enumerate(row)]
    return bool((visible_shares(cubes_of(heights), tops)[:, 0] >= _LEAST_SEEN).all())


def cubes_of(heights: Heights) -> list[Vector]:
    """The cubes of a stack."""
    return [(x, y, z) for y, row in enumerate(heights) for x, height in enumerate(row) for z in range(height)]


@lru_cache(maxsize=1 << 12)
def _hidden(heights: Heights) -> int:
    """Number of cubes of which nothing is visible."""
    return int((visible_shares(cubes_of(heights)) == 0).all(axis=1).sum())


def stack_sheet(heights: Heights) -> Sheet:
    """The floor and the stack on it, from the front, the right and above."""
    floor = [(x, y, -1) for x in range(_SIDE) for y in range(_SIDE)]
    return Sheet(polygons=(*drawing(floor, tops_only=True), *drawing(cubes_of(heights))))


def _view(heights: Heights, side: str) -> str:
    """The greatest height in each line of squares away from that side, from the left."""
    return "".join(map(str, _from_side(heights, side).max(axis=0).tolist()))


def _from_side(heights: Heights, side: str) -> Int64[np.ndarray, "3 3"]:
    """Rows from that side, each from the left as seen from it."""
    return np.rot90(np.array(heights), _SIDES[side])


def _wrong_views(heights: Heights, side: str, right: str) -> Iterator[tuple[str, str]]:
    yield right[::-1], "mirrored"
    for other_side in _SIDES:
        yield _view(heights, other_side), "from another side"
    for k, height in enumerate(right):
        for other in (int(height) - 1, int(height) + 1):
            if 0 <= other <= _HIGHEST:
                yield f"{right[:k]}{other}{right[k + 1 :]}", "a column too high or too low"
    yield "".join(map(str, _from_side(heights, side)[0].tolist())), "the nearest row alone"


def _heights(row: Row) -> Heights:
    return tuple(tuple(map(int, line)) for line in row["heights"])
