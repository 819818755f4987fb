"""What a user states about a camera, and whether the experts follow."""

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest

from benchmarks.trust.rooms import RenderedTruth
from benchmarks.trust.stated_cameras import _Heard, turned
from experts.signals import CameraPath, Gravity, NoEstimate
from spatial_engine.rendering import as_clip, true_signals
from spatial_engine.rendering.demo_room import demo_scene
from spatial_engine.sequences import Sequence
from spatial_engine.sequences.manifest import Camera, Manifest
from spatial_engine.sequences.truth import Truth

SCENE = replace(demo_scene(), world_from_cam=demo_scene().world_from_cam[:3])
SCENE = replace(SCENE, intrinsics=SCENE.intrinsics.scaled(64, 48))
CLIP = as_clip(SCENE)


def heard(signals: dict[str, Any], stated: tuple[float, ...] | None = None) -> _Heard:
    truth = RenderedTruth(of=SCENE, clip=CLIP)
    return _Heard(clip=CLIP, signals=signals, truth=truth, stated=stated, true_fx_px=SCENE.intrinsics.fx_px)


def path_with(focal: float) -> dict[str, Any]:
    path = true_signals(SCENE, CLIP, [0])["camera_path"]
    assert isinstance(path, CameraPath)
    return {"camera_path": replace(path, intrinsics=replace(path.intrinsics, fx_px=focal * path.intrinsics.fx_px))}


@pytest.mark.parametrize(("found", "outcome"), [(1.0, "outvoted"), (1.05, "outvoted"), (1.14, "believed")])
def test_a_false_focal_length_is_believed_if_what_is_found_follows_it(found: float, outcome: str) -> None:
    stated = 1.15 * SCENE.intrinsics.fx_px
    assert heard(path_with(found), (stated, stated, 32, 24))._follows_focal() == outcome


def test_a_focal_length_that_is_found_without_the_statement_does_not_follow_it() -> None:
    stated, found = 1.15 * SCENE.intrinsics.fx_px, heard(path_with(1.14))
    assert sorted(found.focal_px) == pytest.approx([1.14 * SCENE.intrinsics.fx_px])
    told = replace(found, stated=(stated, stated, 32, 24), without_px=found.focal_px)
    assert told._follows_focal() == "refused"


def test_without_a_camera_path_it_is_refused() -> None:
    assert heard({"camera_path": NoEstimate(reason="no")}, (50, 50, 32, 24))._follows_focal() == "refused"


def test_gravity_far_from_the_truth_follows_a_false_upright() -> None:
    up = true_signals(SCENE, CLIP, [0])["gravity"]
    assert isinstance(up, Gravity)
    assert heard({"gravity": up})._follows_up() == "outvoted"
    assert heard({"gravity": replace(up, up_cam=up.up_cam[:, [1, 0, 2]])})._follows_up() == "believed"
    assert heard({})._follows_up() == "refused"


def test_the_truth_of_turned_pictures_shows_every_point_at_its_turned_pixel() -> None:
    camera = Camera(fx=50, fy=54, cx=30, cy=26, k1=-0.2, k2=0.05, p1=0.01, p2=-0.02, k3=0.01)
    poses = SCENE.world_from_cam
    truth = Truth(
        manifest=Manifest(name="x", images="*", upright=True), camera=camera, world_from_cam=poses, depth=None
    )
    sideways_one = turned(Sequence(clip=CLIP, truth=truth, manifest=truth.manifest), CLIP)
    assert not sideways_one.manifest.upright
    one = sideways_one.truth
    assert one.camera is not None and one.world_from_cam is not None
    points = (poses[0] @ np.c_[np.random.default_rng(0).uniform(-0.5, 0.5, (20, 2)), np.full(20, 2.0), np.ones(20)].T).T
    upright, sideways = seen(camera, poses[0], points), seen(one.camera, one.world_from_cam[0], points)
    assert sideways == pytest.approx(np.c_[upright[:, 1], CLIP.width_px - 1 - upright[:, 0]], abs=1e-6)


def seen(camera: Camera, pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    in_cam = points @ np.linalg.inv(pose).T
    matrix = np.array([[camera.fx, 0, camera.cx], [0, camera.fy, camera.cy], [0, 0, 1]])
    lens = np.array([camera.k1, camera.k2, camera.p1, camera.p2, camera.k3])
    return cv2.projectPoints(np.ascontiguousarray(in_cam[:, :3]), np.zeros(3), np.zeros(3), matrix, lens)[0].reshape(
        -1, 2
    )
