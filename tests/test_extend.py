"""docs/extend.md, followed literally: its files become a package, its commands run, and its parts do what it says."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from spatial_engine.dataset.dataset import Dataset
from tests.films import texture

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r'```(?:python|toml) title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL))
(COMMANDS,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package stands, as a wheel installs it, and the commands have run."""
    import cv2

    folder = tmp_path_factory.mktemp("my-spatial")
    site = _install(folder)
    (folder / "photos").mkdir()
    for number in range(12):
        cv2.imwrite(str(folder / "photos" / f"{number:02}.png"), texture(number))
    (folder / "items.jsonl").write_text(json.dumps({"id": "1", "answer": "Left"}))
    (folder / "responses.jsonl").write_text(json.dumps({"id": "1", "text": "left "}))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}
    for line in COMMANDS.splitlines():
        words = [sys.executable, "-m", "spatial_engine", *shlex.split(line)[1:]]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        (folder / f"{words[3]}.txt").write_text(done.stdout)
    return folder


def _install(folder: Path) -> Path:
    """The package built as a wheel and unpacked, which installs it; where it lies, away from its sources."""
    source, site = folder / "source", folder / "site"
    (source / "my_spatial").mkdir(parents=True)
    (source / "my_spatial" / "__init__.py").touch()
    for name, text in FILES.items():
        (source / name).write_text(text, encoding="utf-8")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=source, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    return site


def test_expert_and_template_make_questions(tried: Path) -> None:
    questions = list(Dataset.open(tried / "dataset").questions)
    rolled = [question for question in questions if question.template == "rolled_photo"]
    assert len(rolled) == 2 and all(question.answer == "yes" for question in rolled)
    assert len({question.prompt for question in rolled}) == 2 and rolled[0].instructions == "Answer yes or no."
    assert all(question.provenance[0]["expert"] == "mounted_camera" for question in questions)
    assert rolled[0].margin == pytest.approx(0.2 / (0.01 / 0.995), rel=0.01)


def test_the_number_is_asked_for_in_its_unit(tried: Path) -> None:
    sizes = [q for q in Dataset.open(tried / "dataset").questions if q.template == "roll_size"]
    assert sizes and all(q.answer == pytest.approx(np.degrees(0.2), abs=0.1) for q in sizes)
    assert {(q.tolerance, q.unit) for q in sizes} == {(5.0, "deg")}


def test_the_puzzles_have_pictures_as_options_and_even_letters(tried: Path) -> None:
    made = Dataset.open(tried / "puzzles")
    questions = [q for q in made.questions if "quarters" in q.fact]
    assert len(questions) == 8 and all(q.has_pictures_as_options and len(q.options) == 4 for q in questions)
    assert len({*made.audit["letters"]["4"].values()}) == 1 and made.audit["dropped"] == {}
    assert all(f"{90 * q.fact['quarters']}°" in q.prompt for q in questions)
    licences = made.audit["licences"]
    records = {record["signals"][0]: record["questions"] for record in licences.pop("records")}
    assert records == {"Apache-2.0": len([*made.questions]) - 8, "unknown": 8}
    assert licences == {
        "footage": {"no footage": len([*made.questions])}, "signals": ["Apache-2.0", "unknown"], "commercial_ok": False
    }  # fmt: skip


def test_its_own_test_passes(tried: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "--noconftest", "-p", "no:cacheprovider", "test_rolled_photo.py"]
    path = os.pathsep.join([str(tried / "site"), str(ROOT)])
    subprocess.run(command, cwd=tried / "source", check=True, env={**os.environ, "PYTHONPATH": path})


@pytest.mark.parametrize("name", [name for name in FILES if name.removesuffix(".py") + ".toml" in FILES])
def test_a_template_takes_fifty_lines_at_most(name: str) -> None:
    assert len(FILES[name].splitlines()) <= 50


def test_the_exporter_writes_its_table(tried: Path) -> None:
    with (tried / "table" / "questions.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["id", "prompt", "answer"]
    assert len(rows) == 1 + len((tried / "dataset" / "questions.jsonl").read_text(encoding="utf-8").splitlines())


def test_the_scorer_scores(tried: Path) -> None:
    assert re.search(r"\b(1\.0+|100(\.0+)?)\b", (tried / "score.txt").read_text())
