"""Rows of a general set among ours: as many as asked for, broken ones counted, files linked, bytes repeatable."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from spatial_engine.cli.main import main
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.part import write_part
from spatial_engine.errors import UsageError
from spatial_engine.export import export

TALK = [{"from": "human", "value": "<image>\nWhat is it?"}, {"from": "gpt", "value": "A cat."}]
CHAT = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Ho"},
]
BROKEN: dict[str, Any] = {
    "no object": 3,
    "no conversation": {"id": 1},
    "images that are missing": {"image": "none.jpg", "conversations": TALK},
    "images that are no paths": {"image": [3], "conversations": TALK},
    "<image> tokens and images differ in number": {"conversations": TALK},
    "an empty turn": {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": " "}]},
    "user and assistant do not take turns": {"messages": [*CHAT, {"role": "user", "content": "And?"}]},
}


@pytest.fixture(scope="module")
def training(every_format: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """All of it in one split."""
    questions = list(every_format.questions)
    clips = sorted({question.clip for question in questions})
    return write_part(every_format, tmp_path_factory.mktemp("mix") / "part", questions, {"train": clips}, {})


@pytest.fixture
def general(tmp_path: Path) -> Path:
    """Good rows in both forms, and one of each kind of broken ones."""
    Image.new("RGB", (8, 8)).save(tmp_path / "cat.jpg")
    good = [{"id": n, "image": "cat.jpg", "conversations": TALK} for n in range(20)] + [{"messages": CHAT}] * 20
    (tmp_path / "general.json").write_text(json.dumps([*BROKEN.values(), *good]))
    return tmp_path / "general.json"


def written(out: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return json.loads((out / "train.json").read_text()), json.loads((out / "export_report.json").read_text())


@pytest.mark.parametrize("form", ["llava", "llava-1.5", "sharegpt"])
def test_one_to_a_half(training: Dataset, general: Path, tmp_path: Path, form: str) -> None:
    out = export(training, tmp_path / "out", to=form, mix=general, ratio=0.5)
    rows, report = written(out)
    other = [row for row in rows if str(row["id"]).startswith("mix_")]
    own = len(rows) - len(other)
    assert report["rows"] == own and report["mix"]["rows"] == report["mix"]["wanted"] == len(other) == round(own / 2)
    assert len({row["id"] for row in rows}) == len(rows)
    for row in other:
        images = row.get("images", [row["image"]] if "image" in row else [])
        turns = row.get("messages") or row["conversations"]
        said = [turn.get("content", turn.get("value")) for turn in turns]
        assert sum(text.count("<image>") for text in said) == len(images) <= 1
        assert all((out / image).is_file() for image in images)
        assert said[-1] == ("A cat." if images else "Ho")
        assert form == "sharegpt" or {turn["from"] for turn in turns} == {"human", "gpt"}
    again, _ = written(export(training, tmp_path / "again", to=form, mix=general, ratio=0.5))
    assert again == rows


def test_too_few_and_broken_rows_are_counted(training: Dataset, general: Path, tmp_path: Path) -> None:
    _, report = written(export(training, tmp_path / "out", to="sharegpt", mix=general, ratio=1000))
    assert report["mix"]["rows"] == 40 < report["mix"]["wanted"]
    assert report["mix"]["broken"] == dict.fromkeys(sorted(BROKEN), 1)


def test_json_lines_and_a_folder_of_media(training: Dataset, general: Path, tmp_path: Path) -> None:
    rows = json.loads(general.read_text())
    (tmp_path / "lines").mkdir()
    lines = tmp_path / "lines" / "general.jsonl"
    lines.write_text("\n".join(["{broken", *map(json.dumps, rows)]))
    _, report = written(export(training, tmp_path / "out", to="llava", mix=lines, ratio=9, mix_media=tmp_path))
    assert report["mix"]["broken"]["no object"] == 2 and report["mix"]["rows"] == 40


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"to": "hf"}, "hf has no rows of conversations"),
        ({"ratio": 0.0}, "--ratio 0"),
        ({"ratio": float("nan")}, "--ratio nan"),
        ({"mix": "nowhere.json"}, "no such file"),
        ({"mix_media": "nowhere"}, "no such folder"),
    ],
)
def test_what_cannot_be(training: Dataset, general: Path, tmp_path: Path, how: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        export(training, tmp_path / "out", **({"to": "llava", "mix": general} | how))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["{", '{"a": 1}'])
def test_a_file_that_is_no_list(training: Dataset, tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(UsageError, match="odd"):
        export(training, tmp_path / "out", to="llava", mix=tmp_path / "odd.json")


def test_the_command_says_how_many(
    training: Dataset, general: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(
            [
                "export",
                str(training.path),
                "--to",
                "llava",
                "-o",
                str(tmp_path / "o"),
                "--mix",
                str(general),
                "--ratio",
                "9",
            ]
        )
    said = capsys.readouterr().out
    assert "and 40 of " in said and "1 row not used: an empty turn" in said
