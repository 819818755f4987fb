"""The comparison of the COLMAP expert with bare calls, on one short and small walk."""

import re
import sys

import pytest

from benchmarks import colmap


def test_a_line_per_room_and_the_ratio(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {"FRAMES": 6, "WIDTH_PX": 160, "HEIGHT_PX": 120}.items():
        monkeypatch.setattr(colmap, name, value)
    monkeypatch.setattr(sys, "argv", ["colmap", "1"])
    colmap.main()
    room, total = capsys.readouterr().out.splitlines()
    found = re.fullmatch(r"room 0, a path: [\d.]+ s, bare ([\d.]+) s: ([\d.]+)", room)
    assert found and float(found[1]) > 0
    assert total.startswith("6 frames: ") and total.endswith(f"{found[2]} times bare calls")
