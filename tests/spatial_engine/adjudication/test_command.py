import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from spatial_engine.adjudication.server import AdjudicationServer
from spatial_engine.cli import main as cli
from spatial_engine.dataset.dataset import Dataset
from tests.spatial_engine.adjudication.sessions import ask, judge
from tests.spatial_engine.interrupts import heed_interrupts


@pytest.fixture
def copy(dataset_path, tmp_path):
    shutil.copytree(dataset_path, tmp_path / "d")
    return tmp_path / "d"


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        cli.main(["adjudicate", *map(str, arguments)])
    told = capsys.readouterr()
    return ended.value.code, " ".join((told.out + told.err).split())


def test_summary_and_disagreements(copy, dataset, capsys):
    assert run(capsys, copy, "--summary") == (0, "no question of this dataset has been judged yet")
    ids = [question.id for question in dataset.questions][:3]
    judge(Dataset.open(copy), "ann", dict.fromkeys(ids, "right"))
    judge(Dataset.open(copy), "bob", dict.fromkeys(ids, "right") | {ids[0]: "wrong"})
    code, told = run(capsys, copy, "--summary")
    assert code == 0 and "3 questions judged by 2" in told and "ann and bob" in told and "1 disputed" in told
    assert '"human": {' in (copy / "audit.json").read_text()
    code, told = run(capsys, copy, "--disagreements")
    assert code == 0 and ids[0] in told and "bob says wrong: so says bob" in told and "1 disagreement;" in told


def test_label_studio_options(copy, tmp_path, capsys):
    code, told = run(capsys, copy, "--to-label-studio", tmp_path / "t.json", "--sample", "2")
    assert code == 0 and (tmp_path / "t.json").is_file() and (tmp_path / "t.config.xml").is_file()
    code, told = run(capsys, copy, "--from-label-studio", tmp_path / "t.json")
    assert code == 0 and "0 verdicts added" in told


def test_errors_name_cause_and_remedy(copy, tmp_path, capsys):
    for given, cause in (
        ((tmp_path / "none",), "is not a dataset"),
        ((copy, "--leaf", "L9"), "no such question"),
        ((copy, "--annotator", "../x"), "cannot name a file"),
        ((copy, "--annotator", "cat", "--disagreements"), "nothing left"),
        ((copy, "--from-label-studio", tmp_path / "none.json"), "No such file"),
    ):
        code, told = run(capsys, *given)
        assert code in (2, 3) and cause in told and "try:" in told


def test_it_serves_saves_and_folds_in(copy):
    command = [sys.executable, "-m", "spatial_engine", "adjudicate", str(copy), "--port", "0", "--sample", "3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=heed_interrupts)
    try:
        address = re.search(r"http://127\.0\.0\.1:(\d+)/([\w-]+)/", process.stdout.readline())

        class Server:
            port, token = int(address[1]), address[2]

        id = json.loads(ask(Server, "GET", "screen")[2])["item"]["id"]
        ask(Server, "POST", "answer", {"id": id, "text": None})
        ask(Server, "POST", "verdict", {"id": id, "verdict": "undecided", "note": "dark"})
        saved = (copy.with_name("d.adjudication") / "me.jsonl").read_text()
        assert saved.count("\n") == 2 and '"undecided"' in saved
        os.kill(process.pid, signal.SIGINT)
        assert "1 question judged by 1" in process.communicate(timeout=20)[0] and process.returncode == 0
    finally:
        process.kill()
        process.communicate()
    assert '"undecided": 1' in (copy / "audit.json").read_text()


def test_a_third_person_is_shown_what_others_disagree_on(copy, capsys, monkeypatch):
    ids = [question.id for question in Dataset.open(copy).questions][:4]
    judge(Dataset.open(copy), "ann", dict.fromkeys(ids, "right"))
    judge(Dataset.open(copy), "bob", dict.fromkeys(ids, "right") | {ids[0]: "wrong"})

    def work(server):
        assert list(server.session.questions) == [ids[0]]
        server.session.answer(ids[0], None)
        server.session.judge(ids[0], "right", "")
        raise KeyboardInterrupt

    monkeypatch.setattr(AdjudicationServer, "serve", work)
    code, told = run(capsys, copy, "--annotator", "cat", "--disagreements", "--port", "0")
    assert code == 0 and "cat: 1 question; open http://127.0.0.1:" in told and "4 questions judged by 3" in told
    assert '"third": true' in (copy.with_name("d.adjudication") / "cat.jsonl").read_text()
    code, told = run(capsys, copy, "--annotator", "cat", "--disagreements", "--port", "0")
    assert code == 2 and "nothing left" in told
