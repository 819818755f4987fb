"""Our rows for the published benchmark, in its own task and under its own scorer."""

import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean

import pytest

import spatial_engine as se
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.export.spatialtree import right_response
from spatial_engine.scoring import official
from tests.accept_lmms.harness import LmmsEval

EXACT = 1e-9
SCORER = """
import json, sys
from lmms_eval.tasks.spatialtreebench import utils
pairs = json.load(sys.stdin)
print(json.dumps([utils.spatialtreebench_process_results(row, [said])["SpaTreeBench"]["score"] for row, said in pairs]))
"""
PLACE = "import lmms_eval, json; print(json.dumps(lmms_eval.__path__[0]))"


@pytest.fixture(scope="module", params=["generated", "drafted"])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    dataset: Dataset = request.getfixturevalue(request.param)
    return se.export(dataset, tmp_path_factory.mktemp("official") / "out", to="spatialtree")


@pytest.fixture(scope="module")
def rows(exported: Path) -> list[dict]:
    return [json.loads(line) for line in (exported / "test.jsonl").read_text(encoding="utf-8").splitlines()]


def test_right_answers_under_the_real_scorer(lmms: LmmsEval, exported: Path, rows: list[dict], tmp_path: Path) -> None:
    """What `export_report.json` says of an oracle is what the real scorer gives it."""
    scores = lmms.python(SCORER, [(row, right_response(row)) for row in rows], tmp_path)
    by_leaf = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        by_leaf[json.loads(row["extra_info"])["spatree2"]].append(score)
    told = json.loads((exported / "export_report.json").read_text())["oracle"]
    told = {leaf.rpartition("/")[2].replace(" ", ""): entry["score"] for leaf, entry in told.items() if entry["rows"]}
    assert {leaf: pytest.approx(fmean(found), abs=EXACT) for leaf, found in by_leaf.items()} == told
    print(f"\nright answers under the official scorer: {len(rows)} rows, mean {fmean(scores):.6f}")


@pytest.mark.parametrize("said", ["answer: A", "yes", "1.5", "{}", '{"actions": ["W", "→"], "step_nums": [3, 1]}'])
def test_other_answers_score_as_ours_do(lmms: LmmsEval, rows: list[dict], tmp_path: Path, said: str) -> None:
    """Where the reference draws at random it is left out here: we give the expectation."""
    ours = [official.process_results(row, [said], unsafe=True)["SpaTreeBench"] for row in rows]
    theirs = lmms.python(SCORER, [(row, said) for row in rows], tmp_path)
    drawn = ["expectation" in item.get("detail", {}) for item in ours]
    kept = [(item["score"], score) for item, score, by_chance in zip(ours, theirs, drawn, strict=True) if not by_chance]
    assert [score for score, _ in kept] == pytest.approx([score for _, score in kept], abs=EXACT)


def test_the_task_itself_runs_our_rows(lmms: LmmsEval, exported: Path, rows: list[dict], tmp_path: Path) -> None:
    task = Path(lmms.python(PLACE, None, tmp_path)) / "tasks" / "spatialtreebench" / "spatialtreebench.yaml"
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "ours.yaml").write_text(
        f"include: {task}\ntask: spatialtree_ours\ndataset_path: json\n"
        f"dataset_kwargs: {{data_files: {{test: {json.dumps(str(exported / 'test.jsonl'))}}}}}\n"
    )
    outcome = lmms.run(
        "spatialtree_ours",
        tmp_path / "tasks",
        tmp_path / "o",
        *("--model", "dummy", "--model_args", "response=answer: A"),
        SPATREEBENCH_MEDIA_ROOT=str(exported),
    )
    items = [official.process_results(row, ["answer: A"], unsafe=True) for row in rows]
    expected = official.aggregate(items, weights="hierarchy-json")["score"]
    assert outcome.results["SpaTreeBench,none"] == pytest.approx(expected, abs=EXACT)
    print(
        f"\nspatialtreebench, always A: root {expected:.6f}, equal to our official aggregate ({outcome.seconds:.0f} s)"
    )
