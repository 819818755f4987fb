import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatial_engine.scoring.official.reading import read_letter
from spatial_engine.scoring.published.lmms_eval import (
    MindCube,
    OmniSpatial,
    OmniSpatialDirect,
    OmniSpatialJson,
    Site,
    omnispatial_letter,
    sitebench_letter,
)
from spatial_engine.scoring.published.vsi_bench import extract_number, first_token
from spatial_engine.scoring.scorers import score_items
from tests.spatial_engine.scoring.golden import cases, golden
from tests.spatial_engine.scoring.published.hostile import HOSTILE

DRAWN = golden("extract_lmms_eval").get("skipped_random", ())
FOUR = ["a", "b", "c", "d"]


def site(response: str, answer: str, options: int) -> float:
    return Site().score({"answer": answer, "options": FOUR[:options]}, response).value


@pytest.mark.parametrize("case", cases("extract_lmms_eval"))
def test_letters_equal_the_reference(case: dict[str, Any]) -> None:
    response, expected = case["input"]["response"], case["output"]
    if case["tag"] == "mindcube":
        assert read_letter(response) == expected["extract_answer"]
    elif case["tag"] not in ("number", "fuzzy"):
        assert sitebench_letter(response, case["input"]["n_options"]) == expected["parse"]


@pytest.mark.parametrize("response", DRAWN)
def test_where_the_reference_draws_nothing_is_read(response: str) -> None:
    assert sitebench_letter(response, 4) is None
    assert site(response, "B", 4) == 0.25


def test_a_drawn_answer_that_is_no_option_is_wrong() -> None:
    assert site("", "E", 4) == site("", "", 4) == site("B", "B", 0) == 0
    assert site(" (B) ", "B", 4) == 1


def test_last_of_several_letters() -> None:
    assert sitebench_letter("first B then A here", 2) == "A"
    assert sitebench_letter("(B)(A)", 2) == "A"


def test_site_is_adjusted_for_chance_and_pooled() -> None:
    items = [
        {"id": 1, "answer": "B", "options": FOUR, "category": "counting & existence"},
        {"id": 2, "answer": "B", "options": FOUR, "category": "counting & existence"},
        {"id": 3, "answer": "A", "options": FOUR[:2], "category": "depth & 3d understanding"},
    ]
    _, totals = score_items(Site(), items, {"1": "(B)", "2": "(A)", "3": "(A)"})
    assert totals.score == pytest.approx((2 - 1) / (3 - 1)) and totals.detail["accuracy"] == pytest.approx(2 / 3)
    assert totals.categories == {"counting & existence": 0.3333333, "depth & 3d understanding": 1.0}


@pytest.mark.parametrize("case", cases("caa_by_category"))
def test_site_equals_the_formula_by_category(case: dict[str, Any]) -> None:
    rows = zip(*(case["input"][name] for name in ("hit", "n_options", "category")), strict=True)
    items = [
        {"id": place, "answer": "A" if hit else "B", "options": [""] * max(n or 4, 2), "category": category, "hit": hit}
        for place, (hit, n, category) in enumerate(rows)
    ]
    if any(n is None or n < 2 for n in case["input"]["n_options"]):
        pytest.skip("a choice has two options or more")
    _, totals = score_items(Site(), items, {str(item["id"]): "(A)" for item in items})
    assert totals.score == pytest.approx(case["output"]["overall"], abs=1e-7)
    assert totals.categories == pytest.approx(case["output"]["per_category"], abs=1e-7)


def test_mindcube_reports_the_settings_that_ids_name() -> None:
    settings = ("among_1", "aroundnew_2", "around_3", "rotation_4", "x_5")
    items = [{"id": id, "gt_answer": "C"} for id in settings]
    _, totals = score_items(MindCube(), items, dict.fromkeys(settings, "My answer is C") | {"around_3": "D."})
    assert totals.categories == {"among": 1, "around": 0.5, "other": 1, "rotation": 1} and totals.score == 0.8


@pytest.mark.parametrize(
    ("response", "form", "letter"),
    [
        ('```json\n{"answer": " b"}\n```', "json", "B"),
        ('{"answer": 2}', "json", "A"),
        ('{"answer": ""}', "json", ""),
        ('{"analysis": ""}', "json", "A"),
        ("[" * 200_000, "json", "A"),
        ("B", "json", "A"),
        ("Answer: A or Answer : c", "re", "c"),
        ("Answer: Cat", "re", "A"),
        ("b) sofa", "direct", "B"),
        ("Possibly B", "direct", "P"),
        ("", "direct", ""),
    ],
)
def test_omnispatial_letters(response: str, form: Any, letter: str) -> None:
    assert omnispatial_letter(response, form) == letter


def test_omnispatial_reads_as_its_prompts_ask() -> None:
    item = {"gt": "B", "task_type": "Dynamic_Reasoning"}
    replies = ("Answer: B", '{"answer": "B"}', "B")
    found = [[s.score(item, reply).value for reply in replies] for s in (OmniSpatial(), OmniSpatialJson())]
    assert found == [[1, 0, 0], [0, 1, 0]] and OmniSpatialDirect().score(item, "B.").value == 1
    assert OmniSpatial().category(item) == "Dynamic_Reasoning"


@settings(max_examples=40)
@given(st.text())
def test_any_text_is_read_or_not(response: str) -> None:
    assert isinstance(extract_number(response), float | None)
    assert read_letter(response) in {None, *"ABCDE"} and sitebench_letter(response, 3) in {None, *"ABC"}
    assert 0 <= site(response, "A", 3) <= 1


@pytest.mark.parametrize("response", HOSTILE.values(), ids=HOSTILE)
def test_hostile_responses_cost_little(response: str) -> None:
    start = time.process_time()
    extract_number(response), first_token(response), read_letter(response), sitebench_letter(response, 26)
    for form in ("json", "re", "direct"):
        omnispatial_letter(response, form)  # type: ignore[arg-type]
    assert time.process_time() - start < 3
