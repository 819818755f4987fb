"""Floor, walls and free floor of rendered rooms."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.rooms.room import RoomExpert
from experts.signals import CameraPath, Depth, Gravity, NoEstimate, Room, Scale, Signal
from spatial_engine.rendering.camera_paths import Poses, Stance, poses
from spatial_engine.rendering.clips import as_clip
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.scene import RenderedScene
from spatial_engine.rendering.truth import true_signals

Signals = Mapping[str, Signal]


def look_round(n: int, start: Stance) -> Poses:
    """A full turn on a small loop."""
    t = np.linspace(0, 1, n)
    at = np.array(start.at_m) + np.stack([0.25 * np.sin(2 * np.pi * t), 0.3 + np.sin(np.pi * t), 0 * t], axis=1)
    return poses(at, start.yaw_rad + 2 * np.pi * t, -0.15 + 0.15 * np.sin(5 * t), 0.03 * np.sin(7 * t))


@cache
def rendered(seed: int, path=look_round) -> tuple[RenderedScene, Clip, Signals]:
    scene = random_room(np.random.default_rng(seed), frames=20, width_px=160, height_px=120, path=path)
    clip = as_clip(scene)
    return scene, clip, true_signals(scene, clip)


def room_of(clip: Clip, signals: Signals) -> Room:
    found = RoomExpert()(clip, signals)["room"]
    assert isinstance(found, Room), found
    return found


def in_world(room: Room, xy: np.ndarray) -> np.ndarray:
    flat = np.column_stack([xy, np.zeros(len(xy)), np.ones(len(xy))])
    return (flat @ room.world_from_floor.T)[:, :2]


def wall_errors(scene: RenderedScene, room: Room) -> list[tuple[float, float]]:
    """Largest distance of the ends of each seen wall from the nearest wall of the room, and its σ."""
    corners, size = in_world(room, room.outline), scene.room.size_m
    errors = []
    for k in np.flatnonzero(np.isfinite(room.wall_sigma)):
        ends = corners[[k, (k + 1) % len(corners)]]
        errors.append((min(np.abs(ends[:, a] - at).max() for a in (0, 1) for at in (0, size[a])), room.wall_sigma[k]))
    return errors


def noisy(signals: Signals, rng: np.random.Generator, common: float, pixel: float) -> Signals:
    """Depth that is wrong by one factor, and by one for each pixel; up that is wrong by 1° per axis."""
    depth, gravity, path = signals["depth"], signals["gravity"], signals["camera_path"]
    assert isinstance(depth, Depth) and isinstance(gravity, Gravity) and isinstance(path, CameraPath)
    factor = (1 + common * rng.standard_normal()) * (1 + pixel * rng.standard_normal(depth.z.shape))
    sigma = np.full(depth.z.shape, np.hypot(common, pixel), np.float32)
    tilt = np.deg2rad(1)
    up = Rotation.from_rotvec([*(tilt * rng.standard_normal(2)), 0]).apply([0, 0, 1])
    return {
        **signals,
        "depth": replace(depth, z=(depth.z * factor).astype(np.float32), relative_sigma=sigma),
        "gravity": replace(gravity, up_cam=up @ path.world_from_cam[:, :3, :3], sigma_rad=0 * gravity.sigma_rad + tilt),
    }


def test_exact_rooms_are_measured_to_millimetres():
    for seed in (1000, 1001):
        scene, clip, signals = rendered(seed)
        room = room_of(clip, signals)
        x, y, _ = scene.room.size_m
        assert abs(room.world_from_floor[2, 3]) < 0.01
        assert len(room.outline) == 4 and np.isfinite(room.wall_sigma).all()
        assert max(error for error, _ in wall_errors(scene, room)) < 0.003
        a, b = room.outline.T
        assert np.sum(a * np.roll(b, -1) - np.roll(a, -1) * b) / 2 == pytest.approx(x * y, rel=0.002), "anticlockwise"


@pytest.mark.long(sample=True)
def test_errors_of_noisy_depth_are_about_sigma():
    errors, floors = [], []
    for seed in range(1000, 1006):
        scene, clip, signals = rendered(seed)
        room = room_of(clip, noisy(signals, np.random.default_rng(seed), 0.02, 0.01))
        errors += [error / sigma for error, sigma in wall_errors(scene, room)]
        floors.append(abs(room.world_from_floor[2, 3]) / room.floor_sigma)
    assert len(errors) >= 20
    assert 0.3 < np.sqrt(np.mean(np.square(errors))) < 1.6
    assert 0.2 < np.sqrt(np.mean(np.square(floors))) < 1.8
    assert max(errors) < 4


def test_sides_on_which_no_wall_is_seen_say_so():
    scene, clip, signals = rendered(1000, path=None)  # looks ahead only
    room = room_of(clip, signals)
    assert np.isinf(room.wall_sigma).sum() >= 1
    assert np.isfinite(room.wall_sigma).sum() >= 2
    assert max(error for error, _ in wall_errors(scene, room)) < 0.003


def test_free_floor_is_free():
    scene, clip, signals = rendered(1001)
    room = room_of(clip, signals)
    rows, columns = np.nonzero(room.cells == 1)
    xy = in_world(room, room.cells_from + room.cell * (np.stack([columns, rows], axis=1) + 0.5))
    assert len(xy) > 300
    assert ((xy > 0) & (xy < scene.room.size_m[:2])).all()
    taken = np.zeros(len(xy), dtype=bool)
    for box in scene.boxes:
        if box.world_from_box[2, 3] - box.half_m[2] < 0.3 and box.size_m[2] > 0.1:  # stands on the floor
            local = np.column_stack([xy, np.zeros(len(xy)), np.ones(len(xy))]) @ np.linalg.inv(box.world_from_box).T
            taken |= (np.abs(local[:, :2]) < box.half_m[:2] - 0.05).all(axis=1)
    assert taken.mean() < 0.01
    assert (room.cells == 2).sum() > 100


@pytest.mark.parametrize("factor", [0.1, 7.0])
def test_without_metres_the_room_has_the_unit_of_the_path(factor):
    scene, clip, signals = rendered(1000)
    path, depth = signals["camera_path"], signals["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    moved = path.world_from_cam.copy()
    moved[:, :3, 3] *= factor
    relative = Scale(kind="relative")
    scaled = {
        "camera_path": replace(path, world_from_cam=moved, scale=relative),
        "depth": replace(depth, z=depth.z * np.float32(factor), scale=relative),
    }
    room = room_of(clip, {**signals, **scaled})
    x, y = np.ptp(room.outline, axis=0) / factor
    assert sorted([x, y]) == pytest.approx(sorted(scene.room.size_m[:2]), rel=0.003)
    assert room.cell / factor == pytest.approx(0.1, rel=0.3)


def test_the_choice_of_world_does_not_matter():
    _, clip, signals = rendered(1001)
    path, gravity = signals["camera_path"], signals["gravity"]
    assert isinstance(path, CameraPath) and isinstance(gravity, Gravity)
    turn = np.eye(4)
    turn[:3, :3], turn[:3, 3] = Rotation.from_rotvec([1.0, -0.5, 2.0]).as_matrix(), [5, -2, 3]
    room = room_of(clip, signals)
    other = room_of(clip, {**signals, "camera_path": replace(path, world_from_cam=turn @ path.world_from_cam)})
    corners, others = (
        np.column_stack([r.outline, np.zeros(len(r.outline)), np.ones(len(r.outline))]) @ r.world_from_floor.T
        for r in (room, other)
    )
    distance = np.linalg.norm((corners @ turn.T)[:, None] - others[None], axis=2)
    assert distance.min(axis=1).max() < 0.005


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"camera_path": NoEstimate(reason="too little parallax")}, "there is no camera path"),
        ({"gravity": NoEstimate(reason="no lines")}, "up is not known"),
        ({"depth": NoEstimate(reason="no")}, "there is neither depth nor enough sparse points"),
    ],
)
def test_without_what_it_needs_there_is_no_room(changed, reason):
    _, clip, signals = rendered(1000)
    found = RoomExpert()(clip, {**signals, **changed})["room"]
    assert isinstance(found, NoEstimate) and found.reason == reason


def test_a_camera_that_sees_no_floor_knows_no_room():
    def at_the_ceiling(n: int, start: Stance) -> Poses:
        t = np.linspace(0, 1, n)
        return poses(np.array(start.at_m) + np.outer(t, [0, 0.5, 0]), start.yaw_rad + 0 * t, 0.6 + 0 * t, 0 * t)

    _, clip, signals = rendered(1000, path=at_the_ceiling)
    found = RoomExpert()(clip, signals)["room"]
    assert isinstance(found, NoEstimate) and "floor" in found.reason


def test_a_table_is_no_floor():
    """Depth is known only from 0.35 m above the floor upwards: the lowest level planes are tables and seats."""
    _, clip, signals = rendered(1000)
    depth, path = signals["depth"], signals["camera_path"]
    assert isinstance(depth, Depth) and isinstance(path, CameraPath)
    y, x = np.mgrid[: depth.z.shape[1], : depth.z.shape[2]]
    rays = path.intrinsics.rays(np.stack([x, y], axis=-1).astype(float))
    up = path.world_from_cam[:, None, None, 2]
    height = up[..., 3] + np.sum(rays / rays[..., 2:] * up[..., :3], axis=-1) * depth.z
    high = replace(depth, z=np.where(height > 0.35, depth.z, np.float32("nan")))
    found = RoomExpert()(clip, {**signals, "depth": high})["room"]
    assert isinstance(found, NoEstimate), found


@pytest.mark.parametrize("factor", [np.nan, 0.0, 1e-3, 1e3, 1e9])
def test_depth_that_fits_no_room_gives_none(factor):
    _, clip, signals = rendered(1000)
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    found = RoomExpert()(clip, {**signals, "depth": replace(depth, z=depth.z * np.float32(factor))})["room"]
    assert isinstance(found, NoEstimate)
