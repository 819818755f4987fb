"""Rows that lmms-eval's task `spatialtreebench` reads, scored by its own metrics.

A row has question, option, answer, question_type, hint, extra_info, image, video, video_info; `hint` and
`extra_info` are JSON strings. Media stand in `images/`: set SPATREEBENCH_MEDIA_ROOT to the folder.
"""

from pathlib import Path
from shutil import copyfile

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.export.exporter import Exported, counted, write_rows
from spatial_engine.export.spatialtree_oracle import OracleReport
from spatial_engine.scoring.official.row import CannotScore, image_path, row

ROWS = "test.jsonl"
_README = """\
Rows for the task `spatialtreebench` of lmms-eval, in `test.jsonl`; pictures in `images/`.

Point the task's `dataset_path` at `json` with `data_files: {test: .../test.jsonl}`, and set `SPATREEBENCH_MEDIA_ROOT`
to this folder. Its root score counts leaves without rows as zero: compare leaves, not the root.
What could not be put into rows, and why, stands in `export_report.json`; its `oracle` says per leaf what the official
scorer gives to right answers.
"""


def export_spatialtree(dataset: Dataset, folder: Path) -> Exported:
    """Writes `test.jsonl`, `images/` and a README into `folder`."""
    (folder / "images").mkdir()
    rows, left_out, oracle = [], [], OracleReport()
    for question in dataset.questions:
        try:
            made = row(question)
        except CannotScore as reason:
            left_out.append(str(reason))
            oracle.left_out(question.ability, str(reason))
            continue
        rows.append(made)
        oracle.answer(question.ability, made)
        for medium in question.media:
            target = folder / image_path(medium["path"])
            if not target.exists():
                copyfile(dataset.path / medium["path"], target)
    write_rows(folder / ROWS, rows)
    (folder / "README.md").write_text(_README, encoding="utf-8")
    return Exported(
        rows=len(rows),
        left_out=counted(left_out),
        files=(ROWS, "images", "README.md"),
        detail={"oracle": oracle.by_leaf()},
    )
