"""A table of parts says what a table of all questions says, whether the parts were filed or not."""

import numpy as np
import pytest

from spatial_engine.dataset.array_file import read_arrays, write_arrays
from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.leaks.question_table import QuestionTable
from tests.spatial_engine.leaks.asked import all_fair, scenes_of

QUESTIONS = all_fair(0, 60)


@pytest.mark.parametrize("ends", [[len(QUESTIONS)], [100, 101, 300, len(QUESTIONS)]])
def test_filed_parts_give_the_same_audit(tmp_path, ends):
    def filed(number, questions):
        write_arrays(tmp_path / f"{number}", QuestionTable.of(questions).to_record())
        return QuestionTable.from_record(read_arrays(tmp_path / f"{number}"))

    parts = [QUESTIONS[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    table = QuestionTable.joined(
        (filed(*part) for part in enumerate(parts)), read=lambda rows: [QUESTIONS[row] for row in rows]
    )
    scenes = scenes_of(QUESTIONS)
    more = {"scenes": scenes, "splits": {"train": sorted(scenes)[:20], "test": sorted(scenes)[20:]}, "seed": 0}
    assert leak_audit(table, **more) == leak_audit(QuestionTable.of(QUESTIONS), **more)


def test_parts_joined_some_at_a_time_are_those_joined_at_once(monkeypatch):
    def joined():
        parts = (QuestionTable.of(QUESTIONS[start : start + 20]) for start in range(0, len(QUESTIONS), 20))
        return QuestionTable.joined(parts, read=lambda rows: [])

    at_once = joined()
    monkeypatch.setattr("spatial_engine.leaks.question_table._AT_ONCE", 3)
    record, expected = joined().to_record(), at_once.to_record()
    assert len(at_once) == len(QUESTIONS)
    assert all(np.array_equal(record[name], expected[name]) for name in ("id", "shown", "frames"))
    assert str(record) == str(expected)


def test_a_part_alone_reads_no_words(tmp_path):
    part = QuestionTable.from_record(QuestionTable.of(QUESTIONS[:2]).to_record())
    with pytest.raises(RuntimeError, match="cannot read questions"):
        part.read([0])
    assert len(part) == 2 and part.template.counts() == {"t choice": 2}


def test_columns_of_texts_and_of_unequal_rows_take_rows():
    table = QuestionTable.of(QUESTIONS)
    rows = np.array([5, 0, 61])
    taken = table.possible.take(rows)
    assert taken.counts.tolist() == table.possible.counts[rows].tolist() == [4, 4, 2]
    assert taken.values[4:8].tolist() == table.possible.values[:4].tolist()
    assert [*table.format.counts()] == sorted(table.format.texts) and table.format.first(rows[2:]) == "yes_no"
