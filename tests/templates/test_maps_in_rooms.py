"""Maps of rendered rooms, answered again from points on the surfaces of the objects."""

from collections.abc import Mapping

import numpy as np

from experts.rooms.room import RoomExpert
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.camera_paths import around
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.imitated import imitated_signals
from spatial_engine.rendering.rooms import random_room
from templates.columns import Json
from templates.generate import ask_clip
from templates.mapping.room_area import RoomArea
from templates.perception.eight_directions import DIRECTIONS
from templates.settings import AskSettings
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


def floor(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By the carpet: the floor is counted in squares that the room's walls, or the wall between two rooms, surround."""
    stated = fact["areas_m2"][int(answer) - 1] if isinstance(answer, str) else answer
    x, y, _ = scene.room.size_m
    low, high = 0.0, x
    for box in scene.partitions:
        wall = box.world_from_box[0, 3]
        at = scene.world_from_cam[fact["frames"], 0, 3]
        low, high = (low, min(high, wall)) if (at < wall).all() else (max(low, wall), high)
        assert (at < wall).all() or (at > wall).all()
    squares = np.stack(np.meshgrid(np.arange(0.05, 12, 0.1), np.arange(0.05, 12, 0.1)), axis=-1)
    carpet = squares[(squares[..., 0] > low) & (squares[..., 0] < high) & (squares[..., 1] < y)]
    shown = np.any([in_direction(scene, frame, carpet) for frame in fact["frames"]], axis=0).mean()
    return bool(abs(stated / (0.01 * len(carpet)) - 1) < 0.15) and bool(shown > 0.88)


def in_direction(scene: RenderedScene, frame: int, xy: np.ndarray) -> np.ndarray:
    """Which places on the floor lie in the directions that a frame holds, seen from above."""
    pose, camera = scene.world_from_cam[frame], scene.intrinsics
    ray = (xy - pose[:2, 3]) @ np.array([1, -1j])
    off = np.angle(ray * complex(*pose[:2, 2]))
    return np.asarray(np.abs(off) < np.arctan(camera.width_px / 2 / camera.fx_px))


RIGHT = {"map_direction": direction, "map_json": mapped, "which_room_map": drawn, "room_area": floor}


@seeds(1, 12)
def test_every_answer_is_that_of_the_rendered_room(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=240, height_px=180)
    check(scene, true_signals(scene, as_clip(scene), stride=2), RIGHT, {*RIGHT} - {"room_area"})


@seeds(0, 4)
def test_experts_that_err_give_no_wrong_answers(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=16, width_px=240, height_px=180)
    check(scene, imitated_signals(scene, as_clip(scene)), RIGHT, set())


AREA = {"room_area": RIGHT["room_area"]}


@seeds(0, 12)
def test_the_area_is_that_of_the_rendered_room(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scene = random_room(rng, frames=32, width_px=240, height_px=180, vfov_deg=60, path=around)
    signals = true_signals(scene, as_clip(scene))
    check(scene, signals, AREA, {*AREA})
    for known in (signals, imitated_signals(scene, as_clip(scene))):
        check(scene, {**known, **RoomExpert()(as_clip(scene), known)}, AREA, set())


@seeds(0, 12, sampled=0)
def test_the_area_of_one_of_two_rooms_is_measured_with_its_walls(seed: int) -> None:
    """The true walls surround both rooms: nothing is asked. The walls that the expert finds surround one."""
    scene = furnished_room(np.random.default_rng(seed), frames=32, width_px=240, height_px=180)
    signals = true_signals(scene, as_clip(scene))
    check(scene, {**signals, **RoomExpert()(as_clip(scene), signals)}, AREA, set())
    assert not ask_clip(as_clip(scene), signals, [RoomArea()], AskSettings(), 0).asked
