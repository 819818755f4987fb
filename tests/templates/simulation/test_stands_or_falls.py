"""Towers of boxes, judged again by the forces between them: does any set of them hold every box?"""

from collections import Counter
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

from templates.asked import Draft
from templates.generate import ask_puzzles
from templates.simulation.puzzles.stands_or_falls import Box, StandsOrFalls, alone, outcome
from tests.templates import worlds

pytestmark = pytest.mark.xdist_group("stands or falls")  # in one process the towers are drawn once


@cache
def found() -> list[Draft]:
    return worlds.drafts(ask_puzzles([StandsOrFalls()], 250, 0))


def boxes_of(fact: dict[str, list[int]]) -> list[Box]:
    return [*zip(fact["lefts"], fact["widths"], fact["heights"], strict=True)]


def held(boxes: list[Box]) -> bool:
    """Whether upward forces at both ends of every contact can balance the weight of each box and its torque."""
    count = len(boxes)
    balance, weights = np.zeros((2 * count, 2 * count)), np.zeros(2 * count)
    for k, (left, width, height) in enumerate(boxes):
        below = boxes[k - 1] if k else (left, width, 0)
        ends = max(left, below[0]), min(left + width, below[0] + below[1])
        for column, x in zip((2 * k, 2 * k + 1), ends, strict=True):
            balance[2 * k : 2 * k + 2, column] = 1, x
            if k:
                balance[2 * k - 2 : 2 * k, column] = -1, -x
        weights[2 * k : 2 * k + 2] = width * height * np.array([1, left + width / 2])
    return bool(linprog(np.zeros(2 * count), A_eq=balance, b_eq=weights, bounds=(0, None)).status == 0)


def torque_to_the_right(boxes: list[Box], k: int, about: float) -> float:
    """Of box k and all above it, about a point."""
    return sum(width * height * (left + width / 2 - about) for left, width, height in boxes[k:])


def test_forces_hold_the_towers_that_stay_and_no_others() -> None:
    for draft in found():
        boxes, said = boxes_of(draft.fact), draft.answer.to_json().answer  # type: ignore[arg-type]
        assert held(boxes) == (said in ("yes", "stays"))


def test_towers_fall_over_the_end_that_carries_too_little() -> None:
    for draft in found():
        boxes, said = boxes_of(draft.fact), draft.answer.to_json().answer  # type: ignore[arg-type]
        if said in ("left", "right"):
            pairs = [*pairwise(boxes)]
            left = [torque_to_the_right(boxes, k, max(a[0], b[0])) < 0 for k, (a, b) in enumerate(pairs, start=1)]
            ends = [min(a[0] + a[1], b[0] + b[1]) for a, b in pairs]
            right = [torque_to_the_right(boxes, k, end) > 0 for k, end in enumerate(ends, start=1)]
            assert (any(left), any(right)) == (said == "left", said == "right")


def test_half_of_the_towers_fool_who_looks_at_one_box_at_a_time() -> None:
    facts = [draft for draft in found() if draft.format == "choice"]
    fooled = [alone(boxes_of(draft.fact)) != draft.answer.to_json().answer for draft in facts]  # type: ignore[arg-type]
    assert len(facts) == 250 and 0.5 < np.mean(fooled) < 0.85
    counts = Counter(str(draft.answer.to_json().answer) for draft in facts)
    assert min(counts.values()) > 50


@pytest.mark.parametrize(
    ("boxes", "expected", "by_itself"),
    [
        ([(0, 4, 2), (0, 4, 1), (0, 4, 1)], "stays", "stays"),
        ([(0, 4, 2), (2, 10, 1), (0, 4, 4)], None, "right"),
        ([(2, 4, 2), (3, 10, 1), (1, 6, 4)], "stays", "right"),
        ([(0, 6, 2), (2, 6, 2), (4, 6, 2), (6, 6, 6)], "right", "stays"),
    ],
)
def test_towers_by_hand(boxes: list[Box], expected: str | None, by_itself: str) -> None:
    assert (outcome(boxes), alone(boxes)) == (expected, by_itself)


def test_a_mirrored_tower_falls_to_the_other_side() -> None:
    other = {"left": "right", "right": "left", "stays": "stays"}
    for draft in found()[:100]:
        boxes = boxes_of(draft.fact)  # type: ignore[arg-type]
        said = outcome(boxes)
        assert said is not None
        assert outcome([(20 - left - width, width, height) for left, width, height in boxes]) == other[said]
