"""How objects stand to one another in rendered rooms, answered again from the boxes that they are made of."""

from collections.abc import Mapping

import numpy as np

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds
from tests.templates.test_facing_in_rooms import in_hollow, stands

_FEW = 3
"""Pixels at a corner or along an edge that decide nothing."""


def carrying(scene: RenderedScene, frame: int, row: int) -> set[int]:
    """All objects that carry one: their tops or bottoms are beneath its lowest points."""
    found, new = set[int](), {row}
    while new:
        every = range(len(scene.objects))
        new = {
            k
            for upper in new
            for k in every
            if k != upper and (stands(scene, frame, upper, k) or in_hollow(scene, frame, upper, k))
        } - found
        found |= new
    return found


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


def related(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """By what is beneath both, or by whose rays meet the other one."""
    frame, (a, b) = fact["first"]["frame"], (meant(scene, fact[name]) for name in ("first", "second"))
    if fact["about"] == "held":
        below, other_below = carrying(scene, frame, a), carrying(scene, frame, b)
        true = [b in below, a in other_below, not {a, b} & (below | other_below) and bool(below & other_below)]
        words = {"carried": true[0], "carries": true[1], "together": true[2], "separate": not any(true)}
    else:
        ours, theirs = hidden_pixels(scene, frame, b, a) > _FEW, hidden_pixels(scene, frame, a, b) > _FEW
        words = {"hides": ours and not theirs, "hidden": theirs and not ours, "each": ours and theirs}
        words["neither"] = not (ours or theirs)
    if not fact["asked"]:
        return words[answer]
    holds = words[fact["asked"]] or (fact["asked"] in ("hides", "hidden") and words["each"])
    return holds == (answer == "yes")


RIGHT = {"relation_of": related}


@seeds(1, 12)
def test_every_answer_is_that_of_the_boxes(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=320, height_px=240)
    check(scene, true_signals(scene, as_clip(scene), stride=4), RIGHT, {*RIGHT})
