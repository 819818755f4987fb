"""Questions about gravity in rendered rooms, answered again by projecting points of the room."""

from collections.abc import Mapping

import numpy as np

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.camera_paths import Poses, Stance, performed
from spatial_engine.rendering.rooms import random_room
from templates.columns import Json
from tests.templates.in_rooms import check, seeds


def seen(scene: RenderedScene, frame: int, xyz: np.ndarray) -> np.ndarray:
    """Pixels of points in the world; NaN behind the camera."""
    pose = scene.world_from_cam[frame]
    return scene.camera(frame).project((xyz - pose[:3, 3]) @ pose[:3, :3])


def at(scene: RenderedScene, frame: int, xy_px: Json) -> np.ndarray:
    """The point of the surfaces that a pixel shows."""
    x, y = np.round(xy_px).astype(int)
    ray = scene.camera(frame).rays(np.array(xy_px))
    pose = scene.world_from_cam[frame]
    return pose[:3, 3] + pose[:3, :3] @ ray / ray[2] * scene.depth(frame)[y, x]


def upwards(scene: RenderedScene, frame: int, xy_px: Json) -> float:
    """Direction in the photo of a short upright stick on what a pixel shows, clockwise from the upper edge."""
    foot = at(scene, frame, xy_px)
    dx, dy = seen(scene, frame, foot + np.array([0, 0, 0.01])) - seen(scene, frame, foot)
    return float(np.degrees(np.arctan2(dx, -dy)))


def rolled(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """A stick in the middle of the photo leans against the roll."""
    camera = scene.camera(fact["frame"])
    lean = upwards(scene, fact["frame"], [camera.cx_px, camera.cy_px])
    expected = "level" if abs(lean) < 3 else "counter-clockwise" if lean > 0 else "clockwise"
    return bool(answer == expected)


def in_order_of_tilt(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By how far what the middle of each photo shows lies above or below the camera."""
    slopes = []
    for frame in fact["frames"]:
        camera = scene.camera(frame)
        away = at(scene, frame, [camera.cx_px, camera.cy_px]) - scene.world_from_cam[frame, :3, 3]
        slopes.append(away[2] / np.hypot(away[0], away[1]))
    return bool(answer == " ".join(str(k + 1) for k in np.argsort(slopes)))


def on_the_horizon(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Far points as high as the camera lie nearest to the line."""
    frame, turn = fact["frame"], np.radians(np.arange(0, 360, 0.5))
    ring = 1e4 * np.column_stack([np.cos(turn), np.sin(turn), 0 * turn]) + scene.world_from_cam[frame, :3, 3]
    xy = seen(scene, frame, ring)
    xy = xy[scene.camera(frame).contains(xy)]
    distances = []
    for start, end in np.array(fact["lines_px"]):
        across = np.array([start[1] - end[1], end[0] - start[0]]) / np.hypot(*(end - start))
        distances.append(np.abs((xy - start) @ across).mean())
    return int(np.argmin(distances)) + 1 == int(answer) and min(distances) < 0.02 * scene.camera(frame).height_px


def points_up(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    dx, dy = (np.array(fact["tips_px"]) - fact["from_px"]).T
    away = np.degrees(np.arctan2(dx, -dy)) - upwards(scene, fact["frame"], fact["from_px"])
    return int(np.abs((away + 180) % 360 - 180).argmin()) + 1 == int(answer)


RIGHT = {
    "roll_side": rolled,
    "tilt_order": in_order_of_tilt,
    "horizon_line": on_the_horizon,
    "up_arrow": points_up,
}


def swaying(n: int, start: Stance) -> Poses:
    """Looks up and down, and rolls to both sides."""
    return performed([(n // 3, {"tilt": 0.2, "roll": 0.3}), (n - n // 3, {"tilt": -0.5, "roll": -0.6})], start)


@seeds(1, 12)
def test_every_answer_is_that_of_the_projected_points(seed: int) -> None:
    scene = random_room(np.random.default_rng(seed), frames=24, width_px=160, height_px=120, path=swaying)
    check(scene, true_signals(scene, as_clip(scene), frames=[0]), RIGHT, {*RIGHT})
