"""What a question's answer says as it is written: the letter, the word, the number that a model is scored against.

The measurement beside it (`value`) is what the answer was made from. An audit that looked only there would not see a
letter that was arranged wrongly.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

import numpy as np
from jaxtyping import Float64

from templates.answer import MOTIONS, Answer, Label, Numbers, Plan, Point, Shape, right, rms
from templates.fact import Fact
from templates.measured import Undecided
from templates.question import Question
from templates.template import Template
from templates.unanswerable import UNDETERMINED, is_open_option

Errors = tuple[dict[str, float], dict[str, float]]
"""(error, σ) by the number's name."""


def numeric_error(answer: Answer, true: Answer | None) -> Errors:
    """Answer minus truth and σ of that difference, in the answer's units; nothing for what is no number."""
    match answer, true:
        case Numbers(), Numbers():
            rows = [true.names.index(name) for name in answer.names if name in true.names]
            names = [name for name in answer.names if name in true.names]
            own = [answer.names.index(name) for name in names]
            off = answer.value[own] - true.value[rows]
            if answer.period:
                off = (off + answer.period / 2) % answer.period - answer.period / 2
            return _named(names, off, np.hypot(answer.sigma[own], true.sigma[rows]))
        case Point(), Point():
            sigma = np.full(2, np.hypot(answer.sigma_px, true.sigma_px))
            return _named(["x", "y"], answer.xy_px - true.xy_px, sigma)
        case Plan(), Plan():
            return _named(list(MOTIONS), answer.amounts - true.amounts, np.hypot(answer.sigma, true.sigma))
        case Shape(), Shape():
            sigma = np.hypot(answer.sigma, true.sigma)
            return {"rms": rms(answer.points, true.points)}, {"rms": float(sigma)}
    return {}, {}


def _named(names: list[str], off: Float64[np.ndarray, "d"], sigma: Float64[np.ndarray, "d"]) -> Errors:
    return dict(zip(names, off.tolist(), strict=True)), dict(zip(names, sigma.tolist(), strict=True))


Holds = Callable[[Answer], bool | None]

_CONTRADICTS = "(the answer is not what its value says)"


def written_claim(question: Question, template: Template, recorded: Answer) -> Holds:
    """Whether a question is right if something is true: its value is, and its answer as it is written is too.

    Raises `ValueError`, `KeyError`, `IndexError`, `TypeError` or `AttributeError` for an answer that is none of its
    format.
    """
    written = _written(question, template, recorded)

    def holds(true: Answer) -> bool | None:
        both = right(recorded, true), written(true)
        return False if False in both else None if None in both else True

    return holds


def _written(question: Question, template: Template, recorded: Answer) -> Holds:
    match recorded:
        case Label():
            said: Answer = replace(recorded, text=_label(question, template, recorded))
        case Numbers():
            said = replace(recorded, value=np.array(_numbers(question, recorded), dtype=float))
        case Point() if question.format == "choice" and is_open_option(_option(question)):
            said = Label(text=UNDETERMINED, margin=np.inf)
        case Point():
            said = replace(recorded, xy_px=np.array(_pixel(question), dtype=float))
        case Shape():
            said = replace(recorded, points=np.array(_drawn(question), dtype=float))
            if question.format == "yes_no" and question.answer not in ("yes", "no"):
                raise ValueError(f"neither yes nor no: {question.answer}")
            if question.answer == "no":
                return lambda true: None if (shown := right(said, true)) is None else not shown
        case Plan():
            said = recorded
        case _:
            assert_never(recorded)
    return lambda true: right(said, true)


def _label(question: Question, template: Template, recorded: Label) -> str:
    """The label that the answer names."""
    if question.format == "yes_no":
        return str(question.answer)
    if question.format == "order":
        return " ".join(str(photo) for photo in question.answer)
    fact = Fact(template=question.template, params=question.fact)
    phrasing = template.phrase(question.format, fact, recorded, np.random.default_rng(0))
    if isinstance(phrasing, Undecided):
        raise ValueError(phrasing.reason)
    agrees = phrasing.options[int(phrasing.answer)] == _option(question)
    return recorded.text if agrees else _CONTRADICTS


def _numbers(question: Question, recorded: Numbers) -> list[float]:
    if isinstance(question.answer, dict):
        return [float(question.answer[name]) for name in recorded.names]
    return [float(question.answer)]


def _pixel(question: Question) -> list[float]:
    """The pixel that is written, or that of the chosen mark in the last photo."""
    if question.format == "point":
        return list(question.answer)
    marks = {mark["text"]: mark["xy_px"] for mark in question.media[-1]["marks"]}
    return list(marks[_option(question).removeprefix("Point ")])


def _drawn(question: Question) -> list[list[float]]:
    """The path on the map that is shown, or chosen."""
    wanted = _option(question) if question.format == "choice" else None
    drawings = [medium for medium in question.media if medium["kind"] == "drawing"]
    (chosen,) = (medium for medium in drawings if wanted is None or medium["id"] == wanted)
    (path,) = chosen["polylines"]
    return [list(place) for place in path]


def _option(question: Question) -> str:
    return question.options[_letter(question)]


def _letter(question: Question) -> int:
    place = ord(question.answer) - ord("A")
    if not 0 <= place < max(len(question.options), 1):
        raise ValueError(f"no option {question.answer}")
    return place
