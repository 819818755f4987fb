"""The angle at which two lines meet on a slope whose depth is known."""

from dataclasses import replace

import numpy as np
import pytest

from templates.answers import Label
from templates.generate import answers_to
from templates.perception.corner_angle import CornerAngle
from templates.scene.point_groups import ThreePoints
from templates.truth import verdict
from tests.templates import worlds

TEMPLATE = CornerAngle()
SLOPE = worlds.scene({**worlds.signals(), "depth": worlds.slope()})


def place(xy_px: list[float]) -> np.ndarray:
    """In camera axes: 48 rows of 10 px from 2 to 6 units."""
    (ray,) = worlds.CAMERA.rays(np.array([xy_px]))
    return np.array(ray / ray[2] * (2 + 4 * (xy_px[1] - 4.5) / 10 / 47))


def three(*points: list[float]) -> ThreePoints:
    return ThreePoints(frame=np.array([0]), points_px=np.array([points]))


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        (([304.5, 244.5], [454.5, 244.5], [304.5, 104.5]), "right"),
        (([304.5, 244.5], [454.5, 244.5], [404.5, 104.5]), "acute"),
        (([304.5, 244.5], [454.5, 244.5], [154.5, 344.5]), "obtuse"),
    ],
)
def test_angles_are_those_in_space(points: tuple[list[float], ...], kind: str) -> None:
    facts, (a, b, c) = three(*points), map(place, points)
    measured = TEMPLATE.measure(facts, SLOPE)
    to_b, to_c, across = (np.linalg.norm(v) for v in (b - a, c - a, b - c))
    expected = np.degrees(np.arccos((to_b**2 + to_c**2 - across**2) / (2 * to_b * to_c)))
    assert measured.value[0, 0] == pytest.approx(expected, abs=1e-3)
    assert answers_to(TEMPLATE, "choice", facts, measured).labels().tolist() == [kind]
    assert measured.traps["measured to the continued line"][0] == pytest.approx(180 - expected, abs=0.06)


def test_truth_decides_the_kind_of_an_angle_near_the_border_of_two() -> None:
    """On a wall across the view: 68°."""
    depth = worlds.slope()
    wall = worlds.scene({**worlds.signals(), "depth": replace(depth, z=np.full_like(depth.z, 4.0))})
    facts = three([304.5, 244.5], [454.5, 244.5], [360.7, 105.4])
    choice = answers_to(TEMPLATE, "choice", facts, TEMPLATE.measure(facts, wall))
    assert choice.why.tolist() == ["the angle is near the border of two kinds"]
    said = {kind: Label(text=kind, margin=9.0) for kind in ("acute", "right", "obtuse")}
    found = {kind: verdict(TEMPLATE, "choice", facts.to_json()[0], label, wall) for kind, label in said.items()}
    assert found == {"acute": True, "right": False, "obtuse": False}


def test_sigma_is_that_of_repeated_noise() -> None:
    """Of ranges and pixels, with a common point: 20 000 draws."""
    facts = three([204.5, 144.5], [504.5, 204.5], [244.5, 404.5])
    exact = worlds.with_path(dict(SLOPE.signals), focal_relative_sigma=0.0)
    found, rng = TEMPLATE.measure(facts, worlds.scene(exact)), np.random.default_rng(0)
    seen = SLOPE.surface([0, 0, 0], facts.points_px[0])
    shaken = seen.xyz_cam * (1 + seen.range_relative_sigma[:, None] * rng.standard_normal((20_000, 3, 1)))
    shaken[..., :2] += rng.normal(size=(20_000, 3, 2)) * seen.xyz_cam[:, 2:] / 600
    a, b = (shaken[:, k] - shaken[:, 0] for k in (1, 2))
    cos = np.sum(a * b, axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert found.sigma[0, 0] == pytest.approx(np.degrees(np.arccos(cos)).std(), rel=0.05)


def test_a_wrong_focal_length_changes_the_angle_by_its_sigma() -> None:
    points = [[204.5, 144.5], [504.5, 204.5], [244.5, 404.5]]
    sharp, vague = (
        TEMPLATE.measure(three(*points), worlds.scene(worlds.with_path(dict(SLOPE.signals), focal_relative_sigma=s)))
        for s in (0.0, 0.01)
    )
    a, b, c = (place(xy) * [1.01, 1.01, 1] for xy in points)
    wrong = np.degrees(np.arccos((b - a) @ (c - a) / np.linalg.norm(b - a) / np.linalg.norm(c - a)))
    added = np.sqrt(vague.sigma**2 - sharp.sigma**2)[0, 0]
    assert added == pytest.approx(abs(wrong - sharp.value[0, 0]), rel=0.05)


def test_each_kind_is_asked_of_plain_points_and_is_right() -> None:
    signals = worlds.signals()
    drafts = worlds.drafts(worlds.ask(TEMPLATE, signals, facts=60))  # type: ignore[arg-type]
    assert {draft.format for draft in drafts} == {"choice", "numeric"}
    assert all(verdict(TEMPLATE, d.format, dict(d.fact), d.answer, worlds.scene(signals)) for d in drafts)
    choices = [draft for draft in drafts if draft.format == "choice"]
    assert {draft.answer.to_json().value for draft in choices} == {"acute", "right", "obtuse"}


def test_no_world_and_no_unit_changes_an_angle() -> None:
    facts = TEMPLATE.propose(worlds.scene(worlds.signals()), np.random.default_rng(0), 30)
    first, second = (TEMPLATE.measure(facts, worlds.scene(s)) for s in (worlds.signals(), worlds.elsewhere(3, 7.0)))
    assert len(facts)
    np.testing.assert_allclose(first.value, second.value, atol=1e-6)
    np.testing.assert_allclose(first.sigma, second.sigma, rtol=1e-6)


def test_nothing_is_asked_where_ranges_are_ten_times_less_certain() -> None:
    signals = worlds.signals()
    facts, points = TEMPLATE.propose(worlds.scene(signals), np.random.default_rng(0), 30), signals["sparse_points"]
    vague = replace(points, range_relative_sigma=10 * points.range_relative_sigma)  # type: ignore[attr-defined, type-var]
    measured = TEMPLATE.measure(facts, worlds.scene({**signals, "sparse_points": vague}))
    for format in TEMPLATE.formats:
        assert (answers_to(TEMPLATE, format, facts, measured).gated(0.99).why != "").all()
