"""Comparing answers with a reference scene: also at pixels nearby."""

from dataclasses import replace

import numpy as np
import pytest

from templates.answers import Label, Point
from templates.columns import ColumnError
from templates.perception.geometry import RangeRatio
from templates.perception.longer_segment import LongerSegment
from templates.perception.relation import PlaceDirection
from templates.scene.point_groups import ThreePoints
from templates.scene.scene import Scene
from templates.truth import Claim, compare_all, verdict
from tests.templates import worlds

RATIO = RangeRatio()
NEAR, FAR = [100.5, 240.5], [540.5, 200.5]


def step() -> Scene:
    """Two walls: 2 units away on the left, 6 on the right of x = 320."""
    depth = worlds.slope()
    z = np.full_like(depth.z, 6.0)
    z[:, :, :32] = 2.0
    return worlds.scene({**worlds.signals(), "depth": replace(depth, z=z)})


def claim(a_px: list[float], b_px: list[float] | None, says: str = "1") -> Claim:
    said = Label(text=says, margin=9.0)
    return Claim(format="choice", fact={"frame": 0, "a_px": a_px, "b_px": b_px}, predictions=(said,))


def test_right_wrong_and_undecided_claims() -> None:
    claims = [claim(NEAR, FAR), claim(NEAR, FAR, "2"), claim(FAR, NEAR), claim(NEAR, None)]
    found = compare_all(RATIO, claims, step())
    assert [comparison.right for comparison in found] == [True, False, False, None]
    assert found[3].reason == "truth: distance of a marked point is not known"
    assert isinstance(found[0].target, Label) and found[0].target.text == "1"


def test_a_verdict_that_changes_within_a_few_pixels_does_not_count() -> None:
    """Of several claims at once, each for itself."""
    near_edge = [340.5, 240.5]
    claims = [claim(NEAR, FAR), claim(NEAR, near_edge), claim(NEAR, FAR, "2"), claim(NEAR, None)]
    strict = compare_all(RATIO, claims, step(), slack_px=0.0)
    assert [comparison.right for comparison in strict] == [True, True, False, None]
    nudged = compare_all(RATIO, claims, step(), slack_px=30.0)
    assert [comparison.right for comparison in nudged] == [True, None, False, None]
    assert nudged[1].reason == "truth differs within a few pixels"
    assert nudged[3].reason == "truth: distance of a marked point is not known"
    assert compare_all(RATIO, [], step(), slack_px=30.0) == []


def test_one_wrong_prediction_makes_a_claim_wrong() -> None:
    said = claim(NEAR, FAR)
    both = replace(said, predictions=(*said.predictions, Label(text="2", margin=9.0)))
    assert [c.right for c in compare_all(RATIO, [both, said], step())] == [False, True]


@pytest.mark.parametrize(
    ("answer_x", "others_x", "right"),
    [
        (112.0, (), None),  # the tolerance of 30 is 1.8 σ away
        (112.0, (212.0, 12.0), True),
        (112.0, (212.0, 140.0), None),
        (212.0, (112.0, 312.0), False),
        (212.0, (), None),
        (400.0, (), False),
    ],
)
def test_truth_decides_which_of_the_points_offered_is_nearest(
    answer_x: float, others_x: tuple[float, ...], right: bool | None
) -> None:
    tolerance = 90.0 if answer_x > 200 else 30.0
    truth, answer, *others = (
        Point(xy_px=np.array([x, 80.0]), sigma_px=10.0, tolerance_px=tolerance) for x in (100.0, answer_x, *others_x)
    )
    assert Claim(format="choice", fact={}, predictions=(answer, answer), others=others).right(truth) is right


def test_the_measurement_beside_a_wrong_letter_does_not_confirm_it() -> None:
    truth, a, b = (Point(xy_px=np.array([x, 80.0]), sigma_px=10.0, tolerance_px=90.0) for x in (100.0, 112.0, 212.0))
    assert Claim(format="choice", fact={}, predictions=(a, a), others=[b]).right(truth) is True
    assert Claim(format="choice", fact={}, predictions=(a, b), others=[a]).right(truth) is False


def test_truth_decides_facts_that_are_only_not_worth_asking() -> None:
    """Two lines of nearly equal length: a fact about them is not asked, but a label says which one is longer."""
    template = LongerSegment()
    fact = {"frame": 0, "points_px": [[100.5, 440.5], [450.5, 440.5], [100.5, 30.5]]}
    claims = [Claim(format="choice", fact=fact, predictions=(Label(text=text, margin=9.0),)) for text in ("2", "1")]
    scene = worlds.scene({**worlds.signals(), "depth": replace(worlds.slope(), z=np.full_like(worlds.slope().z, 4.0))})
    assert [one.right for one in compare_all(template, claims, scene)] == [True, False]
    facts = ThreePoints.from_json([fact])
    assert template.answer("choice", facts, template.measure(facts, scene)).why[0] in template.not_worth_asking


def test_claims_of_several_formats_are_compared_together() -> None:
    drafts = worlds.drafts(worlds.ask(RATIO, worlds.signals()))
    claims = [Claim(format=d.format, fact=dict(d.fact), predictions=(d.answer,)) for d in drafts]
    together = [c.right for c in compare_all(RATIO, claims, worlds.scene(worlds.signals()))]
    alone = [verdict(RATIO, d.format, dict(d.fact), d.answer, worlds.scene(worlds.signals())) for d in drafts]
    assert together == alone and {d.format for d in drafts} == {"choice", "numeric"}


def test_facts_of_another_template_are_refused() -> None:
    with pytest.raises(ColumnError, match="FramePairs has the columns frame_from, frame_seen_from"):
        compare_all(PlaceDirection(), [claim(NEAR, FAR)], step())


def test_a_scene_without_signals_decides_nothing() -> None:
    (found,) = compare_all(RATIO, [claim(NEAR, FAR)], worlds.scene({}))
    assert found.right is None and found.reason.startswith("truth: ")
