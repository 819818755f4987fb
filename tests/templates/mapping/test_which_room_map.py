"""Floor plans of four objects that no photo shows together, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Signal
from templates.asked import Draft
from templates.facts import ObjectRefs
from templates.mapping.which_room_map import ObjectsOnMaps, WhichRoomMap
from templates.measured import Measured
from templates.media import Drawing
from templates.scene.objects import found_again
from tests.templates import worlds
from tests.templates.mapping.test_map_direction import XY, turning

TEMPLATE = WhichRoomMap()
KEYS = ("first", "second", "third", "fourth")


def asked(signals: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals))


def proposed() -> ObjectsOnMaps:
    return TEMPLATE.propose(worlds.scene(turning()), np.random.default_rng(0), 60)


def measured(facts: ObjectsOnMaps) -> Measured:
    return TEMPLATE.measure(facts, worlds.scene(turning()))


def turned(draft: Draft) -> np.ndarray:
    """The true places, x to the right and y ahead of the first camera, in units of their larger extent."""
    each = [ObjectRefs.from_json([draft.fact[key]]) for key in KEYS]
    first = int(np.searchsorted(worlds.FRAMES, min(one.frame[0] for one in each)))
    scene, heading = worlds.scene(turning()), complex(*worlds.poses_turning()[first, :2, 2])
    places = np.array([complex(*XY[found_again(scene, one)[0]]) for one in each]) * 1j / heading
    xy = np.column_stack([places.real, places.imag])
    middle = (xy.max(axis=0) + xy.min(axis=0)) / 2
    return np.asarray((xy - middle) / np.ptp(xy, axis=0).max())


def middles(drawing: object) -> np.ndarray:
    assert isinstance(drawing, Drawing)
    assert [polygon.text for polygon in drawing.polygons] == ["1", "2", "3", "4"]
    return np.array([np.mean(polygon.corners, axis=0) for polygon in drawing.polygons])


def test_the_right_map_is_the_floor_with_photo_1_facing_up() -> None:
    seen = set()
    for draft in asked(turning()):
        if draft.format == "choice":
            off = [np.abs(middles(option.shown) - turned(draft)).max() for option in draft.options]
            assert [each < 0.02 for each in off] == [k == draft.written for k in range(4)]
            seen.add("choice")
            continue
        off_one = np.abs(middles(draft.media[-1]) - turned(draft)).max()
        said = str(draft.answer.to_json().answer)
        assert (off_one < 0.02) == (said == "yes")
        seen.add(said)
    assert seen == {"choice", "yes", "no"}


def test_wrong_maps_differ_visibly_and_are_named_after_mistakes() -> None:
    drafts = [draft for draft in asked(turning()) if draft.format == "choice"]
    named = {option.mistake for draft in drafts for option in draft.options}
    assert {"", "mirrored", "turned by 90°", "two objects exchanged", "one object moved"} <= named
    for draft in drafts:
        assert draft.options[draft.written].mistake == ""
        right = middles(draft.options[draft.written].shown)
        for k, option in enumerate(draft.options):
            shown = middles(option.shown)
            assert k == draft.written or np.abs((shown - shown.mean(axis=0)) - (right - right.mean(axis=0))).max() > 0.1
            if option.mistake == "mirrored":
                np.testing.assert_allclose(shown, right * [-1, 1], atol=0.02)


def test_a_larger_map_elsewhere_on_the_paper_is_the_same_map() -> None:
    facts = proposed()
    other = replace(facts, maps=1.7 * facts.maps + [0.3, -0.2])
    assert measured(facts).label is not None and (measured(facts).why == "").all()
    assert measured(other).label.tolist() == measured(facts).label.tolist()  # type: ignore[union-attr]


def test_maps_that_are_all_wrong_or_alike_are_refused() -> None:
    facts = proposed()
    wrong = replace(facts, maps=facts.maps + np.array([[0.5, 0.0], [0, 0], [0, 0], [0, 0]]))
    alike = replace(facts, maps=np.repeat(facts.maps[:, :1], 4, axis=1))
    assert "" not in measured(wrong).why and "no option is near the right one" in measured(wrong).why
    assert {*measured(alike).why.tolist()} <= {"no option is near the right one", "two options are alike"}


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
