"""SpatialTracker V2: exact tracks of rendered scenes in upstream's format, through its units and back, and faults."""

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
from tests.experts.exact_tracks import ExactTracker, RenderedOnce, thing_at, truth

QUICK = SpatialTrackerSettings(points=40)
UNIT = 37.0
"""Path units in a metre: upstream would take such depth for a landscape."""


@cache
def world(mover: bool = True) -> RenderedOnce:
    return RenderedOnce(
        random_room(np.random.default_rng(3), frames=40, width_px=320, height_px=240, vfov_deg=50, mover=mover)
    )


def signals(of: RenderedOnce) -> dict[str, Signal | NoEstimate]:
    """Exact, in another unit, with a plausible σ."""
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
    """Stands for the worker: the truth in upstream's format, or a fault."""

    of: RenderedOnce
    change: Callable[[dict[str, np.ndarray]], None] = lambda answer: None
    fault: Callable[[int], None] = lambda points: None
    asked: list[dict[str, np.ndarray]] = field(default_factory=list)

    def call(
        self, request: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
    ) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        self.asked.append(dict(arrays))
        self.fault(len(arrays["queries"]))
        height, width = arrays["video"].shape[1:3]
        xy, seen, z = ExactTracker(self.of, (width, height)).follow(arrays["video"], arrays["queries"])
        unit = self.unit(arrays)
        answer = {
            "xyz": np.concatenate([xy, z[..., None] / unit], axis=-1).swapaxes(0, 1).astype(np.float32),
            "visibility": np.ones(seen.T.shape, np.float32),  # its word alone: nothing is ever hidden
            "confidence": np.full(seen.T.shape, 0.99, np.float32),
        }
        self.change(answer)
        return {}, answer

    def unit(self, arrays: Mapping[str, np.ndarray]) -> float:
        """Metres in upstream's unit, from the depth that it was given."""
        metres = np.stack([nearest(z, arrays["z"].shape[:0:-1]) for z in self.of.depths])
        return float(np.median(metres) / np.median(arrays["z"]))

    def close(self) -> None: ...


def tracked(of: RenderedOnce, settings: SpatialTrackerSettings | None = None, **upstream: Any) -> PointTracks:
    out = said(of, signals(of), settings, **upstream)
    assert isinstance(out, PointTracks)
    return out


def said(
    of: RenderedOnce,
    given: dict[str, Signal | NoEstimate],
    settings: SpatialTrackerSettings | None = None,
    **upstream: Any,
) -> Signal | NoEstimate:
    expert = SpatialTrackerExpert(settings or QUICK)
    expert.model = upstream.pop("model", None) or FakeUpstream(of, **upstream)
    return expert(of.clip, given)["tracks"]


@cache
def usual() -> PointTracks:
    return tracked(world(), SpatialTrackerSettings())


def true_places(of: RenderedOnce, out: PointTracks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(t, n, 3) places in the path's world and unit; whether each point is really seen; whether something hides it that
    is nearer by more than 15 %."""
    path = signals(of)["camera_path"]
    assert isinstance(path, CameraPath)
    places = np.full((*out.xy_px.shape[:2], 3), np.nan)
    seen, hidden = np.zeros((2, *out.xy_px.shape[:2]), dtype=bool)
    followed = np.isfinite(out.xy_px[..., 0])
    starts = np.where(followed.any(axis=1), np.argmax(followed, axis=1), -1)
    turn, shift = path.world_from_cam[:, :3, :3], path.world_from_cam[:, :3, 3]
    for start in np.unique(starts[starts >= 0]):
        these = np.flatnonzero(starts == start)
        px, seen[these], z = truth(of, int(out.frames[start]), out.xy_px[these, start], out.frames.tolist())
        rays = path.intrinsics.rays(px)
        cam = rays * (UNIT * z / rays[..., 2])[..., None]
        places[these] = np.einsum("nij,tnj->tni", turn[out.frames], cam) + shift[out.frames]
        for n in range(len(out.frames)):
            x, y = np.clip(np.round(px[:, n]), 0, [319, 239]).astype(int).T
            nearer = of.depths[int(out.frames[n])][y, x] < 0.85 * z[:, n]
            hidden[these, n] = nearer & path.intrinsics.contains(px[:, n])
    return places, seen, hidden


def test_exact_tracks_come_out_exact_in_our_world_and_unit() -> None:
    out = usual()
    places, _, _ = true_places(world(), out)
    assert out.xyz_world is not None and out.xyz_world.dtype == np.float32
    off = np.linalg.norm(out.xyz_world - places, axis=-1) / UNIT
    assert np.isfinite(off).sum() > 2000
    assert np.nanmedian(off) < 0.005 and np.nanquantile(off, 0.95) < 0.05
    assert np.isnan(out.xyz_world[np.isnan(out.xy_px[..., 0])]).all()


def test_what_moves_and_what_rests() -> None:
    out, of = usual(), world()
    held = np.isfinite(out.xy_px[..., 0]).any(axis=1)
    thing = np.full(len(held), -2)
    thing[held] = thing_at(of, out.xy_px[held], out.frames.tolist())
    mover = thing == len(of.scene.boxes)
    assert mover.sum() >= 8 and (out.motion[mover] != 0).all() and (out.motion[mover] == 1).sum() >= 4
    assert (out.motion[held & ~mover] != 1).all() and (out.motion[held & ~mover] == 0).mean() > 0.5
    assert (out.motion[~held] == -1).all()


def test_the_trackers_word_alone_makes_nothing_visible() -> None:
    out = usual()
    _, seen, hidden = true_places(world(), out)
    hidden &= np.isfinite(out.xy_px[..., 0])
    assert hidden.sum() > 200
    shown = seen & np.isfinite(out.xy_px[..., 0]) & (out.motion == 0)[:, None]
    assert out.visible[hidden].mean() < 0.02 and out.visible[shown].mean() > 0.7
    assert not out.visible[np.isnan(out.xy_px[..., 0])].any()


def test_a_point_that_stays_put_in_the_picture_is_not_held_to_move_by_its_depth_alone() -> None:
    """Depth that swells over the clip displaces every point along its ray; no pixel departs from a static one's."""

    def swell(answer: dict[str, np.ndarray]) -> None:
        answer["xyz"][..., 2] *= np.linspace(1, 1.3, len(answer["xyz"]))[:, None]

    out = tracked(world(mover=False), change=swell)
    assert (out.motion != 1).all() and not out.visible[:, -8:].any()


def test_low_confidence_is_a_gross_error_and_no_track() -> None:
    def doubt(answer: dict[str, np.ndarray]) -> None:
        answer["confidence"][:, ::2] = 0.6
        answer["visibility"][10:20] = 0.1

    out = tracked(world(mover=False), change=doubt)
    assert np.isnan(out.xy_px[:, 10:20]).all() and not out.visible[:, 10:20].any()
    assert (out.outlier_probability[::2] >= 0.39).all()
    assert (out.outlier_probability[1::2][out.motion[1::2] == 0] < 0.06).all()


def test_a_unit_of_ours_is_not_seen_upstream() -> None:
    upstream = FakeUpstream(world())
    tracked(world(), model=upstream)
    (arrays,) = upstream.asked
    assert np.median(arrays["z"]) == pytest.approx(3.0) and arrays["video"].dtype == np.uint8
    size = network_size(320, 240, 336)
    assert size == (448, 336) and arrays["video"].shape[1:3] == size[::-1]
    np.testing.assert_allclose(arrays["world_from_cam"][0], np.eye(4), atol=1e-6)
    metres = np.linalg.norm(world().scene.world_from_cam[-1, :3, 3] - world().scene.world_from_cam[0, :3, 3])
    way = np.linalg.norm(arrays["world_from_cam"][-1, :3, 3])
    assert way == pytest.approx(metres / upstream.unit(arrays), rel=1e-3)
    camera = world().scene.intrinsics.scaled(*size)
    np.testing.assert_allclose(arrays["k"][0], camera.matrix, rtol=1e-6)
    at, x, y = arrays["queries"].astype(int).T
    assert (arrays["z"][at, y, x] > 0.1).all() and len(set(at)) == 4


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1080, 1920), (640, 480), (333, 333), (40, 4000)])
def test_upstream_has_nothing_to_resize(width: int, height: int) -> None:
    size = network_size(width, height, 336)
    assert min(size) == 336 and size[0] % 14 == 0 and size[1] % 14 == 0
    assert (size[0] >= size[1]) == (width >= height)


def test_only_frames_with_depth_and_camera_are_used() -> None:
    of = world(mover=False)
    given = signals(of)
    path, depth = given["camera_path"], given["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    path.world_from_cam[3] = np.nan
    path.registered[3] = False
    z = depth.z.copy()
    z[5] = np.nan
    given["depth"] = replace(
        depth, frames=depth.frames[1:-1], z=z[1:-1], relative_sigma=depth.relative_sigma[1:-1]
    )  # fmt: skip
    out = said(of, given, SpatialTrackerSettings(max_frames=30))
    assert isinstance(out, PointTracks)
    assert len(out.frames) == 30 and not {0, 3, 5, 39} & set(out.frames.tolist())


def test_points_start_inside_the_valid_area() -> None:
    of = world(mover=False)
    valid = np.zeros((120, 160), dtype=bool)
    valid[:, 80:] = True
    area = ValidArea(valid=valid, provenance=Provenance(expert="test", version="0"))
    upstream = FakeUpstream(of)
    said(of, signals(of) | {"valid_area": area}, model=upstream)
    assert upstream.asked[0]["queries"][:, 1].min() >= 223


def test_memory_that_runs_out_halves_the_points() -> None:
    def fault(points: int) -> None:
        if points > 100:
            raise OutOfMemoryError("OutOfMemoryError", "CUDA out of memory")

    upstream = FakeUpstream(world(), fault=fault)
    tracked(world(), model=upstream)
    counts = [len(arrays["queries"]) for arrays in upstream.asked]
    assert len(counts) >= 2 and counts[-1] <= 100 < counts[-2]

    def always(points: int) -> None:
        raise OutOfMemoryError("OutOfMemoryError", "CUDA out of memory")

    with pytest.raises(SetupProblem, match="memory does not hold"):
        said(world(), signals(world()), fault=always)


@pytest.mark.parametrize("error", [WorkerCrashed("x"), WorkerTimedOut("x"), WorkerFailed("ValueError", "x")])
def test_a_fault_of_the_worker_is_the_clips_failure(error: Exception) -> None:
    def fault(points: int) -> None:
        raise error

    with pytest.raises(type(error)):
        said(world(), signals(world()), fault=fault)


def test_reasons_to_say_nothing() -> None:
    of = world(mover=False)
    given = signals(of)
    path, depth = given["camera_path"], given["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    one = replace(depth, frames=depth.frames[:1], z=depth.z[:1], relative_sigma=depth.relative_sigma[:1])
    thin = depth.z.copy()
    thin[:, 10:] = np.nan

    def nothing(answer: dict[str, np.ndarray]) -> None:
        answer["xyz"][:] = np.nan

    def other_unit(answer: dict[str, np.ndarray]) -> None:
        answer["xyz"][..., 2] *= 1.5

    for change, reason in [
        ({"depth": NoEstimate(reason="no GPU")}, "no depth"),
        ({"camera_path": NoEstimate(reason="x")}, "no camera path"),
        ({"camera_path": replace(path, motion="unresolved")}, "camera path unresolved"),
        ({"depth": one}, "fewer than two frames with depth and camera"),
        ({"depth": replace(depth, z=np.full_like(depth.z, np.nan))}, "fewer than two frames with depth and camera"),
        ({"depth": replace(depth, z=thin)}, "too little depth"),
    ]:
        out = said(of, given | change)  # type: ignore[operator]
        assert isinstance(out, NoEstimate) and out.reason == reason
    for change_answer in (nothing, other_unit):
        out = said(of, given, change=change_answer)
        assert isinstance(out, NoEstimate) and out.reason == "3-D tracks do not fit the depth"


def test_a_wall_without_texture_is_a_reason() -> None:
    of = world(mover=False)
    grey = replace(of.clip, reader=_Grey())
    expert = SpatialTrackerExpert(QUICK)
    expert.model = FakeUpstream(of)
    out = expert(grey, signals(of))["tracks"]
    assert isinstance(out, NoEstimate) and out.reason == "no texture to follow"


class _Grey:
    def read(self, frames):  # type: ignore[no-untyped-def]
        yield from (np.full((240, 320, 3), 128, np.uint8) for _ in frames)


def test_licence_and_place() -> None:
    expert = SpatialTrackerExpert()
    assert not expert.commercial_ok and expert.code_licence == "CC-BY-NC-4.0" and expert.permissive_substitute
    with pytest.raises(SetupProblem, match="GPU only"):
        expert.load("random", device="cpu")


def test_an_environment_of_its_own_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
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
                answer = [None] * 5 + [track, seen + 0.2, 0.9 * seen, video]
                return [a if a is None else torch.Tensor(a) for a in answer]
    """,
}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Upstream in miniature: nothing moves in the picture."""
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


def test_the_other_process_from_end_to_end(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of, expert = world(mover=False), SpatialTrackerExpert(QUICK)
    still = replace(of.clip, reader=_Still(of.pictures[0]))
    given = signals(of)
    path, depth = given["camera_path"], given["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    poses = np.tile(np.eye(4), (len(path.frames), 1, 1))
    given["camera_path"] = replace(path, motion="static", world_from_cam=poses)
    given["depth"] = replace(depth, z=np.repeat(depth.z[:1], len(depth.z), axis=0))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,3")
    expert.load("random", device="cuda:1")
    poison = {"video": np.full((2, 28, 14, 3), 200, np.uint8), "z": np.ones((2, 28, 14), np.float32)}
    poison |= {"k": np.zeros((2, 3, 3)), "world_from_cam": np.zeros((2, 4, 4)), "queries": np.zeros((1, 3))}
    request = {**expert._loaded_with, "dtype": "bfloat16", "iterations": 4, "replace_ratio": 0.2}
    try:
        for _ in range(2):
            with pytest.raises(WorkerCrashed, match="exit code 9"):
                expert.model.call(request, poison)
            out = expert(still, given)["tracks"]
            assert isinstance(out, PointTracks) and out.xyz_world is not None
            held = np.isfinite(out.xy_px[..., 0])
            assert (out.motion == 0).mean() > 0.8 and out.visible[held].mean() > 0.8
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


def test_no_gpu_and_a_missing_package_are_states_of_the_machine(checkout: Path) -> None:
    with pytest.raises(SetupProblem, match="needs a GPU"):
        SpatialTrackerExpert().load("random", device="cuda:7")
    (checkout / "models/SpaTrackV2/models/predictor.py").write_text("import pyceres_of_upstream")
    with pytest.raises(SetupProblem, match="pyceres_of_upstream"):
        SpatialTrackerExpert().load("random", device="cuda:3")
