"""Scores the response of a model to a question: one line of `scores.jsonl`."""

import json
import math
from dataclasses import replace
from typing import Literal

from spatial_engine.evaluation.benchmarks.own_metric import score_reply
from spatial_engine.evaluation.claims import claim_verdicts
from spatial_engine.evaluation.mistakes import mistakes_made
from spatial_engine.evaluation.protocol import Presentation
from spatial_engine.evaluation.responses import Response
from spatial_engine.evaluation.scored import ScoredItem, Status
from spatial_engine.scoring import own, strict
from spatial_engine.scoring.official import process_results
from spatial_engine.scoring.official.row import row
from spatial_engine.scoring.reading import Reading, Unreadable
from templates.answers.registry import format_of
from templates.answers.score import Score, Unscored
from templates.columns import Json
from templates.question import Question

How = Literal["tags", "rules", "judge"]
_STRICT = {"judge": "judgemodel", "affmask": "aff_mask_metric"}  # the registry's names, where they differ


def score_item(presentation: Presentation, response: Response | None) -> ScoredItem | Unscored:
    """The score of one presentation. `Unscored` if the question is invalid; unreadable responses score 0."""
    question = presentation.shown
    text = response.text if response and response.outcome == "answered" else None
    reading, how = _read(question, response if text is not None else None)
    value = reading.value if isinstance(reading, Reading) else None
    score = score_reply(question, value) if question.format == "reply" else own.score_read(question, value)
    if isinstance(score, Unscored):
        return score
    window_s, window_frames = time_span_shown(question)
    official, strictly = _published(question, text, reading)
    return ScoredItem(
        id=question.id,
        rotation=presentation.rotation,
        ability=question.ability,
        format=question.format,
        template=question.template,
        fact_id=question.fact_id,
        clip=question.clip,
        status=_status(response, reading),
        response=None if response is None else response.text,
        extracted=reading.value if isinstance(reading, Reading) else None,
        how=how,
        right=score.value == 1.0,
        score=score.value,
        chance=own.chance(question),
        window_s=window_s,
        window_frames=window_frames,
        official=official,
        strict=strictly,
        seconds=response.seconds if response else None,
        input_tokens=response.input_tokens if response else None,
        output_tokens=response.output_tokens if response else None,
        detail=_detail(question, score, reading, response),
    )


def time_span_shown(question: Question) -> tuple[float | None, int | None]:
    """From the first to the last frame shown: seconds (None without timestamps), frames (None without footage)."""
    shown = [entry for entry in question.media if entry["kind"] in ("frames", "video") and not entry.get("option")]
    frames = [frame for entry in shown for frame in entry["frames"]]
    if not frames:
        return None, None
    times_s = [time for entry in shown for time in entry["times_s"] or [None]]
    known = [time for time in times_s if time is not None]
    span_s = round(max(known) - min(known), 6) if len(known) == len(times_s) else None
    return span_s, int(max(frames) - min(frames))


def _read(question: Question, response: Response | None) -> tuple[Reading | Unreadable, How | None]:
    """Tags and rules first; then what a judge found, if one was asked."""
    if response is None:
        return Unreadable(reason="empty"), None
    reading = own.read(question, response.text or "")
    if isinstance(reading, Reading):
        if verdicts := claim_verdicts(response.judged):
            return replace(reading, value={"text": reading.value, "claims": verdicts}), "judge"
        return reading, reading.how
    judged = own.read(question, response.judged) if response.judged else reading
    return (judged, "judge") if isinstance(judged, Reading) else (reading, None)


def _status(response: Response | None, reading: Reading | Unreadable) -> Status:
    if response is None:
        return "missing"
    if response.outcome != "answered":
        return response.outcome
    if response.text is None:
        return "missing"
    if isinstance(reading, Reading):
        return "answered"
    return "refused" if reading.reason == "refused" else "unreadable"


def _published(
    question: Question, text: str | None, reading: Reading | Unreadable
) -> tuple[float | None, float | None]:
    """(by the official pipeline, by its strict counterpart), from the row of our export; None where that has none.

    The official readers know neither our answer tags nor the action names in our plans. So they get the extracted
    answer in the format that their own prompts ask for.
    """
    doc = row(question)
    if isinstance(doc, Unscored):
        return None, None
    name = json.loads(doc["extra_info"])["metricfunc"]
    if name == "gpteval":  # it needs the reply of its own judge
        return None, None
    told = format_of(question.format).official_text(reading.value) if isinstance(reading, Reading) else None
    (official,) = process_results(doc, [told or text]).values()
    hint = json.loads(doc["hint"]) if doc["hint"] else {}
    metric = getattr(strict, _STRICT.get(name, name))
    judged = metric(text, doc["answer"], {**hint, "option": doc["option"], "unit": question.unit})
    return finite_or_zero(official["score"]), finite_or_zero(judged["score"])


def finite_or_zero(score: float) -> float:
    """The score; 0 if it is infinite or NaN, which JSON cannot hold."""
    return float(score) if math.isfinite(score) else 0.0


def _detail(
    question: Question, score: Score, reading: Reading | Unreadable, response: Response | None
) -> dict[str, Json]:
    told = dict(score.detail)
    if mistakes := mistakes_made(question, reading.value if isinstance(reading, Reading) else None):
        told["mistakes"] = mistakes
    if isinstance(reading, Unreadable) and response is not None and response.outcome == "answered":
        told["unreadable"] = reading.reason
    if response is not None and response.error:
        told["error"] = response.error
    return told
