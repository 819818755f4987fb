"""Sources of the focal length and their σ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest

from experts.clip import Clip, OpeningOptions, Picture
from experts.intrinsics import Intrinsics
from experts.mapping.focal import (
    FocalSettings,
    KnownCamera,
    disagreement,
    estimated_relative_sigma,
    independent_camera,
    max_relative_sigma,
    plausible_shares,
    unknown_camera,
    user_camera,
)
from experts.provenance import Provenance
from experts.signals import Calibration, NoEstimate
from tests.experts.scenes import cloud, exact_reconstruction, translating

SETTINGS = FocalSettings()


class Nothing:
    """A reader that must not be used."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        raise AssertionError(frames)


def clip(**options: object) -> Clip:
    return Clip(
        id="x", name="x", frames=np.arange(2), times_s=None, width_px=640, height_px=480,
        options=OpeningOptions(**options), reader=Nothing(),
    )  # fmt: skip


def calibration(share: float, relative_sigma: float, **source: object) -> Calibration:
    return Calibration(
        intrinsics=Intrinsics.centred(640, 480, share * 640),
        focal_relative_sigma=relative_sigma,
        provenance=Provenance(expert="test", version="1", **source),  # type: ignore[arg-type]
    )


def test_the_users_camera_is_kept_at_full_size() -> None:
    user = user_camera(clip(intrinsics=Intrinsics.centred(320, 240, 250.0)), SETTINGS)
    assert user is not None
    assert (user.camera.fx_px, user.camera.width_px, user.relative_sigma) == (500.0, 640, 0.005)
    assert user_camera(clip(), SETTINGS) is None


def test_an_unknown_camera_has_a_large_sigma() -> None:
    guess = unknown_camera(clip(), SETTINGS)
    assert guess.camera.fx_px == 0.75 * 640 and guess.relative_sigma == 0.33


def test_a_calibration_is_used_only_with_a_small_measured_sigma() -> None:
    known = independent_camera({"calibration": calibration(0.7, 0.06)}, SETTINGS)
    assert known is not None and (known.camera.fx_px, known.relative_sigma) == (448.0, 0.06)
    assert independent_camera({"calibration": calibration(0.7, 0.06, sigma="raw")}, SETTINGS) is None
    assert independent_camera({"calibration": calibration(0.7, 0.13)}, SETTINGS) is None
    assert independent_camera({"calibration": NoEstimate(reason="too few straight lines")}, SETTINGS) is None
    assert independent_camera({}, SETTINGS) is None


def test_the_error_of_a_camera_is_measured_in_joint_sigmas() -> None:
    known = KnownCamera(camera=Intrinsics.centred(640, 480, 500.0), relative_sigma=0.03)
    assert known.error_in_sigmas(Intrinsics.centred(320, 240, 250.0), 0.04) == 0
    assert np.isclose(known.error_in_sigmas(Intrinsics.centred(320, 240, 250.0 * np.exp(0.1)), 0.04), 2.0)
    assert [round(known.shifted(by).fy_px) for by in (-1.0, 1.0)] == [485, 515]


def test_a_long_lens_needs_a_smaller_sigma() -> None:
    usual, long = (max_relative_sigma(Intrinsics.centred(480, 640, f), SETTINGS) for f in (1100.0, 1200.0))
    assert (usual, long) == (0.15, 0.05)


def test_the_plausible_range_includes_a_known_camera() -> None:
    wide = KnownCamera(camera=Intrinsics.centred(640, 480, 0.45 * 640), relative_sigma=0.1)
    assert plausible_shares(None, SETTINGS) == (0.5, 1.8)
    assert np.allclose(plausible_shares(wide, SETTINGS), (0.405, 1.8))


def test_sigma_combines_floor_formal_sigma_difference_and_spread() -> None:
    poses = translating([(0.3 * k, 0.0, 0.0) for k in range(3)], [(0.0, 0.0, 0.0)] * 3)
    one = replace(exact_reconstruction(cloud(np.random.default_rng(0)), poses), focal_formal_px=0.0)
    longer = replace(one, camera=replace(one.camera, fx_px=1.2 * one.camera.fx_px))
    assert estimated_relative_sigma(one, one, SETTINGS) == SETTINGS.estimated_relative_floor
    formal = replace(one, focal_formal_px=0.05 * one.camera.fx_px)
    found = estimated_relative_sigma(formal, one, SETTINGS)
    assert found == pytest.approx(np.hypot(SETTINGS.formal_factor * formal.focal_formal_sigma, 0.01))
    assert estimated_relative_sigma(one, longer, SETTINGS) > 0.08
    assert estimated_relative_sigma(one, replace(one, focal_spread=0.06), SETTINGS) > 0.08
    assert np.isclose(disagreement(450, 550), 0.2)
