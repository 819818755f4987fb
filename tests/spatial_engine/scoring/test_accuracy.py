import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.evaluation.protocol import rotated, rotations
from spatial_engine.scoring.accuracy import Presented, chance_adjusted, circular, f1
from templates.question import LETTERS
from tests.spatial_engine.scoring.asked import CHOICE
from tests.spatial_engine.scoring.golden import agrees, cases

answered = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 9)), max_size=20)
words = st.sampled_from(["yes", "No", "YES", "no"])
rows = st.integers(1, 6).flatmap(
    lambda k: st.tuples(st.just(k), st.integers(0, k - 1), st.lists(st.none() | st.integers(0, k - 1), max_size=k))
)


@pytest.mark.parametrize("case", cases("caa"))
def test_chance_adjusted_equals_the_formula(case: dict[str, Any]) -> None:
    ours = chance_adjusted(case["input"]["hit"], case["input"]["n_options"])
    assert agrees({"caa": ours.value, "acc": ours.accuracy, "chance": ours.chance}, case["output"])


@settings(max_examples=40)
@given(answered)
def test_all_right_is_one_and_a_guesser_is_at_zero(answers: list[tuple[int, int]]) -> None:
    options = [n for _, n in answers]
    best = chance_adjusted([1] * len(answers), options)
    guesser = chance_adjusted([1 / n for n in options], options)
    assert best.value in (0.0, pytest.approx(1)) and guesser.value == pytest.approx(0)


def test_unknown_numbers_of_options_are_four_or_dropped() -> None:
    assert chance_adjusted([1, 0], [None, 0]) == chance_adjusted([1, 0], [4, 4])
    assert chance_adjusted([1, 0], [None, 2], drop_unknown=True) == chance_adjusted([0], [2])
    assert chance_adjusted([], []).value == 0


@pytest.mark.parametrize("case", cases("f1_yes_no"))
def test_f1_equals_the_formulas(case: dict[str, Any]) -> None:
    targets, predictions = case["input"]["gt"], case["input"]["pred"]
    ours, dropped = f1(targets, predictions), f1(targets, predictions, unparsed="dropped")
    assert ours is not None
    counts = {"tp": ours.tp, "fp": ours.fp, "fn": ours.fn, "precision": ours.precision, "recall": ours.recall}
    published = None if dropped is None else dropped.value
    everything = {"all_rows": {**counts, "f1": ours.value}, "accuracy": ours.accuracy}
    assert agrees({**everything, "f1_vlmevalkit_drop_unparsed": published}, case["output"])


@settings(max_examples=40)
@given(st.lists(st.tuples(words, words | st.none()), min_size=1))
def test_unreadable_answers_pay_only_where_they_are_dropped(answers: list[tuple[str, str | None]]) -> None:
    targets, predictions = [target for target, _ in answers], [word for _, word in answers]
    ours, dropped = f1(targets, predictions), f1(targets, predictions, unparsed="dropped")
    assert ours is not None and 0 <= ours.value <= 1
    assert ours == f1(targets, [word or "no" for word in predictions]) or None in predictions
    assert dropped is None or dropped.value >= ours.value


@pytest.mark.parametrize("case", cases("circular"))
def test_circular_equals_the_definitions(case: dict[str, Any]) -> None:
    asked = [
        Presented(options=q["k"], answer=q["answer"], predictions=tuple(q["preds"])) for q in case["input"]["questions"]
    ]
    ours = circular(asked)
    names = {"non_circular": ours.plain, "soft_pooled": ours.soft, "soft_per_question_mean": ours.soft_by_question}
    assert agrees({**names, "hard": ours.hard}, case["output"])


@pytest.mark.parametrize("case", cases("circular_rotations"))
def test_our_rotations_are_those_of_circular_evaluation(case: dict[str, Any]) -> None:
    question = replace(CHOICE, options=list(case["input"]["options"]), answer=case["input"]["answer"])
    shown = [rotated(question, rotation) for rotation in range(rotations(question))]
    ours = [{"rotation": i, "options": one.options, "answer": one.answer} for i, one in enumerate(shown)]
    assert ours == case["output"]


@settings(max_examples=40)
@given(st.integers(2, 8), st.data())
def test_every_option_stands_once_at_every_letter(k: int, data: st.DataObject) -> None:
    question = replace(CHOICE, options=[f"o{i}" for i in range(k)], answer=data.draw(st.sampled_from(LETTERS[:k])))
    shown = [rotated(question, rotation) for rotation in range(k)]
    assert {one.answer for one in shown} == set(LETTERS[:k])
    right = question.options[LETTERS.index(question.answer)]
    assert all(one.options[LETTERS.index(one.answer)] == right for one in shown)


@settings(max_examples=40)
@given(st.lists(rows, max_size=5))
def test_hard_is_never_above_soft(asked: list[tuple[int, int, list[int | None]]]) -> None:
    ours = circular([Presented(options=k, answer=a, predictions=tuple(each)) for k, a, each in asked])
    assert 0 <= ours.hard <= ours.soft_by_question <= 1 and 0 <= ours.soft <= 1


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(2, 6), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=5), st.randoms()
)
def test_permuting_the_options_changes_nothing_in_hard(asked: list[tuple[int, int, int]], rng: random.Random) -> None:
    """A model that always picks one and the same option, whatever its letter."""

    def presented(k: int, right: int, chosen: int, order: list[int]) -> Presented:
        picks = tuple((order.index(chosen) - i) % k for i in range(k))
        return Presented(options=k, answer=order.index(right), predictions=picks)

    plain, permuted = [], []
    for k, right, chosen in asked:
        order = rng.sample(range(k), k)
        plain.append(presented(k, right % k, chosen % k, list(range(k))))
        permuted.append(presented(k, right % k, chosen % k, order))
    assert circular(plain) == circular(permuted)


def test_one_letter_for_everything_is_never_right_in_hard() -> None:
    ours = circular([Presented(options=4, answer=0, predictions=(0, 0, 0, 0))])
    assert (ours.plain, ours.soft, ours.hard) == (1, 0.25, 0)


def test_nothing_asked_and_nothing_answered() -> None:
    assert circular([]).hard == circular([Presented(options=3, answer=0, predictions=())]).soft == 0
