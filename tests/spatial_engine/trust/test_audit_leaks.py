"""A model that was evaluated blind is one more baseline; the commands."""

import json

import pytest

from spatial_engine.atomic_file import write_json
from spatial_engine.cli.main import main
from spatial_engine.dataset.split import split
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.leaks.leak_audit import leak_audit
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.trust.audit_leaks import blind_run
from tests.spatial_engine.dataset.test_split import three_a_clip, written
from tests.spatial_engine.leaks.asked import fair_choice, made, scenes_of


def run_of(folder, questions, right, **record):
    folder.mkdir()
    write_json(folder / "run.json", {"name": "m", "blind": True, "baseline": False, **record})
    with (folder / "scores.jsonl").open("w") as lines:
        for n, q in enumerate(questions):
            item = ScoredItem(
                id=q.id, rotation=0, ability=q.ability, format=q.format, template=q.template, fact_id=q.fact_id,
                clip=q.clip, status="answered", response="A", extracted="A", how="rules", right=right(n),
                score=float(right(n)), chance=0.25, window_s=None, window_frames=None,
            )  # fmt: skip
            lines.write(f"{json.dumps(vars(item))}\n")
    return folder


def audited(questions, model):
    scenes, table = scenes_of(questions), QuestionTable.of(questions)
    return leak_audit(table, scenes=scenes, splits={"train": sorted(scenes)}, seed=0, model=blind_run(table, model))


def test_a_blind_model_that_is_often_right_is_a_leak(tmp_path):
    questions = made(fair_choice)
    knowing = audited(questions, run_of(tmp_path / "a", questions, lambda n: n % 10 < 6))
    assert {leak["baseline"] for leak in knowing["found"]} == {"model"}
    assert knowing["baselines"]["model"]["overall"]["accuracy"] == 0.6
    assert audited(questions, run_of(tmp_path / "b", questions, lambda n: n % 4 == 0))["found"] == []


def test_runs_that_will_not_do(tmp_path):
    questions = made(fair_choice, 10)
    with pytest.raises(UsageError, match="not the folder of a run"):
        audited(questions, tmp_path)
    with pytest.raises(UsageError, match="saw the pictures"):
        audited(questions, run_of(tmp_path / "seeing", questions, bool, blind=False))
    with pytest.raises(UsageError, match="none of these questions"):
        audited(made(fair_choice, 20)[10:], run_of(tmp_path / "other", questions, bool))


def test_commands(tmp_path, capsys):
    written(tmp_path / "d", *three_a_clip(8))
    with pytest.raises(SystemExit) as done:
        main(["leaks", str(tmp_path / "d")])
    assert done.value.code == 0 and "8 photos compared: 0 pairs of clips share some" in capsys.readouterr().out
    with pytest.raises(SystemExit) as done:
        main(["split", str(tmp_path / "d"), "-o", str(tmp_path / "out"), "--by", "scene", "--commercial-ok"])
    assert done.value.code == 0 and "written:" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "out").iterdir()} == set(split(tmp_path / "d", tmp_path / "p").parts)
    with pytest.raises(SystemExit) as done:
        main(["leaks", str(tmp_path)])
    assert done.value.code == 2
