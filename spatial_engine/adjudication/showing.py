"""What an annotator sees: first the question as a model sees it, later the recorded answer."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from spatial_engine.dataset.question_line import plain
from spatial_engine.scoring.own import read, score_read
from spatial_engine.scoring.reading import Unreadable
from templates.answers.score import Score
from templates.columns import Json
from templates.question import Question

PICTURES = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
    ".mp4": "video/mp4",
}
"""MIME types of served pictures and videos, by suffix."""
_CONTENT = ("format", "text", "options", "answer", "unit", "tolerance", "scorer_params", "media")


def content_hash(question: Question) -> str:
    """16 hex digits of what is shown and of the recorded answer; independent of σ, margin and provenance."""
    shown = plain({name: getattr(question, name) for name in _CONTENT})
    text = json.dumps(shown, sort_keys=True, ensure_ascii=True)
    return sha256(text.encode()).hexdigest()[:16]


def shown(question: Question) -> dict[str, Json]:
    """The question without its answer. Pictures are named by their index in `media`."""
    pictures = [_picture(place, medium) for place, medium in enumerate(question.media)]
    places = {str(medium.get("id")): place for place, medium in enumerate(question.media) if medium.get("option")}
    return plain(
        {
            "id": question.id,
            "ability": question.ability,
            "format": question.format,
            "prompt": question.text,
            "unit": question.unit,
            "names": sorted(question.answer) if question.format == "json" and isinstance(question.answer, dict) else [],
            "pictures": [picture for picture in pictures if not picture["option"]],
            "options": [_option(text, places, pictures) for text in question.options],
        }
    )


def recorded(question: Question) -> dict[str, Json]:
    """The recorded answer with its tolerance."""
    return plain({"answer": question.answer, "tolerance": question.tolerance, "unit": question.unit})


def times_s(question: Question) -> list[Json]:
    """The time of each medium, which answers a question about the order of photos; None for a drawing."""
    return [(medium.get("times_s") or [None])[0] for medium in question.media]


def evidence(question: Question) -> dict[str, Json]:
    """The measurement behind the answer."""
    makers = sorted({f"{record.get('expert')} {record.get('version')}" for record in question.provenance})
    numbers = {"value": question.value, "sigma": question.sigma, "margin": question.margin}
    known = {name: value for name, value in numbers.items() if value is not None}
    return plain(
        {**known, **question.evidence, "template": question.template, "experts": makers, "clip": question.clip}
    )


def read_own(question: Question, text: str) -> Json:
    """An annotator's answer in the form of `Question.answer`. Raises `ValueError` if it cannot be read as one."""
    found = read(question, text)
    if isinstance(found, Unreadable):
        raise ValueError(f"that is no answer to this question: {found.reason}")
    return found.value


def agrees(question: Question, own: Json) -> bool | None:
    """Whether an annotator's own answer is right; None if it cannot be scored."""
    score = score_read(question, own)
    return score.value >= 1.0 if isinstance(score, Score) else None


def picture_file(dataset_path: Path, question: Question, place: int) -> Path | None:
    """The file of a picture; None unless it is a picture inside the dataset."""
    if not 0 <= place < len(question.media):
        return None
    root = dataset_path.resolve()
    try:
        file = (root / str(question.media[place].get("path"))).resolve()
        return file if file.is_relative_to(root) and file.suffix.lower() in PICTURES and file.is_file() else None
    except (OSError, ValueError):
        return None


def _picture(place: int, medium: Mapping[str, Json]) -> dict[str, Json]:
    size = medium.get("size_px") or [4, 3]
    return {
        "place": place,
        "kind": medium.get("kind"),
        "size_px": size,
        "frame_size_px": medium.get("frame_size_px") or size,
        "option": bool(medium.get("option")),
    }


def _option(text: str, places: Mapping[str, int], pictures: list[dict[str, Json]]) -> dict[str, Json]:
    return {"picture": pictures[places[text]]} if text in places else {"text": text}
