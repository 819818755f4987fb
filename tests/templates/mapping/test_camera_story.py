"""What the camera does in a video: as one sentence of four, as a claim, and as a caption."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import CameraPath, Signal
from spatial_engine.dataset.question_line import question_of
from templates.answers.registry import format_of, recorded_answer
from templates.asked import Draft
from templates.mapping.camera_caption import CameraCaption
from templates.mapping.camera_statement import CameraStatement, holds, in_words
from templates.mapping.camera_story import CameraStory
from templates.mapping.story_words import MISTAKES, atomic_claims, sentence
from templates.scene.camera_story import coded, parts_of
from tests.templates import worlds

STORY, STATEMENT, CAPTION = TEMPLATES = CameraStory(), CameraStatement(), CameraCaption()
SAID = "First it dollies forward, then it pans right."


def told(**changes: object) -> list[Draft]:
    signals = worlds.with_path(worlds.signals(poses=worlds.poses_in_parts()), **changes)
    return [draft for template in TEMPLATES for draft in worlds.drafts(worlds.ask(template, signals))]


def labels(signals: dict[str, Signal]) -> set[object]:
    return {draft.answer.to_json().answer for draft in worlds.drafts(worlds.ask(STORY, signals))}


def test_forward_and_then_to_the_right() -> None:
    found = told()
    stories, claims, captions = ([d for d in found if d.template == template.name] for template in TEMPLATES)
    for draft in stories:
        assert draft.options[draft.written].shown == SAID and len({o.shown for o in draft.options}) == 4
    assert {draft.answer.to_json().answer for draft in claims} == {"yes", "no"}
    for draft in claims:
        parts = (("Dolly In",), ("Pan Right",))
        assert holds(draft.fact["claim"], parts) == (worlds.written(draft) == "yes")
        assert in_words(draft.fact["claim"]) in draft.prompt
    for draft in captions:
        question = question_of(draft, [], worlds.clip())
        assert question.answer == "First the camera dollies forward, then it pans right."
        assert list(format_of("text").claims(question)) == atomic_claims((("Dolly In",), ("Pan Right",)))
        assert len(format_of("text").claims(question)) == 3 and recorded_answer(question).p_right() >= 0.99


def test_no_choice_of_world_or_unit_changes_it() -> None:
    signals = worlds.signals(poses=worlds.poses_in_parts())
    turned = worlds.with_path(signals, world_from_cam=_elsewhere(signals))
    gravity_alone = {name: signal for name, signal in turned.items() if name in ("camera_path", "gravity", "tracks")}
    points = replace(signals["sparse_points"], xyz_world=_points_elsewhere(signals))  # type: ignore[type-var]
    assert labels(signals) == labels({**gravity_alone, "sparse_points": points}) == {"Dolly In | Pan Right"}


def _elsewhere(signals: dict[str, Signal]) -> np.ndarray:
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    poses = np.diag([1.0, -1, -1, 1]) @ path.world_from_cam
    poses[:, :3, 3] *= 7
    return poses


def _points_elsewhere(signals: dict[str, Signal]) -> np.ndarray:
    return signals["sparse_points"].xyz_world @ np.diag([7.0, -7, -7])  # type: ignore[attr-defined]


def test_a_mirror_exchanges_right_and_left() -> None:
    signals = worlds.signals(poses=worlds.poses_in_parts())
    points = replace(signals["sparse_points"], xyz_world=signals["sparse_points"].xyz_world * [-1, 1, 1])  # type: ignore
    assert labels({**worlds.mirrored(signals), "sparse_points": points}) == {"Dolly In | Pan Left"}


def test_without_gravity_the_words_say_that_directions_are_those_of_the_camera() -> None:
    signals = worlds.signals(poses=worlds.poses_in_parts(), with_gravity=False)
    (first, *_) = worlds.drafts(worlds.ask(STORY, signals))
    assert "Every direction is as the camera sees it" in first.instructions
    assert first.answer.to_json().answer == "Dolly In | Pan Right"
    facts = STORY.facts.from_json([dict(first.fact) | {"axes": "level"}])
    assert STORY.measure(facts, worlds.scene(signals)).why.tolist() == ["which way is up is not known"]  # type: ignore


@pytest.mark.parametrize(
    "changes",
    [
        {"rotation_sigma_rad": np.full(len(worlds.FRAMES), 0.5)},
        {"position_sigma": np.full(len(worlds.FRAMES), 2.0)},
        {"motion": "unresolved", "world_from_cam": np.tile(np.eye(4), (len(worlds.FRAMES), 1, 1))},
        {"registered": np.arange(len(worlds.FRAMES)) % 6 == 0},
    ],
)
def test_nothing_is_asked_where_the_path_is_uncertain(changes: dict[str, object]) -> None:
    assert told(**changes) == []


def slow(angle_deg: float, way: float) -> np.ndarray:
    """The poses, with another turn and another way."""
    poses = worlds.poses_in_parts()
    poses[:, 1, 3] *= way / 1.2
    turn = np.radians(angle_deg) * np.clip(np.linspace(-1, 1, len(poses)), 0, 1)
    poses[:, :3, :3] = worlds.Rotation.from_euler("z", -turn[:, None]).as_matrix() @ poses[0, :3, :3]
    return poses


@pytest.mark.parametrize(("angle_deg", "way", "asked"), [(4.0, 1.2, False), (40.0, 0.15, False), (40.0, 1.2, True)])
def test_what_is_hardly_seen_is_not_told(angle_deg: float, way: float, asked: bool) -> None:
    assert bool(labels(worlds.signals(poses=slow(angle_deg, way)))) == asked


def test_a_jerk_that_is_too_short_for_a_part_leaves_the_story_open() -> None:
    poses = worlds.poses_in_parts()
    poses[-2:, :3, :3] = worlds.Rotation.from_euler("z", 14, degrees=True).as_matrix() @ poses[-2:, :3, :3]
    found = worlds.drafts(worlds.ask(STORY, worlds.signals(poses=poses)))
    assert all(draft.fact["frames"][-1] < worlds.FRAMES[-2] for draft in found)


def test_stories_are_read_back() -> None:
    parts = (("Dolly In", "Pan Left"), ("Stay",), ("Tilt Up",))
    assert parts_of(coded(parts)) == parts
    assert (
        sentence(parts) == "First it dollies forward while it pans left, then it stays still, and finally it tilts up."
    )
    for change in MISTAKES.values():
        assert change(change(parts)) == parts
        assert all(change(other(parts)) == other(change(parts)) for other in MISTAKES.values())


@pytest.mark.parametrize(
    ("claim", "true"),
    [
        ("Pan Left", True),
        ("Pan Right", False),
        ("Pan Left before Tilt Up", True),
        ("Tilt Up before Pan Left", False),
        ("Pan Left while Dolly In", True),
        ("Pan Left while Tilt Up", False),
        ("Roll CW before Tilt Up", False),
        ("Pan Left before Dolly In", None),
        ("Stay before Tilt Up", None),
    ],
)
def test_claims(claim: str, true: bool | None) -> None:
    assert holds(claim, (("Stay",), ("Dolly In", "Pan Left"), ("Stay",), ("Tilt Up",))) is true


def test_a_claim_and_its_opposite_are_asked_of_the_same_video() -> None:
    facts = STATEMENT.propose(
        worlds.scene(worlds.signals(poses=worlds.poses_in_parts())), np.random.default_rng(0), 20
    ).to_json()
    for one, other in zip(facts[::2], facts[1::2], strict=True):
        assert one["frames"] == other["frames"] and one["claim"] != other["claim"]


def test_a_caption_has_the_words_of_all_its_claims() -> None:
    for code in ("Dolly In | Pan Right", "Truck Left, Pan Left | Stay | Roll CW", "Pedestal Up, Tilt Down"):
        said = set(sentence(parts_of(code), "the camera").lower().replace(",", "").rstrip(".").split())
        for claim in atomic_claims(parts_of(code)):
            assert {*claim.lower().replace(",", "").rstrip(".").split()} <= said | {"it"}, claim
