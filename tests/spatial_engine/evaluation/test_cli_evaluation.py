"""evaluate, score and serve-fake-model as a user types them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from spatial_engine.cli.main import main
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation.fake_server import FakeServer
from tests.spatial_engine.evaluation.chat_server import Does, serving, small_dataset

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(tmp_path_factory.mktemp("cli"))


@pytest.fixture(autouse=True)
def no_baselines(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are looked at elsewhere."""
    for module in ("evaluate", "score"):
        monkeypatch.setattr(f"spatial_engine.evaluation.{module}.write_baselines", lambda *_, **__: None)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run


def test_evaluate_says_what_it_took(command: Run, dataset: Dataset, tmp_path: Path) -> None:
    with FakeServer(dataset, "oracle") as fake:
        line = (
            "evaluate", dataset.path, "--model", "fake", "--base-url", fake.base_url, "-o", tmp_path / "out",
            "--price-in", 3, "--price-out", 15, "--temperature", "default",
        )  # fmt: skip
        code, out, _ = command(*line, "--dry-run")
        total = len(fake.model)
        assert code == 0 and f"answered already: 0; in the cache: 0; to be asked: {total}" in out
        assert "tokens, estimated" in out and "cost, estimated" in out and not fake.counts
        code, out, err = command(*line)
        assert code == 0 and out.startswith("fake: score") and "tokens in" in out and "cost" in out
        assert f"asking {total}/{total} (100 %)" in err and len(err.splitlines()) <= 20
        assert "all runs of" in out and "> fake  1.000" in out
        code, out, err = command(*line)
        assert code == 0 and f"{total} of {total} are answered already" in err
        assert fake.counts["answered"] == total
    assert "temperature" not in json.loads((tmp_path / "out" / "fake" / "run.json").read_text())["settings"]


def test_failures_are_1_and_say_what_to_do(command: Run, dataset: Dataset, tmp_path: Path) -> None:
    def sick(number: int, request: dict) -> Does:
        return Does(status=503, error="away\x1b[31m") if number else Does()

    with serving(sick) as (url, _):
        code, out, _ = command(
            "evaluate", dataset.path, "--model", "m", "--base-url", url, "-o", tmp_path, "--max-retries", 0
        )
    assert code == 1 and "503: away\\x1b[31m" in out and "the same command again" in out


@pytest.mark.parametrize(
    ("options", "code", "cause"),
    [
        (["--base-url", "127.0.0.1:80"], 2, "http://127.0.0.1:8000/v1"),
        (["--temperature", "warm"], 2, "--temperature warm"),
        (["--hints", "smell"], 2, "smell"),
        (["--judge-base-url", "http://x/v1"], 2, "--judge-model NAME"),
        (["--replay"], 2, "--cache DIR"),
        (["--price-in", "3"], 2, "--price-in without --price-out"),
        (["--base-url", ""], 2, "no server is named"),
        (["--timeout", "0"], 2, "are positive"),
        (["--name", "oracle"], 2, "baseline's name"),
        (["--max-retries", "0"], 3, "no connection"),
    ],
)
def test_wrong_options(
    command: Run, dataset: Dataset, tmp_path: Path, options: list[str], code: int, cause: str
) -> None:
    line = ["evaluate", dataset.path, "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "-o", tmp_path]
    left, _, err = command(*line, *options)
    assert left == code and cause in err and "try: " in err


def test_score_says_what_it_took(command: Run, dataset: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "theirs.jsonl"
    ids = [question.id for question in dataset.questions]
    file.write_text(json.dumps({"question_id": ids[0], "answer": "A"}) + "\nno json\n")
    code, _, err = command("score", dataset.path, file, "-o", tmp_path / "out")
    assert code == 2 and "line 2: not JSON" in err and "--skip-bad-lines" in err
    code, out, err = command("score", dataset.path, file, "-o", tmp_path / "out", "--skip-bad-lines", "--name", "x")
    assert code == 0 and "the text from 'answer'" in err and f"{len(ids) - 1} answers missing" in err
    assert f"missing {len(ids) - 1}" in out and (tmp_path / "out" / "x" / "result.json").is_file()


def test_serve_until_ctrl_c(command: Run, dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(server: FakeServer) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FakeServer, "serve", interrupted)
    code, out, _ = command("serve-fake-model", dataset.path, "--behaviour", "wrong", "--port", 0)
    assert code == 0 and out.startswith("wrong: ") and "questions at http://127.0.0.1:" in out
    assert "spatial-engine evaluate" in out
