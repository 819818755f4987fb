"""Hashes of items: the text of a question, its right answer, and the bytes of its media.

Every answer stores the hash of its item. If the dataset has changed since, its answers are refused.
"""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.question_line import plain
from spatial_engine.errors import UsageError
from spatial_engine.language.chat.media_hash import media_hash
from templates.columns import Json
from templates.question import Question

_MARKS = 3  # changed questions that an error names


def item_hash(question: Question, dataset: str | Path) -> str:
    """32 hex digits of instructions, prompt, options, answer, tolerance (with unit, format and the scorer's parameters)
    and media; and of hints, if it has any.

    `dataset`: the folder of the dataset. Raises `UsageError` for a missing file.
    """
    shown = [[entry["id"], bool(entry.get("option")), media_hash(_file(dataset, entry))] for entry in question.media]
    asked = [question.id, question.format, question.text, list(question.options), shown]
    asked += [[hint["kind"], hint["text"], *_pictures(hint, dataset)] for hint in question.hints]
    right = [question.answer, question.tolerance, question.unit, question.scorer_params]
    text = json.dumps(plain([asked, right]), sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _pictures(hint: Mapping[str, Json], dataset: str | Path) -> list[Json]:
    return [[picture["text"], media_hash(_file(dataset, picture))] for picture in hint["pictures"]]


def item_hashes(dataset: Dataset) -> dict[str, str]:
    """The hash of every item, by the question's id, in the order of the dataset."""
    return {question.id: item_hash(question, dataset.path) for question in dataset.questions}


def dataset_digest(hashes: Mapping[str, str]) -> str:
    """32 hex digits of all items, independent of their order."""
    return sha256(json.dumps(sorted(hashes.items())).encode()).hexdigest()[:32]


def check_unchanged(asked: Iterable[tuple[str, str]], hashes: Mapping[str, str], source: str) -> None:
    """Raises `UsageError` if answers belong to other items than those of the dataset.

    `asked`: (question id, item hash) of each answer; "" for an unknown hash.
    """
    changed = list(dict.fromkeys(id for id, item in asked if item and item != hashes.get(id, item)))
    if changed:
        some = ", ".join(changed[:_MARKS]) + (", ..." if len(changed) > _MARKS else "")
        raise UsageError(
            f"{source}: the dataset changed after the answers were made: {len(changed)} questions differ ({some})",
            "score with the dataset that was asked, or ask again into another folder",
        )


def _file(dataset: str | Path, entry: Mapping[str, object]) -> Path:
    return Path(dataset) / str(entry["path"])
