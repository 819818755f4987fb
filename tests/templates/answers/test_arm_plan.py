"""Plans of an arm in several steps: right if every step ends where it should, with the gripper as it should be."""

import json
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from action_mapping.pair_plan import amounts_of
from spatial_engine.evaluation import baselines
from spatial_engine.export.spatialtree import OracleReport
from spatial_engine.scoring import official, own, reading, strict
from spatial_engine.scoring.official.row import row
from spatial_engine.scoring.reading import Reading
from templates.answers import RIGHT, UNDECIDED, WRONG, ArmPlan
from templates.answers.answer import stacked
from templates.answers.registry import format_of, recorded_answer
from templates.answers.score import Score
from templates.columns import Json
from templates.question import Question
from tests.templates.answers.by_hand import asked

METRES, RADIANS = 0.05, np.radians(10.0)
AHEAD = [0, 0, 0, 0, 0, 4, 0]
"""Pan, tilt, roll, truck, pedestal, dolly; open."""
LEFT_CLOSED = [0, 0, 0, -3, 1, 0, 1]
TURN_CLOSED = [3, 0, 2, 0, 0, 1, 1]


def arm_plan(*steps: list[int], sigma: float = 0.002) -> ArmPlan:
    counts, turned, targets = np.array(steps, dtype=float), np.eye(3), []
    for k in range(len(counts)):
        turned = Rotation.from_euler("YXZ", counts[k, :3] * RADIANS).as_matrix() @ turned
        there = np.eye(4)
        there[:3, :3], there[:3, 3] = turned, counts[: k + 1, 3:6].sum(axis=0) * METRES
        targets.append(amounts_of(there[None])[0])
    return ArmPlan(
        steps=counts, translation_step=METRES, rotation_step_rad=RADIANS, targets=np.array(targets),
        sigma=np.full((len(counts), 6), sigma),
    )  # fmt: skip


def question(*steps: list[int]) -> Question:
    return asked(arm_plan(*steps), "arm_plan", ability="L4/Goal-Driven Execution/Robotic Arm")


STRAIGHT = question(AHEAD, LEFT_CLOSED)
TURNED = question(AHEAD, LEFT_CLOSED, TURN_CLOSED, LEFT_CLOSED)
BOTH = pytest.mark.parametrize("which", [STRAIGHT, TURNED], ids=["straight", "turned"])


def value_of(which: Question, answer: Json) -> float:
    scored = own.score(which, json.dumps(answer))
    assert isinstance(scored, Score)
    return scored.value


def test_the_written_plan() -> None:
    assert STRAIGHT.answer == {
        "step_1": {"actions": ["Dolly In"], "step_nums": [4], "gripper": "open"},
        "step_2": {"actions": ["Truck Left", "Pedestal Down"], "step_nums": [3, 1], "gripper": "closed"},
    }


@BOTH
def test_the_right_plan_has_full_marks_and_nothing_has_none(which: Question) -> None:
    form = format_of("arm_plan")
    assert own.score(which, baselines.oracle_text(which)).value == 1.0  # type: ignore[union-attr]
    for wrong in (form.no_op(which), {}, [], *form.near_misses(which)):
        scored = own.score(which, json.dumps(wrong))
        assert isinstance(scored, Score) and scored.value == 0
    assert own.score(which, json.dumps(form.no_op(which))).nearness == 0.0  # type: ignore[union-attr]
    assert own.score(which, "I cannot tell.").value == 0.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "score"),
    [
        ({"step_1": {"actions": ["Dolly In"], "step_nums": [5]}}, 1.0),
        ({"step_1": {"actions": ["Dolly In"], "step_nums": [6]}}, 0.0),
        ({"step_1": {"actions": ["Dolly In", "Truck Left"], "step_nums": [5, 1]}}, 0.0),
        ({"step_2": {"gripper": "open"}}, 0.0),
        ({"step_2": {"gripper": "half"}}, 0.0),
        ({"step_2": {"actions": ["Truck Left", "Pedestal Down", "Pan Right"], "step_nums": [3, 1, 1]}}, 1.0),
        ({"step_2": {"actions": ["Truck Left", "Pedestal Down", "Pan Right"], "step_nums": [3, 1, 2]}}, 0.0),
        ({"step_2": {"actions": ["Jump"], "step_nums": [3]}}, 0.0),
        ({"step_2": {"step_nums": [3]}}, 0.0),
        ({"step_3": {"actions": ["Stay"], "step_nums": [0], "gripper": "closed"}}, 0.0),
    ],
)
def test_every_step_counts(changes: Mapping[str, Json], score: float) -> None:
    """Within one unit, and the end of the last step depends on all."""
    answer = {name: {**STRAIGHT.answer.get(name, {}), **changes.get(name, {})} for name in {*STRAIGHT.answer, *changes}}
    assert value_of(STRAIGHT, answer) == score


def test_turns_are_about_fixed_axes_and_moves_along_them() -> None:
    """After the gripper has turned by 30°, left is where it was."""
    plan = recorded_answer(TURNED)
    assert isinstance(plan, ArmPlan)
    there = plan.targets[3]
    np.testing.assert_allclose(there[3:] / METRES, [-6, 2, 5], atol=1e-9)
    np.testing.assert_allclose(np.degrees(there[:3]), [30, 0, 20], atol=1e-6)


@BOTH
def test_the_official_scorer_gives_the_right_plan_full_marks_and_an_empty_one_none(which: Question) -> None:
    made, report = row(which), OracleReport()
    assert isinstance(made, dict) and "The scorer reads keys" in made["question"]
    report.answer(which.ability, made)
    assert report.by_leaf() == {which.ability: {"rows": 1, "score": 1.0, "why": {}}}
    form = format_of("arm_plan")
    for wrong in ("{}", form.official_text(form.no_op(which))):
        assert official.process_results(made, [wrong])["SpaTreeBench"]["score"] == 0
    assert official.process_results(made, [form.official_text(which.answer)])["SpaTreeBench"]["score"] == 1


def test_the_strict_scorer_agrees_where_nothing_turns() -> None:
    """The published scorer permutes the axes of turns, and its rows follow it."""
    form, made = format_of("arm_plan"), row(STRAIGHT)
    assert isinstance(made, dict)
    hint = json.loads(made["hint"])
    right = strict.manipulateeval(form.official_text(STRAIGHT.answer), "", hint)
    assert right["score"] == pytest.approx(1) and right["detail"]["s_gripper"] == 1
    for wrong in ("{}", form.official_text(form.no_op(STRAIGHT))):
        assert strict.manipulateeval(wrong, "", hint)["score"] == 0
    flipped = form.official_text([*form.near_misses(STRAIGHT)][1])
    assert strict.manipulateeval(flipped, "", hint)["detail"]["s_gripper"] == 0


REPLIES = {
    "a block": f"First ...\n```json\n{json.dumps(STRAIGHT.answer)}\n```",
    "keys": format_of("arm_plan").official_text(STRAIGHT.answer),
    "a list": json.dumps({"steps": [*STRAIGHT.answer.values()]}),
    "1 and 0": json.dumps(
        {n: {**step, "gripper": int(step["gripper"] == "closed")} for n, step in STRAIGHT.answer.items()}
    ),
    "as actions": json.dumps(
        {
            "Step 1": {"actions": ["Dolly In", "Gripper Open"], "step_nums": [4, 1]},
            "Step 2": {"actions": ["Truck Left", "Pedestal Down", "H"], "step_nums": [3, 1, 1]},
        }
    ),
}


@pytest.mark.parametrize("how", REPLIES)
def test_a_plan_is_read_however_it_is_written(how: str) -> None:
    found = reading.read_steps(REPLIES[how] or "")
    assert isinstance(found, Reading) and found.value == STRAIGHT.answer


@pytest.mark.parametrize("reply", ["", "[1, 2]", '{"step_1": {"actions": ["W"]}}', "Move 3 units ahead."])
def test_a_reply_without_a_plan_is_unreadable(reply: str) -> None:
    assert not isinstance(reading.read_steps(reply), Reading)


def test_truth_decides_far_from_the_tolerance() -> None:
    plan = arm_plan(AHEAD, LEFT_CLOSED)
    assert plan.right(plan) == RIGHT and plan.p_right() > 0.999
    assert plan.right(arm_plan([0, 0, 0, 0, 0, 6, 0], LEFT_CLOSED)) == WRONG
    assert plan.right(arm_plan(AHEAD, [0, 0, 0, -3, 1, 0, 0])) == WRONG
    assert plan.right(arm_plan(AHEAD, LEFT_CLOSED, sigma=0.05)) == UNDECIDED
    assert arm_plan(AHEAD, LEFT_CLOSED, sigma=0.05).p_right() < 0.5


def test_a_stack_holds_plans_of_different_lengths() -> None:
    answers = [arm_plan(AHEAD), arm_plan(AHEAD, LEFT_CLOSED, TURN_CLOSED)]
    whole = stacked(answers)
    np.testing.assert_allclose(whole.p_right(), [float(answer.p_right()) for answer in answers])
    assert whole.right(whole).tolist() == [RIGHT, RIGHT]
    for k, single in enumerate(answers):
        assert whole.row(k).to_json() == single.to_json()
    none = whole.take([])
    assert none.p_right().shape == none.right(none).shape == (0,)


@BOTH
def test_a_question_gives_its_plan_back(which: Question) -> None:
    again = recorded_answer(which)
    assert isinstance(again, ArmPlan) and again.right(again) == RIGHT
    assert again.to_json().answer == which.answer and again.p_right() > 0.999
    assert format_of("arm_plan").stated(which, again).right(again) == RIGHT


def test_p_right_is_at_most_that_of_sampling() -> None:
    answer, rng = arm_plan(AHEAD, sigma=0.02), np.random.default_rng(0)
    sampled = [replace(answer, targets=answer.targets + rng.normal(size=(1, 6)) * 0.02) for _ in range(2000)]
    share = np.mean([bool((answer.error(one)[0] <= answer.limits).all()) for one in sampled])
    assert share - 0.03 < answer.p_right() < share + 0.03
