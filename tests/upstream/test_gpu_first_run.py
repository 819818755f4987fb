"""`benchmarks.gpu_first_run` on a CPU with random weights: the whole script, whose numbers mean nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: make test-experts")
pytest.importorskip("depth_anything_3", reason="depth_anything_3 is not installed")

import benchmarks.gpu_first_run as first_run
import experts.depth.da3_upstream as da3_upstream
import experts.objects.named_networks as named_networks
from benchmarks.first_run_rooms import Sizes
from tests.upstream.test_depth_anything_3 import TINY_METRIC
from tests.upstream.test_open_vocabulary import tiny

ON_CPU = ["--device", "cpu", "--random-weights"]


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Networks of the same kinds that load in a second."""
    (tmp_path / "tiny.yaml").write_text(TINY_METRIC)
    monkeypatch.setitem(da3_upstream.import_api().MODEL_REGISTRY, "tiny-metric", str(tmp_path / "tiny.yaml"))
    for name in ("base", "metric"):
        variant = da3_upstream.VARIANTS[name]
        small = replace(variant, anyview=variant.anyview and "da3-small", metric="tiny-metric")
        monkeypatch.setitem(da3_upstream.VARIANTS, name, small)
    monkeypatch.setattr(named_networks, "random_configs", tiny)


@pytest.mark.usefixtures("_small")
def test_the_whole_script_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first_run.main([*ON_CPU, "--workers", "--out", str(tmp_path / "table.md")])
    page = (tmp_path / "table.md").read_text()
    assert "**Weights are random: no number here means anything.**" in page and "Device: cpu, torch" in page
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")][1:]
    checks = {name: [row[1] for row in rows if row[0] == f"| {name}"] for name in first_run.NAMES}
    assert checks["depth_anything_3:metric"] == [
        "loads", "scale", "depth after scale", "raster of depth", "float32 against bfloat16",
    ]  # fmt: skip
    assert {"rotation", "direction", "focal length", "scale"} <= set(checks["depth_anything_3"])
    for name in ("open_vocabulary", "open_vocabulary:owlv2"):
        assert checks[name] == ["loads", "boxes at 16:9", "boxes at 9:16", "float32 against bfloat16"]
    assert {f"azimuth {angle}°" for angle in (0, 90, 180, 270)} < set(checks["orient_anything"])
    errors = [row for row in rows if row[2] == "without an error"]
    assert not errors, errors
    refused = {name: row[3] for name in first_run.NAMES for row in rows if row[:2] == [f"| {name}", "runs"]}
    assert "spatial_tracker" in refused and all(cause.startswith("not run: ") for cause in refused.values())
    assert "-> " in capsys.readouterr().out


def test_speed_is_that_of_clips_after_the_first() -> None:
    options = first_run._options(ON_CPU)
    row = first_run._speed("depth_anything_3:metric", 1, Sizes(side_px=96, frames=4), options)
    assert row.check == "clips per second, 1 workers" and row.holds is None and "4 frames of 96 px" in row.measured


def test_an_error_costs_one_expert(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(first_run, "_conventions", lambda *_: (_ for _ in ()).throw(ValueError("wrong | shape")))
    first_run.main([*ON_CPU, "orient_anything", "--workers", "--out", str(tmp_path / "table.md")])
    last = (tmp_path / "table.md").read_text().splitlines()[-1]
    assert last == "| orient_anything | runs | without an error | ValueError: wrong / shape | **fails** |"
