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

from experts.signals import CameraPath, Scale, Signal, SparsePoints
from templates.agent.navigation import Navigate
from templates.answers import Label, Plan
from templates.draft import ClipQuestions, Draft
from templates.generate import ask_clip
from templates.measured import Json
from templates.scene.scene import Scene, scenes_of
from templates.settings import AskSettings
from templates.truth import verdict
from tests.templates import worlds

NAVIGATE = Navigate()
METRIC = Scale(kind="metric", relative_sigma=0.01, source="data set")
AXES = {"Truck": 0, "Pedestal": 1, "Dolly": 2}
POSITIVE = {"Truck Right", "Pedestal Down", "Dolly In", "Pan Right", "Tilt Up", "Roll CW"}


def asked(signals: dict[str, Signal], *, facts: int = 20, seed: int = 0) -> ClipQuestions:
    return ask_clip(worlds.clip(), signals, [NAVIGATE], AskSettings(facts_per_template=facts), seed)


def plans(found: ClipQuestions) -> list[Draft]:
    return [draft for draft in found.drafts if draft.format == "plan"]


def with_path(signals: dict[str, Signal], **changes: object) -> dict[str, Signal]:
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    return {**signals, "camera_path": replace(path, **changes)}  # type: ignore[arg-type]


def exactly(signals: dict[str, Signal]) -> Scene:
    """The same world with negligible σ, in metres."""
    n, points = len(worlds.FRAMES), signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    known = with_path(
        {**signals, "sparse_points": replace(points, range_relative_sigma=np.full(len(points.xyz_world), 1e-6))},
        rotation_sigma_rad=np.full(n, 1e-6),
        position_sigma=np.full(n, 1e-6),
        direction_sigma_rad=1e-6,
        focal_relative_sigma=1e-6,
        scale=Scale(kind="metric", relative_sigma=1e-6),
    )
    (scene,) = scenes_of(worlds.clip(), known)
    return scene


def sizes(draft: Draft) -> Mapping[str, Json]:
    return draft.answer.to_json().scorer_params


def followed(draft: Draft, translation_step: float) -> np.ndarray:
    """The pose to which the written answer leads, by an independent implementation of the prompt's rules."""
    answer, degrees = draft.written, sizes(draft)["rotation_step_deg"]
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
    return np.asarray(worlds.camera_poses()[draft.fact.params["from"] // 2] @ move)


def ends_within_a_step(draft: Draft, translation_step: float) -> bool:
    there, end = worlds.camera_poses()[draft.fact.params["to"] // 2], followed(draft, translation_step)
    turn = Rotation.from_matrix(there[:3, :3].T @ end[:3, :3]).magnitude()
    near = np.linalg.norm(there[:3, 3] - end[:3, 3]) <= translation_step
    return bool(near and np.degrees(turn) <= sizes(draft)["rotation_step_deg"])


def test_both_formats_are_asked_and_right() -> None:
    signals = worlds.signals()
    found, truth = asked(signals), exactly(signals)
    verdicts = Counter((d.format, verdict(NAVIGATE, d.format, d.fact, d.answer, truth)) for d in found.drafts)
    assert verdicts["choice", True] >= 8 and verdicts["plan", True] >= 4
    assert not verdicts["choice", False] and not verdicts["plan", False]


def test_written_plans_replayed_independently_end_at_the_second_photo() -> None:
    signals = worlds.signals()
    points, found = signals["sparse_points"], plans(asked(signals))
    assert isinstance(points, SparsePoints) and len(found) >= 4
    for draft in found:
        here = points.observation_frame == draft.fact.params["from"]
        at = np.linalg.norm(points.observation_xy_px[here] - draft.fact.params["point"], axis=1).argmin()
        marked = points.xyz_world[points.observation_point[here][at]]
        start = worlds.camera_poses()[draft.fact.params["from"] // 2]
        distance = float(np.linalg.norm(marked - start[:3, 3]))
        assert ends_within_a_step(draft, distance / sizes(draft)["point_fraction"])
        assert max(draft.written["step_nums"]) <= 10


def test_metric_clips_are_asked_in_metres_and_need_no_mark() -> None:
    found = plans(asked(with_path(worlds.signals(), scale=METRIC)))
    assert len(found) >= 4
    for draft in found:
        assert ends_within_a_step(draft, sizes(draft)["translation_step_m"])
        assert draft.fact.params["point"] is None and "point P" not in draft.phrasing.prompt
        assert re.search(r"One step of moving is [\d.]+ m;", draft.phrasing.prompt)
        assert not draft.phrasing.media[0].marks


def test_a_relative_clip_never_names_metres_and_has_a_mark() -> None:
    for draft in asked(worlds.signals()).drafts:
        assert not re.search(r"\bm\b|\b(centi)?met(re|er)s?\b", draft.phrasing.prompt)
        if draft.format == "plan":
            assert not any(name.endswith("_m") for name in sizes(draft))
            (mark,) = draft.phrasing.media[0].marks
            assert mark.text == "P" and list(mark.xy_px) == draft.fact.params["point"]


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_a_plan(seed: int, unit: float) -> None:
    rng = np.random.default_rng(seed)
    turned = np.eye(4)
    turned[:3, :3] = Rotation.random(rng=rng).as_matrix()
    turned[:3, 3] = rng.normal(size=3)
    other = worlds.signals(world_from_made=turned, unit=unit)
    other = with_path(other, position_sigma=np.full(len(worlds.FRAMES), 1e-4 * unit))
    first, second = asked(worlds.signals()), asked(other)
    assert [(d.format, d.phrasing) for d in first.drafts] == [(d.format, d.phrasing) for d in second.drafts]


def test_mirrored_footage_mirrors_the_plans() -> None:
    signals, flip = with_path(worlds.signals(), scale=METRIC), np.diag([-1.0, 1, 1, 1])
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    mirrored = with_path(signals, world_from_cam=flip @ path.world_from_cam @ flip)
    (scene,), (other,) = scenes_of(worlds.clip(), signals), scenes_of(worlds.clip(), mirrored)
    facts = NAVIGATE.propose(scene, np.random.default_rng(0))
    swapped = Counter[str]()
    for fact, a, b in zip(facts, NAVIGATE.measure(facts, scene), NAVIGATE.measure(facts, other), strict=True):
        for format in NAVIGATE.formats:
            first, second = NAVIGATE.answer(format, fact, a), NAVIGATE.answer(format, fact, b)
            assert type(first) is type(second)
            if isinstance(first, Label) and isinstance(second, Label):
                assert second.text == in_a_mirror(str(first.text))
                swapped[format] += first.text != second.text
            if isinstance(first, Plan) and isinstance(second, Plan):
                here, there = first.to_json().answer, second.to_json().answer
                assert there == {**here, "actions": [in_a_mirror(name) for name in here["actions"]]}
                swapped[format] += 1
    assert swapped["choice"] and swapped["plan"]


def in_a_mirror(text: str) -> str:
    pairs = {"Right": "Left", "Left": "Right", "CW": "CCW", "CCW": "CW"}
    return re.sub(r"\w+", lambda word: pairs.get(word[0], word[0]), text)


def test_options_are_distinct_and_none_stands_out() -> None:
    for draft in asked(worlds.signals()).drafts:
        if draft.format != "choice":
            continue
        options = [str(option.shown).split(", then ") for option in draft.phrasing.options]
        assert len(set(draft.phrasing.options)) == 4 and all(o.shown == o.value for o in draft.phrasing.options)
        for names in zip(*options, strict=True):  # every name of the first place, and of the second
            assert len(set(Counter(names).values())) == 1


@pytest.mark.parametrize("changes", [{"direction_sigma_rad": 0.4}, {"position_sigma": np.full(24, 1.0)}])
def test_too_large_a_sigma_asks_for_no_plan(changes: dict[str, object]) -> None:
    found = asked(with_path(worlds.signals(), **changes))
    assert not plans(found)
    reasons = {r.reason for r in found.refusals if r.format == "plan"}
    assert reasons & {"σ too large for the tolerance", "the plan has too few steps"}


def test_a_point_of_large_sigma_defines_no_step() -> None:
    signals = worlds.signals()
    points = signals["sparse_points"]
    assert isinstance(points, SparsePoints)
    uncertain = replace(points, range_relative_sigma=np.full(len(points.xyz_world), 0.5))
    found = asked({**signals, "sparse_points": uncertain})
    assert not plans(found) and {d.format for d in found.drafts} == {"choice"}


def test_a_pure_rotation_gives_no_plan() -> None:
    assert not asked(worlds.signals(motion="rotation_only")).drafts
