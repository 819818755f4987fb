"""What is shown cannot be broken by what it is about."""

import pytest
from rich.console import Console

from spatial_engine.progress import Bar, Lines, Progress, Shares, Silent, printable


def test_all_keep_the_protocol() -> None:
    assert all(isinstance(kind(), Progress) for kind in (Silent, Lines, Shares, Bar))


def test_one_line_whatever_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    with Lines() as lines:
        lines.begin("annotating", 2)
        lines.step("a\nb\x1b[31m \udcff", "done")
    assert capsys.readouterr().out == "annotating 1/2: a\\nb\\x1b[31m \\udcff: done\n"


@pytest.mark.parametrize(("total", "most"), [(3, 3), (20, 20), (1000, 20), (1007, 20)])
def test_many_pieces_take_few_lines(capsys: pytest.CaptureFixture[str], total: int, most: int) -> None:
    with Shares() as lines:
        lines.begin("asking", total)
        for number in range(total):
            lines.step("x", "done" if number else "failed\n")
    out, err = capsys.readouterr()
    assert not out and len(err.splitlines()) == most
    assert err.splitlines()[-1] == f"asking {total}/{total} (100 %), 1 in trouble"


def test_the_bar_takes_markup_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    with Bar() as bar:
        bar.begin("annotating", 2)
        bar.step("[/red]x[bold]", "failed: [/]")
        bar.step("y", "done")
    assert "[/red]x[bold]: failed: [/]" in capsys.readouterr().out


def test_printable_keeps_letters() -> None:
    assert printable("日本 é 'q' \"d\"") == "日本 é 'q' \"d\""
    Console(file=None)
