"""The same point in another photo, and points outside that photo, on a small exact world."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experts.signals import CameraPath, Signal
from templates.answers import Label, Point
from templates.answers.answers import Answers
from templates.asked import Draft
from templates.chance import Chance
from templates.media import Photo
from templates.perception.same_point import SamePoint
from templates.registry import create_templates
from templates.truth import verdict
from templates.unanswerable import UNDETERMINED
from tests.templates import worlds

PLAIN, WITH_UNANSWERABLE = SamePoint(), SamePoint(unanswerable=True)


def asked(signals: dict[str, Signal], template: SamePoint = WITH_UNANSWERABLE, seed: int = 0) -> Sequence[Draft]:
    return worlds.drafts(worlds.ask(template, signals, facts=200, seed=seed))


def unanswerable(drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if isinstance(draft.answer, Label)]


def test_without_the_flag_every_question_is_answerable() -> None:
    drafts = asked(worlds.signals(), PLAIN)
    assert drafts and not unanswerable(drafts)
    assert not any(option.value == UNDETERMINED for draft in drafts for option in draft.options)
    assert not create_templates()["same_point"].unanswerable  # type: ignore[attr-defined]
    assert create_templates(unanswerable=True)["same_point"].unanswerable  # type: ignore[attr-defined]


def test_with_the_flag_the_other_questions_only_gain_one_option() -> None:
    plain, drafts = asked(worlds.signals(), PLAIN), asked(worlds.signals())
    others = [draft for draft in drafts if not isinstance(draft.answer, Label)]
    assert unanswerable(drafts) and len(others) == len(plain)
    for before, after in zip(plain, others, strict=True):
        options = after.options
        if after.format == "choice":
            assert options[-1].value == UNDETERMINED
            options = options[:-1]
        assert repr(replace(after, options=options)) == repr(before)


def test_a_point_outside_the_photo_is_asked_like_one_inside() -> None:
    signals = worlds.signals()
    truth = worlds.scene(signals)
    for draft in unanswerable(asked(signals)):
        assert isinstance(draft.answer, Label) and draft.answer.text == UNDETERMINED and draft.answer.margin > 2.33
        assert draft.format == "choice" and len(draft.options) == 5 and draft.written == 4
        assert verdict(PLAIN, "choice", draft.fact, draft.answer, truth) is True
        first, second = draft.media
        assert isinstance(first, Photo) and isinstance(second, Photo)
        marks = np.array([mark.xy_px for mark in second.marks])
        assert [mark.text for mark in first.marks] == ["P"] and len(marks) == 4
        assert (np.abs(marks - draft.fact["decoy_px"]).max(axis=1) < 0.2).sum() == 1
        assert draft.evidence["outside_px"] >= 0.06 * 800 and draft.evidence["outside_sigma_px"] > 0


def test_points_lie_as_far_outside_as_wrong_points_from_the_right_one() -> None:
    scene = worlds.scene(worlds.signals())
    proposed = [WITH_UNANSWERABLE.propose(scene, np.random.default_rng(seed), 160) for seed in range(6)]
    facts = PLAIN.facts.from_json([fact for some in proposed for fact in some.to_json()])
    measured = WITH_UNANSWERABLE.measure(facts, scene)
    with_decoy = np.isfinite(facts.decoy_px).all(axis=1)  # type: ignore[attr-defined]
    outside = measured.evidence["outside_px"][with_decoy & (measured.why == "")]
    assert len(outside) > 2 and min(outside) >= 0.06 * 800 - 0.2


def test_a_match_outside_the_picture_is_not_asked_as_unanswerable() -> None:
    """Measured depth may contradict a match."""
    (draft, *_) = unanswerable(asked(worlds.signals()))
    facts = PLAIN.facts.from_json([{**draft.fact, "decoy_px": None}])
    label = Label(text=np.array([UNDETERMINED]), margin=np.array([9.0]))
    answers = Answers.of(label, np.array([""]))
    for template in (PLAIN, WITH_UNANSWERABLE):
        for format in template.formats:
            offer = template.offer(format, facts, answers, Chance.of([draft.fact_id], 0))
            assert offer is not None and offer.why.tolist() == ["photo 2 does not show it"]


def test_a_pixel_for_a_point_outside_and_the_label_for_a_point_inside_are_wrong() -> None:
    signals = worlds.signals()
    truth = worlds.scene(signals)
    drafts = asked(signals)
    shown = next(draft for draft in drafts if isinstance(draft.answer, Point))
    (hidden, *_) = unanswerable(drafts)
    assert verdict(PLAIN, "choice", hidden.fact, shown.answer, truth) is False
    assert verdict(PLAIN, "choice", shown.fact, hidden.answer, truth) is False


@pytest.mark.parametrize(
    "changes",
    [
        {"rotation_sigma_rad": np.full(len(worlds.FRAMES), 0.2)},
        {"direction_sigma_rad": 2.0},
        {"focal_relative_sigma": 1.0},
        {"position_sigma": np.full(len(worlds.FRAMES), np.inf)},
    ],
)
def test_with_large_sigma_no_unanswerable_question_is_asked(changes: dict[str, object]) -> None:
    drafts = asked(worlds.with_path(worlds.signals(), **changes))
    assert drafts and not unanswerable(drafts)


def test_the_point_must_lie_outside_in_both_reconstructions() -> None:
    signals = worlds.signals()
    both = {**signals, "camera_path_check": signals["camera_path"], "sparse_points_check": signals["sparse_points"]}
    assert len(unanswerable(asked(both))) == len(unanswerable(asked(signals)))
    path = signals["camera_path"]
    assert isinstance(path, CameraPath)
    still = np.tile(path.world_from_cam[:1], (len(path.frames), 1, 1))
    still[:, 0, 3] += np.linspace(0, 0.05, len(still))
    assert not unanswerable(asked({**both, "camera_path_check": replace(path, world_from_cam=still)}))


@settings(max_examples=3, deadline=None)
@given(seed=st.integers(0, 2**16), unit=st.floats(0.01, 100))
def test_no_choice_of_world_or_unit_changes_unanswerable_questions(seed: int, unit: float) -> None:
    first, second = (unanswerable(asked(known)) for known in (worlds.signals(), worlds.elsewhere(seed, unit)))
    assert first and [worlds.shown(draft) for draft in first] == [worlds.shown(draft) for draft in second]
