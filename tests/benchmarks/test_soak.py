from dataclasses import replace
from itertools import count

import pytest

from benchmarks import soak
from benchmarks.soak import Round

STEADY = Round(results="a", memory_mb=400.0, files=11, threads=7)


def soaked(monkeypatch: pytest.MonkeyPatch, *later: Round) -> list[Round]:
    """Rounds that end like these; the first ones are steady."""
    rounds = [STEADY, STEADY, STEADY, *later]
    number = count()
    monkeypatch.setattr(soak, "footage", lambda folder: folder)
    monkeypatch.setattr(soak, "played", lambda *_: rounds[next(number)])
    return soak.main(0.0)


def test_memory_of_the_first_rounds_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "_WARM", 2)
    number = count()
    monkeypatch.setattr(soak, "footage", lambda folder: folder)
    monkeypatch.setattr(soak, "played", lambda *_: replace(STEADY, memory_mb=[100.0, 400.0, 410.0][next(number)]))
    assert len(soak.main(0.0)) == 3


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (replace(STEADY, results="b"), "other results"),
        (replace(STEADY, memory_mb=450.0), "memory grows: 400 to 450 MB"),
        (replace(STEADY, files=12), "left behind"),
        (replace(STEADY, threads=8), "left behind"),
    ],
)
def test_what_changes_is_reported(monkeypatch: pytest.MonkeyPatch, last: Round, told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        soaked(monkeypatch, last)


def test_a_steady_run_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert soaked(monkeypatch, replace(STEADY, memory_mb=430.0)) == [STEADY] * 3 + [replace(STEADY, memory_mb=430.0)]
