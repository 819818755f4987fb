"""Which plan takes a gripper from photo 1 to photo 2, in a small exact world."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Scale, Signal
from templates.agent.which_arm_plan import ArmWay, WhichArmPlan
from templates.asked import Draft
from templates.generate import answers_to
from tests.templates import worlds
from tests.templates.agent.test_arm_plan import signals

WHICH = WhichArmPlan()


def asked(known: dict[str, Signal]) -> list[Draft]:
    return worlds.drafts(worlds.ask(WHICH, known))


def label(frames: list[int], unit_cm: int, known: dict[str, Signal]) -> str:
    facts = ArmWay(frames=np.array([frames]), unit_cm=np.array([unit_cm]), effector=np.array(["gripper"]))
    measured = WHICH.measure(facts, worlds.scene(known))
    answers = answers_to(WHICH, "choice", facts, measured).gated(0.99)
    return str(answers.why[0] or answers.labels()[0])


@pytest.mark.parametrize(
    ("frames", "unit_cm", "plan"),
    [
        ([0, 8], 10, "3 right; open"),
        ([0, 14], 10, "3 right; closed"),
        ([14, 20], 8, "3 up; closed"),
        ([40, 47], 10, "3 forwards; open"),
        ([14, 40], 8, "turns"),
        ([0, 8], 20, "a way of too few or too many units"),
        ([0, 8], 5, "the units are too short to be seen"),
        ([0, 9], 10, "half open in a photo"),
        ([8, 0], 10, "the photos are not in order of time"),
        ([0, 60], 10, "pose of the gripper or hand in the camera's axes not known"),
    ],
)
def test_plans(frames: list[int], unit_cm: int, plan: str) -> None:
    assert label(frames, unit_cm, signals()) == plan


def test_a_count_that_may_round_otherwise_is_refused() -> None:
    assert label([0, 8], 10, signals(position_sigma=np.full(48, 0.05))) == "too close to call"


def test_every_part_stands_in_two_options_and_ends_are_far_apart() -> None:
    drafts = asked(signals())
    assert len(drafts) >= 10
    for draft in drafts:
        parts = [str(option.value).split("; ") for option in draft.options]
        for each in zip(*parts, strict=True):
            assert sorted(each.count(part) for part in set(each)) == [2, 2]
        assert worlds.written(draft) == 0 and draft.options[0].mistake == ""
        assert all(option.mistake for option in draft.options[1:])
        assert f"{draft.fact['unit_cm']} cm" in draft.prompt


def test_in_a_mirror_right_is_left() -> None:
    path: Any = signals()["effector_path"]
    flip = np.diag([-1.0, 1, 1, 1])
    mirrored = {
        "base_from_view": flip @ path.base_from_view @ flip,
        "cam_from_base": flip @ path.cam_from_base @ flip,
    }
    assert label([0, 8], 10, signals(**mirrored)) == "3 left; open"
    assert label([14, 20], 8, signals(**mirrored)) == "3 up; closed"


@pytest.mark.parametrize(
    "changes",
    [{"scale": Scale(kind="relative")}, {"cam_from_base": None}, {"position_sigma": np.full(48, 0.1)}],
)
def test_silence(changes: dict[str, object]) -> None:
    assert not asked(signals(**changes))


def test_the_frame_of_the_base_changes_nothing() -> None:
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = Rotation.random(rng=np.random.default_rng(0)).as_matrix(), (3, -1, 2)
    path: Any = signals()["effector_path"]
    moved = {
        "base_from_view": turned @ path.base_from_view,
        "cam_from_base": path.cam_from_base @ np.linalg.inv(turned),
    }
    first, second = asked(signals()), asked(signals(**moved))
    assert first and [*map(worlds.shown, first)] == [*map(worlds.shown, second)]
