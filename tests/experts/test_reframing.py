"""Signals of a rendered scene in other pictures: what they say about the world is what they said before."""

from dataclasses import replace

import numpy as np
import pytest

from experts.reframing import Reframing, reframed_clip, reframed_signals
from experts.signals import CameraPath, Depth, Matches, Objects, PathOnTracks, PointTracks, SparsePoints
from spatial_engine.rendering import as_clip, true_signals
from templates.scene.scenes import scenes_of
from tests.spatial_engine.rendered_store import MADE, all_signals, short_demo

CROP = Reframing(crop_px=(16, 10, 128, 100), size_px=(128, 100))
SCALE = Reframing(crop_px=(0, 0, 160, 120), size_px=(80, 60))
BARS = Reframing(crop_px=(0, 0, 160, 120), size_px=(160, 120), bars_px=(0, 20))
ALL = Reframing(crop_px=(20, 20, 120, 80), size_px=(90, 60), bars_px=(15, 5))
WAYS = {"crop": CROP, "scale": SCALE, "bars": BARS, "all": ALL}


@pytest.fixture(scope="module")
def known():
    scene = short_demo(4)
    clip = as_clip(scene)
    return clip, all_signals(scene, clip, 1)


@pytest.mark.parametrize("way", WAYS)
def test_pixels_show_the_same_places(known, way: str) -> None:
    clip, signals = known
    by = WAYS[way]
    new, moved = reframed_clip(clip, by, "other"), reframed_signals(signals, clip, by)
    before, after = (scenes_of(*each)[0] for each in ((clip, true_only(signals)), (new, true_only(moved))))
    rng, count = np.random.default_rng(0), 500
    xy = rng.uniform([0, 0], [new.width_px - 1, new.height_px - 1], size=(count, 2))
    frames = rng.choice(clip.frames, count)
    old = (xy - by.bars_px + 0.5) / by.zoom - 0.5 + by.crop_px[:2]
    shown = by.shows(xy)
    there, here = before.surface(frames, old), after.surface(frames, xy)
    assert np.allclose(by.places(old), xy)
    assert not np.isfinite(here.range[~shown]).any()
    both = shown & np.isfinite(there.range) & np.isfinite(here.range) & (here.range_relative_sigma < 0.01)
    assert both.sum() > 0.2 * shown.sum()
    assert np.allclose(here.xyz_cam[both], there.xyz_cam[both], rtol=0.02, atol=0.02 * there.range[both].max())
    colours = np.abs(picture(new) - by.picture(picture(clip)).astype(float))
    assert colours.max() == 0 and picture(new).shape == (new.height_px, new.width_px, 3)


def true_only(signals):
    return {name: signals[name] for name in ("camera_path", "gravity", "depth", "objects")}


def picture(clip):
    ((_, shown),) = clip.read([0])
    return shown


@pytest.mark.parametrize("way", WAYS)
def test_maps_are_what_the_new_camera_sees(known, way: str) -> None:
    clip, signals = known
    by, scene = WAYS[way], short_demo(4)
    moved = reframed_signals(signals, clip, by)
    depth, objects = moved["depth"], moved["objects"]
    assert isinstance(depth, Depth) and isinstance(objects, Objects)
    other = replace(scene, intrinsics=by.camera(scene.intrinsics))
    true = true_signals(other, replace(clip, width_px=by.whole_px[0], height_px=by.whole_px[1]))
    assert isinstance(true["depth"], Depth) and isinstance(true["objects"], Objects)
    shown = np.isfinite(depth.z)
    near = np.isclose(depth.z[shown], true["depth"].z[shown], rtol=0.02)
    same = objects.ids[shown] == true["objects"].ids[shown]
    least = 0.9999 if by.size_px == by.crop_px[2:] else 0.95  # what is resized differs at edges
    assert near.mean() >= least and same.mean() >= least and shown.mean() > 0.5


@pytest.mark.parametrize("way", WAYS)
def test_a_projected_point_lands_where_the_picture_has_it(known, way: str) -> None:
    _, signals = known
    path, by = signals["camera_path"], WAYS[way]
    assert isinstance(path, CameraPath)
    points = np.random.default_rng(1).normal([0, 0, 3], 0.5, size=(200, 3))
    camera = replace(path.intrinsics, k1=0.05)
    assert np.allclose(by.camera(camera).project(points), by.places(camera.project(points)))
    assert by.camera(camera).width_px == by.whole_px[0]


@pytest.mark.parametrize("way", WAYS)
def test_what_lies_outside_is_gone(known, way: str) -> None:
    clip, signals = known
    by = WAYS[way]
    moved = reframed_signals(signals | {"matches": matches(signals["tracks"])}, clip, by)
    tracks, points, pairs = moved["tracks"], moved["sparse_points"], moved["matches"]
    assert isinstance(tracks, PointTracks) and isinstance(points, SparsePoints) and isinstance(pairs, Matches)
    assert not (tracks.visible & np.isnan(tracks.xy_px).any(axis=-1)).any()
    for xy in (tracks.xy_px[tracks.visible], points.observation_xy_px, pairs.xy_a_px, pairs.xy_b_px):
        assert len(xy) and by.shows(xy).all()
    assert len(points.observation_frame) == len(points.observation_point) and len(pairs.pair) == len(pairs.sigma_px)
    objects, depth = moved["objects"], moved["depth"]
    assert isinstance(objects, Objects) and isinstance(depth, Depth)
    assert objects.ids.shape == depth.z.shape == depth.relative_sigma.shape
    across, down = by.bars_px
    if down:
        assert (objects.ids[:, :down] == -1).all() and np.isnan(depth.z[:, -down:]).all()
    if across:
        assert (objects.ids[:, :, :across] == -1).all()


def matches(tracks: PointTracks) -> Matches:
    seen = np.flatnonzero(tracks.visible[:, 0] & tracks.visible[:, 1])
    return Matches(
        pairs=np.array([tracks.frames[:2]]),
        pair=np.zeros(len(seen), dtype=np.int64),
        xy_a_px=tracks.xy_px[seen, 0].astype(float),
        xy_b_px=tracks.xy_px[seen, 1].astype(float),
        sigma_px=np.full(len(seen), 0.1),
        outlier_probability=np.zeros(len(seen)),
        confirmed_by=np.ones(len(seen), dtype=np.int32),
        provenance=MADE,
    )


@pytest.mark.parametrize("way", WAYS)
def test_tracks_are_as_far_from_the_path_that_is_fitted_to_them_as_before(known, way: str) -> None:
    clip, signals = known
    path, by, before_px = signals["camera_path"], WAYS[way], 0.8
    fitted = PathOnTracks(
        frames=path.frames,
        world_from_cam=path.world_from_cam,
        intrinsics=path.intrinsics,
        residual_px=before_px,
        provenance=path.provenance,
    )
    moved = reframed_signals({**signals, "fitted_path": fitted}, clip, by)
    after, new = moved["fitted_path"], reframed_clip(clip, by, "other")
    assert isinstance(after, PathOnTracks) and after.intrinsics == moved["camera_path"].intrinsics
    assert after.residual_px * new.width_px == pytest.approx(before_px * clip.width_px * by.zoom.mean())


def test_boxes_are_cut_and_vanish() -> None:
    scene = short_demo(2)
    clip = as_clip(scene)
    objects = true_signals(scene, clip)["objects"]
    assert isinstance(objects, Objects)
    boxes = np.full((2, len(objects.labels), 2, 2), np.nan)
    boxes[0, 0], boxes[0, 1] = [[0, 0], [40, 40]], [[0, 0], [9, 9]]
    (moved,) = reframed_signals({"objects": replace(objects, box_px=boxes)}, clip, CROP).values()
    assert isinstance(moved, Objects) and moved.box_px is not None
    assert moved.box_px[0, 0].tolist() == [[0, 0], [24, 30]] and np.isnan(moved.box_px[0, 1]).all()
