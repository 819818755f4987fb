"""Commands as a user types them: exit codes, causes, remedies."""

import asyncio
import os
import signal
import time
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

import spatial_engine
from experts.registry import EXPERTS
from spatial_engine import pipeline
from spatial_engine.cli.main import main
from spatial_engine.options import AnnotateOptions
from spatial_engine.store.store import open_store
from tests.films import panning, write_video
from tests.spatial_engine.fake_footage import write_folders

Run = Callable[..., tuple[int, str, str]]

HERE = ("--workers", 0)
"""In this process: starting another takes a second."""


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line; returns exit code, standard output and standard error."""

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return int(left.value.code or 0), out, err

    return run


@pytest.fixture
def videos(tmp_path: Path) -> Path:
    return write_folders(tmp_path / "[red]vidéos", 2)


def test_annotate_twice(command: Run, tmp_path: Path, videos: Path) -> None:
    line = ("annotate", videos, "-o", tmp_path / "store", "--experts", "valid_area")
    code, out, _ = command(*line)
    assert code == 0, out
    assert "2 clips: 0 complete before this run; 0 of 2 signals kept from earlier runs" in out.replace("\n", " ")
    assert "valid_area" in out.splitlines()[-2]
    code, out, _ = command(*line)
    assert code == 0
    assert "2 clips: 2 complete before this run; 2 of 2 signals kept from earlier runs" in out.replace("\n", " ")


@pytest.mark.parametrize("how", ["plain", "in asyncio", "in the background", "in a callback"])
def test_sigterm_stops_a_run_as_ctrl_c_does(
    command: Run, tmp_path: Path, videos: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    cancelled: list[bool] = []

    def terminated(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)

    def terminated_where_python_ignores_it() -> None:
        thing = {1}
        reference = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
        del thing
        time.sleep(30)
        assert reference() is None

    async def waits() -> None:
        try:
            asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            cancelled.append(True)  # asyncio ends tasks in order; a KeyboardInterrupt would break into one
            raise

    stopped = {"in asyncio": lambda: asyncio.run(waits()), "in a callback": terminated_where_python_ignores_it}
    monkeypatch.setattr(pipeline, "annotate_all", lambda *_: stopped.get(how, terminated)())
    try:
        if how == "in the background":
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        code, _, err = command("annotate", videos, "-o", tmp_path / "store", "--experts", "valid_area", *HERE)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert code == 130 and "run the same command again" in err and cancelled == [True] * (how == "in asyncio")


def test_the_help_is_whole_at_80_columns(command: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = command("--help")
    assert code == 0 and "..." not in out[out.index("Commands:") :]
    assert "130 stopped (Ctrl-C, SIGTERM)" in " ".join(out.split())


def test_trouble_with_some_clips_is_1(command: Run, tmp_path: Path, videos: Path) -> None:
    (videos / "[bold]junk\n.mp4").write_bytes(b"no video" * 100)
    (videos / "notes.txt").touch()
    code, out, _ = command("annotate", videos, "-o", tmp_path / "store", "--experts", "valid_area", *HERE)
    assert code == 1
    assert "failed [bold]junk\\n.mp4: " in out
    assert "notes.txt: neither a video nor an image" in out
    assert len(open_store(tmp_path / "store").clip_ids()) == 2


@pytest.mark.parametrize(
    ("arguments", "cause", "remedy"),
    [
        (["annotate", "no/such/place", "-o", "{}"], "no/such/place", "give a video"),
        (["annotate", ".", "-o", "{}", "--experts", "colnap"], "no expert is called 'colnap'", "colmap"),
        (["annotate", ".", "-o", "{}", "--intrinsics", "500,500"], "--intrinsics 500,500", "FX,FY,CX,CY"),
        (["annotate", ".", "-o", "{}", "--start", "5", "--end", "4"], "--start 5 --end 4", "start < end"),
        (["annotate", ".", "-o", "{}", "--start", "nan"], "--start nan", "start < end"),
        (["annotate", ".", "-o", "{}", "--intrinsics", "-5,5,9,9"], "--intrinsics -5,5,9,9", "above 0"),
        (["annotate", ".", "-o", "{}", "--experts", ","], "names nothing", "leave the option out"),
        (["annotate", ".", "-o", "{}", "--weights-dir", ".", "--random-weights"], "--weights-dir and", "leave one"),
        (["weights", "fetch", "da3-huge"], "'da3-huge'", "da3-base"),
        (["weights", "fetch", "cotracker3-online"], "CC-BY-NC-4.0", "--experts tapir"),
        (["run", ".", "-o", "{}", "--abilities", "L9"], "no template asks about 'L9'", "--abilities"),
        (["run", ".", "-o", "{}", "--abilities", "Distnce"], "did you mean L1/Geometry/Distance?", "--abilities"),
        (["run", ".", "-o", __file__], "is a file, not a folder", "new folder"),
        (["annotate", ".", "-o", f"{__file__}/below"], "is a file, not a folder", "new folder"),
        (["generate", "{}", "-o", "{}"], "is not a store", "spatial-engine annotate"),
        (["generate", ".", "-o", "{}"], "is not a store", "spatial-engine annotate"),
    ],
)
def test_usage_is_2(command: Run, tmp_path: Path, arguments: list[str], cause: str, remedy: str) -> None:
    code, _, err = command(*(argument.format(tmp_path / "out") for argument in arguments))
    assert code == 2
    first, second = err.splitlines()
    assert first.startswith("error: ")
    assert cause in first
    assert second.startswith("  try: ")
    assert remedy in second
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_written_is_3(command: Run, videos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, value: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("spatial_engine.store.store.write_json", full)
    code, _, err = command("annotate", videos, "-o", videos.parent / "store", "--experts", "valid_area", *HERE)
    assert code == 3
    assert err.splitlines()[0].startswith("error: the disk is full: ")
    assert err.splitlines()[1].startswith("  try: ")


def test_a_fault_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("a fault")

    monkeypatch.setattr("spatial_engine.pipeline.generate", broken)
    with pytest.raises(KeyError, match="a fault"):
        main(["generate", str(tmp_path), "-o", str(tmp_path / "set")])


def test_a_taken_folder_is_said_before_the_work(command: Run, videos: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "dataset").mkdir(parents=True)
    (tmp_path / "out" / "dataset" / "thesis.txt").write_text("mine")
    code, out, err = command("run", videos, "-o", tmp_path / "out", "--experts", "valid_area")
    assert code == 2
    assert "is not a dataset" in err
    assert out == ""
    assert not (tmp_path / "out" / "store").exists()


def test_report_takes_the_folder_of_a_run(command: Run, videos: Path, tmp_path: Path) -> None:
    assert command("run", videos, "-o", tmp_path / "out", "--experts", "valid_area", *HERE)[0] == 0
    (tmp_path / "out" / "report" / "index.html").unlink()
    (tmp_path / "out" / "report" / "gallery.html").unlink()
    for rest in (tmp_path / "out" / "report").iterdir():
        rest.rename(tmp_path / f"old {rest.name}")
    code, out, _ = command("report", tmp_path / "out")
    assert code == 0
    assert out.strip() == f"look at: {tmp_path / 'out' / 'report' / 'index.html'}"
    assert len(list((tmp_path / "out" / "report" / "clips").iterdir())) == 2, "it knows the store"


def test_report_of_a_dataset_takes_its_store(command: Run, videos: Path, tmp_path: Path) -> None:
    store, dataset = tmp_path / "store", tmp_path / "dataset"
    assert command("annotate", videos, "-o", store, "--experts", "valid_area", *HERE)[0] == 0
    _, out, _ = command("generate", store, "-o", dataset)
    assert out.strip().endswith(f"as pages: spatial-engine report {dataset} --store {store}")
    assert command("report", dataset)[0] == 0
    assert not list((dataset / "report" / "clips").iterdir())
    assert command("report", dataset, "--store", store)[0] == 0
    assert len(list((dataset / "report" / "clips").iterdir())) == 2
    code, _, err = command("report", dataset, "--store", videos)
    assert code == 2 and "is not a store" in err


def test_a_range_in_seconds_needs_times(command: Run, videos: Path, tmp_path: Path) -> None:
    line = ("annotate", videos, "-o", tmp_path / "store", "--end", "1", "--experts", "valid_area", *HERE)
    code, _, err = command(*line)
    assert code == 2
    assert "--fps" in err
    write_video(videos / "a.mp4", panning(0, 12))
    code, out, _ = command(*line)
    assert code == 1
    assert out.count("--start/--end: images have no times\n  try: give their rate with --fps") == 2
    assert len(open_store(tmp_path / "store").clip_ids()) == 1


def test_unknown_options_are_usage(command: Run) -> None:
    code, _, err = command("annotate", "videos", "-o", "store", "--upsidedown")
    assert code == 2
    assert "upsidedown" in err


def test_a_missing_package_is_3(command: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lacks_zarr(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'zarr'", name="zarr")

    monkeypatch.setattr("spatial_engine.pipeline.annotate", lacks_zarr)
    code, _, err = command("annotate", ".", "-o", tmp_path / "store")
    assert code == 3
    assert "zarr is not installed" in err and "doctor" in err


def test_plan_runs_nothing(command: Run, tmp_path: Path, videos: Path) -> None:
    code, out, _ = command("annotate", videos, "-o", tmp_path / "store", "--plan", "--experts", "valid_area,klt")
    assert code == 0
    assert "Apache" in out
    assert "estimate" in out
    assert "footage: 2 pieces, 6 frames: 2 clips or more" in out
    assert "clip 0: 3 frames" in out and "GB of memory or more" in out
    assert "disk: about 1 MB for the store; " in out and str(tmp_path / "store") in out.replace("\n", "")
    assert not (tmp_path / "store").exists()
    assert "not range_ratio" in out and "nothing here provides camera_path" in out
    _, out, _ = command("annotate", videos, "-o", tmp_path / "store", "--plan")
    assert "L1/Motion/Ego: camera_turn, camera_travel" in out and "docs/objects.md" in out


def test_the_total_of_a_plan_is_the_sum_of_its_lines(videos: Path, tmp_path: Path) -> None:
    for workers, total in ((1, 2), (2, 1)):
        plan = pipeline.plan(videos, tmp_path / "store", AnnotateOptions(workers=workers))
        assert plan.seconds == pytest.approx(total * sum(step.seconds or 0.0 for step in plan.steps))


def test_plan_shows_the_options_of_single_clips(command: Run, tmp_path: Path, videos: Path) -> None:
    (videos / "clips.yaml").write_text('"clip 1": {upright: true, licence: CC0-1.0}')
    code, out, _ = command("annotate", videos, "-o", tmp_path / "store", "--plan", "--experts", "valid_area")
    assert code == 0
    (line,) = [line for line in out.splitlines() if "CC0-1.0" in line]
    assert line.strip().startswith("clip 1: 3 frames; upright True, licence CC0-1.0 (") and "clips.yaml" in line


def test_plan_names_what_is_missing(command: Run, tmp_path: Path, videos: Path) -> None:
    code, _, err = command("annotate", tmp_path / "nowhere", "-o", tmp_path / "store", "--plan")
    assert code == 2 and "nowhere" in err
    line = ("run", videos, "-o", tmp_path / "out", "--plan", "--sigma-calibration", tmp_path / "none.json")
    code, _, err = command(*line)
    assert code == 2 and "none.json: No such file" in err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Experts with models in the registry, and no weights."""
    for name, target in (("fake_adapter", "FakeAdapter"), ("unpacked", "Unpacked")):
        monkeypatch.setitem(EXPERTS.builtin, name, f"tests.spatial_engine.fake_adapters:{target}")
    monkeypatch.setenv("SPATIAL_ENGINE_WEIGHTS", str(tmp_path / "no weights"))


def test_noncommercial_experts_are_refused_without_the_word(
    command: Run, models: None, tmp_path: Path, videos: Path
) -> None:
    line = ("annotate", videos, "-o", tmp_path / "store", "--experts", "fake_adapter:bound", *HERE)
    code, _, err = command(*line)
    assert code == 2
    assert "may not be used commercially (Apache-2.0, weights CC-BY-NC-4.0)" in err
    assert "depth_anything_3:base" in err
    assert not (tmp_path / "store").exists()
    code, _, err = command(*line, "--allow-noncommercial")
    assert code == 3, "allowed, but there are no weights"
    assert "weights fetch da3-giant-1.1 --allow-noncommercial" in err


def test_missing_weights_cost_their_signal_only(command: Run, models: None, tmp_path: Path, videos: Path) -> None:
    line = ("annotate", videos, "-o", tmp_path / "store", "--experts", "valid_area,fake_adapter", *HERE)
    code, out, _ = command(*line, "--weights-dir", tmp_path / "my weights")
    assert code == 1
    assert "valid_area" in out
    assert f"try: spatial-engine weights fetch da3-base --weights-dir {tmp_path / 'my weights'}" in out


def test_plan_says_what_cannot_run(command: Run, models: None, tmp_path: Path, videos: Path) -> None:
    line = ("annotate", videos, "-o", tmp_path / "store", "--plan", "--experts", "valid_area,unpacked:bound")
    code, out, _ = command(*line)
    assert code == 0
    assert "no_such_package.part: not installed" in out
    assert "try: pip install no-such-package" in out
    assert "try: spatial-engine weights fetch da3-giant-1.1 --allow-noncommercial" in out
    assert "may not be used commercially" in out
    assert out.splitlines()[-2:] == ["cannot run here: unpacked", "  so nothing will provide gravity"]
    assert not (tmp_path / "store").exists()


def test_weights_are_listed_and_verified(command: Run, tmp_path: Path) -> None:
    code, out, _ = command("weights", "list", "--weights-dir", tmp_path)
    assert code == 0
    assert "da3-base" in out and "missing" in out
    code, out, _ = command("weights", "verify", "--weights-dir", tmp_path)
    assert (code, out.strip()) == (0, f"nothing to verify in {tmp_path}")
    code, _, err = command("weights", "verify", "da3-base", "--weights-dir", tmp_path)
    assert code == 3
    assert f"try: spatial-engine weights fetch da3-base --weights-dir {tmp_path}" in err


def test_doctor(command: Run) -> None:
    code, out, _ = command("doctor")
    assert code == 0, out
    assert "pycolmap" in out


def test_version(command: Run) -> None:
    assert command("--version") == (0, f"spatial-engine {spatial_engine.__version__}\n", "")


def test_experts_change_the_default(command: Run, tmp_path: Path, videos: Path) -> None:
    code, out, _ = command("annotate", videos, "-o", tmp_path / "store", "--plan", "--experts", "-sift")
    assert code == 0
    assert "colmap" in out and "sift" not in out


def test_help_names_the_commands(command: Run) -> None:
    code, out, _ = command("--help")
    assert code == 0
    assert all(name in out for name in ("run", "annotate", "generate", "export", "report", "doctor"))


def test_the_file_stays_thin() -> None:
    import spatial_engine.cli.main

    assert len(Path(spatial_engine.cli.__file__).read_text().splitlines()) < 200


def test_a_warning_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert (
        warnings.formatwarning("a plug-in is left out", UserWarning, "file.py", 1) == "warning: a plug-in is left out\n"
    )
