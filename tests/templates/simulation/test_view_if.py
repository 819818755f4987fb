"""Whether a point is in view after the camera has turned."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Signal
from templates.scene.borders import after_turn, border_angle_rad
from templates.scene.scene import Scene
from templates.simulation.view_if import PointAndTurn, ViewIf
from tests.templates import worlds

TEMPLATE = ViewIf()
HALF_DEG = np.degrees(np.arctan(320 / 600))
"""Half the horizontal field of view."""


def sure(signals: dict[str, Signal]) -> dict[str, Signal]:
    """The signals of a calibrated camera on a well-known path."""
    return worlds.with_path(
        signals,
        focal_relative_sigma=0.005,
        direction_sigma_rad=0.005,
        rotation_sigma_rad=np.full(len(worlds.FRAMES), 0.002),
    )


def at(azimuth_deg: float, turn_deg: int) -> PointAndTurn:
    """A point at an azimuth in the middle of photo 0, whose camera turns."""
    x = 319.5 + 600 * np.tan(np.radians(azimuth_deg))
    return PointAndTurn(
        frame=np.array([0]),
        point_px=np.array([[x, 239.5]]),
        frame_turned=np.array([0]),
        turn_deg=np.array([turn_deg]),
        other_deg=np.array([0]),
    )


def there(scene: Scene, count: int = 40) -> PointAndTurn:
    """Points of photos and turns of other cameras."""
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 4 * count).rounded()
    rows = np.flatnonzero(facts.frame != facts.frame_turned)[:count]
    assert len(rows) >= 8
    return facts.take(rows)


@pytest.mark.parametrize(
    ("azimuth", "turn", "label"),
    [(20, 40, "yes"), (20, 15, "yes"), (20, -15, "no"), (-20, -40, "yes"), (-10, 25, "no")],
)
def test_a_turn_to_the_right_moves_points_to_the_left(azimuth: float, turn: int, label: str) -> None:
    found = TEMPLATE.measure(at(azimuth, turn), worlds.scene(sure(worlds.signals(with_gravity=False))))
    inside_deg = min(HALF_DEG - abs(azimuth - turn), np.degrees(np.arctan(240 / 600)))
    assert (found.why.tolist(), np.asarray(found.label).tolist()) == ([""], [label])
    assert np.degrees(found.value[0, 0]) == pytest.approx(inside_deg, abs=0.3)
    assert found.traps["turned to the other side"].tolist() == ["yes" if abs(azimuth + turn) < HALF_DEG else "no"]


def test_points_near_the_border_are_refused() -> None:
    scene = worlds.scene(sure(worlds.signals(with_gravity=False)))
    reasons = [TEMPLATE.measure(at(HALF_DEG - 12 - off, -12), scene).why[0] for off in (-5.0, -2.0, 2.0, 5.0)]
    near = "the point comes too close to the border of the photo"
    assert reasons == ["", near, near, ""]


def test_an_uncertain_focal_length_keeps_turns_from_being_asked() -> None:
    signals = worlds.with_path(worlds.signals(with_gravity=False), focal_relative_sigma=0.5)
    assert TEMPLATE.measure(at(15, 25), worlds.scene(signals)).why[0] != ""


def test_another_turn_about_the_plumb_line_is_refused() -> None:
    """A camera that looks up steeply and turns on a tripod shows much of the same ceiling."""
    signals = sure(worlds.signals())
    up = np.tile([0.0, -np.cos(0.7), np.sin(0.7)], (len(worlds.FRAMES), 1))
    signals["gravity"] = replace(signals["gravity"], up_cam=up)  # type: ignore[call-arg]
    facts = at(0, 35)
    assert TEMPLATE.measure(facts, worlds.scene(signals)).why[0] == "a turn about the plumb line has another result"


def test_the_world_frame_and_the_unit_do_not_matter() -> None:
    here = worlds.scene(sure(worlds.signals()))
    facts = there(here)
    found, moved = (TEMPLATE.measure(facts, each) for each in (here, worlds.scene(sure(worlds.elsewhere(3, 7.0)))))
    assert found.why.tolist() == moved.why.tolist()
    known = found.why == ""
    assert known.sum() >= 8
    np.testing.assert_allclose(found.value[known], moved.value[known], atol=1e-6)


def test_one_of_four_turns_is_right() -> None:
    asked = [d for d in worlds.drafts(worlds.ask(TEMPLATE, sure(worlds.signals()), facts=60)) if d.format == "choice"]
    assert len(asked) >= 5
    for draft in asked:
        both = {abs(draft.fact["turn_deg"]), draft.fact["other_deg"]}
        assert {o.shown for o in draft.options} == {f"{a}° to the {side}" for a in both for side in ("left", "right")}
        assert draft.options[draft.written].shown.startswith(str(abs(int(draft.answer.to_json().answer))))  # type: ignore


def test_equal_turns_lead_to_yes_and_to_no() -> None:
    facts = TEMPLATE.propose(worlds.scene(sure(worlds.signals())), np.random.default_rng(1), 120)
    label = np.asarray(TEMPLATE.measure(facts, worlds.scene(sure(worlds.signals()))).label)
    assert 0.35 < (label == "yes").mean() < 0.65
    assert 0.3 < (facts.turn_deg > 0).mean() < 0.7


def test_rays_far_outside_a_distorted_picture_are_outside() -> None:
    camera = replace(worlds.CAMERA, k1=-0.3)
    rays = after_turn(np.array([[0.0, 0, 1]]), np.array([[0.0, -1, 0]]), np.radians([[0.0, 20, 80, 180]]))[0]
    assert (border_angle_rad(camera, rays) > 0).tolist() == [True, True, False, False]


def test_nothing_is_asked_without_a_path() -> None:
    assert len(TEMPLATE.propose(worlds.scene({}), np.random.default_rng(0), 5)) == 0
    assert TEMPLATE.measure(at(10, 20), worlds.scene({})).why.tolist() == ["the focal length is not known"]
