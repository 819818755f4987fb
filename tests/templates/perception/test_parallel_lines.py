"""Angles between lines on surfaces of known depth."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Depth, Signal
from templates.answers import Label
from templates.generate import answers_to
from templates.perception.parallel_lines import ParallelLines, TwoLines
from templates.truth import verdict
from tests.templates import worlds

TEMPLATE = ParallelLines()


def wall() -> dict[str, Signal]:
    """Depth of a wall that stands across the view, 4 units away, in every frame."""
    depth = worlds.slope()
    return {**worlds.signals(), "depth": replace(depth, z=np.full_like(depth.z, 4.0))}


def floor() -> dict[str, Signal]:
    """Depth of a level floor 2 units below a level camera; unknown near and above the horizon."""
    depth = worlds.slope()
    below = (np.arange(48) * 10 + 4.5 - 239.5) / 600
    with np.errstate(divide="ignore"):
        rows = np.where(below > 0.05, 2 / below, np.nan).astype(np.float32)
    return {**worlds.signals(), "depth": replace(depth, z=np.tile(rows[:, None], (len(depth.z), 1, 64)))}


def lines(first: list[list[float]], second: list[list[float]]) -> TwoLines:
    return TwoLines(
        frame=np.array([0]), first_px=np.array([first], dtype=float), second_px=np.array([second], dtype=float)
    )


def on_the_floor(*places: tuple[float, float]) -> list[list[float]]:
    """Pixels of places right of and ahead of the camera, on the floor."""
    return [[319.5 + 600 * x / ahead, 239.5 + 600 * 2 / ahead] for x, ahead in places]


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ([(-1, 6), (-1, 12)], [(1.5, 6), (1.5, 12)], "parallel"),
        ([(-1, 6), (-1, 12)], [(0.5, 8), (2.5, 8)], "perpendicular"),
        ([(-1, 6), (-1, 12)], [(1, 7), (3, 9)], "neither"),
    ],
)
def test_the_kind_of_angle_is_that_on_the_floor(first: list, second: list, kind: str) -> None:
    facts = lines(on_the_floor(*first), on_the_floor(*second))
    measured = TEMPLATE.measure(facts, worlds.scene(floor()))
    assert measured.why.tolist() == [""] and measured.label is not None and measured.label.tolist() == [kind]
    if kind == "parallel":
        assert measured.traps["the angle in the photo"].tolist() == ["neither"]
        assert measured.traps["parallel in the photo"].tolist() == ["no"]


def test_truth_decides_the_kind_of_an_angle_near_the_border_of_two() -> None:
    """8°, where 5° is asked about and 15° is the border."""
    scene, facts = worlds.scene(wall()), lines([[100, 100], [400, 100]], [[100, 300], [400, 342.2]])
    assert TEMPLATE.measure(facts, scene).why.tolist() == ["the angle is near the border of two kinds"]
    said = {kind: Label(text=kind, margin=9.0) for kind in ("parallel", "neither", "perpendicular")}
    found = {kind: verdict(TEMPLATE, "choice", facts.to_json()[0], label, scene) for kind, label in said.items()}
    assert found == {"parallel": True, "neither": False, "perpendicular": False}


def test_on_a_wall_across_the_view_the_angle_is_that_in_the_photo() -> None:
    rng = np.random.default_rng(0)
    ends = rng.uniform([100, 100], [540, 380], (200, 2, 2, 2))
    ends = ends[np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2).min(axis=1) > 60]
    facts = TwoLines(frame=np.zeros(len(ends), dtype=int), first_px=ends[:, 0], second_px=ends[:, 1])
    measured = TEMPLATE.measure(facts, worlds.scene(wall()))
    np.testing.assert_allclose(measured.value[:, 0], measured.evidence["angle_in_photo_deg"], atol=0.06)


def test_sigma_is_at_least_that_of_repeated_noise() -> None:
    facts = lines([[100, 100], [300, 120]], [[400, 150], [450, 380]])
    scene = worlds.scene(worlds.with_path(wall(), focal_relative_sigma=0.0))
    ends = scene.surface([0] * 4, np.concatenate([facts.first_px[0], facts.second_px[0]]))
    rng = np.random.default_rng(0)
    shaken = ends.xyz_cam * (1 + ends.range_relative_sigma[:, None] * rng.standard_normal((20_000, 4, 1)))
    shaken[..., :2] += rng.normal(size=(20_000, 4, 2)) * ends.xyz_cam[:, 2:] / 600
    a, b = shaken[:, 1] - shaken[:, 0], shaken[:, 3] - shaken[:, 2]
    cos = np.sum(a * b, axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    spread = np.degrees(np.arccos(np.abs(cos))).std()
    assert spread <= TEMPLATE.measure(facts, scene).sigma[0, 0] <= 3 * spread  # errors along the rays count fully


def test_lines_across_a_step_are_refused() -> None:
    signals = wall()
    depth = signals["depth"]
    assert isinstance(depth, Depth)
    z = depth.z.copy()
    z[:, 20:30, 20:30] = 2.0
    facts = lines([[120, 245], [420, 245]], [[120, 100], [420, 100]])
    measured = TEMPLATE.measure(facts, worlds.scene({**signals, "depth": replace(depth, z=z)}))
    assert measured.why.tolist() == ["a line leaves the surface"]


def test_all_kinds_are_asked_and_some_of_each_look_different_in_the_photo() -> None:
    found = worlds.ask(TEMPLATE, {**worlds.signals(), "depth": worlds.slope()}, facts=60)
    assert {asked.format for asked in found.asked} == {"choice", "yes_no"}
    drafts = [draft for draft in worlds.drafts(found) if draft.format == "choice"]
    assert {draft.answer.to_json().value for draft in drafts} == {"parallel", "perpendicular", "neither"}
    assert all(option.mistake for draft in drafts for k, option in enumerate(draft.options) if k != draft.written)
    misled = [any(option.mistake == "the angle in the photo" for option in draft.options) for draft in drafts]
    assert sum(misled) >= 0.4 * len(misled)


def test_no_world_and_no_unit_changes_an_answer_and_a_mirror_changes_none() -> None:
    facts = TEMPLATE.propose(worlds.scene(worlds.signals()), np.random.default_rng(0), 30)
    first, second = (TEMPLATE.measure(facts, worlds.scene(s)) for s in (worlds.signals(), worlds.elsewhere(3, 7.0)))
    np.testing.assert_allclose(first.value, second.value, atol=1e-6)
    np.testing.assert_allclose(first.sigma, second.sigma, rtol=1e-6)
    floors = worlds.scene(floor())
    right = lines(on_the_floor((0.5, 6), (0.5, 9)), on_the_floor((1, 7), (3, 9)))
    left = lines(on_the_floor((-0.5, 6), (-0.5, 9)), on_the_floor((-1, 7), (-3, 9)))
    assert TEMPLATE.measure(right, floors).value[0, 0] == pytest.approx(TEMPLATE.measure(left, floors).value[0, 0])


def test_nothing_is_asked_where_ranges_are_ten_times_less_certain() -> None:
    signals = worlds.signals()
    facts = TEMPLATE.propose(worlds.scene(signals), np.random.default_rng(0), 30)
    points = signals["sparse_points"]
    vague = replace(points, range_relative_sigma=10 * points.range_relative_sigma)  # type: ignore[attr-defined, type-var]
    measured = TEMPLATE.measure(facts, worlds.scene({**signals, "sparse_points": vague}))
    assert len(facts) and (answers_to(TEMPLATE, "choice", facts, measured).gated(0.99).why != "").all()
