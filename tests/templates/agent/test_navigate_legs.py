"""The second of two legs after a worked example, on a small exact world."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from action_mapping.primitives import CAMERA_AXIS, COMPONENTS, ROTATIONS, primitive
from experts.signals import Signal, SparsePoints
from templates.agent.legs import ROTATES
from templates.agent.navigate_legs import NavigateLegs
from templates.answers import Plan
from templates.asked import Draft
from templates.columns import Json
from templates.truth import verdict
from tests.templates import worlds

TEMPLATE = NavigateLegs()


def metric() -> dict[str, Signal]:
    return worlds.with_path(worlds.signals(), scale=worlds.METRIC)


def drafts(signals: dict[str, Signal], facts: int = 20) -> list[Draft]:
    return worlds.drafts(worlds.ask(TEMPLATE, signals, facts=facts))


def ends_within_a_step(frame: int, goal: int, plan: Mapping[str, Json], step: float, turn_deg: float) -> bool:
    """Each action of the written plan turns or moves the pose about or along an axis of its own."""
    pose, there = worlds.camera_poses()[frame // 2].copy(), worlds.camera_poses()[goal // 2]
    for key, count in zip(plan["actions"], plan["step_nums"], strict=True):
        known, unit = primitive(key), np.zeros(3)
        assert known.component in COMPONENTS and key == known.symbol and 1 <= count <= 10
        unit[CAMERA_AXIS[known.component]] = known.sign * count
        if known.component in ROTATIONS:
            pose[:3, :3] = pose[:3, :3] @ Rotation.from_rotvec(unit * turn_deg, degrees=True).as_matrix()
        else:
            pose[:3, 3] += pose[:3, :3] @ unit * step
    angle = np.degrees(Rotation.from_matrix(there[:3, :3].T @ pose[:3, :3]).magnitude())
    return bool(np.linalg.norm(there[:3, 3] - pose[:3, 3]) <= step and angle <= turn_deg)


def shown(draft: Draft) -> Mapping[str, Json]:
    """The example in the prompt."""
    found = re.search(r"\{[^{}]*\}", draft.prompt)
    assert found
    return dict(json.loads(found[0]))


@pytest.mark.parametrize("in_metres", [True, False])
def test_example_and_answer_replayed_end_at_their_photos(in_metres: bool) -> None:
    signals = metric() if in_metres else worlds.signals()
    points, found = signals["sparse_points"], drafts(signals)
    assert isinstance(points, SparsePoints) and len(found) >= 4
    for draft in found:
        step, fact = draft.fact["step"], draft.fact
        if not in_metres:
            here = points.observation_frame == fact["frame_from"]
            at = np.linalg.norm(points.observation_xy_px[here] - fact["point_px"], axis=1).argmin()
            marked = points.xyz_world[points.observation_point[here][at]]
            step = float(np.linalg.norm(marked - worlds.camera_poses()[fact["frame_from"] // 2][:3, 3])) / step
        assert ("point P" in draft.prompt) == bool(draft.media[0].marks) == (not in_metres)
        assert ends_within_a_step(fact["frame_from"], fact["frame_over"], shown(draft), step, fact["turn_deg"])
        assert ends_within_a_step(fact["frame_over"], fact["frame_to"], worlds.written(draft), step, fact["turn_deg"])


def test_no_choice_of_world_or_unit_changes_a_question() -> None:
    first, second = (drafts(known) for known in (worlds.signals(), worlds.elsewhere(3, 7.0)))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_a_wrong_example_is_refused() -> None:
    scene = worlds.scene(metric())
    facts = TEMPLATE.propose(scene, np.random.default_rng(0), 10)
    wrong = replace(facts, example=-facts.example)
    assert (TEMPLATE.measure(facts, scene).why == "").all()
    assert {*TEMPLATE.measure(wrong, scene).why.tolist()} == {"the worked example may be wrong"}


def test_truth_without_the_length_of_a_step_contradicts_wrong_rotations_only() -> None:
    signals, sure = worlds.signals(), np.full(len(worlds.FRAMES), 1e-4)
    exact = worlds.with_path(
        signals, direction_sigma_rad=1e-3, focal_relative_sigma=1e-3, rotation_sigma_rad=sure, position_sigma=sure
    )
    truth = worlds.scene({name: part for name, part in exact.items() if name != "sparse_points"})
    found = drafts(signals)
    facts = TEMPLATE.facts.from_json([draft.fact for draft in found])
    assert {*TEMPLATE.measure(facts, truth).why.tolist()} == {"the length of a step is not known"}
    written = [draft.answer for draft in found if isinstance(draft.answer, Plan)]
    turned = [replace(plan, counts=plan.counts + 3.0 * ROTATES) for plan in written]
    for plans, expected in ((written, None), (turned, False)):
        verdicts = [verdict(TEMPLATE, "plan", d.fact, plan, truth) for d, plan in zip(found, plans, strict=True)]
        assert len(found) >= 4 and verdicts == [expected] * len(found)


@pytest.mark.parametrize("changes", [{"direction_sigma_rad": 0.8}, {"position_sigma": np.full(24, 1.0)}])
def test_too_large_a_sigma_asks_for_no_plan(changes: dict[str, object]) -> None:
    assert not drafts(worlds.with_path(metric(), **changes))
