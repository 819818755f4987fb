"""Places of marked points over time: those of the moving object, or of the 3-D track."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import PointTracks
from spatial_engine.rendering import as_clip, true_signals
from spatial_engine.rendering.rooms import random_room
from templates.scene.places import places_over_time
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from tests.templates import worlds

ROOM = random_room(np.random.default_rng(3), frames=6, width_px=96, height_px=72, moving_object=True)
MOVER = len(ROOM.objects) - 1


def room() -> Scene:
    clip = as_clip(ROOM)
    (only,) = scenes_of(clip, true_signals(ROOM, clip))
    return only


def test_points_on_a_moving_object_go_with_it() -> None:
    scene = room()
    y, x = (axis.mean() for axis in np.nonzero(ROOM.object_ids(0) == MOVER))
    found = places_over_time(scene, np.array([0]), np.array([[x, y]]), np.array([[0, 3, 5, -1]]))
    first = scene.surface(0, np.array([[x, y]])).xyz_cam[0]
    np.testing.assert_allclose(found.xyz_cam[0, 0], first, atol=1e-6)
    poses = [np.linalg.inv(ROOM.world_from_cam[0]) @ ROOM.world_from_objects(frame)[MOVER] for frame in (0, 3, 5)]
    for k, pose in enumerate(poses):
        expected = pose[:3, :3] @ poses[0][:3, :3].T @ (first - poses[0][:3, 3]) + pose[:3, 3]
        np.testing.assert_allclose(found.xyz_cam[0, k], expected, atol=1e-5)
    assert np.linalg.norm(found.xyz_cam[0, 2] - found.xyz_cam[0, 0]) > 0.05
    assert np.isnan(found.xyz_cam[0, 3]).all() and np.isnan(found.sigma[0, 3])
    wall = np.argwhere(ROOM.object_ids(0) < 0)[0][::-1].astype(float)
    assert np.isnan(places_over_time(scene, np.array([0]), wall[None], np.array([[0, 3]])).sigma).all()


@pytest.mark.parametrize("unit", [1.0, 2.5])
def test_places_of_tracks_are_in_the_axes_of_the_camera_that_marks_them(unit: float) -> None:
    made = worlds.elsewhere(2, unit)
    tracks, here = made["tracks"], worlds.scene(made)
    assert isinstance(tracks, PointTracks)
    frames = worlds.FRAMES[[0, 2, 4]]
    poses = here.world_from_cam(worlds.FRAMES)
    in_first = np.random.default_rng(0).normal(size=(*tracks.visible.shape, 3))
    xyz = np.einsum("ij,tnj->tni", poses[0, :3, :3], unit * in_first) + poses[0, :3, 3]
    sigma = np.full(tracks.visible.shape, 0.03 * unit, dtype=np.float32)
    with_places = replace(tracks, xyz_world=xyz.astype(np.float32), xyz_sigma=sigma)
    rows = np.flatnonzero(np.isfinite(tracks.xy_px[:, 0]).all(axis=1))[:5]
    scene, xy = worlds.scene({**made, "tracks": with_places}), tracks.xy_px[rows, 0]
    scene = replace(scene, signals={name: each for name, each in scene.signals.items() if name != "objects"})
    found = places_over_time(scene, np.full(5, frames[0]), xy, np.tile(frames, (5, 1)))
    np.testing.assert_allclose(found.xyz_cam / unit, in_first[rows][:, [0, 2, 4]], atol=1e-4)
    np.testing.assert_allclose(found.sigma, 0.03 * unit, rtol=1e-5)
    assert np.isnan(places_over_time(here, np.full(5, frames[0]), xy, np.tile(frames, (5, 1))).xyz_cam).all()
