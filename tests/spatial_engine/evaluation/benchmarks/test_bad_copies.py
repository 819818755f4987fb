"""Copies that are damaged, incomplete or another benchmark's: counted reasons or an error that helps, never a guess."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spatial_engine.errors import UsageError
from spatial_engine.evaluation.benchmarks.prepare import prepare
from spatial_engine.options import BenchmarkOptions
from tests.spatial_engine.evaluation.benchmarks import copies


def read(copy: Path, name: str, **options: Any) -> tuple[int, dict[str, int]]:
    """Questions, and the rows that are left out by reason."""
    reading = BenchmarkOptions(benchmark=name, **{"frames": 2} | options)
    audit = prepare(copy, copy.parent / "items", reading).audit
    return audit["questions"], audit["refused"][name]


def vsi(folder: Path, *changes: Mapping[str, Any]) -> Path:
    """VSI-Bench, of which the first rows are changed."""
    folder.mkdir()
    rows = copies.vsi_rows()
    copies.vsi_videos(folder, frames=3)
    for row, change in zip(rows, changes, strict=False):
        row |= change
    copies.json_lines(folder / "test.jsonl", rows)
    return folder


def test_rows_that_cannot_be_asked_are_counted(tmp_path: Path) -> None:
    copy = vsi(
        tmp_path / "copy",
        {"scene_name": "gone"},
        {"scene_name": "../../secret"},
        {"ground_truth": "F"},
        {"options": None},
        {"question": " "},
        {"question_type": "object_colour"},
        {"id": 7},
    )
    (copy / "arkitscenes" / "broken.mp4").write_bytes(b"no video")
    table = copy / "test.jsonl"
    lines = table.read_text(encoding="utf-8").splitlines()
    lines[-1] = lines[-1].replace('"21.4"', '"large"')
    lines[-2] = lines[-2].replace('"80"', '"nan"')
    broken = {**json.loads(lines[8]), "scene_name": "broken", "id": "x"}
    table.write_text("\n".join([*lines, "{half", "[]", json.dumps(broken), ""]), encoding="utf-8")
    count, reasons = read(copy, "vsi_bench")
    assert reasons == {
        "a media file is missing": 2,
        "the answer is none of the options": 1,
        "no options": 1,
        "no question": 1,
        "an unknown question_type": 1,
        "an id that an earlier row has": 1,
        "the answer is no number": 2,
        "a line that is not JSON": 1,
        "a row that is no object": 1,
        "a video cannot be decoded": 1,
    }
    assert count == len(lines) - 9


def test_pictures_that_cannot_be_shown_are_counted(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    copies.mmsi_tsv(copy)
    table = copy / "MMSIBench_wo_circular.tsv"
    head, *rows = table.read_text(encoding="utf-8").splitlines()
    rows[0] = rows[0].replace(copies.base64_png(0), copies.base64_png(0)[:120])
    rows[1] = rows[1].replace(str([copies.base64_png(1), copies.base64_png(2)]), "")
    rows[2] = rows[2].replace(copies.base64_png(2), "nowhere.png")
    rows[3] += "\tone more"
    table.write_text("\n".join([head, *rows]), encoding="utf-8")
    (copy / "pictures.zip").write_bytes(b"")
    assert read(copy, "mmsi_bench") == (
        len(rows) - 4,
        {
            "a picture cannot be decoded": 1,
            "no picture and no video": 1,
            "a media file is missing (is a .zip still to be unpacked?)": 1,
            "a row with more or fewer cells than columns": 1,
        },
    )


def test_long_lists_of_pictures_are_read(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    row = {"index": 0, "image": str([copies.base64_png(n) for n in range(60)]), "question": "Which?", "answer": "A"}
    copies.tsv(copy / "MMSIBench.tsv", [{**row, "A": "left", "B": "right", "category": "MSR"}])
    assert len(row["image"]) > 100_000 and read(copy, "mmsi_bench") == (1, {})


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("test.jsonl", b"", r"no item can be asked: there are no rows"),
        ("test.jsonl", b"\n\n", r"there are no rows"),
        ("test.jsonl", b"\xff\xfe{", r"1 . a line that is not JSON \(test.jsonl, row 1\)"),
        ("test.jsonl", b'{"question": "x"}\n', r"no column for the answer: none of ground_truth, answer"),
        ("x.parquet", b"PAR1", r"not a readable parquet file"),
        ("x.tsv", b"index\tquestion\xff\n1\t2\n", r"cannot be read"),
        ("x.json", b"{}", r"holds none of"),
        ("notes.txt", b"", r"holds none of"),
    ],
)
def test_files_of_which_nothing_can_be_asked(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / name).write_bytes(content)
    with pytest.raises(UsageError, match=message) as error:
        read(copy, "vsi_bench")
    assert error.value.remedy
    assert not (tmp_path / "items").exists(), "nothing is left behind"


@pytest.mark.parametrize(("name", "content"), [("a.json", b"{}"), ("a.json", b"[1"), ("a.txt", b"x")])
def test_files_that_are_no_tables(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=r"no table|not JSON|not a list"):
        read(tmp_path / name, "omnispatial")


def test_other_columns_and_media_can_be_named(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    rows = [{"gold": row.pop("ground_truth"), **row} for row in copies.vsi_rows()]
    copies.vsi_videos(tmp_path / "elsewhere", frames=3)
    copies.json_lines(copy / "test.jsonl", rows)
    with pytest.raises(
        UsageError, match=r"(?s)no column for the answer.*it has gold, .*name the right one: --columns answer="
    ):
        read(copy, "vsi_bench")
    with pytest.raises(UsageError, match=r"(?s)a media file is missing.*--media FOLDER"):
        read(copy, "vsi_bench", columns=("answer=gold",))
    count, reasons = read(copy, "vsi_bench", columns=("answer=gold",), media=tmp_path / "elsewhere")
    assert (count, reasons) == (len(rows), {})
    with pytest.raises(UsageError, match=r"(?s)--columns gold.*a field of id, question"):
        read(copy, "vsi_bench", columns=("gold",))


def test_what_is_read_already_is_read_again_only_if_it_changed(tmp_path: Path) -> None:
    copy = vsi(tmp_path / "copy")
    read(copy, "vsi_bench")
    audit = tmp_path / "items" / "audit.json"
    before = audit.stat().st_ino
    read(copy, "vsi_bench")
    assert audit.stat().st_ino == before
    read(copy, "vsi_bench", frames=3)
    assert audit.stat().st_ino != before
    copies.json_lines(copy / "test.jsonl", copies.vsi_rows()[:5])
    assert read(copy, "vsi_bench", frames=3) == (5, {})
