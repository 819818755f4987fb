import json

import numpy as np
import pytest

from spatial_engine.balance import Dealt
from spatial_engine.question_line import from_line, plain, question_of, to_line
from tests.spatial_engine.drafts import clip, closer, moves, ratio, same_point, tilt, which_map

DEALT = [
    Dealt(draft=closer(3, right=1), order=(1, 0)),
    Dealt(draft=which_map(2), order=(3, 1, 0, 2)),
    *(Dealt(draft=draft) for draft in (ratio(3), tilt(1), moves(2, True), same_point(4))),
]


@pytest.mark.parametrize("dealt", DEALT, ids=lambda dealt: dealt.draft.template + "-" + dealt.draft.format)
def test_a_line_is_read_back_as_it_was_written(dealt):
    question = question_of(dealt, clip())
    line = to_line(question)
    assert "\n" not in line and to_line(from_line(line)) == line
    assert list(json.loads(line)) == [field for field in question.__dataclass_fields__ if field != "extra"]


def test_the_letter_stands_where_the_right_option_was_dealt():
    question = question_of(DEALT[0], clip())
    assert question.options == ["Point B", "Point A"] and question.answer == "A" and question.value == "B"
    question = question_of(DEALT[1], clip())
    assert question.answer == "C" and len({*question.options}) == 4


def test_plain_values():
    value = {"a": np.float32(0.5), 1: (np.int64(2), float("inf")), "c": np.array([[1.0, np.nan]])}
    assert plain(value) == {"a": 0.5, "1": [2, None], "c": [[1.0, None]]}


def test_a_line_that_lacks_something_says_what():
    line = json.loads(to_line(question_of(DEALT[2], clip())))
    del line["sigma"], line["clip"]
    with pytest.raises(KeyError, match="clip, sigma"):
        from_line(json.dumps(line))
