from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import multichoiceeval
from tests.spatial_engine.scoring.golden import assert_agrees, cases, golden

OPTIONS = {"option": ["A. chair", "B. table", "C. wooden desk", "D. sofa"]}
GLUED = "The correct option is Z. Consequently, the correct option is BThe correct option is C"
DRAWN = golden("multichoiceeval").get("skipped_random", ())


@pytest.mark.parametrize("case", cases("multichoiceeval"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    assert_agrees(multichoiceeval, case)


@pytest.mark.parametrize("case", DRAWN, ids=[repr(case["input"]["response"]) for case in DRAWN])
def test_where_the_reference_draws_the_score_is_its_expectation(case: dict[str, Any]) -> None:
    result = multichoiceeval(**case["input"])
    count = len(case["input"]["extra_info"]["option"])
    if not count:
        assert result == {"score": 0, "detail": {"reference_exception": "IndexError"}}
        return
    can_be_drawn = case["input"]["answer"] in "ABCDEFGHIJ"[:count]
    assert result["score"] == (1 / count if can_be_drawn else 0)
    assert result["detail"] == {"expectation": True, "options": count}


@given(st.sampled_from("ABCD"), st.sampled_from(["answer: {}", "({})", "Answer: {}.", "The answer is {}", "'{}'"]))
def test_a_letter_as_it_is_asked_for_is_found(letter: str, style: str) -> None:
    for truth in "ABCD":
        assert multichoiceeval(style.format(letter), truth, OPTIONS)["score"] == (letter == truth)


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("The answer is Z, so Choice B", "B"),  # not an option: the next statement
        (GLUED, "C"),
        ("<|begin_of_box|>C<|end_of_box|> (A)", "C"),
        ("Answer: maybe D", "D"),
        ("(A) or (B)? Rather (A)", "A"),
        ("perhaps A or perhaps B ", "B"),
        ("C.x then B.y", "B"),  # neither stands between blanks: the first letter
        ("it may well be a. chair or b. table", "B"),
    ],
)
def test_the_cascade(response: str, letter: str) -> None:
    assert multichoiceeval(response, letter, OPTIONS)["details"]["parsed_pred"] == letter


@given(st.text(alphabet="ABCD ().:answerTheis'\n", max_size=40), st.permutations(range(4)))
def test_scores_of_all_options_add_up_to_one(response: str, order: list[int]) -> None:
    scores = [multichoiceeval(response, "ABCD"[index], OPTIONS)["score"] for index in order]
    assert sum(scores) == pytest.approx(1)
