"""Objects in photos, references to them, and how far they are."""

from dataclasses import replace

import numpy as np
import pytest

from experts.objects.object_names import folded
from experts.signals import CameraPath, Objects
from templates.facts import ObjectRefs
from templates.scene.object_boxes import range_to_boxes
from templates.scene.objects import found_again, objects_in_photos, seen_objects
from templates.scene.scene import Scene
from tests.templates import worlds

NAMES = ("chair", "chair", "chair", "table", "sofa", "lamp", "lamp", "box")
HEIGHT, WIDTH = 120, 160


def masked(rng: np.random.Generator) -> Objects:
    """Rectangles that may hide each other, in one photo."""
    ids = np.full((1, HEIGHT, WIDTH), -1, dtype=np.int32)
    for k in range(len(NAMES)):
        left, top = rng.integers(0, WIDTH - 40), rng.integers(0, HEIGHT - 40)
        ids[0, top : top + rng.integers(12, 40), left : left + rng.integers(12, 40)] = k
    return Objects(
        frames=np.array([0]),
        labels=NAMES,
        ids=ids,
        world_from_object=np.broadcast_to(np.eye(4), (1, len(NAMES), 4, 4)).copy(),
        provenance=worlds.SOURCE,
        size=np.ones((len(NAMES), 3)),
    )


def boxed(rng: np.random.Generator) -> Objects:
    """Boxes ahead of the first camera, without masks."""
    poses = np.broadcast_to(np.eye(4), (1, len(NAMES), 4, 4)).copy()
    poses[0, :, :3, 3] = np.column_stack([rng.uniform(-1.5, 1.5, (len(NAMES), 2)), rng.uniform(4, 8, len(NAMES))])
    none = np.full((1, 1, 1), -1, dtype=np.int32)
    size = rng.uniform(0.2, 0.9, (len(NAMES), 3))
    found = replace(masked(rng), ids=none, world_from_object=poses, size=size, labels=NAMES)
    return replace(found, centre_sigma=np.full(len(NAMES), 0.05), size_sigma=np.full((len(NAMES), 3), 0.05))


def _path() -> CameraPath:
    """That of the small world, from the origin on."""
    path = worlds.signals()["camera_path"]
    assert isinstance(path, CameraPath)
    return replace(path, world_from_cam=np.linalg.inv(path.world_from_cam[0]) @ path.world_from_cam)


PATH = _path()


def scene(objects: Objects) -> Scene:
    return worlds.scene({"camera_path": PATH, "objects": objects})


def permuted(objects: Objects, order: np.ndarray, rng: np.random.Generator) -> Objects:
    """The objects in another order, with noise of a pixel at the borders of masks, or of a few centimetres."""
    place = np.argsort(order)
    ids = objects.ids.copy()
    shifted = np.roll(ids, rng.integers(-1, 2, 2), axis=(1, 2))
    noisy = np.where(rng.random(ids.shape) < 0.5, ids, shifted)
    poses = objects.world_from_object[:, order].copy()
    poses[..., :3, 3] += rng.normal(scale=0.02, size=poses[..., :3, 3].shape)
    return replace(
        objects,
        labels=tuple(objects.labels[k] for k in order),
        ids=np.where(noisy >= 0, place[noisy], -1).astype(np.int32),
        world_from_object=poses,
        size=objects.size[order],
        centre_sigma=None if objects.centre_sigma is None else objects.centre_sigma[order],
        size_sigma=None if objects.size_sigma is None else objects.size_sigma[order],
    )


@pytest.mark.parametrize(("make", "least"), [(masked, 0.8), (boxed, 0.4)])
@pytest.mark.parametrize("scenes", [100, pytest.param(1000, marks=pytest.mark.long(sample=False))])
def test_a_reference_finds_the_same_object_or_none_in_permuted_noisy_scenes(make, least: float, scenes: int) -> None:
    found = count = 0
    for seed in range(scenes):
        rng = np.random.default_rng(seed)
        objects, order = make(rng), rng.permutation(len(NAMES))
        seen = seen_objects(scene(objects))
        again = found_again(scene(permuted(objects, order, rng)), seen.refs())
        hit = again >= 0
        assert (order[again[hit]] == seen.object[hit]).all(), f"seed {seed}: another object"
        found, count = found + int(hit.sum()), count + len(hit)
    assert found > least * count


def test_what_stands_for_an_object_lies_deep_inside_it() -> None:
    objects = masked(np.random.default_rng(3))
    seen = seen_objects(scene(objects))
    scale = np.array([640, 480]) / [WIDTH, HEIGHT]
    for row in range(len(seen)):
        x, y = np.round((seen.inside_px[row] + 0.5) / scale - 0.5).astype(int)
        assert objects.ids[0, y, x] == seen.object[row]
        ys, xs = np.nonzero(objects.ids[0] == seen.object[row])
        np.testing.assert_allclose(seen.box_px[row, 0], np.array([xs.min(), ys.min()]) * scale - 0.5)
        np.testing.assert_allclose(seen.box_px[row, 1], np.array([xs.max() + 1, ys.max() + 1]) * scale - 0.5)


def test_boxes_without_masks_or_places_are_seen_as_they_were_detected() -> None:
    boxes = np.full((1, len(NAMES), 2, 2), np.nan)
    boxes[0, :3] = [[[10, 20], [200, 300]], [[0, 5], [60, 70]], [[500, 300], [639, 460]]]
    ids = np.full((1, 1, 1), -1, dtype=np.int32)
    objects = replace(masked(np.random.default_rng(0)), ids=ids, box_px=boxes, size=None)
    here = scene(replace(objects, world_from_object=np.full((1, len(NAMES), 4, 4), np.nan)))
    seen = seen_objects(here)
    assert seen.object.tolist() == [0, 1, 2] and seen.is_cut.tolist() == [False, True, True]
    assert seen.box_px[0].tolist() == boxes[0, 0].tolist() and np.isnan(seen.depth_px).all()
    assert found_again(here, seen.refs()).tolist() == [0, 1, 2]


def test_a_photo_without_masks_shows_nothing_if_others_have_masks() -> None:
    objects = boxed(np.random.default_rng(1))
    two = replace(
        objects,
        frames=worlds.FRAMES[:2],
        ids=np.concatenate([masked(np.random.default_rng(1)).ids, np.full((1, HEIGHT, WIDTH), -1, dtype=np.int32)]),
        world_from_object=np.concatenate([objects.world_from_object] * 2),
    )
    assert len(seen_objects(scene(objects))), "boxes alone are projected"
    for seen in (seen_objects(scene(two)), objects_in_photos(scene(two))):
        assert {*seen.frame.tolist()} == {0}


def test_a_wrong_name_photo_or_pixel_finds_nothing() -> None:
    objects = masked(np.random.default_rng(5))
    here = scene(objects)
    refs = seen_objects(here).refs()
    assert (found_again(here, refs) >= 0).all()
    assert (found_again(here, replace(refs, name=np.array(["elephant"] * len(refs)))) == -1).all()
    assert (found_again(here, replace(refs, frame=refs.frame + 7)) == -1).all()
    assert (found_again(here, replace(refs, inside_px=refs.inside_px * 0 - 5)) == -1).all()
    assert len(found_again(here, ObjectRefs.none())) == 0
    assert (found_again(worlds.scene({"camera_path": PATH}), refs) == -1).all()


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Couch", "sofa"), ("TV_set", "television"), ("chair_12", "chair"), ("<b>Chair</b> 3", "chair"), ("椅子", ""),
        ("TV_monitor", ""), ("table/desk", ""), ("plant pot", ""), ("", ""),
    ],
)  # fmt: skip
def test_names_are_folded(given: str, name: str) -> None:
    assert folded(given) == name


def test_the_distance_to_a_box_is_that_of_its_nearest_point() -> None:
    objects = boxed(np.random.default_rng(1))
    here = scene(objects)
    every = np.arange(len(NAMES))
    ranges, sigma = range_to_boxes(here, np.zeros(len(NAMES), dtype=np.int64), every)
    for k in every:
        grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 41)] * 3), axis=-1).reshape(-1, 3) * objects.size[k]
        points = grid + objects.world_from_object[0, k, :3, 3]
        assert ranges[k] == pytest.approx(np.linalg.norm(points, axis=1).min(), rel=2e-3)
    assert (sigma > 0.05).all()
    assert np.isnan(range_to_boxes(here, np.zeros(1, dtype=np.int64), np.array([-1]))[0]).all()
