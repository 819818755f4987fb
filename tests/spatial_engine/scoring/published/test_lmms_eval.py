import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.published.lmms_eval import (
    extract_number,
    first_token,
    mindcube_category,
    mindcube_letter,
    omnispatial_judged,
    omnispatial_letter,
    sitebench,
    sitebench_adjusted,
    sitebench_letter,
    vsibench_choice,
)
from tests.spatial_engine.scoring.golden import agrees, cases, golden
from tests.spatial_engine.scoring.published.hostile import HOSTILE

DRAWN = golden("extract_lmms_eval").get("skipped_random", ())


@pytest.mark.parametrize("case", cases("extract_lmms_eval"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    response, expected = case["input"]["response"], case["output"]
    match case["tag"]:
        case "number":
            assert agrees(extract_number(response), expected["extract_number"])
        case "fuzzy":
            assert first_token(response) == expected["fuzzy_matching"]
            assert vsibench_choice(response, "B") == expected["score_vs_B"]
        case "mindcube":
            assert mindcube_letter(response) == expected["extract_answer"]
        case _:
            assert sitebench_letter(response, case["input"]["n_options"]) == expected["parse"]


@pytest.mark.parametrize("response", DRAWN)
def test_where_the_reference_draws_nothing_is_read(response: str) -> None:
    assert sitebench_letter(response, 4) is None
    assert sitebench(response, "B", 4) == 0.25


def test_a_drawn_answer_that_is_no_option_is_wrong() -> None:
    assert sitebench("", "E", 4) == sitebench("", "", 4) == sitebench("B", "B", 0) == 0
    assert sitebench(" (B) ", "B", 4) == 1


def test_last_of_several_letters() -> None:
    assert sitebench_letter("first B then A here", 2) == "A"
    assert sitebench_letter("(B)(A)", 2) == "A"


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


@pytest.mark.parametrize(
    ("response", "form", "published", "strict"),
    [
        ('```json\n{"answer": " b"}\n```', "json", "B", "B"),
        ('{"answer": 2}', "json", "A", None),
        ('{"analysis": ""}', "json", "A", "A"),
        ("[" * 200_000, "json", "A", None),
        ("B", "json", "A", None),
        ("Answer: A or Answer : c", "re", "c", "C"),
        ("Answer: Cat", "re", "A", None),
        ("b) sofa", "direct", "B", "B"),
        ("Possibly B", "direct", "P", None),
        ("", "direct", "", None),
    ],
)
def test_omnispatial(response: str, form: Any, published: str, strict: str | None) -> None:
    assert omnispatial_letter(response, form) == published
    assert omnispatial_letter(response, form, strict=True) == strict


def test_small_rules() -> None:
    assert omnispatial_judged("True.") and omnispatial_judged("untrue") and not omnispatial_judged("False")
    ids = {"among_1": "among", "aroundnew_2": "around", "around_3": "around", "rotation_4": "rotation", "x_5": "other"}
    assert {id: mindcube_category(id) for id in ids} == ids
    assert (
        sitebench_adjusted([1, 0], [4, 4]) == 33.33333
        and sitebench_adjusted([1], [1]) == sitebench_adjusted([], []) == 0
    )


@settings(max_examples=40)
@given(st.text())
def test_any_text_is_read_or_not(response: str) -> None:
    assert isinstance(extract_number(response), float | None)
    assert mindcube_letter(response) in {None, *"ABCDE"} and sitebench_letter(response, 3) in {None, *"ABC"}
    assert 0 <= sitebench(response, "A", 3) <= 1 and vsibench_choice(response, "A") in (0, 1)


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_responses_cost_little(response: str) -> None:
    start = time.process_time()
    extract_number(response), first_token(response), mindcube_letter(response), sitebench_letter(response, 26)
    for form in ("json", "re", "direct"):
        omnispatial_letter(response, form)
    assert time.process_time() - start < 3
