"""Plans of whole paths: replayed from the first pose, they stay within two steps of the path."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from action_mapping.camera_rates import PathWarning
from action_mapping.path_plan import path_plan
from action_mapping.plan import PlanError
from action_mapping.replay import replay_all, residuals
from action_mapping.segments import motion_segments
from tests.action_mapping.paths import names, walk

DOLLY, PAN = [0, 0, 0, 0, 0, 0.5], [0, 0.35, 0, 0, 0, 0]


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1))
def test_replay_stays_within_two_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    poses, times_s = walk(np.repeat(rng.normal(size=(6, 6)), 10, axis=0))
    planned = path_plan(poses, motion_segments(poses, times_s, scale="metric"), rng=rng)
    replayed = replay_all(poses[0], [part.plan for part in planned])[1:]
    assert [part.first for part in planned] == [0, *(part.last for part in planned[:-1])]
    assert planned[-1].last == len(poses) - 1
    for part, off in zip(planned, residuals(poses[[part.last for part in planned]], replayed), strict=True):
        assert off.translation == pytest.approx(part.residual.translation, abs=1e-9)
        assert off.translation <= math.sqrt(12.0) * part.plan.translation_step + 1e-9
        assert off.rotation_rad <= 6.0 * part.plan.rotation_step_rad + 1e-9
        assert max(action.steps for action in part.plan.actions) <= 10


def test_a_segment_of_too_many_steps_is_split() -> None:
    poses, times_s = walk([DOLLY] * 15 + [PAN] * 15 + [DOLLY] * 15 + [PAN] * 15 + [DOLLY] * 120)
    segments = motion_segments(poses, times_s, scale="metric")
    planned = path_plan(poses, segments, rng=np.random.default_rng(0))
    assert len(segments) == 5
    assert len(planned) > 5


@pytest.mark.parametrize("seed", range(10))
def test_plans_have_the_names_of_their_segments(seed: int) -> None:
    """The rounding error of a rotation does not become a translation."""
    poses, times_s = walk(([DOLLY] * 30 + [PAN] * 40) * 4)
    segments = motion_segments(poses, times_s, scale="metric")
    for part in path_plan(poses, segments, rng=np.random.default_rng(seed)):
        assert names(a.primitive for a in part.plan.actions) == names(part.segment.primitives)


def test_more_steps_allow_longer_plans_of_the_same_steps() -> None:
    poses, times_s = walk([DOLLY] * 20 + [PAN] * 20 + [DOLLY] * 300)
    segments = motion_segments(poses, times_s, scale="metric")
    few, many = (path_plan(poses, segments, rng=np.random.default_rng(0), max_steps=most) for most in (10, 1000))
    assert len(many) == len(segments) < len(few)
    assert few[0].plan.translation_step == many[0].plan.translation_step
    assert few[0].plan.rotation_step_rad == many[0].plan.rotation_step_rad


def test_a_path_has_one_step_size_that_the_seed_draws() -> None:
    poses, times_s = walk([DOLLY] * 30 + [PAN] * 30)
    segments = motion_segments(poses, times_s, scale="metric")
    units = set()
    for seed in range(8):
        planned = path_plan(poses, segments, rng=np.random.default_rng(seed))
        (unit,) = {part.plan.translation_step for part in planned}
        units.add(unit)
    assert len(units) > 2


def test_a_motion_too_large_for_any_step_is_refused() -> None:
    poses, times_s = walk([[0, 0, 0, 0, 0, 3e6]] * 3)
    segments = motion_segments(poses, times_s, scale="relative")
    with pytest.raises(PlanError, match="too large for any step size"):
        path_plan(poses, segments, rng=np.random.default_rng(0))


def test_a_gap_is_bridged_by_one_plan() -> None:
    poses, times_s = walk([DOLLY] * 400)
    keep = np.r_[0:21, 380:401]
    with pytest.warns(PathWarning):
        segments = motion_segments(poses[keep], times_s[keep], scale="metric")
    planned = path_plan(poses[keep], segments, rng=np.random.default_rng(0))
    assert sum(not part.segment.primitives for part in planned) == 1
    assert planned[-1].residual.translation <= math.sqrt(12.0) * planned[-1].plan.translation_step + 1e-9


def test_a_plan_contains_the_zoom() -> None:
    poses, times_s = walk([[0] * 6] * 30)
    focal_px = 500.0 * 1.1 ** np.linspace(0, 5, 31)
    segments = motion_segments(poses, times_s, scale="metric", focal_px=focal_px)
    (part,) = path_plan(poses, segments, rng=np.random.default_rng(0), focal_px=focal_px)
    assert [(a.primitive.name, a.steps) for a in part.plan.actions] == [("Zoom In", 5)]


def test_noise_is_not_planned() -> None:
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(50):
        poses, times_s = walk([DOLLY] * 30)
        poses[:, :3, 3] += 0.005 * rng.normal(size=(31, 3))
        segments = motion_segments(poses, times_s, scale="metric", position_sigma=0.005, rotation_sigma_rad=0.0)
        for part in path_plan(poses, segments, rng=rng, position_sigma=0.005):
            false += names(a.primitive for a in part.plan.actions) != ["Dolly In"]
    assert false <= 1
