"""Places of marks and objects in rendered rooms, answered again from rendered depth and ids, without the formulas."""

from collections.abc import Mapping

import cv2
import numpy as np
from scipy.spatial import cKDTree

from experts.intrinsics import Intrinsics
from experts.objects.object_names import folded
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_distances_in_rooms import box_points


def point(scene: RenderedScene, frame: int, xy_px: Json) -> np.ndarray:
    """The surface point at a pixel, in camera axes, from rendered depth."""
    x, y = np.round(xy_px).astype(int)
    (ray,) = scene.intrinsics.rays(np.array([xy_px], dtype=float))
    return np.asarray(ray / ray[2] * scene.depth(frame)[y, x])


def at_place(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The marked one is near the place, which is found by turning the camera; the others are not."""
    start = point(scene, fact["frame"], fact["from_px"])
    turn = np.exp(1j * np.radians(fact["angle_deg"]))
    ahead = complex(start[2], start[0]) * turn  # real: ahead, imaginary: to the right
    near = []
    for xy_px in fact["points_px"]:
        there = point(scene, fact["frame"], xy_px)
        aside = np.degrees(np.abs(np.angle(complex(there[2], there[0]) / ahead)))
        ratio = np.linalg.norm(there) / np.linalg.norm(start) / fact["ratio"]
        near.append(aside < 7.5 and 1 / 1.24 < ratio < 1.24)
    return near == [number == answer for number in "1234"]


def in_camera(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    place, unit = point(scene, fact["frame"], fact["a_px"]), 1.0
    if fact["unit_px"] is not None:
        unit = float(np.linalg.norm(point(scene, fact["frame"], fact["unit_px"])))
    error = np.abs(np.array([answer[name] for name in "xyz"]) - place / unit)
    return bool(error.max() < 0.15 * np.linalg.norm(place) / unit + 0.005)


def pointed_to(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """All around the pixel, and nothing else in the photo is called so."""
    ids, name = scene.object_ids(fact["object"]["frame"]), fact["object"]["name"]
    called = {int(row) for row in np.unique(ids[ids >= 0]) if folded(scene.objects[row].name) == name}
    x, y = np.round(answer).astype(int)
    return len(called) == 1 and {*ids[y - 1 : y + 2, x - 1 : x + 2].ravel().tolist()} == called


def there(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Whether any pixel is of such an object."""
    ids = scene.object_ids(fact["frame"])
    return (answer == "yes") == any(folded(scene.objects[row].name) == fact["name"] for row in np.unique(ids[ids >= 0]))


def boxed_in(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By how many of the cells of space around both boxes lie in both, and in either."""
    frame = fact["object"]["frame"]
    row = meant(scene, fact["object"])
    world_from_cam, world_from_box = scene.world_from_cam[frame], scene.world_from_objects(frame)[row]
    camera = scene.intrinsics
    x, y = (np.array([answer["u"], answer["v"]]) / 1000 * [camera.width_px, camera.height_px] - 0.5).tolist()
    (ray,) = camera.rays(np.array([[x, y]]))
    middle = ray / ray[2] * answer["z"]
    roll, pitch, yaw = np.radians([answer[name] for name in ("roll", "pitch", "yaw")])
    (cr, sr), (cp, sp), (cy, sy) = ((np.cos(angle), np.sin(angle)) for angle in (roll, pitch, yaw))
    turn = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    turn = turn @ [[1, 0, 0], [0, cp, -sp], [0, sp, cp]] @ [[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]]
    half = np.array([answer[name] for name in ("x_size", "y_size", "z_size")]) / 2
    reach = np.linalg.norm(half) + np.linalg.norm(scene.objects[row].size_m) / 2
    grid = np.stack(np.meshgrid(*[np.linspace(-reach, reach, 60)] * 3), axis=-1).reshape(-1, 3) + middle
    ours = (np.abs((grid - middle) @ turn) <= half).all(axis=1)
    world = grid @ world_from_cam[:3, :3].T + world_from_cam[:3, 3]
    local = (world - world_from_box[:3, 3]) @ world_from_box[:3, :3]
    theirs = (np.abs(local) <= scene.objects[row].size_m / 2).all(axis=1)
    return bool((ours & theirs).sum() >= 0.48 * (ours | theirs).sum())


def described(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the nearest points of surfaces; a pixel must be right among all that the photo shows of that name."""
    frame, camera = fact["frame_shown"], scene.world_from_cam[fact["frame_shown"]]
    ids = scene.object_ids(frame)
    pixels = [np.round(xy_px).astype(int) for xy_px in fact["inside_px"]]
    rows = [int(ids[y, x]) for x, y in pixels]
    if isinstance(answer, str):
        picked = rows[int(answer) - 1]
    else:
        x, y = np.round(answer).astype(int)
        picked = int(ids[y, x])
        assert {*rows} == {
            int(row) for row in np.unique(ids[ids >= 0]) if folded(scene.objects[row].name) == fact["name"]
        }
    shapes = {row: surface(scene, row, frame) for row in rows}
    if fact["relation"] in ("left", "right"):
        start = surface(scene, meant(scene, fact["reference"]), frame)
        axis = camera[:3, 0] * (1 if fact["relation"] == "right" else -1)
        angles = {row: angle_to(_middle(shape) - _middle(start), axis) for row, shape in shapes.items()}
        return min(angles, key=angles.__getitem__) == picked and sum(angle < 45 for angle in angles.values()) == 1
    if fact["reference"]["name"]:
        others = cKDTree(surface(scene, meant(scene, fact["reference"]), frame))
        length = {row: others.query(shape)[0].min() for row, shape in shapes.items()}
    else:
        length = {row: np.linalg.norm(shape - camera[:3, 3], axis=1).min() for row, shape in shapes.items()}
    order = sorted(rows, key=length.__getitem__)
    place = {"farthest": -1, "second": 1, "closest": 0}[fact["relation"].split()[0]]
    return order[place] == picked


def _middle(points: np.ndarray) -> np.ndarray:
    return (points.min(axis=0) + points.max(axis=0)) / 2


def angle_to(way: np.ndarray, axis: np.ndarray) -> float:
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(way, axis)), way @ axis)))


def encloses(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The outline of the box overlaps most with that of the smallest upright box around points on the surfaces."""
    frame, camera = fact["object"]["frame"], scene.intrinsics
    pose = scene.world_from_cam[frame]
    points = box_points(scene, meant(scene, fact["object"]), frame)
    around = outlined(camera, camera.project((points - pose[:3, 3]) @ pose[:3, :3]))
    drawn = [outlined(camera, corners_px) for corners_px in fact["corners_px"]]
    overlap = [(around & other).sum() / (around | other).sum() for other in drawn]
    return int(np.argmax(overlap)) == int(str(answer)) - 1 and max(overlap) > 0.9


def outlined(camera: Intrinsics, xy_px: Json) -> np.ndarray:
    """What lies within the convex hull of places in the photo, drawn four times as large."""
    hull = cv2.convexHull(np.round(4 * np.array(xy_px)).astype(np.int32))
    canvas = np.zeros((4 * camera.height_px, 4 * camera.width_px), dtype=np.uint8)
    return np.asarray(cv2.fillConvexPoly(canvas, hull, 1) > 0)


RIGHT = {
    "which_box": encloses,
    "mark_at_place": at_place,
    "place_in_camera": in_camera,
    "point_to_object": pointed_to,
    "object_there": there,
    "object_box": boxed_in,
    "point_to_described": described,
}


@seeds(0, 12, sampled=2)
def test_every_answer_is_that_of_the_rendered_room(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    least = {*RIGHT} if seed == 1 else {*RIGHT} - {"point_to_described"}  # it needs two objects of a name in a photo
    check(scene, true_signals(scene, as_clip(scene), stride=4), RIGHT, least)


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, {"mark_at_place", "place_in_camera"})
