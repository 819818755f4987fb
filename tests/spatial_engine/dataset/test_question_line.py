import json
from dataclasses import replace

import numpy as np
import pytest

from spatial_engine.dataset.question_line import from_line, plain, question_of, to_line
from templates.answers import Plan
from templates.answers.registry import recorded_answer
from tests.spatial_engine.drafts import clip, closer, moves, ratio, route, same_point, tilt, walk, which_map

ASKED = [
    (closer(3, right=1), (1, 0)),
    (which_map(2), (3, 1, 0, 2)),
    *(
        (asked, ())
        for asked in (ratio(3), tilt(1), moves(2, True), same_point(4), route(5), walk(6), walk(6, step_fraction=None))
    ),
]
QUESTIONS = [question_of(asked.draft(0), order, clip()) for asked, order in ASKED]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.template + "-" + question.format)
def test_a_line_is_read_back_as_it_was_written(question):
    line = to_line(question)
    assert "\n" not in line and to_line(from_line(line)) == line
    assert list(json.loads(line)) == [
        field for field in question.__dataclass_fields__ if field not in ("hints", "extra")
    ]


def test_the_letter_is_that_of_the_right_option():
    question = QUESTIONS[0]
    assert question.options == ["Point B", "Point A"] and question.answer == "A" and question.value == "B"
    question = QUESTIONS[1]
    assert question.answer == "C" and len({*question.options}) == 4


def test_plain_values():
    value = {"a": np.float32(0.5), 1: (np.int64(2), float("inf")), "c": np.array([[1.0, np.nan]])}
    assert plain(value) == {"a": 0.5, "1": [2, None], "c": [[1.0, None]]}


def test_a_line_without_a_key_names_it():
    line = json.loads(to_line(QUESTIONS[2]))
    del line["sigma"], line["clip"]
    with pytest.raises(ValueError, match="clip, sigma"):
        from_line(json.dumps(line))


@pytest.mark.parametrize("step_fraction", [8, None])
def test_a_plan_is_rebuilt_from_its_line(step_fraction):
    written = walk(6, step_fraction).draft(0)
    question = from_line(to_line(question_of(written, (), clip())))
    assert question.value["dolly"] == pytest.approx(3.9) and question.sigma["truck"] == pytest.approx(0.1)
    assert question.tolerance == 1 and question.unit == "steps"
    rebuilt = recorded_answer(question)
    assert isinstance(rebuilt, Plan) and isinstance(written.answer, Plan)
    assert rebuilt.step_fraction == step_fraction
    np.testing.assert_array_equal(rebuilt.counts, written.answer.counts)
    np.testing.assert_allclose(rebuilt.step, written.answer.step)
    np.testing.assert_allclose(rebuilt.amounts, written.answer.amounts, atol=1e-12)
    assert rebuilt.p_right() == pytest.approx(written.answer.p_right(), abs=1e-9)


@pytest.mark.parametrize("asked", [ratio(3), tilt(1), same_point(4), walk(6), route(5)], ids=lambda a: a.format)
def test_the_factor_of_the_origin_scales_sigma_and_nothing_else(asked):
    scaled = replace(asked, origin=replace(asked.origin, sigma_factor=0.5))
    before, after = (question_of(each.draft(0), (), clip()) for each in (asked, scaled))
    assert replace(after, sigma=before.sigma) == before
    numbers = [[*one.values()] if isinstance(one, dict) else [one] for one in (before.sigma, after.sigma)]
    for one, other in zip(*numbers, strict=True):
        assert other == (None if one is None else pytest.approx(one / 2))


def test_an_order_is_rebuilt_from_its_line():
    question = from_line(to_line(question_of(route(5).draft(0), (), clip())))
    assert question.answer == [3, 5, 2, 4] and question.scorer == "label"
    assert recorded_answer(question) == route(5).draft(0).answer


def test_the_text_is_the_instructions_and_then_the_prompt():
    held = QUESTIONS[3]
    assert held.instructions and held.text == f"{held.instructions}\n{held.prompt}"
    assert "{" in held.instructions, "braces stand for themselves"
    bare = QUESTIONS[0]
    assert bare.instructions == "" and bare.text == bare.prompt


@pytest.mark.parametrize(
    "path",
    ["../secret.jpg", "/etc/passwd", "media/../../secret", "media/a/../../b", "media/.hidden", "media\\..\\b", 7],
)
def test_pictures_never_lie_outside_the_data_set(path):
    line = json.loads(to_line(next(question for question in QUESTIONS if question.media)))
    line["media"][0]["path"] = path
    with pytest.raises(ValueError, match="a picture cannot lie at"):
        from_line(json.dumps(line))
    hint = {"kind": "depth", "text": "", "pictures": [{"path": path}]}
    line = json.loads(to_line(QUESTIONS[0])) | {"hints": [hint]}
    with pytest.raises(ValueError, match="a picture cannot lie at"):
        from_line(json.dumps(line))
