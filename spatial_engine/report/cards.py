"""Cards of questions and of answers of models, as JSON that `html/cards.js` renders."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from spatial_engine.dataset.question_line import plain
from spatial_engine.errors import UsageError
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.scored import ScoredItem
from spatial_engine.language.reasoning import amount_of, chain
from spatial_engine.scoring.own import by_format
from templates.answers.registry import recorded_answer
from templates.question import Question

LIMIT = 600
"""Largest number of answers on one page; pages with more open slowly."""
LONGEST = 8000
"""Longest response shown, in characters."""

_SHOWN_ELSEWHERE = ("value", "right", "unit", "tolerance", "sigma", "squared_error")


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The answers of a run that its page shows."""

    shown: Sequence[ScoredItem]
    total: int


def sample(items: Sequence[ScoredItem], limit: int = LIMIT, seed: int = 0) -> Sample:
    """At most `limit` random answers, taken in turn from every leaf, format and outcome; wrong ones twice as often.

    The order of `items` makes no difference.
    """
    groups: dict[tuple[str, ...], list[ScoredItem]] = defaultdict(list)
    for item in sorted(items, key=lambda item: _draw(item, seed)):
        groups[item.ability, item.format, item.status, outcome(item)].append(item)
    turns = [
        (place // (1 if outcome(item) == "right" else 2), key, item)
        for key, group in groups.items()
        for place, item in enumerate(group)
    ]
    turns.sort(key=lambda turn: (turn[0], turn[1], _draw(turn[2], seed)))
    chosen = {(item.id, item.rotation) for _, _, item in turns[:limit]}
    return Sample(shown=[item for item in items if (item.id, item.rotation) in chosen], total=len(items))


def outcome(item: ScoredItem) -> str:
    """right | partly | wrong."""
    return "right" if item.score >= 1 else "partly" if item.score > 0 else "wrong"


def question_card(question: Question) -> dict[str, Any]:
    """A question with its whole record, and the chain of thought that exports can put before its answer."""
    keys = ("id", "ability", "format", "template", "clip")
    said = {"text": question.text, "within": tolerance_in_words(question)}
    shown = {**plain(question.to_json()), **said, "reasoning": chain(question, amount_of(question, "all"))}
    return {**{key: getattr(question, key) for key in keys}, "question": shown}


def answer_card(item: ScoredItem, question: Question | None, others: Mapping[str, float]) -> dict[str, Any]:
    """An answer, and the question as shown; None if the question no longer exists.

    `others`: the score of the same question by run.
    """
    response = _well_formed(item.response or "")
    return {
        "id": item.id,
        "ability": item.ability,
        "format": item.format,
        "template": item.template,
        "status": item.status,
        "outcome": outcome(item),
        "question": None if question is None else _as_shown(question, item.rotation),
        "answer": {
            "score": round(item.score, 4),
            "chance": round(item.chance, 4),
            "prediction": plain(item.extracted),
            "how": item.how,
            "response": None if item.response is None else response[:LONGEST],
            "cut": max(0, len(response) - LONGEST),
            "detail": plain({key: value for key, value in item.detail.items() if key not in _SHOWN_ELSEWHERE}),
            "seconds": item.seconds,
            "tokens": item.output_tokens,
            "rotation": item.rotation,
            "others": {name: round(score, 3) for name, score in others.items()},
        },
    }


def with_hints_of(question: Question | None, hints: Sequence[str], hint_pictures: Sequence[str]) -> Question | None:
    """The question with those hints alone that a run gave in words or as pictures."""
    if question is None:
        return None
    given = [
        {
            **hint,
            "text": hint["text"] if hint["kind"] in hints else [],
            "pictures": hint["pictures"] if hint["kind"] in hint_pictures else [],
        }
        for hint in question.hints
        if hint["kind"] in (*hints, *hint_pictures)
    ]
    return replace(question, hints=given)


def _well_formed(text: str) -> str:
    """The text with U+FFFD for each lone surrogate, at which Chromium crashes when it saves a page."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def tolerance_in_words(question: Question) -> str:
    """The tolerance of the answer in words; "" for labels."""
    found = by_format(question, lambda form: "" if form.closed else recorded_answer(question).tolerance_in_words())
    return found if isinstance(found, str) else ""


def _as_shown(question: Question, rotation: int) -> dict[str, Any]:
    """The question with its options in the order shown, and the corresponding right letter."""
    with suppress(ValueError, UsageError):  # no such rotation: the dataset is not the one that was asked
        question = Presentation(question, rotation).shown
    keys = ("options", "answer", "value", "unit", "sigma", "tolerance", "margin", "evidence", "clip")
    record = {key: getattr(question, key) for key in (*keys, "format", "fact_id")}
    shown = ("id", "kind", "path", "frames", "times_s", "option", "size_px", "marks")
    media = [{key: medium[key] for key in shown if key in medium} for medium in question.media]
    hints = plain(list(question.hints))
    return {
        **plain(record), "text": question.text, "within": tolerance_in_words(question), "media": media, "hints": hints
    }  # fmt: skip


def filters(*keys: str) -> list[tuple[str, str]]:
    """The filters above the cards: the key of a card, and the text of the filter that selects all."""
    words = {"ability": "All abilities", "status": "All statuses"}
    return [(key, words.get(key, f"All {key}s")) for key in keys]


def _draw(item: ScoredItem, seed: int) -> str:
    return sha256(f"{seed}/{item.id}/{item.rotation}".encode()).hexdigest()
