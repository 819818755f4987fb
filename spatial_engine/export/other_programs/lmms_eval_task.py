"""A dataset of Spatial Engine as a task of lmms-eval: the functions that the YAML beside this file names.

Scores are Spatial Engine's own: `scorer.zip` beside this file holds the very code, taken at export. It needs Python
3.11 or newer, numpy, scipy and jaxtyping, none of them in a version that lmms-eval would refuse.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

_SCORER = str(Path(__file__).with_name("scorer.zip"))
if Path(_SCORER).is_file() and _SCORER not in sys.path:
    sys.path.insert(0, _SCORER)
try:
    from spatial_engine.scoring import own
    from spatial_engine.scoring.reading.reading import Unreadable
    from templates.answers.score import Unscored
    from templates.question import Question
except ModuleNotFoundError as error:
    raise ImportError(f"{error.name} is needed to score: pip install scipy jaxtyping") from error

_FAILED = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED")
"""How lmms-eval writes down that no reply came: its words and numbers are no answer."""


def doc_to_visual(doc: Mapping[str, Any]) -> list[Any]:
    """The pictures, in the order shown."""
    return [doc["images"][part].convert("RGB") for part in json.loads(doc["parts"]) if isinstance(part, int)]


def doc_to_text(doc: Mapping[str, Any], lmms_eval_specific_kwargs: object = None) -> str:
    """All words, for models that take pictures first."""
    words = [part for part in json.loads(doc["parts"]) if isinstance(part, str)]
    return "\n".join([doc["system"], *words] if doc["system"] else words)


def doc_to_messages(doc: Mapping[str, Any], lmms_eval_specific_kwargs: object = None) -> list[dict[str, Any]]:
    """Words and pictures as they alternate, for models that chat."""
    pictures = iter(doc_to_visual(doc))
    content = [
        {"type": "text", "text": part} if isinstance(part, str) else {"type": "image", "url": next(pictures)}
        for part in json.loads(doc["parts"])
    ]
    system = [{"role": "system", "content": [{"type": "text", "text": doc["system"]}]}] if doc["system"] else []
    return [*system, {"role": "user", "content": content}]


def doc_to_target(doc: Mapping[str, Any]) -> str:
    """A right answer."""
    return str(doc["target"])


def process_results(doc: Mapping[str, Any], results: list[Any]) -> dict[str, Any]:
    """The score from 0 to 1, once for all and once for the leaf; `unreadable` is 1 where no answer could be read."""
    question = question_of(doc["question"])
    response = _reply(results)
    score = own.score(question, response)
    if isinstance(score, Unscored):
        return {}
    unread = response is None or isinstance(own.read(question, response), Unreadable)
    overall = {"id": question.id, "clip": question.clip, "score": score.value}
    return {"overall": overall, "unreadable": float(unread), question.ability: score.value}


def mean_score(items: list[Mapping[str, Any]]) -> float:
    """The mean over questions."""
    return sum(item["score"] for item in items) / len(items) if items else 0.0


def question_of(line: str) -> Question:
    """The question as it stands in the dataset."""
    record = json.loads(line)
    return Question(**{field.name: record[field.name] for field in fields(Question) if field.name in record})


def _reply(results: list[Any]) -> str | None:
    reply = results[0] if results else None
    return None if not isinstance(reply, str) or reply.startswith(_FAILED) else reply
