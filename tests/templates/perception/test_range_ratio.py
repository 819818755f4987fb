"""Which of two points is closer, and how many times as far, on a slope whose depth is known."""

import numpy as np
import pytest

from templates.answers import Label, Numbers
from templates.generate import answers_to
from templates.perception.geometry import PointPairs, RangeRatio
from templates.truth import verdict
from tests.templates import worlds

RATIO = RangeRatio()
SLOPE = worlds.scene({**worlds.signals(), "depth": worlds.slope()})


def pairs(a_px: list[list[float]], b_px: list[list[float]]) -> PointPairs:
    return PointPairs(frame=np.zeros(len(a_px), dtype=int), a_px=np.array(a_px), b_px=np.array(b_px))


def true_range(xy_px: list[float]) -> float:
    """Of a pixel in the middle of a row of depth: 48 rows of 10 px from 2 to 6 units."""
    depth = 2 + 4 * (xy_px[1] - 4.5) / 10 / 47
    (ray,) = worlds.CAMERA.rays(np.array([xy_px]))
    return float(depth * np.linalg.norm(ray) / ray[2])


def test_the_ratio_is_that_of_the_ranges_and_the_closer_point_is_the_higher_one() -> None:
    facts = pairs([[304.5, 64.5], [104.5, 404.5]], [[204.5, 304.5], [304.5, 64.5]])
    measured = RATIO.measure(facts, SLOPE)
    numbers, labels = (answers_to(RATIO, format, facts, measured) for format in ("numeric", "choice"))
    for k, row in enumerate(facts.to_json()):
        number = numbers.row(k)
        assert isinstance(number, Numbers) and number.tolerance[0] <= 0.15 * number.value[0]
        assert number.value[0] == pytest.approx(true_range(row["b_px"]) / true_range(row["a_px"]), rel=1e-6)
    assert labels.labels().tolist() == ["1", "2"] and (labels.p_right > 0.99).all()


def test_points_whose_order_by_depth_is_another_have_no_closer_one() -> None:
    """At equal depth the one at the side is farther."""
    facts = pairs([[319.5, 244.5]], [[44.5, 244.5]])
    measured = RATIO.measure(facts, SLOPE)
    assert answers_to(RATIO, "choice", facts, measured).why.tolist() == [
        "the order by range differs from the order by depth"
    ]
    assert answers_to(RATIO, "numeric", facts, measured).why.tolist() == [""]


def test_exchanged_points_exchange_the_answer() -> None:
    facts = pairs([[304.5, 64.5]], [[204.5, 304.5]])
    back = PointPairs(frame=facts.frame, a_px=facts.b_px, b_px=facts.a_px)
    here, there = (answers_to(RATIO, "choice", f, RATIO.measure(f, SLOPE)).labels()[0] for f in (facts, back))
    assert {here, there} == {"1", "2"}
    first, second = (answers_to(RATIO, "numeric", f, RATIO.measure(f, SLOPE)).row(0) for f in (facts, back))
    assert isinstance(first, Numbers) and isinstance(second, Numbers)
    assert first.value[0] == pytest.approx(1 / second.value[0])


def test_a_pixel_without_depth_is_not_measured() -> None:
    facts = pairs([[304.5, 64.5], [304.5, 64.5]], [[np.nan, np.nan], [204.5, 304.5]])
    assert RATIO.measure(facts, SLOPE).why.tolist() == ["distance of a marked point is not known", ""]


def test_questions_show_both_marks_and_are_right() -> None:
    found = worlds.ask(RATIO, worlds.signals())
    assert {asked.format for asked in found.asked} == {"choice", "numeric"} and len(found) >= 30
    truth, words = worlds.scene(worlds.signals()), set()
    for draft in worlds.drafts(found):
        (photo,) = draft.media
        assert [(m.text, list(m.xy_px)) for m in photo.marks] == [("1", draft.fact["a_px"]), ("2", draft.fact["b_px"])]
        assert verdict(RATIO, draft.format, dict(draft.fact), draft.answer, truth) is not False
        if isinstance(draft.answer, Label):
            assert draft.options[draft.written].value == draft.answer.text
            words.add(draft.answer.text)
        else:
            assert abs(np.log(draft.answer.value[0])) >= 0.15
    assert words == {"1", "2"}
    assert "the ratio is nearly 1" in worlds.reasons(found)
