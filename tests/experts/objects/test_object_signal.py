"""Detections of rendered rooms become objects: by depth, by triangulated points, by boxes alone, and by nothing."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from experts.clip import Clip
from experts.objects.confirmation import ConfirmationSettings
from experts.objects.detections import SegmentedFrame
from experts.objects.object_signal import ObjectSettings, objects_of
from experts.provenance import Provenance
from experts.signals import Objects, Signal, SparsePoints
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.imitated import noisy
from spatial_engine.rendering.rooms import random_room
from tests.experts.rendered_objects import as_detected

SOURCE = Provenance(expert="test", version="1")
SETTINGS, LIMITS = ObjectSettings(), ConfirmationSettings()


@cache
def rendered(seed: int) -> tuple[RenderedScene, Clip, dict[str, Signal]]:
    scene = random_room(np.random.default_rng(seed), frames=8, width_px=160, height_px=120)
    clip = as_clip(scene)
    return scene, clip, true_signals(scene, clip)


class Room:
    """A room, exact detections of its objects, and where each of them is."""

    def __init__(self, seed: int, score: float = np.nan, box_only: bool = False) -> None:
        self.scene, self.clip, signals = rendered(seed)
        self.signals: dict[str, Signal] = dict(signals)
        depth: Any = self.signals["depth"]
        self.signals["depth"] = noisy(depth, np.random.default_rng(seed), 0.01, 0.005)
        self.signals.pop("objects")
        self.objects = self.scene.objects
        self.names = sorted({one.name for one in self.objects})
        label = [self.names.index(one.name) for one in self.objects]
        self.true_ids = [self.scene.object_ids(int(f)) for f in self.clip.frames]
        self.found: dict[int, SegmentedFrame] = {}
        for frame, ids in zip(self.clip.frames.tolist(), self.true_ids, strict=True):
            one, _ = as_detected(ids, label, score, min_px=60)
            self.found[frame] = replace(one, box_only=np.ones(len(one.detections.scores), bool)) if box_only else one

    def made(self, *names: str) -> Objects:
        known = {name: self.signals[name] for name in names}
        found = objects_of(self.clip, known, self.found, self.names, SETTINGS, SOURCE)
        assert found is not None
        return found

    def true_of(self, found: Objects, k: int) -> int:
        """The object that an object of the result shows."""
        shown = [
            ids[found.ids[n] == k] if (found.ids[n] == k).any() else ids[slice_of(found.box_px[n, k])].ravel()
            for n, ids in enumerate(self.true_ids)
            if (found.ids[n] == k).any() or (found.box_px is not None and np.isfinite(found.box_px[n, k]).all())
        ]
        pixels = np.concatenate(shown)
        pixels = pixels[(pixels >= 0)]
        same = [i for i in pixels.tolist() if self.objects[i].name == found.labels[k]]
        return int(np.bincount(same).argmax())


def slice_of(box: np.ndarray) -> tuple[slice, slice]:
    (left, top), (right, bottom) = np.round(box + 0.5).astype(int)
    return slice(top, bottom), slice(left, right)


def triangulated(scene: RenderedScene, signals: dict[str, Signal], rng: np.random.Generator) -> SparsePoints:
    """Points of random pixels, with exact observations in all frames that see them."""
    depth: Any = signals["depth"]
    path: Any = signals["camera_path"]
    camera = path.intrinsics
    xyz, point, frame, xy_px = [], [], [], []
    for start in (0, len(depth.frames) // 2):
        pixels = rng.uniform([0, 0], [camera.width_px - 1, camera.height_px - 1], (1500, 2)).round()
        rays = camera.rays(pixels)
        z = scene.depth(int(depth.frames[start]))[pixels[:, 1].astype(int), pixels[:, 0].astype(int)]
        pose = path.world_from_cam[start]
        xyz.append((rays / rays[:, 2:] * z[:, None]) @ pose[:3, :3].T + pose[:3, 3])
    world = np.concatenate(xyz)
    for n, f in enumerate(depth.frames):
        pose = path.world_from_cam[n]
        cam = (world - pose[:3, 3]) @ pose[:3, :3]
        xy = camera.project(cam)
        at = np.round(np.nan_to_num(xy)).astype(int).clip(0, [camera.width_px - 1, camera.height_px - 1])
        seen = camera.contains(xy) & (np.abs(scene.depth(int(f))[at[:, 1], at[:, 0]] / cam[:, 2] - 1) < 0.01)
        point.append(np.flatnonzero(seen))
        frame.append(np.full(seen.sum(), f))
        xy_px.append(xy[seen])
    return SparsePoints(
        xyz_world=world,
        range_relative_sigma=np.full(len(world), 0.01),
        triangulation_angle_rad=np.full(len(world), 0.1),
        outlier_probability=np.zeros(len(world)),
        observation_point=np.concatenate(point),
        observation_frame=np.concatenate(frame).astype(np.int64),
        observation_xy_px=np.concatenate(xy_px),
        provenance=SOURCE,
    )


def place_errors(room: Room, found: Objects) -> np.ndarray:
    """Errors of the worst axis over σ; heaps of several plants have no one place."""
    assert found.centre_sigma is not None
    errors = []
    for k, label in enumerate(found.labels):
        true = room.scene.world_from_objects(0)[room.true_of(found, k), :3, 3]
        if label != "plant":
            errors.append(np.abs(found.world_from_object[0, k, :3, 3] - true).max() / found.centre_sigma[k])
    return np.array(errors)


@pytest.mark.long(sample=True)
@pytest.mark.parametrize("box_only", [False, True])
@pytest.mark.parametrize("source", ["depth", "sparse_points"])
def test_every_source_gives_a_place_within_its_sigma(source: str, box_only: bool) -> None:
    errors = []
    for seed in range(4):
        room = Room(seed, box_only=box_only)
        room.signals["sparse_points"] = triangulated(room.scene, room.signals, np.random.default_rng(seed))
        found = room.made("camera_path", "gravity", source)
        assert found.size is not None and found.size_sigma is not None and found.outlier_probability is not None
        if source == "depth" and not box_only:
            assert np.isfinite(found.size).all(axis=1).mean() > 0.5
            assert found.outlier_probability.min() == LIMITS.floor
        else:  # no size, so no box that could cover the mask
            assert np.isnan(found.size).all() and np.isinf(found.size_sigma[np.isfinite(found.centre_sigma)]).all()
            assert found.outlier_probability.min() == LIMITS.floor  # but its place lies in its outlines
        errors.append(place_errors(room, found))
    shares = np.concatenate(errors)
    placed = np.isfinite(shares)
    assert placed.mean() > 0.8 and (shares[placed] < 1).mean() > 0.6 and (shares[placed] < 3).mean() > 0.97


def test_boxes_have_no_pixels_and_masks_have_no_boxes() -> None:
    boxes, masks = Room(0, box_only=True).made(), Room(0).made()
    assert (boxes.ids == -1).all() and boxes.box_px is not None and np.isfinite(boxes.box_px).any(axis=(0, 2, 3)).all()
    assert (masks.ids >= 0).any() and masks.box_px is None
    for found in (boxes, masks):  # neither path nor depth: no place, and nothing confirms them
        assert np.isnan(found.world_from_object).all()
        assert found.outlier_probability is not None
        assert found.outlier_probability == pytest.approx(LIMITS.floor + 2 * LIMITS.missing)


def test_a_score_below_one_makes_the_name_doubtful_and_not_the_place() -> None:
    for score, least in ((0.9, 0.1), (1.0, LIMITS.floor)):
        found = Room(0, score=score).made("camera_path", "gravity", "depth")
        assert found.outlier_probability is not None and found.name_outlier_probability is not None
        assert found.outlier_probability.min() == LIMITS.floor
        assert found.name_outlier_probability == pytest.approx(least, abs=1e-6)


def test_a_camera_that_stands_still_confirms_no_place() -> None:
    room = Room(0)
    path: Any = room.signals["camera_path"]
    here = np.tile(path.world_from_cam[:1], (len(path.frames), 1, 1))
    room.signals["camera_path"] = replace(path, world_from_cam=here, motion="static")
    depth: Any = room.signals["depth"]
    room.signals["depth"] = replace(depth, z=np.tile(depth.z[:1], (len(depth.z), 1, 1)))
    room.found = dict.fromkeys(room.found, room.found[0])
    found = room.made("camera_path", "gravity", "depth")
    assert found.outlier_probability is not None
    assert found.outlier_probability.min() == pytest.approx(LIMITS.floor + LIMITS.missing)


def test_a_mask_that_its_box_does_not_cover_is_not_confirmed() -> None:
    """The mask of a cupboard that also takes a patch of the wall far beside it."""
    room = Room(0)
    k = int(np.bincount(room.true_ids[0][room.true_ids[0] >= 0]).argmax())
    label = room.names.index(room.objects[k].name)
    for frame, one in room.found.items():
        (row,) = np.flatnonzero(one.detections.label == label)[:1]
        ids = one.ids.copy()
        free = (ids < 0) & (np.arange(ids.shape[1]) % 2 == 0)
        ids[free] = row
        room.found[frame] = replace(one, ids=ids)
    found = room.made("camera_path", "gravity", "depth")
    assert found.outlier_probability is not None
    mine = found.labels.index(room.objects[k].name)
    assert found.outlier_probability[mine] >= LIMITS.floor + LIMITS.missing


def test_points_that_disagree_give_no_place() -> None:
    """A box through whose middle the wall behind is seen."""
    room = Room(0, box_only=True)
    depth: Any = room.signals["depth"]
    z = depth.z.copy()
    z[:, ::2] *= 3
    room.signals["depth"] = replace(depth, z=z)
    assert np.isnan(room.made("camera_path", "gravity", "depth").world_from_object).all()
