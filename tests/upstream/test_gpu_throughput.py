"""`benchmarks.gpu_throughput` on a CPU: the whole script, whose numbers say nothing about a GPU."""

import re

import pytest

pytest.importorskip("torch", reason="torch is not installed: make test-experts")
pytest.importorskip("depth_anything_3", reason="depth_anything_3 is not installed")

from benchmarks.gpu_throughput import busy_s, main


def test_a_line_per_model(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "benchmarks.gpu_throughput.missing_package", lambda packages: None if len(packages) > 4 else "tapnet is missing"
    )
    main(
        ["--device", "cpu", "--models", "depth_anything_3", "tapir", "--frames", "6", "--window", "4", "--repeats", "1"]
    )
    first, depth, tapir = capsys.readouterr().out.splitlines()
    assert first.startswith("clips: 1 of 6 frames, 160 x 120 px, windows of 4 frames, on cpu")
    number = r"\d[\d.e+-]*"
    line = (
        rf"depth_anything_3: {number} frames/s, ratio {number} \({number} to {number}\), idle not measured \(no GPU\), "
        rf"peak {number} GiB \(of the process\)"
    )
    assert re.fullmatch(line, depth)
    assert tapir == "tapir: not run: tapnet is missing"


def test_a_missing_gpu_is_one_line() -> None:
    with pytest.raises(SystemExit, match=r"no device is called 'gpu'; there are: auto, cpu, cuda"):
        main(["--device", "gpu"])


def test_time_in_which_kernels_overlap_counts_once() -> None:
    assert busy_s([]) == 0
    assert busy_s([(5e6, 7e6), (0, 1e6), (5.5e6, 6e6), (6.5e6, 8e6)]) == pytest.approx(4.0)
