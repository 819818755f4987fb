"""Plans of a gripper from photo to photo, in a small exact world."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import EffectorPath, Scale, Signal
from spatial_engine.dataset.question_line import question_of
from templates.agent.arm_plan import MOST, PhotosOfArm, PlanArm
from templates.answers import ArmPlan
from templates.asked import Draft
from templates.columns import Json
from templates.generate import answers_to
from templates.reasoning import reasoning_of
from tests.templates import worlds

PLAN = PlanArm()
POSITIVE = {"Truck Right", "Pedestal Down", "Dolly In", "Pan Right", "Tilt Up", "Roll CW"}


def signals(**changes: object) -> dict[str, Signal]:
    """The camera stands still, and σ is small."""
    known = worlds.with_effector(worlds.signals())
    path = known["effector_path"]
    assert isinstance(path, EffectorPath) and path.cam_from_base is not None
    still = {
        "cam_from_base": np.repeat(path.cam_from_base[:1], 48, axis=0),
        "position_sigma": np.full(48, 1e-4),
        "rotation_sigma_rad": np.full(48, 1e-3),
        "scale": Scale(kind="metric", relative_sigma=1e-3),
    }
    return {**known, "effector_path": replace(path, **{**still, **changes})}  # type: ignore[arg-type]


def asked(known: dict[str, Signal], seed: int = 0) -> list[Draft]:
    return worlds.drafts(worlds.ask(PLAN, known, seed=seed))


def plan(frames: list[int], known: dict[str, Signal], count: int = 4) -> tuple[str, Json, Json]:
    """The reason, or the answer and the units."""
    facts = PhotosOfArm(frames=np.array([frames]), count=np.array([count]), effector=np.array(["gripper"]))
    measured = PLAN.measure(facts, worlds.scene(known))
    answers = answers_to(PLAN, "arm_plan", facts, measured).gated(0.99)
    if answers.why[0]:
        return str(answers.why[0]), None, None
    recorded = answers.row(0).to_json()
    return "", recorded.answer, recorded.scorer_params


def test_the_camera_sees_the_gripper_go_right_close_rise_and_turn() -> None:
    why, answer, units = plan([0, 14, 20, 24], signals())
    assert why == ""
    steps = [(step["actions"][0], step["gripper"]) for step in answer.values()]
    assert steps == [("Truck Right", "closed"), ("Pedestal Up", "closed"), ("Pan Right", "closed")]
    assert answer["step_1"]["step_nums"][0] * units["translation_step_m"] == pytest.approx(0.3, abs=0.05)
    assert answer["step_3"]["step_nums"][0] * units["rotation_step_deg"] == pytest.approx(
        30, abs=units["rotation_step_deg"] / 2
    )


def test_every_step_of_a_plan_ends_within_a_unit_of_the_truth() -> None:
    """Replayed by hand: moves along and turns about the axes of the camera, each in its own way."""
    known = signals()
    path = known["effector_path"]
    assert isinstance(path, EffectorPath) and path.cam_from_base is not None
    cam_from_view = path.cam_from_base @ path.base_from_view
    axes = {"Truck": 0, "Pedestal": 1, "Dolly": 2, "Tilt": 0, "Pan": 1, "Roll": 2}
    drafts, lengths = asked(known), set()
    for draft in drafts:
        frames, units = draft.fact["frames"], draft.answer.to_json().scorer_params
        at, turned = cam_from_view[frames[0], :3, 3].copy(), cam_from_view[frames[0], :3, :3]
        for frame, step in zip(frames[1:], worlds.written(draft).values(), strict=True):
            each = {}
            for name, count in zip(step["actions"], step["step_nums"], strict=True):
                kind, sign = name.split()[0], 1 if name in POSITIVE else -1
                if kind in ("Truck", "Pedestal", "Dolly"):
                    at[axes[kind]] += sign * count * units["translation_step_m"]
                elif kind != "Stay":
                    turn = np.eye(3)[axes[kind]] * sign * count * units["rotation_step_deg"]
                    each[kind] = Rotation.from_rotvec(turn, degrees=True).as_matrix()
            for kind in ("Roll", "Tilt", "Pan"):
                turned = each.get(kind, np.eye(3)) @ turned
            there = cam_from_view[frame]
            assert np.linalg.norm(at - there[:3, 3]) <= units["translation_step_m"]
            angle = Rotation.from_matrix(there[:3, :3].T @ turned).magnitude()
            assert np.degrees(angle) <= units["rotation_step_deg"]
            assert step["gripper"] == ("open" if path.opening[frame] > 0.7 else "closed")
        lengths.add(len(frames) - 1)
    assert len(drafts) >= 15 and len(lengths) >= 4
    assert any("Pan Right" in step["actions"] for draft in drafts for step in worlds.written(draft).values())


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ([0, 9], "half open in a photo"),
        ([14, 0], "the photos are not in order of time"),
        ([14, 60], "pose of the gripper or hand in the camera's axes not known"),
        ([0, 11, 12, 20], "nothing happens in a step"),
        ([0, 8, 34], "ends where it starts"),
        ([11, 12], "no round unit gives three to ten counts and small errors"),
    ],
)
def test_what_gives_no_plan(frames: list[int], why: str) -> None:
    assert plan(frames, signals())[0] == why


@pytest.mark.parametrize(
    "changes",
    [
        {"scale": Scale(kind="relative")},
        {"cam_from_base": None},
        {"position_sigma": np.full(48, 0.1)},
        {"rotation_sigma_rad": np.full(48, 0.2)},
        {"opening": np.full(48, np.nan)},
    ],
)
def test_silence(changes: dict[str, object]) -> None:
    assert not asked(signals(**changes))


def test_the_frame_of_the_base_changes_nothing() -> None:
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = Rotation.random(rng=np.random.default_rng(0)).as_matrix(), (3, -1, 2)
    path = signals()["effector_path"]
    assert isinstance(path, EffectorPath) and path.cam_from_base is not None
    moved = {
        "base_from_view": turned @ path.base_from_view,
        "cam_from_base": path.cam_from_base @ np.linalg.inv(turned),
    }
    first, second = asked(signals()), asked(signals(**moved))
    assert len(first) >= 10 and [*map(worlds.shown, first)] == [*map(worlds.shown, second)]


def test_prompts_state_steps_and_units() -> None:
    for draft in asked(signals()):
        assert isinstance(draft.answer, ArmPlan)
        steps = len(draft.media) - 1
        assert (f"{steps} steps" if steps > 1 else "one step") in draft.prompt
        assert (
            f"{draft.answer.translation_step:g} m" in draft.prompt
            and f"{draft.answer.rotation_step_deg:g}°" in draft.prompt
        )


def test_the_reasoning_tells_after_each_step_where_it_is_seen_from_photo_1() -> None:
    """Amounts are those from photo 1, also in the last of six steps."""
    counts = set()
    for draft in asked(signals()):
        question = question_of(draft, (), worlds.clip())
        said, steps = reasoning_of(PlanArm).of(question)["compute"], question.value
        assert len(said) == len(steps) == len(draft.media) - 1
        for number, (sentence, step) in enumerate(zip(said, steps.values(), strict=True), 1):
            assert sentence.startswith(f"After step {number}, counted in units from where it is in photo 1,")
            assert f"it is {step['truck']:.1f} to the right" in sentence
        counts.add(len(said))
    assert max(counts) == MOST
