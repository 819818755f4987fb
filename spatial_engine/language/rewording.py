"""What a language model is asked about one prompt: to reword it, and then, knowing nothing of that, what it asks."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from spatial_engine.language.chat.request import Request
from spatial_engine.language.lexicon import Language
from spatial_engine.language.near_misses import near_misses
from spatial_engine.language.preserved import to_keep
from spatial_engine.options import RephraseOptions
from spatial_engine.scoring.reading.json_object import objects
from templates.columns import Json
from templates.question import LETTERS

NAMES: dict[str, str] = {"de": "German", "en": "English", "zh": "Chinese"}
_RULES = """\
You reword questions about pictures. Write the question below in {language}, as another person would ask it, so that
its answer stays exactly the same whatever the pictures show.

- Keep numbers, units, names, texts in quotation marks, photos and marked points as they are, and in the order in which
  the question names them.
- Keep every word on direction, order, size, distance and point of view, and every negation. Add none.
- Do not answer the question, do not explain it, do not name possible answers, and do not repeat what stands before it.

Reply with one JSON object: {{"prompt": "the reworded question"}}"""
_ASKED = """\
Before every such question stands, and will go on to stand:
<before>
{instructions}
</before>

<question>
{prompt}
</question>

{keep}
This is wording {version} of {versions}: let its structure differ from that of the others."""
_KEEP = {
    True: "Keep in this order: {words}.",
    False: "Keep in {language}, with numbers, units and marks unchanged: {words}.",
}
_READING = """\
Somebody reworded a question about pictures. Which of the lettered questions does the reworded one ask? It must have the
same answer whatever the pictures show: the lettered questions differ in directions, numbers, units, names, photos,
points of view or negations. Reply with the letter alone, or with 0 if it asks none of them or leaves it open."""
_CHOICE = """\
<reworded>
{reworded}
</reworded>

<questions>
{questions}
0. none of these
</questions>"""
_LETTER = re.compile(r"(?<![A-Za-z0-9])([A-H]|0)(?![A-Za-z0-9])")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """One rewording of one prompt. Questions with the same prompt share it."""

    instructions: str
    prompt: str
    values: tuple[str, ...]
    """What the template filled in."""
    language: Language
    version: int
    """From 0."""


def rewording_request(wish: Wish, options: RephraseOptions) -> Request:
    """Asks for the rewording."""
    language, words = NAMES[wish.language], "; ".join(to_keep(wish.prompt, wish.values))
    keep = _KEEP[wish.language == "en"].format(language=language, words=words) if words else ""
    text = _ASKED.format(
        instructions=wish.instructions, prompt=wish.prompt, keep=keep, version=wish.version + 1,
        versions=options.wordings,
    )  # fmt: skip
    system = _RULES.format(language=language)
    return Request(model=options.model or "", system=system, parts=(text,), parameters=options.parameters)


def read_rewording(reply: str) -> str | None:
    """The prompt in a reply; None if there is none."""
    found = (one.get("prompt") for one in (*_whole(reply), *objects(reply)))
    return next((text.strip() for text in found if isinstance(text, str) and text.strip()), None)


def _whole(reply: str) -> list[dict[str, Json]]:
    """The object between the first brace and the last one: a prompt may hold braces itself."""
    try:
        found = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
    except (ValueError, RecursionError):
        return []
    return [found] if isinstance(found, dict) else []


def reading_request(wish: Wish, reworded: str, options: RephraseOptions) -> Request:
    """Asks which question the rewording asks: the original, or one that differs from it in one thing."""
    lines = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, _alternatives(wish, reworded), strict=False))
    return Request(
        model=options.reader or options.model or "",
        system=_READING,
        parts=(_CHOICE.format(reworded=reworded, questions=lines),),
        parameters=options.parameters,
    )


def reads_the_same(wish: Wish, reworded: str, reply: str) -> bool:
    """Whether the reader chose the original."""
    found = _LETTER.findall(reply)
    alternatives = _alternatives(wish, reworded)
    return bool(found) and len({*found}) == 1 and found[0] == LETTERS[alternatives.index(wish.prompt)]


def _alternatives(wish: Wish, reworded: str) -> Sequence[str]:
    """The original and its near misses, in an order that depends on both texts alone."""
    alternatives = [wish.prompt, *near_misses(wish.prompt, wish.values)]
    return sorted(alternatives, key=lambda text: sha256(f"{reworded}/{text}".encode("utf-8", "replace")).digest())
