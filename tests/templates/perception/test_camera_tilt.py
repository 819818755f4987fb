"""Roll, pitch and field of view of a camera that is held in a known way."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Calibration, Gravity, Signal
from templates.answers import Numbers
from templates.generate import answers_to
from templates.perception.orientation import CameraTilt
from templates.truth import verdict
from tests.templates import worlds

TILT = CameraTilt()


def held(roll_deg: list[float], pitch_deg: list[float]) -> dict[str, Signal]:
    """A frame for each roll and pitch. Up leans to the left where the camera rolls clockwise, and forward where it
    looks up."""
    gravity = worlds.signals()["gravity"]
    assert isinstance(gravity, Gravity)
    roll, pitch = np.radians(roll_deg), np.radians(pitch_deg)
    up = np.column_stack([-np.sin(roll) * np.cos(pitch), -np.cos(roll) * np.cos(pitch), np.sin(pitch)])
    n = len(up)
    return {"gravity": replace(gravity, frames=np.arange(n), up_cam=up, sigma_rad=np.full(n, np.radians(1.0)))}


def test_roll_and_pitch_are_those_of_the_camera() -> None:
    rolls, pitches = [0.0, 20.0, -35.0, 0.0], [0.0, -10.0, 25.0, 80.0]
    facts = TILT.facts.from_json([{"frame": frame} for frame in range(4)])
    measured = TILT.measure(facts, worlds.scene(held(rolls, pitches)))
    np.testing.assert_allclose(measured.value[:3, :2], np.column_stack([rolls, pitches])[:3], atol=1e-9)
    assert measured.why.tolist() == ["", "", "", "the camera looks straight up or down, where roll is undefined"]
    labels = answers_to(TILT, "choice", facts, measured)
    assert labels.labels().tolist()[1:3] == ["down", "up"]
    assert labels.gated(0.99).why[0] == "too close to call"
    assert (measured.sigma[2, 0] - measured.sigma[1, 0]) > 0  # roll is less certain where the pitch is steep


def test_the_field_of_view_is_asked_where_it_is_known() -> None:
    wide = worlds.with_path(worlds.signals(), focal_relative_sigma=0.2)
    tight = Calibration(intrinsics=worlds.CAMERA, focal_relative_sigma=0.01, provenance=worlds.SOURCE)
    without, with_vfov = (
        [d.answer for d in worlds.drafts(worlds.ask(TILT, known)) if d.format == "json"]
        for known in (wide, {**wide, "calibration": tight})
    )
    assert {answer.names for answer in without} == {("roll", "pitch")}  # type: ignore[attr-defined]
    known = [answer for answer in with_vfov if isinstance(answer, Numbers) and "vfov" in answer.names]
    assert known and known[0].value[2] == pytest.approx(np.degrees(worlds.CAMERA.vfov_rad))


def test_questions_are_right_and_the_words_fit_the_numbers() -> None:
    for draft in worlds.drafts(worlds.ask(TILT, worlds.signals())):
        assert verdict(TILT, draft.format, dict(draft.fact), draft.answer, worlds.scene(worlds.signals())) is not False
        if isinstance(draft.answer, Numbers):
            assert ("vertical field of view" in draft.prompt + draft.instructions) == ("vfov" in draft.answer.names)


def test_a_frame_without_gravity_is_not_measured() -> None:
    facts = TILT.facts.from_json([{"frame": 1}, {"frame": 2}])
    assert TILT.measure(facts, worlds.scene(worlds.signals())).why.tolist() == [
        "gravity is not known in this frame", "",
    ]  # fmt: skip
