"""`evaluate --shard` and `merge-runs`: several machines ask what one would have asked, and their run is its run."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.cli.main import main
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import BusyError, UsageError
from spatial_engine.evaluation.evaluate import evaluate, plan
from spatial_engine.evaluation.merging import merge_runs
from spatial_engine.evaluation.runs import RunFolder
from spatial_engine.options import RequestOptions, Shard
from tests.spatial_engine.evaluation.chat_server import Does, patient, quick_retries, serving, small_dataset

MODEL = RequestOptions(model="org/some-model", circular=True)
SHARDS = ("2/3", "3/3", "1/3")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return small_dataset(tmp_path_factory.mktemp("shards"), count=2)


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    with quick_retries():
        yield


def says(number: int, request: dict) -> Does:
    """Depends on what is asked alone."""
    return Does(text=f"<answer>{'ABCD'[len(json.dumps(request)) % 4]}</answer>")


@pytest.fixture(scope="module")
def one(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder of runs of one machine, and a cache of the replies, with their seconds."""
    folder = tmp_path_factory.mktemp("one")
    with serving(says) as (url, _):
        evaluate(dataset, folder / "out", MODEL, patient(url), cache=folder / "cache")
    return folder / "out", folder / "cache"


def files(out: Path) -> dict[str, bytes]:
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def ask(dataset: Dataset, cache: Path, out: Callable[[str], Path]) -> list[Path]:
    """Every shard, with the replies of the cache."""
    folders = []
    with serving(says) as (url, requests):
        for shard in SHARDS:
            run = evaluate(dataset, out(shard), MODEL, patient(url), cache=cache, shard=shard)
            folders.append(run.parent)
        assert not requests
    return folders


def test_shards_in_separate_folders_are_merged_into_the_run_of_one_machine(
    dataset: Dataset, one: tuple[Path, Path], tmp_path: Path
) -> None:
    alone, cache = one
    shares = ask(dataset, cache, lambda shard: tmp_path / shard.replace("/", "of"))
    for share in shares:
        assert [path.name for path in (share / "some-model-circular").iterdir() if path.suffix == ".json"] == [
            "run.json"
        ]
    (run,) = merge_runs(dataset, shares, tmp_path / "out")
    found, expected = files(tmp_path / "out"), files(alone)
    assert found.keys() == expected.keys()
    record = found.pop(f"{run.name}/run.json")
    assert json.loads(record) | {"base_url": ""} == read_json(alone / run.name / "run.json") | {"base_url": ""}
    assert found == {name: content for name, content in expected.items() if name in found}
    before = files(tmp_path / "out")
    merge_runs(dataset, shares, tmp_path / "out")
    assert files(tmp_path / "out") == before, "twice in a row"


def test_shards_in_one_folder_are_merged_where_they_lie(
    dataset: Dataset, one: tuple[Path, Path], tmp_path: Path
) -> None:
    alone, cache = one
    ask(dataset, cache, lambda _: tmp_path / "out")
    run = RunFolder(tmp_path / "out" / "some-model-circular")
    assert len(run.of_shards) == 3 and not (run.path / "responses.jsonl").exists()
    merge_runs(dataset, [tmp_path / "out"], tmp_path / "out")
    assert not run.of_shards
    assert (run.path / "responses.jsonl").read_bytes() == (alone / run.path.name / "responses.jsonl").read_bytes()
    assert (run.path / "result.json").read_bytes() == (alone / run.path.name / "result.json").read_bytes()


def test_the_command_without_shard_asks_what_shards_did_not_answer(dataset: Dataset, tmp_path: Path) -> None:
    with serving(says) as (url, requests):
        evaluate(dataset, tmp_path, MODEL, patient(url), shard="1/2")
        asked = len(requests)
        rest = plan(dataset, tmp_path, MODEL, patient(url))
        assert rest.answered == asked > 0
        assert plan(dataset, tmp_path, MODEL, patient(url), shard="1/2").remaining.requests == 0
        evaluate(dataset, tmp_path, MODEL, patient(url), shard="1/2")
        evaluate(dataset, tmp_path, MODEL, patient(url), shard="3/4")  # 1/2 is 1/4 and 3/4
        assert len(requests) == asked
        run = evaluate(dataset, tmp_path, MODEL, patient(url))
    assert len(requests) == asked + rest.remaining.requests
    assert RunFolder(run).of_shards == [] and read_json(run / "result.json")["statuses"]["missing"] == 0


def test_nothing_is_asked_or_merged_while_a_shard_still_asks(dataset: Dataset, tmp_path: Path) -> None:
    with serving(says) as (url, requests):
        run = RunFolder(evaluate(dataset, tmp_path, MODEL, patient(url), shard="1/2"))
        asked = len(requests)
        with run.of_shard(Shard.of("1/2")).appending(), ThreadPoolExecutor(1) as other:
            with pytest.raises(BusyError):
                other.submit(evaluate, dataset, tmp_path, MODEL, patient(url)).result()
            with pytest.raises(BusyError):
                other.submit(merge_runs, dataset, [tmp_path], tmp_path).result()
        assert len(requests) == asked and len(run.of_shards) == 1


def test_an_answer_counts_before_the_failure_of_another_machine(dataset: Dataset, tmp_path: Path) -> None:
    def fails_once(number: int, request: dict) -> Does:
        return Does(status=400, error="too long") if number == 1 else says(number, request)

    with serving(fails_once) as (url, _):
        first = evaluate(dataset, tmp_path / "a", MODEL, patient(url), shard="1/1").parent
    with serving(says) as (url, _):
        second = evaluate(dataset, tmp_path / "b", MODEL, patient(url)).parent
    (merged,) = merge_runs(dataset, [second, first], tmp_path / "out")
    assert read_json(merged / "result.json")["statuses"]["failed"] == 0


def test_runs_that_do_not_belong_together(dataset: Dataset, tmp_path: Path) -> None:
    other = small_dataset(tmp_path)
    with serving(says) as (url, _):
        mine = evaluate(dataset, tmp_path / "a", MODEL, patient(url), shard="1/2", name="run").parent
        theirs = evaluate(other, tmp_path / "b", MODEL, patient(url), shard="2/2", name="run").parent
        hot = replace(MODEL, temperature=1.0)
        warmer = evaluate(dataset, tmp_path / "c", hot, patient(url), shard="2/2", name="run").parent
    with pytest.raises(UsageError, match="asks another dataset, or another state of it"):
        merge_runs(dataset, [mine, theirs], tmp_path / "out")
    with pytest.raises(UsageError, match="settings was"):
        merge_runs(dataset, [mine, warmer], tmp_path / "out")
    with pytest.raises(UsageError, match="holds no runs"):
        merge_runs(dataset, [tmp_path / "nothing"], tmp_path / "out")


def test_the_commands_say_what_is_done_and_what_is_next(
    dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def command(*words: str) -> int | None:
        with pytest.raises(SystemExit) as exit:
            main([*words])
        return exit.value.code if isinstance(exit.value.code, int) else None

    path, out = str(dataset.path), str(tmp_path / "out")
    with serving(says) as (url, requests):
        asks = ("evaluate", path, "--model", "m", "--base-url", url, "-o", out)
        assert command(*asks, "--shard", "1/2") == 0
        asked = len(requests)
        assert f"m: {asked} answers of shard 1/2" in (said := capsys.readouterr().out) and "merge-runs DATASET" in said
        assert command(*asks, "--shard", "3/2") == 2
        assert "give number/count with numbers from 1, such as 2/8" in capsys.readouterr().err
        assert command("merge-runs", path, out, "-o", out) == 1
        said = capsys.readouterr()
        assert "or evaluate without --shard" in said.err and "score" in said.out
        assert command(*asks, "--shard", "2/2") == command("merge-runs", path, out, "-o", out) == 0
