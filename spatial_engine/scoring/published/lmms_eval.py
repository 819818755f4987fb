"""How lmms-eval reads answers in its tasks vsibench, sitebench, mindcube and omnispatial."""

import json
import re
from collections.abc import Sequence
from typing import Literal

from spatial_engine.scoring.official.reading import read_letter
from spatial_engine.scoring.published.number_words import VALUES
from templates.question import LETTERS

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_WORD = re.compile(r"[a-z]+")
_NUMBER_WORDS = VALUES.keys() | {"hundred", "thousand"}
_LARGEST = 10**300
_STATED = re.compile(r"Answer\s*:\s*([A-D])\b", re.IGNORECASE)


def extract_number(response: str | None) -> float | None:
    """vsibench: whichever comes first, digits or a run of English number words ("twenty-one", "one thousand two
    hundred"; "and" may stand between). Commas end a number: "1,234" is 1."""
    text = (response or "").strip().lower()
    digits = _NUMBER.search(text)
    start, run = _number_words(text)
    if digits and (start is None or digits.start() < start):
        return float(digits[0])
    return _spoken(run) if run else None


def first_token(response: str) -> str:
    """vsibench: what stands before the first blank, without dots at its end. Line breaks are no blanks."""
    return response.partition(" ")[0].rstrip(".").strip()


def vsibench_choice(response: str, answer: str) -> float:
    """1 if the first token is the answer, in any case."""
    return float(first_token(response).lower() == answer.lower())


def sitebench_letter(response: str, options: int) -> str | None:
    """The letter of one of `options` options; None where the original draws one at random.

    "(X)", else " X ", else "X.", else "X:", ":X" or ": X"; of several, the one that stands last as " X ", and the
    first of all where none does.
    """
    text = f" {response} "
    letters = LETTERS[:options]
    for forms in (("({})",), (" {} ",), ("{}.",), ("{}:", ":{}", ": {}")):
        found = [letter for letter in letters if any(form.format(letter) in text for form in forms)]
        if found:
            return max(found, key=lambda letter: text.rfind(f" {letter} "))
    return None


def sitebench(response: str, answer: str, options: int) -> float:
    """1 or 0; the expectation, 1 / `options`, where the original draws at random. 0 if there are no options."""
    letter = sitebench_letter(response.strip(), options)
    if letter is not None:
        return float(letter == answer)
    return 1 / options if answer in LETTERS[:options] and answer else 0.0


def mindcube_letter(response: str) -> str | None:
    """A letter from A to E by MindCube's own rules, None if there is none."""
    return read_letter(response)


def mindcube_category(id: str) -> Literal["among", "around", "rotation", "other"]:
    """From the part of an item's id before the first "_"."""
    prefix = id.partition("_")[0]
    if prefix in ("around", "aroundnew"):
        return "around"
    return prefix if prefix in ("among", "rotation") else "other"  # type: ignore[return-value]


def omnispatial_letter(response: str, form: Literal["json", "re", "direct"], *, strict: bool = False) -> str | None:
    """The letter of a reply that was asked for in one of three forms.

    json: the value of "answer"; re: after the last "Answer:", in the case it was written in; direct: the first
    character. As published, "A" where the first two find nothing; with `strict` None, and nothing but A to D, in
    either case.
    """
    if form == "json":
        found = _json_answer(response)
    elif form == "re":
        stated: Sequence[str] = _STATED.findall(response)
        found = stated[-1] if stated else None
    else:
        found = response.strip()[:1].upper()[:1]
    if strict:
        return found.upper() if found and found.upper() in "ABCD" else None
    return "A" if found is None else found


def omnispatial_judged(judge_reply: str) -> bool:
    """Whether a judge's reply says "true", anywhere ("untrue" too)."""
    return "true" in judge_reply.lower()


def sitebench_adjusted(scores: Sequence[float], options: Sequence[int]) -> float:
    """SITE's chance-adjusted accuracy as lmms-eval prints it: times 100, five decimals."""
    whole = sum(1 - 1 / n for n in options)
    above = sum(score - 1 / n for score, n in zip(scores, options, strict=True))
    return round(above / whole * 100, 5) if whole > 0 else 0.0


def _number_words(text: str) -> tuple[int | None, list[str]]:
    """Where the first number word begins, and the run of them that begins there."""
    start: int | None = None
    run: list[str] = []
    for word in _WORD.finditer(text):
        if word[0] in _NUMBER_WORDS:
            start = word.start() if start is None else start
            run.append(word[0])
        elif run and word[0] != "and":
            break
    return start, run


def _spoken(run: Sequence[str]) -> float | None:
    """The number that words say; None beyond all floats."""
    total = current = 0
    for word in run:
        if word == "hundred":
            current = max(current, 1) * 100
        elif word == "thousand":
            total, current = total + max(current, 1) * 1000, 0
        else:
            current += VALUES[word]
        if total + current > _LARGEST:
            return None
    return float(total + current)


def _json_answer(response: str) -> str | None:
    text = response.strip().removeprefix("```json").removesuffix("```").strip()
    try:
        reply = json.loads(text)
        answer = reply.get("answer", "A").strip()
    except (ValueError, RecursionError, AttributeError):
        return None
    return answer.upper()[:1] if isinstance(answer, str) else None
