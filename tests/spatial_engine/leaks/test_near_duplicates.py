"""Which questions ask the same of the same frames."""

from dataclasses import replace
from itertools import combinations

import pytest

from spatial_engine.leaks import near_duplicates as module
from spatial_engine.leaks.near_duplicates import near_duplicates
from spatial_engine.leaks.question_table import QuestionTable
from templates.question import Question
from tests.spatial_engine.leaks.asked import question

FRAMES = (7, 3, 3, 7, 5, 3, 9, 3, 7)
PAIRS = [(a, b) for a, b in combinations(range(len(FRAMES)), 2) if FRAMES[a] == FRAMES[b]]


def asked(n: int, frame: int, marks: dict[str, tuple[float, float]] | None = None, **more: object) -> Question:
    made = question(n, "clip", "yes_no", "yes", "Is it near?", **more)
    drawn = [{"text": text, "xy_px": [*xy_px]} for text, xy_px in (marks or {}).items()]
    return replace(made, media=[{**made.media[0], "frames": [frame], "marks": drawn}])


@pytest.mark.parametrize("at_once", [1, 1 << 16])
def test_each_pair_of_equal_frames_is_found_once(monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(module, "_PAIRS", at_once)
    table = QuestionTable.of(asked(n, frame) for n, frame in enumerate(FRAMES))
    assert [*map(tuple, near_duplicates(table).tolist())] == PAIRS
    assert len(near_duplicates(QuestionTable.of([]))) == len(near_duplicates(QuestionTable.of([asked(0, 1)]))) == 0


def test_other_frames_templates_texts_or_places_of_marks_are_other_questions() -> None:
    marks = {"A": (10.0, 10.0), "B": (200.0, 100.0)}
    same = [asked(0, 1, marks), asked(1, 1, dict(reversed(marks.items()))), asked(2, 1, marks | {"A": (12.0, 10.0)})]
    others = [
        asked(3, 2, marks),
        asked(4, 1, marks, template="other"),
        asked(5, 1, {"A": (10.0, 10.0), "C": (200.0, 100.0)}),
        asked(6, 1, {"A": (200.0, 100.0), "B": (10.0, 10.0)}),
        asked(7, 1, {"A": (10.0, 10.0)}),
        asked(8, 1),
    ]
    assert near_duplicates(QuestionTable.of([*same, *others])).tolist() == [[0, 1], [0, 2], [1, 2]]
