"""Hints in a rendered room, from its exact signals."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from experts.clip import Clip
from experts.signals import NoEstimate, Signal
from spatial_engine.dataset.question_line import question_of
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from templates.generate import ask_clip
from templates.hints.beside import hints_beside
from templates.hints.hint import Hint
from templates.hints.kinds import LEAVES
from templates.media import DepthMap, MatchedPhotos, Photo
from templates.question import Question
from templates.registry import TEMPLATES
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from tests.templates.test_matching_in_rooms import at


@cache
def room() -> tuple[RenderedScene, Clip, dict[str, Signal | NoEstimate]]:
    scene = furnished_room(np.random.default_rng(3), frames=8, width_px=320, height_px=240)
    clip = as_clip(scene)
    return scene, clip, dict(true_signals(scene, clip, stride=2))


@cache
def plan() -> Question:
    _, clip, signals = room()
    found = ask_clip(clip, signals, [TEMPLATES.load("first_move")()], AskSettings(facts_per_template=1), 0)
    return question_of(next(draft for asked in found.asked for draft in asked.drafts()), (), clip)


def hints(question: Question, **changes: Signal | NoEstimate) -> dict[str, Hint]:
    _, clip, signals = room()
    return hints_beside(question, scenes_of(clip, {**signals, **changes}), [*LEAVES], 0.99)


def test_a_plan_gets_words_and_pictures_of_what_its_photos_show() -> None:
    found = hints(plan())
    assert {"depth", "size"} <= {*found}
    shown = {medium["frames"][0] for medium in plan().media}
    for kind, hint in found.items():
        assert hint.cues and hint.pictures and hint.licence["commercial_ok"] is True
        made = {"correspondence": MatchedPhotos, "depth": DepthMap, "size": Photo}[kind]
        assert all(isinstance(each.picture, made) and each.text.startswith("photo ") for each in hint.pictures)
    assert {each.picture.frame for each in found["depth"].pictures} <= shown  # type: ignore[union-attr]


def test_matched_pixels_show_one_point_of_the_room() -> None:
    scene, _, _ = room()
    frames = range(0, 8, 2)
    media = [{**plan().media[0], "frames": [frame], "id": str(frame)} for frame in frames]
    pictures = hints(replace(plan(), media=media))["correspondence"].pictures
    assert pictures
    for picture in (each.picture for each in pictures):
        assert isinstance(picture, MatchedPhotos)
        for a_px, b_px in picture.lines_px:
            a, b = (at(scene, *each) for each in zip(picture.frames, (a_px, b_px), strict=True))
            assert np.linalg.norm(a - b) < 0.1


def test_questions_of_perception_and_cropped_photos_get_none() -> None:
    assert hints(replace(plan(), ability="L1/Motion/Ego")) == {}
    assert hints(replace(plan(), media=[{**medium, "crop_px": [0, 0, 99, 99]} for medium in plan().media])) == {}


@pytest.mark.parametrize(("template", "kind"), [("goal_reached", "depth"), ("body_fit", "size")])
def test_a_question_gets_no_hint_of_the_quantity_that_it_asks_for(template: str, kind: str) -> None:
    assert kind not in hints(replace(plan(), template=template, ability=TEMPLATES.load(template)().ability))


def test_what_is_not_known_is_not_said() -> None:
    nothing = NoEstimate(reason="not measured")
    assert "size" not in hints(plan(), objects=nothing)
    assert hints(plan(), objects=nothing, depth=nothing, sparse_points=nothing, matches=nothing) == {}
