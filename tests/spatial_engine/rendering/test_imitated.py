"""Imitated experts: without errors they tell the truth, with errors they err as much as their σ says."""

from typing import Any

import numpy as np
import pytest

from experts.signals import ObjectOrientation, Objects
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import ImitatedErrors, imitated_signals, majority
from spatial_engine.rendering.imitated_networks import DetectionErrors

NONE = ImitatedErrors(
    detection=DetectionErrors(), confused=0, depth_smooth=0, depth_pixel=0, scale=0, front_rad=0.05, tilt_rad=0.05,
    flipped=0, frames=8,
)  # fmt: skip


def room(seed: int = 3, frames: int = 8) -> RenderedScene:
    rng = np.random.default_rng(seed)
    return furnished_room(rng, frames=frames, width_px=240, height_px=180, path="orbit", movers=1)


@pytest.fixture(scope="module")
def scene() -> RenderedScene:
    return room()


@pytest.fixture(scope="module")
def exact(scene: RenderedScene) -> dict[str, Any]:
    return imitated_signals(scene, as_clip(scene), NONE)


@pytest.fixture(scope="module")
def wrong(scene: RenderedScene) -> dict[str, Any]:
    return imitated_signals(scene, as_clip(scene), ImitatedErrors(frames=8, confused=0.3, seed=1))


def shown(scene: RenderedScene, objects: Objects) -> list[int]:
    """The true object that each found one shows."""
    true = np.stack([scene.object_ids(int(f)) for f in objects.frames])
    return [majority(true[objects.ids == k]) for k in range(len(objects.labels))]


def test_without_errors_names_masks_and_places_are_true(scene: RenderedScene, exact: dict[str, Any]) -> None:
    objects = exact["objects"]
    assert isinstance(objects, Objects) and len(objects.labels) >= 10
    assert objects.centre_sigma is not None and objects.size is not None and objects.size_sigma is not None
    true, poses = np.stack([scene.object_ids(int(f)) for f in objects.frames]), scene.world_from_objects(0)
    for k, t in enumerate(shown(scene, objects)):
        assert objects.labels[k] == scene.objects[t].name
        assert (true[objects.ids == k] == t).mean() > 0.8
        place = objects.world_from_object[0, k, :3, 3]
        if t < len(scene.objects) - 1 and np.isfinite(place).all():  # the last one moves
            assert np.abs(place - poses[t, :3, 3]).max() < 3 * objects.centre_sigma[k] + 0.02


def test_without_errors_fronts_are_true(scene: RenderedScene, exact: dict[str, Any]) -> None:
    fronts, objects = exact["object_orientation"], exact["objects"]
    assert isinstance(fronts, ObjectOrientation)
    truth: Any = true_signals(scene, as_clip(scene), fronts.frames.tolist())["object_orientation"]
    checked = 0
    for k, t in enumerate(shown(scene, objects)):
        for n in np.flatnonzero(np.isfinite(fronts.cam_from_object[:, k, 0, 0])):
            assert fronts.fronts[n, k] == scene.objects[t].fronts
            angle = np.arccos(np.clip(fronts.cam_from_object[n, k, :, 0] @ truth.cam_from_object[n, t, :, 0], -1, 1))
            period = 2 * np.pi / scene.objects[t].fronts
            assert abs((angle + period / 2) % period - period / 2) < 0.3
            checked += 1
    assert checked >= 5 and (fronts.fronts == 1).any()


@pytest.mark.long(sample=True)
def test_errors_are_there_and_stated(scene: RenderedScene, wrong: dict[str, Any]) -> None:
    objects, depth, path = wrong["objects"], wrong["depth"], wrong["camera_path"]
    truth: Any = true_signals(scene, as_clip(scene), depth.frames.tolist())
    factor = np.linalg.norm(path.world_from_cam[0, :3, 3]) / np.linalg.norm(scene.world_from_cam[0, :3, 3])
    assert 1e-4 < abs(np.log(factor)) < 0.08 and path.scale.relative_sigma == depth.scale.relative_sigma == 0.02
    error = depth.z / factor / truth["depth"].z - 1
    assert error.std() == pytest.approx(0.03, rel=0.2)
    assert float(depth.relative_sigma.mean()) == pytest.approx(0.03, rel=0.01)
    names = [objects.labels[k] == scene.objects[t].name for k, t in enumerate(shown(scene, objects))]
    assert 0.4 < np.mean(names) < 0.95
    assert objects.name_outlier_probability is not None and objects.name_outlier_probability.mean() > 0.1
    assert objects.provenance.expert == "imitated_open_vocabulary" and objects.provenance.sigma == "raw"


@pytest.mark.long(sample=True)
def test_a_share_of_the_detections_is_missed(scene: RenderedScene, exact: dict[str, Any]) -> None:
    errors = ImitatedErrors(detection=DetectionErrors(missed=0.4), confused=0, frames=8)
    some = imitated_signals(scene, as_clip(scene), errors)["objects"]
    assert isinstance(some, Objects) and some.score is not None
    all_of_them = np.isfinite(exact["objects"].score).sum()
    assert 0.4 < np.isfinite(some.score).sum() / all_of_them < 0.75


@pytest.mark.long(sample=True)
def test_the_same_seed_gives_the_same_signals(scene: RenderedScene) -> None:
    errors = ImitatedErrors(frames=3, seed=5)
    one, two = (imitated_signals(scene, as_clip(scene), errors)["objects"] for _ in range(2))
    other = imitated_signals(scene, as_clip(scene), ImitatedErrors(frames=3, seed=6))["objects"]
    assert isinstance(one, Objects) and isinstance(two, Objects) and isinstance(other, Objects)
    assert one.ids.tobytes() == two.ids.tobytes() and one.world_from_object.tobytes() == two.world_from_object.tobytes()
    assert one.ids.tobytes() != other.ids.tobytes()


@pytest.mark.long(sample=True)
def test_backs_taken_for_fronts_are_suspected(scene: RenderedScene) -> None:
    errors = ImitatedErrors(detection=DetectionErrors(), confused=0, flipped=0.15, frames=8)
    found: dict[str, Any] = imitated_signals(scene, as_clip(scene), errors)
    facing, objects = found["object_orientation"], found["objects"]
    truth: Any = true_signals(scene, as_clip(scene), facing.frames.tolist())["object_orientation"]
    of = shown(scene, objects)
    flipped = (facing.fronts == 1) & (np.cos(facing.azimuth_rad - truth.azimuth_rad[:, of]) < 0)
    assert flipped.any() and (facing.outlier_probability[flipped] >= 0.05).all()


@pytest.mark.long(sample=True)
def test_sigma_and_outlier_probability_are_those_of_the_errors() -> None:
    """Places (worst axis), known sides and fronts of three rooms; outliers are wrong names and places beyond 5 σ."""
    places, sides, fronts, sure, outliers, stated = [], [], [], [], [], []
    for seed in range(3):
        scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180, movers=0)
        found: dict[str, Any] = imitated_signals(scene, as_clip(scene), ImitatedErrors(frames=16, seed=seed))
        objects, facing = found["objects"], found["object_orientation"]
        truth: Any = true_signals(scene, as_clip(scene), facing.frames.tolist())["object_orientation"]
        factor = np.linalg.norm(
            found["camera_path"].world_from_cam[0, :3, 3] / np.linalg.norm(scene.world_from_cam[0, :3, 3])
        )
        for k, t in enumerate(shown(scene, objects)):
            item, pose, true = scene.objects[t], objects.world_from_object[0, k], scene.world_from_objects(0)[t]
            place = np.abs(pose[:3, 3] / factor - true[:3, 3]).max() / objects.centre_sigma[k] * factor
            wrong = objects.labels[k] != item.name or place > 5
            outliers.append(wrong)
            stated.append(objects.outlier_probability[k] + objects.name_outlier_probability[k])
            places += [place] if np.isfinite(place) else []
            if np.isfinite(pose[:3, :3]).all():
                side = np.abs(pose[:3, :3].T @ true[:3, :3]).argmax(axis=1)
                error = (objects.size[k] - factor * item.size_m[side]) / objects.size_sigma[k]
                sides += error[np.isfinite(objects.size_sigma[k])].tolist()
            if item.fronts > 0:
                error = facing.azimuth_rad[:, k] - truth.azimuth_rad[:, t]
                period = 2 * np.pi / item.fronts
                error = ((error + period / 2) % period - period / 2) / facing.sigma_rad[:, k, 0]
                known = np.isfinite(error)
                fronts += error[known].tolist()
                sure += (np.abs(error[known & (facing.outlier_probability[:, k] < 0.01)]) > 5).tolist()
    for errors in (places, sides, fronts):
        assert len(errors) >= 40
        assert 0.55 < np.mean(np.abs(errors) <= 1) < 0.93 and np.mean(np.abs(errors) <= 3) > 0.9
    assert len(sure) >= 10 and not any(sure)
    assert np.mean(outliers) < 2 * np.mean(stated) < 0.2
