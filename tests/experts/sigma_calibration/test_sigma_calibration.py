"""σ factors: applied to signals, written to a file, read back; other files are refused."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest

from experts.registry import EXPERTS
from experts.sigma_calibration import (
    QUANTITIES,
    AnswerFactor,
    HeldOut,
    NotCalibrated,
    SigmaCalibration,
    SigmaFactor,
    packaged_calibration,
    read_calibration,
    with_sigma_calibration,
)
from experts.signals import SIGNAL_TYPES, Calibration, NoEstimate
from templates.registry import create_templates
from tests.templates import worlds
from tests.templates.worlds import SOURCE

RAW = replace(SOURCE, sigma="raw", weights_sha256="abc")


def one_factor(signal: str, quantity: str, factor: float = 2.0, **more) -> SigmaFactor:
    held_out = (HeldOut(set="attic", samples=99, fitted=factor, within_1=0.7, within_2=0.95),)
    made = {"expert": SOURCE.expert, "version": SOURCE.version, "weights_sha256": None, "samples": 99}
    return SigmaFactor(
        **{**made, "signal": signal, "quantity": quantity, "factor": factor, "held_out": held_out, **more}
    )


def of_answers(factor: float = 0.6, **more) -> AnswerFactor:
    held_out = (HeldOut(set="attic", samples=99, fitted=factor, within_1=0.7, within_2=0.95),)
    made = {"template": "camera_turn", "version": "3", "experts": {"colmap": "24", "klt": "5"}, "samples": 99}
    return AnswerFactor(**{**made, "factor": factor, "held_out": held_out, **more})


def calibration(*parts: SigmaFactor) -> SigmaCalibration:
    return SigmaCalibration(factors=parts)


WHOLE = calibration(*(one_factor(signal, q, 1.5 + k) for signal, of in QUANTITIES.items() for k, q in enumerate(of)))


def parts(signal):
    return {field.name: getattr(signal, field.name) for field in fields(signal)}


def test_quantities_are_fields_of_signals():
    for signal, quantities in QUANTITIES.items():
        known = {field.name for field in fields(SIGNAL_TYPES[signal])}
        named = [name for fields_of in quantities.values() for name in fields_of]
        assert set(named) <= known and len(named) == len(set(named))


def test_only_sigma_and_provenance_change():
    before = worlds.signals()
    after = with_sigma_calibration(before, WHOLE)
    assert list(after) == list(before)
    for name, signal in before.items():
        factors_by_field = {f: 1.5 + k for k, of in enumerate(QUANTITIES.get(name, {}).values()) for f in of}
        for part, value in parts(signal).items():
            now = getattr(after[name], part)
            if part == "provenance" and name in QUANTITIES:
                assert now == replace(
                    value, sigma="calibrated", calibrated_on={quantity: ["attic"] for quantity in QUANTITIES[name]}
                )
            elif part in factors_by_field:
                np.testing.assert_allclose(now, factors_by_field[part] * np.asarray(value))
                assert np.asarray(now).dtype == np.asarray(value).dtype
            else:
                assert now is value, (name, part)


def test_without_a_factor_a_signal_is_the_same_object():
    before = worlds.signals() | {"gravity_check": NoEstimate(reason="no lines")}
    other = calibration(one_factor("gravity", "up", expert="somebody else"))
    for known in (SigmaCalibration(), other):
        after = with_sigma_calibration(before, known)
        assert all(after[name] is signal for name, signal in before.items())


def test_the_factor_of_directions_scales_positions_too():
    before = worlds.signals()["camera_path"]
    after = with_sigma_calibration({"camera_path": before}, calibration(one_factor("camera_path", "direction", 3.0)))[
        "camera_path"
    ]
    assert after.direction_sigma_rad == pytest.approx(3 * before.direction_sigma_rad)
    np.testing.assert_allclose(after.position_sigma, 3 * before.position_sigma)
    assert after.rotation_sigma_rad is before.rotation_sigma_rad


def test_a_check_has_the_factor_of_the_signal_that_it_checks():
    before = {"gravity_check": worlds.signals()["gravity"]}
    after = with_sigma_calibration(before, calibration(one_factor("gravity", "up")))["gravity_check"]
    np.testing.assert_allclose(after.sigma_rad, 2 * before["gravity_check"].sigma_rad)


@pytest.mark.parametrize("missing", QUANTITIES["camera_path"])
def test_sigma_is_raw_until_every_quantity_has_a_factor(missing):
    path = replace(worlds.signals()["camera_path"], provenance=RAW)
    of = [one_factor("camera_path", q, weights_sha256="abc") for q in QUANTITIES["camera_path"]]
    whole = with_sigma_calibration({"camera_path": path}, calibration(*of))["camera_path"]
    partly = with_sigma_calibration({"camera_path": path}, calibration(*(m for m in of if m.quantity != missing)))[
        "camera_path"
    ]
    assert (whole.provenance.sigma, partly.provenance.sigma) == ("calibrated", "raw")
    assert set(partly.provenance.calibrated_on) == set(QUANTITIES["camera_path"]) - {missing}


@pytest.mark.parametrize("other", [{"version": "0"}, {"weights_sha256": "other"}])
def test_a_factor_of_another_version_increases_sigma_but_does_not_calibrate(other):
    before = {"gravity": worlds.signals()["gravity"]}
    after = with_sigma_calibration(before, calibration(one_factor("gravity", "up", **other)))["gravity"]
    np.testing.assert_allclose(after.sigma_rad, 2 * before["gravity"].sigma_rad)
    assert after.provenance.sigma == "measured" and after.provenance.calibrated_on == {"up": ["attic"]}


def test_of_two_factors_the_one_of_the_same_weights_is_used():
    camera = worlds.signals()["camera_path"]
    before = Calibration(intrinsics=camera.intrinsics, focal_relative_sigma=0.1, provenance=RAW)
    known = calibration(
        one_factor("calibration", "focal", 5.0, weights_sha256="other"),
        one_factor("calibration", "focal", 1.2, weights_sha256="abc"),
    )
    after = with_sigma_calibration({"calibration": before}, known)["calibration"]
    assert after.focal_relative_sigma == pytest.approx(0.12) and after.provenance.sigma == "calibrated"


def test_a_factor_is_applied_only_once():
    once = with_sigma_calibration(worlds.signals(), WHOLE)
    assert all(signal is once[name] for name, signal in with_sigma_calibration(once, WHOLE).items())


LACKING = NotCalibrated(
    expert="sift", version="1", signal="matches", quantity="pixel", samples=12, sets=("attic",), fitted=1.4,
    within_1=0.6, within_2=0.9, why="one set only",
)  # fmt: skip
CALIBRATION = SigmaCalibration(
    factors=(one_factor("gravity", "up"), one_factor("tracks", "pixel", 1.25)), not_calibrated=(LACKING,)
)


def test_a_written_calibration_is_read_unchanged(tmp_path):
    (tmp_path / "calibration.json").write_text(json.dumps(CALIBRATION.to_json()))
    assert read_calibration(tmp_path / "calibration.json") == CALIBRATION
    assert SigmaCalibration.from_json(CALIBRATION.to_json() | {"digest": CALIBRATION.digest}) == CALIBRATION
    assert SigmaCalibration.from_json({}) == SigmaCalibration()
    with_answers = replace(CALIBRATION, answers=(of_answers(), of_answers(0.7, template="navigate")))
    (tmp_path / "calibration.json").write_text(json.dumps(with_answers.to_json()))
    assert read_calibration(tmp_path / "calibration.json") == with_answers


def test_the_digest_is_that_of_the_factors():
    alone, fewer = (SigmaCalibration(factors=CALIBRATION.factors[:count]) for count in (None, 1))
    assert CALIBRATION.digest == alone.digest != fewer.digest
    assert CALIBRATION.digest != replace(CALIBRATION, answers=(of_answers(),)).digest


@pytest.mark.parametrize("experts", [{"colmap": "24"}, {"colmap": "24", "klt": "5"}])
def test_answers_of_the_fitted_experts_are_scaled(experts):
    provenance = [{"expert": name, "version": version, "signal": "camera_path"} for name, version in experts.items()]
    known = SigmaCalibration(answers=(of_answers(0.5, template="other"), of_answers()))
    assert known.of_answers("camera_turn", "3", provenance) == 0.6
    assert SigmaCalibration().of_answers("camera_turn", "3", provenance) == 1
    assert known.of_answers("camera_turn", "4", provenance) == 1, "another version of the template"
    assert known.of_answers("camera_tilt", "3", provenance) == 1, "another template"
    other = [*provenance, {"expert": "geocalib", "version": "1"}]
    assert known.of_answers("camera_turn", "3", other) == 1, "they depend on an expert that was not measured"
    older = [*provenance[1:], {"expert": "colmap", "version": "23"}]
    assert known.of_answers("camera_turn", "3", older) == 1, "another version of an expert"


NOT_A_CALIBRATION = (
    "",
    "{}",
    "[]",
    '{"factors": []}',
    '{"format_version": 9}',
    '{"format_version": 2, "factors": [{"expert": "colmap"}]}',
    '{"format_version": 2, "factors": 3}',
)


@pytest.mark.parametrize("content", NOT_A_CALIBRATION)
def test_other_files_are_refused(tmp_path, content):
    (tmp_path / "calibration.json").write_text(content)
    with pytest.raises(ValueError):
        read_calibration(tmp_path / "calibration.json")


@pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
def test_a_factor_is_a_positive_number(factor):
    with pytest.raises(ValueError, match="allowed are finite numbers above 0"):
        one_factor("gravity", "up", factor)
    with pytest.raises(ValueError, match="answers of camera_turn: allowed are finite numbers above 0"):
        of_answers(factor)


@pytest.mark.parametrize("other", [{"version": "0"}, {"weights_sha256": "other"}])
def test_a_factor_below_1_holds_for_its_own_version_only(other):
    narrow = replace(one_factor("gravity", "up", 0.5), **other)
    assert SigmaCalibration(factors=(narrow,)).of(SOURCE, "gravity", "up") is None
    own = one_factor("gravity", "up", 0.5)
    assert SigmaCalibration(factors=(own,)).of(SOURCE, "gravity", "up") is own


def test_the_packaged_factors_are_of_todays_experts():
    """Else those below 1 do not apply: σ is wider than it need be, and nobody is told."""
    for each in packaged_calibration().factors:
        assert each.version == EXPERTS.load(each.expert).version, "run: make calibrate"
    for each in packaged_calibration().answers:
        assert each.version == create_templates()[each.template].version, "run: make calibrate"
        assert each.experts == {name: EXPERTS.load(name).version for name in each.experts}, "run: make calibrate"


def test_the_packaged_factors_were_fitted_on_several_sets():
    for each in packaged_calibration().factors:
        assert len(each.held_out) >= (2 if each.factor >= 1 else 8) and each.samples >= 30
        assert each.factor == pytest.approx(max(min(1.0, each.factor), *(one.fitted for one in each.held_out)))
    for each in packaged_calibration().answers:
        assert len(each.held_out) >= 4 and each.samples >= 30
