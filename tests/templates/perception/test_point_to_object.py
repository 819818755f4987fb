"""Pointing to named objects: any pixel well inside the mask, if the name means one object alone."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects
from templates.answers import Region
from templates.answers.region import outside_px
from templates.perception.object_pointing import PointToObject
from tests.templates import worlds

TEMPLATE = PointToObject()


def photo(*labels: str, doubt: float = 0.0) -> Objects:
    """A frame of 10 px cells: a ring, a bar, and a square."""
    ids = np.full((1, 48, 64), -1, dtype=np.int32)
    ids[0, 5:25, 5:25], ids[0, 12:18, 12:18] = 0, -1
    ids[0, 30:36, 5:40], ids[0, 5:20, 40:55] = 1, 2
    return Objects(
        frames=np.array([0]),
        labels=labels or ("ring", "bar", "square"),
        ids=ids,
        world_from_object=np.full((1, 3, 4, 4), np.nan),
        provenance=worlds.SOURCE,
        name_outlier_probability=np.full(3, doubt),
        complete=("*",),
    )


def regions(objects: Objects) -> dict[str, Region]:
    """By name."""
    drafts = worlds.drafts(worlds.ask(TEMPLATE, {"objects": objects}))
    for draft in drafts:
        assert "640 × 480 pixels" in draft.prompt and draft.fact["object"]["name"] in draft.prompt
    return {draft.fact["object"]["name"]: draft.answer for draft in drafts}  # type: ignore[misc]


def test_pixels_in_the_mask_are_right_but_for_its_rim_and_its_holes() -> None:
    found, ids = regions(photo()), photo().ids[0]
    assert found.keys() == {"ring", "bar", "square"}
    xy = np.stack(np.meshgrid(np.arange(640), np.arange(480)), axis=-1).reshape(-1, 2)[::7].astype(float)
    for number, name in enumerate(("ring", "bar", "square")):
        inside = outside_px(xy, found[name].outline) <= 0
        column, row = (xy // 10).astype(int).T
        own = ids[row, column] == number
        assert inside.any() and (own[inside]).all(), name
        assert inside[own].mean() > 0.4, name
        assert not outside_px(found[name].xy_px, found[name].outline) > 0


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("chair", "Chair_2", "table"), {"table"}),
        (("chair", "armchair", "table"), {"table"}),
        (("chair", "stuff", "table"), set()),
        (("chair", "椅子", "table"), set()),
    ],
)
def test_a_name_that_may_mean_another_object_is_not_asked_for(labels: tuple[str, ...], expected: set[str]) -> None:
    assert regions(photo(*labels)).keys() == expected


def test_a_name_of_which_not_every_object_is_listed_is_not_asked_for() -> None:
    assert regions(replace(photo(), complete=("Bar_2",))).keys() == {"bar"}
    assert not regions(replace(photo(), complete=()))
    facts = TEMPLATE.propose(worlds.scene({"objects": photo()}), np.random.default_rng(0), 9)
    measured = TEMPLATE.measure(facts, worlds.scene({"objects": replace(photo(), complete=())}))
    assert {*measured.why.tolist()} == {"not every object of this name is listed"}


def test_names_that_may_be_wrong_are_not_asked_for() -> None:
    assert regions(photo(doubt=0.002)) and not regions(photo(doubt=0.01))


def test_thin_and_small_objects_are_not_asked_for() -> None:
    ids = photo().ids.copy()
    ids[ids == 1] = -1
    ids[0, 30, 5:40] = 1
    ids[ids == 2] = -1
    ids[0, 5:8, 40:43] = 2
    assert regions(replace(photo(), ids=ids)).keys() == {"ring"}


def test_an_object_that_a_detector_found_in_other_photos_alone_may_be_missed_here() -> None:
    """The second chair's box reaches into every photo."""
    signals, size = worlds.signals(), worlds.signals()["objects"]
    assert isinstance(size, Objects)
    name = {draft.fact["object"]["name"] for draft in worlds.drafts(worlds.ask(TEMPLATE, signals))}
    assert "table" in name and "chair" not in name
    one = replace(size, ids=np.where(size.ids == 4, -1, size.ids))
    assert "chair" not in {
        d.fact["object"]["name"] for d in worlds.drafts(worlds.ask(TEMPLATE, {**signals, "objects": one}))
    }
    sure = replace(one, centre_sigma=None, size_sigma=None)
    assert "chair" in {
        d.fact["object"]["name"] for d in worlds.drafts(worlds.ask(TEMPLATE, {**signals, "objects": sure}))
    }


def test_boxes_alone_give_no_outline() -> None:
    signals = worlds.signals()
    boxes = replace(signals["objects"], ids=np.full((len(worlds.FRAMES), 1, 1), -1, dtype=np.int32))  # type: ignore[type-var]
    assert not worlds.ask(TEMPLATE, {**signals, "objects": boxes}).asked
