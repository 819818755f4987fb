"""The main move or turn of a gripper between two photos, in a small exact world."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import EffectorPath, Signal
from templates.agent.arm_next import ArmNext, NextOfArm
from templates.generate import answers_to
from tests.templates import worlds

NEXT = ArmNext()


def signals(**changes: object) -> dict[str, Signal]:
    """The camera stands where it is at first, so that words about the world's axes are those of its own."""
    known = worlds.with_effector(worlds.signals())
    path = known["effector_path"]
    assert isinstance(path, EffectorPath) and path.cam_from_base is not None
    still = np.repeat(path.cam_from_base[:1], len(path.frames), axis=0)
    return {**known, "effector_path": replace(path, **{"cam_from_base": still, **changes})}  # type: ignore[arg-type]


def label(frame_a: int, frame_b: int, kind: str, known: dict[str, Signal]) -> str:
    facts = NextOfArm(frames=np.array([[frame_a, frame_b]]), kind=np.array([kind]), effector=np.array(["gripper"]))
    measured = NEXT.measure(facts, worlds.scene(known))
    answers = answers_to(NEXT, "choice", facts, measured).gated(0.99)
    return str(answers.why[0] or answers.labels()[0])


@pytest.mark.parametrize(
    ("frames", "kind", "name"),
    [
        ((0, 8), "move", "Truck Right"),
        ((14, 20), "move", "Pedestal Up"),
        ((24, 29), "move", "Truck Left"),
        ((29, 34), "move", "Pedestal Down"),
        ((40, 47), "move", "Dolly In"),
        ((20, 24), "turn", "Pan Right"),
    ],
)
def test_moves_and_turns_in_the_axes_of_the_camera(frames: tuple[int, int], kind: str, name: str) -> None:
    assert label(*frames, kind, signals()) == name


@pytest.mark.parametrize(
    ("frames", "kind"),
    [((20, 24), "move"), ((0, 8), "turn"), ((8, 14), "move"), ((14, 29), "move"), ((40, 41), "move")],
)
def test_silence_where_nothing_or_nothing_single_moves(frames: tuple[int, int], kind: str) -> None:
    assert label(*frames, kind, signals()) == "no single move or turn dominates"


@pytest.mark.parametrize(
    ("degrees", "found"),
    [
        (100, "Roll CW"),
        (-100, "Roll CCW"),
        (230, "turns nearly half around or farther"),
        (400, "turns nearly half around or farther"),
    ],
)
def test_a_wrist_that_turns_too_far_seems_to_turn_the_other_way(degrees: float, found: str) -> None:
    """As it does where it takes off a lid."""
    path = signals()["effector_path"]
    assert isinstance(path, EffectorPath) and path.cam_from_base is not None
    poses, axes = np.repeat(path.base_from_view[:1], 48, axis=0), path.cam_from_base[0, :3, :3]
    roll = Rotation.from_euler("z", np.linspace(0, degrees, 48)[:, None], degrees=True).as_matrix()
    poses[:, :3, :3] = axes.T @ roll @ axes @ poses[:, :3, :3]
    assert label(0, 47, "turn", signals(base_from_view=poses)) == found


def test_frames_without_a_pose_and_photos_in_the_wrong_order_are_refused() -> None:
    assert label(0, 60, "move", signals()) == "pose of the gripper or hand in the camera's axes not known"
    assert label(8, 0, "move", signals()) == "the photos are not in order of time"
    assert not worlds.ask(NEXT, signals(cam_from_base=None)).asked


def test_the_frame_of_the_base_changes_nothing_and_the_camera_of_photo_1_decides() -> None:
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = Rotation.random(rng=np.random.default_rng(0)).as_matrix(), (3, -1, 2)
    first, second = (
        worlds.drafts(worlds.ask(NEXT, worlds.with_effector(worlds.signals(), base_from_world=base)))
        for base in (None, turned)
    )
    assert len(first) >= 10 and [*map(worlds.shown, first)] == [*map(worlds.shown, second)]
    upside_down = np.diag([-1.0, -1, 1, 1])
    known = signals()["effector_path"]
    assert isinstance(known, EffectorPath) and known.cam_from_base is not None
    assert label(0, 8, "move", signals(cam_from_base=upside_down @ known.cam_from_base)) == "Truck Left"


@pytest.mark.parametrize(
    ("name", "sigma", "left"), [("position_sigma", 0.1, {"turn"}), ("rotation_sigma_rad", 0.5, set())]
)
def test_a_large_sigma_silences(name: str, sigma: float, left: set[str]) -> None:
    drafts = worlds.drafts(worlds.ask(NEXT, signals(**{name: np.full(48, sigma)})))
    assert {draft.fact["kind"] for draft in drafts} == left


def test_each_question_offers_its_answer_its_opposite_and_another_axis() -> None:
    drafts = worlds.drafts(worlds.ask(NEXT, signals()))
    assert {draft.fact["kind"] for draft in drafts} == {"move", "turn"}
    for draft in drafts:
        names = [option.value for option in draft.options]
        assert len(set(names)) == 4 and len({str(name).split()[0] for name in names}) == 2
        mistakes = [option.mistake for option in draft.options]
        assert sorted(mistakes) == ["", "another axis", "another axis", "opposite direction"]
