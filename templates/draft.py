"""The questions of one clip as drafts, and the reasons why other facts were not asked. Picklable."""

from collections.abc import Mapping
from dataclasses import dataclass

from templates.answers import Answer
from templates.fact import Fact
from templates.measured import Json
from templates.question import FormatName, Phrasing


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A certain fact in one format, before letters, ids of media and pictures are assigned."""

    clip_id: str
    template: str
    ability: str
    """Leaf of the tree."""
    format: FormatName
    fact: Fact
    fact_id: str
    answer: Answer
    """Typed, with σ and tolerance; defines what is *right*."""
    phrasing: Phrasing
    evidence: Mapping[str, Json]
    provenance: tuple[Mapping[str, Json], ...]
    """Provenance of every signal that the answer depends on."""
    licence: Mapping[str, Json]
    """{"footage": ..., "signals": [...], "commercial_ok": bool}"""
    seed: int

    @property
    def written(self) -> Json:
        """The answer in the form of the format; for a choice, the index of the right option."""
        return self.answer.to_json().answer if self.phrasing.answer is None else self.phrasing.answer

    @property
    def right_words(self) -> str | None:
        """As `Question.right_words`."""
        options, written = self.phrasing.options, self.written
        found = options[written].shown if options else written
        return found if isinstance(found, str) else None


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Facts that were not asked, counted by reason."""

    clip_id: str
    template: str
    ability: str
    format: FormatName | None
    """None where the fact was not measured, or none was proposed."""
    reason: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ClipQuestions:
    """Everything that `templates.generate` makes of one clip."""

    clip_id: str
    drafts: tuple[Draft, ...]
    refusals: tuple[Refusal, ...]
