"""Each check holds for the truth, and fails for the mistake that it looks for."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.first_run_checks import Results, shift_px
from benchmarks.first_run_rooms import Probe, Sizes, probes
from experts.provenance import Provenance
from experts.signals import (
    Calibration,
    ImageTracks,
    NoEstimate,
    ObjectOrientation,
    Objects,
    Signal,
)
from spatial_engine.rendering import RenderedScene, true_signals

SIZES = Sizes(side_px=160, frames=6)
SOURCE = Provenance(expert="truth", version="1")
EXPERTS = ("geocalib", "depth_anything_3", "depth_anything_3:metric", "open_vocabulary", "orient_anything", "tapir")


def scene_of(probe: Probe) -> RenderedScene:
    """The room behind a clip."""
    scene = probe.clip.reader.scene  # type: ignore[attr-defined]
    assert isinstance(scene, RenderedScene)
    return scene


def truth(probe: Probe) -> dict[str, Signal]:
    """What an expert without error provides."""
    scene = scene_of(probe)
    signals = true_signals(scene, probe.clip)
    camera = Calibration(intrinsics=scene.intrinsics, focal_relative_sigma=0.01, provenance=SOURCE)
    return {**signals, "calibration": camera, "image_tracks": tracks(scene), "object_orientation": front(probe)}


def tracks(scene: RenderedScene) -> ImageTracks:
    """Points of the first frame, followed to the last one without error."""
    xy = np.stack(np.meshgrid(np.arange(10.0, 80, 8), np.arange(10.0, 80, 8)), axis=-1).reshape(-1, 2)
    rays, depth = scene.intrinsics.rays(xy), scene.depth(0)[xy[:, 1].astype(int), xy[:, 0].astype(int)]
    into = np.linalg.inv(scene.world_from_cam) @ scene.world_from_cam[0]
    xyz = np.einsum("nij,pj->pni", into[:, :3, :3], rays * (depth / rays[:, 2])[:, None]) + into[:, :3, 3]
    return ImageTracks(
        frames=np.arange(len(scene)), xy_px=scene.intrinsics.project(xyz).astype(np.float32), provenance=SOURCE
    )


def front(probe: Probe) -> ObjectOrientation:
    """The pose of the object: its front is -y of `armchair`, x of Orient Anything."""
    objects = probe.signals.get("objects") or true_signals(scene_of(probe), probe.clip)["objects"]
    assert isinstance(objects, Objects)
    to_x = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    poses = np.linalg.inv(scene_of(probe).world_from_cam[0]) @ objects.world_from_object[:1]
    count = poses.shape[1]
    angles = np.zeros((1, count))
    return ObjectOrientation(
        frames=np.array([0]), azimuth_rad=angles, polar_rad=angles, rotation_rad=angles,
        sigma_rad=np.full((1, count, 3), 0.1), cam_from_object=poses[..., :3, :3] @ to_x,
        fronts=np.ones((1, count), dtype=np.int32), provenance=SOURCE,
    )  # fmt: skip


@pytest.mark.parametrize("expert", EXPERTS)
def test_the_truth_holds(expert: str) -> None:
    for probe in probes(expert, SIZES):
        rows = probe.judge(judged(expert, probe))
        assert rows and all(row.holds for row in rows), rows


def judged(expert: str, probe: Probe) -> Results:
    """The signals that the expert would provide."""
    signals = truth(probe)
    return {"image_tracks": signals["image_tracks"]} if expert == "tapir" else signals


def up_is_gravity(s: dict[str, Any]) -> None:
    s["gravity"] = replace(s["gravity"], up_cam=-s["gravity"].up_cam)


def pitch_flipped(s: dict[str, Any]) -> None:
    s["gravity"] = replace(s["gravity"], up_cam=s["gravity"].up_cam * [1, 1, -1])


def roll_flipped(s: dict[str, Any]) -> None:
    s["gravity"] = replace(s["gravity"], up_cam=s["gravity"].up_cam * [-1, 1, 1])


def focal_of_the_network(s: dict[str, Any]) -> None:
    camera = s["calibration"].intrinsics
    s["calibration"] = replace(s["calibration"], intrinsics=replace(camera, fy_px=camera.fy_px / 2))


def camera_from_world(s: dict[str, Any]) -> None:
    s["camera_path"] = replace(s["camera_path"], world_from_cam=np.linalg.inv(s["camera_path"].world_from_cam))


def focal_of_full_size(s: dict[str, Any]) -> None:
    s["depth"] = replace(s["depth"], z=s["depth"].z * 1.5)


def half_a_pixel(s: dict[str, Any]) -> None:
    z = s["depth"].z
    s["depth"] = replace(s["depth"], z=((z + np.roll(z, 1, axis=2)) / 2).astype(np.float32))


def inverse_depth(s: dict[str, Any]) -> None:
    s["depth"] = replace(s["depth"], z=4 / s["depth"].z)


def stretched_to_a_square(s: dict[str, Any]) -> None:
    ids = s["objects"].ids
    longer = max(ids.shape[1:])
    rows, columns = (np.arange(n) * n // longer for n in ids.shape[1:])
    s["objects"] = replace(s["objects"], ids=np.ascontiguousarray(ids[:, rows][:, :, columns]))


def mirrored(s: dict[str, Any]) -> None:
    flip = np.diag([-1.0, 1, 1])
    s["object_orientation"] = replace(
        s["object_orientation"], cam_from_object=flip @ s["object_orientation"].cam_from_object
    )


def turned(s: dict[str, Any], about_y_deg: float) -> None:
    turn = Rotation.from_euler("y", about_y_deg, degrees=True).as_matrix()
    found = s["object_orientation"]
    s["object_orientation"] = replace(found, cam_from_object=turn @ found.cam_from_object)


def away_is_0(s: dict[str, Any]) -> None:
    turned(s, 180)


def from_the_axis(s: dict[str, Any]) -> None:
    turned(s, 30)


def drifting(s: dict[str, Any]) -> None:
    drift = np.arange(6, dtype=np.float32)[:, None] * np.array([0.0, 0.2], dtype=np.float32)
    s["image_tracks"] = replace(s["image_tracks"], xy_px=s["image_tracks"].xy_px + drift)


@pytest.mark.parametrize(
    ("expert", "probe", "mistake"),
    [
        ("geocalib", 0, up_is_gravity), ("geocalib", 2, pitch_flipped), ("geocalib", 0, roll_flipped),
        ("geocalib", 0, focal_of_the_network), ("depth_anything_3", 0, camera_from_world),
        ("depth_anything_3:metric", 0, focal_of_full_size), ("depth_anything_3:metric", 0, half_a_pixel),
        ("depth_anything_3:metric", 0, inverse_depth), ("open_vocabulary", 0, stretched_to_a_square),
        ("open_vocabulary", 1, stretched_to_a_square), ("orient_anything", 1, mirrored),
        ("orient_anything", 3, mirrored), ("orient_anything", 0, away_is_0),
        ("orient_anything", 4, from_the_axis), ("orient_anything", 5, from_the_axis),
        ("tapir", 0, drifting),
    ],
)  # fmt: skip
def test_mistakes_are_found(expert: str, probe: int, mistake: Callable[[dict[str, Any]], None]) -> None:
    tried = probes(expert, SIZES)[probe]
    signals: dict[str, Any] = dict(judged(expert, tried))
    mistake(signals)
    assert not all(row.holds for row in tried.judge(signals)), mistake


@pytest.mark.parametrize("expert", EXPERTS)
def test_no_estimate_does_not_hold(expert: str) -> None:
    names = [
        "gravity", "calibration", "camera_path", "depth", "objects", "object_orientation", "image_tracks",
    ]  # fmt: skip
    nothing: Results = dict.fromkeys(names, NoEstimate(reason="nothing seen"))
    for probe in probes(expert, SIZES):
        rows = probe.judge(nothing)
        assert rows and not any(row.holds for row in rows) and "nothing seen" in rows[0].measured


def test_shifts_of_half_a_pixel_are_found() -> None:
    """As the median of frames: where edges are parallel to the raster, the renderer rounds them all alike."""
    scene = scene_of(probes("depth_anything_3", SIZES)[0])
    for x, y in ((0.5, 0.0), (-0.5, 0.5), (0.0, 0.0)):
        camera = scene.intrinsics
        moved = replace(scene, intrinsics=replace(camera, cx_px=camera.cx_px + x, cy_px=camera.cy_px + y))
        found = [shift_px(moved.depth(frame), scene.depth(frame)) for frame in range(len(scene))]
        np.testing.assert_allclose(np.median(found, axis=0), [x, y], atol=0.15)
