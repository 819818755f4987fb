"""Which of three statements about two objects is true: one sideways, one in height, one in distance."""

from dataclasses import replace

import numpy as np

from experts.signals import Gravity, Objects, Signal
from templates.asked import Draft
from templates.perception.side_of import SideOf
from templates.scene.compared import AXES
from tests.templates import worlds
from tests.templates.facing_world import mirrored

TEMPLATE = SideOf()


def drafts(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, dict(signals), facts=60))


PLACES = {"table": (0.1, 3.6, -0.5), "lamp": (0.9, 4.6, 0.3), "sofa": (1.9, 5.6, -0.5), "picture": (0, 8, 0.8)}
"""Of the objects whose names are unique, in the world of the first camera: right, ahead, up."""


def test_one_statement_is_true_in_the_world() -> None:
    found = [d for d in drafts(worlds.signals()) if {d.fact[k]["name"] for k in ("first", "second")} <= PLACES.keys()]
    assert len(found) >= 8
    for draft in found:
        (_, *a), (_, *b) = (PLACES[draft.fact[name]["name"]] for name in ("first", "second"))
        true = {AXES[1][0] if a[1] > b[1] else AXES[1][1], AXES[2][0] if a[0] < b[0] else AXES[2][1]}
        for name in ("height", "distance"):
            assert (draft.fact[name] in true) == (draft.answer.to_json().answer == draft.fact[name])
        boxes = [np.array(draft.fact[name]["box_px"])[:, 0] for name in ("first", "second")]
        sideways = AXES[0][int(boxes[0].mean() > boxes[1].mean())]
        assert (draft.fact["sideways"] == sideways) == (draft.answer.to_json().answer == sideways)


def test_every_wrong_option_is_a_mistake_and_each_place_is_right_in_turn() -> None:
    found = drafts(worlds.signals())
    for draft in found:
        assert all(option.mistake for k, option in enumerate(draft.options) if k != draft.written)
    assert {draft.written for draft in found} == {0, 1, 2}
    misled = [any(option.mistake.endswith("in the picture") for option in draft.options) for draft in found]
    assert np.mean(misled) >= 0.4


def test_a_mirror_exchanges_left_and_right_alone() -> None:
    here, there = drafts(worlds.signals()), drafts(mirrored(worlds.signals()))
    said = [[worlds.in_a_mirror(str(option.shown)) for option in draft.options] for draft in here]
    assert said == [[option.shown for option in draft.options] for draft in there]
    assert [draft.written for draft in here] == [draft.written for draft in there]


@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    here, there = (
        [(draft.prompt, draft.written) for draft in drafts(s)] for s in (worlds.signals(), worlds.elsewhere(3, unit))
    )
    assert sorted(here) == sorted(there)


def test_uncertain_places_a_camera_held_aslant_and_no_gravity_silence_it() -> None:
    signals = worlds.signals()
    objects, gravity = signals["objects"], signals["gravity"]
    assert isinstance(objects, Objects) and isinstance(gravity, Gravity) and objects.centre_sigma is not None
    assert not drafts({**signals, "objects": replace(objects, centre_sigma=30 * objects.centre_sigma)})
    aslant = np.tile([np.sin(0.5), -np.cos(0.5), 0.0], (len(gravity.frames), 1))
    assert not drafts({**signals, "gravity": replace(gravity, up_cam=aslant)})
    assert not drafts({name: signal for name, signal in signals.items() if name != "gravity"})
