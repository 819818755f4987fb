"""How many objects of a name in a video are to the left or right of an object that faces a way."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Objects, Signal
from templates.mapping.count_on_side import CountOnSide
from tests.templates import worlds
from tests.templates.facing_world import facing, mirrored

TEMPLATE = CountOnSide()
NAMES = ("sofa", "cup", "chair", "cup", "chair", "cup")
PLACES = [(0.6, 4.4), (1.7, 4.3), (1.4, 6.2), (-1.0, 4.5), (2.6, 6.6), (0.3, 8.0)]
HEADINGS_DEG = [45.0, 0, 100, 0, 280, 0]


def signals(turn_deg: float = 0, **changes: float) -> dict[str, Signal]:
    known = facing([heading + turn_deg for heading in HEADINGS_DEG], PLACES, **changes)  # type: ignore[arg-type]
    objects = known["objects"]
    assert isinstance(objects, Objects)
    return worlds.as_truth({**known, "objects": replace(objects, labels=NAMES, name_outlier_probability=None)})


def counts(known: dict[str, Signal]) -> set[tuple[int, str, str, int]]:
    """Place of the object in the list, name, side, and count, where the video shows every object of the name."""
    found = set()
    for asked in worlds.ask(TEMPLATE, dict(known), facts=60).asked:
        for draft, total in zip(asked.drafts(), asked.traps["on both sides"].tolist(), strict=True):
            if draft.format == "numeric" and total == NAMES.count(draft.fact["name"]):
                row = NAMES.index(draft.fact["anchor"]["name"])
                found.add((row, draft.fact["name"], draft.fact["side"], int(worlds.written(draft))))
    return found


@pytest.mark.parametrize("in_a_mirror", [False, True])
def test_objects_on_the_side_are_counted(in_a_mirror: bool) -> None:
    """By the cross product of the heading and the way to each object on the plan."""
    every = set()
    for turn_deg in (0, 90, 180, 270):
        known = signals(turn_deg)
        for row, name, side, count in counts(mirrored(known) if in_a_mirror else known):
            if name != "cup" or NAMES[row] != "sofa":
                continue
            heading = np.radians(HEADINGS_DEG[row] + turn_deg)
            ways = [np.subtract(PLACES[k], PLACES[row]) for k in range(len(NAMES)) if NAMES[k] == name]
            right = [np.cos(heading) * x - np.sin(heading) * y > 0 for x, y in ways]
            assert count == right.count((side == "right") != in_a_mirror)
            every.add((row, side, count))
    assert len(every) == 4


@worlds.UNITS
def test_neither_world_frame_nor_unit_matters(unit: float) -> None:
    here, there = (
        {(name, side, count) for _, name, side, count in _counts_of_chairs(worlds.as_truth(known))}
        for known in (worlds.signals(), worlds.elsewhere(3, unit))
    )
    assert here == there and len(here) >= 2


def _counts_of_chairs(known: dict[str, Signal]) -> set[tuple[str, str, str, int]]:
    return {
        (draft.fact["anchor"]["name"], draft.fact["name"], draft.fact["side"], int(worlds.written(draft)))
        for draft in worlds.drafts(worlds.ask(TEMPLATE, dict(known), facts=60))
        if draft.format == "numeric"
    }


@pytest.mark.parametrize("changes", [{"sigma_deg": 40.0}, {"fronts": 2}, {"tilts_deg": [80.0] * 6}])
def test_nothing_is_asked_of_what_has_no_sure_front(changes: dict[str, float]) -> None:
    assert counts(signals()) and not counts(signals(**changes))


def test_names_that_are_not_complete_and_objects_of_a_detector_are_not_counted() -> None:
    known = signals()
    objects = known["objects"]
    assert isinstance(objects, Objects)
    for changed in (
        replace(objects, complete=("sofa",)),
        replace(objects, outlier_probability=np.full(len(NAMES), 0.001)),
        replace(objects, size=None),
    ):
        assert not counts({**known, "objects": changed})
    assert not counts({name: signal for name, signal in known.items() if name != "gravity"})


def test_no_count_is_that_of_most_facts_and_the_camera_often_has_another() -> None:
    found = worlds.ask(TEMPLATE, dict(signals()), facts=60)
    (numeric,) = (asked for asked in found.asked if asked.format == "numeric")
    values = np.array([worlds.written(draft) for draft in numeric.drafts()])
    assert np.mean(numeric.traps["on the camera's side"] != values) >= 0.5
    assert len(values) >= 8 and np.unique(values, return_counts=True)[1].max() <= 0.5 * len(values) + 4
