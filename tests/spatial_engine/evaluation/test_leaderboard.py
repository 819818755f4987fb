"""The few numbers of all runs that a command ends with."""

import json
from pathlib import Path

import pytest

from spatial_engine.evaluation.result import METHOD
from spatial_engine.evaluation.summary import ranked_runs, show_leaderboard


def run(out: Path, name: str, score: float | None, *, baseline: bool = False) -> None:
    folder = out / name
    folder.mkdir(parents=True)
    overall = {"score": score, "interval": [0.1, 0.9] if score else None, "facts": 7}
    (folder / "run.json").write_text(json.dumps({"baseline": baseline}))
    (folder / "scores.jsonl").touch()
    (folder / "result.json").write_text(json.dumps({"method": METHOD, "overall": overall}))


def test_best_first_and_baselines_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, score in (("worse", 0.25), ("better", 0.5), ("none", None)):
        run(tmp_path, name, score)
    run(tmp_path, "oracle", 1.0, baseline=True)
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "run.json").write_text("{}")
    assert [run.name for run in ranked_runs(tmp_path)] == ["better", "worse", "none", "oracle"]
    show_leaderboard(tmp_path, "worse")
    lines = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in lines[1:]] == [
        "better 0.500 0.100 to 0.900 7 facts",
        "> worse 0.250 0.100 to 0.900 7 facts",
        "none nothing scored 7 facts",
        "oracle 1.000 0.100 to 0.900 7 facts baseline",
    ]


def test_of_many_runs_the_first_and_the_one_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(30):
        run(tmp_path, f"m{number:02}", 1.0 - number / 100)
    show_leaderboard(tmp_path, "m29")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 15 and lines[-2].startswith("> m29") and "and 17 more" in lines[-1]
