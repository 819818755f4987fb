"""L3/Sequential Planning/Operation: how many moves does it take at least to turn one stack of cubes into another?"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.answers.count import Count
from templates.chance import Chance
from templates.columns import Texts
from templates.facts import Facts
from templates.measured import Measured
from templates.media import Sheet
from templates.offer import Offer, fixed_options
from templates.question import FormatName, Phrasing
from templates.simulation.puzzles.cube_state import (
    can_be_read,
    cubes_in,
    distances,
    drawn_state,
    first_alike,
    place_of,
    recoloured,
    sheet_of,
    shortest_way,
    state_of,
    text_of,
)
from templates.simulation.puzzles.puzzle import Puzzle, Row
from templates.world import Procedural

_TRIES = 20


@dataclass(frozen=True, kw_only=True)
class StartAndGoal(Facts):
    """Two states of cubes."""

    start: Texts
    """As `cube_state.text_of` writes it."""
    goal: Texts


@dataclass(frozen=True, kw_only=True)
class FewestMoves(Puzzle):
    """The fewest moves between two states of cubes; every number is right equally often."""

    name: str = "fewest_moves"
    version: str = "1"
    ability: str = "L3/Sequential Planning/Operation"
    formats: tuple[FormatName, ...] = ("numeric", "choice")
    facts: ClassVar[type[Facts]] = StartAndGoal
    floor: tuple[int, int] = (3, 2)
    """Squares from left to right, and from front to back."""
    cubes: tuple[int, ...] = (3, 4)
    """Numbers of cubes, at most 5; with 5 the search takes long."""
    moves: tuple[int, ...] = (2, 3, 4, 5)
    """Fewest numbers of moves; the options of a choice."""

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A random number of moves, a random start, and a goal so far from it."""
        wanted = int(rng.choice(self.moves))
        for _ in range(_TRIES):
            start = drawn_state(*self.floor, int(rng.choice(self.cubes)), rng)
            if not can_be_read(start):
                continue
            plain = recoloured(start, start)
            goals = [goal for goal, count in distances(plain, max(self.moves)).items() if count == wanted]
            if goals and can_be_read(goal := goals[int(rng.integers(len(goals)))]):
                colours = str.maketrans(cubes_in(plain), cubes_in(start))
                return {"start": text_of(start), "goal": text_of(goal).translate(colours)}
        return None

    def key(self, row: Row) -> object:
        """Start and goal, however the floor is turned or mirrored and the cubes are coloured."""
        return first_alike([state_of(row["start"]), state_of(row["goal"])])

    def solution(self, row: Row) -> str:
        """The number."""
        start, goal = state_of(row["start"]), state_of(row["goal"])
        return str(distances(recoloured(start, start), max(self.moves))[recoloured(goal, start)])

    def working(self, row: Row) -> str:
        """The states of a shortest way."""
        return "; ".join(map(text_of, shortest_way(state_of(row["start"]), state_of(row["goal"]))))

    def measure(self, facts: Facts, world: Procedural) -> Measured:
        """The numbers; traps are those of who counts the cubes that are elsewhere, or by how far they are."""
        made, rows = super().measure(facts, world), facts.to_json()
        assert made.label is not None
        traps = {"cubes elsewhere": [_elsewhere(row) for row in rows], "units apart": [_apart(row) for row in rows]}
        return replace(
            made,
            value=made.label.astype(np.float64)[:, None],
            traps={name: np.array(numbers, dtype=np.float64) for name, numbers in traps.items()},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number alone is right."""
        return measured.as_label() if format == "choice" else Count(value=measured.value[:, 0])

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """All numbers that occur."""
        if format != "choice":
            return None
        return fixed_options([str(count) for count in sorted(self.moves)], answers.labels())

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """Start and goal."""
        return (sheet_of([state_of(row["start"]), state_of(row["goal"])], ["start", "goal"]),)

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """Both states, and the numbers."""
        return Phrasing(media=self.shown(fact), options=() if offer is None else tuple(offer.values(0)))


def _elsewhere(row: Row) -> int:
    return sum(apart > 0 for apart in _distances_of_cubes(row))


def _apart(row: Row) -> int:
    return sum(_distances_of_cubes(row))


def _distances_of_cubes(row: Row) -> list[int]:
    start, goal = state_of(row["start"]), state_of(row["goal"])
    pairs = ((place_of(start, cube), place_of(goal, cube)) for cube in cubes_in(start))
    return [sum(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in pairs]
