"""From a draft that stays to one line of `questions.jsonl`, and back."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields
from hashlib import sha256

import numpy as np

from experts.clip import Clip
from spatial_engine.dataset import media
from spatial_engine.dataset.balance import Arranged
from templates.answer import MOTIONS, Answer, Label, Numbers, Plan, Point
from templates.measured import Json
from templates.question import Question

_KNOWN = {field.name for field in fields(Question)} - {"extra"}


def question_of(arranged: Arranged, clip: Clip) -> Question:
    """The finished question: id, letter, media entries, and value, σ and tolerance in the shape of the answer."""
    draft, phrasing = arranged.draft, arranged.draft.phrasing
    value, sigma, tolerance = _numbers(draft.answer)
    entries = {entry["id"]: entry for entry in (media.record(clip, medium) for medium in phrasing.media)}
    options = [phrasing.options[index] for index in arranged.order]
    for option in options:
        if not isinstance(option, str):
            entry = media.record(clip, option)
            entries[entry["id"]] = {**entry, "option": True}
    return Question(
        id=sha256(f"{draft.fact_id}/{draft.format}".encode()).hexdigest()[:16],
        ability=draft.ability,
        template=draft.template,
        format=draft.format,
        prompt=phrasing.prompt,
        options=[option if isinstance(option, str) else media.medium_id(clip.id, option) for option in options],
        answer=arranged.letter if draft.format == "choice" else phrasing.answer,
        value=value,
        unit=phrasing.unit,
        sigma=sigma,
        tolerance=tolerance,
        margin=draft.answer.margin if isinstance(draft.answer, Label) else None,
        scorer=draft.format,
        scorer_params={**_period(draft.answer), **phrasing.scorer_params},
        media=list(entries.values()),
        fact=draft.fact.params,
        fact_id=draft.fact_id,
        evidence=draft.evidence,
        clip=clip.id,
        seed=draft.seed,
        provenance=draft.provenance,
        licence=draft.licence,
    )


def _numbers(answer: Answer) -> tuple[Json, Json, Json]:
    """(value, σ, tolerance): a word and nothing for a label; a number, or numbers by name; a pixel and two radii;
    of a plan where it leads, in its own steps."""
    if isinstance(answer, Label):
        return answer.text, None, None
    if isinstance(answer, Numbers):
        columns = (answer.value.tolist(), answer.sigma.tolist(), answer.tolerance.tolist())
        if len(answer.names) == 1:
            return columns[0][0], columns[1][0], columns[2][0]
        value, sigma, tolerance = (dict(zip(answer.names, column, strict=True)) for column in columns)
        return value, sigma, tolerance
    if isinstance(answer, Point):
        return answer.xy_px.tolist(), answer.sigma_px, answer.tolerance_px
    if isinstance(answer, Plan):
        value, sigma = (
            dict(zip(MOTIONS, (part / answer.step).tolist(), strict=True)) for part in (answer.amounts, answer.sigma)
        )
        return value, sigma, answer.tolerance
    return answer.points.tolist(), answer.sigma, answer.tolerance


def _period(answer: Answer) -> dict[str, Json]:
    return {"period": answer.period} if isinstance(answer, Numbers) and answer.period else {}


def to_line(question: Question) -> str:
    """One line, without its end. Equal questions give equal bytes."""
    return json.dumps(plain(question.to_json()), ensure_ascii=False, allow_nan=False)


def from_line(line: str) -> Question:
    """The inverse of `to_line`. Keys that are not known stay in `extra`. Raises `KeyError` naming what is missing."""
    record = json.loads(line)
    if missing := sorted(_KNOWN - record.keys()):
        raise KeyError(f"a question lacks {', '.join(missing)}")
    known = {name: record.pop(name) for name in _KNOWN}
    return Question(**known, extra=record)


def plain(value: Json) -> Json:
    """JSON values only: numpy scalars and arrays become numbers and lists, numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
