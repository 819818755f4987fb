"""L3/Causal Reasoning/Geometry Puzzles: which set of pieces covers a shape, each turned but not flipped?"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from templates.columns import Texts
from templates.facts import Facts
from templates.media import Colour, Polygon, Sheet
from templates.simulation.puzzles.mental_turn import (
    Shape,
    connected,
    first_of,
    grown,
    mirrored,
    moved_to_zero,
    turns_in_plane,
)
from templates.simulation.puzzles.puzzle import DrawnChoice, Row

Cell = tuple[int, int]
_COLOURS: tuple[Colour, ...] = ("blue", "orange", "green", "purple", "grey")
_SIZES = range(3, 7)
"""Cells of a piece."""
_TRIES = 12
_ROW = 16
_GAP = 0.6
"""Between two pieces, in cells."""


@dataclass(frozen=True, kw_only=True)
class CutShapes(Facts):
    """Shapes of squares, cut into pieces, and pieces that two of them are exchanged for."""

    pieces: Texts
    """Cells of each piece where it lies in the shape: "0,0 1,0 1,1|2,0 ...". The first two are exchanged."""
    exchanged: Texts
    """The two other pieces, of the same sizes: with one of them or both, the shape cannot be covered."""


@dataclass(frozen=True, kw_only=True)
class Assembly(DrawnChoice):
    """The set of pieces that a shape is made of.

    The wrong sets have a piece of the same size instead of one, of another, or of both: no set stands out.
    """

    name: str = "assembly"
    version: str = "1"
    facts: ClassVar[type[Facts]] = CutShapes
    boards: tuple[tuple[int, int], ...] = ((3, 4), (4, 4), (3, 5), (4, 5))
    """Columns and rows of the rectangles that shapes are made of."""
    missing: tuple[int, ...] = (0, 1, 2, 3)
    """Numbers of cells that are taken away from the border of a rectangle."""
    pieces: tuple[int, ...] = (3, 4)
    """Numbers of pieces, at most 5."""

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A shape, cut at random, with pieces that cannot stand for the first two."""
        columns, rows = self.boards[int(rng.integers(len(self.boards)))]
        board = board_of(columns, rows, int(rng.choice(self.missing)), rng)
        pieces = cut(board, int(rng.choice(self.pieces)), rng)
        if not pieces or any(len(piece) not in _SIZES for piece in pieces):
            return None
        for _ in range(_TRIES):
            others = [_other(piece, rng) for piece in pieces[:2]]
            wrong = _wrong_sets(pieces, others)
            kinds = {tuple(sorted(map(_first, some))) for some in (pieces, *wrong)}
            if len(kinds) == 4 and not any(covers(board, some) for some in wrong):
                return {"pieces": _text(pieces), "exchanged": _text(others)}
        return None

    def key(self, row: Row) -> object:
        """The shape and the set of its pieces, mirrored or not, however it is cut into them."""
        pieces = _read(row["pieces"])
        shape = moved_to_zero([cell for piece in pieces for cell in piece])
        sets = [
            (_first(_flipped(s, f)), *sorted(_first(_flipped(p, f)) for p in pieces))
            for s, f in ((shape, 0), (shape, 1))
        ]
        return min(sets)

    def solution(self, row: Row) -> str:
        """The pieces, turned."""
        return _laid_out(_read(row["pieces"]))

    def working(self, row: Row) -> str:
        """Numbers of squares."""
        sizes = [len(piece) for piece in _read(row["pieces"])]
        return f"{' + '.join(map(str, sizes))} = {sum(sizes)}"

    def mistakes(self, row: Row) -> Sequence[tuple[str, str]]:
        """One piece exchanged, or two."""
        pieces, others = _read(row["pieces"]), _read(row["exchanged"])
        names = [_name(piece, other) for piece, other in zip(pieces, others, strict=False)]
        wrong = map(_laid_out, _wrong_sets(pieces, others))
        return [*zip(wrong, (*names, "two pieces of another form"), strict=True)]

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The shape."""
        cells = [cell for piece in _read(row["pieces"]) for cell in piece]
        return (Sheet(polygons=tuple(_square(x, y, "light") for x, y, _ in sorted(cells))),)

    def option(self, row: Row, solution: str) -> Sheet:
        """The pieces beside each other, the largest ones first."""
        pieces = _read(solution)
        squares, at = list[Polygon](), 0.0
        for piece, colour in zip(pieces, _COLOURS, strict=False):
            squares += [_square(at + x, y, colour) for x, y, _ in piece]
            at += max(x for x, _, _ in piece) + 1 + _GAP
        high = max(y for piece in pieces for _, y, _ in piece) + 1
        return Sheet(polygons=tuple(squares), extent=(0, 0, max(at - _GAP, 9.0), max(high, 3)))


def cut(board: Iterable[Cell], count: int, rng: np.random.Generator) -> list[Shape]:
    """A connected board in connected pieces: they grow from random cells, small ones sooner, until all are taken."""
    cells = sorted(board)
    pieces = [[cells[k]] for k in rng.choice(len(cells), count, replace=False).tolist()]
    free = {*cells} - {piece[0] for piece in pieces}
    draws = rng.random((40 * len(cells), 2)).tolist()
    while free and draws:
        which, where = draws.pop()
        piece = min(pieces[int(which * count)], pieces[int(which * count * count) % count], key=len)
        beside = sorted(free & _beside(piece))
        if beside:
            piece.append(beside[int(where * len(beside))])
            free.discard(piece[-1])
    return [] if free else [tuple(sorted((x, y, 0) for x, y in piece)) for piece in pieces]


def board_of(columns: int, rows: int, missing: int, rng: np.random.Generator) -> frozenset[Cell]:
    """A rectangle without some cells, which are taken from its border one after another; what is left is connected."""
    board = {(x, y) for x in range(columns) for y in range(rows)}
    while missing:
        border = sorted(cell for cell in board if len(board & _beside([cell])) < 4)
        left = board - {border[int(rng.integers(len(border)))]}
        if connected([(x, y, 0) for x, y in left]):
            board, missing = left, missing - 1
    return frozenset(board)


def _beside(cells: Iterable[Cell]) -> set[Cell]:
    return {(x + a, y + b) for x, y in cells for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))}


def covers(board: Iterable[Cell], pieces: Sequence[Shape]) -> bool:
    """Whether the pieces, turned, cover the cells of a board without overlap (exact search, cell by cell)."""
    cells = sum(1 << _bit(x, y) for x, y in board)
    return _covers(cells, tuple(_ways(_first(piece)) for piece in pieces))


def _covers(free: int, pieces: tuple[tuple[int, ...], ...]) -> bool:
    """Cells are bits; each piece is given by its ways to lie with its least cell at bit 0."""
    if not pieces:
        return not free
    least = (free & -free).bit_length() - 1
    for k, ways in enumerate(pieces):
        if pieces.index(ways) < k:
            continue
        for way in ways:
            placed = way << least
            if placed & free == placed and _covers(free ^ placed, pieces[:k] + pieces[k + 1 :]):
                return True
    return False


@lru_cache(maxsize=1 << 13)
def _ways(piece: Shape) -> tuple[int, ...]:
    ways = []
    for turned in turned_ways(piece):
        least = min(_bit(x, y) for x, y, _ in turned)
        ways.append(sum(1 << _bit(x, y) - least for x, y, _ in turned))
    return tuple(ways)


def _bit(x: int, y: int) -> int:
    """Of a cell: rows are far enough apart that no piece reaches from the end of one to the start of another."""
    return y * _ROW + x


@lru_cache(maxsize=1 << 13)
def turned_ways(piece: Shape) -> tuple[Shape, ...]:
    """The different ways to turn a piece."""
    return tuple(sorted(set(turns_in_plane(piece))))


def _first(piece: Shape) -> Shape:
    return first_of(moved_to_zero(piece), False)


def _flipped(piece: Shape, flip: int) -> Shape:
    return mirrored(piece) if flip else piece


def _other(piece: Shape, rng: np.random.Generator) -> Shape:
    """Its mirror image, or another shape of as many cells."""
    image = mirrored(piece)
    if _first(image) != _first(piece) and rng.random() < 0.5:
        return image
    return grown(len(piece), False, rng)


def _wrong_sets(pieces: Sequence[Shape], others: Sequence[Shape]) -> list[list[Shape]]:
    (a, b, *rest), (c, d) = pieces, others
    return [[c, b, *rest], [a, d, *rest], [c, d, *rest]]


def _name(piece: Shape, other: Shape) -> str:
    return "a piece mirrored" if _first(mirrored(piece)) == _first(other) else "a piece of another form"


def _laid_out(pieces: Sequence[Shape]) -> str:
    """Large pieces first, then in order of their form, each lying flat: nothing says where it belongs."""
    flat = [min(turned_ways(_first(piece)), key=lambda way: (max(y for _, y, _ in way), way)) for piece in pieces]
    return _text(sorted(flat, key=lambda piece: (-len(piece), piece)))


def _text(pieces: Sequence[Shape]) -> str:
    return "|".join(" ".join(f"{x},{y}" for x, y, _ in piece) for piece in pieces)


def _read(text: str) -> list[Shape]:
    return [tuple(_cells(piece)) for piece in text.split("|")]


def _cells(piece: str) -> Iterator[tuple[int, int, int]]:
    for cell in piece.split(" "):
        x, y = cell.split(",")
        yield int(x), int(y), 0


def _square(x: float, y: float, fill: Colour) -> Polygon:
    return Polygon(corners=((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)), fill=fill)
