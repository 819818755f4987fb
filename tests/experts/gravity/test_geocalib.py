"""GeoCalib: conversion of its predictions, its refusals, and the preparation of its pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experts.clip import Clip, OpeningOptions, Picture
from experts.expert import SetupProblem
from experts.gravity.geocalib import GeoCalibExpert, GeoCalibSettings
from experts.gravity.tilt import Tilt, TiltSettings, pooled_focal, refusal_reason, up_sigma_rad
from experts.intrinsics import Intrinsics
from experts.runtime.device import Placement
from experts.signals import Calibration, Gravity, NoEstimate
from spatial_engine.rendering import camera_paths

SETTINGS = TiltSettings()
ROLL = st.floats(-179, 179).map(np.deg2rad)
PITCH = st.floats(-85, 85).map(np.deg2rad)
VFOV = st.floats(10, 140).map(np.deg2rad)


def upstream_up(roll_rad: float, pitch_rad: float) -> np.ndarray:
    """Upstream's `Gravity.from_rp`."""
    sr, cr, sp, cp = np.sin(roll_rad), np.cos(roll_rad), np.sin(pitch_rad), np.cos(pitch_rad)
    return np.array([-sr * cp, -cr * cp, sp])


def tilt(roll_deg: float = 2.0, pitch_deg: float = -7.0, vfov_deg: float = 50.0, **changes: object) -> Tilt:
    """A prediction for a 640x480 picture; the network's input has 427x320."""
    known = Tilt(
        up_cam=upstream_up(np.deg2rad(roll_deg), np.deg2rad(pitch_deg)),
        width_px=640,
        height_px=480,
        focal_px=240 / np.tan(np.deg2rad(vfov_deg) / 2),
        k1=0.0,
        covariance=np.diag([1e-4, 1e-4, 25.0]),
        scale=320 / 480,
        focal_known=False,
        confidence=0.6,
        step_rad=1e-5,
    )
    return replace(known, **changes)  # type: ignore[arg-type]


# --- conventions ----------------------------------------------------------------------------------------------------


@given(ROLL, PITCH, VFOV)
def test_angles_are_those_of_the_design(roll: float, pitch: float, vfov: float) -> None:
    """The camera is rotated by the motion conventions, not by upstream's formula."""
    (pose,) = camera_paths.poses(np.zeros((1, 3)), np.array([0.7]), np.array([pitch]), np.array([roll]))
    up_cam = pose[:3, :3].T @ [0, 0, 1]
    np.testing.assert_allclose(up_cam, upstream_up(roll, pitch), atol=1e-12)
    seen = tilt(up_cam=up_cam, focal_px=240 / np.tan(vfov / 2))
    np.testing.assert_allclose(seen.roll_pitch_rad, (roll, pitch), atol=1e-9)
    assert seen.vfov_rad == pytest.approx(vfov)


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_the_tilt_of_a_rotated_picture_is_rotated_back(quarters: int) -> None:
    """The direction of up in the picture rotates with np.rot90."""
    up_px = np.array([0.3, -0.9])
    picture = np.zeros((21, 31, 3), np.uint8)
    picture[10, 15] = picture[tuple(np.array([10, 15]) + np.round(10 * up_px[::-1]).astype(int))] = 255
    rotated = np.rot90(picture, quarters)
    middle = (np.array(rotated.shape[:2]) - 1) // 2
    (end,) = [p for p in np.argwhere(rotated[..., 0]) if (p != middle).any()]
    x, y = (end - middle)[::-1] / np.linalg.norm(end - middle)
    seen = tilt(up_cam=np.array([x, y, 0.0]), width_px=rotated.shape[1], height_px=rotated.shape[0])
    back = seen.before_rot90(quarters)
    np.testing.assert_allclose(back.up_cam[:2], [3 / np.sqrt(90), -9 / np.sqrt(90)], atol=1e-12)
    assert (back.width_px, back.height_px) == (31, 21)


@given(st.floats(-0.6, 0.6), st.floats(30, 90).map(np.deg2rad))
def test_k1_distorts_rays_like_upstream(k1: float, vfov: float) -> None:
    """Upstream undistorts by a polynomial that is the inverse of ours to first order only."""
    camera = Intrinsics.centred(640, 480, 240 / np.tan(vfov / 2))
    seen = tilt(focal_px=camera.fy_px, k1=k1)
    pixels = np.stack(np.meshgrid(np.linspace(0, 639, 9), np.linspace(0, 479, 7)), axis=-1).reshape(-1, 2)
    distorted = (pixels - [camera.cx_px, camera.cy_px]) / camera.fx_px
    r2 = (distorted**2).sum(axis=1, keepdims=True)
    if seen.our_k1 is None:
        assert abs(k1) * r2.max() > 0.05  # small distortions always fit
        return
    upstream = np.concatenate([distorted * (1 - k1 * r2), np.ones((len(pixels), 1))], axis=1)
    upstream /= np.linalg.norm(upstream, axis=1, keepdims=True)
    ours = replace(camera, k1=seen.our_k1).rays(pixels)
    worst = np.arccos(np.clip((ours * upstream).sum(axis=1), -1, 1)).max()
    assert worst <= 0.03 * np.sqrt(r2.max())  # for most lenses a tenth of the distortion
    assert seen.our_k1 * k1 >= 0


def test_sigmas_come_from_the_covariance_and_not_from_upstreams_halved_uncertainties() -> None:
    seen = tilt(pitch_deg=60.0, covariance=np.diag([4e-4, 1e-4, 25.0]))
    assert seen.raw_up_sigma_rad == pytest.approx(max(2e-2 * np.cos(np.pi / 3), 1e-2))
    assert seen.raw_focal_relative_sigma == pytest.approx(5.0 / (seen.focal_px * seen.scale))
    assert up_sigma_rad(seen, SETTINGS) == pytest.approx(np.hypot(1e-2, SETTINGS.up_floor_rad))
    known_focal = replace(seen, focal_known=True, covariance=np.diag([4e-4, 1e-4]))
    assert known_focal.raw_focal_relative_sigma == 0
    assert refusal_reason(known_focal, SETTINGS) is None


def test_the_focal_length_of_a_clip_is_a_robust_median_in_full_size_pixels() -> None:
    tilts = [tilt(vfov_deg=v) for v in (49.0, 50.0, 51.0, 80.0)]
    focal_px, each_px, sigma = pooled_focal(tilts, 960, SETTINGS)
    assert np.rad2deg(2 * np.arctan(480 / focal_px)) == pytest.approx(50.5, abs=0.05)  # not affected by the outlier
    assert len(each_px) == 4
    assert sigma >= SETTINGS.vfov_floor_rad / np.sin(np.deg2rad(50.5)) * 0.999
    assert sigma < 0.15


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        (tilt(), None),
        (tilt(up_cam=np.array([np.nan, 0, 1])), "no finite calibration"),
        (tilt(covariance=np.diag([1e-4, -1e-4, 25.0])), "no finite calibration"),
        (tilt(vfov_deg=5.0), "field of view at the model's limit"),
        (tilt(vfov_deg=150.0), "field of view at the model's limit"),
        (tilt(k1=-0.7), "distortion at the model's limit"),
        (tilt(k1=0.6, vfov_deg=90.0), "distortion at the model's limit"),
        (tilt(step_rad=0.01), "calibration did not converge"),
        (tilt(confidence=0.01), "low confidence in the calibration"),
        (tilt(covariance=np.diag([1e-2, 1e-4, 25.0])), "tilt too uncertain"),
    ],
)
def test_implausible_predictions_are_refused_with_a_reason(seen: Tilt, reason: str | None) -> None:
    assert refusal_reason(seen, SETTINGS) == reason


# --- the adapter with a fake upstream -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """Frames whose brightness increases towards up. The blue value of the first pixel is the frame index."""

    width_px: int
    height_px: int
    roll_deg: float = 0.0

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        y, x = np.mgrid[: self.height_px, : self.width_px]
        right, down = -np.sin(np.deg2rad(self.roll_deg)), -np.cos(np.deg2rad(self.roll_deg))
        grey = np.round(128 + 60 * (right * (x / self.width_px - 0.5) + down * (y / self.height_px - 0.5)))
        for frame in frames:
            rgb = np.repeat(grey[..., None].astype(np.uint8), 3, axis=2)
            rgb[0, 0, 2] = frame
            yield rgb


@dataclass(frozen=True, kw_only=True)
class Still:
    """The same picture for every frame."""

    rgb: Picture

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        return (self.rgb for _ in frames)


def clip(frames: int = 30, size: tuple[int, int] = (640, 480), roll_deg: float = 0.0, **options: object) -> Clip:
    return Clip(
        id="0" * 16,
        name="grey",
        frames=np.arange(frames),
        times_s=None,
        width_px=size[0],
        height_px=size[1],
        options=OpeningOptions(**options),  # type: ignore[arg-type]
        reader=Pictures(width_px=size[0], height_px=size[1], roll_deg=roll_deg),
    )


@dataclass
class FakeModel:
    """Takes up from the gradient of brightness. Its variance is smallest for upright pictures. `overrides` replaces
    other fields of the tilt."""

    overrides: dict[str, object] = field(default_factory=dict)
    memory: int = 100
    batches: list[tuple[int, tuple[int, ...], list[float] | None]] = field(default_factory=list)

    def calibrated(self, pictures: Sequence[Picture], focal_px: Sequence[float] | None) -> list[Tilt]:
        self.batches.append((len(pictures), pictures[0].shape, None if focal_px is None else list(focal_px)))
        if len(pictures) > self.memory:
            raise MemoryError
        return [self._seen(rgb, None if focal_px is None else focal_px[i]) for i, rgb in enumerate(pictures)]

    def _seen(self, rgb: Picture, focal_px: float | None) -> Tilt:
        down, right = (float(np.mean(slope)) for slope in np.gradient(rgb[1:, 1:, 0].astype(float)))
        up = np.array([right * rgb.shape[1], down * rgb.shape[0], 0.0])
        up /= np.linalg.norm(up)
        height, width = rgb.shape[:2]
        variance = 1e-4 * (1.01 + up[1])
        seen = tilt(up_cam=up, width_px=width, height_px=height, focal_px=focal_px or 1.1 * height)
        number = 2 if focal_px else 3
        covariance = np.diag([variance, variance, 25.0])[:number, :number]
        return replace(seen, covariance=covariance, focal_known=focal_px is not None, **self.overrides)  # type: ignore[arg-type]


def expert(model: FakeModel, device: str = "cuda", **settings: object) -> GeoCalibExpert:
    made = GeoCalibExpert(GeoCalibSettings(**settings))  # type: ignore[arg-type]
    made.model, made.placement, made.loaded_identity = model, Placement(device=device), "random"
    return made


def test_signals_of_a_level_clip() -> None:
    result = expert(FakeModel())(clip(), {})
    gravity, calibration = result["gravity"], result["calibration"]
    assert isinstance(gravity, Gravity) and isinstance(calibration, Calibration)
    assert len(gravity.frames) == 12 and gravity.frames[0] == 0 and gravity.frames[-1] == 29
    np.testing.assert_allclose(gravity.up_cam, np.tile([0.0, -1.0, 0.0], (12, 1)), atol=0.02)
    assert (gravity.sigma_rad >= SETTINGS.up_floor_rad).all()
    assert gravity.decided_by == "geocalib"
    assert gravity.provenance.sigma == calibration.provenance.sigma == "raw"
    assert calibration.intrinsics.fy_px == pytest.approx(1.1 * 480)
    assert (calibration.intrinsics.cx_px, calibration.intrinsics.cy_px) == (319.5, 239.5)


def test_large_frames_are_reduced_and_the_focal_length_is_scaled_back() -> None:
    model = FakeModel()
    calibration = expert(model)(clip(4, (1920, 1440)), {})["calibration"]
    assert {shape for _, shape, _ in model.batches} == {(640, 853, 3)}
    assert isinstance(calibration, Calibration)
    assert calibration.intrinsics.fy_px == pytest.approx(1.1 * 1440)


@pytest.mark.parametrize("roll_deg", [90.0, -90.0, 180.0, 60.0, 20.0])
def test_a_picture_on_its_side_is_rotated_before_calibration(roll_deg: float) -> None:
    """The rotation with the smallest variance is the upright one. The returned up refers to the original picture."""
    gravity = expert(FakeModel())(clip(3, roll_deg=roll_deg), {})["gravity"]
    assert isinstance(gravity, Gravity)
    roll = np.arctan2(-gravity.up_cam[:, 0], -gravity.up_cam[:, 1])
    np.testing.assert_allclose(np.cos(roll - np.deg2rad(roll_deg)), 1.0, atol=0.02)


def test_a_known_camera_is_not_estimated_again() -> None:
    camera = Intrinsics.centred(640, 480, 500.0)
    model = FakeModel()
    result = expert(model)(clip(3, intrinsics=camera), {})
    assert model.batches == [(8, (480, 640, 3), [500.0] * 8)]  # padded: the batch has always the same size
    assert isinstance(result["gravity"], Gravity)
    assert isinstance(result["calibration"], NoEstimate)
    assert result["calibration"].reason == "the user provides the camera"


def test_pictures_of_a_known_camera_are_undistorted_first() -> None:
    """A point appears where an undistorted, centred camera of the same fy sees it."""
    camera = Intrinsics(width_px=640, height_px=480, fx_px=410, fy_px=400, cx_px=330, cy_px=230, k1=-0.15)
    ray = np.array([0.35, -0.25, 1.0])
    x, y = np.round(camera.project(ray)).astype(int)
    rgb = np.zeros((480, 640, 3), np.uint8)
    rgb[y - 2 : y + 3, x - 2 : x + 3] = 255
    seen = clip(1, intrinsics=camera)
    ((_, view),) = expert(FakeModel()).pictures(replace(seen, reader=Still(rgb=rgb)), {})
    assert view.focal_px == 400
    weight = view.rgb[..., 0].astype(float)
    found = (np.array([weight.sum(axis=0) @ np.arange(640), weight.sum(axis=1) @ np.arange(480)])) / weight.sum()
    np.testing.assert_allclose(found, Intrinsics.centred(640, 480, 400).project(ray), atol=1.0)


def test_one_frame_is_enough() -> None:
    result = expert(FakeModel(), device="cpu")(clip(1), {})
    assert isinstance(result["gravity"], Gravity) and len(result["gravity"].frames) == 1
    assert isinstance(result["calibration"], Calibration)


def test_refused_frames_are_skipped_and_counted() -> None:
    result = expert(FakeModel(overrides={"confidence": 0.0}))(clip(5), {})
    for signal in result.values():
        assert isinstance(signal, NoEstimate)
        assert signal.reason == "low confidence in the calibration"
        assert "5 frames" in signal.detail


def test_frames_with_different_focal_lengths_give_no_calibration() -> None:
    adapter = expert(FakeModel())
    raw = {k: tilt(vfov_deg=v) for k, v in enumerate((20.0, 40.0, 70.0, 110.0))}
    result = adapter.finish(clip(), {}, raw)
    assert isinstance(result["gravity"], Gravity)
    assert isinstance(result["calibration"], NoEstimate)
    assert result["calibration"].reason == "frames disagree on the focal length"


def test_a_distortion_that_our_model_does_not_fit_gives_no_calibration() -> None:
    result = expert(FakeModel()).finish(clip(), {}, {0: tilt(vfov_deg=70.0, k1=-0.5)})
    assert isinstance(result["gravity"], Gravity)
    assert isinstance(result["calibration"], NoEstimate)


def test_without_frames_there_is_no_estimate() -> None:
    assert expert(FakeModel()).finish(clip(), {}, {})["gravity"] == NoEstimate(reason="no frames")


def test_the_batch_is_halved_when_memory_runs_out() -> None:
    model = FakeModel(memory=3)
    gravity = expert(model)(clip(12), {})["gravity"]
    assert isinstance(gravity, Gravity) and len(gravity.frames) == 12
    assert [size for size, *_ in model.batches][:3] == [8, 4, 2]


def test_variants_have_their_own_weights() -> None:
    assert GeoCalibExpert().weight_names == ("geocalib-pinhole",)
    assert GeoCalibExpert(variant="distorted").weight_names == ("geocalib-distorted",)
    assert GeoCalibExpert(variant="distorted").settings != GeoCalibExpert().settings


@pytest.mark.skipif(find_spec("geocalib") is not None, reason="geocalib is installed here")
def test_a_missing_package_is_named_with_its_command() -> None:
    with pytest.raises(SetupProblem) as problem:
        GeoCalibExpert().load("random", "cpu")
    assert "pip install" in problem.value.remedy
