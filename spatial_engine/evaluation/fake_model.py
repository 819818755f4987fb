"""The fake models of `serve-fake-model`, and how they recognise a question in a request."""

import io
import json
import re
import threading
from base64 import b64decode
from binascii import Error as Base64Error
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, get_args

from spatial_engine.dataset.dataset import Dataset
from spatial_engine.evaluation import baselines
from spatial_engine.evaluation.fake_rewording import Rewriter, fake_rewording
from spatial_engine.language.chat.media_hash import media_hash
from spatial_engine.scoring.own.quotes import plain_words
from templates.question import LETTERS, Question

_SPACE = re.compile(r"[ \t]+")
Content = str | Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Asked:
    """The content of a request."""

    text: str
    """Its text in order, with a mark for each picture."""
    pictures: tuple[bytes, ...]
    """The picture files, in order."""


def asked(messages: Iterable[Mapping[str, Any]]) -> Asked:
    """Text and pictures of all messages, in order. Parts that cannot be decoded are ignored."""
    words: list[str] = []
    pictures: list[bytes] = []
    for message in messages:
        content: Content = message.get("content") or ""
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if part.get("type") == "text":
                words.append(str(part.get("text", "")))
            elif part.get("type") in ("image_url", "video_url") and (picture := _decoded(part)):
                words.append(_mark(len(pictures)))
                pictures.append(picture)
    return Asked(_SPACE.sub(" ", "\n".join(words)), tuple(pictures))


class Recogniser:
    """Recognises the questions of one dataset."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._questions = list(dataset.questions)
        self._by_pictures: dict[tuple[str, ...], list[Question]] = defaultdict(list)
        self._by_text: dict[str, list[Question]] = defaultdict(list)
        self._hash_of = {entry["id"]: media_hash(dataset.path / entry["path"]) for entry in self._entries()}
        for question in self._questions:
            self._by_pictures[_set(self._hash_of[entry["id"]] for entry in question.media)].append(question)
            self._by_text[_SPACE.sub(" ", question.prompt)].append(question)

    def __len__(self) -> int:
        return len(self._questions)

    def find(self, request: Asked) -> list[Question]:
        """The questions that the request may ask, with their options as it shows them. Several only where it shows no
        picture (of ours) that tells them apart."""
        hashes = [self._hash(picture) for picture in request.pictures]
        candidates = self._by_pictures.get(_set(hashes)) if hashes else None
        if candidates is None:
            candidates = [q for text, several in self._by_text.items() if text in request.text for q in several]
        named = [question for question in candidates if self._is_named(question, request, hashes)]
        longest = max((len(question.text) for question in named), default=0)
        found = [question for question in named if len(question.text) == longest]
        found = [question for question in found if self._in_order(question, hashes)] or found
        return [self._as_shown(question, request, hashes) for question in found]

    def _is_named(self, question: Question, request: Asked, hashes: Sequence[str]) -> bool:
        words = [option for option in question.options if option not in self._hash_of]
        return all(_SPACE.sub(" ", text) in request.text for text in (question.instructions, question.prompt, *words))

    def _in_order(self, question: Question, hashes: Sequence[str]) -> bool:
        """Whether the request begins with the question's photos in their order: the reverse question has the same
        two."""
        photos = [self._hash_of[entry["id"]] for entry in question.media if not entry.get("option")]
        return list(hashes[: len(photos)]) == photos

    def _as_shown(self, question: Question, request: Asked, hashes: Sequence[str]) -> Question:
        letters = [self._letter(option, request, hashes) for option in question.options]
        if not letters or sorted(filter(None, letters)) != list(LETTERS[: len(letters)]):
            return question
        order = sorted(range(len(letters)), key=lambda index: str(letters[index]))
        right = letters[LETTERS.index(question.answer)]
        return replace(question, options=[question.options[index] for index in order], answer=right)

    def _letter(self, option: str, request: Asked, hashes: Sequence[str]) -> str | None:
        """The letter that stands before an option, be it words, a picture, or the name of a picture."""
        names = [re.escape(_SPACE.sub(" ", option))]
        if option in self._hash_of:
            places = [place for place, hash in enumerate(hashes) if hash == self._hash_of[option]]
            names = [re.escape(_mark(place)) for place in places]
            names += [rf"(?:picture|image|photo) {place + 1}" for place in places]
        found = re.findall(rf"(?<![A-Za-z])([A-Z])[.):\]]+\s*(?:{'|'.join(names)})[ \t]*(?=\n|$)", request.text)
        return found[-1] if names and found else None

    def _hash(self, picture: bytes) -> str:
        """sha256 of the dataset's file with the same bytes or pixels; of `picture` itself if there is none."""
        hash = sha256(picture).hexdigest()
        return hash if hash in self._known else self._by_pixels.get(_pixels(picture), hash)

    @cached_property
    def _known(self) -> set[str]:
        return set(self._hash_of.values())

    @cached_property
    def _by_pixels(self) -> dict[str, str]:
        """Files by hash of their pixels; read when a request has an image that is not byte for byte one of them."""
        files = {entry["id"]: self._dataset.path / entry["path"] for entry in self._entries()}
        return {_pixels(file.read_bytes()): self._hash_of[id] for id, file in files.items()}

    def _entries(self) -> Iterable[Mapping[str, Any]]:
        return {entry["id"]: entry for question in self._questions for entry in question.media}.values()


def _mark(place: int) -> str:
    return f"[picture {place}]"


def _set(hashes: Iterable[str]) -> tuple[str, ...]:
    """Distinct hashes, sorted: some programs send an image twice, or in another order."""
    return tuple(sorted(set(hashes)))


def _pixels(picture: bytes) -> str:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(picture)) as opened:
            return sha256(repr(opened.size).encode() + opened.convert("RGB").tobytes()).hexdigest()
    except (OSError, ValueError):
        return ""


def _decoded(part: Mapping[str, Any]) -> bytes | None:
    place = part.get(part["type"])
    url = place.get("url") if isinstance(place, Mapping) else place
    try:
        return b64decode(str(url).partition("base64,")[2], validate=True) or None
    except Base64Error:
        return None


Answerer = Literal["oracle", "wrong", "random", "first-option", "no-op", "flaky", "slow"]
Behaviour = Answerer | Rewriter
Fault = Literal["busy", "broken", "cut", "garbled"]
"""429 with Retry-After; 500; a connection that ends; a reply that is no JSON."""

_NAMED = ("oracle", "wrong", "random", "first-option", "no-op")
_BLIND = ("random", "first-option", "no-op")  # what they say does not depend on the pictures
UNKNOWN = "I do not know this question."
_REPLY = re.compile(r"<reply>\n(.*)\n</reply>", re.DOTALL)  # of a judge's prompt
_CLAIM = re.compile(r"<claim>\n(.*)\n</claim>", re.DOTALL)
_FORMS = {
    "the letter of one option": r"(?<![A-Za-z])[A-H](?![A-Za-z])",
    "yes or no": r"(?i)\b(?:yes|no)\b",
    "one whole number": r"-?\d+",
    "one number": r"-?\d+(?:\.\d+)?",
}
_PICTURE_TOKENS = 256
_CHARACTERS_PER_TOKEN = 4


@dataclass
class FakeModel:
    """Answers chat requests about one dataset. Several threads may ask it."""

    dataset: Dataset
    behaviour: Behaviour
    seed: int = 0
    _known: Recogniser = field(init=False)
    _tries: Counter[str] = field(init=False, default_factory=Counter)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._known = Recogniser(self.dataset)

    def __len__(self) -> int:
        """Number of known questions."""
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
        """The reply to a chat request, and whether its question is known. Raises `ValueError` for an invalid
        request."""
        messages = request.get("messages")
        if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
            raise ValueError("messages must be a list of objects")
        content = asked(messages)
        if reply := _REPLY.search(content.text):
            return _completion(str(request.get("model", "")), _judged(content.text, reply[1]), content), True
        if (words := fake_rewording(self.behaviour, content.text)) is not None:
            return _completion(str(request.get("model", "")), words, content), True
        found = self._known.find(content)
        known = len(found) == 1 or (bool(found) and self.behaviour in _BLIND)
        text = self.answer(found[0]) if known else UNKNOWN
        return _completion(str(request.get("model", "")), text, content), known

    def answer(self, question: Question) -> str:
        """The reply of the model to a question as shown."""
        name = self.behaviour if self.behaviour in _NAMED else "oracle"
        return baselines.reply(name, question, self.seed)


def _judged(request: str, reply: str) -> str:
    """The reply of a judge: the answer if the reply names exactly one of the requested form, else none. Of a claim:
    whether the reply holds its words."""
    if claim := _CLAIM.search(request):
        return "yes" if set(plain_words(claim[1]).split()) <= set(plain_words(reply).split()) else "no"
    form = next((form for form in _FORMS if form in request), None)
    found = set(re.findall(_FORMS[form], reply)) if form else set()
    answer = found.pop() if len(found) == 1 else None
    return json.dumps({"quote": answer or "", "answer": answer})


def _completion(model: str, text: str, content: Asked) -> dict[str, Any]:
    counts = {
        "prompt_tokens": len(content.text) // _CHARACTERS_PER_TOKEN + _PICTURE_TOKENS * len(content.pictures),
        "completion_tokens": len(text) // _CHARACTERS_PER_TOKEN + 1,
    }
    return {
        "id": f"chatcmpl-{sha256(content.text.encode()).hexdigest()[:16]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": None}
        ],
        "usage": {**counts, "total_tokens": sum(counts.values())},
    }
