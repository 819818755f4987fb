"""Questions about motion in rendered rooms, answered again from what the pictures show, without the formulas."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.camera_paths import Poses, Stance, performed
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.staged_rooms import busy_room
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface


def heads_for(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """As the camera goes on straight, what lies at the pixel does not move aside."""
    first, later = (scene.world_from_cam[fact[name]] for name in ("frame", "frame_later"))
    camera, step = scene.camera(fact["frame"]), later[:3, 3] - first[:3, 3]
    y, x = np.mgrid[0 : camera.height_px : 7, 0 : camera.width_px : 7].reshape(2, -1)
    z = scene.depth(fact["frame"])[y, x]
    start = np.column_stack([x, y]).astype(float)
    rays = camera.rays(start)
    xyz = rays / rays[:, 2:] * z[:, None]
    shifted = camera.project(xyz - 0.02 * step @ first[:3, :3]) - start
    fixed = np.linalg.norm(shifted, axis=1) * (z / np.median(z))
    across = np.column_stack([-shifted[:, 1], shifted[:, 0]]) / np.maximum(fixed, 1e-9)[:, None]
    meets = np.linalg.lstsq(across, (across * start).sum(axis=1), rcond=None)[0]
    return bool(np.linalg.norm(meets - answer) <= 0.02 * np.hypot(camera.width_px, camera.height_px))


_COMPASS = ("front", "front right", "right", "back right", "back", "back left", "left", "front left")


def middle(scene: RenderedScene, ref: Mapping[str, Json]) -> np.ndarray:
    """The mean of points on the surfaces of an object."""
    return surface(scene, meant(scene, ref), ref["frame"]).mean(axis=0)


def goes(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By someone who stands at the first camera and turns clockwise in steps of 45° until the object's way is ahead."""
    places = [middle(scene, fact[name]) for name in ("first", "second", "third") if fact[name]["frame"] >= 0]
    ahead = scene.world_from_cam[fact["first"]["frame"], :2, 2]
    legs = []
    for start, end in pairwise(places):
        turned = [Rotation.from_euler("z", -45 * k, degrees=True).apply([*ahead, 0]) for k in range(8)]
        legs.append(_COMPASS[int(np.argmax([(end - start) @ each for each in turned]))])
    return bool(answer == ", then ".join(legs))


def comes(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By a tape from the first camera to the middle of the object, at both times."""
    camera = scene.world_from_cam[fact["first"]["frame"], :3, 3]
    places = [middle(scene, fact[name]) for name in ("first", "second")]
    before, after = (np.linalg.norm(place - camera) for place in places)
    share = (after - before) / np.linalg.norm(places[1] - places[0])
    expected = "across" if abs(share) < 0.4 else "comes" if share < -0.85 else "goes" if share > 0.85 else ""
    return bool(answer == expected)


def turns(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the turn of the floor plan that brings its points of the first photo to those of the second."""
    first, second = (
        surface(scene, meant(scene, fact[name]), fact[name]["frame"])[:, :2] for name in ("first", "second")
    )
    a, b = ((points - points.mean(axis=0)) @ [1, 1j] for points in (first, second))
    turn = np.degrees(np.angle(np.vdot(a, b)))
    return bool(answer == ("not" if abs(turn) < 5 else "counterclockwise" if turn > 15 else "clockwise"))


def faster(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    ways = [
        np.linalg.norm(middle(scene, fact[f"{name}_later"]) - middle(scene, fact[name])) for name in ("first", "second")
    ]
    return int(np.argmax(ways)) == int(answer) - 1


def speed(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    places = [middle(scene, fact[name]) for name in ("first", "second")]
    time_s = (fact["second"]["frame"] - fact["first"]["frame"]) / scene.fps
    return abs(answer / (np.linalg.norm(places[1] - places[0]) / time_s) - 1) < 0.1


def camera_speed(scene: RenderedScene, frames: list[int]) -> float:
    """Metres per second. Imitated experts err by 2 % in all lengths (σ)."""
    places = scene.world_from_cam[[frames[0], frames[-1]], :3, 3]
    return float(np.linalg.norm(places[1] - places[0]) / (frames[-1] - frames[0]) * scene.fps)


def flies(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    return bool(answer == pytest.approx(camera_speed(scene, fact["frames"]), rel=0.1, abs=0.006))


def flies_faster(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    return int(np.argmax([camera_speed(scene, fact[name]) for name in ("frames_1", "frames_2")])) == int(answer) - 1


def moves_so(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By where surface points of the first frame go in the picture, and by how much their directions change."""
    first, camera = fact["frames"][0], scene.camera(0)
    y, x = np.mgrid[0 : camera.height_px : 9, 0 : camera.width_px : 9].reshape(2, -1)
    rays = camera.rays(np.column_stack([x, y]).astype(float))
    world = rays / rays[:, 2:] * scene.depth(first)[y, x][:, None] @ scene.world_from_cam[first, :3, :3].T
    shift, parallax = [], []
    for frame in fact["frames"][1:]:
        pose = scene.world_from_cam[frame]
        from_there = world - (pose[:3, 3] - scene.world_from_cam[first, :3, 3])
        moved = camera.project(from_there @ pose[:3, :3])
        shift.append(np.nanmedian(np.linalg.norm(moved - [*zip(x, y, strict=True)], axis=1)))
        across = np.linalg.norm(np.cross(world, from_there), axis=1)
        parallax.append(camera.fx_px * np.median(np.arctan2(across, (world * from_there).sum(axis=1))))
    seen_px = camera.width_px / 160
    return bool(answer == ("travels" if max(parallax) > seen_px else "turns" if max(shift) > 4 * seen_px else "stays"))


RIGHT = {
    "camera_speed": flies,
    "faster_camera": flies_faster,
    "how_it_moves": moves_so,
    "heading_point": heads_for,
    "object_direction": goes,
    "comes_or_goes": comes,
    "object_turns": turns,
    "faster_object": faster,
    "object_speed": speed,
}

ABOUT_CAMERA = {"heading_point", "camera_speed", "faster_camera", "how_it_moves"}


def halting(n: int, start: Stance) -> Poses:
    """Stands, goes ahead, faster and faster, stands again and looks aside."""
    quarter, aside = n // 4, 0.2 if start.yaw_rad < 0 else -0.2
    return performed(
        [
            (quarter, {}),
            (quarter, {"dolly": 0.25, "truck": aside / 2}),
            (quarter, {"dolly": 0.6}),
            (n - 3 * quarter, {"pan": aside}),
        ],
        start,
    )


@seeds(1, 12)
def test_every_answer_is_that_of_the_pictures(seed: int) -> None:
    scene = random_room(np.random.default_rng(seed), frames=48, width_px=160, height_px=120, path=halting)
    about_camera = {name: right for name, right in RIGHT.items() if name in ABOUT_CAMERA}
    check(scene, true_signals(scene, as_clip(scene), stride=8), about_camera, ABOUT_CAMERA)


@seeds(1, 12)
def test_moving_objects_are_seen_to_move_as_their_surfaces_do(seed: int) -> None:
    scene = busy_room(seed)
    about_objects = {name: right for name, right in RIGHT.items() if name not in ABOUT_CAMERA}
    check(scene, true_signals(scene, as_clip(scene), stride=3), about_objects, {*about_objects} if seed == 0 else set())


@seeds(0, 4)
def test_experts_that_take_moving_objects_for_static_ones_ask_nothing_wrong(seed: int) -> None:
    scene = busy_room(seed)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, set())
