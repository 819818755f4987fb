import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatial_engine.scoring.official import aggregate, process_results
from tests.spatial_engine.scoring.golden import agrees, cases

TAGS = {"spatree0": "L1", "spatree1": "Geometry", "spatree2": "Distance"}


def row(metric: Any, **columns: Any) -> dict[str, Any]:
    return {"extra_info": json.dumps({"metricfunc": metric, **TAGS, "other": 1}), "hint": "", **columns}


def item(doc: dict[str, Any], *results: str | None) -> dict[str, Any]:
    return process_results(doc, list(results))["SpaTreeBench"]


@pytest.mark.parametrize("case", cases("process_results_dispatch"))
def test_equals_the_reference(case: dict[str, Any]) -> None:
    doc, response = case["input"]["doc"], case["input"]["response"]
    for unsafe in (True, False):
        ours = process_results(doc, [response], unsafe=unsafe)
        if case["output"] is None:
            assert ours["SpaTreeBench"]["detail"]["reference_abort"] == case["exception"]
        else:
            assert agrees(ours, case["output"])
            assert ours["SpaTreeBench"].keys() == case["output"]["SpaTreeBench"].keys()


@pytest.mark.parametrize("hint", ["{", None, 5])
def test_a_bad_hint_scores_nothing_and_says_so_where_the_reference_ends_the_run(hint: Any) -> None:
    scored = item(row("judge", answer="yes") | {"hint": hint}, "yes")
    assert scored == {"score": 0, **TAGS, "detail": {"reference_abort": scored["detail"]["reference_abort"]}}


@pytest.mark.parametrize("extra_info", ["{", "[]", None, '{"metricfunc": ["judge"]}'])
def test_so_does_a_bad_extra_info(extra_info: Any) -> None:
    scored = item({"extra_info": extra_info, "answer": "yes", "hint": ""}, "yes")
    assert scored["score"] == 0
    assert "reference_abort" in scored["detail"]


def test_a_row_or_results_without_anything() -> None:
    assert item({}, "yes") == {"score": 0, "detail": {"reference_abort": "KeyError"}}
    assert item(row("judge", answer="yes"))["score"] == 0


def test_an_expectation_says_that_it_is_one() -> None:
    scored = item(row("multichoiceeval", answer="B", option=["x", "y"], question_type="mcq"), "**B**")
    assert scored == {"score": 0.5, **TAGS, "detail": {"expectation": True, "options": 2}}


def test_open_questions_are_numbers() -> None:
    assert item(row("multichoiceeval", answer="10", option=[], question_type="open"), "9")["score"] == 0.9


def test_where_a_judge_scores_its_reply_follows_the_response() -> None:
    doc = row("gpteval", answer="The camera moves left.")
    assert item(doc, "It goes left.", '{"answer_score": [[0.7]]}') == {"score": 0.7, **TAGS}
    assert item(doc, "It goes left.") == {"score": 0, **TAGS, "detail": {"no_judge": True}}


def test_a_loophole_pays_only_if_unsafe() -> None:
    doc = row("gpteval", answer="x")
    reply = ["x", '{"answer_score": Infinity}']
    assert process_results(doc, reply)["SpaTreeBench"]["score"] == 0
    assert process_results(doc, reply, unsafe=True)["SpaTreeBench"]["score"] == float("inf")


def test_what_it_gives_is_what_aggregate_takes() -> None:
    doc = row("judge", answer="yes")
    items = [process_results(doc, ["yes"]), process_results(doc, ["no"]), process_results(doc | {"hint": "{"}, ["yes"])]
    assert aggregate(items)["nodes"]["L1/Geometry/Distance"] == pytest.approx(1 / 3)


json_texts = st.sampled_from(["", "{", "[]", "null", "{}", '{"roll_unc": 1}']) | st.text(max_size=5) | st.none()


@given(
    st.sampled_from(["gravityeval", "multichoiceeval", "judge", "affmask", "cogmapeval", "manipulateeval", "?", None]),
    json_texts,
    st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3), max_size=3),
    st.none() | st.text(max_size=20),
)
def test_no_row_makes_it_raise(metric: Any, hint: Any, answer: Any, response: str | None) -> None:
    scored = item(row(metric, answer=answer, option=answer) | {"hint": hint}, response)
    assert 0 <= scored["score"] <= 1
    assert TAGS.items() <= scored.items()
