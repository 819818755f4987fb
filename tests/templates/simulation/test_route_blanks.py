"""Turns of a route through the places of photos, on a small exact world."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.signals import CameraPath, Signal
from templates.asked import Draft
from templates.simulation.route_blanks import RouteBlanks, RoutePhotos
from tests.templates import worlds

BLANKS = RouteBlanks()
N = len(worlds.FRAMES)


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(BLANKS, signals))


def at(*places: tuple[float, float, float]) -> dict[str, Signal]:
    """A camera that is at these places in its first frames, and looks ahead."""
    poses = np.tile(worlds.camera_poses()[0], (N, 1, 1))
    poses[:, :3, 3] = places[-1]
    poses[: len(places), :3, 3] = places
    return worlds.signals(poses=poses)


def turns(signals: dict[str, Signal], count: int) -> tuple[str, str]:
    """The list of turns through the first places, or why there is none."""
    facts = RoutePhotos(frames=worlds.FRAMES[:count][None])
    measured = BLANKS.measure(facts, worlds.scene(signals))
    assert measured.label is not None
    return str(measured.label[0]), str(measured.why[0])


def test_turns_are_named_for_somebody_who_goes_that_way() -> None:
    square = at((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 2, 0), (1, 1.2, 0.1))
    assert turns(square, 5) == ("right, left, back", "")
    assert turns(worlds.mirrored(square), 5) == ("left, right, back", "")
    assert turns(square, 4) == ("right, left", "")


@pytest.mark.parametrize(
    ("last", "why"),
    [
        ((0.3, 2, 0), "a turn is too close to call"),
        ((0.7, 0.3, 0), "a turn is too close to call"),
        ((1, 1, 1), "the route rises or falls"),
        ((0.0002, 1, 0), "a leg is too short"),
    ],
)
def test_what_has_no_clear_turn_is_refused(last: tuple[float, float, float], why: str) -> None:
    assert turns(at((0, 0, 0), (-1, 0, 0), (0, 0, 0), (0, 1, 0), last), 5)[1] == why


def test_options_hold_each_list_and_its_mirror_image() -> None:
    found = asked(worlds.signals(poses=worlds.poses_around()))
    assert len(found) >= 10 and {len(d.fact["frames"]) for d in found} == {4, 5, 6}
    for draft in found:
        lists = [str(option.shown).lower() for option in draft.options]
        assert len({*lists}) == 4 and {worlds.in_a_mirror(each) for each in lists} == {*lists}
        assert lists[0] == "turn " + draft.answer.to_json().answer.replace(", ", ", turn ")
        assert f"[turn {len(draft.fact['frames']) - 2}]" in draft.prompt
        assert [photo.frame for photo in draft.media] == draft.fact["frames"]


def test_no_list_is_asked_about_much_more_often_than_others() -> None:
    found = [d.answer.to_json().answer for d in asked(worlds.signals(poses=worlds.poses_around()))]
    assert max(map(found.count, found)) <= 0.25 * len(found)
    with_left, with_right = (sum(side in each for each in found) for side in ("left", "right"))
    assert with_left and with_right


def test_too_large_a_sigma_asks_nothing() -> None:
    signals = worlds.signals(poses=worlds.poses_around())
    assert not asked(worlds.with_path(signals, direction_sigma_rad=0.4))
    assert not asked(worlds.with_path(signals, position_sigma=np.full(N, 2.0)))


def test_without_gravity_or_positions_nothing_is_asked() -> None:
    assert not asked(worlds.signals(poses=worlds.poses_around(), with_gravity=False))
    assert not asked(worlds.signals(motion="rotation_only"))


def test_a_photo_without_a_pose_is_refused() -> None:
    signals = at((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 2, 0))
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    assert turns(worlds.with_path(signals, registered=np.arange(N) != 2), 4)[1].startswith("the camera position")
    assert not len(BLANKS.measure(RoutePhotos.none(), worlds.scene(signals)))


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_a_route(seed: int, unit: float) -> None:
    poses = worlds.poses_around()
    first, second = (asked(known) for known in (worlds.signals(poses=poses), worlds.elsewhere(seed, unit, poses=poses)))
    assert [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]
