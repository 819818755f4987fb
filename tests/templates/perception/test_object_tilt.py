"""How far an object leans from the vertical of gravity, however the camera is held."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Gravity, ObjectOrientation, Signal
from templates.asked import Draft
from templates.perception.object_axes import ObjectTilt
from tests.templates import worlds
from tests.templates.facing_world import facing

TEMPLATE = ObjectTilt()


def drafts(tilt_deg: float, roll_deg: float = 0.0, **changes: float) -> list[Draft]:
    """About a chair that faces the camera and leans back."""
    signals = facing([180.0], tilts_deg=[tilt_deg], **changes)  # type: ignore[arg-type]
    return worlds.drafts(worlds.ask(TEMPLATE, dict(rolled(signals, roll_deg)), facts=60))


def rolled(signals: dict[str, Signal], roll_deg: float) -> dict[str, Signal]:
    """The same, but gravity and the objects are rotated together in the photo."""
    gravity, orientation = signals["gravity"], signals["object_orientation"]
    assert isinstance(gravity, Gravity) and isinstance(orientation, ObjectOrientation)
    turn = Rotation.from_euler("z", roll_deg, degrees=True).as_matrix()
    return {
        **signals,
        "gravity": replace(gravity, up_cam=gravity.up_cam @ turn.T, sigma_rad=gravity.sigma_rad / 5),
        "object_orientation": replace(orientation, cam_from_object=turn @ orientation.cam_from_object),
    }


@pytest.mark.parametrize("roll_deg", [0.0, 35.0])
@pytest.mark.parametrize(
    ("tilt_deg", "stance"), [(0, "upright"), (4, "upright"), (25, "tilted"), (65, "tilted"), (88, "lying")]
)
def test_the_tilt_is_that_from_gravity(tilt_deg: float, stance: str, roll_deg: float) -> None:
    found = drafts(tilt_deg, roll_deg)
    assert found and {d.fact["object"]["name"] for d in found} == {"chair"}
    for draft in found:
        if draft.format == "choice":
            assert draft.answer.to_json().answer == stance
            mistakes = {str(option.value): option.mistake for option in draft.options}
            assert mistakes.pop(stance) == "" and all(mistakes.values())
            if (tilt_deg, roll_deg) == (0, 35):
                assert mistakes["tilted"] == "against the edges of the photo"
        else:
            assert worlds.written(draft) == pytest.approx(tilt_deg, abs=0.6)
    assert {draft.format for draft in found} == ({"choice"} if stance == "upright" else {"choice", "numeric"})


@pytest.mark.parametrize(
    ("tilt_deg", "changes"), [(12, {}), (78, {}), (25, {"sigma_deg": 10.0}), (130, {}), (0, {"fronts": -1})]
)
def test_no_word_is_asked_between_two_stances(tilt_deg: float, changes: dict[str, float]) -> None:
    found = drafts(tilt_deg, **changes)
    if "fronts" not in changes:
        assert all(draft.format == "numeric" for draft in found)
    assert not any(draft.format == "choice" and draft.answer.to_json().answer != "upright" for draft in found)


def test_mistaken_numbers_would_count_as_wrong() -> None:
    for draft in drafts(40.0, roll_deg=30.0):
        for number in draft.traps.values():
            assert abs(number - worlds.written(draft)) > 10 - 0.5


def test_without_gravity_or_with_a_vague_one_nothing_is_asked() -> None:
    signals = facing([180.0], tilts_deg=[15.0])
    gravity, path = signals["gravity"], signals["camera_path"]
    assert isinstance(gravity, Gravity) and isinstance(path, CameraPath)
    vague = replace(gravity, sigma_rad=np.full(len(gravity.frames), np.radians(10)))
    assert not worlds.ask(TEMPLATE, {**signals, "gravity": vague}).asked
    assert not worlds.ask(TEMPLATE, {name: s for name, s in signals.items() if name != "gravity"}).asked
