"""When a gripper opens and closes, in a small exact world."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import EffectorPath, Signal
from templates.agent.gripper_when import GripperWhen, PhotosOfGrip
from templates.scene.effector import CLOSED, OPEN, grip
from tests.templates import worlds

WHEN = GripperWhen()


def signals(**changes: object) -> dict[str, Signal]:
    known = worlds.with_effector(worlds.signals())
    path = known["effector_path"]
    assert isinstance(path, EffectorPath)
    return {**known, "effector_path": replace(path, **changes)}  # type: ignore[arg-type]


def measured(frames: list[int], state: str, known: dict[str, Signal]) -> tuple[str, str]:
    facts = PhotosOfGrip(frames=np.array([frames]), state=np.array([state]), effector=np.array(["gripper"]))
    found = WHEN.measure(facts, worlds.scene(known))
    assert found.label is not None
    return str(found.why[0]), str(found.label[0])


def test_a_grip_that_does_not_close_fully_is_closed_all_the_same() -> None:
    """It closes from frame 8 to 11, to 0.4, and opens from frame 37 to 40."""
    known = grip(worlds.scene(signals()))
    assert known.to.tolist() == [CLOSED, OPEN]
    assert (8 <= known.since[0] < known.until[0] <= 11) and (37 <= known.since[1] < known.until[1] <= 40)


@pytest.mark.parametrize(
    ("frames", "state", "photo"),
    [([0, 15, 20, 30], "closed", "2"), ([0, 3, 20, 30], "closed", "3"), ([20, 25, 30, 45], "open", "4")],
)
def test_the_first_photo_of_the_new_state(frames: list[int], state: str, photo: str) -> None:
    assert measured(frames, state, signals()) == ("", photo)


@pytest.mark.parametrize(
    ("frames", "state", "why"),
    [
        ([0, 3, 20, 45], "closed", "opens and closes other than once"),
        ([0, 3, 10, 30], "closed", "half open in a photo"),
        ([0, 8, 20, 30], "closed", "opens or closes near a photo"),
        ([15, 20, 25, 30], "closed", "opens and closes other than once"),
        ([20, 25, 30, 45], "closed", "opens and closes other than once"),
        ([0, 15, 15, 30], "closed", "the photos are not in order of time"),
        ([0, 15, 20, 60], "closed", "opening of the gripper or hand not known"),
    ],
)
def test_what_the_photos_do_not_decide(frames: list[int], state: str, why: str) -> None:
    assert measured(frames, state, signals())[0] == why


def test_silence_without_openings_and_where_the_hand_is_not_in_the_picture() -> None:
    for changes in ({"opening": np.full(48, np.nan)}, {"opening": np.full(48, 0.9)}):
        assert not worlds.ask(WHEN, signals(**changes)).asked
    away = np.tile(np.diag([1.0, 1, -1, 1]), (48, 1, 1))
    path = signals()["effector_path"]
    assert isinstance(path, EffectorPath) and path.cam_from_base is not None
    behind = {"cam_from_base": away @ path.cam_from_base}
    assert worlds.reasons(worlds.ask(WHEN, signals(**behind))) == {"the gripper or hand is not in the picture"}
    along = np.linalg.inv(path.base_from_view)  # the camera is behind the wrist, and looks along the fingers
    along[:, 2, 3] += 0.5
    assert worlds.reasons(worlds.ask(WHEN, signals(cam_from_base=along))) == {"the palm hides the fingers"}
    unknown = "pose of the gripper or hand in the camera's axes not known"
    assert worlds.reasons(worlds.ask(WHEN, signals(cam_from_base=None))) == {unknown}


def test_questions_name_the_effector_and_its_new_state() -> None:
    drafts = worlds.drafts(worlds.ask(WHEN, signals(effector="hand")))
    assert {draft.fact["state"] for draft in drafts} == {"open", "closed"}
    assert {str(draft.options[worlds.written(draft)].value) for draft in drafts} == {"2", "3", "4"}
    for draft in drafts:
        assert "the hand " in draft.prompt and f" {draft.fact['state']} " in draft.prompt and len(draft.media) == 4
