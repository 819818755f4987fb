"""Which of three objects of one photo is on a side of an object of another photo, as that one faces."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.mapping.from_object import SIDES, FromObject
from tests.templates import worlds
from tests.templates.facing_world import facing, mirrored

TEMPLATE = FromObject()
HEADINGS_DEG = [10.0, 190.0, 100, 280, 20, 90]
PLACES = {
    "chair": (0.0, 4.4),
    "table": (1.3, 4.3),
    "lamp": (1.0, 6.2),
    "sofa": (-1.2, 4.6),
    "box": (2.6, 6.6),
    "picture": (0.0, 8.0),
}
"""x and y of each object."""


def signals(turn_deg: float = 0, **changes: float) -> dict[str, Signal]:
    known = facing([heading + turn_deg for heading in HEADINGS_DEG], [*PLACES.values()], **changes)  # type: ignore[arg-type]
    objects = known["objects"]
    assert isinstance(objects, Objects)
    return {**known, "objects": replace(objects, labels=(*PLACES,))}


def asked(known: dict[str, Signal]) -> list[tuple[str, str, str]]:
    """Name of the first object, side, and name of the object there."""
    found = worlds.ask(TEMPLATE, dict(known), facts=30)
    each = [
        (draft.fact["anchor"]["name"], draft.fact["side"], draft.fact[("first", "second", "third")[draft.written]])  # type: ignore[index]
        for draft in worlds.drafts(found)
    ]
    return [(anchor, side, ref["name"]) for anchor, side, ref in each]


@pytest.mark.parametrize("in_a_mirror", [False, True])
def test_the_object_on_the_side_is_named(in_a_mirror: bool) -> None:
    """By complex numbers on the plan: a quarter to the right divides by i."""
    sides = set()
    for turn_deg in (0, 45, 90, 180):
        known = signals(turn_deg)
        for anchor, side, name in asked(mirrored(known) if in_a_mirror else known):
            x, y = np.subtract(PLACES[name], PLACES[anchor])
            ahead = 1j * np.exp(-1j * np.radians(HEADINGS_DEG[[*PLACES].index(anchor)] + turn_deg))
            turn = complex(x, y) / ahead
            assert abs(np.angle((turn.conjugate() if in_a_mirror else turn) * 1j ** SIDES.index(side), deg=True)) <= 30
            sides.add((anchor, side, name))
    assert len(sides) >= 8 and {side for _, side, _ in sides} == {*SIDES}


@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    here, there = (asked(worlds.detected(known)) for known in (worlds.signals(), worlds.elsewhere(3, unit)))
    assert {*here} == {*there} and len(here) >= 5


def test_both_cameras_have_another_object_there_in_three_of_five_questions() -> None:
    (found,) = worlds.ask(TEMPLATE, {**signals()}, facts=60).asked
    wrong = [
        found.traps[name] != found.answers.labels()
        for name in ("seen from the camera of photo 1", "as photo 2 shows them")
    ]
    assert len(found) >= 20 and np.all(wrong, axis=0).mean() >= 0.6


@pytest.mark.parametrize("changes", [{"sigma_deg": 40.0}, {"fronts": 2}, {"tilts_deg": [80.0] * 6}])
def test_nothing_is_asked_of_what_has_no_sure_front(changes: dict[str, float]) -> None:
    assert not asked(signals(**changes))


def test_uncertain_places_missing_gravity_and_no_objects_silence_the_template() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects) and objects.centre_sigma is not None and objects.size is not None
    for changed in (
        replace(objects, centre_sigma=100 * objects.centre_sigma),
        replace(objects, size=np.full_like(objects.size, np.nan)),
    ):
        assert not asked({**known, "objects": changed})
    for lacking in ("gravity", "objects", "object_orientation"):
        assert not asked({name: signal for name, signal in known.items() if name != lacking})
