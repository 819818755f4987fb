"""`spatial-engine audit-labels`, whole."""

import json
import shutil

import numpy as np
import pytest

import spatial_engine as se
from spatial_engine.cli.main import main
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.trust.audit_pages import default_out
from tests.spatial_engine.report.pages_in_a_browser import Links
from tests.spatial_engine.trust.known_room import read_poses, write_poses


@pytest.fixture
def dataset(labels, tmp_path):
    shutil.copytree(labels.path, tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture
def sound(monkeypatch):
    """Nobody looks whether truth is sound: that takes a second."""
    monkeypatch.setattr("spatial_engine.sequences.sequence.examine", lambda *_: ())


def audit(*arguments):
    with pytest.raises(SystemExit) as ended:
        main(["audit-labels", *map(str, arguments)])
    return ended.value.code


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def spoil(dataset, template):
    """Deals the right letter of one choice of a template wrongly; returns its fact."""
    lines = [json.loads(line) for line in (dataset / "questions.jsonl").read_text().splitlines()]
    wrong = next(line for line in lines if line["template"] == template and line["format"] == "choice")
    wrong["answer"] = "B" if wrong["answer"] == "A" else "A"
    (dataset / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return wrong["fact_id"]


@pytest.mark.long(sample=True)
def test_a_planted_error_is_found_and_written_everywhere(dataset, room, capsys, sound):
    fact = spoil(dataset, "camera_turn")
    assert audit(dataset, "--truth", room) == 0
    printed = capsys.readouterr().out
    assert "L1 Ego" in printed and "look at:" in printed
    out = default_out(dataset)
    record = json.loads((out / "truth.json").read_text())
    leaf = record["truth"]["leaves"]["L1/Motion/Ego"]
    assert leaf["facts"]["wrong"] == 1 and leaf["facts"]["bound"] > leaf["facts"]["rate"] > 0
    assert record["truth"]["all"]["facts"]["wrong"] == 1 and record["agreement"] is None
    assert record["worst"][0]["fact_id"] == fact and record["worst"][0]["word"] == "wrong"
    assert record["truth"]["extent"]["minutes"] == pytest.approx(1.4 / 60)
    words = [json.loads(line)["word"] for line in (out / "labels.jsonl").read_text().splitlines()]
    assert words.count("wrong") == 1 and len(words) == Dataset.open(dataset).audit["questions"]
    known = Dataset.open(dataset).audit
    assert known["truth"]["wrong"] == 1 and known["truth_detail"]["source"].startswith("known room")
    assert "1 are wrong" in (dataset / "README.md").read_text()
    links = Links()
    page = (out / "index.html").read_text()
    links.feed(page)
    assert "<svg" in page and "within 1.00 σ" in page
    pictures = [link for link in links.found if link.startswith("media/")]
    assert pictures and all((out / link).is_file() for link in pictures)
    assert not any(link.startswith(("http", "//")) for link in links.found)
    before = files(out), files(dataset)
    assert audit(dataset, "--truth", room) == 0
    assert (files(out), files(dataset)) == before


@pytest.mark.long(sample=True)
def test_python_writes_what_the_command_writes(dataset, room, tmp_path, sound):
    assert audit(dataset, "--truth", room) == 0
    found = se.audit_labels(dataset, str(room), tmp_path / "out")
    assert found.truth.all.facts.wrong == 0 < found.truth.all.facts.right
    assert files(tmp_path / "out") == files(default_out(dataset))


@pytest.mark.long(sample=True)
def test_shifted_truth_is_unsound_and_named(dataset, room, tmp_path, capsys):
    shutil.copytree(room, tmp_path / "off")
    write_poses(tmp_path / "off", np.roll(read_poses(room), 6, axis=0))
    spoil(dataset, "camera_turn")
    assert audit(dataset, "--truth", tmp_path / "off", "-o", tmp_path / "out") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "unsound, 14 frames are not counted: poses do not fit the pictures" in printed
    record = json.loads((tmp_path / "out" / "truth.json").read_text())
    facts = record["truth"]["all"]["facts"]
    assert facts["wrong"] == 0 and facts["undecidable"] > 10, "what needs no pose is still decided"
    assert record["sequences"][0]["unsound"] == 14
    assert "frames are not counted" in (tmp_path / "out" / "index.html").read_text()


def test_agreement_is_counted_separately(dataset, room, tmp_path, sound):
    shutil.copytree(room, tmp_path / "sfm")
    with (tmp_path / "sfm" / "sequence.yaml").open("a") as manifest:
        manifest.write("truth: agreement\n")
    before = (dataset / "audit.json").read_bytes()
    assert audit(dataset, "--truth", tmp_path / "sfm") == 0
    record = json.loads((default_out(dataset) / "truth.json").read_text())
    assert record["truth"] is None and record["agreement"]["all"]["facts"]["right"] > 10
    assert (dataset / "audit.json").read_bytes() == before


def test_what_cannot_be_used_is_named(dataset, room, tmp_path, capsys):
    assert audit(dataset, "--truth", tmp_path / "nowhere") == 2
    assert "no sequence is of a clip of the dataset" in capsys.readouterr().err
    shutil.copytree(room, tmp_path / "other")
    (tmp_path / "other" / "images" / "000.png").write_bytes((room / "images" / "001.png").read_bytes())
    assert audit(dataset, "--truth", tmp_path / "other") == 2
    assert "not in it: known room" in capsys.readouterr().err
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "diary.txt").write_text("mine")
    assert audit(dataset, "--truth", room, "-o", tmp_path / "taken") == 2
    assert audit(tmp_path, "--truth", room) == 2


def test_one_bad_sequence_of_several_costs_only_itself(dataset, room, tmp_path, capsys, sound):
    shutil.copytree(room, tmp_path / "bad")
    (tmp_path / "bad" / "sequence.yaml").write_text("name: [")
    assert audit(dataset, "--truth", f"{tmp_path / 'bad'}", f"{room}={room / 'sequence.yaml'}") == 1
    assert "failed" in capsys.readouterr().out
    (out,) = [default_out(dataset)]
    assert json.loads((out / "truth.json").read_text())["truth"]["all"]["facts"]["right"] > 10
    assert len(json.loads((out / "truth.json").read_text())["errors"]) == 1
