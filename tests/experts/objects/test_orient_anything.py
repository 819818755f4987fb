"""Orient Anything on rendered objects with a simulated network without error; and its refusals."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from experts.clip import Clip, OpeningOptions, Picture
from experts.expert import SetupProblem
from experts.objects.object_angles import angles_of, look_along
from experts.objects.object_crops import CropSettings, ObjectView, object_views
from experts.objects.orient_anything import OrientAnythingExpert, OrientAnythingSettings, Variant
from experts.provenance import Provenance
from experts.runtime.device import Placement
from experts.signals import CameraPath, NoEstimate, ObjectOrientation, Objects, Scale, Signals
from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.boxes import Box, standing
from spatial_engine.rendering.clips import as_clip
from spatial_engine.rendering.furniture import crate, room
from spatial_engine.rendering.orientation_logits import ideal_logits
from spatial_engine.rendering.scene import RenderedScene, camera
from spatial_engine.rendering.textures import Material

SMALL = OrientAnythingSettings(crops=CropSettings(min_side_px=16))
BOX_FROM_OBJECT = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""A rendered box's front is its -y, its left its +x."""
PROVENANCE = Provenance(expert="truth", version="1")


def scene(yaws_deg: Sequence[float] = (0.0, 35.0, -110.0), frames: int = 2, roll_deg: float = 0.0) -> RenderedScene:
    """Crates side by side on the floor, seen from above, the outer ones far off the axis. The camera looks along +y."""
    wall = Material(kind="wallpaper", colour=(200, 200, 200), accent=(150, 150, 150))
    start = camera_paths.Stance(at_m=(3.0, 0.6, 1.9), pitch_rad=-0.4, roll_rad=float(np.deg2rad(roll_deg)))
    boxes: tuple[Box, ...] = tuple(
        standing(
            f"crate {k}", (0.6, 0.4, 0.5), (3.0 + x, 3.2, 0), side=crate(k, (150, 90, 60), (40, 40, 60)), yaw_deg=yaw
        )
        for k, (x, yaw) in enumerate(zip((0.0, 1.4, -1.4), yaws_deg, strict=False))
    )
    return RenderedScene(
        intrinsics=camera(320, 240, vfov_deg=60.0),
        room=room((6.0, 5.0, 3.0), wall, (wall,) * 4, wall),
        boxes=boxes,
        world_from_cam=camera_paths.static(frames, start),
        fps=10.0,
        texel_m=0.02,
        supersampling=1,
    )


def signals_of(world: RenderedScene, shrink: int = 1) -> dict[str, Any]:
    frames = np.arange(len(world))
    poses = np.stack([world.world_from_boxes(f) for f in range(len(world))])
    objects = Objects(
        frames=frames,
        labels=world.labels,
        ids=np.stack([world.ids(f)[::shrink, ::shrink] for f in range(len(world))]),
        world_from_object=poses,
        provenance=PROVENANCE,
    )
    count = len(world)
    path = CameraPath(
        frames=frames,
        world_from_cam=world.world_from_cam,
        registered=np.ones(count, bool),
        keyframe=np.ones(count, bool),
        intrinsics=world.intrinsics,
        focal_relative_sigma=0.0,
        motion="static",
        rotation_sigma_rad=np.zeros(count),
        position_sigma=np.zeros(count),
        direction_sigma_rad=0.0,
        scale=Scale(kind="metric", relative_sigma=0.0),
        provenance=PROVENANCE,
    )
    return {"objects": objects, "camera_path": path}


def cam_from_object(world: RenderedScene, frame: int, item: int) -> np.ndarray:
    rotation = world.world_from_cam[frame, :3, :3].T @ world.world_from_boxes(frame)[item, :3, :3]
    return rotation @ BOX_FROM_OBJECT


class Ideal(OrientAnythingExpert):
    """The expert with a network without error: it returns the true angles of each crop."""

    world: RenderedScene
    head: int = 902
    memory: int = 100
    logits: dict[str, Any]

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[ObjectView, Picture]]:
        self.known: dict[bytes, np.ndarray] = {}
        self.shapes: set[tuple[int, ...]] = set()
        for sighting, picture in super().pictures(clip, signals):
            objects = signals["objects"]
            assert isinstance(objects, Objects)
            ray = self.world.intrinsics.rays(sighting.middle_px(clip, objects))
            seen = look_along(ray).T @ cam_from_object(self.world, sighting.frame, sighting.item)
            self.known[picture.tobytes()] = ideal_logits(self.head, *angles_of(seen), **self.logits)
            self.shapes.add(picture.shape)
            yield sighting, picture

    def infer(self, pictures: Sequence[Picture]) -> list[np.ndarray]:
        if len(pictures) > self.memory:
            raise MemoryError
        return [self.known[picture.tobytes()] for picture in pictures]


def ideal(world: RenderedScene, head: int = 902, variant: Variant = "v1", **logits: Any) -> Ideal:
    made = Ideal(SMALL, variant)
    made.world, made.head, made.logits = world, head, logits
    made.placement, made.loaded_identity = Placement(device="cuda"), "random"
    return made


@pytest.mark.parametrize(("head", "variant"), [(722, "v1"), (902, "v1"), (900, "v2")])
@pytest.mark.parametrize("roll_deg", [0.0, 20.0])
def test_the_orientation_of_rendered_objects_is_found(head: int, variant: Variant, roll_deg: float) -> None:
    """Also off the axis: angles are relative to the ray, the rotation is in camera axes."""
    world = scene(roll_deg=roll_deg)
    adapter = ideal(world, head, variant)
    signal = adapter(as_clip(world), signals_of(world))["object_orientation"]
    assert isinstance(signal, ObjectOrientation)
    assert (signal.fronts == 1).all() and signal.fronts.shape == (2, 3)
    for item in range(3):
        truth = cam_from_object(world, 0, item)
        np.testing.assert_allclose(signal.cam_from_object[0, item], truth, atol=0.01)
    assert adapter.shapes == {(224, 224, 3) if variant == "v1" else (518, 518, 3)}
    assert signal.provenance.sigma == "raw"


def test_an_object_that_faces_the_camera_points_back_along_its_ray() -> None:
    """Independent of the inverse above: azimuth 0 at the picture's edge is a front that points at the camera."""
    world = scene()
    adapter = ideal(world)
    clip, signals = as_clip(world), signals_of(world)
    raw = {sighting: ideal_logits(902, 0, 0, 0) for sighting, _ in adapter.pictures(clip, signals)}
    signal = adapter.finish(clip, signals, raw)["object_orientation"]
    assert isinstance(signal, ObjectOrientation)
    for sighting in raw:
        ray = world.intrinsics.rays(sighting.middle_px(clip, signals["objects"]))
        np.testing.assert_allclose(signal.cam_from_object[0, sighting.item, :, 0], -ray, atol=1e-3)
    middles = [sighting.middle_px(clip, signals["objects"]) for sighting in raw if sighting.frame == 0]
    truth = [
        world.intrinsics.project(np.linalg.inv(world.world_from_cam[0])[:3] @ p[:, 3])
        for p in world.world_from_boxes(0)
    ]
    np.testing.assert_allclose(middles, truth, atol=12)  # a box's middle is near the middle of its outline


def test_masks_may_be_smaller_than_the_frame() -> None:
    world = scene()
    full, small = (
        [s.middle_px(as_clip(world), own["objects"]) for s in object_views(as_clip(world), own["objects"], SMALL.crops)]
        for own in (signals_of(world), signals_of(world, shrink=2))
    )
    np.testing.assert_allclose(small, full, atol=1.5)
    signal = ideal(world)(as_clip(world), signals_of(world, shrink=2))["object_orientation"]
    assert isinstance(signal, ObjectOrientation)


def test_the_object_is_alone_in_the_centre_of_its_crop() -> None:
    world = scene()
    for variant, background in (("v1", 0), ("v2", 255)):
        adapter = OrientAnythingExpert(SMALL, variant)  # type: ignore[arg-type]
        for _, picture in adapter.pictures(as_clip(world), signals_of(world)):
            own = np.argwhere((picture != background).any(axis=2))
            low, high = own.min(axis=0), own.max(axis=0)
            side = picture.shape[0]
            np.testing.assert_allclose((low + high) / 2, (side - 1) / 2, atol=0.02 * side)
            share = (high - low).max() / side
            assert share == pytest.approx(0.85 * (256 / 224 if variant == "v1" else 1), abs=0.03)


def test_without_a_camera_angles_are_known_but_no_rotation() -> None:
    world = scene()
    signals = {"objects": signals_of(world)["objects"], "camera_path": NoEstimate(reason="too little parallax")}
    signal = ideal(world)(as_clip(world), signals)["object_orientation"]
    assert isinstance(signal, ObjectOrientation)
    assert np.isfinite(signal.azimuth_rad).all() and np.isnan(signal.cam_from_object).all()
    calibrated = as_clip(world, options=OpeningOptions(intrinsics=world.intrinsics))
    with_camera = ideal(world)(calibrated, signals)["object_orientation"]
    assert isinstance(with_camera, ObjectOrientation) and np.isfinite(with_camera.cam_from_object).all()


def test_an_object_with_two_fronts() -> None:
    world = scene()
    signal = ideal(world, 900, "v2", fronts=2)(as_clip(world), signals_of(world))["object_orientation"]
    assert isinstance(signal, ObjectOrientation)
    assert (signal.fronts == 2).all()
    for item in range(3):
        front, truth = signal.cam_from_object[0, item, :, 0], cam_from_object(world, 0, item)[:, 0]
        assert abs(front @ truth) > 0.9995


def test_a_ball_has_no_front_and_no_azimuth() -> None:
    world = scene()
    adapter = ideal(world)
    clip, signals = as_clip(world), signals_of(world)
    raw = {sighting: _frontless() for sighting, _ in adapter.pictures(clip, signals)}
    signal = adapter.finish(clip, signals, raw)["object_orientation"]
    assert isinstance(signal, ObjectOrientation)
    assert (signal.fronts == 0).all()
    assert np.isnan(signal.azimuth_rad).all() and np.isinf(signal.sigma_rad[..., 0]).all()
    assert np.isfinite(signal.polar_rad).all() and np.isnan(signal.cam_from_object).all()


def test_views_without_finite_logits_are_unknown() -> None:
    world = scene()
    adapter = ideal(world)
    clip, signals = as_clip(world), signals_of(world)
    raw = {sighting: np.full(902, np.nan, np.float32) for sighting, _ in adapter.pictures(clip, signals)}
    result = adapter.finish(clip, signals, raw)["object_orientation"]
    assert isinstance(result, NoEstimate) and result.reason == "front is unknown for every object"
    first = next(iter(raw))
    some = adapter.finish(clip, signals, raw | {first: ideal_logits(902, 1, 0, 0)})["object_orientation"]
    assert isinstance(some, ObjectOrientation) and (some.fronts == 1).sum() == 1  # the others stay unknown
    assert np.isnan(some.azimuth_rad[some.fronts == -1]).all()


# --- which views ----------------------------------------------------------------------------------------------------


def objects_of(ids: np.ndarray, count: int) -> Objects:
    return Objects(
        frames=np.arange(len(ids)) * 3,
        labels=tuple("abcdefgh"[:count]),
        ids=ids.astype(np.int32),
        world_from_object=np.full((len(ids), count, 4, 4), np.nan),
        provenance=PROVENANCE,
    )


@dataclass(frozen=True, kw_only=True)
class Grey:
    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        return (np.full((240, 320, 3), 99, np.uint8) for _ in frames)


def grey_clip(frames: int = 60) -> Clip:
    return Clip(
        id="0" * 16, name="grey", frames=np.arange(frames), times_s=None, width_px=320, height_px=240, reader=Grey()
    )


def test_the_largest_whole_view_of_each_part_of_the_clip_is_used() -> None:
    ids = np.full((12, 60, 80), -1)
    for frame in range(12):
        size = 20 + (frame * 7) % 12
        ids[frame, 10 : 10 + size, 20:40] = 0
    chosen = object_views(grey_clip(), objects_of(ids, 1), CropSettings(views=3, min_side_px=16))
    sizes = [20 + (frame * 7) % 12 for frame in range(12)]
    assert [s.frame // 3 for s in chosen] == [4 * k + int(np.argmax(sizes[4 * k : 4 * k + 4])) for k in range(3)]


def test_objects_that_are_cut_off_or_too_small_are_not_used() -> None:
    ids = np.full((1, 240, 320), -1)
    ids[0, 0:80, 100:150] = 0  # touches the top
    ids[0, 100:180, 270:320] = 1  # touches the right
    ids[0, 100:120, 10:30] = 2  # 20 px
    objects = objects_of(ids, 4)  # the fourth is not seen at all
    assert object_views(grey_clip(), objects, CropSettings()) == []
    result = OrientAnythingExpert()(grey_clip(), {"objects": objects})["object_orientation"]
    assert isinstance(result, NoEstimate) and result.reason == "no object is visible whole and large enough"


def test_without_objects_there_is_no_estimate() -> None:
    expert = OrientAnythingExpert()
    why = NoEstimate(reason="nothing found")
    assert expert(grey_clip(), {"objects": why})["object_orientation"] == NoEstimate(
        reason="no objects", detail="nothing found"
    )
    nothing = objects_of(np.full((2, 60, 80), -1), 0)
    assert isinstance(expert(grey_clip(), {"objects": nothing})["object_orientation"], NoEstimate)


def test_the_batch_is_halved_when_memory_runs_out() -> None:
    world = scene()
    adapter = ideal(world)
    adapter.memory = 3
    signal = adapter(as_clip(world), signals_of(world))["object_orientation"]
    assert isinstance(signal, ObjectOrientation) and (signal.fronts == 1).all()


# --- V2's worker ----------------------------------------------------------------------------------------------------


@dataclass
class FakeWorker:
    calls: list[tuple[dict[str, Any], tuple[int, ...]]] = field(default_factory=list)

    def call(self, request: dict[str, Any], arrays: dict[str, np.ndarray]) -> tuple[dict, dict[str, np.ndarray]]:
        self.calls.append((request, arrays["pictures"].shape))
        assert arrays["pictures"].dtype == np.uint8
        return {}, {"logits": np.tile(ideal_logits(900, 1.0, 0.2, 0.1), (len(arrays["pictures"]), 1))}


def test_v2_calls_its_worker() -> None:
    world = scene()
    expert = OrientAnythingExpert(replace(SMALL, batch=4), "v2")
    expert.model, expert.placement, expert.loaded_identity = FakeWorker(), Placement(device="cuda"), "random"
    signal = expert(as_clip(world), signals_of(world))["object_orientation"]
    assert isinstance(signal, ObjectOrientation)
    np.testing.assert_allclose(signal.azimuth_rad, 1.0, atol=1e-3)
    assert [shape for _, shape in expert.model.calls] == [(4, 518, 518, 3)] * 2
    assert not expert.commercial_ok and expert.permissive_substitute


def test_without_its_checkout_v2_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPATIAL_ENGINE_UPSTREAM_ORIENT_ANYTHING_V2", raising=False)
    with pytest.raises(SetupProblem, match="git clone"):
        OrientAnythingExpert(variant="v2").environment()
    assert OrientAnythingExpert().environment() is None


@pytest.mark.skipif(find_spec("torch") is not None, reason="torch is installed here")
def test_a_missing_package_is_named_with_its_command() -> None:
    with pytest.raises(SetupProblem, match="pip install torch"):
        OrientAnythingExpert().load("random", "cpu")


def _frontless() -> np.ndarray:
    logits = ideal_logits(902, 1.0, 0.2, 0.0)
    logits[-2:] = (-6, 6)
    return logits
