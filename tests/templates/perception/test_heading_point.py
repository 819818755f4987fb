"""The point towards which the camera moves: exact, in every world, and only where the camera moves that way."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Signal
from templates.answers import Point
from templates.perception.heading import HeadingPoint
from templates.truth import verdict
from tests.templates import worlds

HEADING = HeadingPoint()


def sure(signals: dict[str, Signal]) -> dict[str, Signal]:
    """With the σ of ground truth."""
    sigma = np.full(len(worlds.FRAMES), 1e-4)
    return worlds.with_path(signals, direction_sigma_rad=1e-3, focal_relative_sigma=1e-3, rotation_sigma_rad=sigma)


def moving(direction: list[float], turn_deg: float = 0.0) -> dict[str, Signal]:
    """A camera that moves 1.5 units along an axis of its own (x to the right, y down, z ahead)."""
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))
    share = np.linspace(0, 1, len(poses))[:, None]
    level = Rotation.from_euler("x", -90, degrees=True).as_matrix()
    poses[:, :3, :3] = level @ Rotation.from_euler("y", turn_deg * share, degrees=True).as_matrix()
    poses[:, :3, 3] = share * (level @ (1.5 * np.array(direction) / np.linalg.norm(direction)))
    return sure(worlds.with_path(worlds.signals(), world_from_cam=poses))


WHOLE = HEADING.facts.from_json(
    [{"frame": 0, "frame_later": 46, "size": [640, 480], "looks_px": None, "nearest_px": None}]
)


@pytest.mark.parametrize("direction", [[0.0, 0.0, 1.0], [0.2, 0.0, 1.0], [-0.3, 0.1, 1.0], [0.1, -0.2, 1.0]])
def test_the_point_lies_where_the_direction_meets_the_picture(direction: list[float]) -> None:
    measured = HEADING.measure(WHOLE, worlds.scene(moving(direction)))
    x, y, z = direction
    np.testing.assert_allclose(measured.value[0], [319.5 + 600 * x / z, 239.5 + 600 * y / z], atol=1e-6)
    assert measured.why.tolist() == [""]


@pytest.mark.parametrize(
    ("direction", "turn_deg", "reason"),
    [
        ([0, 0, -1], 0.0, "the camera does not move towards anything in the picture"),
        ([1, 0, 0.2], 0.0, "the camera does not move towards anything in the picture"),
        ([0, 0, 1], 20.0, "the camera turns too far between the photos"),
    ],
)
def test_other_motions_are_not_asked_about(direction: list[float], turn_deg: float, reason: str) -> None:
    assert HEADING.measure(WHOLE, worlds.scene(moving(direction, turn_deg))).why.tolist() == [reason]


def test_a_step_too_short_to_see_is_not_asked_about() -> None:
    near = HEADING.facts.from_json([{**WHOLE.to_json()[0], "frame_later": 4}])
    assert HEADING.measure(near, worlds.scene(moving([0, 0, 1]))).why.tolist() == ["the camera moves too little"]


def test_truth_decides_the_point_without_the_distance_of_the_scene() -> None:
    known = moving([0.2, 0, 1])
    scene = worlds.scene({"camera_path": known["camera_path"]})
    assert HEADING.measure(WHOLE, scene).why.tolist() == ["the distance of the scene is not known"]
    for x, right in ((439.5, True), (445.5, True), (360.5, False)):
        point = Point(xy_px=np.array([x, 239.5]), sigma_px=3.0, tolerance_px=16.0)
        assert verdict(HEADING, "point", WHOLE.to_json()[0], point, scene) is right


@worlds.UNITS
def test_answers_are_the_same_in_every_world(unit: float) -> None:
    found, truth = worlds.ask(HEADING, sure(worlds.elsewhere(3, unit))), worlds.scene(sure(worlds.signals()))
    assert {asked.format for asked in found.asked} == {"choice", "point"}
    for draft in worlds.drafts(found):
        assert verdict(HEADING, draft.format, dict(draft.fact), draft.answer, truth) is True


def test_a_mirror_mirrors_the_point() -> None:
    signals = sure(worlds.signals())
    facts = HEADING.propose(worlds.scene(signals), np.random.default_rng(0), 20)
    first = HEADING.measure(facts, worlds.scene(signals))
    world = worlds.mirrored(signals)
    points = signals["sparse_points"]
    observed = points.observation_xy_px * [-1, 1] + [639, 0]  # type: ignore[union-attr]
    world["sparse_points"] = replace(
        points,
        xyz_world=points.xyz_world * [-1, 1, 1],
        observation_xy_px=observed,  # type: ignore[type-var, union-attr]
    )
    second = HEADING.measure(facts, worlds.scene(world))
    asked = (first.why == "") & (second.why == "")
    assert asked.sum() >= 10
    np.testing.assert_allclose(second.value[asked], first.value[asked] * [-1, 1] + [639, 0], atol=1e-6)


def test_wrong_points_are_mistakes_and_away_from_the_right_one() -> None:
    named, diagonal = set(), 800.0
    for draft in worlds.drafts(worlds.ask(HEADING, sure(worlds.signals()))):
        if draft.format != "choice":
            continue
        right = np.array(draft.options[worlds.written(draft)].value)
        assert draft.options[worlds.written(draft)].mistake == ""
        for number, option in enumerate(draft.options):
            if number != worlds.written(draft):
                assert np.linalg.norm(np.array(option.value) - right) >= 0.12 * diagonal - 0.2
                named.add(option.mistake)
    assert {"middle of the photo", "nearest surface", "mirrored left to right", "mirrored top to bottom"} <= named


def test_a_direction_that_is_less_sure_puts_the_wrong_points_farther_away_or_is_not_asked() -> None:
    """As COLMAP states it, a choice is asked and a pixel is not; with ten times that σ, nothing."""
    rough, truth = worlds.ask(HEADING, worlds.signals()), worlds.scene(sure(worlds.signals()))
    assert {asked.format for asked in rough.asked} == {"choice"}
    for draft in worlds.drafts(rough):
        right = np.array(draft.options[worlds.written(draft)].value)
        apart = [np.linalg.norm(np.array(option.value) - right) for option in draft.options]
        assert sorted(apart)[1] >= 0.2 * 800
        assert verdict(HEADING, "choice", dict(draft.fact), draft.answer, truth) is True
    assert not worlds.ask(HEADING, worlds.with_path(worlds.signals(), direction_sigma_rad=np.radians(30))).asked
