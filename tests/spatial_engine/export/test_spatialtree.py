"""The official semantics, told again in a few lines: a model that answers rightly must get the full score."""

import json
import math
import re
from dataclasses import replace

import pytest

from spatial_engine.dataset.question_line import question_of
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.export import export
from spatial_engine.export.spatialtree import OracleReport, right_response
from spatial_engine.scoring import official
from spatial_engine.scoring.official.row import row, tags
from templates.ability import LEAVES
from tests.spatial_engine.drafts import NASTY, clip, clip_questions, route, walk
from tests.spatial_engine.evaluation.drafted import said_once

FIELDS = {
    "session_id",
    "question",
    "option",
    "answer",
    "question_type",
    "hint",
    "extra_info",
    "image",
    "video",
    "video_info",
}
TREE_LEAVES = {
    *("Distance", "Shape", "Size", "3DDetection", "3DGrounding", "Allo", "Ego", "Gravity", "ObjectOrientation"),
    *("Correspondence", "RelativeDirection", "CognitiveMap", "MemoryRetrieval", "Affordance", "MotionUnderstanding"),
    *("PerspectiveTaking", "RelationUnderstanding", "SpatialCaption", "Dynamics", "GeometryPuzzles", "Relation"),
    *("Operation", "Route", "AgenticNavigation", "RoboticArm", "KnowledgeAcquisition", "Self-Goaling"),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spatialtree")
    dataset = write_dataset(folder / "d", [clip_questions(count=4)], lambda id: clip(id, NASTY), seed=0)
    return dataset, export(dataset, folder / "out", to="spatialtree")


@pytest.fixture(scope="module")
def rows(exported):
    return [json.loads(line) for line in (exported[1] / "test.jsonl").read_text(encoding="utf-8").splitlines()]


def official_score(record: dict, response: str) -> float:
    """`reference` metrics, for well-formed responses."""
    metric, answer = json.loads(record["extra_info"])["metricfunc"], record["answer"]
    hint = json.loads(record["hint"]) if record["hint"] != "" else {}
    if metric == "multichoiceeval":
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(record["option"])]
        found = re.search(r"The answer is ([A-Z])", response)
        return float(found is not None and found[1] in letters and found[1] == answer)
    if metric == "judge":
        said = "yes" if response.lower().rfind("yes") > response.lower().rfind("no") else "no"
        return float(said == answer.lower())
    if metric == "meanrelativeacc":
        target, number = float(answer), float(re.search(r"-?\d+\.?\d*", response)[0])
        error = abs(number - target) / target
        return sum(error <= 1 - (0.5 + 0.05 * k) + 1e-12 for k in range(10)) / 10
    assert metric == "gravityeval"
    said, truth = json.loads(response), json.loads(answer)
    terms = [math.exp(-((said[k] - truth[k]) ** 2) / (2 * hint[f"{k}_unc"] ** 2)) for k in ("roll", "pitch", "vfov")]
    assert all(hint[f"{k}_unc"] > 0 for k in truth)
    return sum(terms) / 3


def test_a_right_answer_gets_the_full_score(exported, rows):
    questions = {question.id: question for question in exported[0].questions}
    assert {json.loads(r["extra_info"])["metricfunc"] for r in rows} == {
        "multichoiceeval",
        "judge",
        "meanrelativeacc",
        "gravityeval",
    }
    for record in rows:
        question = questions[record["session_id"]]
        says = {"choice": "The answer is {}", "yes_no": "{}", "numeric": "{}"}.get(question.format)
        response = says.format(question.answer) if says else json.dumps(question.answer)
        assert official_score(record, response) == 1.0


def test_a_wrong_answer_does_not(rows):
    wrong = {
        "multichoiceeval": lambda r: f"The answer is {'B' if r['answer'] == 'A' else 'A'}",
        "judge": lambda r: "no" if r["answer"] == "yes" else "yes",
        "meanrelativeacc": lambda r: str(3 * float(r["answer"])),
        "gravityeval": lambda r: json.dumps({k: v + 40 for k, v in json.loads(r["answer"]).items()}),
    }
    for record in rows:
        assert official_score(record, wrong[json.loads(record["extra_info"])["metricfunc"]](record)) < 0.01


def test_rows_have_the_fields_and_their_pictures(exported, rows):
    asked = {question.id: question for question in exported[0].questions}
    for record in rows:
        assert set(record) == FIELDS
        assert record["image"] and all((exported[1] / path).is_file() for path in record["image"])
        assert all(text.startswith(f"{letter}. ") for letter, text in zip("ABCD", record["option"], strict=False))
        assert record["video"] == [] and record["video_info"][0]["frame_index"]
        assert isinstance(json.loads(record["extra_info"])["fact_id"], str)
        assert said_once(asked[record["session_id"]], record["question"])
        assert "onerror" not in json.dumps(record)


def test_options_that_are_pictures_are_named_by_their_place(exported, rows):
    questions = {question.id: question for question in exported[0].questions}
    for record in rows:
        question = questions[record["session_id"]]
        if question.template != "path_map":
            continue
        number = int(record["option"]["ABCD".index(record["answer"])].rsplit(" ", 1)[1])
        right = question.options["ABCD".index(question.answer)]
        assert right in record["image"][number - 1]
        assert record["question"].endswith("The options are pictures 3 to 6.")


def test_what_has_no_official_metric_is_counted(exported, rows):
    report = json.loads((exported[1] / "export_report.json").read_text())
    assert report["rows"] == len(rows)
    assert report["rows"] + sum(report["left_out"].values()) == exported[0].audit["questions"]
    gravity = [r for r in rows if json.loads(r["extra_info"])["metricfunc"] == "gravityeval"]
    assert len(gravity) == 2  # of four, two lack the field of view
    assert any("point" in reason for reason in report["left_out"])


@pytest.mark.parametrize("answer", [0, -3.5])
def test_numbers_that_relative_accuracy_cannot_score_are_left_out(exported, answer):
    question = next(q for q in exported[0].questions if q.format == "numeric")
    assert "not positive" in row(replace(question, answer=answer)).reason
    assert "directions" in row(replace(question, scorer_params={"period": 360.0})).reason


@pytest.mark.parametrize(
    ("drafted", "reason"),
    [
        (walk(6), "needs metres, and the clip's scale is relative"),
        (route(5), "no official metric for L3/Sequential Planning/Route in the format order"),
    ],
)
def test_plans_and_orders_are_left_out_with_a_reason(drafted, reason):
    assert reason in row(question_of(drafted.draft(0), (), clip())).reason


@pytest.fixture(scope="module")
def steered():
    return row(question_of(walk(6, step_fraction=None).draft(0), (), clip()))


def score_of(record: dict, response: str) -> float:
    return official.process_results(record, [response])["SpaTreeBench"]["score"]


def test_a_plan_in_metres_is_scored_where_the_official_arithmetic_leads(steered):
    hint = json.loads(steered["hint"])
    assert hint["0->1"] == {"translation_step_size": 0.2, "rotation_step_size": math.radians(5.0)}
    start, goal = hint["optimal_rel_pose"]
    assert start == [0, 0, 0, 0, 0, 0, 1] and goal[:3] == pytest.approx([-0.2, 0.0, 0.8])
    assert json.loads(steered["answer"]) == {"actions": ["A", "W", "→"], "step_nums": [1, 4, 2]}
    assert score_of(steered, right_response(steered)) == pytest.approx(1.0, abs=1e-12)


def test_a_plan_is_asked_for_in_keys_for_names_are_not_read(steered):
    assert (
        'write "D" for Truck Right, "A" for Truck Left' in steered["question"] and "Gripper" not in steered["question"]
    )
    named = '{"actions": ["Truck Left", "Dolly In", "Pan Right"], "step_nums": [1, 4, 2]}'
    other = '{"actions": ["D", "W", "→"], "step_nums": [1, 4, 2]}'
    assert score_of(steered, named) < 0.3
    assert 0.3 < score_of(steered, other) < 0.9


def test_the_report_says_what_right_answers_get(exported, rows):
    oracle = json.loads((exported[1] / "export_report.json").read_text())["oracle"]
    assert set(oracle) == {question.ability for question in exported[0].questions}
    for leaf, entry in oracle.items():
        assert entry["rows"] == sum(tags(leaf)["spatree2"] == json.loads(r["extra_info"])["spatree2"] for r in rows)
        assert entry["score"] == (1.0 if entry["rows"] else None)
    assert oracle["L1/Relation/Correspondence"]["why"] == {
        "left out: no official metric for L1/Relation/Correspondence in the format point": 4
    }
    assert oracle["L1/Geometry/Distance"]["why"] == {}


def test_a_leaf_where_right_answers_fall_short_is_named(rows):
    gravity = next(r for r in rows if json.loads(r["extra_info"])["metricfunc"] == "gravityeval")
    report = OracleReport()
    report.answer("L1/Orientation/Gravity", gravity)
    report.answer(
        "L1/Orientation/Gravity", {**gravity, "hint": json.dumps({**json.loads(gravity["hint"]), "roll_unc": 0.0})}
    )
    assert report.by_leaf()["L1/Orientation/Gravity"] == {
        "rows": 2,
        "score": round(5 / 6, 9),
        "why": {"the official gravity score is 0 where σ is 0": 1},
    }


def test_small_numbers_are_answered_without_exponents(exported):
    question = next(q for q in exported[0].questions if q.format == "numeric")
    small = row(replace(question, answer=0.00001234))
    assert right_response(small) == "0.00001234" and score_of(small, right_response(small)) == 1.0


def test_tags_are_names_of_the_official_tree_without_blanks():
    found = [tags(leaf) for leaf in LEAVES]
    assert {tag["spatree2"] for tag in found} == TREE_LEAVES and len(found) == 27
    assert tags("L2/Understanding/Spatial Caption") == {
        "spatree0": "L2",
        "spatree1": "Underst.",
        "spatree2": "SpatialCaption",
    }
    assert not any(" " in value for tag in found for value in tag.values())
