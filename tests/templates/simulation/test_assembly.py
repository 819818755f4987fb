"""Sets of pieces, laid again: all places of every piece as columns of an exact cover, solved as an integer program."""

from functools import cache

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from templates.asked import Draft
from templates.generate import ask_puzzles
from templates.media import Sheet
from templates.registry import create_templates
from templates.simulation.puzzles import assembly


@cache
def drafts(count: int = 30, seed: int = 0) -> list[Draft]:
    found = ask_puzzles([create_templates()["assembly"]], count, seed)
    return [draft for asked in found.asked for draft in asked.drafts()]


def drawn_pieces(sheet: Sheet) -> list[np.ndarray]:
    """Cells of the pieces as a reader sees them: squares of one colour."""
    pieces: dict[str, list[np.ndarray]] = {}
    for square in sheet.polygons:
        pieces.setdefault(square.fill, []).append(np.min(square.corners, axis=0))
    return [np.round(np.array(squares) - np.min(squares, axis=0)).astype(int) for squares in pieces.values()]


def can_cover(board: np.ndarray, pieces: list[np.ndarray]) -> bool:
    """Each cell once and each piece once: a 0-1 program over all places of all pieces."""
    cells = {tuple(cell): k for k, cell in enumerate(board.tolist())}
    columns = []
    for number, piece in enumerate(pieces):
        for quarter in range(4):
            turned = piece @ np.linalg.matrix_power([[0, 1], [-1, 0]], quarter)
            for shift in board:
                placed = list(map(tuple, (turned - turned[0] + shift).tolist()))
                if all(cell in cells for cell in placed):
                    column = np.zeros(len(cells) + len(pieces))
                    column[[cells[cell] for cell in placed]] = 1
                    column[len(cells) + number] = 1
                    columns.append(column)
    matrix = np.array(columns).T
    if not matrix.any(axis=1).all():
        return False
    one = LinearConstraint(matrix, 1, 1)
    return milp(np.zeros(len(columns)), constraints=one, bounds=Bounds(0, 1), integrality=np.ones(len(columns))).success


def test_one_set_alone_covers_the_shape():
    for draft in drafts():
        (shape,) = draft.media
        board = np.array([np.min(square.corners, axis=0) for square in shape.polygons]).astype(int)
        covering = [can_cover(board, drawn_pieces(option.shown)) for option in draft.options]
        assert covering == [k == draft.written for k in range(4)]


@pytest.mark.parametrize(
    ("pieces", "fits"),
    [
        ("0,0 1,0 2,0|0,0 1,0 2,0", True),
        ("0,0 1,0 0,1|0,0 1,0 0,1", True),
        ("0,0 1,0 0,1|0,0 1,0 2,0", False),
        ("0,0 1,0 2,0 0,1|0,0 1,0", True),
        ("0,0 1,0 1,1 2,1|0,0 1,0", False),
        ("0,0 1,0 2,0 3,0|0,0 1,0", False),
    ],
)
def test_pieces_of_two_rows_of_three(pieces, fits):
    board = {(x, y) for x in range(3) for y in range(2)}
    assert assembly.covers(board, assembly._read(pieces)) == fits


def test_a_piece_is_not_flipped():
    board = {(0, 0), (1, 0), (1, 1), (2, 1)}
    assert assembly.covers(board, assembly._read("0,0 1,0 1,1 2,1"))
    assert not assembly.covers(board, assembly._read("1,0 2,0 0,1 1,1"))


def test_no_set_stands_out():
    """Each piece of each set is in one other set of the four, or in all."""
    for draft in drafts(100):
        sets = [[tuple(map(tuple, sorted(p.tolist()))) for p in drawn_pieces(o.shown)] for o in draft.options]
        for own in sets:
            assert all(sum(piece in other for other in sets) in (2, 3, 4) for piece in own)


def test_mistakes_are_named():
    names = {option.mistake for draft in drafts(100) for option in draft.options}
    assert names == {"", "a piece mirrored", "a piece of another form", "two pieces of another form"}
