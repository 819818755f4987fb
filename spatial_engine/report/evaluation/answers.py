"""Which answers of a run its page shows, and what it says about each."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from spatial_engine.dataset.question_line import plain
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.scored import ScoredItem
from templates.question import Question

LIMIT = 600
"""Answers on one page; beyond it the page opens slowly."""
LONGEST = 8000
"""Characters of a response that are shown."""

_SHOWN_ELSEWHERE = ("value", "right", "unit", "tolerance", "sigma", "squared_error")


@dataclass(frozen=True, kw_only=True)
class Answers:
    """A choice of a run's answers."""

    shown: Sequence[ScoredItem]
    total: int


def choose(items: Sequence[ScoredItem], limit: int = LIMIT, seed: int = 0) -> Answers:
    """At most `limit` of them: by chance, in turn from every leaf, format and outcome, failures twice as often."""
    groups: dict[tuple[str, ...], list[ScoredItem]] = defaultdict(list)
    for item in sorted(items, key=lambda item: _lot(item, seed)):
        groups[item.ability, item.format, item.status, str(outcome(item))].append(item)
    turns = [
        (place // (1 if outcome(item) == "right" else 2), key, item)
        for key, group in groups.items()
        for place, item in enumerate(group)
    ]
    turns.sort(key=lambda turn: (turn[0], turn[1], _lot(turn[2], seed)))
    chosen = {(item.id, item.rotation) for _, _, item in turns[:limit]}
    return Answers(shown=[item for item in items if (item.id, item.rotation) in chosen], total=len(items))


def outcome(item: ScoredItem) -> str:
    """right | partly | wrong."""
    return "right" if item.score >= 1 else "partly" if item.score > 0 else "wrong"


def entry(item: ScoredItem, question: Question | None, others: Mapping[str, float]) -> dict[str, Any]:
    """What the page says about one answer: JSON values. `others`: the score of the same question by run."""
    said = item.response or ""
    return {
        "id": item.id,
        "rotation": item.rotation,
        "ability": item.ability,
        "format": item.format,
        "template": item.template,
        "status": item.status,
        "outcome": outcome(item),
        "score": round(item.score, 4),
        "chance": round(item.chance, 4),
        "said": plain(item.extracted),
        "how": item.how,
        "response": None if item.response is None else said[:LONGEST],
        "cut": max(0, len(said) - LONGEST),
        "detail": plain({key: value for key, value in item.detail.items() if key not in _SHOWN_ELSEWHERE}),
        "seconds": item.seconds,
        "tokens": item.output_tokens,
        "question": None if question is None else _question(question, item.rotation),
        "others": {name: round(score, 3) for name, score in others.items()},
    }


def _question(question: Question, rotation: int) -> dict[str, Any]:
    """As it was shown: options turned, and the right letter with them."""
    with suppress(ValueError, UsageError):  # no such rotation: the data set is not the one that was asked
        question = Presentation(question, rotation).shown
    keys = ("prompt", "options", "answer", "value", "unit", "sigma", "tolerance", "margin", "evidence", "clip")
    record = {key: getattr(question, key) for key in keys}
    shown = ("id", "kind", "path", "frames", "times_s", "option", "size_px")
    media = [{key: medium[key] for key in shown if key in medium} for medium in question.media]
    return {**record, "fact_id": question.fact_id, "media": media}


def _lot(item: ScoredItem, seed: int) -> str:
    return sha256(f"{seed}/{item.id}/{item.rotation}".encode()).hexdigest()
