"""How the camera moves in videos, and how fast: exact motions, every world, and what refuses a question."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Signal
from templates.media import Video
from templates.perception.camera_speed import CameraSpeed, FasterCamera
from templates.perception.how_it_moves import HowItMoves
from templates.template import Template
from templates.truth import verdict
from tests.templates import worlds

SPEED, FASTER, HOW = CameraSpeed(), FasterCamera(), HowItMoves()
EACH = pytest.mark.parametrize("template", [SPEED, FASTER, HOW], ids=lambda template: template.name)


def sure(signals: dict[str, Signal]) -> dict[str, Signal]:
    """Metric, with the σ of ground truth."""
    sigma = np.full(len(worlds.FRAMES), 1e-4)
    return worlds.with_path(
        signals, direction_sigma_rad=1e-3, rotation_sigma_rad=sigma, focal_relative_sigma=1e-3, scale=worlds.METRIC
    )


def performing(ahead: np.ndarray, turn_deg: np.ndarray) -> dict[str, Signal]:
    """A camera that is so far ahead, and turned so far to the right, in each frame of the path."""
    poses = np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))
    level = Rotation.from_euler("x", -90, degrees=True).as_matrix()
    poses[:, :3, :3] = level @ Rotation.from_euler("y", turn_deg[:, None], degrees=True).as_matrix()
    poses[:, 1, 3] = ahead
    return sure(worlds.with_path(worlds.signals(), world_from_cam=poses))


T = np.linspace(0, 1, len(worlds.FRAMES))
WHOLE = HOW.facts.from_json([{"frames": [*range(0, 46, 3), 46]}])


@pytest.mark.parametrize(
    ("ahead", "turn_deg", "word"),
    [
        (0 * T, 0 * T, "stays"),
        (0 * T, 20 * T, "turns"),
        (1.5 * T, 0 * T, "travels"),
        (1.5 * T, 20 * T, "travels"),
        (0.45 * T, 0 * T, "travels"),
        (0.75 * T, 40 * T, "travels"),
        (1.5 * np.sin(np.pi * T), 0 * T, "travels"),
        (0 * T, 20 * np.sin(np.pi * T), "turns"),
    ],
)
def test_what_the_camera_does_at_any_time_counts(ahead: np.ndarray, turn_deg: np.ndarray, word: str) -> None:
    """Also where it returns."""
    measured = HOW.measure(WHOLE, worlds.scene(performing(ahead, turn_deg)))
    assert measured.why.tolist() == [""] and measured.label is not None and measured.label.tolist() == [word]


@pytest.mark.parametrize(
    ("ahead", "turn_deg"),
    [(0.08 * T, 0 * T), (0.3 * T, 0 * T), (0 * T, 2 * T), (0.08 * T, 20 * T), (0.55 * T, 40 * T), (1.1 * T, 80 * T)],
)
def test_a_motion_that_is_hardly_seen_is_not_asked_about(ahead: np.ndarray, turn_deg: np.ndarray) -> None:
    """Nor one of a camera that turns in the hand of somebody: it goes round an axis near it."""
    found = HOW.measure(WHOLE, worlds.scene(performing(ahead, turn_deg)))
    assert found.why.tolist() == ["the camera moves too little to decide"]


def test_a_camera_that_only_turns_needs_no_places() -> None:
    signals = worlds.signals(motion="rotation_only")
    words = {draft.answer.text for draft in worlds.drafts(worlds.ask(HOW, signals))}  # type: ignore[attr-defined]
    assert words == {"turns"}
    assert not worlds.ask(HOW, worlds.with_path(signals, motion="unresolved")).asked


def test_speeds_are_those_of_the_straight_line() -> None:
    """1.5 m in 46/24 s."""
    facts = SPEED.facts.from_json([{"frames": WHOLE.to_json()[0]["frames"], "seconds": 1.917}])
    measured = SPEED.measure(facts, worlds.scene(performing(1.5 * T, 0 * T)))
    assert measured.value[0, 0] == pytest.approx(1.5 / 1.917, rel=1e-3) and measured.why.tolist() == [""]
    assert measured.traps["distance instead of speed"].tolist() == [1.5]
    there_and_back = SPEED.measure(facts, worlds.scene(performing(1.5 * T + 0.5 * np.sin(9 * T), 0 * T)))
    assert there_and_back.why.tolist() == ["the camera does not move straight"]
    unsure = worlds.with_path(performing(1.5 * T, 0 * T), travel_relative_sigma=0.1)
    assert SPEED.measure(facts, worlds.scene(unsure)).sigma[0, 0] == pytest.approx(0.1 * 1.5 / 1.917, rel=0.02)


def test_the_second_half_is_twice_as_fast() -> None:
    signals = performing(np.where(T < 0.5, T, 0.5 + 2 * (T - 0.5)), 0 * T)
    halves = {"frames_1": [*range(0, 22, 2)], "frames_2": [*range(24, 47, 2)]}
    for facts, word in ((halves, "2"), ({"frames_1": halves["frames_2"], "frames_2": halves["frames_1"]}, "1")):
        measured = FASTER.measure(FASTER.facts.from_json([facts]), worlds.scene(signals))
        assert measured.label is not None and measured.label.tolist() == [word]
        assert abs(measured.value[0, 0]) == pytest.approx(np.log(2), rel=0.05)
    even = FASTER.measure(FASTER.facts.from_json([halves]), worlds.scene(performing(1.5 * T, 0 * T)))
    assert even.why.tolist() == ["both speeds are about equal"]


def test_a_turn_does_not_make_the_camera_faster() -> None:
    """The video in which the picture moves faster is the typical mistake."""
    turn = np.where(T < 0.5, 40 * T, 20)
    signals = performing(np.where(T < 0.5, 0.5 * T, 0.25 + 1.5 * (T - 0.5)), turn)
    facts = FASTER.facts.from_json([{"frames_1": [*range(0, 22, 2)], "frames_2": [*range(24, 47, 2)]}])
    measured = FASTER.measure(facts, worlds.scene(signals))
    assert measured.label is not None and measured.label.tolist() == ["2"]
    assert measured.traps["faster in the picture"].tolist() == ["1"]


@EACH
@worlds.UNITS
def test_answers_are_the_same_in_every_world(template: Template, unit: float) -> None:
    signals = worlds.elsewhere(3, unit)
    if template is SPEED:
        assert worlds.reasons(worlds.ask(template, signals)) == {"scale is not metric"}
        if unit != 1:
            return
        signals = worlds.with_path(signals, scale=worlds.METRIC)
    found, truth = worlds.drafts(worlds.ask(template, signals)), worlds.scene(sure(worlds.signals()))
    assert len(found) >= 8
    for draft in found:
        assert all(isinstance(medium, Video) and 8 <= len(medium.frames) <= 16 for medium in draft.media)
        assert verdict(template, draft.format, dict(draft.fact), draft.answer, truth) is True


@EACH
def test_a_mirror_changes_nothing(template: Template) -> None:
    signals = sure(worlds.signals())
    facts = template.propose(worlds.scene(signals), np.random.default_rng(0), 20)
    first = template.measure(facts, worlds.scene(signals))
    second = template.measure(facts, worlds.scene(worlds.mirrored(signals) | {"sparse_points": mirror_points(signals)}))
    known = first.why == ""
    assert known.sum() >= 8 and second.why.tolist() == first.why.tolist()
    np.testing.assert_allclose(second.value[known], first.value[known], atol=1e-9)


def mirror_points(signals: dict[str, Signal]) -> Signal:
    points = signals["sparse_points"]
    observed = points.observation_xy_px * [-1, 1] + [639, 0]  # type: ignore[union-attr]
    xyz = points.xyz_world * [-1, 1, 1]  # type: ignore[union-attr]
    return replace(points, xyz_world=xyz, observation_xy_px=observed)  # type: ignore[type-var]


@EACH
def test_a_path_that_is_much_less_sure_is_not_asked_about(template: Template) -> None:
    signals = worlds.with_path(worlds.signals(), scale=worlds.METRIC)
    count = len(worlds.FRAMES)
    rough = worlds.with_path(signals, direction_sigma_rad=0.5, position_sigma=np.full(count, 0.5))
    assert worlds.ask(template, signals).asked and not worlds.ask(template, rough).asked


def test_speeds_need_time_stamps_and_videos_need_frames() -> None:
    scene = worlds.scene(sure(worlds.signals()))
    timeless = replace(scene, clip=replace(scene.clip, times_s=None))
    few = replace(scene, clip=replace(scene.clip, frames=np.arange(6), times_s=np.arange(6) / 24))
    for template in (SPEED, FASTER):
        facts = template.propose(scene, np.random.default_rng(0), 10)
        assert set(template.measure(facts, timeless).why.tolist()) == {"the footage has no time stamps"}
        assert len(template.propose(few, np.random.default_rng(0), 10)) == 0
