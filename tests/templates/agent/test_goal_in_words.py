"""How to get to the place before the front of an object, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Room, Signal
from templates.agent.goal_in_words import GoalInWords
from templates.asked import Draft
from tests.templates import worlds
from tests.templates.facing_world import facing

TEMPLATE = GoalInWords()
NAMES = ("chair", "table", "lamp", "sofa", "box", "picture")
PLACES = [(0.0, 4.4), (1.3, 4.3), (1.0, 6.2), (-1.2, 4.6), (2.6, 6.6), (0.0, 8.0)]


def signals(turn_deg: float = 0, **changes: float) -> dict[str, Signal]:
    headings = [each + turn_deg for each in (10.0, 190, 100, 280, 20, 90)]
    known = facing(headings, PLACES, **changes)  # type: ignore[arg-type]
    objects = known["objects"]
    assert isinstance(objects, Objects)
    return worlds.with_hall({**known, "objects": replace(objects, labels=NAMES)})


def drafts(known: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, {**known}, facts=40))


@pytest.mark.parametrize("turn_deg", [0, 45, 90, 180])
def test_the_goal_is_on_that_side_and_the_turn_faces_the_object(turn_deg: float) -> None:
    """On the plan, with complex numbers: i is ahead of the first camera, and left is a quarter further on."""
    found = drafts(signals(turn_deg))
    assert len(found) >= 4
    objects = signals(turn_deg)["objects"]
    assert isinstance(objects, Objects) and objects.size is not None
    for draft in found:
        k = NAMES.index(draft.fact["object"]["name"])
        pose = worlds.camera_poses()[draft.fact["object"]["frame"] // 2]
        heading = (10.0, 190, 100, 280, 20, 90)[k] + turn_deg
        out = 1j * np.exp(-1j * np.radians(heading))
        x, y = objects.size[k, :2] / 2
        reach = max((complex(a * x, b * y) / out).real for a in (-1, 1) for b in (-1, 1)) + draft.fact["before_m"]
        ahead = complex(*pose[:2, 2]) / abs(complex(*pose[:2, 2]))
        way = (complex(*PLACES[k]) + reach * out - complex(*pose[:2, 3])) / ahead
        turn = float(np.angle(-out / ahead))
        assert draft.answer.to_json().answer == ", then ".join("left" if s > 0 else "right" for s in (way.imag, turn))


def test_names_that_may_mean_several_objects_are_refused() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects)
    twins = {**known, "objects": replace(objects, labels=("chair",) * 6)}
    assert drafts(known) and not drafts(twins)


def test_a_goal_beyond_the_walls_or_under_another_object_is_refused() -> None:
    known = signals()
    room, objects = known["room"], known["objects"]
    assert isinstance(room, Room) and isinstance(objects, Objects) and objects.size is not None
    facts = TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 40)
    facts = facts.take(facts.object.name != "picture")
    large = replace(objects, size=np.vstack([objects.size[:5], [[30.0, 30, 3]]]))
    small = replace(room, outline=room.outline * 0.01)
    assert len(facts) >= 4 and (TEMPLATE.measure(facts, worlds.scene(known)).why == "").all()
    for changed in ({**known, "room": small}, {**known, "objects": large}):
        assert {*TEMPLATE.measure(facts, worlds.scene(changed)).why.tolist()} == {"something stands at the goal"}


def test_without_metres_or_fronts_nothing_is_asked() -> None:
    known = signals()
    assert not drafts(worlds.with_path(known, scale=replace(worlds.METRIC, kind="relative", relative_sigma=None)))
    assert not drafts(signals(sigma_deg=60.0))
    assert not drafts(signals(fronts=2))


def test_a_name_of_which_not_every_object_is_listed_is_refused() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects)
    facts = TEMPLATE.propose(worlds.scene(known), np.random.default_rng(0), 40)
    unknown = {**known, "objects": replace(objects, complete=())}
    assert {*TEMPLATE.measure(facts, worlds.scene(unknown)).why.tolist()} == {"not every object of this name is listed"}
    sofas = drafts({**known, "objects": replace(objects, complete=("sofa",))})
    assert {draft.fact["object"]["name"] for draft in sofas} == {"sofa"} and not drafts(unknown)
