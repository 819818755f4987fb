"""How far apart two boxed objects are, and which of three is nearest to another: exact, and silent where undecided."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.perception.object_gap import NearestObject, ObjectGap
from templates.scene.objects import found_again
from tests.templates import worlds

METRIC = worlds.with_path(worlds.signals(), scale=worlds.METRIC)


def with_objects(signals: dict[str, Signal], **changes: object) -> dict[str, Signal]:
    return {**signals, "objects": replace(signals["objects"], **changes)}  # type: ignore[type-var]


def apart(a: int, b: int) -> float:
    """Of two boxes of the made-up world, which are parallel to its axes."""
    objects = worlds.signals()["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    offset = np.abs(objects.world_from_object[0, a, :3, 3] - objects.world_from_object[0, b, :3, 3])
    return float(np.linalg.norm(np.maximum(offset - (objects.size[a] + objects.size[b]) / 2, 0)))


def test_the_gap_is_that_between_the_boxes_and_the_mistakes_are_larger() -> None:
    found = worlds.ask(ObjectGap(), METRIC)
    (asked,) = found.asked
    scene = worlds.scene(METRIC)
    pairs = np.column_stack([found_again(scene, refs) for refs in (asked.facts.first, asked.facts.second)]).tolist()
    for (a, b), draft in zip(pairs, asked.drafts(), strict=True):
        assert worlds.written(draft) == pytest.approx(apart(a, b), abs=0.006)
        assert draft.traps["centre to centre"] > worlds.written(draft)
    assert len(pairs) >= 10 and not len(worlds.ask(ObjectGap(), worlds.signals()))


@worlds.UNITS
def test_the_nearest_object_is_right_in_any_unit(unit: float) -> None:
    signals = worlds.elsewhere(3, unit)
    (asked,) = worlds.ask(NearestObject(), signals).asked
    scene = worlds.scene(signals)
    rows = [found_again(scene, refs) for refs in (asked.facts.anchor, *asked.facts.others)]
    for anchor, *others, label in zip(*rows, asked.answers.labels().tolist(), strict=True):
        assert int(label) - 1 == np.argmin([apart(anchor, other) for other in others])


@pytest.mark.parametrize("template", [ObjectGap(), NearestObject()])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"centre_sigma": np.full(6, 1.0)}, ""),
        ({"size_sigma": np.full((6, 3), np.inf)}, "the box of an object is not known"),
        ({"outlier_probability": np.full(6, 0.05)}, "not confirmed by an independent measurement"),
        ({"size": None, "size_sigma": None}, "the box of an object is not known"),
    ],
)
def test_nothing_is_asked_of_doubtful_objects(
    template: ObjectGap | NearestObject, change: dict[str, object], reason: str
) -> None:
    found = worlds.ask(template, with_objects(METRIC, **change))
    assert not len(found) and any(reason in said for said in worlds.reasons(found)), worlds.reasons(found)
