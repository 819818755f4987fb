"""Tables for VLMEvalKit: NAME.tsv and NAME_circular.tsv of choices, which it runs as they are, NAME_open.tsv of all
other formats, which the class file beside them makes a dataset of.

Columns are those of its image questions; pictures are base64, several as the literal of a Python list.
"""

import csv
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import to_line
from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.evaluation.protocol import rotated
from spatial_engine.export.conversations import answer_form
from spatial_engine.export.exporter import NO_VIDEOS, Exported, counted, shows_video, slug
from spatial_engine.export.scorer_archive import NAME as SCORER
from spatial_engine.export.scorer_archive import task_code, write_scorer
from spatial_engine.scoring import own
from spatial_engine.scoring.official.pictures_first import pictures_first
from templates.answers.score import Unscored
from templates.question import LETTERS, Question

CLASS_FILE = "spatial_engine_dataset.py"
_OFFSET = 1_000_000  # of VLMEvalKit's own circular tables: index of rotation i = index + i · offset
_COMMON = ("index", "image", "image_path", "question", "answer", "category", "l2-category", "id")
# What pandas takes for a missing cell, or for a number, when VLMEvalKit reads a table.
_MISSING = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA")
) | {"NULL", "NaN", "None", "n/a", "nan", "null"}

_README = """\
Tables for VLMEvalKit. Set `LMUData` to this folder, then, in its repository:

    python run.py --data {name} {name}_circular --model MODEL --judge exact_matching

runs the choices ({choices} questions; in the circular table each is asked once per option).

`{name}_open.tsv` ({others} questions) holds the other formats: yes/no, numbers, points, orders, plans. VLMEvalKit has
no dataset of that kind: copy `{file}` into its `vlmeval/dataset/`, and add to `vlmeval/dataset/__init__.py`
above `CUSTOM_DATASET`:

    from .spatial_engine_dataset import SpatialEngineDataset
    IMAGE_DATASET.append(SpatialEngineDataset)

Then `--data {name}_open` runs it, scored by Spatial Engine's own scorer in `{scorer}` (Python 3.11 or newer;
pip install scipy jaxtyping). What is left out, and why, stands in `export_report.json`.
"""


class _Table:
    """A TSV that is written row by row."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")
        self._writer = csv.DictWriter(self._file, columns, delimiter="\t", lineterminator="\n")
        self._writer.writeheader()
        self.rows = 0

    def add(self, row: Mapping[str, object]) -> None:
        self._writer.writerow(row)
        self.rows += 1

    def __enter__(self) -> "_Table":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def export_vlmevalkit(dataset: Dataset, folder: Path) -> Exported:
    """Writes the three tables, the class file, the scorer and a README into `folder`."""
    name = slug(dataset.path)
    letters = LETTERS[: max((len(question.options) for question in dataset.questions), default=2)]
    reasons: list[str] = []
    with (
        _Table(folder / f"{name}.tsv", (*_COMMON, *letters)) as choices,
        _Table(folder / f"{name}_circular.tsv", (*_COMMON, *letters, "g_index")) as circular,
        _Table(folder / f"{name}_open.tsv", (*_COMMON, "item")) as others,
    ):
        for question in dataset.questions:
            if shows_video(question):
                reasons.append(NO_VIDEOS)
                continue
            if not question.options:
                row = open_row(question, others.rows, dataset.path)
                if isinstance(row, Unscored):
                    reasons.append(row.reason)
                else:
                    others.add(row)
                continue
            rows = circular_rows(question, choices.rows, dataset.path)
            if isinstance(rows, Unscored):
                reasons.append(rows.reason)
                continue
            choices.add({key: value for key, value in rows[0].items() if key != "g_index"})
            for row in rows:
                circular.add(row)
    (folder / CLASS_FILE).write_bytes(task_code("vlmevalkit_dataset"))
    write_scorer(folder / SCORER)
    words = {"name": name, "choices": choices.rows, "others": others.rows, "file": CLASS_FILE, "scorer": SCORER}
    (folder / "README.md").write_text(_README.format(**words), encoding="utf-8")
    tables = (f"{name}.tsv", f"{name}_circular.tsv", f"{name}_open.tsv")
    return Exported(
        rows=choices.rows + others.rows,
        left_out=counted(reasons),
        files=(*tables, CLASS_FILE, SCORER, "README.md"),
        detail={"choices": choices.rows, "circular": circular.rows, "others": others.rows},
    )


def circular_rows(question: Question, index: int, folder: Path) -> list[dict[str, object]] | Unscored:
    """A choice, as it is first, then with its options moved up one place each time.

    As VLMEvalKit's own tool does, choices whose texts hold labels are not rotated. `Unscored` where pandas would not
    read the options as they are written.
    """
    options = pictures_first(question).options
    if any(text.strip() in _MISSING or _is_number(text) for text in options):
        return Unscored(reason="pandas would not read an option as text")
    common = _common(question, index, folder)
    rotations = range(1 if _hold_labels(options) else len(options))
    return [{**common, **_rotated(question, index, rotation)} for rotation in rotations]


def _rotated(question: Question, index: int, rotation: int) -> dict[str, object]:
    """What the rows of one question differ in."""
    shown = rotated(question, rotation)
    return {
        **dict(zip(LETTERS, pictures_first(shown).options, strict=False)),
        **({"image": index} if rotation else {}),  # that of the row with this index
        "index": index + rotation * _OFFSET,
        "g_index": index,
        "answer": shown.answer,
    }


def open_row(question: Question, index: int, folder: Path) -> dict[str, object] | Unscored:
    """A question of another format; `Unscored` where no rule scores it."""
    if isinstance(scored := own.score(question, oracle_text(question)), Unscored):
        return scored
    row = _common(question, index, folder)
    words = f"{row['question']}\n{answer_form(question)}"
    return {**row, "question": words, "answer": oracle_text(question), "item": to_line(question)}


def _common(question: Question, index: int, folder: Path) -> dict[str, object]:
    """What every row has. `folder` is the dataset's."""
    asked = pictures_first(question)
    names = [Path(medium["path"]).name for medium in asked.media]
    pictures = [b64encode((folder / medium["path"]).read_bytes()).decode() for medium in asked.media]
    return {
        "index": index,
        "image": pictures[0] if len(pictures) == 1 else json.dumps(pictures),
        "image_path": names[0] if len(names) == 1 else json.dumps(names),
        "question": asked.prompt,
        "category": question.ability,
        "l2-category": question.ability.rpartition("/")[0],
        "id": question.id,
    }


def _hold_labels(options: Sequence[str]) -> bool:
    """Whether an option is a letter, or names two of the letters that label the options."""
    labels = set(LETTERS[: len(options)])
    words = [set(re.sub(r"[^a-zA-Z ]", " ", text).split()) for text in options]
    return any(text in LETTERS for text in options) or any(len(found & labels) > 1 for found in words)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
