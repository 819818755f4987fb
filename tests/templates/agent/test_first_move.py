"""The largest move or turn from photo to photo on a small exact world."""

from collections import Counter

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Signal
from templates.agent.first_move import MOVE, TURN, FirstMove, OneLeg
from templates.agent.legs import joint
from templates.asked import Draft
from templates.generate import answers_to
from tests.templates import worlds

TEMPLATE = FirstMove()
MOVES = ("Truck Right", "Truck Left", "Pedestal Down", "Pedestal Up", "Dolly In", "Dolly Out")
TURNS = ("Tilt Up", "Tilt Down", "Pan Right", "Pan Left", "Roll CW", "Roll CCW")


def drafts(signals: dict[str, Signal], facts: int = 40) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals, facts=facts))


def test_answers_are_those_of_the_poses() -> None:
    found = drafts(worlds.signals())
    assert {draft.fact["kind"] for draft in found} == {MOVE, TURN} and len(found) >= 10
    for draft in found:
        a, b = (worlds.camera_poses()[draft.fact[name] // 2] for name in ("frame_from", "frame_to"))
        if draft.fact["kind"] == MOVE:
            amounts, names = a[:3, :3].T @ (b[:3, 3] - a[:3, 3]), MOVES
        else:  # by the vector of the rotation: nearly its angles, as small as these are
            amounts, names = Rotation.from_matrix(a[:3, :3].T @ b[:3, :3]).as_rotvec(), TURNS
        axis = int(np.abs(amounts).argmax())
        assert worlds.written(draft) == 0 and draft.options[0].value == names[2 * axis + int(amounts[axis] < 0)]


def test_options_are_two_pairs_of_opposites_of_one_kind() -> None:
    for draft in drafts(worlds.signals()):
        names = [str(option.value) for option in draft.options]
        kinds = Counter(name.split()[0] for name in names)
        assert len({*names}) == 4 and [*kinds.values()] == [2, 2]
        assert {*names} <= {*(MOVES if draft.fact["kind"] == MOVE else TURNS)}


def test_no_choice_of_world_or_unit_changes_a_question() -> None:
    first, second = (drafts(known) for known in (worlds.signals(), worlds.elsewhere(3, 7.0)))
    assert [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_a_mirror_swaps_left_and_right() -> None:
    scene, other = worlds.scene(worlds.signals()), worlds.scene(worlds.mirrored(worlds.signals()))
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 40)
    first, second = (answers_to(TEMPLATE, "choice", facts, TEMPLATE.measure(facts, s)).labels() for s in (scene, other))
    assert second.tolist() == [worlds.in_a_mirror(text) for text in first.tolist()] and (first != second).any()


@pytest.mark.parametrize(
    "changes",
    [
        {"direction_sigma_rad": 1.0, "rotation_sigma_rad": np.full(24, 1.0)},
        {"position_sigma": np.full(24, 9.0), "rotation_sigma_rad": np.full(24, 1.0)},
    ],
)
def test_too_large_a_sigma_asks_nothing(changes: dict[str, object]) -> None:
    assert not drafts(worlds.with_path(worlds.signals(), **changes))


def test_a_turn_that_shifts_the_picture_like_a_move_is_a_trap() -> None:
    rows = [{"frame_from": 0, "frame_to": 46, "kind": kind} for kind in (MOVE, TURN)]
    found = TEMPLATE.measure(OneLeg.from_json(rows), worlds.scene(worlds.signals()))
    assert found.traps["takes moving for turning"].tolist() == ["Truck Right", ""]  # it moves forwards, turns right


def test_a_margin_far_in_the_tail_is_finite() -> None:
    assert np.isfinite(joint(np.array([[60.0, 50.0]]))).all() and np.isnan(joint(np.array([[60.0, -1.0]]))).all()
