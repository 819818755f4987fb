"""A published benchmark that several machines ask: each question once, and the scores of one machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.benchmarks.prepare import prepare
from spatial_engine.evaluation.evaluate import evaluate, plan
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.evaluation.merging import merge_runs
from spatial_engine.options import BenchmarkOptions, RequestOptions
from tests.spatial_engine.evaluation.benchmarks.copies import COPIES
from tests.spatial_engine.evaluation.chat_server import patient, quick_retries

NAME, WRITE = COPIES["mmsi_bench tsv"]
READING = BenchmarkOptions(benchmark=NAME, frames=2)
ASKING = RequestOptions(model="guess", circular=True)


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    """No long pauses."""
    with quick_retries():
        yield


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return WRITE(tmp_path / "copy")


def test_shards_in_one_folder_are_scored_as_one_run(copy: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "out", tmp_path / "whole"
    items = prepare(copy, out / NAME / "items", READING)
    with FakeServer(items, "first-option") as fake:
        server = patient(fake.base_url)
        planned = [plan(copy, out, ASKING, server, benchmark=READING, shard=f"{k}/3") for k in (1, 2, 3)]
        for k in (1, 2, 3):
            run = evaluate(copy, out, ASKING, server, benchmark=READING, shard=f"{k}/3")
            assert not (run / "result.json").exists() and not (out / "benchmarks.md").exists()
        asked = fake.counts["answered"]
        assert asked == sum(one.remaining.requests for one in planned) > items.audit["questions"]
        done = evaluate(copy, out, ASKING, server, benchmark=READING)
        assert fake.counts["answered"] == asked
        alone = evaluate(copy, whole, ASKING, server, benchmark=READING)
    assert read_json(done / "result.json")["overall"] == read_json(alone / "result.json")["overall"]
    assert (out / "benchmarks.md").read_text() == (whole / "benchmarks.md").read_text()


def test_shards_of_several_machines_are_merged(copy: Path, tmp_path: Path) -> None:
    items = prepare(copy, tmp_path / "items", READING)
    with FakeServer(items, "first-option") as fake:
        server = patient(fake.base_url)
        machines = [tmp_path / f"machine{k}" for k in (1, 2)]
        for k, machine in enumerate(machines, start=1):
            evaluate(copy, machine, ASKING, server, benchmark=READING, shard=f"{k}/2")
        alone = evaluate(copy, tmp_path / "whole", ASKING, server, benchmark=READING)
        asked = fake.counts["answered"]
        out = tmp_path / "out"
        (merged,) = merge_runs(machines[0] / NAME / "items", [machine / NAME for machine in machines], out / NAME)
        assert read_json(merged / "result.json")["overall"] == read_json(alone / "result.json")["overall"]
        evaluate(copy, out, ASKING, server, benchmark=READING)
        assert fake.counts["answered"] == asked
    assert (out / "benchmarks.md").read_text() == (tmp_path / "whole" / "benchmarks.md").read_text()
