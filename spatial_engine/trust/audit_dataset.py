"""`spatial-engine audit-labels`: compares the labels of a dataset with sequences that have ground truth."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from experts.clip import Clip
from experts.footage.decoding import DecodingError
from experts.sigma_calibration import SigmaCalibration
from spatial_engine.dataset.audit import set_truth
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.errors import SpatialEngineError, StoreError
from spatial_engine.progress import Progress, Silent
from spatial_engine.sequences.sequence import Sequence as OpenedSequence
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import Store, open_store
from spatial_engine.trust.audit_pages import check_out, default_out, write_audit
from spatial_engine.trust.audited import LabelAudit, worst
from spatial_engine.trust.label_audit import compare_labels
from spatial_engine.trust.metrics import AuditMetrics, Extent, audit_metrics
from spatial_engine.trust.true_sequence import TrueSequence, described, open_truth
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import ClipYield, clip_yield
from templates.columns import Json
from templates.question import Question
from templates.registry import create_templates
from templates.settings import AskSettings

_TROUBLE = (DecodingError, OSError, SpatialEngineError)


@dataclass(kw_only=True)
class _Clip:
    """The comparison of one clip."""

    id: str
    frames: int
    minutes: float | None
    """From the time stamps of the dataset, else of the sequence; None if neither has any."""
    sequence: TrueSequence
    verdicts: list[Verdict]
    yields: list[ClipYield]


def audit_dataset(
    dataset: Dataset, truth: Sequence[str | Path], *, store: Store | None = None, progress: Progress | None = None
) -> LabelAudit:
    """Compares every question with the sequence of its clip, and measures the yield.

    Args:
        dataset: the dataset; it is not changed.
        truth: folders, manifests, or FOLDER=SEQUENCE.yaml.
        store: the store that the dataset was made from; by default the `store` beside it, if there is one. Without
            a store the yield is unknown.
        progress: receives what is done.

    Raises:
        UsageError: no sequence belongs to a clip of the dataset.
    """
    progress = progress or Silent()
    store = store or store_beside(dataset.path)
    by_clip: dict[str, list[Question]] = defaultdict(list)
    for question in dataset.questions:
        by_clip[question.clip].append(question)
    record = dataset.audit
    clips = frozenset([*by_clip, *(id for split in record["splits"].values() for id in split)])
    opened = open_truth(truth, clips)
    errors, compared = list(opened.errors), []
    progress.begin("auditing", len(opened.sequences))
    for sequence in sorted(opened.sequences, key=lambda sequence: sequence.clip.id):
        try:
            compared.append(_compared(sequence, by_clip[sequence.clip.id], store, record))
            progress.step(sequence.clip.name, "done")
        except _TROUBLE as error:
            cause, *remedy = str(error).splitlines() or [type(error).__name__]
            errors.append((sequence.clip.name, cause, " ".join(remedy)))
            progress.step(sequence.clip.name, f"failed: {cause}")
    known = {each.id for each in compared}
    true = [each for each in compared if each.sequence.kind == "truth"]
    agreeing = [each for each in compared if each.sequence.kind == "agreement"]
    without = [question for id in clips - known for question in by_clip[id]]
    return LabelAudit(
        verdicts=tuple(_verdicts(compared)),
        truth=_metrics(true, store),
        agreement=_metrics(agreeing, store),
        worst=tuple(worst(_verdicts(true or agreeing))),
        sequences=tuple(each.sequence for each in compared),
        not_in_dataset=opened.not_in_dataset,
        errors=tuple(errors),
        without={"clips": len(clips - known), "facts": len({(q.clip, q.fact_id) for q in without})},
        store=store is not None,
    )


def record_counts(audit: LabelAudit, dataset: Dataset, worst: Sequence[Mapping[str, Json]]) -> None:
    """Writes the counts against truth to the dataset's audit.json and card. Sequences with poses from the same images
    (kind "agreement") are omitted."""
    if audit.truth is None:
        return
    facts = audit.truth.all.facts
    counts = {"right": facts.right, "wrong": facts.wrong, "undecidable": facts.undecidable}
    names = sorted({sequence.name for sequence in audit.sequences if sequence.kind == "truth"})
    set_truth(dataset.path, counts, worst, ", ".join(names))


def store_beside(dataset: Path) -> Store | None:
    """The store beside a dataset, where `run` puts it; None without one."""
    try:
        return open_store(dataset.resolve().parent / "store")
    except StoreError:
        return None


def _compared(
    sequence: OpenedSequence, questions: Iterable[Question], store: Store | None, record: Mapping[str, Json]
) -> _Clip:
    id = sequence.clip.id
    stored = None if store is None or id not in store.clip_ids() else clip_from_json(store.record(id).clip)
    times_s = sequence.clip.times_s if stored is None or stored.times_s is None else stored.times_s
    return _Clip(
        id=id,
        frames=len(sequence.clip.frames),
        minutes=None if times_s is None else _minutes(times_s),
        sequence=described(sequence),
        verdicts=list(compare_labels(questions, {id: sequence})),
        yields=[] if store is None or stored is None else _yields(stored, store, record),
    )


def _yields(clip: Clip, store: Store, record: Mapping[str, Json]) -> list[ClipYield]:
    """The yield under the settings, the seed and the σ calibration of the dataset."""
    made_with, known = record["settings"], create_templates()
    templates = [known[name] for name in made_with.get("templates", known) if name in known]
    ask, maps = (
        AskSettings(**made_with.get("ask", {})),
        SigmaCalibration.from_json(made_with.get("sigma_calibration", {})),
    )
    return clip_yield(clip, store.signals(clip.id), templates, ask, record["seed"], maps)


def _metrics(clips: Sequence[_Clip], store: Store | None) -> AuditMetrics | None:
    if not clips:
        return None
    minutes = [each.minutes for each in clips]
    extent = Extent(
        clips=len(clips),
        frames=sum(each.frames for each in clips),
        minutes=None if None in minutes else sum(length for length in minutes if length is not None),
    )
    yields = [part for each in clips for part in each.yields]
    return audit_metrics(_verdicts(clips), None if store is None else yields, extent)


def _verdicts(clips: Sequence[_Clip]) -> list[Verdict]:
    return [verdict for each in clips for verdict in each.verdicts]


def _minutes(times_s: Float64[np.ndarray, "n"]) -> float:
    """Duration of a clip, including its last frame."""
    n = len(times_s)
    return float(times_s[-1] - times_s[0]) / 60 * n / max(n - 1, 1)


def audit_labels(
    dataset: Dataset | str | Path,
    truth: Sequence[str | Path] | str | Path,
    out: str | Path | None = None,
    *,
    store: Store | str | Path | None = None,
    progress: Progress | None = None,
) -> LabelAudit:
    """Compares every label with sequences with ground truth (docs/audit_labels.md).

    Args:
        dataset: one that `generate` wrote; its audit.json and card get the counts.
        truth: folders of a known layout, manifests, or FOLDER=SEQUENCE.yaml; one or several.
        out: folder to write truth.json, labels.jsonl, index.html and pictures of the worst labels to; by default
            DATASET.truth.
        store: the store that the dataset was made from, needed for the yield; by default the `store` beside it.
        progress: receives what is done.

    Raises:
        UsageError: `out` holds other files, or no sequence matches a clip of the dataset.
    """
    opened = dataset if isinstance(dataset, Dataset) else Dataset.open(dataset)
    target = default_out(opened.path) if out is None else Path(out)
    check_out(target)
    source = open_store(store) if isinstance(store, str | Path) else store
    sequences = [truth] if isinstance(truth, str | Path) else truth
    audit = audit_dataset(opened, sequences, store=source, progress=progress)
    record_counts(audit, opened, write_audit(audit, opened, target))
    return audit
