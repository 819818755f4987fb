"""What is shown cannot be broken by what it is about."""

import pytest
from rich.console import Console

from spatial_engine.progress import Bar, Lines, Progress, Shares, Silent, duration, printable


def test_all_keep_the_protocol() -> None:
    assert all(isinstance(kind(), Progress) for kind in (Silent, Lines, Shares, Bar))


def test_one_line_whatever_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines() as lines:
        lines.begin("annotating", 2)
        lines.step("a\nb\x1b[31m \udcff", "done")
    assert capsys.readouterr().out == "0:00:00 annotating 1/2: a\\nb\\x1b[31m \\udcff: done\n"


@pytest.mark.parametrize(("total", "most"), [(3, 3), (20, 20), (1000, 20), (1007, 20)])
def test_many_pieces_take_few_lines(capsys: pytest.CaptureFixture[str], total: int, most: int) -> None:
    with Shares() as lines:
        lines.begin("asking", total)
        for number in range(total):
            lines.step("x", "done" if number else "failed\n")
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == most
    assert err.splitlines()[-1] == f"asking {total}/{total} (100 %), 1 unsuccessful"


def test_the_bar_takes_markup_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as bar:
        bar.begin("annotating", 2)
        bar.step("[/red]x[bold]", "failed: [/]")
        bar.step("y", "done")
    assert "[/red]x[bold]: failed: [/]" in capsys.readouterr().out


def test_printable_keeps_letters() -> None:
    assert printable("日本 é 'q' \"d\"") == "日本 é 'q' \"d\""
    Console(file=None)


def test_lines_tell_the_stage_and_the_time_left_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with Lines() as lines:
        lines.begin("annotating", 2)
        lines.left(300)
        for _ in range(40):
            now[0] += 1
            lines.stage("a", "klt", 12, 90)
        lines.step("a", "done")
        lines.step("b", "done")
    assert capsys.readouterr().out.splitlines() == [
        "0:00:30 annotating 0/2: a: klt, frame 12 of 90; about 5 min left",
        "0:00:40 annotating 1/2: a: done; about 5 min left",
        "0:00:40 annotating 2/2: b: done",
    ]


def test_the_bar_shows_frames_of_each_clip_and_the_forecast_of_the_work() -> None:
    with Bar() as bar:
        bar.begin("annotating", 9)
        bar.left(600)
        bar.stage("a", "klt", 12, 90)
        bar.stage("b", "colmap", 0, 60)
        shown = {task.description.strip(): (task.completed, task.total) for task in bar._bar.tasks}
        assert shown == {"annotating": (0, 9), "a: klt": (12, 90), "b: colmap": (0, 60)}
        bar.step("a", "done")
        assert [task.description.strip() for task in bar._bar.tasks] == ["annotating", "b: colmap"]
        assert bar._bar.tasks[0].fields["left"] == "about 10 min left", "one quick clip does not change the forecast"


@pytest.mark.parametrize(("seconds", "words"), [(24.4, "24 s"), (600, "10 min"), (12_000, "3 h 20 min")])
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words
