"""Which of four points of one photo is which of another, on a small exact world."""

from dataclasses import replace

import numpy as np
import pytest

from experts.signals import Matches, Signal
from templates.answers import Label
from templates.answers.order import order_labels
from templates.generate import answers_to
from templates.media import Photo
from templates.perception.point_pairs import MarkedPairs, PointPairs, by_place
from tests.templates import worlds

PAIRS = PointPairs()


def with_matches(**changes: object) -> dict[str, Signal]:
    signals = worlds.matched_by_expert(worlds.signals())
    matches = signals["matches"]
    assert isinstance(matches, Matches)
    return {**signals, "matches": replace(matches, **changes)}  # type: ignore[arg-type]


def proposed() -> MarkedPairs:
    facts = PAIRS.propose(worlds.scene(worlds.signals()), np.random.default_rng(0), 40)
    assert len(facts) >= 4
    return facts


def labels(facts: MarkedPairs, signals: dict[str, Signal]) -> list[str]:
    return answers_to(PAIRS, "order", facts, PAIRS.measure(facts, worlds.scene(signals))).labels().tolist()


def test_marks_in_another_order_have_other_numbers() -> None:
    facts, signals = proposed(), worlds.signals()
    before, order = labels(facts, signals), np.array([2, 0, 3, 1])
    after = labels(replace(facts, b_px=facts.b_px[:, order]), signals)
    for one, other in zip(before, after, strict=True):
        numbers, moved = ([int(number) - 1 for number in text.split()] for text in (one, other))
        assert [order[k] for k in moved] == numbers
    turned = labels(replace(facts, a_px=facts.a_px[:, order]), signals)
    assert [text.split() for text in turned] == [[text.split()[k] for k in order] for text in before]


def test_marks_are_apart_in_both_photos_and_those_that_moved_come_first() -> None:
    facts = proposed()
    for points in (facts.a_px, facts.b_px):
        distance = np.linalg.norm(points[:, :, None] - points[:, None], axis=3) + 1e9 * np.eye(4)
        assert distance.min() >= 0.12 * 800
    alike = order_labels(by_place(facts) + 1) == np.array(labels(facts, worlds.signals()))
    assert (np.diff(alike.astype(int)) >= 0).all()


@pytest.mark.parametrize(
    ("shift", "why"), [((30.0, 0.0), "a point lies at no mark"), ((1e4, 0.0), "a point lies at no mark")]
)
def test_a_mark_beside_every_point_is_refused(shift: tuple[float, float], why: str) -> None:
    facts = proposed()
    b_px = facts.b_px.copy()
    b_px[:, 2] += shift
    measured = PAIRS.measure(replace(facts, b_px=b_px), worlds.scene(worlds.signals()))
    assert {*measured.why.tolist()} == {why}


def test_points_without_a_match_are_refused() -> None:
    measured = PAIRS.measure(replace(proposed(), a_px=proposed().a_px + 9), worlds.scene(worlds.signals()))
    assert {*measured.why.tolist()} <= {"a point is not found in photo 2", "photo 2 does not show a point"}


def test_two_of_four_outliers_make_an_order_wrong() -> None:
    """Four points of 0.4 % each pass, whose sum would not; four of 0.6 % do not."""
    for each, asked in ((0.004, True), (0.006, False)):
        signals = with_matches(outlier_probability=np.full(len(worlds.signals()["matches"].pair), each))  # type: ignore[attr-defined]
        assert bool(worlds.drafts(worlds.ask(PAIRS, signals))) == asked


def test_with_large_sigma_nothing_is_asked() -> None:
    for sigma_px, asked in ((0.7, True), (70.0, False)):
        signals = with_matches(sigma_px=np.full(len(worlds.signals()["matches"].pair), sigma_px))  # type: ignore[attr-defined]
        assert bool(worlds.drafts(worlds.ask(PAIRS, signals))) == asked


def test_questions_show_four_marks_and_name_the_mistake_behind_each_option() -> None:
    drafts = worlds.drafts(worlds.ask(PAIRS, worlds.signals()))
    assert {draft.format for draft in drafts} == {"order", "choice"}
    for draft in drafts:
        first, second = draft.media
        assert isinstance(first, Photo) and isinstance(second, Photo) and isinstance(draft.answer, Label)
        assert "".join(mark.text for mark in first.marks) == "PQRS"
        assert "".join(mark.text for mark in second.marks) == "1234"
        if draft.format == "order":
            assert draft.written == [int(number) for number in str(draft.answer.text).split()]
            continue
        assert len({option.value for option in draft.options}) == 4
        wrong = [option for k, option in enumerate(draft.options) if k != draft.written]
        assert all(option.mistake for option in wrong)
        suggested = order_labels(by_place(MarkedPairs.from_json([draft.fact])) + 1)[0]
        for option in wrong:
            assert (option.mistake == "same place in the photo") == (option.value == suggested)
