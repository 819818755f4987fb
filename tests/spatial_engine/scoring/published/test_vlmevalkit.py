import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.vlmevalkit import can_match_na, can_match_option, option_hit
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
