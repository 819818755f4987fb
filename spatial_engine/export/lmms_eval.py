"""A task folder for lmms-eval (0.7.3): NAME/{NAME.yaml, utils.py, scorer.zip, test.parquet}, movable as a whole.

lmms-eval takes `data_files` relative to the YAML. It reports `overall`, every leaf by its name, and `unreadable`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.parquet import Kind, check_pyarrow, pictures, write_parquet
from spatial_engine.dataset.question_line import to_line
from spatial_engine.evaluation import protocol
from spatial_engine.evaluation.baselines import oracle_text
from spatial_engine.export.exporter import NO_VIDEOS, Exported, counted, shows_video, slug
from spatial_engine.export.scorer_archive import NAME as SCORER
from spatial_engine.export.scorer_archive import task_code, write_scorer
from spatial_engine.scoring import own
from templates.ability import LEAVES
from templates.answers.score import Unscored
from templates.question import Question

COLUMNS: Mapping[str, Kind] = {
    "id": "text",
    "ability": "text",
    "format": "text",
    "clip": "text",
    "system": "text",
    "parts": "text",
    "images": "images",
    "target": "text",
    "question": "text",
}
"""`system`: the system message, or "". `parts`: JSON, texts and indices into `images` in the order shown. `question`:
the line of `questions.jsonl`."""
DATA = "test.parquet"

_README = """\
A task of lmms-eval 0.7.3 or newer:

    pip install jaxtyping scipy      # into lmms-eval's environment: what the scorer needs
    lmms-eval --model ... --tasks {name} --include_path THIS_FOLDER --batch_size 1 --output_path OUT --log_samples

Pass the folder that holds `{name}` as --include_path, and run the command from another directory: lmms-eval loads a
task differently if the working directory has a folder of its name. It exits 0 even if an evaluation failed: look for
`OUT/**/*_results.json`. Metrics: `overall`, each leaf by its name, `unreadable`; all from 0 to 1.
`export_report.json` lists the omitted questions by reason.
"""


def export_lmms_eval(dataset: Dataset, folder: Path, *, system_prompt: bool = False) -> Exported:
    """Writes the task's folder and a README into `folder`. Leaves out what no rule scores."""
    check_pyarrow()
    task = folder / (name := slug(dataset.path))
    task.mkdir()
    reasons: list[str] = []
    leaves: set[str] = set()

    def rows() -> Iterator[dict[str, Any]]:
        for question in dataset.questions:
            if isinstance(right := own.score(question, oracle_text(question)), Unscored):
                reasons.append(right.reason)
                continue
            if shows_video(question):
                reasons.append(NO_VIDEOS)
                continue
            leaves.add(question.ability)
            yield row(question, dataset.path, system_prompt)

    count = write_parquet(task / DATA, COLUMNS, rows())
    (task / f"{name}.yaml").write_text(_yaml(name, leaves), encoding="utf-8")
    (task / "utils.py").write_bytes(task_code("lmms_eval_task"))
    write_scorer(task / SCORER)
    (folder / "README.md").write_text(_README.format(name=name), encoding="utf-8")
    return Exported(rows=count, left_out=counted(reasons), files=(name, "README.md"))


def row(question: Question, folder: Path, system_prompt: bool = False) -> dict[str, Any]:
    """One row; `folder` is the dataset's."""
    shown = protocol.prompt(question, system_prompt=system_prompt)
    media = [part for part in shown.parts if not isinstance(part, str)]
    places = iter(range(len(media)))
    parts = [part if isinstance(part, str) else next(places) for part in shown.parts]
    return {
        "id": question.id,
        "ability": question.ability,
        "format": question.format,
        "clip": question.clip,
        "system": shown.system,
        "parts": json.dumps(parts, ensure_ascii=False),
        "images": pictures(folder, media),
        "target": oracle_text(question),
        "question": to_line(question),
    }


def _yaml(name: str, leaves: set[str]) -> str:
    """JSON strings are valid YAML; only the tag `!function` is not JSON."""
    ordered = sorted(leaves, key=lambda leaf: (LEAVES.index(leaf) if leaf in LEAVES else len(LEAVES), leaf))
    functions = ("doc_to_visual", "doc_to_text", "doc_to_messages", "doc_to_target", "process_results")
    metrics = [("overall", "!function utils.mean_score", "true"), ("unreadable", "mean", "false")]
    metrics += [(json.dumps(leaf), "mean", "true") for leaf in ordered]
    return "\n".join(
        (
            f"task: {name}",
            "dataset_path: parquet",
            f"dataset_kwargs: {{data_files: {{test: {DATA}}}}}",
            "test_split: test",
            "output_type: generate_until",
            *(f"{function}: !function utils.{function}" for function in functions),
            "generation_kwargs: {max_new_tokens: 16000, temperature: 0, do_sample: false}",
            "cluster_key: clip",
            "metric_list:",
            *(f"  - {{metric: {m}, aggregation: {a}, higher_is_better: {h}}}" for m, a, h in metrics),
            "metadata: {version: 1.0}",
            "",
        )
    )
