import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.vlmevalkit import (
    Site,
    Stare,
    can_match_na,
    can_match_option,
    option_hit,
    option_words,
)
from spatial_engine.scoring.scorers import score_items
from tests.spatial_engine.scoring.golden import agrees, cases
from tests.spatial_engine.scoring.published.hostile import HOSTILE


@pytest.mark.parametrize("case", cases("extract_vlmevalkit"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    given = case["input"]
    if "can_match_na" in case["output"]:
        assert agrees(can_match_na(given["response"]), case["output"]["can_match_na"])
    else:
        expected = case["output"]["can_match_option"]
        assert can_match_option(given["response"], given.get("choices")) == (expected or None)


@settings(max_examples=40)
@given(st.text() | st.lists(st.text(), max_size=2) | st.none() | st.floats())
def test_any_response_gives_a_letter_or_a_number_or_nothing(response: Any) -> None:
    assert can_match_option(response) in {None, *"ABCDEFGHIJ"}
    assert isinstance(can_match_na(response), float | None)


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_responses_cost_little(response: str) -> None:
    start = time.process_time()
    can_match_option(response, "ABCDEFGHIJ")
    can_match_na(response)
    can_match_na(f"[{response}]")
    assert time.process_time() - start < 3


def test_two_that_cannot_be_read_are_equal_as_published_only() -> None:
    assert option_hit("no idea", "???") and not option_hit("no idea", "???", strict=True)
    assert option_hit("B", "B", strict=True) and not option_hit("A", "B")
    assert not option_hit("<answer>H</answer>", "<answer>H</answer>", "ABCD", strict=True)


def test_letters_mean_words() -> None:
    assert option_words("Does it fold?\nA. yes\nB. no") == {"A": "yes", "B": "no"}
    assert option_words("(A) No  B： YES") == {"A": "no", "B": "yes"}
    assert option_words("A" + " " * 100_000) == {}


def test_stare_is_the_mean_of_six_terms() -> None:
    asked = {"question": "Does it fold?\nA. yes\nB. no"}
    items = [
        {"pid": 1, **asked, "answer": "A", "category": "folding_nets"},
        {"pid": 2, **asked, "answer": "B", "category": "folding_nets"},
        {"pid": 3, **asked, "answer": "A", "category": "folding_nets"},
        {"pid": 4, "question": "?", "answer": "C", "category": "2D_trans"},
        {"pid": 5, "question": "?", "answer": "C", "category": "2D_trans_vsim"},
        {"pid": 6, "question": "?", "answer": "C", "category": "temporal"},
    ]
    responses = {"1": "A", "2": "A", "3": "cannot say", "4": "C", "5": "D", "6": "D"}
    _, totals = score_items(Stare(), items, responses)
    assert totals.categories == pytest.approx(  # folding_nets: one hit, one false alarm, one left out
        {
            "2d_trans": 1,
            "2d_trans_vsim": 0,
            "folding_nets": 2 / 3,
            "temporal": 0,
        }  # one hit, one false alarm, one dropped
    )
    assert totals.score == pytest.approx((0.5 + 2 / 3 + 0) / 3) and totals.detail["accuracy"] == pytest.approx(2 / 6)
    assert score_items(Stare(), [], {})[1].score is None


def test_site_is_adjusted_for_chance() -> None:
    items = [{"id": place, "answer": "B", "options": ["a", "b"], "category": "c"} for place in range(4)]
    _, totals = score_items(Site(), items, {"0": "B", "1": "B", "2": "B", "3": "A"})
    assert totals.score == totals.categories["c"] == 0.5
