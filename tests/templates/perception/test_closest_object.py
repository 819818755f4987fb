"""Which of three boxed objects is closest: exact, silent where the evidence does not decide, framed by pixels alone."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects
from templates.perception.object_distance import ClosestObject
from templates.scene.objects import found_again
from tests.templates import worlds

TEMPLATE = ClosestObject()


def test_the_mark_of_the_closest_object_is_right() -> None:
    signals = worlds.signals()
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    here, (asked,) = worlds.scene(signals), worlds.ask(TEMPLATE, signals).asked
    for params, label in zip(asked.facts.to_json(), asked.answers.labels().tolist(), strict=True):
        camera = here.world_from_cam(params["first"]["frame"])[:3, 3]
        middles = objects.world_from_object[0, :, :3, 3]
        each = [middles[_called(here, objects, params[name])] for name in ("first", "second", "third")]
        assert int(label) - 1 == np.argmin([np.linalg.norm(middle - camera) for middle in each])


def _called(here: object, objects: Objects, ref: dict[str, object]) -> int:
    """The object whose detected box is that of the reference."""
    assert objects.box_px is not None
    row = int(np.flatnonzero(objects.frames == ref["frame"])[0])
    return int(np.nanargmin(np.abs(objects.box_px[row].clip([0, 0], [639, 479]) - ref["box_px"]).sum(axis=(1, 2))))


def test_the_third_object_may_be_the_closest_if_its_distance_is_doubtful() -> None:
    signals = worlds.signals()
    objects = signals["objects"]
    assert isinstance(objects, Objects) and objects.centre_sigma is not None
    here = worlds.scene(signals)
    facts = TEMPLATE.propose(here, np.random.default_rng(0), 20)
    known = TEMPLATE.measure(facts, here)
    row = int(np.flatnonzero(known.why == "")[0])
    farthest = (facts.first, facts.second, facts.third)[int(known.value[row].argmax())]
    doubt = objects.centre_sigma.copy()
    doubt[found_again(here, farthest)[row]] = known.value[row].max() - known.value[row].min()
    other = worlds.scene(signals | {"objects": replace(objects, centre_sigma=doubt)})
    assert known.margin is not None and known.margin[row] > 2
    again = TEMPLATE.measure(facts, other).margin
    assert again is not None and again[row] < 1.1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"centre_sigma": np.full(6, 2.0)}, "too close to call"),
        ({"centre_sigma": np.full(6, np.nan)}, "the distance of an object is not known"),
        ({"outlier_probability": np.full(6, 0.05)}, "not confirmed by an independent measurement"),
        ({"size": None, "size_sigma": None}, "the distance of an object is not known"),
    ],
)
def test_nothing_is_asked_of_doubtful_objects(change: dict[str, object], reason: str) -> None:
    signals = worlds.signals()
    found = worlds.ask(TEMPLATE, signals | {"objects": replace(signals["objects"], **change)})  # type: ignore[type-var]
    assert not sum(map(len, found.asked))
    assert any(reason in said for said in worlds.reasons(found)), worlds.reasons(found)
