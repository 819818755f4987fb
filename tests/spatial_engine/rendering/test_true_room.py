"""The room's signal against boxes whose place on the floor is known."""

import numpy as np
import pytest

from experts.signals import Room
from spatial_engine.rendering import as_clip, true_signals
from spatial_engine.rendering.boxes import Box, standing
from spatial_engine.rendering.furniture import OAK
from tests.spatial_engine.rendering.test_true_objects import scene


def room_of(*boxes: Box, **changes: object) -> Room:
    made = scene(*boxes, **changes)
    found = true_signals(made, as_clip(made))["room"]
    assert isinstance(found, Room)
    return found


def test_an_empty_room_is_free_floor() -> None:
    found = room_of()
    assert found.cells.shape == (50, 40) and (found.cells == 1).all() and not len(found.doorways)
    assert found.outline.tolist() == [[0, 0], [4, 0], [4, 5], [0, 5]] and found.height == 2.5
    np.testing.assert_allclose(found.world_from_floor, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("yaw_deg", [0.0, 30.0, 45.0])
def test_cells_that_a_box_overlaps_are_taken(yaw_deg: float) -> None:
    found = room_of(standing("box", (0.95, 0.51, 0.4), (2.03, 3.02, 0), side=OAK, yaw_deg=yaw_deg))
    turn = np.deg2rad(yaw_deg)
    axes = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    fine = (np.stack(np.meshgrid(np.arange(1600), np.arange(2000)), axis=-1) + 0.5) / 400
    inside = (np.abs((fine - [2.03, 3.02]) @ axes) < [0.475, 0.255]).all(axis=-1)
    taken = inside.reshape(50, 40, 40, 40).any(axis=(1, 3))
    assert (found.cells == 2)[taken].all()
    assert np.sum(found.cells == 2) <= taken.sum() + 2  # a corner may enter a cell between the fine points


def test_a_rug_and_a_lamp_above_leave_the_floor_free() -> None:
    rug = standing("rug", (2, 1, 0.012), (2, 3, 0), side=OAK)
    lamp = standing("lamp", (0.5, 0.5, 0.3), (2, 3, 2.0), side=OAK)
    assert (room_of(rug, lamp).cells == 1).all()


def test_a_partition_is_a_wall_with_a_doorway() -> None:
    wall = standing("partition", (2.6, 0.1, 2.5), (1.3, 3.0, 0), side=OAK)
    made = scene(partitions=(wall,), doorways_m=(((2.6, 3.0), (4.0, 3.0)),))
    found = room_of(partitions=(wall,), doorways_m=made.doorways_m)
    assert found.doorways.tolist() == [[[2.6, 3.0], [4.0, 3.0]]]
    assert (found.cells[30, :26] == 2).all() and (found.cells[30, 26:] == 1).all()
    assert made.objects == () and (made.ids(0) == -1).all() and made.depth(0)[60, 50] == pytest.approx(2.45, abs=1e-4)
    assert made.picture(0).shape == (120, 160, 3)
