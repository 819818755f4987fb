"""Which of two points is higher along gravity, whatever the picture shows."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Gravity, Signal
from templates.generate import answers_to
from templates.perception.geometry import PointPairs
from templates.perception.point_height import HigherPoint
from tests.templates import worlds

TEMPLATE = HigherPoint()
BOTTOM, TOP = [304.5, 404.5], [304.5, 64.5]


def tilted(pitch_deg: float) -> dict[str, Signal]:
    """The slope of `worlds`, seen by a camera that points up by an angle."""
    signals, pitch = worlds.signals(), np.radians(pitch_deg)
    up = np.tile([0.0, -np.cos(pitch), np.sin(pitch)], (len(worlds.FRAMES), 1))
    gravity = signals["gravity"]
    assert isinstance(gravity, Gravity)
    return {**signals, "depth": worlds.slope(), "gravity": replace(gravity, up_cam=up)}


def higher(pitch_deg: float) -> tuple[str, str]:
    facts = PointPairs(frame=np.zeros(1, dtype=int), a_px=np.array([TOP]), b_px=np.array([BOTTOM]))
    measured = TEMPLATE.measure(facts, worlds.scene(tilted(pitch_deg)))
    answers = answers_to(TEMPLATE, "choice", facts, measured).gated(0.99)
    return str(answers.why[0]), str(measured.label[0])  # type: ignore[index]


@pytest.mark.parametrize(
    ("pitch_deg", "expected"),
    [
        (0, ("", "1")),
        (60, ("", "2")),  # the lower pixel is the farther one, along a view that rises
        (-40, ("", "1")),
        (37.5, ("two points are about equally high", "")),
    ],
)
def test_the_order_is_that_along_gravity(pitch_deg: float, expected: tuple[str, str]) -> None:
    reason, label = higher(pitch_deg)
    assert reason == expected[0] and (reason or label == expected[1])


def asked(signals: dict[str, Signal]) -> list[tuple[object, ...]]:
    return [
        (tuple(d.fact["a_px"]), tuple(d.fact["b_px"]), worlds.written(d), d.options[1 - worlds.written(d)].mistake)
        for d in worlds.drafts(worlds.ask(TEMPLATE, dict(signals)))
    ]


def test_in_two_of_five_pairs_the_lower_point_is_higher_in_the_picture() -> None:
    found = asked(worlds.signals())
    assert len(found) == 20 and {right for _, _, right, _ in found} == {0, 1}
    opposite = [(a[1] < b[1]) == (right == 1) for a, b, right, _ in found]  # type: ignore[index]
    assert np.mean(opposite) >= 0.4
    assert [mistake == "higher in the picture" for *_, mistake in found] == opposite


@pytest.mark.parametrize("seed", [1, 2])
def test_neither_world_frame_nor_unit_matters(seed: int) -> None:
    def heights(signals: dict[str, Signal]) -> list[tuple[object, ...]]:
        return [row[:3] for row in asked(signals)]

    assert heights(worlds.elsewhere(seed, unit=3.0)) == heights(worlds.signals())


def test_uncertain_gravity_and_its_lack_silence_the_template() -> None:
    signals = worlds.signals()
    gravity = signals["gravity"]
    assert isinstance(gravity, Gravity)
    assert not asked({**signals, "gravity": replace(gravity, sigma_rad=10 * gravity.sigma_rad)})
    assert not asked(worlds.signals(with_gravity=False))


def test_points_without_a_place_are_refused_by_name() -> None:
    facts = PointPairs(frame=np.zeros(1, dtype=int), a_px=np.array([[np.nan, np.nan]]), b_px=np.array([BOTTOM]))
    assert TEMPLATE.measure(facts, worlds.scene(tilted(0))).why.tolist() == ["the place of a marked point is not known"]
