"""The table over benchmarks, and that a run of one counts what it should."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.benchmarks.prepare import prepare
from spatial_engine.evaluation.evaluate import evaluate, plan
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.evaluation.score import score
from spatial_engine.options import BenchmarkOptions, Prices, RequestOptions
from tests.spatial_engine.evaluation.benchmarks.copies import COPIES, json_lines
from tests.spatial_engine.evaluation.chat_server import Does, patient, quick_retries, serving


@pytest.fixture(autouse=True)
def quick() -> Iterator[None]:
    """No long pauses."""
    with quick_retries():
        yield


def asked(out: Path, layout: str, behaviour: str, **options: object) -> Path:
    """The run of a fake model on a copy of a benchmark."""
    name, write = COPIES[layout]
    copy = out.parent / layout
    if not copy.exists():
        copy.mkdir()
        write(copy)
    reading = BenchmarkOptions(benchmark=name, frames=2)
    items = prepare(copy, out / name / "items", reading)
    asking = RequestOptions(model=behaviour, **options)  # type: ignore[arg-type]
    prices = Prices(price_in=1, price_out=2)
    with FakeServer(items, behaviour) as fake:  # type: ignore[arg-type]
        return evaluate(copy, out, asking, patient(fake.base_url), name=behaviour, prices=prices, benchmark=reading)


def test_one_row_a_model_between_people_and_chance(tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked(out, "mmsi_bench tsv", "wrong")
    for behaviour in ("first-option", "wrong"):
        asked(out, "omnispatial tsv", behaviour, limit=5)
    asked(out, "mmsi_bench tsv", "flaky", circular=True)
    lines = (out / "benchmarks.md").read_text(encoding="utf-8").splitlines()
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|"))
    assert head[:9] == ["", "MMSI-Bench", "OmniSpatial", "MM", "MR", "SR", "PT", "DA", "CR"]
    named = {row[0]: row for row in rows}
    assert [row[0] for row in rows] == ["flaky", "first-option", "wrong", "human", "chance"]
    assert named["flaky"][1] == "1.000 (1.000)" and named["flaky"][9:11] == ["1.000", "1.000"]
    assert named["wrong"][1].startswith("0.000 (-0.333)") and "*" in named["wrong"][2], "a part is marked"
    assert named["human"][1:3] == ["0.972", "0.926"] and not any(named["human"][3:])
    assert float(named["flaky"][-1]) > 0 and named["flaky"][11] == "0"
    record = read_json(out / "benchmarks.json")
    assert record["benchmarks"]["mmsi_bench"]["human"]["score"] == 0.972
    assert record["runs"]["flaky"]["benchmarks"]["mmsi_bench"]["hard"] == 1
    assert set(record["runs"]) == {"flaky", "first-option", "wrong", "chance"}


def test_the_same_command_twice_keeps_the_row(tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        asked(out, "mmsi_bench tsv", "flaky")
        assert "| flaky |" in (out / "benchmarks.md").read_text(encoding="utf-8")


def test_time_outs_are_wrong_and_counted_apart(tmp_path: Path) -> None:
    name, write = COPIES["mmsi_bench tsv"]
    (tmp_path / "copy").mkdir()
    copy, out = write(tmp_path / "copy"), tmp_path / "out"
    items = prepare(copy, out / name / "items", BenchmarkOptions(benchmark=name))
    count = items.audit["questions"]
    with serving(lambda number, request: Does(wait_s=1.5 * (number % 2))) as (url, _):
        run = evaluate(
            copy, out, RequestOptions(model="m"), patient(url, timeout=0.6, concurrency=1),
            benchmark=BenchmarkOptions(benchmark=name),
        )  # fmt: skip
    result = read_json(run / "result.json")
    assert result["statuses"]["timed_out"] == count // 2
    assert result["without_time_outs"]["items"] == count - count // 2
    assert read_json(out / "benchmarks.json")["runs"]["m"]["benchmarks"][name]["timed_out"] == count // 2


def test_answers_made_elsewhere_get_its_own_metric(tmp_path: Path) -> None:
    name, write = COPIES["escher_bench json"]
    (tmp_path / "copy").mkdir()
    items = prepare(write(tmp_path / "copy"), tmp_path / "items", BenchmarkOptions(benchmark=name, frames=2))
    said = {question.id: "<answer>nothing of that</answer>" for question in items.questions}
    gaps = [question for question in items.questions if "Fill-in" in question.prompt]
    said |= {question.id: f"<think>It turns.</think><answer>{question.answer} </answer>" for question in gaps}
    json_lines(tmp_path / "said.jsonl", [{"id": id, "text": text} for id, text in said.items()])
    result = read_json(score(items, tmp_path / "said.jsonl", tmp_path / "out") / "result.json")
    share = len(gaps) / len(said)
    assert result["published"]["score"] == pytest.approx(share) == result["overall"]["score"]
    assert result["published"]["scorer"] == "escherverse" and result["formats"]["reply"]["items"] == 2 * len(gaps)


def test_a_plan_reads_the_items_and_asks_nothing(tmp_path: Path) -> None:
    name, write = COPIES["vsi_bench tsv"]
    (tmp_path / "copy").mkdir()
    copy, out = write(tmp_path / "copy"), tmp_path / "out"
    found = plan(copy, out, RequestOptions(model="m"), benchmark=BenchmarkOptions(benchmark=name, frames=4))
    assert found.remaining.requests == 26 and found.remaining.pictures == 26 * 4
    assert [path.name for path in (out / name).iterdir() if not path.name.startswith(".")] == ["items"]
