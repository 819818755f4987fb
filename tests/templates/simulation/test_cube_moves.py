"""Moves of cubes, made again in a grid of places where everything that floats sinks until nothing does."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise, permutations

import numpy as np
import pytest

from templates.ability import LEAVES
from templates.asked import Draft
from templates.generate import ask_puzzles
from templates.media import Sheet
from templates.registry import create_templates
from templates.simulation.puzzles import cube_state
from tests.templates.simulation.test_puzzles import painted

STEPS = {
    "left": (-1, 0, 0),
    "right": (1, 0, 0),
    "front": (0, -1, 0),
    "back": (0, 1, 0),
    "up": (0, 0, 1),
    "down": (0, 0, -1),
}
COLOURS = {"blue": "B", "orange": "O", "green": "G", "purple": "P", "grey": "K"}
HIGH = 6
Grid = dict[tuple[int, int, int], str]
"""Cubes by their place."""


@cache
def drafts(name: str, count: int = 40) -> list[Draft]:
    found = ask_puzzles([create_templates()[name]], count, 0)
    return [draft for asked in found.asked for draft in asked.drafts()]


def grid(text: str) -> tuple[Grid, tuple[int, int]]:
    """Cubes by place, and the size of the floor."""
    rows = [line.split(" ") for line in text.split("/")]
    cubes = {
        (x, y, z): cube for y, row in enumerate(rows) for x, s in enumerate(row) for z, cube in enumerate(s) if s != "-"
    }
    return cubes, (len(rows[0]), len(rows))


def pushed(cubes: Grid, floor: tuple[int, int], cube: str, direction: str) -> Grid:
    """The cubes after one unit; the same ones where they cannot move so."""
    old = next(place for place, name in cubes.items() if name == cube)
    new = tuple(int(v) for v in np.add(old, STEPS[direction]))
    if not (0 <= new[0] < floor[0] and 0 <= new[1] < floor[1] and new[2] >= 0):
        return cubes
    moved = {place: name for place, name in cubes.items() if place not in (old, new)} | {new: cube}
    if new in cubes:
        moved[old] = cubes[new]
    while floating := [(x, y, z) for x, y, z in moved if z and (x, y, z - 1) not in moved]:
        x, y, z = min(floating, key=lambda place: place[2])
        moved[x, y, z - 1] = moved.pop((x, y, z))
    return moved


def carried_out(text: str, moves: Sequence[tuple[str, str]]) -> Grid:
    cubes, floor = grid(text)
    for cube, direction in moves:
        before, cubes = cubes, pushed(cubes, floor, cube, direction)
        assert before != cubes, "a move that is none"
    return cubes


def said(option: str) -> list[tuple[str, str]]:
    """Moves as a reader finds them."""
    return [(COLOURS[cube.lower()], direction) for cube, direction in re.findall(r"(\w+) (\w+)(?:,|$)", option)]


@pytest.mark.parametrize(
    ("start", "move", "end"),
    [
        ("BO G/- -", ("O", "right"), "B GO/- -"),
        ("BOP G/- -", ("P", "right"), "BO GP/- -"),
        ("BO -/- -", ("O", "right"), "B O/- -"),
        ("BO -/- -", ("B", "right"), "O B/- -"),
        ("BOP -/- -", ("O", "back"), "BP -/O -"),
        ("BO G/- -", ("B", "right"), "GO B/- -"),
        ("BO G/- -", ("B", "up"), "OB G/- -"),
        ("BO G/- -", ("O", "down"), "OB G/- -"),
        ("BO G/- -", ("B", "left"), None),
        ("BO G/- -", ("B", "front"), None),
        ("BO G/- -", ("O", "up"), None),
        ("BO G/- -", ("B", "down"), None),
    ],
)
def test_a_move(start, move, end):
    after = cube_state.moved(cube_state.state_of(start), move)
    assert after == (None if end is None else cube_state.state_of(end))


def test_one_sequence_alone_leads_to_the_goal():
    for draft in drafts("cube_moves"):
        goal, _ = grid(draft.fact["goal"])
        ends = [carried_out(draft.fact["start"], said(option.shown)) for option in draft.options]
        assert [k for k, end in enumerate(ends) if end == goal] == [draft.written]


def test_words_alone_do_not_tell_the_right_sequence():
    """To each option there is one that differs in a step, so that the one most like the others is none of them."""
    found = drafts("cube_moves", 200)
    likeness = []
    for draft in found:
        moves = [said(option.shown) for option in draft.options]
        alike = [sum(a == b for other in moves for a, b in zip(each, other, strict=True)) for each in moves]
        likeness.append(alike.index(max(alike)) == draft.written if len({*alike}) > 1 else 0.25)
    assert np.mean(likeness) < 0.35


def test_mistakes_are_named():
    names = {option.mistake for draft in drafts("cube_moves", 200) for option in draft.options}
    assert names == {"", "a step wrong", "two steps wrong", "in reverse order", "in reverse order, a step wrong"}


def states(name: str) -> set[str]:
    return {draft.fact[key] for draft in drafts(name) for key in ("start", "goal")}


def test_every_cube_can_be_seen():
    for text in states("cube_moves"):
        state = cube_state.state_of(text)
        sheet = cube_state.sheet_of([state], [""])
        picture = painted(Sheet(polygons=sheet.polygons))
        for cube in cube_state.cubes_in(state):
            own = [k for k, shape in enumerate(sheet.polygons) if shape.fill == cube_state.COLOURS[cube]]
            assert np.isin(picture, own).sum() > 0.2 * 40**2 * 0.5  # a face as drawn covers half a square or more


def test_operations_are_asked_without_footage():
    leaf = next(leaf for leaf in LEAVES if leaf.endswith("Operation"))
    asking = [template for template in create_templates().values() if template.ability == leaf]
    assert len(asking) >= 3 and len({format for template in asking for format in template.formats}) >= 2


@cache
def steps_from(text: str) -> frozenset[str]:
    """All states that one push leads to."""
    cubes, floor = grid(text)
    return frozenset(written(pushed(cubes, floor, cube, way), floor) for cube in cubes.values() for way in STEPS) - {
        text
    }


def written(cubes: Grid, floor: tuple[int, int]) -> str:
    columns = [
        "".join(cubes.get((x, y, z), "") for z in range(HIGH)) or "-" for y in range(floor[1]) for x in range(floor[0])
    ]
    return "/".join(" ".join(columns[k : k + floor[0]]) for k in range(0, len(columns), floor[0]))


def fewest(start: str, goal: str) -> int:
    """By iterative deepening from the start, with no memory of what was seen but on the way."""

    def reaches(text: str, depth: int) -> bool:
        return text == goal if depth == 0 else any(reaches(after, depth - 1) for after in steps_from(text))

    return next(depth for depth in range(6) if reaches(start, depth))


def test_fewest_moves():
    for draft in drafts("fewest_moves", 24):
        assert int(draft.answer.to_json().answer) == fewest(draft.fact["start"], draft.fact["goal"])


def test_no_number_of_moves_is_right_more_often():
    found = [int(draft.answer.to_json().answer) for draft in drafts("fewest_moves", 200) if not draft.options]
    assert {*found} == {2, 3, 4, 5} and max(map(found.count, {*found})) < 0.35 * len(found)
    traps = [draft.traps for draft in drafts("fewest_moves", 200) if not draft.options]
    for name in ("cubes elsewhere", "units apart"):
        assert np.mean([each[name] != count for each, count in zip(traps, found, strict=True)]) > 0.2


def test_one_order_alone_has_a_move_between_neighbours():
    for draft in drafts("moves_order"):
        states = draft.fact["states"].split("; ")
        right = [
            order
            for order in permutations(range(2, len(states) + 1))
            if all(states[b - 1] in steps_from(states[a - 1]) for a, b in pairwise((1, *order)))
        ]
        assert len(right) == 1
        if draft.options:
            shown = draft.options[draft.written].shown
            assert shown == ", ".join(map(str, (1, *right[0])))
        else:
            assert draft.written == [*right[0]]


def test_states_in_order_are_numbered():
    for draft in drafts("moves_order"):
        assert [sheet.texts[-1].text for sheet in draft.media] == [
            "drawing 1",
            "drawing 2",
            "drawing 3",
            "drawing 4",
            "drawing 5",
        ]
