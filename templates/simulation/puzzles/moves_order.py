"""L3/Sequential Planning/Operation: in which order do these stacks of cubes follow from each other, move by move?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, permutations
from typing import ClassVar

import numpy as np

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_label
from templates.chance import Chance
from templates.columns import Texts
from templates.facts import Facts
from templates.media import Sheet
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.simulation.puzzles.cube_state import (
    State,
    can_be_read,
    drawn_state,
    first_alike,
    moves_from,
    moves_in_words,
    sheet_of,
    state_of,
    text_of,
)
from templates.simulation.puzzles.puzzle import Puzzle, Row

_SEPARATOR = "; "
_SIDE_PX = 400
"""Longer side of a drawing."""
_MISTAKES = ("", "reversed", "neighbours exchanged", "reversed, neighbours exchanged")


@dataclass(frozen=True, kw_only=True)
class ShuffledStates(Facts):
    """States of cubes of which each comes from another one by a move."""

    states: Texts
    """The first one, and the others in random order, as `cube_state.text_of` writes them: "BO -/- P; B O/- P"."""


@dataclass(frozen=True, kw_only=True)
class MovesOrder(Puzzle):
    """The order of shuffled states of cubes, given the first one. The label is the order of the others, as numbers of
    drawings ("3 2 5 4")."""

    name: str = "moves_order"
    version: str = "1"
    ability: str = "L3/Sequential Planning/Operation"
    formats: tuple[FormatName, ...] = ("order", "choice")
    facts: ClassVar[type[Facts]] = ShuffledStates
    floor: tuple[int, int] = (3, 2)
    """Squares from left to right, and from front to back."""
    cubes: tuple[int, ...] = (4, 5)
    """Numbers of cubes, at most 5."""
    moves: tuple[int, ...] = (4,)
    """Numbers of moves, 3 or more."""

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A random stack and random moves; None where another order is possible."""
        states = [drawn_state(*self.floor, int(rng.choice(self.cubes)), rng)]
        if len(max(sum(states[0], ()), key=len)) < 2:
            return None
        for _ in range(int(rng.choice(self.moves))):
            following = [state for _, state in moves_from(states[-1]) if state not in states]
            if not following:
                return None
            states.append(following[int(rng.integers(len(following)))])
        if not all(map(can_be_read, states)):
            return None
        shuffled = [states[0], *(states[k] for k in rng.permutation(range(1, len(states))).tolist())]
        if len([*possible_orders(shuffled)]) > 1:
            return None
        return {"states": _SEPARATOR.join(map(text_of, shuffled))}

    def key(self, row: Row) -> object:
        """The states in order, however the floor is turned or mirrored and the cubes are coloured."""
        states = _states(row)
        return first_alike([states[0], *(states[k - 1] for k in numbers_in_order(self.solution(row)))])

    def solution(self, row: Row) -> str:
        """The only order in which each state comes from the one before by one move."""
        (order,) = possible_orders(_states(row))
        return order_label([k + 1 for k in order])

    def working(self, row: Row) -> str:
        """The moves between the states in order."""
        states = _states(row)
        (order,) = possible_orders(states)
        ordered = [states[0], *(states[k] for k in order)]
        moves = [next(move for move, after in moves_from(a) if after == b) for a, b in pairwise(ordered)]
        return moves_in_words(moves)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """The right order, one with two neighbours exchanged, and the reverse of both: no option stands out."""
        if format != "choice":
            return None
        orders = [numbers_in_order(label) for label in answers.labels().tolist()]
        at = chance.index("neighbours", np.array([len(order) - 1 for order in orders]))
        exchanged = [
            [*order[:k], order[k + 1], order[k], *order[k + 2 :]] for order, k in zip(orders, at.tolist(), strict=True)
        ]
        options = [[a, a[::-1], b, b[::-1]] for a, b in zip(orders, exchanged, strict=True)]
        texts = np.array([[order_label(order) for order in row] for row in options], dtype=np.str_)
        return Offer.first_right(texts.reshape(len(orders), len(_MISTAKES)), mistakes=_MISTAKES)

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """Each state with its number."""
        sheets = (sheet_of([state], [f"drawing {k}"]) for k, state in enumerate(_states(row), start=1))
        return tuple(replace(sheet, side_px=_SIDE_PX) for sheet in sheets)

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """The drawings; drawing 1 is the first one."""
        if offer is None:
            return Phrasing(media=self.shown(fact), answer=numbers_in_order(self.solution(fact)))
        options = tuple(f"1, {value.replace(' ', ', ')}" for value in offer.values(0))
        return Phrasing(media=self.shown(fact), options=options)


def possible_orders(states: Sequence[State]) -> Iterator[tuple[int, ...]]:
    """Orders of all states but the first one (indices from 1) in which each comes from the one before by one move."""
    leads = [{after for _, after in moves_from(state)} for state in states]
    for order in permutations(range(1, len(states))):
        if all(states[b] in leads[a] for a, b in pairwise((0, *order))):
            yield order


def _states(row: Row) -> list[State]:
    return [state_of(text) for text in row["states"].split(_SEPARATOR)]
