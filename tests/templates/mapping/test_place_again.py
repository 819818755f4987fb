"""Which of four photos was taken nearest to the place of another one, on a path of known shape."""

import numpy as np
import pytest

from experts.signals import Signal
from templates.mapping.place_again import PlaceAgain
from tests.templates import worlds

TEMPLATE = PlaceAgain()
AROUND = worlds.poses_around()


def asked(known: dict[str, Signal], facts: int = 60) -> list[tuple[tuple[int, ...], str]]:
    """Photos, and the number of the right one."""
    return [
        ((draft.fact["frame"], *draft.fact["frames_others"]), draft.answer.to_json().answer)
        for draft in worlds.drafts(worlds.ask(TEMPLATE, dict(known), facts=facts))
    ]


@pytest.mark.parametrize("poses", [worlds.camera_poses(), AROUND])
def test_the_nearest_photo_is_named(poses: np.ndarray) -> None:
    found = asked(worlds.signals(poses=poses))
    assert len(found) >= 10 and {right for _, right in found} == {*"2345"}
    for frames, right in found:
        places = poses[np.searchsorted(worlds.FRAMES, frames), :3, 3]
        distance = np.linalg.norm(places[1:] - places[0], axis=1)
        first, second = np.sort(distance)[:2]
        assert str(2 + distance.argmin()) == right and second >= 1.5 * first


@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    assert {*asked(worlds.signals())} == {*asked(worlds.elsewhere(3, unit))}


def test_mostly_another_photo_shows_more_of_the_first() -> None:
    (found,) = worlds.ask(TEMPLATE, {**worlds.signals(poses=AROUND)}, facts=60).asked
    misled = found.traps["shows most of photo 1"] != found.answers.labels()
    assert len(misled) >= 10 and misled.mean() >= 0.6


def test_rough_positions_and_a_camera_that_only_turns_silence_the_template() -> None:
    rough = worlds.with_path(worlds.signals(), position_sigma=np.full(len(worlds.FRAMES), 0.5))
    assert not asked(rough)
    assert not asked(worlds.signals(motion="rotation_only"))
    assert not asked({})


def test_photos_at_about_the_same_distance_are_refused() -> None:
    known = worlds.scene(worlds.signals(poses=AROUND))
    facts = TEMPLATE.facts.from_json(
        [
            {"frame": 20, "frames_others": [8, 32, 46, 0]},
            {"frame": 20, "frames_others": [20, 24, 40, 0]},
            {"frame": 1, "frames_others": [16, 24, 40, 0]},
        ]
    )
    assert TEMPLATE.measure(facts, known).why.tolist() == [
        "two photos are about as near",
        "a photo is shown twice",
        "the camera position of a photo is not known",
    ]
