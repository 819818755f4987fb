"""docs/benchmarks.md says what the registry has, and its example of another package's benchmark works."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

import spatial_engine
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.benchmarks.benchmark import COLUMNS
from spatial_engine.evaluation.benchmarks.prepare import prepare
from spatial_engine.evaluation.benchmarks.registry import BENCHMARKS, benchmark_of
from spatial_engine.options import BenchmarkOptions
from spatial_engine.scoring.scorers import create_scorer
from tests.spatial_engine.evaluation.benchmarks.copies import OPTIONS, json_lines, picture_file

PAGE = (Path(str(spatial_engine.__file__)).parents[1] / "docs" / "benchmarks.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", BENCHMARKS.builtin)
def test_every_benchmark_is_in_the_table(name: str) -> None:
    benchmark = benchmark_of(name)
    paper = f"{benchmark.title} (arXiv {benchmark.paper})" if benchmark.paper else benchmark.title
    metric = f"`{benchmark.scorer}`" if benchmark.scorer else "accuracy"
    assert f"| `{name}` | {paper} | {metric} | {benchmark.layout} |" in PAGE
    assert not benchmark.scorer or create_scorer(benchmark.scorer).source
    human = benchmark.human
    assert human is None or f"| {benchmark.title} | {human.score:.3f} | {human.source} |" in PAGE


@pytest.mark.parametrize("field", COLUMNS)
def test_the_columns_are_those_of_the_code(field: str) -> None:
    assert f"| `{field}` | {', '.join(f'`{column}`' for column in COLUMNS[field])} |" in PAGE


def test_an_unknown_name_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"(?s)'vsibench'.*vsi_bench, site, mmsi_bench.*escher_bench"):
        prepare(tmp_path, tmp_path / "items", BenchmarkOptions(benchmark="vsibench"))


def test_the_documented_benchmark_of_another_package_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(block for block in PAGE.split("```python\n") if "class MyBench" in block)
    module = ModuleType("my_package_my_bench")
    exec(code.partition("```")[0], module.__dict__)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    point = EntryPoint(name="my_bench", value=f"{module.__name__}:MyBench", group=BENCHMARKS.group)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [point] if group == BENCHMARKS.group else [])
    row = {"id": 1, "question": "Where is it?", "options": OPTIONS, "label": "behind", "skill": "maps"}
    json_lines(tmp_path / "test.jsonl", [{**row, "image": picture_file(tmp_path, "images/1.png", 1)}])
    items = prepare(tmp_path, tmp_path / "out" / "items", BenchmarkOptions(benchmark="my_bench"))
    (question,) = items.questions
    assert question.answer == "D" and question.ability == "CR/MyBench/maps"
