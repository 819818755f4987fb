"""Where a third object is for someone at one who faces another, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.asked import Draft
from templates.facts import ObjectRefs
from templates.mapping.map_direction import FromObject, MapDirection
from templates.media import Photo
from templates.perception.eight_directions import DIRECTIONS
from templates.scene.objects import found_again, seen_objects
from templates.scene.scattered import shown_together
from tests.templates import worlds

TEMPLATE = MapDirection()
XY = np.array([[-0.8, 2.6], [0.1, 3.6], [0.9, 4.6], [1.9, 5.6], [2.6, 6.6], [0, 8]])
"""Of the objects of the world, whose z is up."""


def turning() -> dict[str, Signal]:
    """The objects come into view one after the other."""
    return worlds.signals(poses=worlds.poses_turning())


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals))


def ref(draft: Draft, key: str) -> ObjectRefs:
    return ObjectRefs.from_json([draft.fact[key]])


def test_the_answer_is_the_angle_between_known_places() -> None:
    scene, drafts = worlds.scene(turning()), asked(turning())
    assert {draft.format for draft in drafts} == {"choice", "numeric"}
    for draft in drafts:
        at, facing, sought = (
            complex(*XY[found_again(scene, ref(draft, key))[0]]) for key in ("at", "facing", "sought")
        )
        clockwise = -np.angle((sought - at) / (facing - at), deg=True)
        said = draft.answer.to_json().answer
        stated, limit = (said, 0.6) if draft.format == "numeric" else (45 * DIRECTIONS.index(said), 22.5)
        assert abs((clockwise - stated + 180) % 360 - 180) <= limit
        assert draft.format != "numeric" or abs((draft.traps["mirrored"] + said + 180) % 360 - 180) <= 1


def test_each_object_is_boxed_once_and_no_photo_shows_all() -> None:
    scene = worlds.scene(turning())
    for draft in asked(turning()):
        photos = [medium for medium in draft.media if isinstance(medium, Photo)]
        assert [photo.frame for photo in photos] == sorted({photo.frame for photo in photos})
        assert sorted(mark.text for photo in photos for mark in photo.marks) == ["1", "2", "3"]
        each = [ref(draft, key) for key in ("at", "facing", "sought")]
        found = np.array([[found_again(scene, one)[0] for one in each]])
        assert not shown_together(scene, np.array([[one.frame[0] for one in each]]), found)


def test_objects_of_one_photo_and_places_too_near_are_refused() -> None:
    scene = worlds.scene(turning())
    seen = seen_objects(scene)
    frame, count = np.unique(seen.frame, return_counts=True)
    rows = np.flatnonzero(seen.frame == frame[count.argmax()])[:3]
    at, facing, sought = (seen.take(rows[[k]]).refs() for k in range(3))
    together = TEMPLATE.measure(FromObject(at=at, facing=facing, sought=sought), scene)
    assert together.why.tolist() == ["one photo shows all three objects"]
    signals = turning()
    objects = signals["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    broad = {**signals, "objects": replace(objects, size=objects.size * [8, 8, 1])}
    refs = TEMPLATE.propose(scene, np.random.default_rng(0), 40)
    assert {*TEMPLATE.measure(refs, worlds.scene(broad)).why.tolist()} == {
        "one photo shows all three objects",
        "two objects are too near to each other",
        "an object lies in several directions",
    }


@pytest.mark.parametrize(
    "changes",
    [{"rotation_sigma_rad": np.full(len(worlds.FRAMES), 0.3)}, {"position_sigma": np.full(len(worlds.FRAMES), 5.0)}],
)
def test_with_large_sigma_nothing_is_asked(changes: dict[str, object]) -> None:
    assert not asked(worlds.with_path(turning(), **changes))


@pytest.mark.parametrize(("seed", "unit"), [(1, 0.03), pytest.param(2, 40.0, marks=pytest.mark.long)])
def test_no_choice_of_world_or_unit_changes_the_questions(seed: int, unit: float) -> None:
    first, second = (asked(known) for known in (turning(), worlds.elsewhere(seed, unit, worlds.poses_turning())))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_in_a_mirror_left_is_right() -> None:
    """The path and the objects of the mirrored footage, measured at the same references."""
    signals, flip = turning(), np.diag([-1.0, 1, 1, 1])
    scene = worlds.scene(signals)
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 40)
    objects = signals["objects"]
    assert isinstance(objects, Objects)
    mirrored = worlds.mirrored(signals) | {
        "objects": replace(objects, world_from_object=flip @ objects.world_from_object @ flip)
    }
    one, other = (TEMPLATE.measure(facts, worlds.scene(known)).value[:, 0] for known in (signals, mirrored))
    np.testing.assert_allclose(np.angle(np.exp(1j * (one + other))), 0, atol=1e-6)


def test_the_reasoning_gives_places_as_right_and_ahead() -> None:
    scene = worlds.scene(turning())
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 10)
    found = TEMPLATE.measure(facts, scene)
    right, ahead = np.moveaxis(np.stack([found.evidence["to_faced"], found.evidence["to_sought"]]), -1, 0)
    clockwise = np.diff(np.arctan2(right, ahead), axis=0)[0]
    np.testing.assert_allclose(np.exp(1j * clockwise), np.exp(1j * found.value[:, 0]), atol=0.05)
