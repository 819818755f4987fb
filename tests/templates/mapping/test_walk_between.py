"""What fits between two objects, in a small world in which all objects stand on the floor."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.asked import Draft
from templates.facts import ObjectRefs
from templates.mapping.walk_between import WalkBetween
from templates.scene.objects import found_again
from templates.scene.scene import Scene
from tests.templates import worlds

FLOOR_M = -1.6


def standing(floor_m: float = FLOOR_M) -> dict[str, Signal]:
    """Six objects side by side, 50 cm high; unturned, their sides are those of the axes of the world."""
    known = worlds.signals()
    objects = known["objects"]
    assert isinstance(objects, Objects)
    poses = objects.world_from_object.copy()
    poses[..., :3, 3] = [(x, 6.0, FLOOR_M + 0.25) for x in (-2.2, -1.4, -0.3, 0.6, 1.8, 2.8)]
    sides = np.tile([0.4, 0.4, 0.5], (6, 1))
    exact = replace(
        objects, world_from_object=poses, size=sides, centre_sigma=np.full(6, 0.005), size_sigma=np.full((6, 3), 0.005)
    )
    return worlds.with_floor(worlds.detected({**known, "objects": replace(exact, box_px=None)}), z=floor_m)


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(WalkBetween(), signals))


def passage(scene: Scene, draft: Draft) -> float:
    """Between rectangles whose sides are parallel."""
    rows = [int(found_again(scene, ObjectRefs.from_json([draft.fact[key]]))[0]) for key in ("first", "second")]
    objects = scene.objects
    assert objects is not None and objects.size is not None
    apart = np.abs(np.subtract(*objects.world_from_object[0, rows, :2, 3])) - objects.size[rows, :2].sum(axis=0) / 2
    return float(np.linalg.norm(np.maximum(apart, 0)))


def test_answers_are_those_of_the_rectangles_and_balanced() -> None:
    drafts, scene = asked(standing()), worlds.scene(standing())
    words = [draft.answer.to_json().answer for draft in drafts]
    assert len(words) >= 12 and 0.35 <= words.count("yes") / len(words) <= 0.65
    for draft, word in zip(drafts, words, strict=True):
        assert word == ("yes" if passage(scene, draft) > draft.fact["width_cm"] / 100 else "no")


def test_wider_objects_leave_less_room() -> None:
    template, known = WalkBetween(), standing()
    objects = known["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    facts = template.propose(worlds.scene(known), np.random.default_rng(0), 30)
    broad = {**known, "objects": replace(objects, size=objects.size + np.array([0.1, 0.1, 0.0]))}
    one, other = (template.measure(facts, worlds.scene(each)) for each in (known, broad))
    both = (one.why == "") & (other.why == "")
    less = (one.value - other.value)[both]
    assert both.sum() >= 4 and (less > 0.09).all() and (less < 0.15).all()


@pytest.mark.parametrize(
    ("signals", "reason"),
    [
        (standing(floor_m=-1.9), "an object does not clearly stand on the floor"),
        ({k: v for k, v in standing().items() if k != "room"}, "the floor is not known"),
        (worlds.with_path(standing(), scale=worlds.signals()["camera_path"].scale), "scale is not metric"),  # type: ignore[union-attr]
    ],
)
def test_what_is_missing_is_said(signals: dict[str, Signal], reason: str) -> None:
    facts = WalkBetween().propose(worlds.scene(standing()), np.random.default_rng(0), 8)
    assert len(facts) and {*WalkBetween().measure(facts, worlds.scene(signals)).why.tolist()} == {reason}


def test_objects_of_unknown_size_decide_nothing() -> None:
    objects = standing()["objects"]
    assert isinstance(objects, Objects)
    assert not asked({**standing(), "objects": replace(objects, size_sigma=np.full((6, 3), 1.0))})
