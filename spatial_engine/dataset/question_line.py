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
from templates.measured import Json
from templates.question import Question

_KNOWN = {field.name for field in fields(Question)} - {"extra"}


def question_of(arranged: Arranged, clip: Clip) -> Question:
    """The finished question: id, letter, media entries, and what it keeps of the typed answer."""
    draft, phrasing = arranged.draft, arranged.draft.phrasing
    recorded = draft.answer.to_json()
    entries = {entry["id"]: entry for entry in (media.record(clip, medium) for medium in phrasing.media)}
    options = [phrasing.options[index] for index in arranged.order]
    for option in options:
        if not isinstance(option.shown, str):
            entry = media.record(clip, option.shown)
            entries[entry["id"]] = {**entry, "option": True}
    values = [option.value for option in options]
    return Question(
        id=sha256(f"{draft.fact_id}/{draft.format}".encode()).hexdigest()[:16],
        ability=draft.ability,
        template=draft.template,
        format=draft.format,
        prompt=phrasing.prompt,
        options=[o.shown if isinstance(o.shown, str) else media.medium_id(clip.id, o.shown) for o in options],
        answer=arranged.letter if arranged.order else draft.written,
        value=recorded.value,
        unit=recorded.unit if phrasing.answer is None else "",
        sigma=recorded.sigma,
        tolerance=recorded.tolerance,
        margin=recorded.margin,
        scorer=draft.answer.name,
        scorer_params={**recorded.scorer_params, **({"option_values": values} if any(values) else {})},
        media=list(entries.values()),
        fact=draft.fact.params,
        fact_id=draft.fact_id,
        evidence=draft.evidence,
        clip=clip.id,
        seed=draft.seed,
        provenance=draft.provenance,
        licence=draft.licence,
    )


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
