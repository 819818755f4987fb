"""Which of four points lies at a described place, on a slope whose depth is known, and in the made-up world."""

from dataclasses import replace

import numpy as np
import pytest

from templates.perception.marked_place import DescribedPlaces, MarkAtPlace
from tests.templates import worlds

TEMPLATE = MarkAtPlace()
SLOPE = worlds.scene({**worlds.signals(), "depth": worlds.slope()})
"""The same at left and right: 2 units at the top of the photo, 6 at its bottom."""
START, POINTS = [[304.5, 104.5]], [[[504.5, 304.5], [104.5, 304.5], [504.5, 44.5], [394.5, 424.5]]]


def places(
    angle_deg: float, points_px: object = POINTS, from_px: object = START, ratio: float = 1.6
) -> DescribedPlaces:
    return DescribedPlaces(
        frame=np.zeros(1, dtype=int),
        from_px=np.array(from_px),
        points_px=np.array(points_px),
        ratio=np.array([ratio]),
        angle_deg=np.array([angle_deg]),
    )


def test_the_point_at_the_place_fits_and_the_others_are_named_mistakes() -> None:
    """At 504 px the azimuth is atan(185 / 600), that is 17° to the right of the middle; -2° at the start."""
    found = TEMPLATE.measure(places(20.0), SLOPE)
    assert found.why.tolist() == [""] and found.label is not None and found.label.tolist() == ["1"]
    named = {mistake: label[0] for mistake, label in found.traps.items() if label[0]}
    assert named == {
        "left and right exchanged": "2",
        "closer and farther exchanged": "3",
        "the numbers are not compared": "4",
    }


@pytest.mark.parametrize(
    ("fact", "why"),
    [
        (places(35.0), "no marked point lies at the place"),
        (places(20.0, ratio=2.4), "no marked point lies at the place"),
        (places(20.0, [[*POINTS[0][:2], [520.5, 310.5], POINTS[0][3]]]), "two marked points lie near the place"),
        (places(20.0, from_px=[[np.nan, np.nan]]), "distance of a marked point is not known"),
    ],
)  # fmt: skip
def test_places_that_no_point_or_two_points_may_have_are_refused(fact: DescribedPlaces, why: str) -> None:
    assert TEMPLATE.measure(fact, SLOPE).why.tolist() == [why]


def test_in_a_mirror_right_is_left_and_nothing_else_changes() -> None:
    fact = places(20.0)
    seen = fact.with_pixels(lambda xy_px: np.array([639.0, 0]) + [-1, 1] * xy_px)
    one, other = TEMPLATE.measure(fact, SLOPE), TEMPLATE.measure(replace(seen, angle_deg=-fact.angle_deg), SLOPE)
    assert one.label is not None and other.label is not None and one.label.tolist() == other.label.tolist()
    assert TEMPLATE.measure(seen, SLOPE).why.tolist() != [""] or TEMPLATE.measure(seen, SLOPE).label != one.label


def test_neither_world_frame_nor_unit_matters() -> None:
    here, there = (worlds.ask(TEMPLATE, signals) for signals in (worlds.signals(), worlds.elsewhere(4, 3.0)))
    assert [worlds.shown(draft) for draft in worlds.drafts(here)] == [
        worlds.shown(draft) for draft in worlds.drafts(there)
    ]
    drafts = worlds.drafts(here)
    assert len(drafts) >= 15 and {worlds.written(draft) for draft in drafts} == {0, 1, 2, 3}
    assert all(option.mistake or k == worlds.written(d) for d in drafts for k, option in enumerate(d.options))


def test_without_sure_distances_nothing_is_asked() -> None:
    signals = worlds.signals()
    points = signals["sparse_points"]
    vague = replace(points, range_relative_sigma=10 * points.range_relative_sigma)  # type: ignore[attr-defined,type-var]
    found = worlds.ask(TEMPLATE, {**signals, "sparse_points": vague})
    assert not found.asked and "too close to call" in worlds.reasons(found)
