"""The floor area of a small exact room that a video shows all round."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Room, Signal
from templates.asked import Draft
from templates.mapping.room_area import RoomArea
from templates.scene.room_walls import area_of, inside
from tests.templates import worlds

TEMPLATE = RoomArea()
LOW = np.array([[0, 0], [5.0, 0], [5, 1.5], [3, 1.5], [3, 4], [0, 4]])
"""An L: 20 m² less 5 m²."""


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals))


def with_room(**changes: object) -> dict[str, Signal]:
    signals = worlds.empty_room()
    room = signals["room"]
    assert isinstance(room, Room)
    return {**signals, "room": replace(room, **changes)}  # type: ignore[arg-type]


def why(signals: dict[str, Signal]) -> set[str]:
    facts = TEMPLATE.propose(worlds.scene(worlds.empty_room()), np.random.default_rng(0), 40)
    return {*TEMPLATE.measure(facts, worlds.scene(signals)).why.tolist()}


def test_the_area_is_length_times_width() -> None:
    drafts = [d for seed in range(3) for d in worlds.drafts(worlds.ask(TEMPLATE, worlds.empty_room(), seed=seed))]
    assert {draft.format for draft in drafts} == {"choice", "numeric"}
    for draft in drafts:
        if draft.format == "numeric":
            assert draft.answer.to_json().answer == pytest.approx(20.0)
            assert 2 < draft.traps["what one frame shows"] < 10
        else:
            areas = [float(str(option.shown).removesuffix(" m²")) for option in draft.options]
            assert areas[draft.written] == 20.0 and min(np.diff(np.log(sorted(areas)))) > 0.33
    written = {draft.written for draft in drafts if draft.format == "choice"}
    assert written == {*range(4)}  # the right one is not always in the middle


def test_areas_and_insides_of_polygons() -> None:
    assert area_of(LOW) == area_of(LOW[::-1]) == 15.0 and area_of(LOW[:2]) == 0
    rng = np.random.default_rng(0)
    xy = rng.uniform([-1, -1], [6, 5], (4000, 2))
    by_hand = (xy > 0).all(axis=1) & (xy < [5, 4]).all(axis=1) & ~((xy[:, 0] > 3) & (xy[:, 1] > 1.5))
    assert (inside(LOW, xy) == by_hand).all()


def test_a_video_that_does_not_show_the_walls_is_refused() -> None:
    """The same poses with walls farther away than the depth, and with a part of the path alone."""
    farther = np.array([[-2, -2], [8.0, -2], [8, 7], [-2, 7]])
    assert why(with_room(outline=farther)) == {"the video does not show the whole room"}
    scene = worlds.scene(worlds.empty_room())
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 40)
    half = replace(facts, frames=np.tile(worlds.FRAMES[:10], (len(facts), 1)))
    assert {*TEMPLATE.measure(half, scene).why.tolist()} == {"the video does not show the whole room"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"outline": np.empty((0, 2)), "wall_sigma": np.empty(0)}, "the walls of the room are not known"),
        ({"wall_sigma": np.array([0.02, np.inf, 0.02, 0.02])}, "a wall was not seen"),
        ({"doorways": np.array([[[2.0, 0.5], [2.0, 1.5]]])}, "the walls surround several rooms"),
        ({"outline": np.array([[0, 0], [5.0, 0], [5, 1], [0, 1]])}, "the camera leaves the room"),
    ],
)
def test_a_room_that_is_not_known_whole_is_refused(changes: dict[str, object], reason: str) -> None:
    assert why(with_room(**changes)) == {reason}


def test_a_doorway_in_a_wall_divides_nothing() -> None:
    assert why(with_room(doorways=np.array([[[1.0, 0.02], [2.0, 0.02]]]))) == {""}


def test_with_large_sigma_or_without_metres_nothing_is_asked() -> None:
    assert not asked(with_room(wall_sigma=np.full(4, 0.6)))
    signals = worlds.empty_room()
    assert not asked(worlds.with_path(signals, scale=replace(worlds.METRIC, relative_sigma=0.1)))
    assert not asked(worlds.with_path(signals, scale=replace(worlds.METRIC, kind="relative", relative_sigma=None)))


def test_no_choice_of_world_changes_the_questions() -> None:
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=np.random.default_rng(3)).as_matrix()
    turned[:3, 3] = 4.0, -2.0, 1.0
    first, second = asked(worlds.empty_room()), asked(worlds.empty_room(turned))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]
