"""Plans from one pose to another: exact amounts, round step sizes, whole steps."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation

from action_mapping.effector_motion import effector_actions
from action_mapping.pair_plan import (
    ROUND_METRES,
    ROUND_RADIANS,
    draw_step_size,
    other_plans,
    pair_amounts,
    pair_plan,
)
from action_mapping.plan import Plan, PlanError, read_plan
from action_mapping.primitives import COMPONENTS, ROTATIONS, UnknownPrimitiveError
from action_mapping.replay import inverse, replay, replay_all, residuals
from tests.action_mapping.paths import names, posed, random_walks

seeds = st.integers(0, 2**32 - 1)


def poses_apart(seed: int, tilt_deg: float = 80.0) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Two poses that have a plan, for any heading, pitch, roll and position of A."""
    rng = np.random.default_rng(seed)
    a = RigidTransform.from_components(10.0 * rng.normal(size=3), Rotation.random(rng=rng)).as_matrix()
    turn = Rotation.from_euler("YXZ", rng.uniform(-1, 1, 3) * [170, tilt_deg, 170], degrees=True)
    return a, a @ RigidTransform.from_components(rng.normal(size=3), turn).as_matrix(), rng


def same(one: np.ndarray, other: np.ndarray) -> None:
    np.testing.assert_allclose(one, other, atol=1e-9)


@given(seeds)
def test_amounts_are_exact(seed: int) -> None:
    a, b, _ = poses_apart(seed)
    pan, tilt, roll, *translation = pair_amounts(a[None], b[None])[0]
    motion = np.eye(4)
    motion[:3, :3] = (Rotation.from_euler("y", pan) * Rotation.from_euler("x", tilt)
                      * Rotation.from_euler("z", roll)).as_matrix()  # fmt: skip
    motion[:3, 3] = translation
    same(a @ motion, b)


@given(seeds)
def test_a_plan_ends_within_half_a_step_of_b(seed: int) -> None:
    a, b, rng = poses_apart(seed)
    plan = pair_plan(a, b, rng=rng)
    planned = [plan.amounts()[name] for name in COMPONENTS]
    units = np.repeat([plan.rotation_step_rad, plan.translation_step], 3)
    assert (np.abs(pair_amounts(a[None], b[None])[0] - planned) <= 0.5 * units + 1e-9).all()
    half = math.sqrt(3.0) / 2.0
    (off,) = residuals(b[None], replay(a, plan)[None])
    assert off.translation <= half * plan.translation_step + 1e-9
    assert off.rotation_rad <= 1.5 * plan.rotation_step_rad + 1e-9


@given(seeds)
def test_the_largest_count_is_within_3_and_10(seed: int) -> None:
    a, b, rng = poses_apart(seed)
    plan = pair_plan(a, b, rng=rng)
    for unit in ("m", "rad"):
        counts = [action.steps for action in plan.actions if action.primitive.unit == unit]
        assert 3 <= max(counts) <= 10
    assert plan.translation_step in ROUND_METRES
    assert plan.rotation_step_rad in ROUND_RADIANS


@given(seeds)
def test_a_plan_survives_any_choice_of_world(seed: int) -> None:
    a, b, rng = poses_apart(seed)
    other = RigidTransform.from_components(1e2 * rng.normal(size=3), Rotation.random(rng=rng)).as_matrix()
    same(pair_amounts(a[None], b[None]), pair_amounts((other @ a)[None], (other @ b)[None]))


@given(seeds)
def test_plans_compose_and_invert_as_transforms(seed: int) -> None:
    a, b, rng = poses_apart(seed)
    plan = pair_plan(a, b, rng=rng)
    end = replay(a, plan)
    same(replay_all(a, [plan, plan])[-1], replay(end, plan))
    same(end @ np.linalg.inv(a) @ a, end)
    try:
        back = inverse(plan)
    except PlanError:
        return  # the way back may tilt by 85° or more
    exact = dict(zip(COMPONENTS, pair_amounts(end[None], a[None])[0], strict=True))
    for name, amount in back.amounts().items():
        unit = plan.rotation_step_rad if name in ROTATIONS else plan.translation_step
        off = exact[name] - amount
        if name in ROTATIONS:
            off = math.remainder(off, 2.0 * math.pi)
        assert abs(off) <= 0.5 * unit + 1e-9


def test_the_inverse_is_not_the_negated_plan() -> None:
    plan = read_plan(["W", "→"], [10, 9], translation_step=0.1, rotation_step_rad=math.radians(10))
    assert sorted((a.primitive.name, a.steps) for a in inverse(plan).actions) == [("Pan Left", 9), ("Truck Right", 10)]
    same(replay(replay(np.eye(4), plan), inverse(plan)), np.eye(4))
    negated = read_plan(["S", "←"], [10, 9], translation_step=0.1, rotation_step_rad=math.radians(10))
    assert np.linalg.norm(replay(replay(np.eye(4), plan), negated)[:3, 3]) == pytest.approx(math.sqrt(2.0))


def test_counts_spread_over_3_to_10() -> None:
    rng = np.random.default_rng(0)
    counts = Counter(round(size / draw_step_size(size, ROUND_METRES, rng)) for size in rng.uniform(0.3, 3.0, size=4000))
    assert set(counts) == set(range(3, 11))
    assert max(counts.values()) / min(counts.values()) < 2.5


def test_the_seed_draws_the_step_sizes() -> None:
    a, b, _ = poses_apart(3)
    steps = [pair_plan(a, b, rng=np.random.default_rng(seed)).translation_step for seed in (0, *range(12))]
    assert steps[0] == steps[1]
    assert len(set(steps)) > 2


@pytest.mark.parametrize("tilt", [86.0, 90.0, -89.0])
def test_a_tilt_near_90_degrees_is_refused(tilt: float) -> None:
    with pytest.raises(PlanError, match=rf"tilt of {tilt}° is within 5° of straight up"):
        pair_plan(posed(), posed(0, tilt), rng=np.random.default_rng(0))
    with pytest.raises(PlanError, match=rf"tilt of {tilt}° "):
        effector_actions(np.stack([posed(), posed(10), posed(10) @ posed(0, tilt)]), np.ones(3))


def test_amounts_are_not_a_number_where_there_is_no_plan() -> None:
    unknown = posed(xyz=(math.nan,) * 3)
    b = np.stack([posed(0, 84.9), posed(0, 86), posed(0, -84.9), posed(0, -90), np.full((4, 4), math.nan), unknown])
    a = np.tile(posed(), (len(b), 1, 1))
    for amounts in (pair_amounts(a, b), -pair_amounts(b, a)):
        assert np.degrees(amounts[:, 1]) == pytest.approx([84.9, math.nan, -84.9, *[math.nan] * 3], nan_ok=True)
        assert (np.isnan(amounts).all(axis=1) == np.isnan(amounts[:, 1])).all()


@given(seeds)
def test_rows_of_amounts_do_not_influence_each_other(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_walks(rng, 20)
    a[rng.random(20) < 0.2] = np.nan
    together = pair_amounts(a, b)
    for rows in (rng.permutation(20)[:7], np.arange(0), rng.integers(20, size=1)):
        np.testing.assert_array_equal(pair_amounts(a[rows], b[rows]), together[rows])


def test_the_same_pose_twice_is_a_stay() -> None:
    plan = pair_plan(posed(5), posed(5), rng=np.random.default_rng(0))
    assert names(a.primitive for a in plan.actions) == ["Stay"]


def test_amounts_below_their_noise_are_ignored() -> None:
    a, b = posed(), posed(0.5, 0, 0, (0.02, 0.0, 1.0))
    plan = pair_plan(a, b, rng=np.random.default_rng(0), position_sigma=0.01, rotation_sigma_rad=math.radians(0.2))
    assert names(action.primitive for action in plan.actions) == ["Dolly In"]


def test_a_relative_step_is_a_fraction_of_the_distance_to_a_point() -> None:
    for seed in range(20):
        a, b, rng = poses_apart(seed)
        plan = pair_plan(a, b, rng=rng, distance_to_point=4.2)
        assert plan.point_fraction is not None
        assert plan.translation_step == pytest.approx(4.2 / plan.point_fraction)
        assert max(action.steps for action in plan.actions) <= 10


@pytest.mark.parametrize("distance", [0.0, -1.0, math.nan, math.inf])
def test_a_distance_must_be_positive_and_finite(distance: float) -> None:
    with pytest.raises(PlanError, match="distance_to_point"):
        pair_plan(posed(), posed(10), rng=np.random.default_rng(0), distance_to_point=distance)


def test_max_steps_may_be_larger() -> None:
    plan = pair_plan(posed(), posed(xyz=(0.0, 0.0, 1.0)), rng=np.random.default_rng(0), max_steps=30)
    assert 3 <= plan.actions[0].steps <= 30


def test_other_plans_lead_elsewhere() -> None:
    plan = read_plan(["W", "→"], [5, 3], translation_step=0.1, rotation_step_rad=0.1)
    others = other_plans(plan)
    ends = [tuple(np.round(replay(np.eye(4), p), 9).ravel()) for p in [plan, *others]]
    assert len(set(ends)) == len(others) + 1 == 11


def test_a_written_plan_is_parsed() -> None:
    plan = read_plan(["Truck Left", "space", "←", "STOP"], [1, 4.0, 1, 0], translation_step=0.1, rotation_step_rad=0.1)
    assert [(a.primitive.name, a.steps) for a in plan.actions] == [
        ("Truck Left", 1), ("Pedestal Up", 4), ("Pan Left", 1), ("Stay", 0),
    ]  # fmt: skip
    assert isinstance(plan, Plan)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1, 0.5, 11, 10**400, "3", None, True, [1]])
def test_invalid_counts_are_refused(bad: object) -> None:
    with pytest.raises(PlanError, match="whole numbers from 0 to 10"):
        read_plan(["W"], [bad], translation_step=0.1, rotation_step_rad=0.1)


@pytest.mark.parametrize(("actions", "counts"), [(["W"], []), (["W"], [1, 2]), ([], [1])])
def test_more_or_fewer_counts_than_actions_are_refused(actions: list[str], counts: list[int]) -> None:
    with pytest.raises(PlanError, match="as many step_nums"):
        read_plan(actions, counts, translation_step=0.1, rotation_step_rad=0.1)


@pytest.mark.parametrize("action", ["w", "", "Dolly", "<-"])
def test_unknown_actions_are_refused(action: str) -> None:
    with pytest.raises(UnknownPrimitiveError, match="unknown action"):
        read_plan([action], [1], translation_step=0.1, rotation_step_rad=0.1)


@pytest.mark.parametrize("action", [None, 3, ["W"]])
def test_actions_that_are_not_text_are_refused(action: object) -> None:
    with pytest.raises(PlanError, match="a name or a key"):
        read_plan([action], [1], translation_step=0.1, rotation_step_rad=0.1)


@pytest.mark.parametrize("step", [0.0, -0.1, math.nan, math.inf])
def test_a_step_size_must_be_positive(step: float) -> None:
    with pytest.raises(PlanError, match="translation_step"):
        read_plan(["W"], [1], translation_step=step, rotation_step_rad=0.1)
    with pytest.raises(PlanError, match="rotation_step_rad"):
        read_plan(["W"], [1], translation_step=0.1, rotation_step_rad=step)
