"""Whether two objects face the same way, opposite ways, or at right angles."""

import numpy as np
import pytest

from templates.perception.same_way import WAYS, SameWay
from tests.templates import worlds
from tests.templates.facing_world import facing

TEMPLATE = SameWay()


def ways(other_deg: float, **changes: object) -> set[str]:
    """How a chair that faces away from the camera and a table are related."""
    found = worlds.ask(TEMPLATE, facing([0.0, other_deg], **changes), facts=100)  # type: ignore[arg-type]
    return {label for asked in found.asked for label in asked.answers.labels().tolist()}


@pytest.mark.parametrize(
    ("other_deg", "way"),
    [(0, 0), (12, 0), (-12, 0), (80, 1), (90, 1), (-100, 1), (270, 1), (168, 2), (180, 2), (-170, 2)],
)
def test_the_way_is_that_of_the_angle_in_space(other_deg: float, way: int) -> None:
    assert ways(other_deg) == {WAYS[way]}


@pytest.mark.parametrize(
    ("other_deg", "changes"),
    [(30, {}), (-60, {}), (135, {}), (10, {"sigma_deg": 12.0}), *((0, {"fronts": n}) for n in (-1, 0, 2, 4))],
)
def test_nothing_is_asked_between_two_answers_or_without_a_sure_front(
    other_deg: float, changes: dict[str, object]
) -> None:
    assert ways(other_deg, **changes) == set()


def test_every_wrong_option_is_a_mistake_and_answers_take_turns() -> None:
    found = worlds.ask(TEMPLATE, {**facing([0, 180.0, 90, 0, 270, 180])}, facts=30)
    drafts = worlds.drafts(found)
    assert len(drafts) == 30
    for draft in drafts:
        assert all(option.mistake for k, option in enumerate(draft.options) if k != draft.written)
    shares = np.unique([draft.written for draft in drafts], return_counts=True)[1] / len(drafts)
    assert len(shares) == 3 and shares.max() <= 0.5


@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    def said(signals: dict[str, object]) -> set[tuple[object, ...]]:
        found = worlds.ask(TEMPLATE, worlds.detected(signals), facts=40)  # type: ignore[arg-type]
        return {(draft.prompt, draft.written) for draft in worlds.drafts(found)}

    assert said(worlds.signals()) == said(worlds.elsewhere(3, unit))  # type: ignore[arg-type]
