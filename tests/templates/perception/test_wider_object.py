"""Widths of two boxed objects: exact, of upright boxes alone, and only where both sides are known."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Objects
from templates.perception.object_size import WiderObject
from tests.templates import worlds

TEMPLATE = WiderObject()
WIDTHS = {"chair": (0.4, 0.8), "table": (1.0,), "lamp": (0.6,), "sofa": (1.4,), "picture": (1.2,)}


@worlds.UNITS
def test_ratios_are_those_of_the_longer_horizontal_sides(unit: float) -> None:
    found = worlds.ask(TEMPLATE, worlds.elsewhere(3, unit))
    assert {asked.format for asked in found.asked} == {"choice", "numeric"}
    for asked in found.asked:
        for params, draft in zip(asked.facts.to_json(), asked.drafts(), strict=True):
            ratios = {b / a for a in WIDTHS[params["first"]["name"]] for b in WIDTHS[params["second"]["name"]]}
            if asked.format == "numeric":
                assert min(abs(worlds.written(draft) / ratio - 1) for ratio in ratios) < 0.011  # two decimals
            else:
                right = draft.options[worlds.written(draft)].shown
                assert right in {"Box 2" if ratio > 1 else "Box 1" for ratio in ratios}


@pytest.mark.parametrize("tilt_deg", [0.0, 25.0])
def test_boxes_that_are_not_upright_have_no_width(tilt_deg: float) -> None:
    signals = worlds.signals()
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    poses = objects.world_from_object.copy()
    poses[..., :3, :3] = Rotation.from_euler("x", tilt_deg, degrees=True).as_matrix()
    found = worlds.ask(TEMPLATE, signals | {"objects": replace(objects, world_from_object=poses)})
    assert bool(sum(map(len, found.asked))) == (tilt_deg == 0)
    assert tilt_deg == 0 or "the width of an object is not known" in worlds.reasons(found)


def test_an_end_that_was_not_seen_leaves_the_width_unknown() -> None:
    signals = worlds.signals()
    unseen = replace(signals["objects"], size_sigma=np.full((6, 3), np.inf))  # type: ignore[type-var]
    assert not sum(map(len, worlds.ask(TEMPLATE, signals | {"objects": unseen}).asked))


def test_without_gravity_or_with_an_unknown_up_nothing_is_asked() -> None:
    assert not worlds.ask(TEMPLATE, worlds.signals(with_gravity=False)).asked


@pytest.mark.parametrize(
    "change",
    [{"labels": ("机", "<b>テーブル</b>", "椅子", "灯", "图", "1")}, {"name_outlier_probability": np.full(6, 0.3)}],
)
def test_objects_of_doubtful_name_are_called_objects(change: dict[str, object]) -> None:
    signals = worlds.signals()
    found = worlds.ask(TEMPLATE, signals | {"objects": replace(signals["objects"], **change)})  # type: ignore[type-var]
    texts = [draft.prompt for draft in worlds.drafts(found)]
    assert texts and all("object" in text and not re.search("[^\x00-\x7f]|chair|table", text) for text in texts)
    sure = worlds.ask(
        TEMPLATE, {**signals, "objects": replace(signals["objects"], name_outlier_probability=np.full(6, 0.002))}
    )  # type: ignore[type-var]
    assert any(re.search("chair|table|lamp", draft.prompt) for draft in worlds.drafts(sure))
