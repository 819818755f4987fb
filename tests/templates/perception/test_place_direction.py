"""In which direction one camera position lies from another."""

import numpy as np
import pytest

from experts.signals import CameraPath, Signal
from templates.answers import Numbers
from templates.generate import answers_to
from templates.perception.eight_directions import DIRECTIONS
from templates.perception.relation import FramePairs, PlaceDirection
from templates.truth import verdict
from tests.templates import worlds

DIRECTION = PlaceDirection()


def around(azimuth_deg: np.ndarray, elevation_deg: float = 0.0) -> dict[str, Signal]:
    """The first camera is in the middle; camera k is a metre away at an azimuth clockwise from its view."""
    signals = worlds.signals()
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))
    azimuth, elevation = np.radians(azimuth_deg), np.radians(elevation_deg)
    poses[1 : 1 + len(azimuth), 0, 3] = np.sin(azimuth) * np.cos(elevation)
    poses[1 : 1 + len(azimuth), 1, 3] = -np.sin(elevation)
    poses[1 : 1 + len(azimuth), 2, 3] = np.cos(azimuth) * np.cos(elevation)
    return {"camera_path": worlds.with_path(signals, world_from_cam=poses)["camera_path"]}


def seen_from_the_middle(count: int) -> FramePairs:
    return FramePairs(frame_from=worlds.FRAMES[1 : 1 + count], frame_seen_from=np.full(count, worlds.FRAMES[0]))


def test_azimuths_are_clockwise_from_ahead_and_named_by_eight_directions() -> None:
    azimuth = 45.0 * np.arange(8) + 3
    facts, scene = seen_from_the_middle(8), worlds.scene(around(azimuth))
    measured = DIRECTION.measure(facts, scene)
    numbers, labels = (answers_to(DIRECTION, format, facts, measured) for format in ("numeric", "choice"))
    values = [numbers.row(k) for k in range(8)]
    assert all(isinstance(value, Numbers) and value.period == 360 for value in values)
    assert [value.value[0] % 360 for value in values] == pytest.approx(azimuth)  # type: ignore[attr-defined]
    assert labels.labels().tolist() == [*DIRECTIONS]


def test_a_direction_between_two_names_is_too_close_to_call() -> None:
    facts, scene = seen_from_the_middle(1), worlds.scene(around(np.array([22.0])))
    answers = answers_to(DIRECTION, "choice", facts, DIRECTION.measure(facts, scene))
    assert answers.gated(0.99).why.tolist() == ["too close to call"]


def test_a_place_far_above_has_no_direction() -> None:
    facts, scene = seen_from_the_middle(1), worlds.scene(around(np.array([3.0]), elevation_deg=65.0))
    for format in DIRECTION.formats:
        answers = answers_to(DIRECTION, format, facts, DIRECTION.measure(facts, scene))
        assert answers.why.tolist() == ["the place lies too far above or below the camera"]


def test_photos_of_one_place_and_unknown_ones_are_not_measured() -> None:
    facts = FramePairs(frame_from=np.array([0, 1]), frame_seen_from=np.array([40, 0]))
    assert DIRECTION.measure(facts, worlds.scene(around(np.array([3.0])))).why.tolist() == [
        "both photos were taken at the same place", "the camera position of a photo is not known",
    ]  # fmt: skip


def test_options_are_the_direction_its_opposite_and_two_others() -> None:
    truth, drafts = worlds.scene(worlds.signals()), worlds.drafts(worlds.ask(DIRECTION, worlds.signals()))
    assert {d.format for d in drafts} == {"choice", "numeric"}
    for draft in drafts:
        assert verdict(DIRECTION, draft.format, dict(draft.fact), draft.answer, truth) is not False
        assert [photo.frame for photo in draft.media] == [draft.fact["frame_from"], draft.fact["frame_seen_from"]]
        if draft.format == "choice":
            at = [DIRECTIONS.index(option.value) for option in draft.options]
            steps = sorted((k - at[draft.written]) % 8 for k in at)
            assert len({*steps}) == 4 and steps[0] == 0 and 4 in steps and 1 not in steps and 7 not in steps
