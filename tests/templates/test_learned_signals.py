"""Every template on simulated outputs of learned models about rendered rooms, right ones and wrong ones."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from experts.clip import Clip
from experts.comparing.cross_check import CrossCheckExpert
from experts.signals import Signal
from experts.tracking.fitted_path import FittedPathExpert
from spatial_engine.rendering import RenderedScene, as_clip, camera_paths, true_signals
from spatial_engine.rendering.rooms import random_room
from templates.asked import ClipQuestions
from templates.generate import ask_clip
from templates.media import Photo
from templates.registry import create_templates
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.truth import verdict
from tests.experts.learned import (
    FAULTS,
    Models,
    broken,
    second_gravity,
    second_reconstruction,
    simulated,
    with_joining_experts,
)
from tests.templates import worlds

pytestmark = pytest.mark.long(sample=True)
TEMPLATES = {
    name: template
    for name, template in create_templates().items()
    if issubclass(template.world, Scene) and not template.needs & {"objects", "effector_path", "task"}
}
"""Imitated experts give objects in tests/templates/test_objects_in_rooms.py; no expert gives effectors and tasks."""
ROOMS = {"walk": 1, "truck": 3}


@cache
def room(name: str) -> tuple[RenderedScene, Clip, Models]:
    """A room with a moving object, and simulated models; metric where the camera trucks."""
    rng, seed = np.random.default_rng(ROOMS[name]), ROOMS[name]
    path = camera_paths.walk if name == "walk" else _truck
    scene = random_room(rng, frames=40, width_px=320, height_px=240, path=path, moving_object=True)
    clip = as_clip(scene)
    return scene, clip, simulated(scene, clip, np.random.default_rng(seed), metric=name == "truck", stride=2)


def _truck(n: int, start: camera_paths.Stance) -> camera_paths.Poses:
    return camera_paths.primitive("truck", 1.0, n, start)


def asked(clip: Clip, signals: dict[str, Signal], reading: str = "") -> ClipQuestions:
    """What all templates ask, or those that read a signal."""
    signals |= dict(FittedPathExpert()(clip, signals)) | dict(CrossCheckExpert()(clip, signals))  # type: ignore[arg-type]
    templates = [template for template in TEMPLATES.values() if not reading or reading in template.reads]
    return ask_clip(clip, signals, templates, AskSettings(), 0)


def judged(scene: RenderedScene, clip: Clip, found: ClipQuestions) -> Counter[tuple[str, bool | None]]:
    """Number of right, wrong and undecidable drafts of each template, by the renderer."""
    drafts = worlds.drafts(found)
    media = [medium for draft in drafts for medium in draft.media]
    shown = sorted({medium.frame for medium in media if isinstance(medium, Photo)})
    if not shown:
        return Counter()
    (truth,) = scenes_of(clip, true_signals(scene, clip, shown))
    return Counter(
        (d.template, verdict(TEMPLATES[d.template], d.format, dict(d.fact), d.answer, truth)) for d in drafts
    )


def wrong(verdicts: Counter[tuple[str, bool | None]]) -> dict[str, int]:
    return {template: count for (template, right), count in verdicts.items() if right is False}


NEVER = {"path_map", "depths_at_once", "parallel_lines", "faster_camera", "tilt_order", "up_arrow"}
NEVER |= {"from_place", "view_from", "camera_story", "camera_caption", "captioned_photo", "room_area", "seat_height"}
NEVER |= {"camera_zoom"}
NEVER |= {"camera_manner", "route_blanks", "where_it_ends", "where_next", "best_view", "meets_first"}
"""Asked on neither path: no camera zooms, or bends its path enough for a map or for other viewpoints, none has
two motions one after the other, none shows a room all round, a crate moves through the middle of the pictures, nothing
says where the floor is, and the cameras keep their speed and tilt, and never stand still; the range errors of learned
depth are too large for the lengths and angles that the others ask for, its outliers are too many for points in four
photos, and it is not measured."""
SILENT = {
    "walk": NEVER | {"camera_statement", "camera_speed", "depth_at", "range_metres", "which_moves"},
    "truck": NEVER
    | {
        "relation_across",
        "camera_turn",
        "heading_point",
        "higher_point",
        "photo_of_point",
        "point_from_photo",
        "roll_side",
        "what_moved",
    }
    | {"where_on_map", "time_to_contact"},
}


@pytest.mark.parametrize(("name", "silent"), SILENT.items())
def test_every_template_asks_and_no_answer_is_wrong(name: str, silent: set[str]) -> None:
    """Only the truck is metric, only the walk rotates, and the truck moves too little while a point is followed.
    Together all others ask."""
    scene, clip, models = room(name)
    verdicts = judged(scene, clip, asked(clip, with_joining_experts(clip, models)))
    assert wrong(verdicts) == {}
    assert {template for template, right in verdicts if right} == TEMPLATES.keys() - silent


def test_all_but_a_few_ask_on_one_of_the_paths() -> None:
    assert SILENT["walk"] & SILENT["truck"] == NEVER


def test_with_a_second_opinion_most_templates_still_ask() -> None:
    scene, clip, models = room("walk")
    rng = np.random.default_rng(0)
    signals = (
        with_joining_experts(clip, models)
        | second_reconstruction(scene, clip, models, rng)
        | second_gravity(models, scene, rng)
    )
    verdicts = judged(scene, clip, asked(clip, signals))
    assert wrong(verdicts) == {}
    silent = SILENT["walk"] | {"heading_point", "higher_point", "mark_at_place", "place_in_camera", "roll_side"}
    assert {t for t, _ in verdicts} >= TEMPLATES.keys() - silent - {"route_order", "navigate_legs"}


BROKEN = [how for how in FAULTS if how != "gravity sideways"]


@pytest.mark.parametrize("how", BROKEN)
def test_tracks_alone_keep_wrong_models_from_asking(how: str) -> None:
    scene, clip, models = room("walk")
    assert wrong(judged(scene, clip, asked(clip, with_joining_experts(clip, broken(models, how))))) == {}


@pytest.mark.parametrize(("how", "what"), [("gravity sideways", "gravity"), ("path mirrored", "camera_path")])
def test_a_second_opinion_keeps_wrong_models_from_asking(how: str, what: str) -> None:
    """Only an independent estimate shows that up is wrong: a wall looks like a floor."""
    scene, clip, models = room("walk")
    rng = np.random.default_rng(0)
    signals = with_joining_experts(clip, broken(models, how))
    signals |= second_reconstruction(scene, clip, models, rng) | second_gravity(models, scene, rng)
    assert wrong(judged(scene, clip, asked(clip, signals, reading=what))) == {}
