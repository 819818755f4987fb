"""Which of two lines is longer in space, on a slope whose depth is known."""

from dataclasses import replace

import numpy as np
import pytest

from templates.answers import Label
from templates.generate import answers_to
from templates.perception.longer_segment import LongerSegment
from templates.scene.point_groups import ThreePoints
from templates.truth import verdict
from tests.templates import worlds

TEMPLATE = LongerSegment()
SLOPE = worlds.scene({**worlds.signals(), "depth": worlds.slope()})


def place(xy_px: list[float]) -> np.ndarray:
    """In camera axes: 48 rows of 10 px from 2 to 6 units."""
    (ray,) = worlds.CAMERA.rays(np.array([xy_px]))
    return np.array(ray / ray[2] * (2 + 4 * (xy_px[1] - 4.5) / 10 / 47))


def test_lengths_are_those_in_space() -> None:
    """The line towards the far end of the slope is shorter in the picture, and longer in space."""
    points = [[304.5, 64.5], [554.5, 64.5], [304.5, 244.5]]
    facts = ThreePoints(frame=np.array([0]), points_px=np.array([points]))
    measured = TEMPLATE.measure(facts, SLOPE)
    start, first, second = map(place, points)
    ratio = np.linalg.norm(second - start) / np.linalg.norm(first - start)
    assert measured.value[0, 0] == pytest.approx(np.log(ratio), abs=1e-6) and ratio > 1.5
    assert answers_to(TEMPLATE, "choice", facts, measured).labels().tolist() == ["2"]
    assert measured.traps["longer in the picture"].tolist() == ["1"]
    assert answers_to(TEMPLATE, "numeric", facts, measured).row(0).value[0] == pytest.approx(ratio)  # type: ignore[union-attr]


def test_sigma_is_that_of_repeated_noise() -> None:
    """Of ranges and pixels, with a common point: 20 000 draws."""
    points = [[104.5, 144.5], [504.5, 204.5], [244.5, 404.5]]
    facts = ThreePoints(frame=np.array([0]), points_px=np.array([points]))
    exact = worlds.with_path(dict(SLOPE.signals), focal_relative_sigma=0.0)
    found, rng = TEMPLATE.measure(facts, worlds.scene(exact)), np.random.default_rng(0)
    seen = SLOPE.surface([0, 0, 0], facts.points_px[0])
    ranges = 1 + seen.range_relative_sigma[:, None] * rng.standard_normal((20_000, 3, 1))
    shaken = seen.xyz_cam * ranges
    shaken[..., :2] += rng.normal(size=(20_000, 3, 2)) * seen.xyz_cam[:, 2:] / 600
    start, first, second = shaken.swapaxes(0, 1)
    spread = np.log(np.linalg.norm(second - start, axis=1) / np.linalg.norm(first - start, axis=1)).std()
    assert found.sigma[0, 0] == pytest.approx(spread, rel=0.1)


def test_a_wrong_focal_length_stretches_lines_across_the_view_alone() -> None:
    points = np.array([[[304.5, 64.5], [554.5, 64.5], [304.5, 244.5]], [[304.5, 64.5], [554.5, 64.5], [104.5, 64.5]]])
    facts = ThreePoints(frame=np.zeros(2, dtype=int), points_px=points)
    sharp, vague = (
        TEMPLATE.measure(facts, worlds.scene(worlds.with_path(dict(SLOPE.signals), focal_relative_sigma=s)))
        for s in (0.0, 0.2)
    )
    added = np.sqrt(vague.sigma**2 - sharp.sigma**2)[:, 0]
    assert added[0] > 0.15 and added[1] == pytest.approx(0, abs=1e-6)


def test_half_of_the_pairs_have_the_other_order_in_the_picture() -> None:
    found = worlds.drafts(worlds.ask(TEMPLATE, dict(SLOPE.signals), facts=40))
    choices = [draft for draft in found if draft.format == "choice"]
    fooling = sum(any(option.mistake == "longer in the picture" for option in draft.options) for draft in choices)
    assert len(choices) >= 10 and 0.3 <= fooling / len(choices) <= 0.7
    for draft in found:
        assert verdict(TEMPLATE, draft.format, dict(draft.fact), draft.answer, SLOPE) is not False
        assert not isinstance(draft.answer, Label) or [mark.text for mark in draft.media[0].marks] == ["1", "2"]  # type: ignore[union-attr]


def test_nothing_is_asked_of_vague_points() -> None:
    signals = worlds.signals()
    points = replace(
        signals["sparse_points"], range_relative_sigma=np.full_like(signals["sparse_points"].range_relative_sigma, 0.3)
    )  # type: ignore[type-var]
    assert not len(worlds.ask(TEMPLATE, {**signals, "sparse_points": points}))
