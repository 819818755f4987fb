"""A data set held against ground truth: the record that is written and shown."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from spatial_engine.dataset.question_line import plain
from spatial_engine.trust.metrics import AuditMetrics
from spatial_engine.trust.true_sequence import TrueSequence
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.worst import Bad
from templates.measured import Json

FORMAT_VERSION = 2


@dataclass(frozen=True, kw_only=True)
class LabelAudit:
    """What ground truth says of a data set."""

    verdicts: tuple[Verdict, ...]
    """Of all questions about clips with truth or agreement, in the order of clips."""
    truth: AuditMetrics | None
    """Against truth; None where no sequence is."""
    agreement: AuditMetrics | None
    """Against sequences that were made from the images: they can agree, they cannot prove."""
    worst: tuple[Bad, ...]
    sequences: tuple[TrueSequence, ...]
    strangers: tuple[str, ...]
    """Sequences that were given whose clips are not in the data set."""
    errors: tuple[tuple[str, str, str], ...]
    """(name, cause, remedy) of what could not be read."""
    without: Mapping[str, int]
    """Clips of the data set of which nothing is known, and facts about them."""
    store: bool
    """Whether a store was at hand, so that yield is known."""

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
    """`question_line.plain`, with rates beside their counts."""
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
