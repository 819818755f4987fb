"""The labels that are farthest from the truth, with what they show."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spatial_engine.dataset.question_line import plain
from spatial_engine.trust.metrics import in_sigmas
from spatial_engine.trust.verdict import Verdict
from templates.measured import Json
from templates.question import Question

SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class Bad:
    """One fact."""

    verdict: Verdict
    """Of the format that is farthest off."""
    sigmas: float | None
    """Largest |error| / σ of its numbers; None for labels."""


def worst(verdicts: Iterable[Verdict]) -> list[Bad]:
    """At most `SHOWN` facts that truth decides, wrong ones first, then by error in σ; each fact once."""
    found: dict[tuple[str, str], Bad] = {}
    for verdict in verdicts:
        if verdict.word == "undecidable":
            continue
        bad = Bad(verdict=verdict, sigmas=max(in_sigmas(verdict).values(), default=None))
        key = (verdict.clip, verdict.fact_id)
        if key not in found or _rank(bad) < _rank(found[key]):
            found[key] = bad
    numbered = (bad for bad in found.values() if bad.verdict.word == "wrong" or bad.sigmas is not None)
    return sorted(numbered, key=_rank)[:SHOWN]


def entries(bad: Sequence[Bad], questions: Mapping[str, Question]) -> list[dict[str, Json]]:
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
            "prompt": questions[each.verdict.id].prompt,
            "answer": plain(each.verdict.answer),
            "true": each.verdict.true,
            "media": [medium["path"] for medium in questions[each.verdict.id].media],
        }
        for each in bad
    ]


def _rank(bad: Bad) -> tuple[bool, float, str, str]:
    sigmas = -math.inf if bad.sigmas is None else bad.sigmas
    return bad.verdict.word != "wrong", -sigmas, bad.verdict.id, bad.verdict.format
