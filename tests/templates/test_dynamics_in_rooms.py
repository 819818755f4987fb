"""What would happen next in rendered rooms: answered again by doing it there."""

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.staged_rooms import crossing_room
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_grounding_in_rooms import point


def in_view(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the camera, turned about the axis that points down in its picture."""
    spot = scene.world_from_cam[fact["frame"]] @ [*point(scene, fact["frame"], fact["point_px"]), 1.0]
    if answer in ("yes", "no"):
        return shown_after(scene, fact["frame_turned"], spot, fact["turn_deg"]) == (answer == "yes")
    turns = [sign * abs(fact[name]) for name in ("turn_deg", "other_deg") for sign in (-1, 1)]
    return [turn for turn in turns if shown_after(scene, fact["frame_turned"], spot, turn)] == [int(answer)]


def shown_after(scene: RenderedScene, frame: int, spot: np.ndarray, turn_deg: int) -> bool:
    camera, pose = scene.camera(frame), scene.world_from_cam[frame].copy()
    pose[:3, :3] = Rotation.from_rotvec(turn_deg * pose[:3, 1], degrees=True).as_matrix() @ pose[:3, :3]
    return bool(camera.contains(camera.project((np.linalg.inv(pose) @ spot)[:3])))


def reaches(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By small steps of the camera, as fast as it is in the half second that is not shown."""
    last, after = fact["frames"][-1], fact["frame_after"]
    spot = scene.world_from_cam[last] @ [*point(scene, last, fact["point_px"]), 1.0]
    start, end = scene.world_from_cam[[last, after], :3, 3]
    velocity = (end - start) / (after - last) * scene.fps
    times_s = np.arange(0, 30, 0.01)
    level_s = times_s[np.argmax((spot[:3] - start - times_s[:, None] * velocity) @ velocity < 0)]
    said = fact["seconds"][int(answer) - 1] if isinstance(answer, str) else answer
    return bool(abs(np.log(said / level_s)) < np.log(1.25))


def carried(scene: RenderedScene, frame: int, xy_px: Json, later: int) -> np.ndarray:
    """The pixel in a later picture of what a pixel shows: by the box that carries it."""
    x, y = np.round(xy_px).astype(int)
    carrier = int(scene.ids(frame)[y, x])
    spot = scene.world_from_cam[frame] @ [*point(scene, frame, xy_px), 1.0]
    now, then = scene.world_from_boxes(frame)[carrier], scene.world_from_boxes(later)[carrier]
    cam = (np.linalg.inv(scene.world_from_cam[later]) @ then @ np.linalg.inv(now) @ spot)[:3]
    return np.asarray(scene.camera(later).project(cam))


def arrives(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    there = carried(scene, fact["frames"][-1], fact["point_px"], fact["frame_later"])
    return bool(np.linalg.norm(there - answer) <= 0.01 * np.hypot(*fact["size"]))


def is_first(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By going through the later pictures until one of the points is on the other side of the line."""
    last, (x, _) = fact["frames"][-1], fact["line_px"][0]
    points = [fact[name] for name in ("first_px", "second_px")]
    for later in range(last + 1, len(scene)):
        crossed = [(carried(scene, last, xy, later)[0] - x) * (xy[0] - x) < 0 for xy in points]
        if any(crossed):
            return crossed == [answer == "1", answer == "2"]
    return False


def covers(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the nearest of many points on the surfaces of the object. Imitated experts err by 2 % in all lengths (σ)."""
    frame = fact["object"]["frame"]
    way_m = surface(scene, meant(scene, fact["object"]), frame) - scene.world_from_cam[frame, :3, 3]
    said = fact["speeds"][int(answer) - 1] if isinstance(answer, str) else answer
    return bool(abs(np.log(said * fact["seconds"] / np.linalg.norm(way_m, axis=1).min())) < np.log(1.2))


TURNED = {"view_if": in_view}
BOXED = {"speed_if": covers}
SLIDING = {"where_next": arrives}
RACING = {"meets_first": is_first}
DRIVEN = {"time_to_contact": reaches}
RIGHT = {**TURNED, **DRIVEN, **SLIDING, **RACING, **BOXED}


@seeds(1, 12)
def test_points_go_where_their_objects_slide(seed: int) -> None:
    scene = crossing_room(seed)
    check(scene, true_signals(scene, as_clip(scene)), SLIDING, {*SLIDING})


@seeds(1, 12)
def test_the_first_at_the_line_is_the_first_there(seed: int) -> None:
    scene = crossing_room(seed, racing=True)
    check(scene, true_signals(scene, as_clip(scene), stride=2), RACING, {*RACING} if seed == 0 else set())


@seeds(1, 12)
def test_turned_cameras_and_objects_that_come_do_what_they_should(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=4), TURNED | BOXED, {*TURNED, *BOXED})


@seeds(1, 12)
def test_a_driving_camera_is_level_with_points_when_it_should(seed: int) -> None:
    scene = random_room(np.random.default_rng(seed), frames=40, width_px=240, height_px=180, path=camera_paths.driving)
    check(scene, true_signals(scene, as_clip(scene), stride=4), DRIVEN, {*DRIVEN})


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), TURNED | BOXED, {*TURNED})
