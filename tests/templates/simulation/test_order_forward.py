"""Photos ordered by the motion of the camera, on a small exact world."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.signals import CameraPath, Signal
from templates.answers.order import numbers_in_order
from templates.asked import Draft
from templates.simulation.order_forward import MotionPhotos, OrderForward
from tests.templates import worlds

ORDER = OrderForward()
N = len(worlds.FRAMES)


def going(step_cam: tuple[float, float, float] = (0, 0, 0), turn_deg: float = 0.0) -> np.ndarray:
    """Poses that go by a way in the axes of the first camera, and turn about the vertical, to the right."""
    t = np.linspace(0, 1, N)[:, None]
    poses = np.tile(worlds.camera_poses()[0], (N, 1, 1))
    poses[:, :3, 3] += t * (poses[0, :3, :3] @ np.array(step_cam))
    poses[:, :3, :3] = Rotation.from_euler("z", -turn_deg * t, degrees=True).as_matrix() @ poses[:, :3, :3]
    return poses


def asked(signals: dict[str, Signal], seed: int = 0) -> list[Draft]:
    return worlds.drafts(worlds.ask(ORDER, signals, seed=seed))


@pytest.mark.parametrize(
    ("poses", "names"),
    [
        (going((0, 0, 1.5)), {"Dolly In"}),
        (going((0, 0, -1.5)), {"Dolly Out"}),
        (going((1.5, 0, 0)), {"Truck Right"}),
        (going((0, -1, 0)), {"Pedestal Up"}),
        (going(turn_deg=50), {"Pan Right"}),
        (going((0, 0, 1.5), turn_deg=-20), {"Dolly In", "Pan Left"}),
    ],
)
def test_the_motion_has_its_name_and_the_order_is_that_of_time(poses: np.ndarray, names: set[str]) -> None:
    found = asked(worlds.signals(poses=poses))
    assert {d.fact["motion"] for d in found} == names and {d.format for d in found} == {"order", "choice"}
    assert {len(d.fact["frames_shuffled"]) for d in found} <= {3, 4}
    for draft in found:
        shuffled, numbers = draft.fact["frames_shuffled"], numbers_in_order(draft.answer.to_json().answer)
        assert [shuffled[k - 1] for k in numbers] == sorted(shuffled)
        assert [photo.frame for photo in draft.media] == shuffled
        assert draft.written == (numbers if draft.format == "order" else 0)
    assert len({d.answer.to_json().answer for d in found}) >= 5


def test_three_or_four_photos_are_shuffled() -> None:
    found = asked(worlds.signals(poses=going((0, 0, 1.5))))
    assert {len(d.fact["frames_shuffled"]) for d in found} == {3, 4}


def test_a_prompt_says_how_the_camera_moves_in_words() -> None:
    prompts = [d.prompt for d in asked(worlds.signals(poses=going((0, 0, 1.5))))]
    assert prompts and all("moving forward" in prompt for prompt in prompts)


def test_options_come_in_pairs_of_an_order_and_its_reverse() -> None:
    for draft in asked(worlds.signals(poses=going((0, 0, 1.5)))):
        if draft.format == "choice":
            orders = [str(option.shown).split(", ") for option in draft.options]
            assert len({*map(tuple, orders)}) == 4 and all(order[::-1] in orders for order in orders)


def test_a_mirror_exchanges_left_and_right() -> None:
    poses = going((1.5, 0, 0.2), turn_deg=-20)
    first = asked(worlds.signals(poses=poses))
    second = asked(worlds.mirrored(worlds.signals(poses=poses)))
    assert {d.fact["motion"] for d in first} == {"Truck Right", "Pan Left"}
    assert {d.fact["motion"] for d in second} == {"Truck Left", "Pan Right"}


def test_another_motion_than_the_stated_one_is_refused() -> None:
    known = worlds.scene(worlds.signals(poses=going((0, 0, 1.5))))
    shuffled = np.array([[20, 0, 40, -1]] * 4)
    facts = MotionPhotos(
        frames_shuffled=shuffled, motion=np.array(["Dolly In", "Dolly Out", "Truck Right", "Pan Left"])
    )
    measured = ORDER.measure(facts, known)
    assert measured.why.tolist() == ["", *["the camera does not move in the stated way"] * 3]
    assert measured.label is not None and measured.label[0] == "2 1 3"
    assert measured.traps["reversed"][0] == "3 1 2"


def test_the_camera_moves_in_the_stated_way_from_each_photo_to_the_next() -> None:
    """Neither a bent way whose ends lie ahead of each other, nor a turn there and back."""
    bent, t = going((0, 0, 1.5)), np.linspace(0, 1, N)
    bent[:, :3, 3] += np.outer(0.75 - np.abs(1.5 * t - 0.75), bent[0, :3, 0])
    turned = going((0, 0, 1.5))
    back_deg = 60 * (1 - np.abs(2 * t - 1))
    turned[:, :3, :3] = Rotation.from_euler("z", back_deg[:, None], degrees=True).as_matrix() @ turned[:, :3, :3]
    facts = MotionPhotos(frames_shuffled=np.array([[20, 0, 46]]), motion=np.array(["Dolly In"]))
    why = [ORDER.measure(facts, worlds.scene(worlds.signals(poses=poses))).why[0] for poses in (bent, turned)]
    assert why[0] == "the camera moves otherwise between two photos" and why[1].startswith("the camera rotated too far")


def test_a_camera_that_goes_back_between_two_photos_is_not_asked_about() -> None:
    poses = going((0, 0, 1.5))
    poses[N // 2 : N // 2 + 4, :3, 3] = poses[0, :3, 3]
    rows = worlds.FRAMES[[0, 6, N // 2, N - 1]]
    facts = MotionPhotos(frames_shuffled=rows[None], motion=np.array(["Dolly In"]))
    measured = ORDER.measure(facts, worlds.scene(worlds.signals(poses=poses)))
    assert measured.why.tolist() == ["the camera moves too little between two photos, or back"]


@pytest.mark.parametrize("column", ["direction_sigma_rad", "position_sigma"])
def test_too_large_a_sigma_asks_nothing(column: str) -> None:
    value = 0.8 if column == "direction_sigma_rad" else np.full(N, 0.5)
    signals = worlds.signals(poses=going((0, 0, 1.5)))
    assert asked(signals) and not asked(worlds.with_path(signals, **{column: value}))


def test_a_camera_on_a_tripod_is_asked_only_how_it_turns() -> None:
    signals = worlds.signals(poses=going(turn_deg=50), motion="rotation_only")
    assert {d.fact["motion"] for d in asked(signals)} == {"Pan Right"}


@pytest.mark.parametrize("lost", ["all", "some"])
def test_frames_without_a_pose_are_no_error(lost: str) -> None:
    signals = worlds.signals(poses=going((0, 0, 1.5)))
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    registered = np.zeros(N, dtype=bool) if lost == "all" else np.arange(N) % 3 > 0
    found = asked(worlds.with_path(signals, registered=registered))
    assert bool(found) == (lost == "some")
    facts = MotionPhotos(frames_shuffled=np.array([[20, 0, 40, -1]]), motion=np.array(["Dolly In"]))
    assert ORDER.measure(facts, worlds.scene(worlds.with_path(signals, registered=registered))).why[0]


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_an_order(seed: int, unit: float) -> None:
    poses = going((0, 0, 1.5), turn_deg=-20)
    first, second = (asked(known) for known in (worlds.signals(poses=poses), worlds.elsewhere(seed, unit, poses=poses)))
    assert [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]
