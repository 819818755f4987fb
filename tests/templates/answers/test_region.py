"""Regions: any pixel of one is right."""

from base64 import b64decode

import cv2
import numpy as np
import pytest
from scipy.special import ndtr

from spatial_engine.evaluation import baselines
from spatial_engine.scoring import official, own, strict
from spatial_engine.scoring.official.row import row
from templates.answers import RIGHT, UNDECIDED, WRONG, Point, Region
from templates.answers.answer import stacked
from templates.answers.region import outside_px
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Unscored
from tests.templates.answers.by_hand import HEIGHT, WIDTH, asked

SQUARE = np.array([[100.0, 80.0], [160.0, 80.0], [160.0, 140.0], [100.0, 140.0]])
HOLE = np.array([[120.0, 100.0], [140.0, 100.0], [140.0, 120.0], [120.0, 120.0]])


def square(sigma: float = 1.0, by: float = 0.0) -> Region:
    return Region.of([SQUARE + by], sigma)


def test_distances_are_those_of_the_raster() -> None:
    xy = np.random.default_rng(0).uniform([60, 40], [200, 180], size=(500, 2))
    found = outside_px(xy, Region.of([SQUARE, HOLE], 1.0).outline)
    polygons = [polygon.astype(np.float32) for polygon in (SQUARE, HOLE)]
    outer, inner = np.array([[cv2.pointPolygonTest(p, tuple(x), True) for x in xy] for p in polygons])
    expected = np.where((outer > 0) & (inner <= 0), -np.minimum(outer, -inner), np.maximum(-outer, inner * (inner > 0)))
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_the_written_answer_is_the_innermost_pixel() -> None:
    assert square().xy_px == pytest.approx([130, 110], abs=2)
    ring = Region.of([SQUARE, HOLE], 1.0)
    assert outside_px(ring.xy_px, ring.outline) <= -9


@pytest.mark.parametrize("sigma", [0.5, 10.0, 20.0, 40.0])
def test_p_right_is_that_of_sampling(sigma: float) -> None:
    answer = square(sigma)
    steps = sigma * np.random.default_rng(1).normal(size=(20_000, 2))
    inside = outside_px(answer.xy_px + steps, answer.outline) <= 0.5
    assert answer.p_right() == pytest.approx(np.mean(inside), abs=0.015)


def test_p_right_of_a_straight_edge_has_a_closed_form() -> None:
    half_plane = Region.of([np.array([[0.0, 0.0], [2000.0, 0.0], [2000.0, 2000.0], [0.0, 2000.0]])], 5.0)
    near = half_plane.predicted([1000.0, 6.0])
    assert near is not None and near.p_right() == pytest.approx(ndtr(6 / 5), abs=0.01)
    assert square(np.nan).p_right() == 0


def test_a_pixel_is_right_if_it_lies_in_the_true_region_and_the_truth_is_clear() -> None:
    assert square().right(square(by=20.0)) == RIGHT and square().right(square(by=70.0)) == WRONG
    assert square().right(square(by=30.0)) == UNDECIDED


@pytest.mark.parametrize("polygons", [[SQUARE], [SQUARE, HOLE], [SQUARE, SQUARE + 70]])
def test_its_line_is_read_back(polygons: list[np.ndarray]) -> None:
    answer = Region.of(polygons, 1.0)
    question = asked(answer, "point")
    read = recorded_answer(question)
    assert isinstance(read, Region) and read.to_json() == answer.to_json()
    np.testing.assert_array_equal(read.outline, answer.outline)


@pytest.mark.parametrize(
    ("reply", "score"), [("[101, 81]", 1.0), ("[100, 140]", 1.0), ("[98, 110]", 0.0), ("[130, 110]", 0.0), ("?", 0.0)]
)
def test_any_pixel_of_the_region_is_right(reply: str, score: float) -> None:
    assert own.score(asked(Region.of([SQUARE, HOLE], 1.0), "point"), f"<answer>{reply}</answer>").value == score


def test_the_nearness_falls_with_the_distance_from_the_region() -> None:
    question = asked(square(), "point")
    inside, beside, far = (own.score_read(question, [x, 110.0]) for x in (130.0, 161.0, 300.0))
    assert inside.nearness == 1.0 > beside.nearness > far.nearness
    assert (inside.detail["distance_px"], beside.detail["distance_px"]) == (0.0, 1.0)


def test_the_benchmark_scores_it_by_its_mask() -> None:
    question = asked(Region.of([SQUARE, HOLE], 1.0), "point", ability="L2/Understanding/Affordance")
    found = row(question)
    assert not isinstance(found, Unscored)
    mask = cv2.imdecode(np.frombuffer(b64decode(found["answer"]), np.uint8), cv2.IMREAD_GRAYSCALE)
    assert mask.shape == (HEIGHT, WIDTH) and mask[90, 110] == 255 and mask[110, 130] == mask[10, 10] == 0
    told = format_of("point").official_text([110.0, 90.0])
    assert official.process_results(found, [told])["SpaTreeBench"]["score"] == 1.0
    assert strict.aff_mask_metric(told, found["answer"], {})["score"] == 1.0
    point = Point(xy_px=np.ones(2), sigma_px=1.0, tolerance_px=9.0)
    assert isinstance(row(asked(point, "point")), Unscored)


def test_near_misses_and_guesses_are_pixels() -> None:
    question = asked(square(), "point")
    assert own.score(question, baselines.oracle_text(question)).value == 1.0
    assert own.score(question, baselines.wrong_text(question)).value == 0.0
    assert format_of("point").guess(question, np.random.default_rng(0)) is not None


def test_a_stack_gives_the_results_of_each() -> None:
    some = [square(1.0), Region.of([SQUARE, HOLE], 4.0), square(30.0, by=30.0)]
    whole = stacked(some)
    np.testing.assert_array_equal(whole.p_right(), [one.p_right() for one in some])
    assert whole.right(square()).tolist() == [int(one.right(square())) for one in some]
    assert whole.repeats(some[1]).tolist() == [bool(one.repeats(some[1])) for one in some]
    for k, one in enumerate(some):
        assert whole.take([2, 1, 0]).row(2 - k).to_json() == one.to_json()
