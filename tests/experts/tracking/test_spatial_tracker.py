"""SpatialTracker V2: conversion of exact tracks in its format and unit, and failures of its process."""

import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experts.expert import SetupProblem
from experts.provenance import Provenance
from experts.runtime.worker import OutOfMemoryError, WorkerCrashed, WorkerFailed, WorkerTimedOut
from experts.signals import CameraPath, Depth, NoEstimate, PointTracks, Signal, ValidArea
from experts.tracking.spatial_tracker import SpatialTrackerExpert, SpatialTrackerSettings
from experts.tracking.spatial_tracker_input import nearest, network_size
from spatial_engine.rendering import true_signals
from spatial_engine.rendering.rooms import random_room
from tests.experts.exact_tracks import ExactTracker, RenderedOnce, object_at, truth

QUICK = SpatialTrackerSettings(points=40)
UNIT = 37.0
"""Path units per metre: upstream would clip such depth."""


@cache
def world(moving_object: bool = True) -> RenderedOnce:
    return RenderedOnce(
        random_room(
            np.random.default_rng(3), frames=40, width_px=320, height_px=240, vfov_deg=50, moving_object=moving_object
        )
    )


def signals(of: RenderedOnce) -> dict[str, Signal | NoEstimate]:
    """Exact signals in another unit, with a plausible σ."""
    true = true_signals(of.scene, of.clip)
    path, depth = true["camera_path"], true["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    poses = np.linalg.inv(path.world_from_cam[0]) @ path.world_from_cam
    poses[:, :3, 3] *= UNIT
    n = len(poses)
    return {
        "camera_path": replace(
            path,
            world_from_cam=poses,
            position_sigma=np.full(n, 0.01 * UNIT),
            rotation_sigma_rad=np.full(n, 0.002),
        ),
        "depth": replace(depth, z=depth.z * np.float32(UNIT), relative_sigma=np.full_like(depth.z, 0.03)),
    }


@dataclass
class FakeUpstream:
    """Replaces the worker. It returns the truth in upstream's format, modified by `change`, or fails by `fault`."""

    of: RenderedOnce
    change: Callable[[dict[str, np.ndarray]], None] = lambda output: None
    fault: Callable[[int], None] = lambda points: None
    inputs: list[dict[str, np.ndarray]] = field(default_factory=list)

    def call(
        self, request: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        self.inputs.append(dict(arrays))
        self.fault(len(arrays["queries"]))
        height, width = arrays["video"].shape[1:3]
        xy, seen, z = ExactTracker(self.of, (width, height)).follow(arrays["video"], arrays["queries"])
        unit = self.unit(arrays)
        output = {
            "xyz": np.concatenate([xy, z[..., None] / unit], axis=-1).swapaxes(0, 1).astype(np.float32),
            "visibility": np.ones(seen.T.shape, np.float32),  # upstream claims that every point is visible
            "confidence": np.full(seen.T.shape, 0.99, np.float32),
        }
        self.change(output)
        return {}, output

    def unit(self, arrays: Mapping[str, np.ndarray]) -> float:
        """Metres per unit of upstream, from its input depth."""
        metres = np.stack([nearest(z, arrays["z"].shape[:0:-1]) for z in self.of.depths])
        return float(np.median(metres) / np.median(arrays["z"]))

    def close(self) -> None: ...


def tracks_of(of: RenderedOnce, settings: SpatialTrackerSettings | None = None, **upstream: Any) -> PointTracks:
    out = estimated(of, signals(of), settings, **upstream)
    assert isinstance(out, PointTracks)
    return out


def estimated(
    of: RenderedOnce,
    inputs: dict[str, Signal | NoEstimate],
    settings: SpatialTrackerSettings | None = None,
    **upstream: Any,
) -> Signal | NoEstimate:
    expert = SpatialTrackerExpert(settings or QUICK)
    expert.model = upstream.pop("model", None) or FakeUpstream(of, **upstream)
    return expert(of.clip, inputs)["tracks"]


@cache
def usual() -> PointTracks:
    return tracks_of(world(), SpatialTrackerSettings())


def true_positions(of: RenderedOnce, out: PointTracks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(t, n, 3) positions in the path's world and unit; true visibility; whether a surface that is nearer by more than
    15 % occludes the point."""
    path = signals(of)["camera_path"]
    assert isinstance(path, CameraPath)
    positions = np.full((*out.xy_px.shape[:2], 3), np.nan)
    seen, hidden = np.zeros((2, *out.xy_px.shape[:2]), dtype=bool)
    followed = np.isfinite(out.xy_px[..., 0])
    starts = np.where(followed.any(axis=1), np.argmax(followed, axis=1), -1)
    rotation, shift = path.world_from_cam[:, :3, :3], path.world_from_cam[:, :3, 3]
    for start in np.unique(starts[starts >= 0]):
        these = np.flatnonzero(starts == start)
        px, seen[these], z = truth(of, int(out.frames[start]), out.xy_px[these, start], out.frames.tolist())
        rays = path.intrinsics.rays(px)
        cam = rays * (UNIT * z / rays[..., 2])[..., None]
        positions[these] = np.einsum("nij,tnj->tni", rotation[out.frames], cam) + shift[out.frames]
        for n in range(len(out.frames)):
            x, y = np.clip(np.round(px[:, n]), 0, [319, 239]).astype(int).T
            nearer = of.depths[int(out.frames[n])][y, x] < 0.85 * z[:, n]
            hidden[these, n] = nearer & path.intrinsics.contains(px[:, n])
    return positions, seen, hidden


def test_exact_predictions_give_exact_tracks_in_our_world_and_unit() -> None:
    out = usual()
    positions, _, _ = true_positions(world(), out)
    assert out.xyz_world is not None and out.xyz_world.dtype == np.float32
    error = np.linalg.norm(out.xyz_world - positions, axis=-1) / UNIT
    assert np.isfinite(error).sum() > 2000
    assert np.nanmedian(error) < 0.005 and np.nanquantile(error, 0.95) < 0.05
    assert np.isnan(out.xyz_world[np.isnan(out.xy_px[..., 0])]).all()
    assert out.xyz_sigma is not None
    assert np.array_equal(np.isnan(out.xyz_sigma), np.isnan(out.xyz_world[..., 0]))


def test_moving_and_static_points_are_distinguished() -> None:
    out, of = usual(), world()
    tracked = np.isfinite(out.xy_px[..., 0]).any(axis=1)
    item = np.full(len(tracked), -2)
    item[tracked] = object_at(of, out.xy_px[tracked], out.frames.tolist())
    moving = item == len(of.scene.boxes)
    assert moving.sum() >= 8 and (out.motion[moving] != 0).all() and (out.motion[moving] == 1).sum() >= 4
    assert (out.motion[tracked & ~moving] != 1).all() and (out.motion[tracked & ~moving] == 0).mean() > 0.5
    assert (out.motion[~tracked] == -1).all()


@pytest.mark.long(sample=True)
def test_occluded_points_are_not_visible_although_the_tracker_claims_it() -> None:
    out = usual()
    _, seen, hidden = true_positions(world(), out)
    hidden &= np.isfinite(out.xy_px[..., 0])
    assert hidden.sum() > 200
    shown = seen & np.isfinite(out.xy_px[..., 0]) & (out.motion == 0)[:, None]
    assert out.visible[hidden].mean() < 0.02 and out.visible[shown].mean() > 0.7
    assert not out.visible[np.isnan(out.xy_px[..., 0])].any()


@pytest.mark.long(sample=True)
def test_depth_errors_alone_do_not_make_a_track_moving() -> None:
    """Depth that grows over the clip displaces every point along its ray, while its pixels are those of a static
    point."""

    def growing_depth(output: dict[str, np.ndarray]) -> None:
        output["xyz"][..., 2] *= np.linspace(1, 1.3, len(output["xyz"]))[:, None]

    out = tracks_of(world(moving_object=False), change=growing_depth)
    assert (out.motion != 1).all() and not out.visible[:, -8:].any()


@pytest.mark.long(sample=True)
def test_low_confidence_raises_the_outlier_probability_and_low_visibility_ends_tracks() -> None:
    def unsure(output: dict[str, np.ndarray]) -> None:
        output["confidence"][:, ::2] = 0.6
        output["visibility"][10:20] = 0.1

    out = tracks_of(world(moving_object=False), change=unsure)
    assert np.isnan(out.xy_px[:, 10:20]).all() and not out.visible[:, 10:20].any()
    assert (out.outlier_probability[::2] >= 0.39).all()
    assert (out.outlier_probability[1::2][out.motion[1::2] == 0] < 0.06).all()


@pytest.mark.long(sample=True)
def test_inputs_are_converted_to_the_unit_of_upstream() -> None:
    upstream = FakeUpstream(world())
    tracks_of(world(), model=upstream)
    (arrays,) = upstream.inputs
    assert np.median(arrays["z"]) == pytest.approx(3.0) and arrays["video"].dtype == np.uint8
    size = network_size(320, 240, 336)
    assert size == (448, 336) and arrays["video"].shape[1:3] == size[::-1]
    np.testing.assert_allclose(arrays["world_from_cam"][0], np.eye(4), atol=1e-6)
    metres = np.linalg.norm(world().scene.world_from_cam[-1, :3, 3] - world().scene.world_from_cam[0, :3, 3])
    distance = np.linalg.norm(arrays["world_from_cam"][-1, :3, 3])
    assert distance == pytest.approx(metres / upstream.unit(arrays), rel=1e-3)
    camera = world().scene.intrinsics.scaled(*size)
    np.testing.assert_allclose(arrays["k"][0], camera.matrix, rtol=1e-6)
    at, x, y = arrays["queries"].astype(int).T
    assert (arrays["z"][at, y, x] > 0.1).all() and len(set(at)) == 4


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1080, 1920), (640, 480), (333, 333), (40, 4000)])
def test_the_network_size_needs_no_resizing_by_upstream(width: int, height: int) -> None:
    size = network_size(width, height, 336)
    assert min(size) == 336 and size[0] % 14 == 0 and size[1] % 14 == 0
    assert (size[0] >= size[1]) == (width >= height)


@pytest.mark.long(sample=True)
def test_only_frames_with_depth_and_camera_are_used() -> None:
    of = world(moving_object=False)
    inputs = signals(of)
    path, depth = inputs["camera_path"], inputs["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    path.world_from_cam[3] = np.nan
    path.registered[3] = False
    z = depth.z.copy()
    z[5] = np.nan
    inputs["depth"] = replace(
        depth, frames=depth.frames[1:-1], z=z[1:-1], relative_sigma=depth.relative_sigma[1:-1]
    )  # fmt: skip
    out = estimated(of, inputs, SpatialTrackerSettings(max_frames=30))
    assert isinstance(out, PointTracks)
    assert len(out.frames) == 30 and not {0, 3, 5, 39} & set(out.frames.tolist())


@pytest.mark.long(sample=True)
def test_points_start_inside_the_valid_area() -> None:
    of = world(moving_object=False)
    valid = np.zeros((120, 160), dtype=bool)
    valid[:, 80:] = True
    area = ValidArea(valid=valid, provenance=Provenance(expert="test", version="0"))
    upstream = FakeUpstream(of)
    estimated(of, signals(of) | {"valid_area": area}, model=upstream)
    assert upstream.inputs[0]["queries"][:, 1].min() >= 223


@pytest.mark.long(sample=True)
def test_the_number_of_points_is_halved_when_memory_runs_out() -> None:
    def fault(points: int) -> None:
        if points > 100:
            raise OutOfMemoryError("OutOfMemoryError", "CUDA out of memory")

    upstream = FakeUpstream(world(), fault=fault)
    tracks_of(world(), model=upstream)
    counts = [len(arrays["queries"]) for arrays in upstream.inputs]
    assert len(counts) >= 2 and counts[-1] <= 100 < counts[-2]

    def always(points: int) -> None:
        raise OutOfMemoryError("OutOfMemoryError", "CUDA out of memory")

    with pytest.raises(SetupProblem, match="memory does not hold"):
        estimated(world(), signals(world()), fault=always)


@pytest.mark.parametrize("error", [WorkerCrashed("x"), WorkerTimedOut("x"), WorkerFailed("ValueError", "x")])
def test_an_error_of_the_worker_is_raised(error: Exception) -> None:
    def fault(points: int) -> None:
        raise error

    with pytest.raises(type(error)):
        estimated(world(), signals(world()), fault=fault)


@pytest.mark.long(sample=True)
def test_reasons_for_no_estimate() -> None:
    of = world(moving_object=False)
    inputs = signals(of)
    path, depth = inputs["camera_path"], inputs["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    one = replace(depth, frames=depth.frames[:1], z=depth.z[:1], relative_sigma=depth.relative_sigma[:1])
    thin = depth.z.copy()
    thin[:, 10:] = np.nan

    def no_tracks(output: dict[str, np.ndarray]) -> None:
        output["xyz"][:] = np.nan

    def other_unit(output: dict[str, np.ndarray]) -> None:
        output["xyz"][..., 2] *= 1.5

    for change, reason in [
        ({"depth": NoEstimate(reason="no GPU")}, "no depth"),
        ({"camera_path": NoEstimate(reason="x")}, "no camera path"),
        ({"camera_path": replace(path, motion="unresolved")}, "camera path unresolved"),
        ({"depth": one}, "fewer than two frames with depth and camera"),
        ({"depth": replace(depth, z=np.full_like(depth.z, np.nan))}, "fewer than two frames with depth and camera"),
        ({"depth": replace(depth, z=thin)}, "too little depth"),
    ]:
        out = estimated(of, inputs | change)  # type: ignore[operator]
        assert isinstance(out, NoEstimate) and out.reason == reason
    for change_output in (no_tracks, other_unit):
        out = estimated(of, inputs, change=change_output)
        assert isinstance(out, NoEstimate) and out.reason == "3-D tracks do not fit the depth"


def test_pictures_without_texture_give_no_estimate() -> None:
    of = world(moving_object=False)
    grey = replace(of.clip, reader=_Grey())
    expert = SpatialTrackerExpert(QUICK)
    expert.model = FakeUpstream(of)
    out = expert(grey, signals(of))["tracks"]
    assert isinstance(out, NoEstimate) and out.reason == "no texture to follow"


class _Grey:
    def read(self, frames):  # type: ignore[no-untyped-def]
        yield from (np.full((240, 320, 3), 128, np.uint8) for _ in frames)


def test_the_licence_is_non_commercial_and_a_gpu_is_needed() -> None:
    expert = SpatialTrackerExpert()
    assert not expert.commercial_ok and expert.code_licence == "CC-BY-NC-4.0" and expert.permissive_substitute
    with pytest.raises(SetupProblem, match="GPU only"):
        expert.load("random", device="cpu")


def test_a_separate_environment_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("PYTHON", "UPSTREAM"):
        monkeypatch.delenv(f"SPATIAL_ENGINE_{variable}_SPATIAL_TRACKER", raising=False)
    with pytest.raises(SetupProblem, match=r"environment-spatialtracker\.yml"):
        SpatialTrackerExpert().load("random")
    monkeypatch.setenv("SPATIAL_ENGINE_PYTHON_SPATIAL_TRACKER", sys.executable)
    with pytest.raises(SetupProblem, match=r"git clone .*SpaTrackerV2"):
        SpatialTrackerExpert().load("random")


UPSTREAM = {
    "config/magic_infer_offline.yaml": "model: {}",
    "torch.py": """
        import contextlib
        import os
        bfloat16 = float16 = "half"
        class _Cuda:
            @staticmethod
            def is_available():
                return os.environ.get("CUDA_VISIBLE_DEVICES") == "3"
            @staticmethod
            def empty_cache():
                pass
        cuda = _Cuda
        class amp:
            @staticmethod
            def autocast(device_type, dtype):
                assert (device_type, dtype) == ("cuda", "half")
                return contextlib.nullcontext()
        def no_grad():
            return contextlib.nullcontext()
        def manual_seed(seed):
            assert seed == 0
        class Tensor:
            def __init__(self, array):
                self.array = array
            def permute(self, *axes):
                return Tensor(self.array.transpose(axes))
            def float(self):
                return Tensor(self.array.astype("float32"))
            def cpu(self):
                return self
            def numpy(self):
                return self.array
        from_numpy = Tensor
    """,
    "yaml.py": "def safe_load(file):\n    return {'model': {'Track_cfg': {'s_wind': 500}}}",
    "models/SpaTrackV2/models/predictor.py": """
        import os
        import numpy as np
        import torch
        print("Loading libraries...")
        class Predictor:
            def __init__(self, args):
                assert args == {"Track_cfg": {"s_wind": 500}, "moge_as_base": False}
                self.spatrack = type("SpaTrack", (), {})()
            def eval(self):
                pass
            def to(self, device):
                assert device == "cuda" and self.spatrack.track_num == 256
            def forward(self, video, depth, unc_metric, intrs, extrs, queries, full_point, fixed_cam, query_no_BA,
                        stage, support_frame, replace_ratio, iters_track, fps):
                assert full_point and fixed_cam and query_no_BA and (stage, fps, iters_track) == (1, 1, 4)
                frames, colours, height, width = video.array.shape
                assert colours == 3 and video.array.max() > 1 and depth.shape == unc_metric.shape
                assert extrs.shape == (frames, 4, 4) and intrs.shape == (frames, 3, 3) and support_frame == frames - 1
                assert set(np.unique(unc_metric)) <= {0.0, 1.0}
                if height > width:
                    os._exit(9)
                at, x, y = queries.astype(int).T
                track = np.concatenate([queries[:, 1:], depth[at, y, x][:, None]], axis=1)
                track = np.repeat(track[None], frames, axis=0).astype(np.float32)
                seen = np.full((frames, len(queries), 1), 1.0, np.float32)
                output = [None] * 5 + [track, seen + 0.2, 0.9 * seen, video]
                return [a if a is None else torch.Tensor(a) for a in output]
    """,
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A minimal imitation of upstream's checkout, in which no track moves in the picture."""
    for name, text in UPSTREAM.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        indent = len(text.lstrip("\n")) - len(text.lstrip("\n").lstrip(" "))
        path.write_text("\n".join(line[indent:] for line in text.lstrip("\n").splitlines()))
    monkeypatch.setenv("SPATIAL_ENGINE_PYTHON_SPATIAL_TRACKER", sys.executable)
    monkeypatch.setenv("SPATIAL_ENGINE_UPSTREAM_SPATIAL_TRACKER", str(tmp_path / "checkout"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path / "checkout"


def test_the_worker_process_end_to_end(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of, expert = world(moving_object=False), SpatialTrackerExpert(QUICK)
    still = replace(of.clip, reader=_Still(of.pictures[0]))
    inputs = signals(of)
    path, depth = inputs["camera_path"], inputs["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    poses = np.tile(np.eye(4), (len(path.frames), 1, 1))
    inputs["camera_path"] = replace(path, motion="static", world_from_cam=poses)
    inputs["depth"] = replace(depth, z=np.repeat(depth.z[:1], len(depth.z), axis=0))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    expert.load("random", device="cuda:1")
    crashing = {"video": np.full((2, 28, 14, 3), 200, np.uint8), "z": np.ones((2, 28, 14), np.float32)}
    crashing |= {"k": np.zeros((2, 3, 3)), "world_from_cam": np.zeros((2, 4, 4)), "queries": np.zeros((1, 3))}
    request = {**expert._loaded_with, "dtype": "bfloat16", "iterations": 4, "replace_ratio": 0.2}
    try:
        for _ in range(2):
            with pytest.raises(WorkerCrashed, match="exit code 9"):
                expert.model.call(request, crashing)
            out = expert(still, inputs)["tracks"]
            assert isinstance(out, PointTracks) and out.xyz_world is not None
            tracked = np.isfinite(out.xy_px[..., 0])
            assert (out.motion == 0).mean() > 0.8 and out.visible[tracked].mean() > 0.8
            assert (out.outlier_probability[out.motion == 0] <= 0.1 + 1e-6).all()
            assert (np.nanmax(out.xyz_world, axis=1) - np.nanmin(out.xyz_world, axis=1)).max() < 1e-3 * UNIT
        assert out.provenance.sigma == "raw" and not out.provenance.commercial_ok
        assert out.provenance.weights_sha256 == "random"
    finally:
        expert.close()
    assert not list(checkout.parent.glob("spatial-engine-worker-*"))


class _Still:
    def __init__(self, picture: np.ndarray) -> None:
        self.picture = picture

    def read(self, frames):  # type: ignore[no-untyped-def]
        yield from (self.picture for _ in frames)


def test_a_missing_gpu_or_package_is_a_setup_problem(checkout: Path) -> None:
    with pytest.raises(SetupProblem, match="needs a GPU"):
        SpatialTrackerExpert().load("random", device="cuda:7")
    (checkout / "models/SpaTrackV2/models/predictor.py").write_text("import pyceres_of_upstream")
    with pytest.raises(SetupProblem, match="pyceres_of_upstream"):
        SpatialTrackerExpert().load("random", device="cuda:3")
