"""The README's promises, kept: its commands, and the demo with what follows it, on the committed clip (long)."""

import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spatial_engine.dataset.dataset import Dataset
from tests.spatial_engine.fake_footage import write_folders

FULL = pytest.mark.long(sample=True)

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def run(folder: Path, *command: str) -> str:
    """What a command prints; the test fails with its errors if it fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment())
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment() -> dict[str, str]:
    """The checkout is importable, as it is where `make demo` runs; no window opens."""
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT), "DISPLAY": "", "WAYLAND_DISPLAY": ""}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which `make demo` has just run."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "examples").symlink_to(ROOT / "examples")
    printed = run(folder, sys.executable, "-m", "examples.demo")
    (folder / "printed.txt").write_text(printed, encoding="utf-8")
    shutil.copy(folder / "demo/dataset/questions.jsonl", folder / "questions.jsonl")
    yield folder


def audit(demo: Path) -> dict[str, object]:
    """The dataset's `audit.json`."""
    return dict(json.loads((demo / "demo/dataset/audit.json").read_text(encoding="utf-8")))


def questions(demo: Path) -> list[dict[str, object]]:
    """The dataset's questions."""
    return [question.to_json() for question in Dataset.open(demo / "demo/dataset").questions]


@FULL
def test_demo_asks_enough_over_all_leaves_and_nothing_wrong(demo: Path) -> None:
    record = audit(demo)
    assert record["questions"] >= 60 and record["facts"] >= 25
    assert record["truth"]["wrong"] == 0 and record["truth"]["right"] >= 25
    shares = {leaf: entry["share"] for leaf, entry in record["abilities"].items()}
    assert len(shares) >= 7 and max(shares.values()) <= 0.3, shares
    printed = (demo / "printed.txt").read_text(encoding="utf-8")
    assert f"{record['questions']} questions, {record['facts']} facts, 0 wrong" in printed


@FULL
def test_demo_s_truth_is_about_the_facts_that_were_written(demo: Path) -> None:
    assert sum(audit(demo)["truth"].values()) == len({q["fact_id"] for q in questions(demo)})


@FULL
def test_every_question_says_where_it_comes_from(demo: Path) -> None:
    for question in questions(demo):
        experts = {source["expert"] for source in question["provenance"]}
        assert experts and "renderer" not in experts, "the demo works on pixels alone"
        assert question["licence"]["footage"] == "Apache-2.0"
        assert (question["sigma"] is not None) != (question["margin"] is not None)
    tilts = [q for q in questions(demo) if q["template"] == "camera_tilt"]
    assert all(q["evidence"]["up_decided_by"] == "--upright" for q in tilts)


@FULL
def test_media_of_every_question_lie_in_the_data_set(demo: Path) -> None:
    for question in questions(demo):
        assert question["media"]
        assert all((demo / "demo/dataset" / medium["path"]).is_file() for medium in question["media"])


@FULL
def test_readme_snippet_prints_what_the_readme_shows(demo: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    printed = run(demo, sys.executable, "-c", code)
    found, promised = sorted(printed.strip().splitlines()), sorted(shown.strip().splitlines())
    assert [_words(line) for line in found] == [_words(line) for line in promised]
    for line, other in zip(found, promised, strict=True):
        for number, stated in zip(_NUMBER.findall(line), _NUMBER.findall(other), strict=True):
            slack = 0.05 if "." in stated else 1.0  # another machine's COLMAP may differ in the last digits
            assert float(number) == pytest.approx(float(stated), rel=0.05, abs=slack), "README shows other answers"


_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def _words(line: str) -> str:
    return re.sub(r"\s+", " ", _NUMBER.sub("#", line))


@FULL
def test_readme_commands_run(tmp_path: Path) -> None:
    """On footage of noise: what the commands make of real footage, the demo shows."""
    (block,) = re.findall(r"```sh\n(spatial-engine run .*?)```", README, re.DOTALL)
    names = {"VIDEOS": "videos", "OUT": "own", "STORE": "own/store", "DATASET": "own/dataset", "POSES": "path.txt"}
    write_folders(tmp_path / "videos", 1)
    (tmp_path / "path.txt").write_text("".join(f"{t / 10} 0 0 {t / 20} 0 0 0 1\n" for t in range(30)))
    for line in block.splitlines():
        words = [names.get(word, word) for word in shlex.split(line, comments=True)]
        run(tmp_path, sys.executable, "-m", *["spatial_engine" if w == "spatial-engine" else w for w in words])


@FULL
def test_readme_scores_a_model(demo: Path) -> None:
    (block,) = re.findall(r"```sh\n(spatial-engine serve-fake-model .*?)```", README, re.DOTALL)
    names = {"DATASET": "demo/dataset", "EVALUATION": "scored", "RESPONSES": "elsewhere.jsonl"}
    port = str(free_port())
    first, *others = [
        [names.get(word, word).replace("8765", port) for word in shlex.split(line, comments=True)[1:]]
        for line in block.splitlines()
    ]
    guesses = [json.dumps({"id": question["id"], "text": "The answer is B."}) for question in questions(demo)]
    (demo / "elsewhere.jsonl").write_text("\n".join(guesses))
    server = [sys.executable, "-m", "spatial_engine", *first[:-1], "--port", port]
    with subprocess.Popen(server, cwd=demo, stdout=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stdout is not None and serving.stdout.readline()
            for words in others:
                run(demo, sys.executable, "-m", "spatial_engine", *words)
        finally:
            serving.terminate()
    scored = json.loads((demo / "scored/fake/result.json").read_text(encoding="utf-8"))
    assert scored["overall"]["score"] == 1.0
    assert (demo / "scored/report/index.html").is_file()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.long
def test_workers_change_no_byte(demo: Path) -> None:
    """The demo worked in its own process."""
    run(demo, sys.executable, "-m", "spatial_engine", "generate", "demo/store", "-o", "again", "--workers", "2")
    assert (demo / "again/questions.jsonl").read_bytes() == (demo / "questions.jsonl").read_bytes()


def test_folder_docstrings_stand_in_the_readme() -> None:
    for folder in ("experts", "action_mapping", "templates", "spatial_engine"):
        source = (ROOT / folder / "__init__.py").read_text(encoding="utf-8")
        sentence = source.split('"""')[1].split("\n\n")[0].split("\n")[0]
        assert sentence in README, f"{folder}: {sentence}"
