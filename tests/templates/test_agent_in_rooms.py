"""Navigation and exploration in rendered rooms, answered again from the true poses and from rays into the room."""

from collections.abc import Mapping

import numpy as np
import pytest

from action_mapping.primitives import COMPONENTS, primitive, primitive_of
from experts.objects.object_names import folded
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_facing_in_rooms import front, middle
from tests.templates.test_grounding_in_rooms import point
from tests.templates.test_memory_in_rooms import shown

AXES = ("Truck Right", "Truck Left", "Pedestal Down", "Pedestal Up", "Dolly In", "Dolly Out")
ANGLES = ("Pan Right", "Pan Left", "Tilt Up", "Tilt Down", "Roll CW", "Roll CCW")


def amounts(scene: RenderedScene, a: int, b: int) -> tuple[np.ndarray, np.ndarray]:
    """Right, down and forwards in m; pan, tilt and roll in rad: of the optical axis, and of the sensor's rows."""
    first, second = scene.world_from_cam[a], scene.world_from_cam[b]
    turn = first[:3, :3].T @ second[:3, :3]
    x, y, z = turn[:, 2]
    pan = np.arctan2(x, z)
    level = np.array([np.cos(pan), 0, -np.sin(pan)])
    roll = np.arctan2(np.cross(level, turn[:, 0]) @ turn[:, 2], level @ turn[:, 0])
    return first[:3, :3].T @ (second[:3, 3] - first[:3, 3]), np.array([pan, np.arcsin(-y), roll])


def largest(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """It exceeds both others by far; a turn is visible."""
    moved, turned = amounts(scene, fact["frame_from"], fact["frame_to"])
    each, names = (moved, AXES) if fact["kind"] == "move" else (turned, ANGLES)
    least, axis = np.sort(np.abs(each))[1] / 0.72, int(np.abs(each).argmax())
    clear = abs(each[axis]) > max(least, np.radians(9.8) if fact["kind"] == "turn" else 0.0)
    return bool(clear) and answer == names[2 * axis + int(each[axis] < 0)]


def arrived(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the distance of the cameras, and by the angles between all three of their axes."""
    goal, here = scene.world_from_cam[fact["frame_goal"]], scene.world_from_cam[fact["frame"]]
    step = fact["step"]
    if fact["point_px"] is not None:
        step = np.linalg.norm(point(scene, fact["frame_goal"], fact["point_px"])) / fact["step"]
    way = np.linalg.norm(goal[:3, 3] - here[:3, 3]) / step
    cosines = np.clip(np.einsum("ij,ij->j", goal[:3, :3], here[:3, :3]), -1, 1)
    turned = np.degrees(np.arccos((cosines.sum() - 1) / 2)) / fact["turn_deg"]
    if not all(each < 0.55 or each > 2.9 for each in (way, turned)):
        return False
    left = {(False, False): "arrived", (True, False): "moves", (False, True): "turns", (True, True): "both"}
    label = left[bool(way > 1), bool(turned > 1)]
    return answer in (label, "yes" if label == "arrived" else "no")


def is_shown(scene: RenderedScene, pose: np.ndarray, world: np.ndarray, pan_deg: float, tilt_deg: float) -> bool:
    """Whether a camera shows a place after its axes are turned: first to the right, then up."""
    right, down, ahead = pose[:3, :3].T
    pan, tilt = np.radians([pan_deg, tilt_deg])
    right, ahead = right * np.cos(pan) - ahead * np.sin(pan), ahead * np.cos(pan) + right * np.sin(pan)
    down, ahead = down * np.cos(tilt) + ahead * np.sin(tilt), ahead * np.cos(tilt) - down * np.sin(tilt)
    x, y, z = np.stack([right, down, ahead]) @ (world - pose[:3, 3])
    lens = scene.intrinsics
    u, v = lens.fx_px * x / z + lens.cx_px, lens.fy_px * y / z + lens.cy_px
    return bool(z > 0 and 0 <= u <= lens.width_px - 1 and 0 <= v <= lens.height_px - 1)


def one_turn_shows_it(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Also if the camera turned by 3° more or less; the answer's side and angle are those of the turn."""
    pose = scene.world_from_cam[fact["frame"]]
    xyz_cam = point(scene, fact["frame_shown"], fact["point_px"])
    world = (scene.world_from_cam[fact["frame_shown"]] @ [*xyz_cam, 1.0])[:3]
    turns = [(0.0, 0.0), *zip(fact["pan_deg"], fact["tilt_deg"], strict=True)]
    side, angle = str(answer).split()
    meant = {"left": (-1, 0), "right": (1, 0), "up": (0, 1), "down": (0, -1)}[side]
    for pan, tilt in turns:
        right = (pan, tilt) == (meant[0] * float(angle), meant[1] * float(angle))
        near = ((0, 0), (3, 0), (-3, 0), (0, 3), (0, -3))
        if any(is_shown(scene, pose, world, pan + a, tilt + b) != right for a, b in near):
            return False
    return True


def new_part(scene: RenderedScene, frame: int, known: int) -> float:
    """Share of a frame that another one does not show: by the distances of both along rays through random pixels."""
    lens, rng = scene.intrinsics, np.random.default_rng(0)
    here, there = scene.world_from_cam[frame], scene.world_from_cam[known]
    z, z_there = scene.depth(frame), scene.depth(known)
    v, u = (rng.integers(side, size=1500) for side in z.shape)
    x, y = (u - lens.cx_px) / lens.fx_px, (v - lens.cy_px) / lens.fy_px
    world = here @ np.stack([x, y, np.ones_like(x), 1 / z[v, u]]) * z[v, u]
    x, y, depth, _ = np.linalg.inv(there) @ world
    with np.errstate(divide="ignore", invalid="ignore"):
        u, v = lens.fx_px * x / depth + lens.cx_px, lens.fy_px * y / depth + lens.cy_px
        inside = (depth > 0) & (u >= 0) & (v >= 0) & (u <= lens.width_px - 1) & (v <= lens.height_px - 1)
    seen = z_there[np.where(inside, v, 0).round().astype(int), np.where(inside, u, 0).round().astype(int)]
    return float((~inside | (seen < 0.96 * depth)).mean())


def newest(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    new = {
        number: new_part(scene, other, fact["frame"])
        for number, other in zip("2345", fact["frames_others"], strict=True)
    }
    right = new.pop(str(answer))
    return right > 0.65 and right - max(new.values()) > 0.18


def all_seen(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the ids of all pixels; the room may have more of that name, which no frame of the clip shows."""
    seen = set().union(*(shown(scene, frame, fact["name"]) for frame in fact["frames"]))
    of_name = sum(folded(each.name) == fact["name"] for each in scene.objects)
    return bool(len(seen) <= fact["number"] <= of_name and (len(seen) == fact["number"]) == (answer == "yes"))


def ends_there(scene: RenderedScene, a: int, b: int, plan: Mapping[str, Json], step_m: float, turn_deg: float) -> bool:
    """Whether the actions, done one after the other from camera a, end within a step and a turn of camera b."""
    pose = scene.world_from_cam[a].copy()
    for key, count in zip(plan["actions"], plan["step_nums"], strict=True):
        name = primitive(key).name
        if name in AXES:
            axis, sign = divmod(AXES.index(name), 2)
            pose[:3, 3] += pose[:3, axis] * count * step_m * (1 - 2 * sign)
        else:
            number, sign = divmod(ANGLES.index(name), 2)
            axis = (1, 0, 2)[number]
            others = [(axis + 1) % 3, (axis + 2) % 3]
            angle = np.radians(count * turn_deg * (1 - 2 * sign))
            pose[:3, others] = pose[:3, others] @ [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    goal = scene.world_from_cam[b]
    turned = np.degrees(np.arccos(np.clip((np.einsum("ij,ij->", goal[:3, :3], pose[:3, :3]) - 1) / 2, -1, 1)))
    return bool(np.linalg.norm(goal[:3, 3] - pose[:3, 3]) <= 1.02 * step_m and turned <= 1.02 * turn_deg)


def both_legs(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The worked example as it is asked, and the answer."""
    step = fact["step"]
    if fact["point_px"] is not None:
        step = np.linalg.norm(point(scene, fact["frame_from"], fact["point_px"])) / fact["step"]
    moves = [k for k in (3, 4, 5, 0, 1, 2) if fact["example"][k]]
    shown = {
        "actions": [primitive_of(COMPONENTS[k], fact["example"][k]).symbol for k in moves],
        "step_nums": [abs(fact["example"][k]) for k in moves],
    }
    return ends_there(scene, fact["frame_from"], fact["frame_over"], shown, step, fact["turn_deg"]) and ends_there(
        scene, fact["frame_over"], fact["frame_to"], answer, step, fact["turn_deg"]
    )


def way_to_front(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """On the plan, with complex numbers: ahead is real, left is imaginary. No surface point is within 0.2 m of the
    goal, which is inside the room."""
    ref = fact["object"]
    pose, row = scene.world_from_cam[ref["frame"]], meant(scene, ref)
    here, ahead = complex(*pose[:2, 3]), complex(*pose[:2, 2]) / abs(complex(*pose[:2, 2]))
    out, at = front(scene, ref), middle(scene, ref)
    reach = ((surface(scene, row, ref["frame"])[:, :2] @ [1, 1j] - at) / out).real.max()
    goal = at + out * (reach + fact["before_m"])
    way, turn = (goal - here) / ahead, np.angle(-out / ahead, deg=True)
    for k in range(len(scene.objects)):
        points = surface(scene, k, ref["frame"])
        low = points[points[:, 2] < 1.2]
        if k != row and len(low) and np.abs(low[:, :2] @ [1, 1j] - goal).min() < 0.2:
            return False
    same_name = sum(
        folded(scene.objects[k].name) == ref["name"] for k in np.unique(scene.object_ids(ref["frame"])) if k >= 0
    )
    clear = abs(way.imag) > max(0.28, 0.16 * abs(way)) and 22 < abs(turn) < 158
    plan = ["left" if each > 0 else "right" for each in (way.imag, turn)]
    return bool(clear and same_name == 1) and answer == ", then ".join(plan)


RIGHT = {
    "goal_in_words": way_to_front,
    "navigate_legs": both_legs,
    "first_move": largest,
    "goal_reached": arrived,
    "where_to_look": one_turn_shows_it,
    "best_view": newest,
    "enough_seen": all_seen,
}


@seeds(0, 12)
def test_every_answer_is_that_of_the_rendered_room(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=2), RIGHT, {*RIGHT})


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, {"first_move"})


@pytest.mark.parametrize("wrong", ["Truck Left", "Dolly Out", "Pedestal Up"])
def test_the_evaluator_tells_moves_apart(wrong: str) -> None:
    scene = furnished_room(np.random.default_rng(0), frames=16, width_px=240, height_px=180)
    found = {name for name in AXES if largest(scene, {"frame_from": 0, "frame_to": 12, "kind": "move"}, name)}
    assert len(found) <= 1 and wrong not in found
