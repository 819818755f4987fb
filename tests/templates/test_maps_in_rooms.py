"""Maps of rendered rooms, answered again from points on the surfaces of the objects."""

from collections.abc import Mapping

import numpy as np

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from templates.columns import Json
from templates.perception.eight_directions import DIRECTIONS
from tests.templates.in_rooms import check, meant, seeds, surface

SLACK_DEG = 4.0
"""The middle of what is visible of an object, and the middle of its box, differ."""


def place(scene: RenderedScene, ref: Mapping[str, Json]) -> complex:
    """The middle of an object on the floor: the world's z is up."""
    points = surface(scene, meant(scene, ref), ref["frame"])[:, :2]
    return complex(*(points.min(axis=0) + points.max(axis=0)) / 2)


def all_shown(scene: RenderedScene, refs: list[Mapping[str, Json]]) -> bool:
    """Whether one of their photos shows all of the objects."""
    objects = {meant(scene, ref) for ref in refs}
    return any(objects <= {*np.unique(scene.object_ids(ref["frame"])).tolist()} for ref in refs)


def direction(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By turning the floor until the second object lies ahead of the first."""
    refs = [fact[key] for key in ("at", "facing", "sought")]
    at, facing, sought = (place(scene, ref) for ref in refs)
    clockwise = -np.angle((sought - at) / (facing - at), deg=True)
    stated, limit = (45.0 * DIRECTIONS.index(answer), 22.5) if answer in DIRECTIONS else (answer, 15.0)
    off = abs((clockwise - stated + 180) % 360 - 180)
    return bool(off <= limit + SLACK_DEG) and not all_shown(scene, refs)


def on_paper(scene: RenderedScene, fact: Mapping[str, Json]) -> np.ndarray:
    """The floor, turned until the earliest camera faces up the paper: x to the right, y up, in m."""
    refs = [fact[key] for key in ("first", "second", "third", "fourth")]
    heading = scene.world_from_cam[min(ref["frame"] for ref in refs)][:2, 2]
    turned = np.array([place(scene, ref) for ref in refs]) * 1j / complex(*heading)
    return np.column_stack([turned.real, turned.imag])


def mapped(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Every pair on the same side as in the room, but for pairs near a diagonal; names and the scale fit."""
    refs = [fact[key] for key in ("first", "second", "third", "fourth")]
    stated = np.array([entry["position"] for entry in answer.values()]) * [1, -1]
    true = on_paper(scene, fact)
    named = all(key.split(" ")[0] in ref["name"].split(" ")[0] for key, ref in zip(answer, refs, strict=True))
    unit = np.ptp(true, axis=0).max() / 9
    same = np.abs(stated - stated.mean(axis=0) - (true - true.mean(axis=0)) / unit).max() < 0.5
    return bool(same) and named and len(answer) == 4 and not all_shown(scene, refs)


def drawn(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """Exactly one map has the steps of the room from object to object, and it is the one that is meant."""
    true, refs = on_paper(scene, fact), [fact[key] for key in ("first", "second", "third", "fourth")]
    fits = [alike(true, np.array(shown)) for shown in fact["maps"]]
    said = fits[fact["asked"]] == (answer == "yes") if answer in ("yes", "no") else fits.index(True) == int(answer) - 1
    return sum(fits) == 1 and said and not all_shown(scene, refs)


def alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether each step from object to object is the same on both maps, but for one common scale."""
    a, b = np.triu_indices(len(one), 1)
    steps = [m[b] - m[a] for m in (one, other)]
    true, shown = (each / np.linalg.norm(each) for each in steps)
    return float(np.linalg.norm(true - shown)) < 0.15


RIGHT = {"map_direction": direction, "map_json": mapped, "which_room_map": drawn}


@seeds(1, 12)
def test_every_answer_is_that_of_the_rendered_room(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=2), RIGHT, {*RIGHT})


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, set())
