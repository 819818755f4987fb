"""Questions about directions of objects and points in rendered rooms, answered again from exact surfaces."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.rendering.staged_rooms import leaning
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface


def point(scene: RenderedScene, frame: int, xy_px: Json) -> np.ndarray:
    """The point that a pixel shows, in the world; z is up."""
    x, y = np.round(xy_px).astype(int)
    camera, pose = scene.camera(frame), scene.world_from_cam[frame]
    ray = np.array([(x - camera.cx_px) / camera.fx_px, (y - camera.cy_px) / camera.fy_px, 1.0])
    return np.asarray(pose[:3, :3] @ ray * scene.depth(frame)[y, x] + pose[:3, 3])


def higher(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    a, b = (point(scene, fact["frame"], fact[name])[2] for name in ("a_px", "b_px"))
    return bool(answer == ("2" if b > a else "1"))


def front(scene: RenderedScene, ref: Mapping[str, Json]) -> complex:
    """The direction out of the front of an object on the plan, as a complex number of length 1."""
    x, y = -scene.world_from_objects(ref["frame"])[meant(scene, ref), :2, 1]
    return complex(x, y) / abs(complex(x, y))


def middle(scene: RenderedScene, ref: Mapping[str, Json]) -> complex:
    """The middle of the smallest upright rectangle around an object on the plan."""
    points = surface(scene, meant(scene, ref), ref["frame"])[:, :2]
    return complex(*(points.min(axis=0) + points.max(axis=0)) / 2)


def beside(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The plan is turned until the first object faces along the real axis; left is along the imaginary one."""
    a, b = fact["first"], fact["second"]
    offset = (middle(scene, b) - middle(scene, a)) / front(scene, a)
    if abs(offset.real) > abs(offset.imag):
        side = "in front" if offset.real > 0 else "behind"
    else:
        side = "on the left" if offset.imag > 0 else "on the right"
    return bool(answer == (side if not fact["asked"] else "yes" if side == fact["asked"] else "no"))


def same(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the greater of the shares of one front that point along the other and across it."""
    turn = front(scene, fact["second"]) / front(scene, fact["first"])
    if abs(turn.imag) > abs(turn.real):
        return bool(answer == "at right angles")
    return bool(answer == ("same" if turn.real > 0 else "opposite"))


def side(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By pixels, heights of surfaces and distances of surfaces; the other two statements must be false."""
    frame, refs = fact["first"]["frame"], (fact["first"], fact["second"])
    ids, camera = scene.object_ids(frame), scene.world_from_cam[frame, :3, 3]
    columns = [np.nonzero(ids == meant(scene, ref))[1] for ref in refs]
    points = [surface(scene, meant(scene, ref), frame) for ref in refs]
    middles = [(each[:, 2].min() + each[:, 2].max()) / 2 for each in points]
    near = [np.linalg.norm(each - camera, axis=1).min() for each in points]
    true = {
        "to the left": columns[0].max() < columns[1].min(),
        "to the right": columns[0].min() > columns[1].max(),
        "higher": middles[0] > middles[1],
        "lower": middles[0] < middles[1],
        "nearer": near[0] < near[1],
        "farther": near[0] > near[1],
    }
    offered = [fact["sideways"], fact["height"], fact["distance"]]
    return [each for each in offered if true[each]] == [answer]


def tilted(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By how much the line from the bottom of the object to its top rises."""
    ref = fact["object"]
    pose = scene.world_from_objects(ref["frame"])[meant(scene, ref)]
    bottom, top = (pose @ [0, 0, end, 1] for end in (-1, 1))
    rise, along = top[2] - bottom[2], np.hypot(*(top - bottom)[:2])
    degrees = 90 - np.degrees(np.arctan2(rise, along))
    if isinstance(answer, str):
        return bool({"upright": degrees < 12, "tilted": 12 < degrees < 78, "lying": 78 < degrees < 102}[answer])
    return bool(abs(degrees - answer) <= 10)


def angles(
    scene: RenderedScene, fact: Mapping[str, Json], answer: Json, limits_deg: Sequence[float] = (2, 2, 2)
) -> bool:
    """By where the camera is for the object, and by where its top is for a camera that looks at it."""
    ref = fact["object"]
    row, camera = meant(scene, ref), scene.world_from_cam[ref["frame"]]
    pose = scene.world_from_objects(ref["frame"])[row]
    to_camera = camera[:3, 3] - pose[:3, 3]
    right, front, top = pose[:3, :3].T @ to_camera / np.linalg.norm(to_camera) * [1, -1, 1]
    azimuth, polar = np.degrees([np.arctan2(right, front), np.arcsin(top)])
    ray = camera[:3, :3].T @ -to_camera
    turned, _ = Rotation.align_vectors(np.array([[0.0, 0, 1]]), ray[None] / np.linalg.norm(ray))
    x, y, _ = turned.apply(camera[:3, :3].T @ pose[:3, 2])
    rotation = np.degrees(np.arctan2(-x, -y))
    period = 360 / scene.objects[row].fronts
    errors = (
        (answer["azimuth"] - azimuth) % period,
        (answer["polar"] - polar) % 360,
        (answer["rotation"] - rotation) % 360,
    )
    wrapped = [min(error, size - error) for error, size in zip(errors, (period, 360, 360), strict=True)]
    return all(error <= limit for error, limit in zip(wrapped, limits_deg, strict=True))


def filled(scene: RenderedScene, row: int, frame: int, points: np.ndarray) -> np.ndarray:
    """Which points lie in one of the boxes that an object is made of."""
    poses, within = scene.world_from_boxes(frame), np.zeros(len(points), dtype=bool)
    for k in scene.objects[row].boxes:
        local = (points - poses[k][:3, 3]) @ poses[k][:3, :3]
        within |= (np.abs(local) <= scene.furniture[k].half_m).all(axis=1)
    return within


def stands(scene: RenderedScene, frame: int, upper: int, lower: int) -> bool:
    """Whether half of the lowest points of one object, moved down by 15 mm, lie in the other one."""
    points = surface(scene, upper, frame)
    lowest = points[points[:, 2] < points[:, 2].min() + 0.005]
    return bool(filled(scene, lower, frame, lowest - [0, 0, 0.015]).mean() >= 0.5)


def touch(scene: RenderedScene, frame: int, a: int, b: int) -> bool:
    """Whether a point on one of the objects, moved by a centimetre along an axis, lies in the other one."""
    steps = np.concatenate([np.eye(3), -np.eye(3), np.zeros((1, 3))]) * 0.01
    return any(
        filled(scene, other, frame, surface(scene, one, frame) + step).any()
        for one, other in ((a, b), (b, a))
        for step in steps
    )


def in_hollow(scene: RenderedScene, frame: int, a: int, b: int) -> bool:
    """Whether one object lies between the walls of an open box."""
    inner, outer = surface(scene, a, frame), surface(scene, b, frame)
    middle = inner.mean(axis=0)
    walls = [filled(scene, b, frame, middle + np.outer(np.linspace(0, 1, 400), [x, y, 0])).any() for x, y in _AROUND]
    return scene.objects[b].name in ("box", "tub") and all(walls) and inner[:, 2].min() < outer[:, 2].max() - 0.02


_AROUND = [(np.cos(angle), np.sin(angle)) for angle in np.linspace(0, 2 * np.pi, 16, endpoint=False)]


def related(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the boxes that the objects are made of."""
    frame, (a, b) = fact["first"]["frame"], (meant(scene, fact[name]) for name in ("first", "second"))
    holds = {
        "on top": stands(scene, frame, a, b),
        "underneath": stands(scene, frame, b, a),
        "inside": in_hollow(scene, frame, a, b),
        "apart": not touch(scene, frame, a, b),
        "touching": touch(scene, frame, a, b),
    }
    return holds[answer] if not fact["asked"] else holds[fact["asked"]] == (answer == "yes")


def only_one(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The answer has the relation, the others do not touch."""
    pairs = [{"first": fact[name], "second": fact["anchor"], "asked": ""} for name in ("first", "second", "third")]
    words = [fact["relation"] if number == answer else "apart" for number in "123"]
    return all(related(scene, pair, word) for pair, word in zip(pairs, words, strict=True))


RIGHT = {
    "topology": related,
    "higher_point": higher,
    "beside_facing": beside,
    "same_way": same,
    "side_of": side,
    "object_tilt": tilted,
    "object_angles": angles,
    "which_stands": only_one,
}


@seeds(1, 12)
def test_every_answer_is_that_of_the_surfaces(seed: int) -> None:
    scene = leaning(furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180), seed)
    check(
        scene,
        true_signals(scene, as_clip(scene), stride=12),
        RIGHT,
        {*RIGHT} - {"which_stands"} if seed == 0 else set(),
    )


@seeds(1, 12)
def test_what_stands_on_another_object_is_what_the_surfaces_say(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    right = {"which_stands": only_one}
    check(scene, true_signals(scene, as_clip(scene), stride=4), right, {*right} if seed == 0 else set())


@seeds(0, 3)
def test_experts_that_err_give_fewer_questions_and_no_wrong_ones(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    within_tolerance = {"object_angles": partial(angles, limits_deg=(20, 15, 15))}
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT | within_tolerance, set())
