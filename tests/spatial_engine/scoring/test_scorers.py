"""Scorers by name: the built-in ones, one of a package of its own, and the table of docs/scoring.md."""

import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

import spatial_engine
from spatial_engine.errors import UsageError
from spatial_engine.scoring.scorers import SCORERS, Item, Scorer, create_scorer, item_id, score_items
from templates.answers.score import Score

DOCS = Path(str(spatial_engine.__file__)).parents[1] / "docs" / "scoring.md"


class EchoBench(Scorer):
    """A benchmark with nothing but defaults."""

    source: ClassVar[str] = "the answer, word for word"
    fields: ClassVar[Mapping[str, str]] = {"answer": "a word"}

    def score(self, item: Item, response: str) -> Score:
        """1 for the word."""
        return Score(value=float(response.strip() == item["answer"]))

    def category(self, item: Item) -> str:
        """By the first letter."""
        return str(item["answer"])[:1]


@pytest.mark.parametrize("name", SCORERS.builtin)
def test_builtin_scorers_say_what_they_need(name: str) -> None:
    scorer = create_scorer(name)
    assert scorer.source and scorer.fields and all(scorer.fields.values())
    assert scorer.total([]).score in (None, 0)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"(?s)vsi_bnch.*spatialtree, .*vsi_bench, "):
        create_scorer("vsi_bnch")


def test_the_mean_is_taken_of_all_and_by_category() -> None:
    items = [{"id": "a", "answer": "left"}, {"id": "b", "answer": "right"}, {"id": "c", "answer": "lift"}]
    scored, totals = score_items(EchoBench(), items, {"a": "left", "b": "left"})
    assert [one.score.value for one in scored] == [1, 0, 0] and totals.score == pytest.approx(1 / 3)
    assert totals.categories == {"l": 0.5, "r": 0} and scored[2].score.detail == {"missing": True}


def test_an_item_without_a_field_names_it_and_what_it_holds() -> None:
    with pytest.raises(UsageError, match=r"(?s)item 7 has no field 'ground_truth'.*question_type: one of"):
        score_items(create_scorer("vsi_bench"), [{"id": 7, "question_type": "route_planning"}], {})


def test_ids() -> None:
    assert [item_id(item, 1) for item in ({"index": 3}, {"pid": "x", "id": 0})] == ["3", "0"]
    with pytest.raises(UsageError, match=r"item 4 has no id"):
        item_id({"id": None, "answer": "A"}, 4)


def table() -> str:
    """All scorers in markdown."""
    lines = ["| `--as` | what is scored | fields of an item |", "|---|---|---|"]
    for name in SCORERS.builtin:
        scorer = create_scorer(name)
        lines.append(f"| `{name}` | {scorer.source} | {', '.join(f'`{field}`' for field in scorer.fields)} |")
    return "\n".join(lines)


def test_the_documented_table_is_the_registry() -> None:
    assert table() in DOCS.read_text(encoding="utf-8")


def test_the_documented_scorer_of_another_package_works(monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(block for block in DOCS.read_text(encoding="utf-8").split("```python\n") if "class MyBench" in block)
    module = ModuleType("my_package_my_bench")
    exec(code.partition("```")[0], module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    point = EntryPoint(name="my_bench", value=f"{module.__name__}:MyBench", group=SCORERS.group)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == SCORERS.group else [])
    item = {"id": 1, "options": ["left", "right"], "answer": "B"}
    scored, totals = score_items(create_scorer("my_bench"), [item, {**item, "id": 2}], {"1": "**B**", "2": "A"})
    assert [one.score.value for one in scored] == [1, 0] and totals.score == 0.5
    with pytest.raises(UsageError, match="my_bench"):
        create_scorer("your_bench")
