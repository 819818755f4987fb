"""Maps of four objects that no photo shows together, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.asked import Draft
from templates.facts import ObjectRefs
from templates.mapping.map_json import MapJson
from templates.media import Photo
from templates.scene.objects import found_again
from tests.templates import worlds
from tests.templates.mapping.test_map_direction import XY, turning

TEMPLATE = MapJson()
KEYS = ("first", "second", "third", "fourth")


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals))


def refs(draft: Draft) -> list[ObjectRefs]:
    return [ObjectRefs.from_json([draft.fact[key]]) for key in KEYS]


def test_the_map_is_the_floor_with_photo_1_facing_up() -> None:
    scene, drafts, poses = worlds.scene(turning()), asked(turning()), worlds.poses_turning()
    assert drafts
    for draft in drafts:
        each = refs(draft)
        first = min(one.frame[0] for one in each)
        assert isinstance(draft.media[0], Photo) and draft.media[0].frame == first
        heading = complex(*poses[int(np.searchsorted(worlds.FRAMES, first)), :2, 2])
        turned = np.array([complex(*XY[found_again(scene, one)[0]]) for one in each]) * 1j / heading
        x, y = turned.real, -turned.imag
        scale = 9 / max(np.ptp(x), np.ptp(y))
        expected = np.column_stack([(v - (v.max() + v.min()) / 2) * scale + 4.5 for v in (x, y)])
        stated = [entry["position"] for entry in draft.answer.to_json().answer.values()]
        np.testing.assert_allclose(stated, expected, atol=0.06)


def test_objects_of_one_name_are_told_apart_by_the_numbers_of_their_boxes() -> None:
    renamed = ("chair", "table", "lamp", "sofa", "table", "lamp")
    objects = turning()["objects"]
    assert isinstance(objects, Objects)
    drafts = asked(turning()) + asked({**turning(), "objects": replace(objects, labels=renamed)})
    for draft in drafts:
        names, keys = [draft.fact[key]["name"] for key in KEYS], [*draft.answer.to_json().answer]
        numbered = [f"{name} {number}" for number, name in enumerate(names, start=1)]
        assert keys == (names if len({*names}) == len(names) else numbered)
        assert all(f'"{key}" (box {number})' in draft.prompt for number, key in enumerate(keys, start=1))
    assert {len({draft.fact[key]["name"] for key in KEYS}) for draft in drafts} == {3, 4}


def test_a_pair_near_a_diagonal_is_refused() -> None:
    scene = worlds.scene(turning())
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 40)
    objects = turning()["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    measured = TEMPLATE.measure(facts, scene)
    xy = measured.value.reshape(-1, 4, 2)
    a, b = np.triu_indices(4, 1)
    offset = np.abs(xy[:, b] - xy[:, a])
    assert (np.abs(offset[..., 0] - offset[..., 1]) >= 0.5).all() and (measured.why == "").all()
    one = facts.take(np.array([0]))
    moved = objects.world_from_object.copy()
    where = [found_again(scene, ref)[0] for ref in one.refs]
    heading = worlds.poses_turning()[int(np.searchsorted(worlds.FRAMES, one.frames.min())), :3, 2]
    right = np.cross(heading, [0, 0, 1.0])
    moved[:, where[1], :3, 3] = moved[:, where[0], :3, 3] + 2 * heading + 2.05 * right
    close = worlds.scene({**turning(), "objects": replace(objects, world_from_object=moved)})
    assert TEMPLATE.measure(one, close).why.tolist() == ["the direction between two objects is too close to call"]


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
