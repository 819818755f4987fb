"""The expert around an exact fake of upstream's model: it returns the ground truth, or a reason."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from experts.checkpoints.weights import WEIGHTS
from experts.clip import Clip, OpeningOptions
from experts.depth.da3_prediction import DecodingSettings, processed_size
from experts.depth.da3_upstream import VARIANTS
from experts.depth.depth_anything_3 import DepthAnything3Expert, DepthAnything3Settings
from experts.expert import Expert, SetupProblem, may_use
from experts.footage.decoding import DecodingError
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.runtime.windows import WindowSettings
from experts.signals import Calibration, CameraPath, Depth, NoEstimate, Scale, SparsePoints, ValidArea
from spatial_engine.rendering import RenderedScene, camera_paths, true_signals
from spatial_engine.rendering.rooms import random_room
from templates.scene.scenes import scenes_of
from tests.experts.fake_depth_anything_3 import FakeModel, NumberedReader, numbered

SMALL = DepthAnything3Settings(process_res=140)
WINDOWED = replace(SMALL, windows=WindowSettings(frames=10, overlap=4))
PROVENANCE = Provenance(expert="geocalib", version="1")
COLMAP = Provenance(expert="colmap", version="1")


@pytest.fixture(scope="module")
def room() -> RenderedScene:
    return random_room(np.random.default_rng(7), frames=24, width_px=160, height_px=120)


def expert(model: FakeModel, settings: DepthAnything3Settings = SMALL, variant: str | None = None) -> Any:
    """The expert with a fake of upstream's model."""
    kinds = {"nested": "base", "anyview": "relative", "metric": "metric"}
    made = DepthAnything3Expert(settings, variant or kinds[model.kind])
    made.model = model
    return made


def cameras(room: RenderedScene) -> np.ndarray:
    """True poses in the first camera's frame."""
    return np.linalg.inv(room.world_from_cam[0]) @ room.world_from_cam


def true_depth(room: RenderedScene, depth: Depth) -> np.ndarray:
    small = replace(room, intrinsics=room.intrinsics.scaled(depth.z.shape[2], depth.z.shape[1]))
    return np.stack([small.depth(int(f)) for f in depth.frames])


def assert_true(room: RenderedScene, results: Any, factor: float = 1.0, tolerance: float = 2e-4) -> None:
    """Cameras, focal length and depth are those of the scene, lengths times `factor`."""
    path, depth = results["camera_path"], results["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    truth = cameras(room)[path.frames]
    truth[:, :3, 3] *= factor
    assert path.registered.all()
    np.testing.assert_allclose(path.world_from_cam, truth, atol=tolerance)
    known = np.isfinite(depth.z)
    assert known.mean() > 0.3
    ratio = depth.z / (factor * true_depth(room, depth))
    assert np.abs(ratio[known] - 1).max() < 5 * tolerance
    np.testing.assert_array_equal(np.isfinite(depth.relative_sigma), known)


def test_an_exact_prediction_gives_exact_signals(room: RenderedScene) -> None:
    results = expert(FakeModel(scene=room, kind="nested"))(numbered(room), {})
    assert_true(room, results)
    path, depth = results["camera_path"], results["depth"]
    assert path.motion == "general" and path.keyframe.all()
    assert path.scale.kind == depth.scale.kind == "metric" and path.scale.relative_sigma >= 0.15
    assert "predicted focal length" in path.scale.source
    assert path.provenance.sigma == "raw" and path.provenance.settings["variant"] == "base"
    np.testing.assert_allclose(path.intrinsics.matrix, room.intrinsics.matrix, rtol=1e-5, atol=1e-3)
    assert path.focal_relative_sigma == pytest.approx(0.05, abs=1e-3)
    assert depth.outlier_probability == 0.005
    assert np.nanmin(depth.relative_sigma) >= 0.03 and np.nanmax(depth.relative_sigma) <= 0.5


def test_the_processed_size_equals_upstreams() -> None:
    sizes = [(640, 480), (1920, 1080), (480, 640), (504, 378), (160, 120), (100, 1000), (720, 405)]
    for width, height in sizes:
        w, h = processed_size(width, height, 504)
        exact = np.array([width, height]) * 504 / max(width, height)
        assert max(w, h) == 504 and w % 14 == 0 == h % 14 and np.abs([w, h] - exact).max() <= 7.5
    assert processed_size(160, 120, 140) == (140, 112)  # 105 lies between 98 and 112: up
    assert processed_size(4000, 14, 504) == (504, 14)


def test_windows_of_different_units_are_aligned(room: RenderedScene) -> None:
    model = FakeModel(scene=room, kind="anyview", scales=(2.0, 0.7, 5.0, 1.3))
    results = expert(model, WINDOWED)(numbered(room), {})
    assert len(model.calls) > 2 and model.calls[0][-4:] == model.calls[1][:4]
    assert_true(room, results, factor=2.0, tolerance=2e-3)
    path = results["camera_path"]
    assert path.scale.kind == results["depth"].scale.kind == "relative"
    assert path.position_sigma[-1] >= path.position_sigma[0]


def test_the_metric_scale_is_the_median_of_the_windows(room: RenderedScene) -> None:
    model = FakeModel(scene=room, scales=(1.4, 1.0, 1.0, 0.9))
    results = expert(model, WINDOWED)(numbered(room), {})
    assert_true(room, results, tolerance=2e-3)
    assert results["camera_path"].scale.relative_sigma > np.hypot(0.15, 0.15)


def test_windows_are_halved_when_memory_runs_out(room: RenderedScene) -> None:
    model = FakeModel(scene=room, max_frames=6)
    assert_true(room, expert(model, WINDOWED)(numbered(room), {}), tolerance=2e-3)
    assert max(len(call) for call in model.calls) == 5  # 10, halved


def test_too_little_memory_is_a_setup_problem(room: RenderedScene) -> None:
    with pytest.raises(SetupProblem, match="do not fit into memory"):
        expert(FakeModel(scene=room, max_frames=1), WINDOWED)(numbered(room), {})


def test_frames_do_not_accumulate_in_memory() -> None:
    long = random_room(np.random.default_rng(2), frames=120, width_px=160, height_px=120)
    clip, lead = numbered(long), []
    model = FakeModel(scene=long)
    one = model.one

    def watched(image: list[np.ndarray]) -> Any:
        assert isinstance(clip.reader, NumberedReader)
        prediction = one(image)
        lead.append(clip.reader.read_to - model.calls[-1][0])
        return prediction

    model.one = watched
    settings = replace(WINDOWED, depth_frames=5)
    depth = expert(model, settings)(clip, {})["depth"]
    assert len(depth.frames) == 5
    assert max(lead) <= 10 + 10 + 2  # the window, as many frames read ahead, and one on either side of the queue


def test_the_number_of_frames_is_limited() -> None:
    fast = random_room(np.random.default_rng(2), frames=60, width_px=160, height_px=120, fps=30.0)
    path = expert(FakeModel(scene=fast))(numbered(fast), {})["camera_path"]
    assert path.frames.tolist() == list(range(0, 60, 3))
    path = expert(FakeModel(scene=fast), replace(SMALL, max_frames=7))(numbered(fast), {})["camera_path"]
    assert len(path.frames) == 7 and path.frames[0] == 0 and path.frames[-1] == 57
    clockless = replace(numbered(fast), times_s=None)
    assert len(expert(FakeModel(scene=fast))(clockless, {})["camera_path"].frames) == 60


def test_sky_has_no_depth(room: RenderedScene) -> None:
    for kind in ("nested", "metric"):
        clip = numbered(room, OpeningOptions(intrinsics=room.intrinsics))
        depth = expert(FakeModel(scene=room, kind=kind, sky_rows=30))(clip, {})["depth"]
        assert np.isnan(depth.z[:, :28]).all()
        known = np.isfinite(depth.z)
        np.testing.assert_allclose(depth.z[known], true_depth(room, depth)[known], rtol=1e-3)


@pytest.mark.parametrize("kind", ["nested", "metric"])
def test_pictures_of_sky_alone_give_no_estimate(room: RenderedScene, kind: Any) -> None:
    clip = numbered(room, OpeningOptions(intrinsics=room.intrinsics))
    made = expert(FakeModel(scene=room, kind=kind, sky_rows=120))
    results = made(clip, {})
    assert results.keys() == made.provides
    assert {r.reason for r in results.values()} == {"only sky"}


def test_only_valid_pixels_have_depth(room: RenderedScene) -> None:
    valid = np.ones((120, 160), dtype=bool)
    valid[:, :40] = False
    area = ValidArea(valid=valid, provenance=PROVENANCE)
    depth = expert(FakeModel(scene=room))(numbered(room), {"valid_area": area})["depth"]
    assert np.isnan(depth.z[:, :, :35]).all() and np.isfinite(depth.z[:, :, 35:]).any()


@pytest.mark.parametrize("factor", [1e5, 0.01])
def test_implausible_focal_lengths_are_refused(room: RenderedScene, factor: float) -> None:
    results = expert(FakeModel(scene=room, focal_factor=factor))(numbered(room), {})
    assert {r.reason for r in results.values()} == {"focal length not plausible"}


@pytest.mark.parametrize("field", ["extrinsics", "intrinsics", "depth"])
def test_output_that_is_not_finite_gives_no_estimate(room: RenderedScene, field: str) -> None:
    model = FakeModel(scene=room)
    one = model.one

    def with_nan(image: list[np.ndarray]) -> Any:
        prediction = one(image)
        getattr(prediction, field)[:, :2] = np.nan  # of the depth: 2 %
        return prediction

    model.one = with_nan
    results = expert(model)(numbered(room), {})
    assert {r.reason for r in results.values()} == {"model output is not finite"}


def test_the_users_camera_is_kept_and_scales_metres(room: RenderedScene) -> None:
    clip = numbered(room, OpeningOptions(intrinsics=room.intrinsics))
    results = expert(FakeModel(scene=room, focal_factor=1.1))(clip, {})
    path = results["camera_path"]
    assert path.intrinsics == room.intrinsics and path.focal_relative_sigma == 0.005
    assert path.scale.source == "metric model at the user's focal length"
    np.testing.assert_allclose(path.world_from_cam, cameras(room), atol=1e-3)
    own = expert(FakeModel(scene=room))(clip, {})["camera_path"]
    assert path.rotation_sigma_rad[-1] > own.rotation_sigma_rad[-1]  # its rotations belong to another focal length
    assert path.position_sigma[-1] > own.position_sigma[-1]


def test_a_users_camera_that_disagrees_with_the_prediction_is_refused(room: RenderedScene) -> None:
    clip = numbered(room, OpeningOptions(intrinsics=room.intrinsics))
    results = expert(FakeModel(scene=room, focal_factor=1.5))(clip, {})
    assert {r.reason for r in results.values()} == {"predicted focal length disagrees with --intrinsics"}


def test_metric_depth_is_focal_over_300(room: RenderedScene) -> None:
    clip = numbered(room, OpeningOptions(intrinsics=room.intrinsics))
    made = expert(FakeModel(scene=room, kind="metric"))
    assert made.provides == {"depth"} and may_use(made) >= {"valid_area", "calibration"}
    depth = made(clip, {})["depth"]
    np.testing.assert_allclose(depth.z, true_depth(room, depth), rtol=1e-5)
    assert depth.scale.kind == "metric" and depth.scale.source == "metric model at the user's focal length"
    assert depth.outlier_probability == 0.05


def test_metric_depth_needs_a_focal_length(room: RenderedScene) -> None:
    made = expert(FakeModel(scene=room, kind="metric"))
    refused = made(numbered(room), {})["depth"]
    assert isinstance(refused, NoEstimate) and refused.reason == "focal length not known" and refused.remedy
    calibration = Calibration(intrinsics=room.intrinsics, focal_relative_sigma=0.1, provenance=PROVENANCE)
    depth = made(numbered(room), {"calibration": calibration})["depth"]
    assert depth.scale.source == "metric model at the focal length of geocalib"
    assert depth.scale.relative_sigma == pytest.approx(np.hypot(0.15, 0.1))


def in_another_unit(room: RenderedScene, clip: Clip, metres_per_unit: float) -> dict[str, Any]:
    """The true path and points on the true surface, as a reconstruction gives them: without metres."""
    path, rng = true_signals(room, clip)["camera_path"], np.random.default_rng(0)
    assert isinstance(path, CameraPath)
    world_from_cam = path.world_from_cam.copy()
    world_from_cam[:, :3, 3] /= metres_per_unit
    frames = np.repeat(np.arange(1, 24, 2), 60)
    xy = np.stack([rng.integers(0, 160, len(frames)), rng.integers(0, 120, len(frames))], axis=1).astype(float)
    seen = np.stack([room.depth(frame) for frame in range(24)])
    z = seen[frames, xy[:, 1].astype(int), xy[:, 0].astype(int)] / metres_per_unit
    xyz_cam = room.intrinsics.rays(xy)
    xyz_cam *= (z / xyz_cam[:, 2])[:, None]
    poses, count = world_from_cam[frames], len(frames)
    points = SparsePoints(
        xyz_world=np.einsum("pij,pj->pi", poses[:, :3, :3], xyz_cam) + poses[:, :3, 3],
        range_relative_sigma=np.full(count, 0.03), triangulation_angle_rad=np.full(count, 0.1),
        outlier_probability=np.full(count, 0.001), observation_point=np.arange(count), observation_frame=frames,
        observation_xy_px=xy, provenance=COLMAP,
    )  # fmt: skip
    path = replace(path, world_from_cam=world_from_cam, scale=Scale(kind="relative"), provenance=COLMAP)
    return {"camera_path": replace(path, focal_relative_sigma=0.02), "sparse_points": points}


@pytest.mark.parametrize("metres_per_unit", [0.4, 7.0])
def test_metric_depth_beside_a_path_without_metres_gives_it_metres(room: RenderedScene, metres_per_unit: float) -> None:
    clip = numbered(room)
    signals = in_another_unit(room, clip, metres_per_unit)
    depth = expert(FakeModel(scene=room, kind="metric"))(clip, signals)["depth"]
    np.testing.assert_array_equal(depth.frames, np.arange(1, 24, 2), err_msg="those with points")
    np.testing.assert_allclose(depth.z, true_depth(room, depth) / metres_per_unit, rtol=2e-2)
    assert depth.scale.kind == "relative" and depth.scale.source == "metric model at the focal length of colmap"
    assert depth.scale.metres_per_unit == pytest.approx(metres_per_unit, rel=0.01)
    assert depth.scale.relative_sigma == pytest.approx(np.hypot(0.15, 0.02), abs=0.01)
    (scene,) = scenes_of(clip, {**signals, "depth": depth})
    assert scene.path is not None and scene.path.scale.kind == "metric"
    assert scene.metre_relative_sigma == depth.scale.relative_sigma and scene.judged_by["depth"] == depth.provenance
    positions, truth = scene.path.world_from_cam[:, :3, 3], room.world_from_cam[:, :3, 3]
    np.testing.assert_allclose(positions, truth, rtol=0.02)
    np.testing.assert_allclose(scene.depth.z, true_depth(room, depth), rtol=2e-2)
    assert scene.points is not None
    np.testing.assert_allclose(scene.points.xyz_world, signals["sparse_points"].xyz_world * metres_per_unit, rtol=0.02)


def test_frames_that_disagree_on_the_metre_widen_sigma(room: RenderedScene) -> None:
    clip, model = numbered(room), FakeModel(scene=room, kind="metric")
    one, rng = model.one, np.random.default_rng(3)

    def unsteady(image: list[np.ndarray]) -> Any:
        prediction = one(image)
        prediction.depth *= np.exp(0.2 * rng.normal(size=(len(image), 1, 1))).astype(np.float32)
        return prediction

    model.one = unsteady
    signals = in_another_unit(room, clip, 2.0)
    depth = expert(model)(clip, signals)["depth"]
    assert abs(np.log(depth.scale.metres_per_unit / 2.0)) < 0.15
    assert depth.scale.relative_sigma == pytest.approx(np.linalg.norm([0.15, 0.02, 0.2 / np.sqrt(12)]), abs=0.03)
    assert np.nanmedian(depth.relative_sigma) == pytest.approx(np.hypot(0.1, 0.2), abs=0.1)


def test_metric_depth_is_not_mixed_with_a_path_of_unknown_unit(room: RenderedScene) -> None:
    clip, made = numbered(room), expert(FakeModel(scene=room, kind="metric"))
    signals = in_another_unit(room, clip, 2.0)
    few = replace(signals["sparse_points"], outlier_probability=np.full(720, 0.5))
    for points in ({}, {"sparse_points": few}):
        refused = made(clip, {"camera_path": signals["camera_path"], **points})["depth"]
        assert isinstance(refused, NoEstimate) and refused.reason == "depth and camera path have no points in common"
    still = replace(signals["camera_path"], motion="static")
    assert made(clip, {"camera_path": still})["depth"].scale.kind == "metric"


def test_a_path_ends_at_windows_that_cannot_be_aligned(room: RenderedScene) -> None:
    results = expert(FakeModel(scene=room, broken=frozenset({2})), WINDOWED)(numbered(room), {})
    path = results["camera_path"]
    np.testing.assert_array_equal(path.registered, np.arange(24) < 16)
    assert results["depth"].frames.max() < 16
    refused = expert(FakeModel(scene=room, broken=frozenset({1})), WINDOWED)(numbered(room), {})
    assert {r.reason for r in refused.values()} == {"windows cannot be aligned"}
    assert "10 of 24" in refused["depth"].detail


@pytest.mark.parametrize(
    ("length_m", "rotation_deg", "kind"), [(0.0, 0.0, "static"), (0.0, 10.0, "unresolved"), (0.05, 0.0, "unresolved")]
)
def test_motion_below_the_noise_is_static_or_unresolved(length_m: float, rotation_deg: float, kind: str) -> None:
    moves = [(12, {"truck": length_m, "pan": np.deg2rad(rotation_deg)})]
    still = random_room(
        np.random.default_rng(4),
        frames=12,
        width_px=160,
        height_px=120,
        path=lambda _, start: camera_paths.performed(moves, start),
    )
    results = expert(FakeModel(scene=still))(numbered(still), {})
    path, depth = results["camera_path"], results["depth"]
    assert path.motion == kind and path.registered.all()
    np.testing.assert_allclose(path.world_from_cam[:, :3, :3], cameras(still)[:, :3, :3], atol=1e-5)
    assert np.isnan(path.position_sigma).all()
    assert np.isfinite(path.world_from_cam[:, :3, 3]).all() == (kind == "static")
    assert (
        depth.outlier_probability == 0.05 and np.isfinite(depth.z).all()
    )  # nothing confirms it, nothing contradicts it


def test_one_frame_is_a_static_camera(room: RenderedScene) -> None:
    one = replace(numbered(room), frames=np.array([5]), times_s=np.array([0.5]))
    results = expert(FakeModel(scene=room))(one, {})
    path, depth = results["camera_path"], results["depth"]
    assert path.motion == "static" and path.frames.tolist() == [5]
    np.testing.assert_allclose(path.world_from_cam, np.eye(4)[None], atol=1e-6)
    np.testing.assert_allclose(depth.z, true_depth(room, depth), rtol=1e-5)
    none = replace(one, frames=np.array([], dtype=np.int64), times_s=np.array([]))
    assert {r.reason for r in expert(FakeModel(scene=room))(none, {}).values()} == {"no frames"}


def test_depth_that_other_frames_contradict_is_removed(room: RenderedScene) -> None:
    model = FakeModel(scene=room)
    one = model.one

    def wrong(image: list[np.ndarray]) -> Any:
        prediction = one(image)
        prediction.depth[8, 40:60, 50:80] *= 0.8
        prediction.depth[12, 40:60, 50:80] *= 1.3
        return prediction

    model.one = wrong
    depth = expert(model)(numbered(room), {})["depth"]
    known = np.isfinite(depth.z[:, 40:60, 50:80])
    assert not known[8].any() and not known[12].any() and known[[2, 20]].mean() > 0.8


def test_depth_that_no_frame_confirms_gives_no_estimate(room: RenderedScene) -> None:
    model = FakeModel(scene=room)
    one = model.one

    def unsteady(image: list[np.ndarray]) -> Any:
        prediction = one(image)
        prediction.depth *= np.float32(1.2) ** np.arange(len(image), dtype=np.float32)[:, None, None]
        return prediction

    model.one = unsteady
    results = expert(model, replace(SMALL, max_frames=12))(numbered(room), {})
    assert isinstance(results["camera_path"], CameraPath)
    assert results["depth"].reason == "depth is not confirmed"


def test_frames_of_another_size_are_refused(room: RenderedScene) -> None:
    with pytest.raises(DecodingError, match="another size"):
        expert(FakeModel(scene=room))(numbered(room, odd=5), {})


def test_two_runs_return_the_same_bytes(room: RenderedScene) -> None:
    a, b = (expert(FakeModel(scene=room, scales=(1.0, 2.0)), WINDOWED)(numbered(room), {}) for _ in range(2))
    assert a["depth"].z.tobytes() == b["depth"].z.tobytes()
    assert a["camera_path"].world_from_cam.tobytes() == b["camera_path"].world_from_cam.tobytes()


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_keep_the_protocol(variant: str) -> None:
    made: Any = DepthAnything3Expert(variant=variant)
    assert isinstance(made, Expert) and made.settings.variant == variant
    assert set(made.weight_names) <= WEIGHTS.keys()
    assert made.commercial_ok == (variant in ("base", "small", "relative", "metric"))
    assert ("camera_path" in made.provides) == (variant != "metric")
    assert made.model is None


def test_sigma_falls_with_confidence() -> None:
    from experts.depth.da3_prediction import relative_sigma

    conf = np.array([[[1.0, 1.01, 2.0, 10.0]]], dtype=np.float32)
    z = np.ones_like(conf)
    sigma = relative_sigma(conf, z, DecodingSettings(sigma_scale=0.1, sigma_floor=0.04))[0, 0]
    np.testing.assert_allclose(sigma, [0.5, 0.5, 0.1, 0.04], rtol=1e-5)
    assert np.isnan(relative_sigma(conf, z * np.nan, DecodingSettings())).all()


def test_intrinsics_of_another_size_are_scaled(room: RenderedScene) -> None:
    big = room.intrinsics.scaled(320, 240)
    assert isinstance(big, Intrinsics)
    clip = numbered(room, OpeningOptions(intrinsics=big))
    path = expert(FakeModel(scene=room))(clip, {})["camera_path"]
    np.testing.assert_allclose(path.intrinsics.matrix, room.intrinsics.matrix)
