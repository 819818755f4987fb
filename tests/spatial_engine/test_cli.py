"""Commands as a user types them: exit codes, causes, remedies."""

from collections.abc import Callable
from pathlib import Path

import pytest

from spatial_engine.cli import main
from spatial_engine.store import open_store
from tests.spatial_engine.fake_footage import write_folders

Run = Callable[..., tuple[int, str, str]]


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
    assert "2 clips: 0 already done" in out
    assert "valid_area" in out.splitlines()[-2]
    code, out, _ = command(*line)
    assert code == 0
    assert "2 clips: 2 already done" in out


def test_trouble_with_some_clips_is_1(command: Run, tmp_path: Path, videos: Path) -> None:
    (videos / "[bold]junk\n.mp4").write_bytes(b"no video" * 100)
    (videos / "notes.txt").touch()
    code, out, _ = command("annotate", videos, "-o", tmp_path / "store", "--experts", "valid_area")
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


def test_unknown_options_are_usage(command: Run) -> None:
    code, _, err = command("annotate", "videos", "-o", "store", "--upsidedown")
    assert code == 2
    assert "upsidedown" in err


def test_a_missing_package_is_3(command: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "spatial_engine.sources", None)
    code, _, err = command("annotate", ".", "-o", tmp_path / "store")
    assert code == 3
    assert "doctor" in err


def test_plan_runs_nothing(command: Run, tmp_path: Path, videos: Path) -> None:
    code, out, _ = command("annotate", videos, "-o", tmp_path / "store", "--plan", "--experts", "valid_area,klt")
    assert code == 0
    assert "Apache" in out
    assert "estimate" in out
    assert not (tmp_path / "store").exists()


def test_doctor(command: Run) -> None:
    code, out, _ = command("doctor")
    assert code == 0, out
    assert "pycolmap" in out


def test_help_names_the_commands(command: Run) -> None:
    code, out, _ = command("--help")
    assert code == 0
    assert all(name in out for name in ("run", "annotate", "generate", "export", "report", "doctor"))


def test_the_file_stays_thin() -> None:
    import spatial_engine.cli

    assert len(Path(spatial_engine.cli.__file__).read_text().splitlines()) < 200
