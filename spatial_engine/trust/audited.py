"""The result of a label audit: metrics, verdicts, and the labels with the largest errors."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from spatial_engine.dataset.question_line import plain
from spatial_engine.trust.metrics import AuditMetrics, in_sigmas
from spatial_engine.trust.true_sequence import TrueSequence
from spatial_engine.trust.verdict import Verdict
from templates.columns import Json
from templates.question import Question

FORMAT_VERSION = 2
WORST_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class WorstLabel:
    """One fact with a wrong label or a large error."""

    verdict: Verdict
    """The verdict on the format with the largest error."""
    sigmas: float | None
    """Largest |error| / σ of its numbers; None for labels."""


@dataclass(frozen=True, kw_only=True)
class LabelAudit:
    """The result of comparing a dataset with ground truth."""

    verdicts: tuple[Verdict, ...]
    """One per question about a clip with truth or agreement, in the order of clips."""
    truth: AuditMetrics | None
    """Against sequences of the kind `truth`; None without any."""
    agreement: AuditMetrics | None
    """Against sequences that were computed from the images: they can agree with labels, but prove nothing."""
    worst: tuple[WorstLabel, ...]
    sequences: tuple[TrueSequence, ...]
    not_in_dataset: tuple[str, ...]
    """Names of the given sequences whose clips are not in the dataset."""
    errors: tuple[tuple[str, str, str], ...]
    """(name, cause, remedy) of unreadable sequences and clips."""
    without: Mapping[str, int]
    """Clips of the dataset without ground truth, and facts about them."""
    store: bool
    """Whether a store was found, so that the yield is known."""

    @property
    def undecided(self) -> bool:
        """Whether neither truth nor agreement decides anything."""
        return all(verdict.word == "undecidable" for verdict in self.verdicts)

    def to_json(self) -> dict[str, Json]:
        """The content of `truth.json`."""
        record = asdict(self)
        del record["verdicts"], record["worst"]
        return {"format_version": FORMAT_VERSION, **_plain(record)}


def _plain(value: Json) -> Json:
    """`question_line.plain`, with rates added to their counts."""
    found = plain(value)
    return _with_rates(found)


def _with_rates(value: Json) -> Json:
    if isinstance(value, list):
        return [_with_rates(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: _with_rates(each) for name, each in value.items()}
    if {"right", "wrong", "bound"} <= found.keys():
        decided = found["right"] + found["wrong"]
        found["rate"] = found["wrong"] / decided if decided else None
    if {"drawn", "decided"} <= found.keys():
        found["share"] = found["decided"] / found["drawn"] if found["drawn"] else None
    return found


def worst(verdicts: Iterable[Verdict]) -> list[WorstLabel]:
    """At most `WORST_SHOWN` facts that the truth decides: wrong ones first, then by error over σ. Each fact once."""
    found: dict[tuple[str, str], WorstLabel] = {}
    for verdict in verdicts:
        if verdict.word == "undecidable":
            continue
        label = WorstLabel(verdict=verdict, sigmas=max(in_sigmas(verdict).values(), default=None))
        key = (verdict.clip, verdict.fact_id)
        if key not in found or _rank(label) < _rank(found[key]):
            found[key] = label
    numbered = (label for label in found.values() if label.verdict.word == "wrong" or label.sigmas is not None)
    return sorted(numbered, key=_rank)[:WORST_SHOWN]


def entries(labels: Sequence[WorstLabel], questions: Mapping[str, Question]) -> list[dict[str, Json]]:
    """As `audit.json` and the page show them. `questions` by id."""
    return [
        {
            "fact_id": each.verdict.fact_id,
            "id": each.verdict.id,
            "clip": each.verdict.clip,
            "ability": each.verdict.ability,
            "template": each.verdict.template,
            "format": each.verdict.format,
            "word": each.verdict.word,
            "sigmas": plain(each.sigmas),
            "error": plain(each.verdict.error),
            "prompt": questions[each.verdict.id].text,
            "answer": plain(each.verdict.answer),
            "target": each.verdict.target,
            "media": [medium["path"] for medium in questions[each.verdict.id].media],
        }
        for each in labels
    ]


def _rank(label: WorstLabel) -> tuple[bool, float, str, str]:
    sigmas = -math.inf if label.sigmas is None else label.sigmas
    return label.verdict.word != "wrong", -sigmas, label.verdict.id, label.verdict.format
