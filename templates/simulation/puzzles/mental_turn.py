"""L3/Causal Reasoning/Geometry Puzzles: which shape is the same one, turned and not mirrored? Of squares, or of cubes.

After Shepard and Metzler (1971). Only shapes that differ from their mirror image are asked about.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, islice
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.facts import Facts
from templates.media import Polygon, Sheet
from templates.simulation.puzzles.puzzle import DrawnChoice, Row
from templates.simulation.puzzles.solid import HOLDS, Turn, Vector, all_seen, drawing

Shape = tuple[Vector, ...]
"""Cells in order; those of a flat shape have z = 0."""
_BESIDE: tuple[Vector, ...] = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
_MIRROR = Turn((0, 1, 2), (-1, 1, 1))
_IN_PLANE = [turn for turn in HOLDS if turn((0, 0, 1)) == (0, 0, 1)]
_TURNED, _TURNED_IN_PLANE = (
    np.array([turn.all(((1, 0, 0), (0, 1, 0), (0, 0, 1))) for turn in turns]) for turns in (HOLDS, _IN_PLANE)
)
"""As matrices, for rows of coordinates."""
_LEAST_SEEN = 0.35
"""Least visible share of some face of every cube of a drawn solid."""


@dataclass(frozen=True, kw_only=True)
class Shapes(Facts):
    """Connected shapes, and a rotation of each."""

    cells: Int64[np.ndarray, "n c 3"]
    """Squares or cubes; -1 ends a row."""
    turn: Int64[np.ndarray, "n"]
    """Index of the rotation that the right option shows; of squares, in steps of 30 degrees anticlockwise."""


@dataclass(frozen=True, kw_only=True)
class TurnedShape(DrawnChoice):
    """A flat shape of squares, turned in the plane among mirror images and others.

    There are 6, 25, 88, 335 and 1215 pairs of mirror images of 5 to 9 squares.
    """

    name: str = "turned_shape"
    version: str = "1"
    facts: ClassVar[type[Facts]] = Shapes
    sizes: tuple[int, ...] = (5, 6, 7, 8, 9)
    """Numbers of squares."""
    solid: ClassVar[bool] = False

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A random chiral shape, and a rotation by more than a little."""
        shape = grown(int(rng.choice(self.sizes)), self.solid, rng)
        turn = int(rng.choice(self._turns()))
        if not self._can_be_seen(shape) or not self._can_be_seen(self._placed(shape, turn)):
            return None
        if alike(shape, mirrored(shape), self.solid):
            return None
        return {"cells": [[*cell] for cell in shape], "turn": turn}

    def key(self, row: Row) -> object:
        """The shape, mirrored or not."""
        shape = _shape(row)
        return min(first_of(shape, self.solid), first_of(mirrored(shape), self.solid))

    def solution(self, row: Row) -> str:
        """The cells and the rotation."""
        return _text(_shape(row), int(row["turn"]))

    def working(self, row: Row) -> str:
        """How many cells there are in each slice along the three directions."""
        cells = np.array(row["cells"])
        counts = [np.bincount(cells[:, axis] - cells[:, axis].min()) for axis in range(cells.shape[1])]
        return "; ".join(", ".join(map(str, count.tolist())) for count in counts if len(count) > 1)

    def mistakes(self, row: Row) -> Sequence[tuple[str, str]]:
        """Mirror images, and shapes with one cell elsewhere, in various rotations."""
        return [*islice(self._mistakes(row), 12)]

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The shape."""
        return (self._sheet(_shape(row), 0, len(row["cells"])),)

    def option(self, row: Row, solution: str) -> Sheet:
        """A turned shape."""
        return self._sheet(*_read(solution), len(row["cells"]))

    def _mistakes(self, row: Row) -> Iterator[tuple[str, str]]:
        shape, turns = _shape(row), [*self._turns()]
        for number, (wrong, name) in enumerate(
            chain([(mirrored(shape), "mirrored")] * 4, _one_moved(shape, self.solid))
        ):
            turn = turns[(int(row["turn"]) + 5 * number + 1) % len(turns)]
            if self._can_be_seen(self._placed(wrong, turn)) and not alike(wrong, shape, self.solid):
                yield _text(wrong, turn), name

    def _turns(self) -> range:
        return range(1, 12)

    def _placed(self, shape: Shape, turn: int) -> Shape:
        return shape

    def _can_be_seen(self, shape: Shape) -> bool:
        return True

    def _sheet(self, shape: Shape, turn: int, count: int) -> Sheet:
        angle = np.radians(30.0 * turn)
        axes = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        middle = np.mean([cell[:2] for cell in shape], axis=0) + 0.5
        reach = 0.25 * count + 1.5  # one scale for all options
        squares = []
        for x, y, _ in shape:
            corners = (np.array([(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]) - middle) @ axes.T
            squares.append(Polygon(corners=tuple((float(a), float(b)) for a, b in corners), fill="blue"))
        return Sheet(polygons=tuple(squares), extent=(-reach, -reach, reach, reach))


@dataclass(frozen=True, kw_only=True)
class TurnedSolid(TurnedShape):
    """A solid of cubes, turned in space among mirror images and others; every cube can be seen."""

    name: str = "turned_solid"
    sizes: tuple[int, ...] = (5, 6, 7, 8)
    """Numbers of cubes."""
    solid: ClassVar[bool] = True

    def _turns(self) -> range:
        return range(1, len(HOLDS))

    def _placed(self, shape: Shape, turn: int) -> Shape:
        return moved_to_zero(HOLDS[turn].all(shape))

    def _can_be_seen(self, shape: Shape) -> bool:
        return _can_be_seen(shape)

    def _sheet(self, shape: Shape, turn: int, count: int) -> Sheet:
        return Sheet(polygons=drawing(self._placed(shape, turn) if turn else shape))


def grown(count: int, solid: bool, rng: np.random.Generator) -> Shape:
    """A random connected shape."""
    cells: list[Vector] = [(0, 0, 0)]
    while len(cells) < count:
        one, way = rng.random(2).tolist()
        x, y, z = cells[int(one * len(cells))]
        a, b, c = _BESIDE[int(way * (6 if solid else 4))]
        if (x + a, y + b, z + c) not in cells:
            cells.append((x + a, y + b, z + c))
    return moved_to_zero(cells)


def moved_to_zero(cells: Sequence[Vector]) -> Shape:
    """The cells in order, with smallest coordinates of 0."""
    x0, y0, z0 = map(min, zip(*cells, strict=True))
    return tuple(sorted([(x - x0, y - y0, z - z0) for x, y, z in cells]))


def mirrored(shape: Shape) -> Shape:
    """The mirror image."""
    return moved_to_zero(_MIRROR.all(shape))


@lru_cache(maxsize=1 << 14)
def first_of(shape: Shape, solid: bool) -> Shape:
    """Of all rotations of a shape the first one in order."""
    cells = np.array(shape) @ (_TURNED if solid else _TURNED_IN_PLANE)
    codes = (cells - cells.min(axis=1, keepdims=True)) @ [1 << 32, 1 << 16, 1]
    first = min(np.sort(codes, axis=1).tolist())
    return tuple((code >> 32, code >> 16 & 0xFFFF, code & 0xFFFF) for code in first)


def turns_in_plane(shape: Shape) -> list[Shape]:
    """A flat shape, turned by quarters."""
    return [moved_to_zero(turn.all(shape)) for turn in _IN_PLANE]


def alike(a: Shape, b: Shape, solid: bool) -> bool:
    """Whether one shape is the other one, turned."""
    return spread(a) == spread(b) and first_of(a, solid) == first_of(b, solid)


@lru_cache(maxsize=1 << 14)
def spread(shape: Shape) -> tuple[int, ...]:
    """Squared distances between all cells, in order: equal for shapes that are alike, and quick to tell."""
    pairs = combinations(shape, 2)
    return tuple(sorted([(x - u) ** 2 + (y - v) ** 2 + (z - w) ** 2 for (x, y, z), (u, v, w) in pairs]))


@lru_cache(maxsize=1 << 14)
def _can_be_seen(shape: Shape) -> bool:
    return all_seen(shape, _LEAST_SEEN)


def _one_moved(shape: Shape, solid: bool) -> Iterator[tuple[Shape, str]]:
    """Connected shapes with one cell elsewhere, and their mirror images."""
    for k, cell in enumerate(shape):
        left = shape[:k] + shape[k + 1 :]
        if not connected(left):
            continue
        for x, y, z in left[:: max(1, len(left) // 3)]:
            for a, b, c in _BESIDE[: 6 if solid else 4]:
                if (x + a, y + b, z + c) not in shape and (x + a, y + b, z + c) != cell:
                    yield moved_to_zero([*left, (x + a, y + b, z + c)]), "one piece moved"


def connected(cells: Sequence[Vector]) -> bool:
    """Whether cells hang together by their sides."""
    reached, todo = {cells[0]}, [cells[0]]
    while todo:
        x, y, z = todo.pop()
        new = {(x + a, y + b, z + c) for a, b, c in _BESIDE} & {*cells} - reached
        reached |= new
        todo += new
    return len(reached) == len(cells)


def _shape(row: Row) -> Shape:
    return tuple((int(x), int(y), int(z)) for x, y, z in row["cells"])


def _text(shape: Shape, turn: int) -> str:
    return f"{' '.join(','.join(map(str, cell)) for cell in shape)} @{turn}"


def _read(text: str) -> tuple[Shape, int]:
    cells, turn = text.split(" @")
    return tuple((int(x), int(y), int(z)) for x, y, z in (cell.split(",") for cell in cells.split(" "))), int(turn)
