"""Rooms with animals and people."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from benchmarks.trust.creatures import Kind, creature
from benchmarks.trust.rooms import Style, room


@pytest.mark.parametrize("style", ["room", "furnished", "visited"])
def test_a_seed_draws_one_room(style: Style) -> None:
    first, again, other = (room(seed, style).scene.world_from_cam for seed in (2, 2, 5))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize("kind", ["animal", "person"])
def test_a_creature_faces_its_way_on_the_floor_and_swings_its_legs_as_it_goes(kind: Kind) -> None:
    t = np.minimum(np.linspace(0, 2, 40), 1)  # goes, then rests
    parts = creature(np.random.default_rng(4), kind, np.c_[1 + 0.6 * t, 2 + 0.8 * t])
    body, *_, leg = (part.world_from_box for part in parts if part.box.name in ("body", "trunk", "leg"))
    assert body[:, :2, 0] == pytest.approx(np.tile([0.6, 0.8], (40, 1)), abs=1e-6)
    up = leg[:, 2, 2]
    assert up[:18].min() < 0.95 and up[25:] == pytest.approx(1.0)
    feet = [part.world_from_box[-1] @ [0, 0, -part.box.half_m[2], 1] for part in parts if part.box.name == "leg"]
    assert [foot[2] for foot in feet] == pytest.approx([0.0] * len(feet), abs=1e-9)


def test_a_visited_room_shows_its_visitor_in_many_frames() -> None:
    drawn = room(1, "visited")
    small = replace(drawn.scene, intrinsics=drawn.scene.intrinsics.scaled(64, 48))
    shares = np.array([(small.ids(frame) >= len(small.boxes)).mean() for frame in range(0, 48, 6)])
    assert drawn.mover == "person" and (shares > 0.02).mean() > 0.6


def test_a_furnished_room_has_an_animal_a_person_or_nothing_that_moves() -> None:
    assert [room(seed, "furnished").mover for seed in range(3)] == ["animal", "no", "person"]


def test_cameras_have_their_principal_point_off_the_centre_as_real_ones() -> None:
    cameras = [room(seed, style).scene.intrinsics for style in get_args(Style) for seed in range(4)]
    off = [((c.cx_px - (c.width_px - 1) / 2) / c.fx_px, (c.cy_px - (c.height_px - 1) / 2) / c.fx_px) for c in cameras]
    assert 0.008 < np.std(off) < 0.03 and np.abs(off).min() > 0 and np.abs(off).max() <= 0.042
