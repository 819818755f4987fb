"""Translations of the camera of known name."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal
from templates.generate import answers_to
from templates.perception.ego_motion import CameraTravel
from templates.truth import verdict
from tests.templates import worlds

TRAVEL = CameraTravel()
WHOLE = TRAVEL.facts.from_json([{"frames": [0, 14, 30, 46]}])


def moving(direction: list[float], turn_deg: float = 0.0) -> dict[str, Signal]:
    """A level camera that moves a metre along an axis of its own (x to the right, y down, z ahead)."""
    signals = worlds.signals()
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    level = Rotation.from_euler("x", -90, degrees=True).as_matrix()
    poses, share = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1)), np.linspace(0, 1, len(worlds.FRAMES))[:, None]
    poses[:, :3, :3] = level @ Rotation.from_euler("y", turn_deg * share, degrees=True).as_matrix()
    poses[:, :3, 3] = share * (level @ np.array(direction, dtype=float))
    return {"camera_path": worlds.with_path(signals, world_from_cam=poses)["camera_path"]}


@pytest.mark.parametrize(
    ("direction", "name"),
    [
        ([1, 0, 0], "Truck Right"), ([-1, 0, 0], "Truck Left"), ([0, 1, 0], "Pedestal Down"),
        ([0, -1, 0], "Pedestal Up"), ([0, 0, 1], "Dolly In"), ([0, 0, -1], "Dolly Out"),
    ],
)  # fmt: skip
def test_the_name_is_that_of_the_translation(direction: list[float], name: str) -> None:
    measured = TRAVEL.measure(WHOLE, worlds.scene(moving(direction)))
    np.testing.assert_allclose(measured.value[0], direction, atol=1e-9)
    answers = answers_to(TRAVEL, "choice", WHOLE, measured).gated(0.99)
    assert answers.why.tolist() == [""] and answers.labels().tolist() == [name]


def test_a_mixed_translation_has_no_name() -> None:
    measured = TRAVEL.measure(WHOLE, worlds.scene(moving([1, 0, 1])))
    assert answers_to(TRAVEL, "choice", WHOLE, measured).gated(0.99).why[0] != ""


def test_a_camera_that_turned_far_has_no_name_for_its_translation() -> None:
    assert TRAVEL.measure(WHOLE, worlds.scene(moving([0, 0, 1], 70.0))).why.tolist() == [
        "the camera rotated too far for its translation to have one name"
    ]


def test_a_camera_in_place_and_unknown_photos_are_not_measured() -> None:
    assert TRAVEL.measure(WHOLE, worlds.scene(moving([0, 0, 0]))).why.tolist() == [
        "the translation is within its noise"
    ]
    unknown = TRAVEL.facts.from_json([{"frames": [0, 1]}])
    for signals in (moving([0, 0, 1]), {}):
        assert TRAVEL.measure(unknown, worlds.scene(signals)).why.tolist() == [
            "the camera position of a photo is not known"
        ]


def test_questions_are_right_and_offer_the_opposite() -> None:
    truth, drafts = worlds.scene(worlds.signals()), worlds.drafts(worlds.ask(TRAVEL, worlds.signals()))
    opposite = {"Truck Right": "Truck Left", "Pedestal Down": "Pedestal Up", "Dolly In": "Dolly Out"}
    opposite |= {b: a for a, b in opposite.items()}
    assert len(drafts) >= 8
    for draft in drafts:
        said = verdict(TRAVEL, draft.format, dict(draft.fact), draft.answer, truth)
        assert said is True or (said is None and draft.answer.margin < 3)
        values = [option.value for option in draft.options]
        assert len({*values}) == 4 and opposite[values[draft.written]] in values
