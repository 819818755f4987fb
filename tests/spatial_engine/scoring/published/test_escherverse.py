import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.escherverse import (
    EscherVerse,
    EscherVerseRepository,
    EscherVerseStrict,
    answer_text,
    escherverse,
    letters,
    similarity,
)
from spatial_engine.scoring.scorers import score_items
from tests.spatial_engine.scoring.golden import agrees, cases
from tests.spatial_engine.scoring.published.hostile import HOSTILE

KINDS = ("Single-Choice", "Multiple-Select", "True/False", "Fill-in-the-Blank")
VARIANTS = ("paper", "repository", "strict")


@pytest.mark.parametrize("case", cases("escher_choice"))
def test_choices_equal_the_repository_and_the_strict_rule(case: dict[str, Any]) -> None:
    response, answer = case["input"]["response"], case["input"]["answer"]
    kind, expected = case["input"].get("question_type", "Multiple-Select"), case["output"]
    ours = escherverse(response, answer, kind, "repository")
    assert ours.value == expected["repo"]["score"] and ours.detail["prediction"] == expected["repo"]["prediction_clean"]
    assert ours.detail["truth"] == expected["repo"].get("ground_truth_clean", ours.detail["truth"])
    if "strict_score" in expected:
        assert sorted(letters(answer_text(response))) == expected["strict_letters_pred"]
        assert sorted(letters(answer)) == expected["strict_letters_gt"]
        assert escherverse(response, answer, kind, "paper").value == expected["strict_score"]


@pytest.mark.parametrize("case", cases("escher_fill_in"))
def test_gaps_equal_paper_and_repository(case: dict[str, Any]) -> None:
    response, answer, expected = case["input"]["response"], case["input"]["answer"], case["output"]
    paper = escherverse(response, answer, "Fill-in-the-Blank", "paper")
    found = {"score": paper.value, "similarity": paper.detail["similarity"]}
    found["exact"] = paper.detail["method"] == "hard_match"
    found["similarity_swapped"] = similarity(answer, answer_text(response))
    assert agrees(found, expected["paper"])
    repository = escherverse(response, answer, "Fill-in-the-Blank", "repository")
    found = {"score": repository.value, "eval_method": repository.detail["method"]}
    assert agrees({**found, "similarity": repository.detail["similarity"]}, expected["repo"])


@pytest.mark.parametrize(
    ("response", "answer", "kind", "paper", "repository", "strict"),
    [
        ("true or false", "True", "True/False", 0, 1, 0),
        ("It is untrue", "True", "True/False", 0, 1, 0),
        ("<answer>True</answer>", "True", "True/False", 1, 1, 1),
        ("It is not true.", "False", "True/False", 0, 0, 1),
        ("", "clockwise", "Fill-in-the-Blank", 0, 1, 0),
        ("clockwise", "counterclockwise", "Fill-in-the-Blank", 0, 1, 0),
        ("<think><answer>left</answer></think><answer>right</answer>", "right", "Fill-in-the-Blank", 0, 0, 1),
        ("**right.**", "right", "Fill-in-the-Blank", 0, 1, 1),
        ("The answer is B", "B", "Single-Choice", 1, 0, 1),
        ("B or C", "B", "Single-Choice", 1, 1, 0),
        ("box", "B", "Single-Choice", 0, 1, 0),
        ("", "", "Multiple-Select", 1, 1, 0),
        ("Same  text", "same text", "Short-Answer", 1, 1, 1),
    ],
)
def test_where_the_variants_differ(
    response: str, answer: str, kind: str, paper: float, repository: float, strict: float
) -> None:
    found = {variant: escherverse(response, answer, kind, variant).value for variant in VARIANTS}  # type: ignore[arg-type]
    assert found == {"paper": paper, "repository": repository, "strict": strict}


@settings(max_examples=40)
@given(st.text(), st.text(max_size=20), st.sampled_from(KINDS), st.sampled_from(VARIANTS))
def test_any_text_scores_from_0_to_1(response: str, answer: str, kind: str, variant: Any) -> None:
    assert 0 <= escherverse(response, answer, kind, variant).value <= 1


@settings(max_examples=40)
@given(st.sampled_from(["the red cup", "moving to the left", "twelve"]), st.sampled_from(VARIANTS))
def test_the_truth_is_right(answer: str, variant: Any) -> None:
    assert escherverse(f"<answer>{answer}</answer>", answer, "Fill-in-the-Blank", variant).value == 1


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_responses_cost_little(response: str) -> None:
    start = time.process_time()
    escherverse(response, "the red cup", "Fill-in-the-Blank", "strict")
    for kind in KINDS:
        escherverse(response, "the red cup", kind, "repository")
    assert time.process_time() - start < 3


def test_halves_count_in_the_mean() -> None:
    gap = {"A": "moving to the left", "question_type": "Fill-in-the-Blank", "C": "Category 1"}
    items = [{"index": 1, **gap}, {"index": 2, **gap}, {"index": 3, **gap, "C": "Category 2"}]
    responses = {"1": "moving to the left", "2": "moving to the left now", "3": "up"}
    for scorer, near in ((EscherVerse(), 0.5), (EscherVerseRepository(), 1), (EscherVerseStrict(), 0.5)):
        _, totals = score_items(scorer, items, responses)
        assert totals.score == pytest.approx((1 + near) / 3)
        assert totals.categories == {"Category 1": (1 + near) / 2, "Category 2": 0}
