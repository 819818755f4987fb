"""Marked parts of furniture in rendered rooms, answered again from the boxes that the marked pixels' rays meet."""

from collections.abc import Mapping

import numpy as np

from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.columns import Json
from tests.templates.in_rooms import check, meant, seeds
from tests.templates.test_matching_in_rooms import at

_NEAR_M = 0.01


def serves(scene: RenderedScene, fact: Mapping[str, Json], answer: Json) -> bool:
    """The answer's mark alone lies on a box of the object that is for that."""
    frame, row = fact["object"]["frame"], meant(scene, fact["object"])
    poses, found = scene.world_from_boxes(frame), []
    for xy_px in fact["points_px"]:
        place = at(scene, frame, xy_px)
        on = [
            k
            for k in scene.objects[row].boxes
            if (np.abs(poses[k][:3, :3].T @ (place - poses[k][:3, 3])) <= scene.furniture[k].half_m + _NEAR_M).all()
        ]
        if not on:
            return False
        found.append(any(fact["deed"] in scene.furniture[k].affords for k in on))
    return found == [number == answer for number in "123"]


RIGHT = {"afford_mark": serves}


@seeds(1, 12)
def test_every_answer_is_that_of_the_boxes(seed: int) -> None:
    scene = furnished_room(np.random.default_rng(seed), frames=24, width_px=320, height_px=240)
    check(scene, true_signals(scene, as_clip(scene), stride=4), RIGHT, {*RIGHT})
