"""Rotations of the camera of known name and angle."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal
from templates.answers import Numbers
from templates.generate import answers_to
from templates.perception.ego_motion import CameraTurn
from templates.truth import verdict
from tests.templates import worlds

TURN = CameraTurn()
WHOLE = TURN.facts.from_json([{"frames": [0, 14, 30, 46]}])


def turning(axis: str, degrees: float) -> dict[str, Signal]:
    """A level camera that rotates steadily about an axis of its own (x to the right, y down, z ahead)."""
    signals = worlds.signals(motion="rotation_only", with_gravity=False)
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    poses = np.tile(path.world_from_cam[0], (len(worlds.FRAMES), 1, 1))
    angles = np.linspace(0, degrees, len(poses))[:, None]
    poses[:, :3, :3] = poses[0, :3, :3] @ Rotation.from_euler(axis, angles, degrees=True).as_matrix()
    return {"camera_path": worlds.with_path(signals, world_from_cam=poses)["camera_path"]}


@pytest.mark.parametrize(
    ("axis", "degrees", "name"),
    [
        ("y", 24, "Pan Right"), ("y", -24, "Pan Left"), ("x", 20, "Tilt Up"), ("x", -20, "Tilt Down"),
        ("z", 30, "Roll CW"), ("z", -30, "Roll CCW"),
    ],
)  # fmt: skip
def test_name_and_angle_are_those_of_the_rotation(axis: str, degrees: float, name: str) -> None:
    measured = TURN.measure(WHOLE, worlds.scene(turning(axis, degrees)))
    label, number = (answers_to(TURN, format, WHOLE, measured).gated(0.99) for format in ("choice", "numeric"))
    assert label.why.tolist() == number.why.tolist() == [""] and label.labels().tolist() == [name]
    angle = number.row(0)
    assert isinstance(angle, Numbers) and angle.value[0] == pytest.approx(abs(degrees)) and angle.tolerance[0] == 5


def test_a_small_rotation_has_neither_name_nor_angle() -> None:
    measured = TURN.measure(WHOLE, worlds.scene(turning("y", 2.0)))
    assert answers_to(TURN, "choice", WHOLE, measured).why.tolist() == ["rotation below threshold"]
    assert answers_to(TURN, "numeric", WHOLE, measured).why.tolist() == ["the rotation is smaller than its tolerance"]


def test_a_rotation_that_nobody_can_judge_in_degrees_has_a_name_alone() -> None:
    measured = TURN.measure(WHOLE, worlds.scene(turning("y", 120.0)))
    assert answers_to(TURN, "choice", WHOLE, measured).labels().tolist() == ["Pan Right"]
    why = answers_to(TURN, "numeric", WHOLE, measured).why.tolist()
    assert why == ["the rotation is too large to be judged in degrees"]


def test_shorter_rows_end_before_their_padding() -> None:
    facts = TURN.facts.from_json([{"frames": [0, 46]}, {"frames": [0, 14, 30, 46]}])
    measured = TURN.measure(facts, worlds.scene(turning("y", 24)))
    assert measured.value[0] == pytest.approx(measured.value[1]) == 24


def test_options_are_the_name_its_opposite_and_two_others() -> None:
    found = worlds.ask(TURN, worlds.signals())
    drafts, truth = worlds.drafts(found), worlds.scene(worlds.signals())
    opposite = {"Pan Right": "Pan Left", "Tilt Up": "Tilt Down", "Roll CW": "Roll CCW"}
    opposite |= {b: a for a, b in opposite.items()}
    assert {d.format for d in drafts} == {"choice", "numeric"}
    for draft in drafts:
        assert verdict(TURN, draft.format, dict(draft.fact), draft.answer, truth) is not False
        if draft.format == "choice":
            values = [option.value for option in draft.options]
            assert len({*values}) == 4 and opposite[values[draft.written]] in values
            assert values[draft.written] == draft.answer.text  # type: ignore[attr-defined]
        assert [photo.frame for photo in draft.media] == draft.fact["frames"] == sorted(draft.fact["frames"])
