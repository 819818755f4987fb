"""Rows that lmms-eval's task `spatialtreebench` reads, scored by its own metrics.

A row has question, option, answer, question_type, hint, extra_info, image, video, video_info; `hint` and
`extra_info` are JSON strings. Media stand in `images/`: set SPATREEBENCH_MEDIA_ROOT to the folder.
"""

import json
from pathlib import Path

from spatial_engine.balance import LETTERS
from spatial_engine.dataset import Dataset
from spatial_engine.export.exporter import Exported, counted, write_rows
from spatial_engine.media import place_file
from templates.measured import Json
from templates.question import Question

ROWS = "test.jsonl"
_BRANCHES = {"Understanding": "Underst.", "Causal Reasoning": "Caus. Reas.", "Sequential Planning": "Seq. Plan."}
_GRAVITY = ("roll", "pitch", "vfov")
_README = """\
Rows for the task `spatialtreebench` of lmms-eval, in `test.jsonl`; pictures in `images/`.

Point the task's `dataset_path` at `json` with `data_files: {test: .../test.jsonl}`, and set `SPATREEBENCH_MEDIA_ROOT`
to this folder. Its root score counts leaves without rows as zero: compare leaves, not the root.
What could not be put into rows, and why, stands in `export_report.json`.
"""


class CannotScore(Exception):  # noqa: N818 - it is no fault
    """No official metric scores this question; the message is the counted reason."""


def export_spatialtree(dataset: Dataset, folder: Path) -> Exported:
    """Writes `test.jsonl`, `images/` and a README into `folder`."""
    (folder / "images").mkdir()
    rows, left_out = [], []
    for question in dataset.questions:
        try:
            rows.append(row(question))
        except CannotScore as reason:
            left_out.append(str(reason))
            continue
        for medium in question.media:
            target = folder / _image_path(medium["path"])
            if not target.exists():
                place_file(dataset.path / medium["path"], target)
    write_rows(folder / ROWS, rows)
    (folder / "README.md").write_text(_README, encoding="utf-8")
    return Exported(rows=len(rows), left_out=counted(left_out), files=(ROWS, "images", "README.md"))


def row(question: Question) -> dict[str, Json]:
    """One row. Raises `CannotScore`."""
    metric, answer, hint = _metric(question)
    shown = [medium for medium in question.media if not medium.get("option")]
    drawn = [medium for medium in question.media if medium.get("option")]
    place = {medium["id"]: f"picture {len(shown) + 1 + index}" for index, medium in enumerate(drawn)}
    note = f" The options are pictures {len(shown) + 1} to {len(shown) + len(drawn)}." if drawn else ""
    return {
        "session_id": question.id,
        "question": question.prompt + note,
        "option": [f"{LETTERS[i]}. {place.get(text, text)}" for i, text in enumerate(question.options)],
        "answer": answer,
        "question_type": "mcq" if question.format == "choice" else "open",
        "hint": json.dumps(hint) if hint else "",
        "extra_info": json.dumps({"metricfunc": metric, **tags(question.ability), "fact_id": question.fact_id}),
        "image": [_image_path(medium["path"]) for medium in (*shown, *drawn)],
        "video": [],
        "video_info": [{"frame_index": [frame for medium in shown for frame in medium.get("frames", ())]}],
    }


def tags(ability: str) -> dict[str, str]:
    """The place in the tree. No blanks: the official lookup removes them from its own names, and then compares."""
    level, branch, leaf = ability.split("/")
    names = (level, _BRANCHES.get(branch, branch), leaf)
    return {f"spatree{depth}": name.replace(" ", "") for depth, name in enumerate(names)}


def _metric(question: Question) -> tuple[str, str, dict[str, float]]:
    """(metric, answer as text, hint)."""
    match question.format:
        case "choice":
            return "multichoiceeval", str(question.answer), {}
        case "yes_no":
            return "judge", str(question.answer), {}
        case "numeric":
            if "period" in question.scorer_params:
                raise CannotScore("relative accuracy is not defined for directions")
            if question.answer <= 0:
                raise CannotScore("relative accuracy is not defined for numbers that are not positive")
            return "meanrelativeacc", str(question.answer), {}
        case "json" if question.ability == "L1/Orientation/Gravity":
            return _gravity(question)
        case "plan" if "point_fraction" in question.scorer_params:
            raise CannotScore("the navigation score needs metres, and the clip's scale is relative")
        case "plan":
            raise CannotScore("the navigation score turns about permuted axes: a right plan would not get full marks")
    raise CannotScore(f"no official metric for {question.ability} in the format {question.format}")


def _gravity(question: Question) -> tuple[str, str, dict[str, float]]:
    """All three angles in degrees, each with the σ that widens the official kernel."""
    if set(question.answer) != set(_GRAVITY):
        raise CannotScore("the gravity score needs roll, pitch and vfov, and one of them is not known well enough")
    hint = {f"{name}_unc": float(question.sigma[name]) for name in _GRAVITY}
    return "gravityeval", json.dumps({name: question.answer[name] for name in _GRAVITY}), hint


def _image_path(path: str) -> str:
    return f"images/{Path(path).name}"
