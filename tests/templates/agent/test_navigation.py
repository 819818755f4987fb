"""Plans from photo to photo on a small exact world."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from experts.signals import Scale, Signal, SparsePoints
from templates.agent.legs import ROTATES
from templates.agent.navigation import BETWEEN, TO_POINT, Navigate
from templates.answers import Plan
from templates.asked import ClipQuestions, Draft
from templates.columns import Json
from templates.generate import answers_to
from templates.scene.scene import Scene
from templates.truth import verdict
from tests.templates import worlds

NAVIGATE = Navigate()
AXES = {"Truck": 0, "Pedestal": 1, "Dolly": 2}
POSITIVE = {"Truck Right", "Pedestal Down", "Dolly In", "Pan Right", "Tilt Up", "Roll CW"}


def asked(signals: dict[str, Signal], *, facts: int = 20, seed: int = 0) -> ClipQuestions:
    return worlds.ask(NAVIGATE, signals, facts=facts, seed=seed)


def plans(found: ClipQuestions) -> list[Draft]:
    return [draft for draft in worlds.drafts(found) if draft.format == "plan"]


def to_points(found: ClipQuestions) -> list[Draft]:
    return [draft for draft in plans(found) if draft.fact["unit"] == TO_POINT]


def exactly(signals: dict[str, Signal]) -> Scene:
    """The same world with negligible σ, in metres."""
    n, points = len(worlds.FRAMES), signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    known = worlds.with_path(
        {**signals, "sparse_points": replace(points, range_relative_sigma=np.full(len(points.xyz_world), 1e-6))},
        rotation_sigma_rad=np.full(n, 1e-6),
        position_sigma=np.full(n, 1e-6),
        direction_sigma_rad=1e-6,
        focal_relative_sigma=1e-6,
        scale=Scale(kind="metric", relative_sigma=1e-6),
    )
    return worlds.scene(known)


def sizes(draft: Draft) -> Mapping[str, Json]:
    return draft.answer.to_json().scorer_params


def followed(draft: Draft, translation_step: float) -> np.ndarray:
    """The pose to which the written answer leads, by an independent implementation of the prompt's rules."""
    answer, degrees = worlds.written(draft), sizes(draft)["rotation_step_deg"]
    amounts = {n: k if n in POSITIVE else -k for n, k in zip(answer["actions"], answer["step_nums"], strict=True)}
    move, turns = np.eye(4), {"Pan": np.eye(3), "Tilt": np.eye(3), "Roll": np.eye(3)}
    for name, steps in amounts.items():
        kind = name.split()[0]
        if kind in AXES:
            move[AXES[kind], 3] = steps * translation_step
        else:
            axis = {"Pan": [0, 1, 0], "Tilt": [1, 0, 0], "Roll": [0, 0, 1]}[kind]
            turns[kind] = Rotation.from_rotvec(np.array(axis) * steps * degrees, degrees=True).as_matrix()
    move[:3, :3] = turns["Pan"] @ turns["Tilt"] @ turns["Roll"]
    return np.asarray(worlds.camera_poses()[draft.fact["frame_from"] // 2] @ move)


def ends_within_a_step(draft: Draft, translation_step: float) -> bool:
    there, end = worlds.camera_poses()[draft.fact["frame_to"] // 2], followed(draft, translation_step)
    turn = Rotation.from_matrix(there[:3, :3].T @ end[:3, :3]).magnitude()
    near = np.linalg.norm(there[:3, 3] - end[:3, 3]) <= translation_step
    return bool(near and np.degrees(turn) <= sizes(draft)["rotation_step_deg"])


def test_both_formats_are_asked_and_right() -> None:
    signals = worlds.signals()
    found, truth = asked(signals), exactly(signals)
    verdicts = Counter((d.format, verdict(NAVIGATE, d.format, d.fact, d.answer, truth)) for d in worlds.drafts(found))
    assert verdicts["choice", True] >= 8 and verdicts["plan", True] >= 4
    assert not verdicts["choice", False] and not verdicts["plan", False]


def test_written_plans_replayed_independently_end_at_the_second_photo() -> None:
    signals = worlds.signals()
    points, found = signals["sparse_points"], to_points(asked(signals, facts=40))
    assert isinstance(points, SparsePoints) and len(found) >= 4
    for draft in found:
        here = points.observation_frame == draft.fact["frame_from"]
        at = np.linalg.norm(points.observation_xy_px[here] - draft.fact["point_px"], axis=1).argmin()
        marked = points.xyz_world[points.observation_point[here][at]]
        start = worlds.camera_poses()[draft.fact["frame_from"] // 2]
        distance = float(np.linalg.norm(marked - start[:3, 3]))
        assert ends_within_a_step(draft, distance / sizes(draft)["step_fraction"])
        assert max(worlds.written(draft)["step_nums"]) <= 10


def test_where_no_point_can_be_marked_a_step_is_a_share_of_the_distance_between_the_photos() -> None:
    signals = worlds.signals()
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    unsure = replace(points, outlier_probability=np.full(len(points.xyz_world), 0.5))
    found = plans(asked({**signals, "sparse_points": unsure}))
    assert len(found) >= 4
    for draft in found:
        start, goal = (worlds.camera_poses()[draft.fact[name] // 2] for name in ("frame_from", "frame_to"))
        distance = float(np.linalg.norm(goal[:3, 3] - start[:3, 3]))
        assert ends_within_a_step(draft, distance / sizes(draft)["step_fraction"])
        assert draft.fact["point_px"] is None and not draft.media[0].marks and "point P" not in draft.prompt
        assert not re.search(r"\bm\b", draft.prompt)


def test_photos_from_one_place_have_no_plan() -> None:
    scene = worlds.scene(worlds.signals())
    facts = NAVIGATE.propose(scene, np.random.default_rng(0), 1)
    facts = replace(facts, frame_to=facts.frame_from, unit=np.array([BETWEEN]), point_px=np.full((1, 2), np.nan))
    measured = NAVIGATE.measure(facts, scene)
    assert answers_to(NAVIGATE, "plan", facts, measured).why[0] in {"the length of a step is not known", Plan.refusal}


def test_no_turn_is_smaller_than_can_be_seen() -> None:
    scene = exactly(worlds.signals())
    facts = NAVIGATE.propose(scene, np.random.default_rng(0), 40)
    found = answers_to(NAVIGATE, "plan", facts, NAVIGATE.measure(facts, scene))
    steps = [found.row(row).to_json().scorer_params for row in np.flatnonzero(found.why == "").tolist()]
    assert steps and all(2.0 <= step["rotation_step_deg"] <= 15.0 for step in steps)


def test_metric_clips_are_asked_in_metres_and_need_no_mark() -> None:
    found = plans(asked(worlds.with_path(worlds.signals(), scale=worlds.METRIC)))
    assert len(found) >= 4
    for draft in found:
        assert ends_within_a_step(draft, sizes(draft)["translation_step_m"])
        assert draft.fact["point_px"] is None and "point P" not in draft.prompt
        assert re.search(r"\d m\b", draft.prompt)
        assert not draft.media[0].marks


def test_a_relative_clip_never_names_metres() -> None:
    for draft in worlds.drafts(asked(worlds.signals())):
        assert not re.search(r"\bm\b|\b(centi)?met(re|er)s?\b", draft.prompt)
        if draft.format == "plan":
            assert not any(name.endswith("_m") for name in sizes(draft))
            marks = [(mark.text, list(mark.xy_px)) for mark in draft.media[0].marks]
            assert marks == ([("P", draft.fact["point_px"])] if draft.fact["unit"] == TO_POINT else [])


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_a_plan(seed: int, unit: float) -> None:
    first, second = (worlds.drafts(asked(known)) for known in (worlds.signals(), worlds.elsewhere(seed, unit)))
    assert [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]


def test_mirrored_footage_mirrors_the_plans() -> None:
    signals = worlds.with_path(worlds.signals(), scale=worlds.METRIC)
    scene, other = worlds.scene(signals), worlds.scene(worlds.mirrored(signals))
    facts = NAVIGATE.propose(scene, np.random.default_rng(0), 40)
    a, b = NAVIGATE.measure(facts, scene), NAVIGATE.measure(facts, other)
    first, second = (answers_to(NAVIGATE, "choice", facts, measured).labels() for measured in (a, b))
    assert second.tolist() == [worlds.in_a_mirror(text) for text in first.tolist()] and (first != second).any()
    first, second = (answers_to(NAVIGATE, "plan", facts, measured) for measured in (a, b))
    assert first.why.tolist() == second.why.tolist() and (first.why == "").any()
    for row in np.flatnonzero(first.why == "").tolist():
        here, there = first.row(row).to_json().answer, second.row(row).to_json().answer
        assert there == {**here, "actions": [worlds.in_a_mirror(name) for name in here["actions"]]}


def test_options_are_distinct_and_none_stands_out() -> None:
    for draft in worlds.drafts(asked(worlds.signals())):
        if draft.format != "choice":
            continue
        options = [str(option.shown).split(", then ") for option in draft.options]
        assert len(set(draft.options)) == len({option.value for option in draft.options}) == 4
        for names in zip(*options, strict=True):  # every name of the first place, and of the second
            assert len(set(Counter(names).values())) == 1


@pytest.mark.parametrize("changes", [{"direction_sigma_rad": 0.4}, {"position_sigma": np.full(24, 1.0)}])
def test_too_large_a_sigma_asks_for_no_plan(changes: dict[str, object]) -> None:
    found = asked(worlds.with_path(worlds.signals(), **changes))
    assert not plans(found)
    reasons = {r.reason for r in found.refusals if r.format == "plan"}
    assert reasons & {"σ too large for the tolerance", "the plan has too few steps"}


@pytest.mark.parametrize("changes", [{}, {"scale": worlds.METRIC}])
def test_a_camera_that_does_not_know_how_far_it_went_beside_what_it_sees_counts_no_steps(
    changes: dict[str, object],
) -> None:
    known, vague = (
        worlds.with_path(worlds.signals(), **changes, **more) for more in ({}, {"travel_relative_sigma": 0.5})
    )
    assert any(draft.fact["unit"] != BETWEEN for draft in plans(asked(known)))
    assert all(draft.fact["unit"] == BETWEEN for draft in plans(asked(vague)))


def test_a_point_of_large_sigma_defines_no_step() -> None:
    signals = worlds.signals()
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    uncertain = replace(points, range_relative_sigma=np.full(len(points.xyz_world), 0.5))
    found = asked({**signals, "sparse_points": uncertain})
    assert not to_points(found) and {d.format for d in worlds.drafts(found)} == {"choice", "plan"}


def test_a_pure_rotation_gives_no_plan() -> None:
    assert not len(asked(worlds.signals(motion="rotation_only")))


def test_truth_without_the_length_of_a_step_contradicts_wrong_rotations_only() -> None:
    signals = worlds.signals()
    truth = exactly(signals)
    truth = replace(truth, signals={name: part for name, part in truth.signals.items() if name != "sparse_points"})
    found = to_points(asked(signals, facts=40))
    assert [verdict(NAVIGATE, "plan", draft.fact, draft.answer, truth) for draft in found] == [None] * len(found)
    written = [draft.answer for draft in found if isinstance(draft.answer, Plan)]
    turned = [replace(plan, counts=plan.counts + 3.0 * ROTATES) for plan in written]
    verdicts = [verdict(NAVIGATE, "plan", d.fact, plan, truth) for d, plan in zip(found, turned, strict=True)]
    assert len(found) >= 4 and verdicts == [False] * len(found)
