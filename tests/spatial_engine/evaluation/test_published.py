"""A benchmark's own items, scored from two files by `score --as NAME` and by `score(..., scorer=NAME)`."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import spatial_engine as se
from spatial_engine.atomic_file import read_json
from spatial_engine.cli.main import app
from spatial_engine.errors import UsageError

ITEMS = [
    {"id": 0, "question_type": "object_counting", "ground_truth": "4"},
    {"id": 1, "question_type": "route_planning", "ground_truth": "B"},
    {"id": 2, "question_type": "object_rel_direction_easy", "ground_truth": "A"},
]
REPLIES = [{"id": 0, "prediction": "five", "answer": "4"}, {"id": "1", "text": "B. left"}]


def lines(path: Path, rows: list[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    return lines(tmp_path / "items.jsonl", ITEMS), lines(tmp_path / "replies.jsonl", REPLIES)


def test_scores_and_totals_are_written(files: tuple[Path, Path], tmp_path: Path) -> None:
    folder = se.score(*files, tmp_path / "out", scorer="vsi_bench_vlmevalkit")
    assert folder == tmp_path / "out" / "replies-vsi_bench_vlmevalkit"
    result = read_json(folder / "result.json")
    assert (result["scorer"], result["items"], result["missing"]) == ("vsi_bench_vlmevalkit", 3, 1)
    assert result["categories"] == {"object_counting": 0.6, "object_rel_direction_easy": 0, "route_planning": 1}
    assert result["score"] == pytest.approx(1.6 / 3)
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    assert [(row["id"], row["score"]) for row in rows] == [("0", 0.6), ("1", 1.0), ("2", 0.0)]
    assert rows[0]["prediction"] == 5 and rows[2]["missing"]  # the reply, not the `answer` beside it


def test_the_command_prints_categories_and_the_score(files: tuple[Path, Path], tmp_path: Path) -> None:
    arguments = ["score", *map(str, files), "--as", "vsi_bench_strict", "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert "object_rel_direction  0.0000" in done.output and "score                 0.5333  vsi_bench" in done.output
    assert CliRunner().invoke(app, [*arguments, "--name", "again"]).exit_code == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"replies-vsi_bench_strict", "again"}


def test_a_list_in_one_file_is_as_good_as_lines(files: tuple[Path, Path], tmp_path: Path) -> None:
    whole = tmp_path / "items.json"
    whole.write_text(
        json.dumps([{**{k: v for k, v in item.items() if k != "id"}, "index": item["id"]} for item in ITEMS])
    )
    replies = lines(tmp_path / "by_index.jsonl", [{"index": 0, "response": "4"}])
    result = read_json(se.score(whole, replies, tmp_path / "out", scorer="vsi_bench") / "result.json")
    assert result["categories"]["object_counting"] == 1 and result["missing"] == 2


@pytest.mark.parametrize(
    ("items", "scorer", "message"),
    [
        (ITEMS, "vsi_bnch", "no scorer is called 'vsi_bnch'"),
        (ITEMS, "site", "no field 'answer'"),
        ([*ITEMS, ITEMS[0]], "vsi_bench", "several items have the id 0"),
        ([{"question_type": "route_planning", "ground_truth": "B"}], "vsi_bench", "item 1 has no id"),
        (["B"], "vsi_bench", "holds no items"),
        ([], "vsi_bench", "holds no items"),
    ],
)
def test_what_cannot_be_scored(
    items: list[Any], scorer: str, message: str, files: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        se.score(lines(tmp_path / "odd.jsonl", items), files[1], tmp_path / "out", scorer=scorer)
    assert not (tmp_path / "out").exists()


def test_folders_and_files_that_are_something_else(files: tuple[Path, Path], tmp_path: Path) -> None:
    items, replies = files
    with pytest.raises(UsageError, match="is a folder"):
        se.score(tmp_path, replies, tmp_path / "out", scorer="vsi_bench")
    (tmp_path / "text").write_text("no JSON")
    with pytest.raises(UsageError, match="holds no JSON"):
        se.score(tmp_path / "text", replies, tmp_path / "out", scorer="vsi_bench")
    (tmp_path / "out" / "mine").mkdir(parents=True)
    with pytest.raises(UsageError, match="something else than published scores"):
        se.score(items, replies, tmp_path / "out", scorer="vsi_bench", name="mine")
    with pytest.raises(UsageError, match="no question has the id '7'"):
        se.score(items, lines(tmp_path / "other.jsonl", [{"id": 7, "text": "B"}]), tmp_path / "out", scorer="vsi_bench")
    with pytest.raises(UsageError, match="--as with a judge"):
        se.score(items, replies, tmp_path / "out", scorer="vsi_bench", judge=se.Judge(model="m", server=se.Server()))
