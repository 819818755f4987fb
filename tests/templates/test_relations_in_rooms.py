"""How objects stand to one another in rendered rooms, answered again from the boxes that they are made of."""

from collections.abc import Mapping

import cv2
import numpy as np

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds, surface
from tests.templates.test_facing_in_rooms import filled, in_hollow, stands

_FEW = 3
"""Pixels at a corner or along an edge that decide nothing."""


def carrying(scene: RenderedScene, frame: int, row: int) -> set[int]:
    """All objects that carry one: their tops or bottoms are beneath its lowest points."""
    found, new = set[int](), {row}
    while new:
        new = {k for upper in new for k in _beneath(scene, frame, upper)} - found
        found |= new
    return found


_FOUND: dict[tuple[int, int], dict[int, set[int]]] = {}


def _beneath(scene: RenderedScene, frame: int, upper: int) -> set[int]:
    """Those whose extents meet its own from above, and which carry it; computed once for each photo."""
    found = _FOUND.setdefault((scene.seed, frame), {})
    if upper not in found:
        low, high = np.array([(each.min(axis=0), each.max(axis=0)) for each in _surfaces(scene, frame)]).swapaxes(0, 1)
        meets = ((low <= high[upper] + 0.02) & (high >= low[upper] - 0.02)).all(axis=1)
        others = [k for k in np.flatnonzero(meets).tolist() if k != upper]
        found[upper] = {k for k in others if stands(scene, frame, upper, k) or in_hollow(scene, frame, upper, k)}
    return found[upper]


def _surfaces(scene: RenderedScene, frame: int) -> list[np.ndarray]:
    return [surface(scene, row, frame) for row in range(len(scene.objects))]


def hidden_pixels(scene: RenderedScene, frame: int, row: int, by: int) -> int:
    """How many pixels of one object would show the other one if it were alone: their rays meet it farther away."""
    y, x = np.nonzero(scene.object_ids(frame) == by)
    camera, pose = scene.intrinsics, scene.world_from_cam[frame]
    rays = np.column_stack([(x - camera.cx_px) / camera.fx_px, (y - camera.cy_px) / camera.fy_px, np.ones(len(x))])
    rays, behind = rays @ pose[:3, :3].T, np.zeros(len(x), dtype=bool)
    for k in scene.objects[row].boxes:
        box = scene.world_from_boxes(frame)[k]
        start, along = box[:3, :3].T @ (pose[:3, 3] - box[:3, 3]), rays @ box[:3, :3] + 1e-12
        half = scene.furniture[k].half_m
        low, high = np.sort([(-half - start) / along, (half - start) / along], axis=0)
        meets = (low.max(axis=1) < high.min(axis=1)) & (low.max(axis=1) > scene.depth(frame)[y, x])
        behind |= meets
    return int(behind.sum())


def below(scene: RenderedScene, frame: int, a: int, b: int) -> bool:
    """Whether one object ends below the other one, clear of it, and their outlines from above overlap."""
    lower, upper = surface(scene, a, frame), surface(scene, b, frame)
    plans = [cv2.convexHull(each[:, :2].astype(np.float32)) for each in (lower, upper)]
    shared = cv2.intersectConvexConvex(*plans)[0] / min(map(cv2.contourArea, plans))
    return bool(lower[:, 2].max() + 0.01 < upper[:, 2].min() and shared > 0.4)


def by_wall(scene: RenderedScene, points: np.ndarray) -> bool:
    """Whether a point is within 25 mm of an outer or an inner wall."""
    local = (points - scene.room.world_from_box[:3, 3]) @ scene.room.world_from_box[:3, :3]
    near = bool((scene.room.half_m[:2] - np.abs(local[:, :2])).min() < 0.025)
    for wall in scene.partitions:
        local = (points - wall.world_from_box[:3, 3]) @ wall.world_from_box[:3, :3]
        near |= bool((np.abs(local) < wall.half_m + 0.025).all(axis=1).any())
    return near


def hangs(scene: RenderedScene, frame: int, row: int) -> bool:
    """Whether an object that a wall touches has neither the floor nor an object beneath it."""
    points = surface(scene, row, frame)
    below = points[points[:, 2] < points[:, 2].min() + 0.005] - [0, 0, 0.03]
    others = (k for k in range(len(scene.objects)) if k != row)
    return by_wall(scene, points) and below[0, 2] > 0 and not any(filled(scene, k, frame, below).any() for k in others)


def related(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By what is beneath both, or by whose rays meet the other one."""
    frame, (a, b) = fact["first"]["frame"], (meant(scene, fact[name]) for name in ("first", "second"))
    if fact["about"] == "held":
        under, other_under = carrying(scene, frame, a), carrying(scene, frame, b)
        true = [b in under, a in other_under, not {a, b} & (under | other_under) and bool(under & other_under)]
        words = {"carried": true[0], "carries": true[1], "together": true[2], "separate": not any(true)}
    elif fact["about"] == "under":
        words = {"below": below(scene, frame, a, b), "above": below(scene, frame, b, a)}
        words["stacked"] = stands(scene, frame, a, b) or stands(scene, frame, b, a)
        words["aside"] = not any(words.values())
    else:
        ours, theirs = hidden_pixels(scene, frame, b, a) > _FEW, hidden_pixels(scene, frame, a, b) > _FEW
        words = {"hides": ours and not theirs, "hidden": theirs and not ours, "each": ours and theirs}
        words["neither"] = not (ours or theirs)
    if not fact["asked"]:
        return words[answer]
    holds = words[fact["asked"]] or (fact["asked"] in ("hides", "hidden") and words["each"])
    return holds == (answer == "yes")


def holds(scene: RenderedScene, frame: int, kind: str, rows: list[int]) -> bool:
    """Whether a statement about objects is true."""
    points = [surface(scene, row, frame) for row in rows]
    if kind in ("hangs", "against"):
        lowest = points[0][:, 2].min()
        return hangs(scene, frame, rows[0]) if kind == "hangs" else lowest < 0.02 and by_wall(scene, points[0])
    a, b = rows[:2]
    under = [carrying(scene, frame, row) for row in (a, b)]
    if kind == "between":
        one, start, end = ((each.min(axis=0) + each.max(axis=0)) / 2 for each in points)
        way = [np.linalg.norm(start + t * (end - start) - one) for t in np.linspace(0.1, 0.9, 81)]
        return bool(min(way) < 0.3 * np.linalg.norm(end - start))
    eye = scene.world_from_cam[frame, :3, 3]
    near = [np.linalg.norm(each - eye, axis=1).min() for each in points]
    return {
        "nearer": bool(near[0] < near[1]),
        "higher": bool(points[0][:, 2].max() > points[1][:, 2].max()),
        "below": below(scene, frame, a, b),
        "carries": a in under[1],
        "together": a not in under[1] and b not in under[0] and bool(under[0] & under[1]),
        "hides": hidden_pixels(scene, frame, b, a) > _FEW,
    }[kind]


def stated(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The statement of that number alone holds."""
    frame, rows = fact["a"]["frame"], {letter: meant(scene, fact[letter]) for letter in "abcd"}
    said = [text.split() for name in ("first", "second", "third", "fourth") if (text := fact[name])]
    true = [holds(scene, frame, kind, [rows[letter] for letter in letters]) for kind, *letters in said]
    return true == [answer == "yes"] if len(true) == 1 else true == [number == answer for number in "1234"]


RIGHT = {"relation_of": related, "true_statement": stated}


@seeds(0, 12)
def test_every_answer_is_that_of_the_boxes(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=320, height_px=240)
    check(scene, true_signals(scene, as_clip(scene), stride=4), RIGHT, {*RIGHT})
