"""No response, answer or hint makes a metric raise, take long, or give anything but a number from 0 to 1."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring import official

UNBOUNDED = {"gpteval"}
"""Gives what the judge gave."""
NAMES = sorted(set(official.__all__) - {"aggregate", "process_results"})
MEGABYTE = 1_000_000
HOSTILE = {
    "digits": "1" * MEGABYTE,
    "pairs of digits": "x=1" * MEGABYTE,
    "bracketed digits": "(1" * MEGABYTE,
    "fences that do not end": "```json\nA ``` " * (MEGABYTE // 10),
    "fences": "```" * MEGABYTE,
    "brackets": "[" * MEGABYTE,
    "braces": '{"a":' * MEGABYTE,
    "braces and back": "{" * MEGABYTE + "}" * MEGABYTE,
    "nested lists": "{" + "[" * MEGABYTE + "]" * MEGABYTE + "}",
    "commas and blanks": "{" + ("," + " " * 1000) * 1000 + "}",
    "blanks": "1" + " " * MEGABYTE,
    "y and blanks": ("x:1 y" + " " * 1000) * 1000,
    "names": "roll pitch vfov " * (MEGABYTE // 10),
    "statements": "Answer: is correct, The answer is " * (MEGABYTE // 10),
    "a huge integer": '{"roll": ' + "9" * MEGABYTE + ', "pitch": 1, "vfov": 1, "answer_score": 1}',
    "a huge exponent": '{"answer_score": 1e' + "9" * MEGABYTE + "}",
    "binary": bytes(range(256)).decode("latin-1") * (MEGABYTE // 256),
    "lone surrogates": "\ud800" * 1000,
    "zeros": "\0" * MEGABYTE,
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FRAGMENTS = (
    "```json\n", "\n```", "{", "}", "[", "]", '"roll": ', '"0->1": ', '"actions": ', '"step_nums": ', '"W"', ",", " ",
    "Answer: ", "(A)", "B ", "<Answer>", "x: ", "y=", "yes", "no", "1", "-2.5", "NaN",
)  # fmt: skip
fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=12).map("".join)


@pytest.mark.parametrize("name", NAMES)
@given(st.text() | fragments | json_values, json_values, json_values)
def test_arbitrary_input_gives_a_number_from_0_to_1(name: str, response: Any, answer: Any, extra_info: Any) -> None:
    result = getattr(official, name)(response, answer, extra_info)
    assert isinstance(result["detail"], dict)
    assert name in UNBOUNDED or 0 <= result["score"] <= 1


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_responses_cost_little(name: str, response: str) -> None:
    option = ["a", "b", "c", "d"]
    start = time.process_time()
    result = getattr(official, name)(response, "B", {"option": option})
    assert time.process_time() - start < 2
    assert name in UNBOUNDED or 0 <= result["score"] <= 1
