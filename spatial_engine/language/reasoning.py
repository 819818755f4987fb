"""Chains of thought from the record of a question: observe, identify, compute, verify, conclude (docs/reasoning.md).

The sentences are those of the question's template (`templates.reasoning`), filled with what was measured; a template
without any has those of `_default`. No sentence before the conclusion states the answer, and the conclusion takes at
most the last third.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from experts.registry import UnknownNameError
from spatial_engine.errors import UsageError
from templates.answers.measures import signed_difference
from templates.columns import Json
from templates.perception.object_count import Counted
from templates.question import BY_PEOPLE, Question
from templates.reasoning import Reasoning, enumerated, reasoning_of
from templates.registry import TEMPLATES
from templates.template import Template

Amount = Literal["none", "short", "full"]
CHOICES = ("none", "auto", "all")
"""How much reasoning an export has: none; by level, see `amount_of`; or the full chain for every question."""
_BY_LEVEL: Mapping[str, Amount] = {"L1": "none", "L2": "short", "L3": "full", "L4": "full"}
_STEPS: Mapping[Amount, Sequence[str]] = {
    "none": (),
    "short": ("compute",),
    "full": ("observe", "identify", "compute", "verify"),
}
_SHOWN = {"frames": "photo", "video": "video", "drawing": "map", "sheet": "drawing"}
_UNITS = {"deg": "°", "": "", "m²": " m²"}
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_NAME = re.compile(r"\b(?:box|drawing|line|map|mark|object|option|photo|point|route|statement|step|video)s? \d+", re.I)
_CERTAIN_MARGIN = 10
"""Margins from here on, in σ, are not worth a sentence; many stand for what is certain (a puzzle, a count)."""
_SMALL = 1e-3
"""Share of a value below which its σ is not worth a sentence."""


def check_choice(choice: str) -> None:
    """Raises `UsageError` for a choice that there is not."""
    if choice not in CHOICES:
        raise UsageError(f"no reasoning of the kind {choice!r}", f"there is: {', '.join(CHOICES)}")


def amount_of(question: Question, choice: str) -> Amount:
    """How long the chain of a question is. "auto": none for perception (L1) and counting, short for L2, full for L3 and
    L4. A question that people wrote has none: nothing was measured."""
    if choice == "none" or question.template == BY_PEOPLE:
        return "none"
    if choice == "all":
        return "full"
    level = question.ability[:2]
    return "none" if level == "L2" and _counts(question) else _BY_LEVEL.get(level, "full")


def thought(question: Question, choice: str) -> str:
    """The chain in its tags, as it stands before the answer; "" for none."""
    said = chain(question, amount_of(question, choice))
    return f"<think>{said}</think>" if said else ""


def chain(question: Question, amount: Amount = "full") -> str:
    """The sentences in order; "" for none."""
    if amount == "none":
        return ""
    own, default = _declared(question).of(question), _default(question)
    steps = {step: own[step] or default.get(step, []) for step in own}
    said = [text for step in _STEPS[amount] if (text := _silent(question, steps[step]))]
    if not said:
        said = default["observe"]
    before = " ".join(said)
    for closing in _closings(question, " ".join(steps["conclude"])):
        if 2 * len(closing) <= len(before):
            return f"{before} {closing}"
    return before


def _silent(question: Question, sentences: Sequence[str]) -> str:
    """The sentences of a step, without what gives the answer away."""
    if states_answer(question, text := " ".join(sentences)):
        text = " ".join(sentence for sentence in sentences if not states_answer(question, sentence))
    return "" if states_answer(question, text) else text


def states_answer(question: Question, text: str) -> bool:
    """Whether a text gives the answer away: its option and no other one, its word, or its numbers in their order."""
    if question.options:
        words, others = question.right_words, [*question.options]
        if words is None:
            return _says(text, f"option {question.answer}")
        others.remove(words)
        return _says(text, words) and not any(_says(text, other) for other in others)
    if isinstance(question.answer, str):
        return _says(text, question.answer)
    numbers = [*_numbers(question.answer)]
    plain = text if question.format == "order" else _NAME.sub("", text)
    found = [float(number) for number in _NUMBER.findall(plain)]
    return bool(numbers) and any(found[k : k + len(numbers)] == numbers for k in range(len(found)))


def _counts(question: Question) -> bool:
    template = _template(question)
    return question.scorer == "count" or (template is not None and issubclass(template, Counted))


def _template(question: Question) -> type[Template] | None:
    """None if this installation does not have it."""
    try:
        found: type[Template] = TEMPLATES.load(question.template)
    except UnknownNameError:
        return None
    return found


def _declared(question: Question) -> Reasoning:
    template = _template(question)
    return Reasoning() if template is None else reasoning_of(template)


def _default(question: Question) -> dict[str, list[str]]:
    """What every record allows to say."""
    counts: dict[str, int] = {}
    for medium in question.media:
        if not medium.get("option"):
            name = _SHOWN.get(str(medium.get("kind")), "picture")
            counts[name] = counts.get(name, 0) + 1
    shown = [f"{count} {name}s" if count > 1 else f"the {name}" for name, count in counts.items()]
    observe = f"Look at {enumerated(shown)}." if shown else "Read the question."
    measured = [
        f"{name.replace('_', ' ')} {value:.4g}"
        for name, value in question.evidence.items()
        if name != "p_right" and isinstance(value, float | int) and not isinstance(value, bool)
    ]
    return {
        "observe": [observe],
        "compute": [f"Measured: {enumerated(measured)}."] if measured else [],
        "verify": [*_mistakes(question)] or [*_doubt(question)],
    }


def _mistakes(question: Question) -> Iterator[str]:
    """The first typical mistake that leads to a wrong answer."""
    for mistake, value in question.evidence.get("traps", {}).items():
        if value != question.answer and not isinstance(value, list) and not _is_right_too(question, value):
            written = f"option {value}" if question.options else f"{value:.4g}" if isinstance(value, float) else value
            yield f'A typical mistake ("{mistake.removesuffix(" (option)")}") would give {written} instead.'
            return


def _is_right_too(question: Question, value: Json) -> bool:
    """Whether a number is within the tolerance of the answer: of angles, 350° is 20° from 10°."""
    if question.format != "numeric":
        return False
    off = signed_difference(value, question.answer, question.scorer_params.get("period"))
    return abs(off) <= (question.tolerance or 0)


def _doubt(question: Question) -> Iterator[str]:
    """How sure the measurement is."""
    if question.margin is not None and question.margin < _CERTAIN_MARGIN:
        yield f"The nearest other answer is {question.margin:.1f} standard deviations away."
    elif question.format == "numeric" and (question.sigma or 0) > _SMALL * abs(question.value):
        yield f"The standard deviation of this measurement is {question.sigma:.2g}{_unit(question)}."


def _closings(question: Question, reason: str) -> Iterator[str]:
    """What may follow, from the most to the least explicit; nothing, where even the answer alone would be too long."""
    stated = _stated(question)
    words = question.right_words if question.options else None
    if words:
        yield from (f"{reason} {stated[:-1]}: {words.rstrip('.')}." for reason in [reason] if reason)
        yield f"{stated[:-1]}: {words.rstrip('.')}."
    if reason:
        yield f"{reason} {stated}"
    yield stated


def _stated(question: Question) -> str:
    answer = question.answer
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    if question.format == "text":
        return f"So the answer reads: {text}"
    return f"So the answer is {text}{_unit(question) if question.format == 'numeric' else ''}."


def _unit(question: Question) -> str:
    return _UNITS.get(question.unit, f" {question.unit}")


def _says(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words.casefold().rstrip('.'))}(?!\w)", text.casefold()) is not None


def _numbers(value: Json) -> Iterator[float]:
    """All numbers of an answer."""
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, list):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, float | int):
        yield float(value)
