"""Maps on signals: σ grow, nothing else moves, and the provenance says by which sets."""

from dataclasses import fields, replace

import numpy as np
import pytest

from experts.sigma_calibration import QUANTITIES, HeldOut, SigmaCalibration, SigmaFactor, with_sigma_calibration
from experts.signals import SIGNAL_TYPES, Calibration, NoEstimate
from tests.templates import worlds
from tests.templates.worlds import SOURCE

RAW = replace(SOURCE, sigma="raw", weights_sha256="abc")


def one_map(signal: str, quantity: str, gain: float = 2.0, **more) -> SigmaFactor:
    held_out = (HeldOut(set="attic", samples=99, fitted=gain, within_1=0.7, within_2=0.95),)
    made = {"expert": SOURCE.expert, "version": SOURCE.version, "weights_sha256": None, "samples": 99}
    return SigmaFactor(**{**made, "signal": signal, "quantity": quantity, "gain": gain, "held_out": held_out, **more})


def maps(*parts: SigmaFactor) -> SigmaCalibration:
    return SigmaCalibration(maps=parts)


WHOLE = maps(*(one_map(signal, q, 1.5 + k) for signal, of in QUANTITIES.items() for k, q in enumerate(of)))


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
        gains = {f: 1.5 + k for k, of in enumerate(QUANTITIES[name].values()) for f in of}
        for part, value in parts(signal).items():
            now = getattr(after[name], part)
            if part == "provenance":
                assert now == replace(
                    value, sigma="calibrated", calibrated_on={quantity: ["attic"] for quantity in QUANTITIES[name]}
                )
            elif part in gains:
                np.testing.assert_allclose(now, gains[part] * np.asarray(value))
                assert np.asarray(now).dtype == np.asarray(value).dtype
            else:
                assert now is value, (name, part)


def test_without_a_map_a_signal_is_the_same_object():
    before = worlds.signals() | {"gravity_check": NoEstimate(reason="no lines")}
    other = maps(one_map("gravity", "up", expert="somebody else"))
    for known in (SigmaCalibration(), other):
        after = with_sigma_calibration(before, known)
        assert all(after[name] is signal for name, signal in before.items())


def test_a_direction_rests_on_positions_too():
    before = worlds.signals()["camera_path"]
    after = with_sigma_calibration({"camera_path": before}, maps(one_map("camera_path", "direction", 3.0)))[
        "camera_path"
    ]
    assert after.direction_sigma_rad == pytest.approx(3 * before.direction_sigma_rad)
    np.testing.assert_allclose(after.position_sigma, 3 * before.position_sigma)
    assert after.rotation_sigma_rad is before.rotation_sigma_rad


def test_a_check_has_the_map_of_what_it_checks():
    before = {"gravity_check": worlds.signals()["gravity"]}
    after = with_sigma_calibration(before, maps(one_map("gravity", "up")))["gravity_check"]
    np.testing.assert_allclose(after.sigma_rad, 2 * before["gravity_check"].sigma_rad)


@pytest.mark.parametrize("missing", QUANTITIES["camera_path"])
def test_raw_stays_raw_until_every_quantity_has_a_map(missing):
    path = replace(worlds.signals()["camera_path"], provenance=RAW)
    of = [one_map("camera_path", q, weights_sha256="abc") for q in QUANTITIES["camera_path"]]
    whole = with_sigma_calibration({"camera_path": path}, maps(*of))["camera_path"]
    partly = with_sigma_calibration({"camera_path": path}, maps(*(m for m in of if m.quantity != missing)))[
        "camera_path"
    ]
    assert (whole.provenance.sigma, partly.provenance.sigma) == ("calibrated", "raw")
    assert set(partly.provenance.calibrated_on) == set(QUANTITIES["camera_path"]) - {missing}


@pytest.mark.parametrize("other", [{"version": "0"}, {"weights_sha256": "other"}])
def test_a_map_of_another_version_widens_and_vouches_for_nothing(other):
    before = {"gravity": worlds.signals()["gravity"]}
    after = with_sigma_calibration(before, maps(one_map("gravity", "up", **other)))["gravity"]
    np.testing.assert_allclose(after.sigma_rad, 2 * before["gravity"].sigma_rad)
    assert after.provenance.sigma == "measured" and after.provenance.calibrated_on == {"up": ["attic"]}


def test_of_two_the_map_of_the_same_weights_counts():
    camera = worlds.signals()["camera_path"]
    before = Calibration(intrinsics=camera.intrinsics, focal_relative_sigma=0.1, provenance=RAW)
    known = maps(
        one_map("calibration", "focal", 5.0, weights_sha256="other"),
        one_map("calibration", "focal", 1.2, weights_sha256="abc"),
    )
    after = with_sigma_calibration({"calibration": before}, known)["calibration"]
    assert after.focal_relative_sigma == pytest.approx(0.12) and after.provenance.sigma == "calibrated"


def test_twice_is_once():
    once = with_sigma_calibration(worlds.signals(), WHOLE)
    assert all(signal is once[name] for name, signal in with_sigma_calibration(once, WHOLE).items())
