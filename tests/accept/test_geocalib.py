"""The code of GeoCalib: the adapter with random weights, and its optimiser with exact fields."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-experts")

from experts.expert import SetupProblem  # noqa: E402
from experts.gravity.geocalib import GeoCalibExpert, GeoCalibSettings, Variant, View  # noqa: E402
from experts.gravity.tilt import Tilt, refusal_reason  # noqa: E402
from experts.intrinsics import Intrinsics  # noqa: E402
from experts.signals import Calibration, Gravity, NoEstimate  # noqa: E402
from tests.experts.gravity.test_geocalib import clip, upstream_up  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # upstream's and its packages' own
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

Checkout = Callable[[str], Path]
RNG = np.random.default_rng(0)
PICTURES = [View(rgb=RNG.integers(0, 256, (96, 128, 3), dtype=np.uint8)) for _ in range(3)]


@pytest.fixture
def make(checkout: Checkout) -> Callable[..., GeoCalibExpert]:
    """The loaded adapter, by default with small pictures and few steps."""
    checkout("GeoCalib")
    pytest.importorskip("kornia", reason="kornia is not installed: pip install --no-deps kornia kornia_rs")

    def made(variant: Variant = "pinhole", steps: int = 2, resize: int = 64, **settings: Any) -> GeoCalibExpert:
        expert = GeoCalibExpert(GeoCalibSettings(**settings), variant)
        expert.load("random", "cpu")
        expert.model.upstream.image_processor.conf.resize = resize
        expert.model.upstream.model.optimizer.num_steps = steps
        return expert

    return made


def show(expert: GeoCalibExpert, roll: float, pitch: float, camera: Intrinsics, k1: float = 0.0) -> None:
    """Replaces the prediction of upstream's network by the exact fields of one camera, at any size. `camera` and `k1`
    are in upstream's convention: x_undistorted = x · (1 - k1·r²)."""
    up = upstream_up(roll, pitch)

    def fields(data: dict[str, Any]) -> dict[str, Any]:
        count, _, height, width = data["features"]["ll"].shape
        here = camera.scaled(width, height)
        x = (np.arange(width) - (width - 1) / 2) / here.fx_px
        y = (np.arange(height) - (height - 1) / 2) / here.fy_px
        distorted = np.stack(np.meshgrid(x, y), axis=-1)
        r2 = (distorted**2).sum(axis=-1, keepdims=True)
        rays = np.concatenate([distorted * (1 - k1 * r2), np.ones_like(r2)], axis=-1)
        latitude = np.arcsin(rays @ up / np.linalg.norm(rays, axis=-1))
        slope = up[:2] - up[2] * distorted  # direction of up in the undistorted picture
        up_px = slope * (1 + k1 * r2) + 2 * k1 * distorted * (distorted * slope).sum(axis=-1, keepdims=True)
        up_px /= np.linalg.norm(up_px, axis=-1, keepdims=True)
        batch = {"up_field": up_px.transpose(2, 0, 1)[None], "latitude_field": latitude[None, None]}
        batch |= {name: np.ones((1, height, width)) for name in ("up_confidence", "latitude_confidence")}
        return {name: torch.from_numpy(f).float().repeat(count, *[1] * (f.ndim - 1)) for name, f in batch.items()}

    expert.model.upstream.model.perspective_decoder.forward = fields


@pytest.mark.parametrize("variant", ["pinhole", "distorted"])
def test_random_weights_run_and_are_refused(make: Callable[..., GeoCalibExpert], variant: Variant) -> None:
    expert = make(variant)
    tilts = expert.infer(PICTURES)
    size = 3 if variant == "pinhole" else 4
    for tilt in tilts:
        assert isinstance(tilt, Tilt)
        assert tilt.covariance.shape == (size, size)
        assert np.linalg.norm(tilt.up_cam) == pytest.approx(1, abs=1e-5)
        assert refusal_reason(tilt, expert.settings.tilt) is not None
    known = expert.infer([View(rgb=view.rgb, focal_px=100.0) for view in PICTURES])
    assert all(t.covariance.shape == (2, 2) and t.focal_px == pytest.approx(100, rel=1e-4) for t in known)
    result = expert(clip(2), {})
    assert all(isinstance(signal, NoEstimate) and signal.reason for signal in result.values())


@pytest.mark.parametrize(("variant", "model"), [("pinhole", "pinhole"), ("distorted", "simple_radial")])
@pytest.mark.parametrize("focal_px", [None, 150.0])
def test_one_picture_gives_the_result_of_upstreams_own_call(
    make: Callable[..., GeoCalibExpert], variant: Variant, model: str, focal_px: float | None
) -> None:
    expert = make(variant, steps=5)
    (ours,) = expert.model.calibrated([PICTURES[0].rgb], None if focal_px is None else [focal_px])
    picture = torch.from_numpy(PICTURES[0].rgb).permute(2, 0, 1).float() / 255
    priors = {} if focal_px is None else {"focal": torch.tensor(focal_px)}
    theirs = expert.model.upstream.calibrate(picture, "pinhole" if focal_px else model, priors)
    np.testing.assert_allclose(ours.up_cam, theirs["gravity"].vec3d[0], atol=1e-5)
    assert ours.vfov_rad == pytest.approx(float(theirs["camera"].vfov[0]), rel=1e-4)
    np.testing.assert_allclose(ours.covariance, theirs["covariance"][0], rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(ours.roll_pitch_rad, theirs["gravity"].rp[0], atol=1e-3)


def test_results_do_not_depend_on_the_batch_or_the_order(make: Callable[..., GeoCalibExpert]) -> None:
    """Upstream starts a matrix factorisation at random, differently for each row of the batch."""
    expert = make()
    together = expert.infer(PICTURES)
    reversed_order = expert.infer(PICTURES[::-1])[::-1]
    for a, b in zip(together, reversed_order, strict=True):
        np.testing.assert_allclose(a.up_cam, b.up_cam, atol=1e-5)
    again = expert.infer(PICTURES)
    for a, b in zip(together, again, strict=True):
        np.testing.assert_array_equal(a.up_cam, b.up_cam)


@pytest.mark.parametrize(
    ("roll_deg", "pitch_deg", "vfov_deg"), [(0, 0, 50), (20, 0, 50), (-20, 10, 50), (5, -30, 35), (-12, 35, 70)]
)
def test_exact_fields_give_the_designs_angles(
    make: Callable[..., GeoCalibExpert], roll_deg: float, pitch_deg: float, vfov_deg: float
) -> None:
    """By upstream's optimiser, up to half a pixel of its principal point."""
    expert = make(steps=30, resize=96)
    camera = Intrinsics.centred(640, 480, 240 / np.tan(np.deg2rad(vfov_deg) / 2))
    show(expert, np.deg2rad(roll_deg), np.deg2rad(pitch_deg), camera)
    result = expert(clip(3), {})
    gravity, calibration = result["gravity"], result["calibration"]
    assert isinstance(gravity, Gravity) and isinstance(calibration, Calibration)
    truth = upstream_up(np.deg2rad(roll_deg), np.deg2rad(pitch_deg))
    assert np.rad2deg(np.arccos(np.clip(gravity.up_cam @ truth, -1, 1))).max() < 0.5
    assert np.rad2deg(calibration.intrinsics.vfov_rad) == pytest.approx(vfov_deg, abs=0.7)


def test_the_distortion_of_a_lens_is_estimated(make: Callable[..., GeoCalibExpert]) -> None:
    """In upstream's convention."""
    expert = make("distorted", steps=30, resize=96)
    camera = Intrinsics.centred(640, 480, 480.0)
    show(expert, 0.1, 0.25, camera, k1=-0.15)
    (tilt,) = expert.infer([View(rgb=np.zeros((480, 640, 3), np.uint8))])
    assert refusal_reason(tilt, expert.settings.tilt) is None
    assert tilt.k1 == pytest.approx(-0.15, abs=0.03)
    np.testing.assert_allclose(tilt.up_cam, upstream_up(0.1, 0.25), atol=0.01)


def test_a_field_of_view_at_the_limit_is_refused(make: Callable[..., GeoCalibExpert]) -> None:
    expert = make(steps=30)
    show(expert, 0.0, 0.2, Intrinsics.centred(640, 480, 240 / np.tan(np.deg2rad(3) / 2)))
    (tilt,) = expert.infer([View(rgb=np.zeros((480, 640, 3), np.uint8))])
    assert np.rad2deg(tilt.vfov_rad) == pytest.approx(5, abs=0.1)
    assert refusal_reason(tilt, expert.settings.tilt) == "field of view at the model's limit"


def test_missing_convergence_is_detected(make: Callable[..., GeoCalibExpert]) -> None:
    expert = make(steps=1)
    show(expert, 0.5, 0.4, Intrinsics.centred(640, 480, 300.0))
    (tilt,) = expert.infer([View(rgb=np.zeros((480, 640, 3), np.uint8))])
    assert refusal_reason(tilt, expert.settings.tilt) == "calibration did not converge"


def test_a_known_focal_length_is_kept(make: Callable[..., GeoCalibExpert]) -> None:
    expert = make(steps=30)
    camera = Intrinsics.centred(640, 480, 500.0)
    show(expert, -0.2, 0.1, camera)
    gravity = expert(clip(2, intrinsics=camera), {})["gravity"]
    assert isinstance(gravity, Gravity)
    np.testing.assert_allclose(gravity.up_cam, np.tile(upstream_up(-0.2, 0.1), (2, 1)), atol=0.01)


@pytest.mark.parametrize("damage", ["truncated", "pickle", "foreign"])
def test_a_file_that_is_not_a_checkpoint_is_refused(checkout: Checkout, tmp_path: Path, damage: str) -> None:
    checkout("GeoCalib")
    pytest.importorskip("kornia")
    path = tmp_path / "geocalib-pinhole.tar"
    if damage == "truncated":
        path.write_bytes(b"PK\x03\x04 not much")
    else:
        torch.save({"model": Path("code")} if damage == "pickle" else {"weights": torch.zeros(2)}, path)
    expert = GeoCalibExpert()
    with pytest.raises(SetupProblem, match="use another file"):
        expert.build({"geocalib-pinhole": tmp_path}, expert.placement)
