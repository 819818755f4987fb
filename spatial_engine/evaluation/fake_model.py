"""Models that know the answers, or do not: what `serve-fake-model` serves."""

import json
import re
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal, get_args

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation import baselines
from spatial_engine.evaluation.recognition import Asked, Recogniser, asked
from templates.question import Question

Behaviour = Literal["oracle", "wrong", "random", "first-option", "no-op", "flaky", "slow"]
Fault = Literal["busy", "broken", "cut", "garbled"]
"""429 with Retry-After; 500; a connection that ends; a reply that is no JSON."""

_BLIND = ("random", "first-option", "no-op")  # what they say does not depend on the pictures
UNKNOWN = "I do not know this question."
_REPLY = re.compile(r"<reply>\n(.*)\n</reply>", re.DOTALL)  # of a judge's prompt
_FORMS = {
    "the letter of one option": r"(?<![A-Za-z])[A-H](?![A-Za-z])",
    "yes or no": r"(?i)\b(?:yes|no)\b",
    "one number": r"-?\d+(?:\.\d+)?",
}
_PICTURE_TOKENS = 256
_CHARACTERS_PER_TOKEN = 4


@dataclass
class FakeModel:
    """Answers chat requests about one data set. Several threads may ask it."""

    dataset: Dataset
    behaviour: Behaviour
    seed: int = 0
    _known: Recogniser = field(init=False)
    _tries: Counter[str] = field(init=False, default_factory=Counter)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._known = Recogniser(self.dataset)

    def __len__(self) -> int:
        """How many questions it knows."""
        return len(self._known)

    def fault(self, body: bytes) -> Fault | None:
        """What happens to this request instead of a reply. A flaky model meets a question with the first one to four
        of its faults, one after another, and answers then."""
        if self.behaviour != "flaky":
            return None
        digest = sha256(body).hexdigest()
        with self._lock:
            tries = self._tries[digest]
            self._tries[digest] += 1
        faults = get_args(Fault)[: 1 + int(digest, 16) % 4]
        return faults[tries] if tries < len(faults) else None

    def completion(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """The reply to a chat request, and whether its question is known. Raises `ValueError` for what is none."""
        messages = request.get("messages")
        if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
            raise ValueError("messages must be a list of objects")
        said = asked(messages)
        if reply := _REPLY.search(said.text):
            return _completion(str(request.get("model", "")), _judged(said.text, reply[1]), said), True
        found = self._known.find(said)
        known = len(found) == 1 or (bool(found) and self.behaviour in _BLIND)
        text = self.answer(found[0]) if known else UNKNOWN
        return _completion(str(request.get("model", "")), text, said), known

    def answer(self, question: Question) -> str:
        """What the model says to a question as it was shown."""
        name = self.behaviour if self.behaviour not in ("flaky", "slow") else "oracle"
        return baselines.reply(name, question, self.seed)


def _judged(request: str, reply: str) -> str:
    """What a judge says to a reply that names one answer of the form asked for, and no other."""
    form = next((form for form in _FORMS if form in request), None)
    found = set(re.findall(_FORMS[form], reply)) if form else set()
    answer = found.pop() if len(found) == 1 else None
    return json.dumps({"quote": answer or "", "answer": answer})


def _completion(model: str, text: str, said: Asked) -> dict[str, Any]:
    counts = {
        "prompt_tokens": len(said.text) // _CHARACTERS_PER_TOKEN + _PICTURE_TOKENS * len(said.pictures),
        "completion_tokens": len(text) // _CHARACTERS_PER_TOKEN + 1,
    }
    return {
        "id": f"chatcmpl-{sha256(said.text.encode()).hexdigest()[:16]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": None}
        ],
        "usage": {**counts, "total_tokens": sum(counts.values())},
    }
