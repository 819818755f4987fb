"""Depth, ids, poses and pictures of one scene must tell the same story."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from spatial_engine.rendering import Effects, RenderedScene, camera_paths
from spatial_engine.rendering.boxes import Box
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furniture import CEILING, OAK, room
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import camera

MIRROR = np.diag([-1.0, 1, 1, 1])


def small_room(seed: int, **changes: object) -> RenderedScene:
    """A random room, 96 × 72, 12 frames."""
    return random_room(np.random.default_rng(seed), frames=12, width_px=96, height_px=72, **changes)


def empty_room(**changes: object) -> RenderedScene:
    """4 × 4 × 2.5 m, the camera in the middle of it, level, towards +y."""
    walls = room((4.0, 4.0, 2.5), OAK, (OAK, OAK, OAK, OAK), CEILING)
    path = camera_paths.static(2, Stance(at_m=(2.0, 2.0, 1.25)))
    scene = RenderedScene(
        intrinsics=camera(64, 48, vfov_deg=90), room=walls, boxes=(), world_from_cam=path, fps=10, texel_m=0.04
    )
    return replace(scene, **changes)


def unprojected(scene: RenderedScene, frame: int) -> np.ndarray:
    """World points of all pixels, (h, w, 3)."""
    lens = scene.camera(frame)
    x, y = np.meshgrid(np.arange(lens.width_px), np.arange(lens.height_px))
    rays = lens.rays(np.stack([x, y], axis=-1).astype(float))
    in_cam = rays / rays[..., 2:] * scene.depth(frame)[..., None]
    return in_cam @ scene.world_from_cam[frame, :3, :3].T + scene.world_from_cam[frame, :3, 3]


def seen_again(scene: RenderedScene, a: int, b: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where frame b sees the points of frame a (pixels), at what depth, and which are in view and not hidden."""
    ids = scene.ids(a)
    points = np.concatenate([unprojected(scene, a), np.ones((*ids.shape, 1))], axis=-1)
    moved = scene.world_from_boxes(b) @ np.linalg.inv(scene.world_from_boxes(a))
    moved = np.concatenate([np.eye(4)[None], moved])[ids + 1]
    in_cam = (np.linalg.inv(scene.world_from_cam[b]) @ moved @ points[..., None])[..., :3, 0]
    xy = scene.camera(b).project(in_cam)
    inside = scene.camera(b).contains(xy, 1.0)
    depth = cv2.remap(scene.depth(b), np.nan_to_num(xy).astype(np.float32), None, cv2.INTER_LINEAR)
    return xy, in_cam[..., 2], inside & (np.abs(depth / in_cam[..., 2] - 1) < 0.01)


def test_a_wall_straight_ahead_has_one_depth() -> None:
    depth = empty_room().depth(0)
    assert np.allclose(depth[20:28, 28:36], 2.0, atol=1e-5)
    assert np.isfinite(depth).all()
    assert (empty_room().ids(0) == -1).all()


@pytest.mark.parametrize("k1", [0.0, 0.08, -0.05])
def test_every_point_lies_on_the_room(k1: float) -> None:
    scene = empty_room()
    scene = replace(scene, intrinsics=replace(scene.intrinsics, k1=k1))
    share = np.abs(unprojected(scene, 0) - [2.0, 2.0, 1.25]) / scene.room.half_m
    assert np.allclose(share.max(axis=-1), 1.0, atol=1e-5)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_points_land_on_the_same_thing_in_another_frame(seed: int) -> None:
    scene = small_room(seed, moving_object=True)
    ids_a, ids_b = scene.ids(2), scene.ids(9)
    xy, _, visible = seen_again(scene, 2, 9)
    assert visible.mean() > 0.3
    column, row = np.round(xy[visible]).astype(int).T
    near = np.stack([ids_b[row + dy, column + dx] for dy in (-1, 0, 1) for dx in (-1, 0, 1)])
    inner = np.all(near == near[0], axis=0)
    assert inner.mean() > 0.5
    assert (near[0] == ids_a[visible])[inner].mean() > 0.995  # a thin thing can hide between pixel centres


def test_pictures_agree_where_points_agree() -> None:
    scene = small_room(1, moving_object=True)
    xy, _, visible = seen_again(scene, 4, 6)
    warped = cv2.remap(scene.picture(6), np.nan_to_num(xy).astype(np.float32), None, cv2.INTER_LINEAR)
    error = np.abs(warped.astype(float) - scene.picture(4))[visible].mean()
    unwarped = np.abs(scene.picture(6).astype(float) - scene.picture(4))[visible].mean()
    assert error < 5
    assert error < 0.5 * unwarped


def test_a_mirrored_scene_gives_mirrored_depth_and_ids() -> None:
    scene = small_room(5, moving_object=True)

    def mirrored(box: Box) -> Box:
        return replace(box, world_from_box=MIRROR @ box.world_from_box @ MIRROR)

    mirror = replace(
        scene,
        room=mirrored(scene.room),
        boxes=tuple(mirrored(b) for b in scene.boxes),
        moving_boxes=tuple(replace(m, world_from_box=MIRROR @ m.world_from_box @ MIRROR) for m in scene.moving_boxes),
        world_from_cam=MIRROR @ scene.world_from_cam @ MIRROR,
    )
    assert np.mean(mirror.ids(7) == scene.ids(7)[:, ::-1]) > 0.999
    assert np.median(np.abs(mirror.depth(7) - scene.depth(7)[:, ::-1])) < 1e-5


def test_same_seed_same_bytes() -> None:
    noisy = Effects(noise_grey=3.0, blur_px=0.6, exposure_drift=0.2)
    a, b = small_room(2, effects=noisy), small_room(2, effects=noisy)
    assert a.picture(3).tobytes() == b.picture(3).tobytes()
    assert a.picture(3).tobytes() != replace(a, seed=a.seed + 1).picture(3).tobytes()
    assert small_room(2).picture(3).tobytes() != small_room(3).picture(3).tobytes()


@pytest.mark.parametrize("seed", [4, 7, 8])
def test_only_the_mover_moves(seed: int) -> None:
    scene = small_room(seed, moving_object=True, path=camera_paths.static)
    first, last = scene.ids(0), scene.ids(11)
    crate = len(scene.labels) - 1
    assert scene.labels[crate] == "crate"
    travelled = np.ptp(scene.moving_boxes[0].world_from_box[:, :3, 3], axis=0)
    assert np.linalg.norm(travelled) > 0.6
    still = (first != crate) & (last != crate)
    assert min(np.mean(first == crate), np.mean(last == crate)) > 0.02
    assert not np.array_equal(first == crate, last == crate)
    assert np.array_equal(first[still], last[still])
    assert np.array_equal(scene.depth(0)[still], scene.depth(11)[still])


def test_a_rolling_shutter_reads_each_row_at_its_own_time() -> None:
    path = camera_paths.primitive("truck", 1.0, 12, Stance(at_m=(1.5, 0.5, 1.2)))
    scene = replace(small_room(6), world_from_cam=path)
    rolling = replace(scene, effects=Effects(rolling_shutter=0.9))
    change = np.abs(rolling.depth(5) - scene.depth(5)).mean(axis=1)
    assert change[34:38].mean() < 0.02
    assert change.mean() > 2 * change[34:38].mean()
    early = rolling._world_from_cam_rows(5)[0, 0, 3]
    assert path[4, 0, 3] < early < path[5, 0, 3]


def test_zoom_enlarges_without_moving() -> None:
    scene = empty_room(effects=Effects(zoom=1.5))
    assert scene.camera(1).fx_px == pytest.approx(1.5 * scene.camera(0).fx_px)
    assert scene.depth(1)[24, 32] == pytest.approx(scene.depth(0)[24, 32])


def test_noise_has_the_given_strength() -> None:
    clean, noisy = empty_room(), empty_room(effects=Effects(noise_grey=4.0))
    difference = noisy.picture(0).astype(float) - clean.picture(0)
    assert 3.5 < difference[clean.picture(0) < 230].std() < 4.5


def test_a_camera_outside_is_refused() -> None:
    path = camera_paths.primitive("dolly", 5.0, 4, Stance(at_m=(2.0, 2.0, 1.25)))
    with pytest.raises(ValueError, match="leaves the room"):
        empty_room(world_from_cam=path)
