"""L3/Causal Reasoning/Geometry Puzzles: a square of paper is folded and punched. How does it look when it is unfolded?

Folds lie on grid lines, and no fold moves more paper than stays in place, so that a flap never reaches beyond the rest.
Some hole goes through several layers. Two papers are alike if one is the other one turned or flipped, step by step. So
there are 7 papers of 3 x 3 cells with two folds and one hole; of 4 x 4 cells 31 with two folds and one hole, 102 with
two folds and two holes, 92 with three folds and one hole; of 5 x 5 cells 423 with two folds and two holes. If papers
that end up lying alike were alike too, in whichever order they are folded along x and y, the first number would be 6.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.facts import Facts
from templates.media import Line, Polygon, Sheet
from templates.simulation.puzzles.puzzle import DrawnChoice, Row

Cell = tuple[int, int]
Fold = tuple[int, int, int]
"""Axis (0: x to the right, 1: y up), grid line, and the side of it that moves: 0 the lower, 1 the upper."""
Places = dict[Cell, Cell]
"""Where each cell of the paper lies."""
_GAP = 1.2
"""Between two drawings, in cells."""
_HOLE_RADIUS = 0.28
_CIRCLE = [(np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 24, endpoint=False)]


@dataclass(frozen=True, kw_only=True)
class FoldedPapers(Facts):
    """Squares of paper, their folds in order, and the holes punched through all layers."""

    size: Int64[np.ndarray, "n"]
    folds: Int64[np.ndarray, "n f 3"]
    """Axis, line, and side that moves; -1 ends a row."""
    holes: Int64[np.ndarray, "n h 2"]
    """Cells of the folded paper; -1 ends a row."""


@dataclass(frozen=True, kw_only=True)
class PaperFold(DrawnChoice):
    """The holes in a square of paper that was folded, punched and unfolded."""

    name: str = "paper_fold"
    version: str = "1"
    facts: ClassVar[type[Facts]] = FoldedPapers
    sizes: tuple[int, ...] = (3, 4, 5)
    """Cells along a side."""
    folds: tuple[int, ...] = (1, 2, 3)
    """Numbers of folds."""
    holes: tuple[int, ...] = (1, 2)
    """Numbers of holes punched."""

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """Random folds as long as there are any, and random holes."""
        size, folds = int(rng.choice(self.sizes)), list[Fold]()
        for _ in range(int(rng.choice(self.folds))):
            allowed = [*possible_folds(_bounds(size, tuple(folds)))]
            if not allowed:
                return None
            folds.append(allowed[int(rng.integers(len(allowed)))])
        (x0, x1), (y0, y1) = _bounds(size, tuple(folds))
        cells = [(x, y) for x in range(x0, x1) for y in range(y0, y1)]
        count = int(rng.choice(self.holes))
        if count >= len(cells):
            return None
        holes = sorted(cells[k] for k in rng.choice(len(cells), count, replace=False))
        if len(punched(size, folds, holes)) == count:
            return None  # no hole goes through several layers
        return {"size": size, "folds": [[*fold] for fold in folds], "holes": [[*hole] for hole in holes]}

    def key(self, row: Row) -> object:
        """Of the eight ways to turn or flip the paper, the first one's folds and holes."""
        size, folds, holes = _read(row)
        states = [tuple(sorted(places(size, folds[: k + 1]).items())) for k in range(len(folds))]
        turned = [
            (tuple(tuple(sorted((g(a), g(b)) for a, b in state)) for state in states), tuple(sorted(map(g, holes))))
            for g in (_Symmetry(size, k) for k in range(8))
        ]
        return size, min(turned)

    def solution(self, row: Row) -> str:
        """The cells with a hole."""
        size, folds, holes = _read(row)
        return _text(size, punched(size, folds, holes))

    def working(self, row: Row) -> str:
        """The holes after each fold is undone, the last one first."""
        size, folds, holes = _read(row)
        through = punched(size, folds, holes)
        stages = [sorted({places(size, folds[:k])[cell] for cell in through}) for k in reversed(range(len(folds)))]
        return "; then ".join(" ".join(f"[{x}, {y}]" for x, y in cells) for cells in stages)

    def mistakes(self, row: Row) -> Sequence[tuple[str, str]]:
        """Unfolded too little or in the wrong direction; a hole moved, forgotten or added."""
        right = self.solution(row)
        return [(wrong, name) for wrong, name in islice(_mistakes(*_read(row)), 200) if wrong != right]

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The paper, the paper after each fold, and the holes, from left to right."""
        size, folds, holes = _read(row)
        polygons: list[Polygon] = []
        lines: list[Line] = []
        for step in range(len(folds) + 2):
            at = step * (size + _GAP)
            done = folds[:step] if step <= len(folds) else folds
            if step:
                lines += _outline(size, _bounds(size, done), at)
            polygons += _paper(size, done, at)
            lines += _squares(_bounds(size, done), at)
            if step < len(folds):
                lines += _crease(_bounds(size, done), folds[step], at)
            if step > len(folds):
                polygons += [_hole(cell, at) for cell in holes]
        width = (len(folds) + 2) * (size + _GAP) - _GAP
        return (Sheet(polygons=tuple(polygons), lines=tuple(lines), extent=(0, 0, width, size)),)

    def option(self, row: Row, solution: str) -> Sheet:
        """The unfolded paper."""
        size = int(row["size"])
        holes = [(x, y) for y, line in enumerate(solution.split("/")) for x, cell in enumerate(line) if cell == "o"]
        return Sheet(
            polygons=(*_paper(size, (), 0), *(_hole(cell, 0) for cell in holes)),
            lines=tuple(_squares(_bounds(size, ()), 0)),
            extent=(0, 0, size, size),
        )


@dataclass(frozen=True)
class _Symmetry:
    """One of the eight symmetries of a square of cells."""

    size: int
    number: int

    def __call__(self, cell: Cell) -> Cell:
        x, y = cell
        if self.number >= 4:
            x = self.size - 1 - x
        for _ in range(self.number % 4):
            x, y = self.size - 1 - y, x
        return x, y


def possible_folds(bounds: tuple[Cell, Cell]) -> Iterator[Fold]:
    """Folds of a paper that lies between these lines."""
    for axis, (low, high) in enumerate(bounds):
        for line in range(low + 1, high):
            if line - low <= high - line:
                yield axis, line, 0
            if high - line <= line - low:
                yield axis, line, 1


@lru_cache(maxsize=4096)
def _bounds(size: int, folds: tuple[Fold, ...]) -> tuple[Cell, Cell]:
    """Lines between which the folded paper lies: along x, along y."""
    bounds = [(0, size), (0, size)]
    for axis, line, side in folds:
        low, high = bounds[axis]
        bounds[axis] = (low, line) if side else (line, high)
    return bounds[0], bounds[1]


def places(size: int, folds: Sequence[Fold]) -> Places:
    """Where each cell of the paper lies after the folds."""
    found = {(x, y): (x, y) for x in range(size) for y in range(size)}
    for axis, line, side in folds:
        for cell, place in found.items():
            if (place[axis] >= line) == bool(side):
                moved = 2 * line - 1 - place[axis]
                found[cell] = (moved, place[1]) if axis == 0 else (place[0], moved)
    return found


def punched(size: int, folds: Sequence[Fold], holes: Sequence[Cell]) -> frozenset[Cell]:
    """Cells of the paper with a hole."""
    return frozenset(cell for cell, place in places(size, folds).items() if place in holes)


def _mistakes(size: int, folds: tuple[Fold, ...], holes: tuple[Cell, ...]) -> Iterator[tuple[str, str]]:
    right = punched(size, folds, holes)
    for k in range(len(folds)):
        yield _text(size, punched(size, folds[:k] + folds[k + 1 :], holes)), "one fold forgotten"
    for number in range(1, 8):
        yield _text(size, frozenset(map(_Symmetry(size, number), right))), "turned or mirrored"
    every = [(x, y) for x in range(size) for y in range(size)]
    for hole in sorted(right):
        if len(right) > 1:
            yield _text(size, right - {hole}), "a hole missing"
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            moved = (hole[0] + dx, hole[1] + dy)
            if moved in every and moved not in right:
                yield _text(size, right - {hole} | {moved}), "a hole moved"


def _text(size: int, holes: frozenset[Cell]) -> str:
    """Rows from below, "o" for a hole."""
    return "/".join("".join("o" if (x, y) in holes else "-" for x in range(size)) for y in range(size))


def _read(row: Row) -> tuple[int, tuple[Fold, ...], tuple[Cell, ...]]:
    return int(row["size"]), tuple(map(tuple, row["folds"])), tuple(map(tuple, row["holes"]))


def _paper(size: int, folds: Sequence[Fold], at: float) -> Iterator[Polygon]:
    """The visible paper; cells of several layers are darker."""
    (x0, x1), (y0, y1) = _bounds(size, tuple(folds))
    yield Polygon(corners=((at + x0, y0), (at + x1, y0), (at + x1, y1), (at + x0, y1)), edge=None)
    layers = Counter(places(size, folds).values())
    for x, y in sorted(cell for cell, count in layers.items() if count > 1):
        corners = ((at + x, y), (at + x + 1, y), (at + x + 1, y + 1), (at + x, y + 1))
        yield Polygon(corners=corners, fill="blue", edge=None)


def _squares(bounds: tuple[Cell, Cell], at: float) -> Iterator[Line]:
    """The lines between cells and around all of them."""
    (x0, x1), (y0, y1) = bounds
    for x in range(x0, x1 + 1):
        yield Line(points=((at + x, y0), (at + x, y1)), colour="grey")
    for y in range(y0, y1 + 1):
        yield Line(points=((at + x0, y), (at + x1, y)), colour="grey")


def _outline(size: int, bounds: tuple[Cell, Cell], at: float) -> Iterator[Line]:
    """The border of the flat paper where it has left."""
    for axis, end in product((0, 1), (0, size)):
        low, high = bounds[1 - axis] if end in bounds[axis] else (0, 0)
        for ends in ((0, low), (high, size)):
            if ends[0] < ends[1]:
                points = tuple((at + end, along) if axis == 0 else (at + along, end) for along in ends)
                yield Line(points=points, colour="grey", dashed=True)


def _crease(bounds: tuple[Cell, Cell], fold: Fold, at: float) -> Iterator[Line]:
    """The line of a fold, and an arrow from the side that moves to the other."""
    axis, line, side = fold
    (low, high), (first, last) = bounds[axis], bounds[1 - axis]
    middle, reach = (first + last) / 2, min(line - low, high - line) * 0.7
    sign = -1 if side else 1
    tail, head = line - sign * reach, line + sign * reach
    strokes: list[list[tuple[float, float]]] = [
        [(line, first), (line, last)],
        [(tail, middle), (head, middle)],
        [(head - sign * 0.25, middle - 0.2), (head, middle), (head - sign * 0.25, middle + 0.2)],
    ]
    for k, stroke in enumerate(strokes):
        points = tuple((at + a, b) if axis == 0 else (at + b, a) for a, b in stroke)
        yield Line(points=points, colour="orange", dashed=k == 0)


@lru_cache(maxsize=4096)
def _hole(cell: Cell, at: float) -> Polygon:
    x, y = at + cell[0] + 0.5, cell[1] + 0.5
    return Polygon(corners=tuple((x + _HOLE_RADIUS * a, y + _HOLE_RADIUS * b) for a, b in _CIRCLE), fill="white")
