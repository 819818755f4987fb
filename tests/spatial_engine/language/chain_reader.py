"""Reads replies with chains of thought, without the code that makes them: numbers, the final answer, and how early it
is stated."""

import json
import re
from collections.abc import Iterator

from templates.columns import Json
from templates.question import Question

REPLY = re.compile(r"\A(?:<think>(?P<thought>.+)</think>)?<answer>(?P<answer>.+)</answer>\Z", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
NAMES = re.compile(
    r"\b(?:boxe?|drawing|line|map|object|option|photo|point|step|video)s? \d+(?:(?:, | and | or | to )\d+)*"
    r"|(?<=[a-z]) \(\d\)",
    re.IGNORECASE,
)
"""Marks and photos by number."""
SENTENCE = re.compile(r"\S.*?(?:[.:](?=\s|\Z)|\Z)", re.DOTALL)


def faults(question: Question, reply: str) -> list[str]:
    """What is wrong with a reply that should end in the right answer; empty if nothing is."""
    read = REPLY.match(reply)
    if not read:
        return ["not in the form <think>…</think><answer>…</answer>"]
    thought, answer = read["thought"] or "", read["answer"]
    found = []
    if answer != (
        question.answer if isinstance(question.answer, str) else json.dumps(question.answer, ensure_ascii=False)
    ):
        found.append("ends in another answer")
    stated = re.search(r"So the answer is (.+?)(?: m| cm| mm| m²| m/s| s|°)?\.?\Z", thought)
    if stated and not stated[1].startswith(answer):
        found.append("concludes another answer")
    sentences = [(match.start(), match[0]) for match in SENTENCE.finditer(thought)]
    if any(_states(question, text) for start, text in sentences if 3 * start < 2 * len(thought)):
        found.append("states the answer before the last third")
    known = [*numbers_in(_record(question))]
    found += [f"{text} is in no record" for text in _numbers(thought) if not _is_known(text, known)]
    return found


def numbers_in(value: Json) -> Iterator[float]:
    """All numbers of a record, those in its texts included."""
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, str):
        yield from map(float, NUMBER.findall(value))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from numbers_in(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield float(value)


def _record(question: Question) -> Json:
    """What a chain may rest on: what was measured, and what was asked."""
    asked = [question.instructions, question.prompt, *question.options, question.answer]
    measured = [question.evidence, question.fact, question.value, question.sigma, question.tolerance, question.margin]
    return [*asked, *measured, question.scorer_params]


def _numbers(text: str) -> list[str]:
    return NUMBER.findall(NAMES.sub("", text))


def _is_known(text: str, known: list[float]) -> bool:
    """Whether a number is one of the record, rounded to the digits that are written."""
    value = float(text)
    digits = len(text.partition("e")[0].partition(".")[2])
    step = 10.0 ** (int(text.partition("e")[2] or 0) - digits)
    if "." not in text and "e" not in text and len(text.strip("-").rstrip("0")) < len(text.strip("-")):
        step = max(step, 10.0 ** (len(text.strip("-")) - 4))  # four significant digits of a large number
    return any(abs(value - number) <= step / 2 + 1e-9 * abs(number) for number in known)


def _states(question: Question, text: str) -> bool:
    if "So the answer" in text:
        return True
    if question.options:
        right, others = question.right_words, set(question.options)
        by_letter = re.search(rf"\b(?:option|answer is) {question.answer}\b", text) is not None
        if right is None:
            return by_letter
        return by_letter or (_says(text, right) and not any(_says(text, other) for other in others - {right}))
    if isinstance(question.answer, str):
        return _says(text, question.answer)
    wanted = [*numbers_in(question.answer)]
    seen = [float(number) for number in (NUMBER.findall(text) if question.format == "order" else _numbers(text))]
    return any(seen[k : k + len(wanted)] == wanted for k in range(len(seen) - len(wanted) + 1))


def _says(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words.lower())}(?!\w)", text.lower()) is not None
