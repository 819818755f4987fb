"""`se.audit_labels`: a data set held against truth, written to a folder, counts noted in the data set itself."""

from collections.abc import Sequence
from pathlib import Path

from spatial_engine.dataset import Dataset
from spatial_engine.progress import Progress
from spatial_engine.store import Store, open_store
from spatial_engine.trust.audit_dataset import audit_dataset, note_truth
from spatial_engine.trust.audited import LabelAudit
from spatial_engine.trust.pages import check_out, default_out, write_audit


def audit_labels(
    dataset: Dataset | str | Path,
    truth: Sequence[str | Path] | str | Path,
    out: str | Path | None = None,
    *,
    store: Store | str | Path | None = None,
    progress: Progress | None = None,
) -> LabelAudit:
    """Holds every label against sequences with ground truth (docs/audit_labels.md).

    Args:
        dataset: one that `generate` wrote; its audit.json and card get the counts.
        truth: folders of a known layout, manifests, or FOLDER=SEQUENCE.yaml; one or several.
        out: folder to write truth.json, labels.jsonl, index.html and pictures of the worst labels to; by default
            DATASET.truth.
        store: what the data set was made from: tells the yield. By default the `store` beside the data set.
        progress: who is told.

    Raises:
        UsageError: `out` holds something else, or no sequence is of a clip of the data set.
    """
    held = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    target = default_out(held.path) if out is None else Path(out)
    check_out(target)
    source = open_store(store) if isinstance(store, str | Path) else store
    sequences = [truth] if isinstance(truth, str | Path) else truth
    audit = audit_dataset(held, sequences, store=source, progress=progress)
    note_truth(audit, held, write_audit(audit, held, target))
    return audit
