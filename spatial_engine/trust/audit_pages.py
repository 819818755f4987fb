"""The output folder of a label audit: truth.json, labels.jsonl, and a page that opens from disk."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spatial_engine.atomic_file import write_json
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import plain
from spatial_engine.errors import UsageError
from spatial_engine.output_folder import atomic_folder, check_free, place_file
from spatial_engine.report.page import write_page
from spatial_engine.trust.audited import LabelAudit, entries
from spatial_engine.trust.metrics import AuditMetrics, LabelMetrics
from spatial_engine.trust.reliability_chart import reliability_chart
from templates.columns import Json

_OURS = ("truth.json", "labels.jsonl", "index.html", "media")
_REASONS = 20

Row = tuple[str, LabelMetrics | None, LabelMetrics | None]


def default_out(dataset: Path) -> Path:
    """DATASET.truth beside the dataset."""
    whole = dataset.absolute()
    return whole.with_name(f"{whole.name}.truth")


def check_out(out: Path) -> None:
    """Raises `UsageError` if `write_audit` would refuse the folder: to be called before the work."""
    check_free(out, _check)


def write_audit(audit: LabelAudit, dataset: Dataset, out: Path) -> list[dict[str, Json]]:
    """Writes the folder with the pictures of the worst labels; returns those labels. Equal audits give equal bytes."""
    wanted = {label.verdict.id for label in audit.worst}
    worst = entries(audit.worst, {question.id: question for question in dataset.questions if question.id in wanted})
    with atomic_folder(out, _OURS, _check) as folder:
        (folder / "media").mkdir()
        missing = set()
        for path in sorted({path for entry in worst for path in entry["media"]}):
            try:
                place_file(dataset.path / path, folder / path)
            except OSError:
                missing.add(path)
        write_json(folder / "truth.json", audit.to_json() | {"worst": worst})
        with (folder / "labels.jsonl").open("w", encoding="utf-8", newline="\n") as lines:
            for verdict in audit.verdicts:
                lines.write(json.dumps(plain(asdict(verdict)), ensure_ascii=False, allow_nan=False) + "\n")
        content = _content(audit, dataset.path.resolve().name)
        write_page(folder / "index.html", "trust/index.html", worst=worst, missing=missing, **content)
    return worst


def _content(audit: LabelAudit, name: str) -> dict[str, Any]:
    shown = audit.truth or audit.agreement
    assert shown is not None  # a dataset without either is refused before
    coverages = {"all": shown.all.coverage} | {name: found.coverage for name, found in shown.templates.items()}
    if audit.truth and audit.agreement:
        coverages["agreement, all"] = audit.agreement.all.coverage
    return {
        "root": "",
        "page": "truth",
        "name": name,
        "audit": audit,
        "clock": audit.truth is not None and audit.truth.extent.minutes is not None,
        "tables": [
            ("All", [("all", audit.truth and audit.truth.all, audit.agreement and audit.agreement.all)]),
            ("By leaf", _rows(audit, lambda found: found.leaves)),
            ("By template", _rows(audit, lambda found: found.templates)),
            ("By format", _rows(audit, lambda found: found.formats)),
            ("By experts", _rows(audit, lambda found: found.experts)),
        ],
        "reliability": reliability_chart(coverages),
        "coverages": [(label, found) for label, found in coverages.items() if found is not None],
        "undecidable": list(shown.all.reasons.items())[:_REASONS],
        "not_asked": [] if shown.all.yielded is None else list(shown.all.yielded.reasons.items())[:_REASONS],
    }


def _rows(audit: LabelAudit, of: Callable[[AuditMetrics], Mapping[str, LabelMetrics]]) -> list[Row]:
    one = {} if audit.truth is None else of(audit.truth)
    other = {} if audit.agreement is None else of(audit.agreement)
    return [(name, one.get(name), other.get(name)) for name in sorted({*one, *other})]


def _check(path: Path) -> None:
    if not ((path / "truth.json").is_file() and (path / "labels.jsonl").is_file()):
        raise UsageError(
            f"{path} holds something that is not an audit", "name a folder that does not exist yet: -o OUT"
        )
