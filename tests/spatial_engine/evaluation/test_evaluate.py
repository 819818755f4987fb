"""Asking a model: what is paid for is kept, whatever the server and the machine do."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import BusyError, SetupError, UsageError
from spatial_engine.evaluation.evaluate import evaluate, plan
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.evaluation.responses import ResponseFile
from spatial_engine.evaluation.runs import FinishedRun
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.options import Prices, RequestOptions, Server
from tests.spatial_engine.evaluation.chat_server import Does, patient, quick_retries, serving, small_dataset
from tests.spatial_engine.evaluation.drafted import said_once

MODEL = RequestOptions(model="org/some-model")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(tmp_path_factory.mktemp("evaluate"))


@pytest.fixture(autouse=True)
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No long pauses, and baselines only where they are looked at."""
    if "with_baselines" not in request.fixturenames:
        monkeypatch.setattr("spatial_engine.evaluation.evaluate.write_baselines", lambda *_, **__: None)
    with quick_retries():
        yield


def scores(run: Path) -> list[ScoredItem]:
    return FinishedRun(path=run, record={}).scores()[0]


def count(dataset: Dataset) -> int:
    return len(list(dataset.questions))


@pytest.fixture
def with_baselines() -> None:
    """Asks for them."""


def test_an_oracle_is_right_and_a_liar_is_not(dataset: Dataset, tmp_path: Path, with_baselines: None) -> None:
    for behaviour, right in (("oracle", 1.0), ("wrong", 0.0)):
        with FakeServer(dataset, behaviour) as fake:
            asking = RequestOptions(model=behaviour, circular=True)
            run = evaluate(dataset, tmp_path, asking, patient(fake.base_url), prices=Prices(price_in=1, price_out=2))
        assert run.name == f"{behaviour}-circular"
        items = scores(run)
        assert len(items) > count(dataset) and fake.counts == {"answered": len(items)}
        assert {item.score for item in items if item.format != "order"} == {right}
        assert all(item.input_tokens and item.output_tokens and item.seconds is not None for item in items)
        result = read_json(run / "result.json")
        assert result["usage"]["cost"]["amount"] > 0
        assert result["circular"]["hard"] == right
    assert {path.name for path in tmp_path.iterdir()} == {
        "oracle-circular", "wrong-circular", "oracle", "no-op", "empty", "random", "most-frequent"
    }  # fmt: skip


def test_twice_in_a_row_asks_once_and_writes_the_same_bytes(dataset: Dataset, tmp_path: Path) -> None:
    with serving(lambda number, request: Does()) as (url, requests):
        run = evaluate(dataset, tmp_path, MODEL, patient(url))
        first = (run / "scores.jsonl").read_bytes()
        asked = len(requests)
        (run / "scores.jsonl").unlink()
        assert evaluate(dataset, tmp_path, MODEL, patient(url)) == run
    assert len(requests) == asked == count(dataset)
    assert (run / "scores.jsonl").read_bytes() == first


def test_pictures_are_sent_as_they_lie(dataset: Dataset, tmp_path: Path) -> None:
    from spatial_engine.evaluation.fake_model import asked

    with serving(lambda number, request: Does()) as (url, requests):
        evaluate(dataset, tmp_path, MODEL, patient(url, concurrency=1))
        evaluate(dataset, tmp_path, replace(MODEL, blind=True), patient(url, concurrency=1))
    total = count(dataset)
    for question, request in zip(dataset.questions, requests[:total], strict=True):
        said = asked(request["messages"])
        assert sorted(said.pictures) == sorted((dataset.path / entry["path"]).read_bytes() for entry in question.media)
        assert said_once(question, said.text) and request["temperature"] == 0 and "max_tokens" not in request
    assert not any(asked(request["messages"]).pictures for request in requests[total:])


def test_instructions_as_a_system_message(dataset: Dataset, tmp_path: Path) -> None:
    asking, total = replace(MODEL, system_prompt=True), count(dataset)
    with serving(lambda number, request: Does()) as (url, requests):
        run = evaluate(dataset, tmp_path / "out", asking, patient(url, concurrency=1), cache=tmp_path / "cache")
        assert run.name == "some-model-system-prompt"
        with pytest.raises(UsageError, match="system_prompt was True, now False"):
            evaluate(dataset, tmp_path / "out", MODEL, patient(url), name=run.name)
        evaluate(dataset, tmp_path / "out", MODEL, patient(url), cache=tmp_path / "cache")
    for question, request in zip(dataset.questions, requests[:total], strict=True):
        *system, user = request["messages"]
        said = [{"type": "text", "text": question.instructions}]
        assert system == ([{"role": "system", "content": said}] if question.instructions else [])
        assert [part.get("text") for part in user["content"]].count(question.prompt) == 1
    bare = sum(not question.instructions for question in dataset.questions)
    assert 0 < bare < total and len(requests) == 2 * total - bare, "what is asked differs where there are instructions"
    with FakeServer(dataset, "oracle") as fake:
        run = evaluate(dataset, tmp_path / "right", asking, patient(fake.base_url))
    assert {item.score for item in scores(run) if item.format != "order"} == {1.0}


def test_a_flaky_server_costs_time_only(dataset: Dataset, tmp_path: Path) -> None:
    with FakeServer(dataset, "flaky") as fake:
        run = evaluate(dataset, tmp_path, MODEL, patient(fake.base_url, concurrency=8))
    assert all(item.right for item in scores(run) if item.format != "order")
    assert fake.counts["answered"] == count(dataset)
    assert all(fake.counts[fault] for fault in ("busy", "broken", "cut", "garbled"))


def test_a_storm_leaves_failures_that_the_next_run_asks_again(dataset: Dataset, tmp_path: Path) -> None:
    def storm(number: int, request: dict) -> Does:
        return Does(status=429, error="slow down") if number >= 2 else Does()

    with serving(storm) as (url, _):
        run = evaluate(dataset, tmp_path, MODEL, patient(url, max_retries=1))
    statuses = [item.status for item in scores(run)]
    assert statuses.count("answered") + statuses.count("unreadable") == 2
    assert statuses.count("failed") == count(dataset) - 2
    assert "429: slow down" in (run / "responses.jsonl").read_text()
    with serving(lambda number, request: Does()) as (url, requests):
        evaluate(dataset, tmp_path, MODEL, patient(url))
    assert len(requests) == count(dataset) - 2
    assert {item.status for item in scores(run)} <= {"answered", "unreadable"}


def test_time_outs_are_wrong_counted_separately_and_not_retried(dataset: Dataset, tmp_path: Path) -> None:
    def late(number: int, request: dict) -> Does:
        return Does(wait_s=1.0 if number == 1 else 0.0)

    with serving(late) as (url, requests):
        run = evaluate(dataset, tmp_path, MODEL, patient(url, concurrency=1, timeout=0.5))
        assert len(requests) == count(dataset)
        (late_item,) = [item for item in scores(run) if item.status == "timed_out"]
        assert late_item.score == 0.0 and late_item.seconds == 0.5
        assert "no reply within 0.5 s" in late_item.detail["error"]
        evaluate(dataset, tmp_path, MODEL, patient(url, timeout=0.5))
        assert len(requests) == count(dataset), "a time-out is a result"
        evaluate(dataset, tmp_path, MODEL, patient(url, timeout=5.0))
        assert len(requests) == count(dataset) + 1, "unless more time is allowed"
    assert "timed_out" not in {item.status for item in scores(run)}


def test_the_time_allowed_is_that_of_the_whole_reply(dataset: Dataset, tmp_path: Path) -> None:
    def drips(number: int, request: dict) -> Does:
        return Does(byte_s=0.05 if number == 0 else 0.0)  # never silent, and would take six seconds

    with serving(drips) as (url, requests):
        run = evaluate(dataset, tmp_path, MODEL, patient(url, concurrency=1, timeout=1.0))
        assert len(requests) == count(dataset)
    assert [item.status for item in scores(run)].count("timed_out") == 1


@pytest.mark.parametrize(
    ("does", "cause", "remedy"),
    [
        (Does(status=401, error="bad key"), "401: bad key", "--api-key-env"),
        (Does(status=404, error="no model x"), "404: no model x", "--model"),
        (Does(status=400, error="temperature is not taken"), "400: temperature", "--temperature default"),
        (Does(status=405, error="POST?"), "405: POST?", "is that a chat server"),
        (Does(status=501, body=b"<!DOCTYPE HTML>\n<html>"), "501: Not Implemented", "is that a chat server"),
    ],
)
def test_what_no_request_can_pass_ends_the_run(
    dataset: Dataset, tmp_path: Path, does: Does, cause: str, remedy: str
) -> None:
    with serving(lambda number, request: does) as (url, requests), pytest.raises(SetupError) as stopped:
        evaluate(dataset, tmp_path, MODEL, patient(url))
    assert cause in stopped.value.cause and remedy in stopped.value.remedy
    assert stopped.value.exit_code == 3
    assert 5 <= len(requests) < count(dataset) + 5


def test_one_item_that_is_refused_is_one_failure(dataset: Dataset, tmp_path: Path) -> None:
    def picky(number: int, request: dict) -> Does:
        return Does(status=400, error="too long") if number else Does()

    with serving(picky) as (url, requests):
        run = evaluate(dataset, tmp_path, MODEL, patient(url, concurrency=1))
    assert len(requests) == count(dataset)
    assert [item.status for item in scores(run)].count("failed") == count(dataset) - 1


def test_a_server_that_is_not_there(dataset: Dataset, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no connection") as stopped:
        evaluate(dataset, tmp_path, MODEL, patient("http://127.0.0.1:9/v1", max_retries=1))
    assert "is the server running" in stopped.value.remedy


def test_newer_names_of_parameters(dataset: Dataset, tmp_path: Path) -> None:
    def newer(number: int, request: dict) -> Does:
        old = "max_tokens" in request
        return Does(status=400, error="use 'max_completion_tokens' instead") if old else Does()

    with serving(newer) as (url, requests):
        run = evaluate(dataset, tmp_path, replace(MODEL, max_tokens=7), patient(url, concurrency=1))
    assert "failed" not in {item.status for item in scores(run)}
    assert len(requests) == count(dataset) + 1
    assert all(request["max_completion_tokens"] == 7 for request in requests[1:])


def test_odd_replies_are_answers_too(dataset: Dataset, tmp_path: Path) -> None:
    odd = [
        b'{"choices": [{"message": {"content": null, "refusal": "I will not"}}]}',
        b'{"choices": [{"message": {"content": [{"type": "text", "text": "<answer>A</answer>"}]}}], "usage": null}',
        b'{"choices": [{}], "usage": {"prompt_tokens": "many"}}',
        b'{"choices": [{"message": {"content": "\\ud800 \\u0000"}}]}',
        b'{"choices": [{"message": {"content": "' + b"[" * 100_000 + b'"}}]}',
    ]
    with serving(lambda number, request: Does(body=odd[number % len(odd)])) as (url, requests):
        run = evaluate(dataset, tmp_path, MODEL, patient(url, concurrency=1))
    assert len(requests) == count(dataset)
    assert {item.status for item in scores(run)} <= {"answered", "unreadable", "refused"}


NONE = [b"<html>", b"[]", b'{"error": {"message": "overloaded"}}', b'{"choices": []}', b'{"choices": [1]}']
"""Bodies that are no chat completion."""


def test_invalid_replies_are_failures(dataset: Dataset, tmp_path: Path) -> None:
    def says(number: int, request: dict) -> Does:
        return Does(body=NONE[(number - 1) % len(NONE)]) if number else Does()

    with serving(says) as (url, requests):
        run = evaluate(dataset, tmp_path, MODEL, patient(url, max_retries=0))
    errors = (run / "responses.jsonl").read_text()
    assert [item.status for item in scores(run)].count("failed") == count(dataset) - 1 == len(requests) - 1
    assert "not JSON" in errors and "overloaded" in errors


@pytest.mark.parametrize("bodies", [NONE, NONE[:1]])
def test_a_server_without_a_model_ends_the_run(dataset: Dataset, tmp_path: Path, bodies: list[bytes]) -> None:
    with (
        serving(lambda number, request: Does(body=bodies[number % len(bodies)])) as (url, requests),
        pytest.raises(SetupError, match="5 requests in a row failed: the server") as stopped,
    ):
        evaluate(dataset, tmp_path, MODEL, patient(url, max_retries=1, concurrency=1))
    assert "is that a chat server" in stopped.value.remedy
    assert len(requests) == 10, "each twice"
    assert (tmp_path / "some-model" / "responses.jsonl").read_text().count('"failed"') == 5


def test_the_cache_pays_once_and_replay_needs_no_server(dataset: Dataset, tmp_path: Path) -> None:
    nowhere = patient("http://127.0.0.1:9/v1")
    with serving(lambda number, request: Does(text=f"<answer>{'ABCD'[number % 4]}</answer>")) as (url, requests):
        first = evaluate(dataset, tmp_path / "a", MODEL, patient(url), cache=tmp_path / "cache")
        asked = len(requests)
        again = evaluate(dataset, tmp_path / "b", MODEL, patient(url), cache=tmp_path / "cache")
        assert len(requests) == asked == count(dataset)
    replayed = evaluate(dataset, tmp_path / "c", MODEL, cache=tmp_path / "cache", replay=True)
    for run in (again, replayed):
        assert (run / "scores.jsonl").read_bytes() == (first / "scores.jsonl").read_bytes()
    with pytest.raises(UsageError, match=rf"lacks {count(dataset)} of {count(dataset)} replies"):
        evaluate(
            dataset, tmp_path / "d", replace(MODEL, temperature=1.0), nowhere, cache=tmp_path / "cache", replay=True
        )
    assert not (tmp_path / "d" / "some-model" / "responses.jsonl").read_bytes()
    with pytest.raises(UsageError, match="there is no cache"):
        evaluate(dataset, tmp_path / "e", MODEL, nowhere, cache=tmp_path / "none", replay=True)
    with pytest.raises(UsageError, match="--replay needs a cache"):
        evaluate(dataset, tmp_path / "e", MODEL, nowhere, replay=True)
    with pytest.raises(UsageError, match="no server is named"):
        evaluate(dataset, tmp_path / "e", MODEL, cache=tmp_path / "cache")


def test_the_plan_is_what_would_be_asked(dataset: Dataset, tmp_path: Path) -> None:
    nowhere = patient("http://127.0.0.1:9/v1")
    before = plan(dataset, tmp_path / "out", MODEL, nowhere)
    assert (before.answered, before.cached, before.remaining.requests) == (0, 0, count(dataset))
    assert before.remaining.pictures == sum(len(question.media) for question in dataset.questions)
    assert before.remaining.input_tokens > 100 * before.remaining.requests
    assert not (tmp_path / "out").exists()
    with serving(lambda number, request: Does()) as (url, _):
        evaluate(dataset, tmp_path / "out", replace(MODEL, limit=3), patient(url), cache=tmp_path / "cache")
    assert plan(dataset, tmp_path / "out", MODEL, nowhere).answered == 3
    assert plan(dataset, tmp_path / "other", MODEL, nowhere, cache=tmp_path / "cache").cached == 3


def test_a_limit_asks_some_and_a_larger_one_the_rest(dataset: Dataset, tmp_path: Path) -> None:
    with serving(lambda number, request: Does()) as (url, requests):
        for limit in (2, 4):
            run = evaluate(dataset, tmp_path, replace(MODEL, limit=limit, seed=5), patient(url))
            assert len(requests) == limit == len(scores(run))


def test_a_run_keeps_its_settings_and_a_folder_its_data_set(dataset: Dataset, tmp_path: Path) -> None:
    with serving(lambda number, request: Does()) as (url, _):
        evaluate(dataset, tmp_path / "out", MODEL, patient(url), name="run")
        with pytest.raises(UsageError, match="settings was"):
            evaluate(dataset, tmp_path / "out", replace(MODEL, temperature=0.5), patient(url), name="run")
        with pytest.raises(UsageError, match="baseline's name"):
            evaluate(dataset, tmp_path / "out", MODEL, patient(url), name="oracle")
        other = small_dataset(tmp_path / "other", count=2)
        with pytest.raises(UsageError, match="of another dataset"):
            evaluate(other, tmp_path / "out", MODEL, patient(url), name="other")


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("../up", "cannot be the name of a folder"),
        (".hidden", "cannot be the name of a folder"),
        ("report", "is reserved"),
        ("Comparison.json", "is reserved"),
        ("run.json", "is reserved"),
        ("n" * 300, "is too long: 300 bytes"),
        ("ж" * 120, "is too long: 240 bytes"),
    ],
)
def test_names_that_no_run_may_have(dataset: Dataset, tmp_path: Path, name: str, cause: str) -> None:
    nowhere = patient("http://127.0.0.1:9/v1")
    for asks in (evaluate, plan):
        with pytest.raises(UsageError, match=cause):
            asks(dataset, tmp_path / "out", MODEL, nowhere, name=name)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("mark", ["audit.json", "questions.jsonl", "store.json", "dataset/audit.json", "run.json"])
def test_runs_have_a_folder_of_their_own(dataset: Dataset, tmp_path: Path, mark: str) -> None:
    (tmp_path / mark).parent.mkdir(exist_ok=True)
    (tmp_path / mark).touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UsageError, match="name a folder for runs alone"):
        evaluate(dataset, tmp_path, MODEL, patient("http://127.0.0.1:9/v1"))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_changed_data_set_is_refused(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path)
    with serving(lambda number, request: Does()) as (url, _):
        evaluate(dataset, tmp_path / "out", MODEL, patient(url))
        file = next((dataset.path / "media").iterdir())
        file.write_bytes(file.read_bytes() + b"\0")
        with pytest.raises(UsageError, match="the dataset changed after the answers were made"):
            evaluate(dataset, tmp_path / "out", MODEL, patient(url))
        file.unlink()
        with pytest.raises(UsageError, match="cannot be read"):
            evaluate(dataset, tmp_path / "out", MODEL, patient(url))


@pytest.mark.long(sample=True)
def test_killed_runs_resume_and_ask_no_question_twice(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path, count=3)
    total = count(dataset)
    with serving(lambda number, request: Does(wait_s=0.1)) as (url, requests):
        program = (
            "from tests.spatial_engine.evaluation.chat_server import patient\n"
            "from spatial_engine.evaluation.evaluate import evaluate\n"
            "from spatial_engine.options import RequestOptions\n"
            f"evaluate({str(dataset.path)!r}, {str(tmp_path / 'out')!r}, RequestOptions(model='m'), patient({url!r}))"
        )
        file = ResponseFile(tmp_path / "out" / "m" / "responses.jsonl")
        with subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[3]) as process:
            while len(file.read()) < 3 and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
        kept = file.read()
        assert 3 <= len(kept) < total
        with file.path.open("ab") as lines:
            lines.write(b'{"id": "torn')
        assert file.read() == kept
        asked = len(requests)
        assert asked <= len(kept) + 2, "what was under way"
        run = evaluate(dataset, tmp_path / "out", RequestOptions(model="m"), patient(url))
    assert len(requests) == asked + total - len(kept)
    assert len(scores(run)) == total == len(file.path.read_bytes().splitlines())


def test_two_runs_never_write_the_same_responses(dataset: Dataset, tmp_path: Path) -> None:
    file = ResponseFile(tmp_path / "some-model" / "responses.jsonl")
    with serving(lambda number, request: Does()) as (url, requests):
        evaluate(dataset, tmp_path, replace(MODEL, limit=1), patient(url))
        with file.appending(), ThreadPoolExecutor(1) as other, pytest.raises(BusyError, match="is being written by"):
            other.submit(evaluate, dataset, tmp_path, MODEL, patient(url)).result()
        assert len(requests) == 1


def test_the_rate_is_kept(dataset: Dataset, tmp_path: Path) -> None:
    times: list[float] = []

    def says(number: int, request: dict) -> Does:
        times.append(time.monotonic())
        return Does()

    with serving(says) as (url, _):
        start = time.monotonic()
        evaluate(dataset, tmp_path, replace(MODEL, limit=4), patient(url, requests_per_minute=300.0))
    assert times[-1] - start >= 3 * 0.2  # three pauses before the last one is sent, however late requests arrive


def test_keys_stay_in_the_environment(dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", "sk-very-secret")
    with serving(lambda number, request: Does()) as (url, _):
        evaluate(dataset, tmp_path, MODEL, patient(url, api_key_env="OUR_KEY"), cache=tmp_path / "cache")
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"sk-very-secret" not in file.read_bytes()
    assert os.environ["OUR_KEY"] == "sk-very-secret"


def test_a_key_that_the_server_repeats_is_not_kept(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OUR_KEY", "sk-very-secret")
    refused = Does(status=400, error="bad key: sk-very-secret")
    with serving(lambda number, request: refused if number == 1 else Does()) as (url, _):
        evaluate(dataset, tmp_path, MODEL, patient(url, api_key_env="OUR_KEY"), cache=tmp_path / "cache")
    kept = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    assert b"bad key: [key]" in kept and b"sk-very-secret" not in kept
    assert "sk-very-secret" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("url", ["https://me:sk-very-secret@host/v1", "https://host/v1?key=sk-very-secret"])
def test_an_address_may_hold_no_key(url: str) -> None:
    with pytest.raises(UsageError, match="--base-url at host") as caught:
        Server(base_url=url)
    assert "secret" not in str(caught.value)


async def _inside_a_loop(dataset: Dataset, out: Path, url: str) -> Path:
    return evaluate(dataset, out, MODEL, patient(url), cache=out / "cache")


def test_in_a_notebook(dataset: Dataset, tmp_path: Path) -> None:
    import asyncio

    with serving(lambda number, request: Does()) as (url, requests):
        asyncio.run(_inside_a_loop(dataset, tmp_path, url))
    assert len(requests) == count(dataset)
