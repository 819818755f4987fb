"""Where directions from a photo end, on a small exact world in metres."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal
from templates.asked import Draft
from templates.scene.level_axes import NOT_UPRIGHT
from templates.simulation.where_it_ends import Directions, WhereItEnds
from tests.templates import worlds

ENDS = WhereItEnds()
N = len(worlds.FRAMES)
PLACES = ((0, 0, 0), (1, 1, 0), (-1, 1, 0), (1, -1, 0), (0, 2, 0))
"""Ahead, seen from the first camera, is +y."""


def metric(**changes: object) -> dict[str, Signal]:
    return worlds.with_path(worlds.signals(poses=worlds.poses_around()), scale=worlds.METRIC, **changes)


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(ENDS, signals))


def at_places(steps: list[list[float]], mirrored: bool = False, **changes: object) -> tuple[str, str, dict[str, str]]:
    """The number of the photo where the steps end, why there is none, and where mistakes lead."""
    poses = np.tile(worlds.camera_poses()[0], (N, 1, 1))
    poses[:, :3, 3] = PLACES[-1]
    poses[: len(PLACES), :3, 3] = PLACES
    signals = worlds.with_path(worlds.signals(poses=poses), scale=worlds.METRIC, **changes)
    signals = worlds.mirrored(signals) if mirrored else signals
    frame, *options = worlds.FRAMES[: len(PLACES)].tolist()
    facts = Directions.from_json([{"frame": frame, "steps": steps, "frames_options": options}])
    measured = ENDS.measure(facts, worlds.scene(signals))
    assert measured.label is not None
    return str(measured.label[0]), str(measured.why[0]), {k: str(v[0]) for k, v in measured.traps.items()}


@pytest.mark.parametrize(
    ("steps", "number"),
    [
        ([[45, 1.4]], "1"),
        ([[0, 1.0], [90, 1.0]], "1"),
        ([[-90, 1.0], [90, 1.0]], "2"),
        ([[180, 1.0], [-90, 1.0]], "3"),
        ([[0, 0.9], [0, 1.1]], "4"),
    ],
)
def test_turns_and_metres_add_up(steps: list[list[float]], number: str) -> None:
    assert at_places(steps)[:2] == (number, "")
    other = {"1": "2", "2": "1"}.get(number)
    if other:
        flipped = [[-turn, metres] for turn, metres in steps]
        assert at_places(flipped, mirrored=False)[0] == other
        assert at_places(flipped, mirrored=True)[0] == other or at_places(steps, mirrored=True)[0] == other


def test_mistakes_lead_to_other_photos() -> None:
    traps = at_places([[0, 1.0], [90, 1.0]])[2]
    assert traps == {"left and right exchanged": "2", "turns left out": "4", "last leg left out": ""}


def test_an_end_away_from_all_photos_is_refused() -> None:
    assert at_places([[0, 1.0], [90, 3.0]])[1] == "no option is near the right one"


def test_directions_are_in_words() -> None:
    found = asked(metric())
    assert len(found) >= 10
    for draft in found:
        assert " m" in draft.prompt and "nan" not in draft.prompt
        (start,) = draft.media
        assert start.frame == draft.fact["frame"]
        assert [option.shown.frame for option in draft.options] == draft.fact["frames_options"]
        assert draft.fact["frame"] not in draft.fact["frames_options"]
    assert len({d.answer.to_json().answer for d in found}) == 4


def test_without_metres_or_gravity_nothing_is_asked() -> None:
    assert not asked(worlds.signals(poses=worlds.poses_around()))
    no_gravity = worlds.signals(poses=worlds.poses_around(), with_gravity=False)
    assert not asked(worlds.with_path(no_gravity, scale=worlds.METRIC))


def test_too_large_a_sigma_asks_nothing() -> None:
    assert not asked(metric(direction_sigma_rad=0.6))
    assert not asked(metric(position_sigma=np.full(N, 2.0)))
    assert not asked(metric(travel_relative_sigma=0.6))


def test_a_photo_without_a_pose_is_refused() -> None:
    why = at_places([[45, 1.4]], registered=np.arange(N) != 2)[1]
    assert why == "the camera position of a photo is not known"
    assert not len(ENDS.measure(Directions.none(), worlds.scene(metric())))


def test_no_choice_of_world_changes_an_end() -> None:
    poses = worlds.poses_around()
    there = worlds.with_path(worlds.elsewhere(3, 1.0, poses=poses), scale=worlds.METRIC)
    path = there["camera_path"]
    assert isinstance(path, CameraPath)
    assert [worlds.shown(draft) for draft in asked(metric())] == [worlds.shown(draft) for draft in asked(there)]


@pytest.mark.parametrize(
    ("pitch_deg", "roll_deg", "asked"), [(50, 0, True), (70, 0, False), (91, 0, False), (0, 90, False)]
)
def test_a_photo_that_looks_far_down_or_is_rolled_has_no_way_ahead(
    pitch_deg: float, roll_deg: float, asked: bool
) -> None:
    """Beyond straight down, the way ahead on the floor is the opposite one."""
    poses = np.tile(worlds.camera_poses()[0], (N, 1, 1))
    poses[:, :3, :3] = poses[:, :3, :3] @ Rotation.from_euler("xz", [-pitch_deg, roll_deg], degrees=True).as_matrix()
    poses[:, :3, 3] = PLACES[-1]
    poses[: len(PLACES), :3, 3] = PLACES
    frame, *options = worlds.FRAMES[: len(PLACES)].tolist()
    facts = Directions.from_json([{"frame": frame, "steps": [[0, 1.0], [90, 1.0]], "frames_options": options}])
    signals = worlds.with_path(worlds.signals(poses=poses), scale=worlds.METRIC)
    assert (ENDS.measure(facts, worlds.scene(signals)).why[0] != NOT_UPRIGHT) == asked


def test_the_end_is_stated_to_the_right_and_ahead() -> None:
    frame, *options = worlds.FRAMES[: len(PLACES)].tolist()
    facts = Directions.from_json([{"frame": frame, "steps": [[90, 2.0], [-90, 1.0]], "frames_options": options}])
    assert ENDS.measure(facts, worlds.scene(metric())).evidence["end_m"].tolist() == [[2.0, 1.0]]
