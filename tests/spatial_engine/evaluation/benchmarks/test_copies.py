"""Every layout of every benchmark: read, asked through the fake model server, and scored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spatial_engine.atomic_file import read_json
from spatial_engine.evaluation.benchmarks.prepare import prepare
from spatial_engine.evaluation.benchmarks.registry import BENCHMARKS
from spatial_engine.evaluation.evaluate import evaluate
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.options import BenchmarkOptions, RequestOptions
from tests.spatial_engine.evaluation.benchmarks.copies import COPIES
from tests.spatial_engine.evaluation.chat_server import patient, quick_retries


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No long pauses, no baselines."""
    monkeypatch.setattr("spatial_engine.evaluation.evaluate.write_baselines", lambda *_, **__: None)
    with quick_retries():
        yield


def test_every_benchmark_has_a_copy() -> None:
    assert {name for name, _ in COPIES.values()} == set(BENCHMARKS.builtin)


@pytest.mark.parametrize("layout", COPIES)
def test_an_oracle_is_right_and_a_guess_is_near_chance(layout: str, tmp_path: Path) -> None:
    name, write = COPIES[layout]
    copy, out = write(tmp_path / "copy"), tmp_path / "out"
    reading = BenchmarkOptions(benchmark=name, frames=4)
    items = prepare(copy, out / name / "items", reading)
    assert items.audit["refused"] == {name: {}} and items.audit["questions"] >= 8
    scores = {}
    for behaviour in ("oracle", "random"):
        with FakeServer(items, behaviour) as fake:
            run = evaluate(copy, out, RequestOptions(model=behaviour[:4]), patient(fake.base_url), benchmark=reading)
            assert fake.counts == {"answered": items.audit["questions"]}
        scores[behaviour] = read_json(run / "result.json")
    oracle, guess = scores["oracle"], scores["random"]
    assert oracle["overall"]["score"] == 1 and oracle["overall"]["items"] == items.audit["questions"]
    if own := oracle["published"]:  # SpatialTree counts abilities that a copy lacks as 0
        assert own["score"] == pytest.approx(own["detail"].get("coverage", 1))
    assert guess["overall"]["score"] < 0.8
    table = (out / "benchmarks.md").read_text(encoding="utf-8")
    assert table.splitlines()[2].startswith("| orac | ") and "(1.000)" in table.splitlines()[2]
