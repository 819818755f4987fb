"""What a run did, failed at and took is in its log and on the page, together with the shards beside it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.errors import Interrupted, UsageError
from spatial_engine.monitoring.monitor import Monitor, monitored
from spatial_engine.options import MonitoringOptions, Shard
from spatial_engine.pipeline import annotate, generate
from spatial_engine.progress import Progress, Silent
from tests.spatial_engine.fake_experts import chain
from tests.spatial_engine.fake_footage import write_folders


class Heard(Silent):
    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


def events(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def work(progress: Progress) -> None:
    progress.begin("annotating", 3)
    progress.part("a", "klt", "done", 2.0)
    progress.step("a", "done")
    progress.step("<b>", "klt failed: no & memory")


@pytest.fixture
def second() -> Iterator[float]:
    return iter(range(1000))


def test_the_log_holds_an_event_per_stage_part_and_item(tmp_path: Path, second: Iterator[float]) -> None:
    day = datetime(2026, 1, 1, tzinfo=UTC)
    heard, about = Heard(), {"command": "annotate", "target": "STORE", "shard": "2/8"}
    monitor = Monitor(heard, tmp_path / "run", about, clock=lambda: next(second), date=lambda: day)
    work(monitor)
    monitor.end("done")
    found = events(tmp_path / "run.jsonl")
    assert [event["event"] for event in found] == ["run", "stage", "part", "item", "item", "end"]
    assert all(event["shard"] == "2/8" and event["time"] == "2026-01-01 00:00:00.000+00:00" for event in found)
    assert found[2] | {"name": "a", "part": "klt", "outcome": "done", "seconds": 2.0} == found[2]
    [stage] = found[-1]["stages"]
    assert (stage["done"], stage["failed"], stage["total"], stage["parts"]) == (2, 1, 3, {"klt": 2.0})
    assert heard.said == [f"seconds: annotating {stage['seconds']:.1f} (klt 2.0)"]


def test_a_clock_that_goes_back_changes_no_duration(tmp_path: Path, second: Iterator[float]) -> None:
    days = (datetime(2026, 1, 1, tzinfo=UTC) - timedelta(days=number) for number in range(1000))
    about = {"command": "annotate", "target": "STORE", "shard": "1/1"}
    monitor = Monitor(Silent(), tmp_path / "run", about, clock=lambda: next(second), date=lambda: next(days))
    work(monitor)
    monitor.end("done")
    assert events(tmp_path / "run.jsonl")[-1]["stages"][0]["seconds"] > 0
    assert "done" in (tmp_path / "index.html").read_text()


def test_shards_share_a_page(tmp_path: Path) -> None:
    options, page = MonitoringOptions(status=tmp_path / "status"), tmp_path / "status" / "index.html"
    with monitored(Silent(), options, "annotate", Path("STORE"), Shard(number=1, count=2)) as first:
        work(first)
        assert 'http-equiv="refresh"' in page.read_text()
        with (
            pytest.raises(UsageError),
            monitored(Silent(), options, "annotate", Path("STORE"), Shard(number=2, count=2)) as other,
        ):
            work(other)
            raise UsageError("the reason", "")
    shown = page.read_text()
    assert "1/2" in shown and "2/2" in shown and "4 of 6" in shown and "klt 4.0" in shown
    assert "failed: the reason" in shown and shown.count("klt failed: no &amp; memory") == 2
    assert "&lt;b&gt;" in shown and "<b>" not in shown and 'http-equiv="refresh"' not in shown


def test_two_runs_of_one_name_keep_files_of_their_own(tmp_path: Path) -> None:
    options = MonitoringOptions(status=tmp_path)
    (tmp_path / "junk.json").write_text("{")
    for outcome in ("stopped", "done"):
        monitor = monitored(Silent(), options, "annotate", Path("STORE"))
        progress = monitor.__enter__()
        work(progress)
        if outcome == "stopped":
            assert monitor.__exit__(Interrupted, Interrupted("Ctrl-C", ""), None) is False
        else:
            monitor.__exit__(None, None, None)
        assert json.loads((tmp_path / "annotate.json").read_text())["state"] == outcome
    runs = [event for event in events(tmp_path / "annotate.jsonl") if event["event"] == "run"]
    assert len(runs) == 2, "a run that is repeated is appended"


@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_is_recorded(tmp_path: Path, workers: int) -> None:
    fakes, heard = chain(tmp_path / "calls"), Heard()
    videos, status = write_folders(tmp_path / "videos", 2), tmp_path / "status"
    store = annotate(
        videos, tmp_path / "store", progress=heard, experts=[fakes["area"]], workers=workers, status=status,
        profile=tmp_path / "run.prof",
    )  # fmt: skip
    found = events(status / "annotate.jsonl")
    assert [event["stage"] for event in found if event["event"] == "stage"] == ["opening", "annotating"]
    parts = [event for event in found if event["event"] == "part"]
    assert [(event["part"], event["outcome"]) for event in parts] == [(fakes["area"].name, "done")] * 2
    assert found[-1]["state"] == "done" and not any(stage["failed"] for stage in found[-1]["stages"])
    assert heard.said[-1].startswith("seconds: opening ")
    from pstats import Stats

    functions = {name for _, _, name in Stats(str(tmp_path / "run.prof")).stats}  # type: ignore[attr-defined]
    assert {"annotate_all", "_run_alone"} <= functions, "workers are included"
    generate(store, tmp_path / "dataset", status=status, workers=workers, puzzles=1, abilities="Geometry Puzzles")
    assert {path.name for path in status.iterdir()} == {
        "index.html", "annotate.json", "annotate.jsonl", "generate.json", "generate.jsonl"
    }  # fmt: skip


def test_places_that_cannot_be_written_are_refused_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        MonitoringOptions(profile=tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file"):
        MonitoringOptions(status=tmp_path / "file")
