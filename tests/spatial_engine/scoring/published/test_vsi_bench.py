import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.errors import UsageError
from spatial_engine.scoring.published.vsi_bench import (
    CHOICE,
    DIRECTIONS,
    NUMERIC,
    VsiBench,
    VsiBenchPaper,
    VsiBenchStrict,
    VsiBenchVlmevalkit,
    choice_score,
    extract_number,
    first_token,
    number_score,
)
from spatial_engine.scoring.scorers import ScoredItem, Scorer, Totals
from templates.answers.measures import mean_relative_accuracy
from templates.answers.score import Score
from tests.spatial_engine.scoring.golden import agrees, cases

ALL = (*NUMERIC, *CHOICE)
HARNESSES = (VsiBench(), VsiBenchVlmevalkit(), VsiBenchPaper(), VsiBenchStrict())


def total(scorer: Scorer, scores: list[tuple[str, float]]) -> Totals:
    return scorer.total([ScoredItem(item={"question_type": kind}, score=Score(value=value)) for kind, value in scores])


def score(kind: str, response: str, target: str, scorer: Scorer = HARNESSES[0]) -> float:
    return scorer.score({"question_type": kind, "ground_truth": target}, response).value


def test_directions_are_one_type_of_eight() -> None:
    for harness in HARNESSES:
        found = total(harness, [(name, float(name in DIRECTIONS)) for name in ALL])
        assert found.score == 1 / 8 and len(found.categories) == 8 and not found.detail["missing"]


def test_types_weigh_the_same_whatever_their_size() -> None:
    scores = [(name, 0.0) for name in ALL if name != "route_planning"] + [("route_planning", 1.0)] * 99
    assert total(VsiBench(), scores).score == 0.125


def test_a_missing_difficulty() -> None:
    scores = [(name, 0.5) for name in ALL if name != DIRECTIONS[0]] + [(DIRECTIONS[1], 1.0)]
    assert total(VsiBench(), scores).score is None
    assert total(VsiBench(), scores).detail["missing"] == ["object_rel_direction"]
    assert len(total(VsiBenchVlmevalkit(), scores).categories) == 9
    strict = total(VsiBenchStrict(), scores)
    assert strict.categories["object_rel_direction"] == 0.625 and strict.score == pytest.approx((7 * 0.5 + 0.625) / 8)


def test_lmms_eval_rounds_to_six_digits() -> None:
    scores = [(name, 1 / 3) for name in ALL]
    assert total(VsiBench(), scores).score == 0.333333
    assert total(VsiBenchVlmevalkit(), scores).score == pytest.approx(1 / 3)


def test_nothing_answered() -> None:
    assert total(VsiBench(), []).score is None and total(VsiBenchVlmevalkit(), []).score == 0


def test_items() -> None:
    assert score("object_counting", "There are four chairs", "4") == score("route_planning", "B.", "b") == 1
    assert score("object_counting", "1,234 or 4", "4", VsiBenchVlmevalkit()) == 1
    assert score("object_counting", "none", "4") == score("object_counting", "4", "many") == 0
    assert score("room_size_estimation", "0", "0") == 0 and score("room_size_estimation", "0", "0", VsiBenchStrict())
    assert score("route_planning", "mumble", "?", VsiBenchVlmevalkit()) == 1
    assert score("route_planning", "mumble", "?", VsiBenchStrict()) == 0
    with pytest.raises(UsageError, match="object_counting"):
        score("object_weight", "1", "1")


@settings(max_examples=40)
@given(st.sampled_from(ALL), st.text(), st.text(max_size=5), st.sampled_from(HARNESSES))
def test_any_text_scores_from_0_to_1(kind: str, response: str, target: str, harness: Scorer) -> None:
    assert 0 <= score(kind, response, target, harness) <= 1


@pytest.mark.parametrize("case", cases("mra_variants"))
def test_numbers_equal_the_variants(case: dict[str, Any]) -> None:
    prediction, target = float(case["input"]["pred"]), float(case["input"]["gt"])
    names = {"code_lmms": "lmms-eval", "code_vlmevalkit": "vlmevalkit", "paper_strict_exact": "paper"}
    ours: dict[str, float] = {name: number_score(prediction, target, harness) for name, harness in names.items()}  # type: ignore[arg-type]
    ours["paper_le_exact"] = number_score(prediction, target, "strict")
    assert agrees(ours, {name: value or 0.0 for name, value in case["output"].items()})  # None: it divides by zero


def test_targets_of_zero_and_below() -> None:
    assert number_score(999.0, -3.0, "lmms-eval") == 1 and number_score(999.0, -3.0, "strict") == 0
    assert number_score(0.0, 0.0, "lmms-eval") == number_score(0.0, 0.0, "paper") == 0
    assert number_score(0.1, 0.0, "strict") == number_score(0.1, 0.0, "vlmevalkit") == 0.9
    assert number_score(math.nan, 3.0, "strict") == number_score(None, 1.0, "lmms-eval") == 0
    assert mean_relative_accuracy(110, 100, inclusive=False) == mean_relative_accuracy(110, 100) - 0.1


@settings(max_examples=40)
@given(st.floats() | st.none(), st.floats(), st.sampled_from(["lmms-eval", "vlmevalkit", "paper", "strict"]))
def test_any_numbers_give_a_share(prediction: float | None, target: float, harness: Any) -> None:
    assert 0 <= number_score(prediction, target, harness) <= 1


@pytest.mark.parametrize("case", cases("extract_lmms_eval"))
def test_reading_equals_lmms_eval(case: dict[str, Any]) -> None:
    response, expected = case["input"]["response"], case["output"]
    if case["tag"] == "number":
        assert agrees(extract_number(response), expected["extract_number"])
    if case["tag"] == "fuzzy":
        assert first_token(response) == expected["fuzzy_matching"]
        assert choice_score(response, "B", "lmms-eval") == expected["score_vs_B"]


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("three hundred and twenty-one", 321),
        ("hundred", 100),
        ("thousand and one", 1001),
        ("two thousand three hundred", 2300),
        ("twenty one", 21),
        ("one two", 3),
        ("-4.5 m", -4.5),
        ("about ten or 12", 10),
        ("android", None),
        (None, None),
        ("thousand " * 400, 400_000),
        ("hundred " * 400, None),
    ],
)
def test_numbers_in_words(words: str | None, number: float | None) -> None:
    assert extract_number(words) == number
