"""Whether the camera is at its goal, on a small exact world."""

from collections import Counter

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from experts.signals import Signal
from templates.agent.goal_reached import ARRIVED, BOTH, MOVES, TURNS, Arrivals, GoalReached
from templates.answers import Label
from templates.asked import Draft
from templates.truth import verdict
from tests.templates import worlds

TEMPLATE = GoalReached()


def metric() -> dict[str, Signal]:
    return worlds.with_path(worlds.signals(), scale=worlds.METRIC)


def drafts(signals: dict[str, Signal], facts: int = 40) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals, facts=facts))


def test_answers_are_those_of_the_poses() -> None:
    found = drafts(metric())
    assert len(found) >= 20
    for draft in found:
        a, b = (worlds.camera_poses()[draft.fact[name] // 2] for name in ("frame_goal", "frame"))
        steps = np.linalg.norm(a[:3, 3] - b[:3, 3]) / draft.fact["step"]
        angle = np.degrees(Rotation.from_matrix(a[:3, :3].T @ b[:3, :3]).magnitude())
        turns = angle / draft.fact["turn_deg"]
        assert all(each <= 0.5 or each >= 3 for each in (steps, turns))
        label = {(0, 0): ARRIVED, (1, 0): MOVES, (0, 1): TURNS, (1, 1): BOTH}[int(steps > 1), int(turns > 1)]
        expected = label if draft.format == "choice" else "yes" if label == ARRIVED else "no"
        assert draft.answer.to_json().answer == expected


def test_for_each_size_of_step_as_many_have_arrived_as_have_not() -> None:
    scene = worlds.scene(metric())
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 10_000)
    labels = TEMPLATE.measure(facts, scene).label
    assert labels is not None and len({*labels.tolist()}) >= 3
    counts: dict[tuple[float, float], Counter[bool]] = {}
    for size, label in zip(zip(facts.step.tolist(), facts.turn_deg.tolist(), strict=True), labels, strict=True):
        counts.setdefault(size, Counter())[bool(label == ARRIVED)] += 1
    assert all(each[True] == each[False] for each in counts.values())


def test_truth_decides_whether_a_camera_near_its_goal_is_there() -> None:
    """Two steps and two turns away, where only three are asked about. 1.01 steps are too close to call."""
    a, b = worlds.camera_poses()[[0, 4]]
    step = float(np.linalg.norm(a[:3, 3] - b[:3, 3]))
    turn_deg = float(np.degrees(Rotation.from_matrix(a[:3, :3].T @ b[:3, :3]).magnitude()))
    sigma = np.full(len(worlds.FRAMES), 1e-4)
    sure = {"direction_sigma_rad": 1e-3, "focal_relative_sigma": 1e-3, "rotation_sigma_rad": sigma}
    scene = worlds.scene(worlds.with_path(metric(), position_sigma=sigma, **sure))
    fact = {"frame_goal": 0, "frame": 8, "point_px": None, "step": step / 2, "turn_deg": turn_deg / 2}
    assert "neither clearly" in TEMPLATE.measure(Arrivals.from_json([fact]), scene).why[0]
    said = {word: Label(text=word, margin=9.0) for word in (BOTH, ARRIVED, MOVES, TURNS)}
    found = {word: verdict(TEMPLATE, "choice", fact, label, scene) for word, label in said.items()}
    assert found == {BOTH: True, ARRIVED: False, MOVES: False, TURNS: False}
    assert verdict(TEMPLATE, "choice", {**fact, "step": step / 1.01}, said[BOTH], scene) is None


def test_a_relative_clip_is_asked_in_distances_to_a_mark() -> None:
    found = drafts(worlds.signals())
    assert found and all("point P" in draft.prompt and draft.media[0].marks for draft in found)
    assert not any(draft.media[0].marks or "point P" in draft.prompt for draft in drafts(metric()))


def test_no_choice_of_world_or_unit_changes_a_question() -> None:
    first, second = (drafts(known) for known in (worlds.signals(), worlds.elsewhere(3, 7.0)))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


@pytest.mark.parametrize("changes", [{"rotation_sigma_rad": np.full(24, 1.0)}, {"position_sigma": np.full(24, 9.0)}])
def test_too_large_a_sigma_asks_nothing(changes: dict[str, object]) -> None:
    assert not drafts(worlds.with_path(metric(), **changes))


def test_in_between_nothing_is_decided() -> None:
    rows = [{"frame_goal": 0, "frame": 8, "point_px": None, "step": step, "turn_deg": 30.0} for step in (0.1, 0.3, 1.0)]
    found = TEMPLATE.measure(Arrivals.from_json(rows), worlds.scene(metric()))  # 0.42 m forwards, and turned by 4°
    why = "the camera is neither clearly at its goal nor clearly away from it"
    assert found.why.tolist() == ["", why, ""] and found.label is not None
    assert found.label[[0, 2]].tolist() == [MOVES, ARRIVED]
