"""Shortest free ways on the plan of a small room."""

import numpy as np
import pytest

from experts.signals import Room
from templates.scene.free_floor import CLEARANCE, FreeFloor, around, blocked, outline_of, sampled, way_length
from tests.templates.worlds import SOURCE


def room(cells: np.ndarray) -> Room:
    """A room whose plan has these cells of 0.1 m, rows along y, from (1, 2) on."""
    return Room(
        world_from_floor=np.eye(4), floor_sigma=0.01, outline=np.zeros((0, 2)), wall_sigma=np.zeros(0), height=np.nan,
        height_sigma=np.nan, doorways=np.zeros((0, 2, 2)), cells=cells.astype(np.int32), cell=0.1,
        cells_from=np.array([1.0, 2.0]), provenance=SOURCE,
    )  # fmt: skip


def with_wall(gap: int) -> Room:
    """4 × 3 m, with a wall across the middle that has a gap at one end, so many cells wide."""
    cells = np.ones((30, 40))
    cells[14:16, : 40 - gap] = 2
    return room(cells)


def test_a_way_leads_round_a_wall_and_keeps_away_from_it() -> None:
    floor = FreeFloor.of(with_wall(10))
    start, end = np.array([1.5, 2.5]), np.array([1.5, 4.5])
    lengths, before = floor.ways_from(start)
    row, column = floor.squares(end)
    way = floor.way(start, np.array([row, column]), before)
    assert np.allclose(way[0], start) and np.linalg.norm(way[-1] - end) < 0.05
    assert 3 <= len(way) <= 7
    around_corner = 2 * np.hypot(2.5 + CLEARANCE, 1.0)
    assert around_corner - 0.3 < way_length(way) <= lengths[row, column] + 1e-9 < 1.09 * around_corner + 0.3
    clear, deep = floor.along(way)
    assert clear.min() > CLEARANCE - 0.05 and deep.max() == 0
    assert floor.along(np.stack([start, end]))[1].max() == pytest.approx(0.1, abs=0.051)


def test_a_gap_narrower_than_a_person_is_no_way() -> None:
    floor = FreeFloor.of(with_wall(5))
    lengths, _ = floor.ways_from(np.array([1.5, 2.5]))
    row, column = floor.squares(np.array([1.5, 4.5]))
    assert np.isinf(lengths[row, column])


def test_what_was_not_seen_is_not_free() -> None:
    cells = np.ones((30, 40))
    cells[:, 20:] = 0
    floor = FreeFloor.of(room(cells))
    row, column = floor.squares(np.array([4.0, 3.0]))
    assert floor.clear[row, column] == 0 < floor.deep[row, column]
    assert FreeFloor.of(room(np.zeros((3, 3)))).clear.max() == 0


def test_rectangles_cover_what_is_not_free_and_nothing_else() -> None:
    known = with_wall(10)
    cells = around(known, np.array([0.0, 0.0]), np.array([9.0, 9.0]))
    assert outline_of(known, cells).tolist() == [[1, 2], [5, 2], [5, 5], [1, 5]]
    (wall,) = blocked(known, cells)
    assert np.allclose(wall, [[1, 3.4], [4, 3.4], [4, 3.6], [1, 3.6]])
    part = around(known, np.array([2.0, 3.0]), np.array([3.0, 4.0]))
    assert np.allclose(outline_of(known, part), [[2, 3], [3, 3], [3, 4], [2, 4]])


def test_places_along_a_way_are_close_together() -> None:
    places = sampled(np.array([[0, 0], [1, 0], [1, 0.5]]))
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() <= 0.02 + 1e-9
    assert way_length(places) == pytest.approx(1.5)
