"""How an expert contradicts the user's camera, and how others learn of it."""

from experts.signals import NoEstimate
from experts.stated_camera import contradicted, contradiction


def test_a_contradiction_says_what_shows_it_and_what_to_do() -> None:
    found = contradicted(1.16, "straight lines", 0.064)
    assert found.detail == "straight lines: 1.16 times the given focal length (± 6.4 %)"
    assert "leave --intrinsics out" in found.remedy and "±" not in contradicted(0.9, "rotations").detail


def test_it_is_told_from_other_reasons_without_a_calibration() -> None:
    found = contradicted(1.16, "straight lines")
    assert contradiction({"calibration": found}) is found
    assert contradiction({"calibration": NoEstimate(reason="too few straight lines")}) is None
    assert contradiction({"camera_path": found}) is None
