"""L3/Sequential Planning/Operation: which moves turn one stack of cubes into another?"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Texts
from templates.facts import Facts
from templates.media import Sheet
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.simulation.puzzles.cube_state import (
    Move,
    State,
    after,
    can_be_read,
    drawn_state,
    first_alike,
    moves_from,
    moves_in_words,
    moves_of,
    moves_text,
    sheet_of,
    state_of,
    text_of,
)
from templates.simulation.puzzles.puzzle import Puzzle, Row

_SEPARATOR = "; "
_TRIES = 8


@dataclass(frozen=True, kw_only=True)
class TwoStates(Facts):
    """Two states of cubes, and sequences of moves."""

    start: Texts
    """As `cube_state.text_of` writes it."""
    goal: Texts
    sequences: Texts
    """Four, of which exactly one leads from the start to the goal: "B right, O up; ..."."""


@dataclass(frozen=True, kw_only=True)
class CubeMoves(Puzzle):
    """The sequence of moves that turns one stack of coloured cubes into another.

    All sequences are possible, and lead to no state twice. None stands out: to each of them the offer has one that
    differs from it in a step, and either both in reverse order, or both with another step changed.
    """

    name: str = "cube_moves"
    version: str = "1"
    ability: str = "L3/Sequential Planning/Operation"
    facts: ClassVar[type[Facts]] = TwoStates
    floor: tuple[int, int] = (3, 2)
    """Squares from left to right, and from front to back."""
    cubes: tuple[int, ...] = (4, 5)
    """Numbers of cubes, at most 5."""
    moves: tuple[int, ...] = (3, 4)
    """Numbers of moves."""

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A random stack with a cube on another one, moves after which no state comes again, and wrong sequences."""
        start = drawn_state(*self.floor, int(rng.choice(self.cubes)), rng)
        if len(max(sum(start, ()), key=len)) < 2 or not can_be_read(start):
            return None
        states, right = _walk(start, int(rng.choice(self.moves)), rng)
        if len({*states}) < len(states) or not can_be_read(states[-1]):
            return None
        for _ in range(_TRIES):
            sequences = _alternatives(right, states, rng)
            if len({*map(tuple, sequences)}) == len(sequences) and leading(start, states[-1], sequences) == [0]:
                texts = [moves_text(sequences[k]) for k in rng.permutation(len(sequences)).tolist()]
                return {
                    "start": text_of(start),
                    "goal": text_of(states[-1]),
                    "sequences": _SEPARATOR.join(texts),
                }
        return None

    def key(self, row: Row) -> object:
        """Start and goal, however the floor is turned or mirrored and the cubes are coloured."""
        return first_alike([state_of(row["start"]), state_of(row["goal"])])

    def solution(self, row: Row) -> str:
        """The only sequence that leads to the goal."""
        sequences = _sequences(row)
        (right,) = leading(state_of(row["start"]), state_of(row["goal"]), sequences)
        return moves_text(sequences[right])

    def working(self, row: Row) -> str:
        """The states after each move of the solution."""
        states = after(state_of(row["start"]), moves_of(self.solution(row)))
        assert states is not None
        return "; ".join(map(text_of, states))

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """The four sequences."""
        rows = facts.to_json()
        options = np.array([row["sequences"].split(_SEPARATOR) for row in rows], dtype=np.str_)
        right = (options == answers.labels()[:, None]).argmax(axis=1)
        mistakes = [
            [_mistake(sequence, each[k]) for sequence in each]
            for each, k in zip(map(_sequences, rows), right.tolist(), strict=True)
        ]
        return Offer(why=np.full(len(rows), ""), options=options, right=right, mistakes=np.array(mistakes))

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """Start and goal."""
        return (start_and_goal(row),)

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """Both states, and the moves in words."""
        return Phrasing(media=self.shown(fact), options=tuple(map(moves_in_words, _sequences(fact))))


def start_and_goal(row: Row) -> Sheet:
    """Two states side by side."""
    return sheet_of([state_of(row["start"]), state_of(row["goal"])], ["start", "goal"])


def leading(start: State, goal: State, sequences: Sequence[Sequence[Move]]) -> list[int]:
    """Indices of the sequences that lead from start to goal."""
    return [k for k, moves in enumerate(sequences) if (states := after(start, moves)) and states[-1] == goal]


def _walk(start: State, count: int, rng: np.random.Generator) -> tuple[list[State], list[Move]]:
    """Random moves, and the states before, between and after them."""
    states, moves = [start], list[Move]()
    for _ in range(count):
        move, state = _any(moves_from(states[-1]), rng)
        moves.append(move)
        states.append(state)
    return states, moves


def _alternatives(right: list[Move], states: Sequence[State], rng: np.random.Generator) -> list[list[Move]]:
    """The right sequence, and three that are related to each other as to it; none where one is not possible, or leads
    to a state twice."""
    first, second = rng.permutation(len(right))[:2].tolist()
    changed = _changed(right, first, states, rng)
    if rng.random() < 0.5:
        every = [right, changed, right[::-1], changed[::-1]]
    else:
        both = _changed(right, second, states, rng)
        every = [right, changed, both, [*both[:first], changed[first], *both[first + 1 :]]]
    walks = [after(states[0], moves) for moves in every]
    return every if all(walk and len({*walk}) == len(walk) for walk in walks) else []


def _changed(moves: list[Move], at: int, states: Sequence[State], rng: np.random.Generator) -> list[Move]:
    """With another move of the same cube, or of another one in the same direction."""
    cube, direction = moves[at]
    others = [(move, s) for move, s in moves_from(states[at]) if (move[0] == cube) != (move[1] == direction)]
    return [*moves[:at], _any(others, rng)[0], *moves[at + 1 :]] if others else moves


def _any(moves: Iterable[tuple[Move, State]], rng: np.random.Generator) -> tuple[Move, State]:
    found = [*moves]
    return found[int(rng.integers(len(found)))]


def _mistake(sequence: Sequence[Move], right: Sequence[Move]) -> str:
    if sequence == right:
        return ""
    if sequence == right[::-1]:
        return "in reverse order"
    wrong = sum(a != b for a, b in zip(sequence, right, strict=True))
    reversed_wrong = sum(a != b for a, b in zip(sequence[::-1], right, strict=True))
    if reversed_wrong < wrong:
        return "in reverse order, a step wrong"
    return "a step wrong" if wrong == 1 else "two steps wrong"


def _sequences(row: Row) -> list[list[Move]]:
    return [moves_of(text) for text in row["sequences"].split(_SEPARATOR)]
