"""YAML is read as plain values, in time that its size bounds."""

import time
from pathlib import Path

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.sequences import open_sequence
from spatial_engine.sources import yaml_file
from spatial_engine.sources.yaml_file import DEEPEST, MOST_BYTES, read_yaml


def bomb() -> str:
    """About 600 bytes that stand for 9^9 values."""
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 10)]
    return "\n".join(rows) + "\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "sequence.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_alias_bomb_is_refused_at_once(tmp_path: Path) -> None:
    path = written(tmp_path, bomb())
    assert path.stat().st_size < 700
    started = time.process_time()
    with pytest.raises(UsageError, match="an anchor or alias in line 1: write the value out"):
        open_sequence(tmp_path)
    with pytest.raises(UsageError, match="anchor or alias"):
        open_sequence(path)
    assert time.process_time() - started < 5


@pytest.mark.parametrize("text", ["a: &x 1", "a: &x {b: 1}\nc: *x", "- *nowhere", "a: {<<: &x {b: 1}}"])
def test_no_anchor_and_no_alias(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="anchor or alias"):
        read_yaml(written(tmp_path, text), "")


def test_depth_is_limited(tmp_path: Path) -> None:
    assert read_yaml(written(tmp_path, "[" * (DEEPEST - 1) + "1" + "]" * (DEEPEST - 1)), "")
    for depth in (DEEPEST, 100_000):
        with pytest.raises(UsageError, match=f"more than {DEEPEST} lists and mappings"):
            read_yaml(written(tmp_path, "[" * depth + "1" + "]" * depth), "")


@pytest.mark.parametrize(
    "text", ["a: [1", "a: !!python/object:os.system {}", "a: 2024-99-99", "\tx", "a: " + "x" * MOST_BYTES]
)
def test_what_cannot_be_read_says_so_and_what_to_do(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"sequence\.yaml") as caught:
        read_yaml(written(tmp_path, text), "do this")
    assert caught.value.remedy == "do this"


def test_plain_values_and_the_head_that_opencv_writes(tmp_path: Path) -> None:
    text = "%YAML:1.0\n# of a camera\nT_BS:\n  data: [1.0, 0]\nname: x\n"
    assert read_yaml(written(tmp_path, text), "") == {"T_BS": {"data": [1.0, 0]}, "name": "x"}
    assert read_yaml(written(tmp_path, ""), "") is None


@pytest.mark.parametrize("tail", ["", ".5"])
def test_endless_numbers_are_refused(tmp_path: Path, tail: str) -> None:
    """To base 60, they would take minutes."""
    with pytest.raises(UsageError, match=r"a number of 80000[13] characters"):
        read_yaml(written(tmp_path, "a: 1" + ":1" * 400_000 + tail), "")


def test_endless_lists_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_file, "MOST_VALUES", 1000)
    read_yaml(written(tmp_path, "[" + "a," * 999 + "]"), "")
    with pytest.raises(UsageError, match="more than 1000 values"):
        read_yaml(written(tmp_path, "[" + "a," * 1000 + "]"), "")


def test_short_numbers_are_read(tmp_path: Path) -> None:
    text = "[0x1F, 1_000, 190:20:30, -1.5e-300, .inf, 3.141592653589793]"
    assert read_yaml(written(tmp_path, text), "") == [31, 1000, 685230, -1.5e-300, float("inf"), 3.141592653589793]
