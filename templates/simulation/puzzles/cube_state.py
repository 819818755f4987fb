"""Coloured cubes on a floor, the rule by which they are moved, and their drawing.

A move shifts one cube by one unit. It may not leave the floor. If the place is taken, the two cubes are exchanged. Else
the cube goes there; it and what was above it fall as far as they can. A cube that would fall back has no move, so that
no move makes a stack higher: moves cannot always be undone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from templates.media import Colour, Polygon, Sheet, Words
from templates.simulation.puzzles.solid import Vector, all_seen, drawing, projected

State = tuple[tuple[str, ...], ...]
"""Rows of columns from the front; each column names its cubes from below: (("BO", "", "G"), ("", "P", ""))."""
Move = tuple[str, str]
"""A cube, and a direction."""
COLOURS: Mapping[str, Colour] = {"B": "blue", "O": "orange", "G": "green", "P": "purple", "K": "grey"}
"""By the letter of a cube."""
DIRECTIONS: Mapping[str, Vector] = {
    "left": (-1, 0, 0), "right": (1, 0, 0), "front": (0, -1, 0), "back": (0, 1, 0), "up": (0, 0, 1), "down": (0, 0, -1),
}  # fmt: skip
_LEAST_SEEN = 0.35
"""Least visible share of some face of every cube."""


def drawn_state(width: int, depth: int, count: int, rng: np.random.Generator) -> State:
    """Cubes of the first `count` colours, each on a random column."""
    columns = [[""] * width for _ in range(depth)]
    for cube in rng.permutation([*COLOURS][:count]).tolist():
        x, y = int(rng.integers(width)), int(rng.integers(depth))
        columns[y][x] += cube
    return tuple(map(tuple, columns))


def moved(state: State, move: Move) -> State | None:
    """The cubes after a move; None where the rule does not allow it."""
    cube, (dx, dy, dz) = move[0], DIRECTIONS[move[1]]
    x, y, z = place_of(state, cube)
    x_new, y_new, z_new = x + dx, y + dy, z + dz
    if not (0 <= y_new < len(state) and 0 <= x_new < len(state[0])):
        return None
    columns = [[*row] for row in state]
    if 0 <= z_new < len(there := columns[y_new][x_new]):
        other = there[z_new]
        columns[y_new][x_new] = there.replace(other, cube)
        columns[y][x] = columns[y][x].replace(cube, other) if not dz else _exchanged(there, cube, other)
    elif dz:
        return None
    else:
        columns[y][x] = columns[y][x].replace(cube, "")
        columns[y_new][x_new] += cube
    return tuple(map(tuple, columns))


def _exchanged(column: str, a: str, b: str) -> str:
    return column.translate({ord(a): b, ord(b): a})


def place_of(state: State, cube: str) -> Vector:
    """Where a cube is: to the right, to the back, up."""
    return next((x, y, c.index(cube)) for y, row in enumerate(state) for x, c in enumerate(row) if cube in c)


def moves_from(state: State) -> Iterator[tuple[Move, State]]:
    """All moves, and where they lead."""
    for cube in cubes_in(state):
        for direction in DIRECTIONS:
            if (after := moved(state, (cube, direction))) is not None:
                yield (cube, direction), after


def after(state: State, moves: Sequence[Move]) -> list[State] | None:
    """The state and those after each move; None where a move is not possible."""
    states = [state]
    for move in moves:
        if (following := moved(states[-1], move)) is None:
            return None
        states.append(following)
    return states


@lru_cache(maxsize=256)
def distances(state: State, most: int) -> Mapping[State, int]:
    """All states that at most `most` moves lead to, with the fewest moves (breadth first)."""
    found = {state: 0}
    reached = [state]
    for count in range(1, most + 1):
        new = {after: count for before in reached for _, after in moves_from(before) if after not in found}
        found |= new
        reached = [*new]
    return found


def shortest_way(start: State, goal: State) -> list[State]:
    """States from start to goal by the fewest moves (breadth first)."""
    before: dict[State, State] = {start: start}
    reached = [start]
    while goal not in before:
        new = [(following, state) for state in reached for _, following in moves_from(state) if following not in before]
        before |= dict(new)
        reached = [*dict(new)]
    way = [goal]
    while way[-1] != start:
        way.append(before[way[-1]])
    return way[::-1]


def cubes_in(state: State) -> str:
    """The cubes: row by row from the front, columns from the left, each from below."""
    return "".join(column for row in state for column in row)


def recoloured(state: State, like: State) -> State:
    """A state with the colours that make those of another one the first ones in order."""
    named = str.maketrans(cubes_in(like), "".join([*COLOURS][: len(cubes_in(like))]))
    return tuple(tuple(column.translate(named) for column in row) for row in state)


def first_alike(states: Sequence[State]) -> tuple[State, ...]:
    """Of all ways to mirror and turn the floor and to exchange colours, the first one in order."""
    turned = []
    for flip_rows in (1, -1):
        for flip_columns in (1, -1):
            flipped = [tuple(row[::flip_columns] for row in state[::flip_rows]) for state in states]
            turned.append(flipped)
            if len(states[0]) == len(states[0][0]):
                turned.append([tuple(zip(*state, strict=True)) for state in flipped])
    return min(tuple(recoloured(state, some[0]) for state in some) for some in turned)


@lru_cache(maxsize=1 << 12)
def _heights_can_be_read(heights: tuple[tuple[int, ...], ...]) -> bool:
    cubes = [(x, y, z) for y, row in enumerate(heights) for x, height in enumerate(row) for z in range(height)]
    return all_seen(cubes, _LEAST_SEEN)


def can_be_read(state: State) -> bool:
    """Whether enough of every cube can be seen; nothing floats, so that this tells where each one is."""
    return _heights_can_be_read(tuple(tuple(map(len, row)) for row in state))


def text_of(state: State) -> str:
    """Rows from the front, "-" for an empty column: "BO - G/- P -"."""
    return "/".join(" ".join(column or "-" for column in row) for row in state)


def state_of(text: str) -> State:
    """The inverse of `text_of`."""
    return tuple(tuple(column.strip("-") for column in row.split(" ")) for row in text.split("/"))


def moves_text(moves: Sequence[Move]) -> str:
    """As it is recorded: "B right, O up"."""
    return ", ".join(" ".join(move) for move in moves)


def moves_of(text: str) -> list[Move]:
    """The inverse of `moves_text`."""
    return [(cube, direction) for cube, direction in (move.split(" ") for move in text.split(", "))]


def moves_in_words(moves: Sequence[Move]) -> str:
    """As an option: "blue right, then orange up"."""
    said = ", then ".join(f"{COLOURS[cube]} {direction}" for cube, direction in moves)
    return said[0].upper() + said[1:]


def sheet_of(states: Sequence[State], names: Sequence[str]) -> Sheet:
    """States side by side from the left, from the front, the right and above, with names below. Words at the floor say
    where left, right, front and back are."""
    depth, width = len(states[0]), len(states[0][0])
    floor = [(x, y, -1) for x in range(width) for y in range(depth)]
    (left, _), (right, _) = projected([np.array((-0.5, -0.8, 0.0)), np.array((width + 1.4, depth, 0.0))])
    highest = max(2, *(len(column) for state in states for row in state for column in row))
    (_, top), (_, bottom) = projected([np.array((0.0, depth, highest)), np.array((width, -1.6, 0.0))])
    polygons: list[Polygon] = []
    texts: list[Words] = []
    for number, (state, name) in enumerate(zip(states, names, strict=True)):
        offset = number * (right - left)
        cubes = {
            (x, y, z): COLOURS[c] for y, row in enumerate(state) for x, s in enumerate(row) for z, c in enumerate(s)
        }
        shapes = *drawing(floor, paint=dict.fromkeys(floor, "light"), tops_only=True), *drawing(cubes, paint=cubes)
        polygons += [replace(shape, corners=tuple((x + offset, y) for x, y in shape.corners)) for shape in shapes]
        for text, place in _directions(width, depth):
            x, y = projected([np.array(place)])[0]
            texts.append(Words(text=text, xy=(x + offset, y)))
        texts.append(Words(text=name, xy=(offset + (left + right) / 2 - 0.4, bottom)))
    extent = (left, bottom - 0.2, right + (len(states) - 1) * (right - left), top)
    return Sheet(polygons=tuple(polygons), texts=tuple(texts), extent=extent)


def _directions(width: int, depth: int) -> Iterator[tuple[str, tuple[float, float, float]]]:
    yield "left", (0.3, -0.7, 0.0)
    yield "right", (width - 0.4, -0.7, 0.0)
    yield "front", (width + 0.8, 0.2, 0.0)
    yield "back", (width + 0.8, depth - 0.4, 0.0)
