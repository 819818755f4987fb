"""What a gripper does between two photos, in a small exact world."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import EffectorPath, Scale, Signal
from templates.agent.hand_does import HandDoes, TwoPhotosOfGrip
from templates.measured import Measured
from tests.templates import worlds

DOES = HandDoes()


def signals(**changes: object) -> dict[str, Signal]:
    known = worlds.with_effector(worlds.signals())
    path = known["effector_path"]
    assert isinstance(path, EffectorPath)
    return {**known, "effector_path": replace(path, **changes)}  # type: ignore[arg-type]


def measured(frame_a: int, frame_b: int, known: dict[str, Signal]) -> Measured:
    facts = TwoPhotosOfGrip(frames=np.array([[frame_a, frame_b]]), effector=np.array(["gripper"]))
    return DOES.measure(facts, worlds.scene(known))


@pytest.mark.parametrize(
    ("frames", "deed"),
    [((2, 14), "closes"), ((34, 45), "opens"), ((14, 19), "pulls"), ((29, 34), "pushes")],
)
def test_deeds(frames: tuple[int, int], deed: str) -> None:
    """The gripper points down: lifting is pulling, in the words of the question."""
    found = measured(*frames, signals())
    assert found.label is not None and (found.why[0], found.label[0]) == ("", deed)


@pytest.mark.parametrize(
    ("frames", "why"),
    [
        ((0, 6), "the gripper or hand stays open"),
        ((0, 45), "opens and closes"),
        ((6, 18), "also pushes or pulls"),
        ((6, 9), "half open in a photo"),
        ((8, 14), "opens or closes near a photo"),
        ((25, 29), "hardly moves along its fingers"),
        ((14, 29), "moves sideways"),
        ((14, 34), "goes forwards and back"),
        ((14, 14), "pose of the gripper or hand not known"),
        ((14, 60), "pose of the gripper or hand not known"),
    ],
)
def test_what_the_photos_do_not_decide(frames: tuple[int, int], why: str) -> None:
    assert measured(*frames, signals()).why[0] == why


def test_the_frame_of_the_base_changes_nothing() -> None:
    turned = np.eye(4)
    turned[:3, :3], turned[:3, 3] = Rotation.random(rng=np.random.default_rng(0)).as_matrix(), (3, -1, 2)
    known = worlds.with_effector(worlds.signals(), base_from_world=turned)
    facts = DOES.propose(worlds.scene(signals()), np.random.default_rng(0), 40)  # type: ignore[arg-type]
    one, other = (DOES.measure(facts, worlds.scene(each)) for each in (signals(), known))
    asked = one.why == ""
    assert one.why.tolist() == other.why.tolist() and asked.sum() >= 20
    assert one.label is not None and other.label is not None
    assert one.label[asked].tolist() == other.label[asked].tolist()


@pytest.mark.parametrize(
    "changes",
    [{"position_sigma": np.full(48, 0.3)}, {"rotation_sigma_rad": np.full(48, 2.0)}],
)
def test_a_large_sigma_leaves_pushes_and_pulls_open(changes: dict[str, np.ndarray]) -> None:
    drafts = worlds.drafts(worlds.ask(DOES, signals(**changes), facts=40))
    assert {draft.options[worlds.written(draft)].value for draft in drafts} == {"opens", "closes"}


def test_lengths_must_be_known() -> None:
    assert not worlds.ask(DOES, signals(scale=Scale(kind="relative"))).asked
