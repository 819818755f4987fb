"""On which side an object is for someone who faces as another one does."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Gravity, Objects, Signal
from templates.perception.beside_facing import SIDES, BesideFacing
from tests.templates import worlds
from tests.templates.facing_world import facing, mirrored

TEMPLATE = BesideFacing()
MIDDLE = (0.0, 4.0)
"""Of the chair, which faces."""


def sides(heading_deg: float, place: tuple[float, float], **changes: float) -> set[str]:
    """Where the table is for someone who faces as the chair does."""
    found = worlds.ask(TEMPLATE, facing([heading_deg], [MIDDLE, place], **changes), facts=100)  # type: ignore[arg-type]
    return {
        label
        for asked in found.asked
        for label, row in zip(asked.answers.labels().tolist(), asked.facts.to_json(), strict=True)
        if asked.format == "choice" and row["second"]["name"] == "table"
    }


@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("heading_deg", [-25.0, 0.0, 25.0])
def test_sides_turn_with_the_object(turn: int, heading_deg: float) -> None:
    """The table is to the right of the chair, as the camera sees it."""
    expected = SIDES[(1 - turn) % 4]
    assert sides(heading_deg + 90 * turn, (1.2, 4.0)) == {expected}


@pytest.mark.parametrize(
    ("heading_deg", "place", "changes"),
    [
        (45.0, (1.2, 4.0), {}),  # between two sides
        (0.0, (0.5, 4.0), {}),  # partly beside, partly before the chair
        (20.0, (1.2, 4.0), {"sigma_deg": 15.0}),
        *((0.0, (1.2, 4.0), {"fronts": fronts}) for fronts in (-1, 0, 2, 4)),
        (0.0, (1.2, 4.0), {"tilts_deg": [80.0]}),
    ],
)
def test_nothing_is_asked_where_the_side_is_not_clear(
    heading_deg: float, place: tuple[float, float], changes: dict[str, float]
) -> None:
    assert sides(heading_deg, place, **changes) == set()


def test_the_camera_gives_another_answer_in_three_of_five_questions() -> None:
    found = worlds.ask(TEMPLATE, {**facing([0, 200.0, 100, 10, 300, 90])}, facts=60)
    said = [
        (asked.traps["seen from the camera"][k] != label)
        for asked in found.asked
        for k, label in enumerate(asked.answers.labels())
    ]
    assert len(said) >= 20 and np.mean(said) >= 0.6
    for draft in worlds.drafts(found):
        if draft.format == "choice":
            assert all(option.mistake for k, option in enumerate(draft.options) if k != draft.written)


def asked(signals: dict[str, Signal]) -> set[tuple[object, ...]]:
    return {
        (draft.format, draft.prompt, draft.options[draft.written].shown if draft.options else worlds.written(draft))
        for draft in worlds.drafts(worlds.ask(TEMPLATE, dict(signals), facts=40))
    }


@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    """The same pairs are asked about; the rest of the answers is drawn by the same numbers."""
    here, there = (asked(worlds.detected(s)) for s in (worlds.signals(), worlds.elsewhere(3, unit)))
    assert here == there and len(here) >= 5


def test_a_mirror_exchanges_left_and_right_alone() -> None:
    signals = facing([0, 200.0, 100, 10, 300, 90])
    here, there = (
        [draft for draft in worlds.drafts(worlds.ask(TEMPLATE, dict(s), facts=40)) if draft.format == "choice"]
        for s in (signals, mirrored(signals))
    )
    said = [worlds.in_a_mirror(str(draft.options[draft.written].shown)) for draft in here]
    assert said == [draft.options[draft.written].shown for draft in there] and {*said} >= {"On the left", "Behind"}
    assert [draft.prompt for draft in here] == [draft.prompt for draft in there]


def test_uncertain_places_and_gravity_silence_the_template() -> None:
    signals = facing([0.0], [MIDDLE, (1.2, 4.0)])
    objects, gravity = signals["objects"], signals["gravity"]
    assert isinstance(objects, Objects) and isinstance(gravity, Gravity) and objects.centre_sigma is not None
    assert asked(signals)
    assert not asked({**signals, "objects": replace(objects, centre_sigma=100 * objects.centre_sigma)})
    assert not asked({name: signal for name, signal in signals.items() if name != "gravity"})


def test_yes_and_no_take_turns() -> None:
    found = worlds.ask(TEMPLATE, {**facing([0, 200.0, 100, 10, 300, 90])}, facts=60)
    (yes_no,) = (asked for asked in found.asked if asked.format == "yes_no")
    words = yes_no.answers.labels()
    assert 0.25 <= np.mean(words == "yes") <= 0.75
