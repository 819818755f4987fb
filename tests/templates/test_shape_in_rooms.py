"""Questions about shapes in rendered rooms, answered again from rendered ids, exact depth and the boxes' surfaces."""

from collections.abc import Mapping

import numpy as np
from scipy.spatial import cKDTree

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from templates.scene.bodies import SHAPES
from tests.templates.bodies_in_rooms import true_shape
from tests.templates.in_rooms import check, meant, seeds


def on_the_edge(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the nearest places between a pixel of the object and one of something that does not hide it."""
    frame = fact["object"]["frame"]
    ids, z = scene.object_ids(frame) == meant(scene, fact["object"]), scene.depth(frame)
    places = []
    for dy, dx in ((0, 1), (1, 0)):
        one, other = (np.s_[: -dy or None, : -dx or None], np.s_[dy:, dx:])
        behind = np.where(ids[one], z[other] > 0.99 * z[one], z[one] > 0.99 * z[other])
        y, x = np.nonzero((ids[one] != ids[other]) & behind)
        places.append(np.column_stack([x + dx / 2, y + dy / 2]))
    tree, away = cKDTree(np.concatenate(places)), []
    for start, end in np.array(fact["lines_px"]):
        away.append(tree.query(start + np.linspace(0, 1, 40)[:, None] * (end - start))[0].mean())

    return int(np.argmin(away)) + 1 == int(answer) and np.sort(away)[1] > 1.5 * min(away) + 1


def placed(scene: RenderedScene, frame: int, xy_px: Json) -> np.ndarray:
    """The points of the surfaces that pixels show, in the world."""
    pose, ray = scene.world_from_cam[frame], scene.camera(frame).rays(np.array(xy_px))
    column, row = np.moveaxis(np.round(xy_px).astype(int), -1, 0)
    return pose[:3, 3] + ray / ray[..., 2:] * scene.depth(frame)[row, column, None] @ pose[:3, :3].T


def angle(a: np.ndarray, b: np.ndarray) -> float:
    """By the law of cosines, in degrees."""
    x, y, z = np.linalg.norm([a, b, a - b], axis=1)
    return float(np.degrees(np.arccos(np.clip((x**2 + y**2 - z**2) / (2 * x * y), -1, 1))))


def run_so(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    (a, b), (c, d) = placed(scene, fact["frame"], [fact["first_px"], fact["second_px"]])
    found = min(angle(b - a, d - c), angle(a - b, d - c))
    kind = "parallel" if found < 15 else "neither" if found < 75 else "perpendicular"
    return bool(answer == (kind if len(answer) > 3 else "yes" if kind == "parallel" else "no"))


def meet_so(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    a, b, c = placed(scene, fact["frame"], fact["points_px"])
    found = angle(b - a, c - a)
    if not isinstance(answer, str):
        return abs(found - answer) < 10
    return bool(answer == ("acute" if found < 75 else "right" if found < 105 else "obtuse"))


def is_the_shape(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    shape = true_shape(scene, meant(scene, fact["object"]), fact["object"]["frame"])
    return bool(shape and answer == (shape if answer in SHAPES else "yes" if shape == fact["shape"] else "no"))


RIGHT = {"edge_line": on_the_edge, "parallel_lines": run_so, "corner_angle": meet_so}


@seeds(1, 12)
def test_every_answer_is_that_of_the_surfaces(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=8), RIGHT, {*RIGHT})


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, set())


@seeds(1, 20)
def test_every_primitive_is_that_of_the_body(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, round_objects=True)
    check(scene, true_signals(scene, as_clip(scene), stride=2), {"primitive_of": is_the_shape}, {"primitive_of"})


@seeds(0, 8)
def test_experts_that_err_name_no_wrong_primitive(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, round_objects=True)
    check(scene, imitated_signals(scene, as_clip(scene)), {"primitive_of": is_the_shape}, set())
