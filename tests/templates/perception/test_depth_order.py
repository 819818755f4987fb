"""Three points by their distance from the camera, on a slope whose depth is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from experts.signals import Depth
from spatial_engine.dataset.question_line import question_of
from templates.answers import Label
from templates.generate import answers_to
from templates.perception.depth_queries import DepthOrder
from templates.scene.point_groups import ThreePoints
from templates.truth import verdict
from tests.templates import worlds

TEMPLATE = DepthOrder()
SLOPE = worlds.scene({**worlds.signals(), "depth": worlds.slope()})


def points(*ys: float, x: float = 304.5) -> ThreePoints:
    return ThreePoints(frame=np.array([0]), points_px=np.array([[[x, y] for y in ys]]))


@pytest.mark.parametrize(("ys", "order"), [((64.5, 244.5, 404.5), "1 2 3"), ((404.5, 64.5, 244.5), "2 3 1")])
def test_the_slope_recedes_downwards(ys: tuple[float, ...], order: str) -> None:
    facts = points(*ys)
    measured = TEMPLATE.measure(facts, SLOPE)
    found = {format: answers_to(TEMPLATE, format, facts, measured) for format in TEMPLATE.formats}
    assert {format: answers.labels()[0] for format, answers in found.items()} == {"order": order, "choice": order[0]}
    assert all(answers.p_right[0] > 0.99 for answers in found.values())


def test_near_neighbours_leave_the_order_open_but_not_the_closest_point() -> None:
    facts = points(64.5, 384.5, 404.5)
    measured = TEMPLATE.measure(facts, SLOPE)
    order, closest = (answers_to(TEMPLATE, format, facts, measured) for format in ("order", "choice"))
    assert order.why.tolist() == ["two points are about equally far"] and closest.labels().tolist() == ["1"]


def test_truth_decides_the_order_of_points_that_are_about_equally_far() -> None:
    depth = worlds.slope()
    bands = np.repeat([4.0, 4.4, 4.8], 16).astype(np.float32)
    scene = worlds.scene(
        {**worlds.signals(), "depth": replace(depth, z=np.tile(bands[:, None], (len(depth.z), 1, 64)))}
    )
    facts = points(84.5, 244.5, 404.5)
    order = answers_to(TEMPLATE, "order", facts, TEMPLATE.measure(facts, scene))
    assert order.why.tolist() == ["two points are about equally far"]
    said = {text: Label(text=text, margin=9.0) for text in ("1 2 3", "1 3 2")}
    found = {text: verdict(TEMPLATE, "order", facts.to_json()[0], label, scene) for text, label in said.items()}
    assert found == {"1 2 3": True, "1 3 2": False}


def test_an_order_that_range_and_depth_give_differently_is_refused() -> None:
    facts = ThreePoints(frame=np.array([0]), points_px=np.array([[[319.5, 254.5], [44.5, 244.5], [304.5, 64.5]]]))
    order = answers_to(TEMPLATE, "order", facts, TEMPLATE.measure(facts, SLOPE))
    assert order.why.tolist() == ["the order by range differs from the order by depth"]


def test_the_probability_of_an_order_counts_every_pair_of_neighbours() -> None:
    """With σ of 10 % each, two steps of 0.3 are 2.1 σ: 1.7 % each."""
    depth = worlds.slope()
    assert isinstance(depth, Depth)
    vague = replace(depth, relative_sigma=np.full(depth.z.shape, 0.1, dtype=np.float32))
    scene, facts = worlds.scene({**worlds.signals(), "depth": vague}), points(64.5, 174.5, 304.5)
    measured = TEMPLATE.measure(facts, scene)
    steps = np.diff(measured.value[0, :3]) / np.hypot(measured.sigma[0, 1:3], measured.sigma[0, :2])
    order = answers_to(TEMPLATE, "order", facts, measured)
    assert order.p_right[0] == pytest.approx(1 - norm.sf(steps).sum()) and (steps < 2.5).all()


def test_a_written_order_is_a_list_and_so_are_the_answers_of_mistakes() -> None:
    found = worlds.ask(TEMPLATE, {**worlds.signals(), "depth": worlds.slope()})
    assert {asked.format for asked in found.asked} == {"order", "choice"} and len(found) >= 20
    lowest = 0  # never the closest one on this slope
    for draft in worlds.drafts(found):
        question = question_of(draft, [*range(len(draft.options))], worlds.clip())
        marks = {mark.text: mark.xy_px for mark in draft.media[0].marks}  # type: ignore[union-attr]
        assert [list(marks[number]) for number in "123"] == draft.fact["points_px"]
        if draft.format == "order":
            assert (
                sorted(question.answer) == [1, 2, 3] and question.evidence["traps"]["reversed"] == question.answer[::-1]
            )
        else:
            lowest += "the lowest one in the picture" in question.evidence.get("traps", {})
    assert lowest == 20


def test_nothing_is_asked_of_vague_points() -> None:
    signals = worlds.signals()
    points = replace(
        signals["sparse_points"], range_relative_sigma=np.full_like(signals["sparse_points"].range_relative_sigma, 0.3)
    )  # type: ignore[type-var]
    assert not len(worlds.ask(TEMPLATE, {**signals, "sparse_points": points}))
