"""The same object in two photos: the right one of like-named ones, and silent where its identity is doubtful."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.answers import Region
from templates.answers.region import outside_px
from templates.perception.same_object import SameObject
from templates.scene.objects import found_again
from tests.templates import worlds

TEMPLATE = SameObject()


def changed(signals: dict[str, Signal], **changes: object) -> dict[str, Signal]:
    return {**signals, "objects": replace(signals["objects"], **changes)}  # type: ignore[type-var]


def objects() -> Objects:
    found = worlds.signals()["objects"]
    assert isinstance(found, Objects)
    return found


@worlds.UNITS
def test_the_right_box_holds_the_same_object_and_another_one_has_its_name(unit: float) -> None:
    signals = worlds.elsewhere(3, unit)
    scene = worlds.scene(signals)
    asked = next(each for each in worlds.ask(TEMPLATE, signals).asked if each.format == "choice")
    options = np.column_stack([found_again(scene, refs) for refs in asked.facts.options])
    right = options[np.arange(len(asked)), asked.answers.labels().astype(int) - 1]
    assert len(asked) >= 10 and (right == found_again(scene, asked.facts.object)).all()
    names = np.array(objects().labels)
    assert ((names[options] == names[right][:, None]).sum(axis=1) >= 2).all()


def test_any_pixel_of_the_object_is_right_where_photo_2_has_a_mask() -> None:
    drafts = [d for d in worlds.drafts(worlds.ask(TEMPLATE, worlds.signals(), facts=100)) if d.format == "point"]
    for draft in drafts:
        assert isinstance(draft.answer, Region) and "640 × 480 pixels" in draft.prompt
        assert outside_px(draft.answer.xy_px, draft.answer.outline) < 0
        assert draft.fact["first"]["frame"] in worlds.FRAMES[: worlds.MASKED]
    assert drafts


def test_wrong_boxes_are_named_mistakes() -> None:
    drafts = [d for d in worlds.drafts(worlds.ask(TEMPLATE, worlds.signals())) if d.format == "choice"]
    assert drafts and all(option.mistake for d in drafts for k, option in enumerate(d.options) if k != d.written)
    assert {option.mistake for d in drafts for option in d.options} >= {"at the same place in the photo"}


def test_half_of_the_objects_are_not_where_they_were_in_the_photo() -> None:
    drafts = [d for d in worlds.drafts(worlds.ask(TEMPLATE, worlds.signals())) if d.format == "choice"]
    fooled = [any(option.mistake == "at the same place in the photo" for option in d.options) for d in drafts]
    assert np.mean(fooled) >= 0.3


def test_an_object_that_its_place_does_not_confirm_is_not_asked_about() -> None:
    """The two chairs are taken for each other from the middle of the clip on."""
    known = objects()
    assert known.box_px is not None
    boxes = known.box_px.copy()
    boxes[12:, [0, 4]] = boxes[12:, [4, 0]]
    signals = changed(worlds.signals(), box_px=boxes)
    asked = worlds.ask(TEMPLATE, signals, facts=100).asked
    frames = np.concatenate([each.facts.all_frames() for each in asked]) if asked else np.empty((0, 4))
    assert (frames < worlds.FRAMES[12]).all()
    facts = worlds.ask(TEMPLATE, worlds.signals(), facts=100).asked[0].facts
    why = TEMPLATE.measure(facts, worlds.scene(signals)).why
    late = (facts.all_frames() >= worlds.FRAMES[12]).any(axis=1)
    assert late.any() and (why[late] != "").all()


def test_an_object_that_may_be_listed_twice_is_not_asked_about() -> None:
    known = objects()
    facts = worlds.ask(TEMPLATE, worlds.signals(), facts=100).asked[0].facts
    poses = known.world_from_object.copy()
    poses[:, 4] = poses[:, 0]
    poses[:, 4, 0, 3] += 0.1
    why = TEMPLATE.measure(facts, worlds.scene(changed(worlds.signals(), world_from_object=poses))).why
    assert "one object may be listed twice" in {*why.tolist()} and "" not in {*why.tolist()}


@pytest.mark.parametrize(
    "change",
    [
        {"centre_sigma": np.full(6, 5.0)},
        {"outlier_probability": np.full(6, 0.05)},
        {"size": None, "size_sigma": None},
        {"labels": ("chair", "table", "lamp", "sofa", "stool", "picture")},
    ],
)
def test_nothing_is_asked_of_doubtful_objects_or_without_like_named_ones(change: dict[str, object]) -> None:
    assert not len(worlds.ask(TEMPLATE, changed(worlds.signals(), **change)))


def test_neither_world_frame_nor_unit_matters() -> None:
    here, there = (worlds.ask(TEMPLATE, signals) for signals in (worlds.signals(), worlds.elsewhere(4, 3.0)))
    shown = [
        [worlds.shown(draft) for draft in worlds.drafts(each) if draft.format == "choice"] for each in (here, there)
    ]
    assert shown[0] and shown[0] == shown[1]
