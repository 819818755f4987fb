"""From a draft that stays to one line of `questions.jsonl`, and back."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256

import numpy as np

from experts.clip import Clip
from spatial_engine.dataset import media
from templates.asked import Draft
from templates.columns import Json
from templates.media import Medium
from templates.question import FIELDS, LETTERS, Question


def question_of(
    draft: Draft, order: Sequence[int], clip: Clip | None, entries: dict[Medium, dict[str, Json]] | None = None
) -> Question:
    """The finished question: id, letter, media entries, and what it keeps of the typed answer.

    `order`: for a choice, the index of the draft's option at each letter. `clip`: None for a puzzle. `entries`: those
    of the clip's media so far, which questions share; new ones are added.
    """
    recorded = draft.answer.to_json()
    options = [draft.options[index] for index in order]
    drawn = [option.shown for option in options if not isinstance(option.shown, str)]
    shown, options_shown = (_entries(clip, part, {} if entries is None else entries) for part in (draft.media, drawn))
    written = recorded.answer if draft.written is None else draft.written
    values = [option.value for option in options]
    led_to = {option.mistake: letter for letter, option in zip(LETTERS, options, strict=False) if option.mistake}
    traps = {mistake: value for mistake, value in draft.traps.items() if value != written} | led_to
    return Question(
        id=sha256(f"{draft.fact_id}/{draft.format}".encode()).hexdigest()[:16],
        ability=draft.ability,
        template=draft.template,
        format=draft.format,
        instructions=draft.instructions,
        prompt=draft.prompt,
        options=[o.shown if isinstance(o.shown, str) else media.medium_id(draft.clip_id, o.shown) for o in options],
        answer=LETTERS[list(order).index(draft.written)] if order else written,
        value=recorded.value,
        unit=recorded.unit if draft.written is None else "",
        sigma=_scaled(recorded.sigma, draft.origin.sigma_factor),
        tolerance=recorded.tolerance,
        margin=recorded.margin,
        scorer=draft.answer.name,
        scorer_params={**recorded.scorer_params, **({"option_values": values} if any(values) else {})},
        media=[*shown, *(entry | {"option": True} for entry in options_shown)],
        fact=draft.fact,
        fact_id=draft.fact_id,
        evidence={**draft.evidence, **({"traps": traps} if traps else {})},
        clip=draft.clip_id,
        seed=draft.seed,
        provenance=draft.origin.provenance,
        licence=draft.origin.licence,
    )


def _scaled(sigma: Json, factor: float) -> Json:
    """Every number of a recorded σ times the factor."""
    if factor == 1 or sigma is None:
        return sigma
    if isinstance(sigma, Mapping):
        return {name: _scaled(part, factor) for name, part in sigma.items()}
    if isinstance(sigma, list | tuple):
        return [_scaled(part, factor) for part in sigma]
    return sigma * factor


def _entries(clip: Clip | None, shown: Sequence[Medium], known: dict[Medium, dict[str, Json]]) -> list[dict[str, Json]]:
    """The entry of each medium; new ones are added to the known ones."""
    found = []
    for medium in shown:
        if (entry := known.get(medium)) is None:
            entry = known[medium] = media.record(clip, medium)
        found.append(entry)
    return found


def to_line(question: Question) -> str:
    """The whole question in one line, without its end. Equal questions give equal bytes."""
    return dumped(question.to_json())


def dumped(record: Mapping[str, Json]) -> str:
    """A record as JSON in one line; numbers that are not finite become null."""
    try:
        return _dumps(record)
    except (ValueError, TypeError):  # as rare as it is slow
        return _dumps(plain(record))


_dumps = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode


def from_line(line: str) -> Question:
    """The inverse of `to_line`. Keys that are not known stay in `extra`. Raises `KeyError` naming what is missing."""
    return from_record(json.loads(line))


_HOLDS: Mapping[type, tuple[str, ...]] = {
    str: ("id", "ability", "template", "format", "instructions", "prompt", "unit", "scorer", "fact_id", "clip"),
    list: ("options", "media", "provenance"),
    dict: ("scorer_params", "fact", "evidence", "licence"),
    int: ("seed",),
}
_FILE = re.compile(r"media/\w[\w.-]*")
"""Where pictures lie: never outside the dataset."""


def from_record(record: dict[str, Json]) -> Question:
    """The question in the object of a line. Raises `ValueError` naming what is missing or cannot be; among that is a
    picture that does not lie in the dataset."""
    if missing := sorted({*FIELDS} - record.keys()):
        raise ValueError(f"a question lacks {', '.join(missing)}")
    known, hints = {name: record.pop(name) for name in FIELDS}, record.pop("hints", ())
    for kind, names in _HOLDS.items():
        for name in names:
            if not isinstance(known[name], kind):
                raise ValueError(f"{name} cannot be {str(known[name])[:40]!r}")
    pictures = _listed(hints, "hints", "pictures")
    for medium in [*_listed(known["media"], "media", "path"), *(one for shown in pictures for one in _media(shown))]:
        if not (isinstance(medium, str) and _FILE.fullmatch(medium)):
            raise ValueError(f"a picture cannot lie at {str(medium)[:40]!r}")
    return Question(**known, hints=hints, extra=record)


def _media(shown: Json) -> list[Json]:
    return _listed(shown, "pictures", "path")


def _listed(values: Json, name: str, key: str) -> list[Json]:
    """What each object of a list holds under a key, if it holds that key. Raises `ValueError` for anything else."""
    if not (isinstance(values, list | tuple) and all(isinstance(value, dict) for value in values)):
        raise ValueError(f"{name} cannot be {str(values)[:40]!r}")
    return [value[key] for value in values if value.get(key) is not None]


def plain(value: Json) -> Json:
    """JSON values only: numpy scalars and arrays become numbers and lists, numbers that are not finite become null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
