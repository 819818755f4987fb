"""What a screen hides in a photo, in a room in which the camera walks round it."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from experts.signals import Depth, Objects, Signal
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.boxes import standing
from spatial_engine.rendering.camera_paths import poses
from spatial_engine.rendering.furniture import CEILING, OAK, room
from spatial_engine.rendering.scene import camera
from templates.perception.object_gap import Neighbours
from templates.scene.objects import seen_objects
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.simulation.behind_it import BehindIt
from tests.templates.simulation.around import elsewhere

TEMPLATE = BehindIt()
NAMES = ("crate", "chest", "stand")


@cache
def screened_room() -> RenderedScene:
    """First the screen stands before the crate, then the camera sees it from the side; chest and stand are free."""
    boxes = [
        standing("screen", (1.6, 0.1, 1.4), (3.0, 2.8, 0), side=OAK),
        standing("crate", (0.5, 0.5, 0.6), (3.0, 3.9, 0), side=OAK),
        standing("chest", (0.5, 0.5, 0.6), (4.85, 4.6, 0), side=OAK),
        standing("stand", (0.4, 0.4, 0.8), (1.2, 1.9, 0), side=OAK),
    ]
    at_m = np.array([[3.0, 0.4, 1.2], [4.4, 0.6, 1.2], [5.6, 1.8, 1.2]])
    yaw = np.arctan2(-(3.0 - at_m[:, 0]), 3.8 - at_m[:, 1])
    return RenderedScene(
        intrinsics=camera(320, 240, vfov_deg=70), room=room((6.0, 5.5, 3.0), OAK, (OAK,) * 4, CEILING),
        boxes=tuple(boxes), world_from_cam=poses(at_m, yaw, 0 * yaw, 0 * yaw), fps=10, texel_m=0.05,
    )  # fmt: skip


def signals() -> dict[str, Signal]:
    return true_signals(screened_room(), as_clip(screened_room()))


def scene(known: dict[str, Signal]) -> Scene:
    (only,) = scenes_of(as_clip(screened_room()), known)
    return only


def facts(first: int = 0) -> Neighbours:
    """The screen in a photo, the others as the last one shows them."""
    seen = seen_objects(scene(signals()))
    row = {(int(f), str(name)): k for k, (f, name) in enumerate(zip(seen.frame, seen.name, strict=True))}
    one, two, three = (seen.take(np.array([row[2, name]])).refs() for name in NAMES)
    anchor = seen.take(np.array([row[first, "screen"]])).refs()
    return Neighbours(anchor=anchor, first=one, second=two, third=three)


def said(known: dict[str, Signal], asked: Neighbours) -> str:
    found = TEMPLATE.measure(asked, scene(known))
    assert found.label is not None
    return str(found.why[0] or found.label[0])


def test_what_is_behind_the_screen_is_hidden() -> None:
    assert said(signals(), facts()) == "1"
    asked = facts()
    assert said(signals(), replace(asked, first=asked.third, third=asked.first)) == "3"


@pytest.mark.parametrize("unit", [3.0, pytest.param(1.0, marks=pytest.mark.long)])
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    assert said(elsewhere(signals(), unit), facts()) == "1"


def test_from_the_side_the_screen_hides_nothing() -> None:
    assert said(signals(), facts(2)) in ("the photos are the same", "not exactly one object is hidden")


def test_places_that_are_not_sure_decide_nothing() -> None:
    objects, depth = signals()["objects"], signals()["depth"]
    assert isinstance(objects, Objects) and isinstance(depth, Depth)
    vague = replace(objects, centre_sigma=np.full(4, 0.5), size_sigma=np.full((4, 3), 0.1))
    unsure = {"not exactly one object is hidden", "how much is hidden is not known"}
    assert said({**signals(), "objects": vague}, facts()) in unsure
    rough = replace(depth, relative_sigma=np.full_like(depth.relative_sigma, 0.3))
    assert said({**signals(), "depth": rough}, facts()) in unsure


def test_what_is_proposed_can_be_answered() -> None:
    asked = TEMPLATE.propose(scene(signals()), np.random.default_rng(0), 20)
    assert len(asked) >= 1 and {*asked.anchor.name.tolist()} == {"screen"}
