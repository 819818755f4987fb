"""Answers made without looking: wrong ones, idle ones, drawn ones; each of the form of `Question.answer`, or None."""

from collections.abc import Iterator, Mapping
from hashlib import sha256

import numpy as np

from action_mapping.plan import MAX_STEPS
from action_mapping.primitives import PRIMITIVES, ROTATIONS, STAY, TRANSLATIONS
from spatial_engine.scoring.own import score_read
from spatial_engine.scoring.own.point import picture_size
from spatial_engine.scoring.score import Score
from templates.measured import Json
from templates.question import LETTERS, Question

_STAY: dict[str, list[Json]] = {"actions": [STAY.name], "step_nums": [0]}
_SPANS = {"deg": (0.0, 180.0), "rad": (0.0, np.pi)}
_FACTORS = {"": (0.25, 4.0), "m": (0.3, 10.0)}
"""Where numbers that do not repeat are drawn from: evenly, or evenly in their logarithm (other units as none)."""


def wrong(question: Question) -> Json | None:
    """An answer that scores 0; None where there is none."""
    for value in _near(question):
        found = score_read(question, value)
        if isinstance(found, Score) and found.value == 0:
            return value
    return None


def no_op(question: Question) -> Json | None:
    """What doing nothing comes to; None for a choice."""
    match question.format:
        case "yes_no":
            return "no"
        case "numeric":
            return 0
        case "json":
            return dict.fromkeys(question.answer, 0)
        case "order":
            return sorted(question.answer)
        case "point":
            return _marked(question) or _middle(question)
        case "plan":
            return _STAY
    return None


def drawn(question: Question, seed: int) -> Json | None:
    """An even guess: the same for the same question, order of options and seed."""
    content = "/".join((str(seed), question.id, *question.options))
    rng = np.random.default_rng(int(sha256(content.encode("utf-8", "replace")).hexdigest()[:16], 16))
    match question.format:
        case "choice":
            return LETTERS[rng.integers(len(question.options))]
        case "yes_no":
            return ("yes", "no")[rng.integers(2)]
        case "numeric":
            return _number(question, None, rng)
        case "json":
            return {name: _number(question, name, rng) for name in question.answer}
        case "order":
            return [int(number) for number in rng.permutation(sorted(question.answer))]
        case "point":
            return [round(float(rng.uniform(0, side - 1)), 1) for side in picture_size(question)]
        case "plan":
            return _some_plan(rng)
    return None


def _near(question: Question) -> Iterator[Json]:
    """Answers that may well be wrong, the most telling first."""
    answer = question.answer
    match question.format:
        case "choice":
            k, at = len(question.options), LETTERS.index(answer)
            yield from (LETTERS[(at + step) % k] for step in range(1, k))
        case "yes_no":
            yield "no" if answer == "yes" else "yes"
        case "numeric":
            yield from _beside(answer, question.tolerance, question.scorer_params.get("period"))
        case "json":
            for name, number in answer.items():
                for other in _beside(number, question.tolerance[name], _period(question, name)):
                    yield {**answer, name: other}
        case "order":
            yield answer[::-1]
        case "point":
            width, height = picture_size(question)
            yield [width - 1 - answer[0], height - 1 - answer[1]]
            yield from ([x, y] for x in (0, width - 1) for y in (0, height - 1))
        case "plan":
            yield {"actions": [_opposite(name) for name in answer["actions"]], "step_nums": answer["step_nums"]}
            yield {"actions": ["Dolly In", "Pan Right"], "step_nums": [MAX_STEPS, MAX_STEPS]}
            yield {"actions": ["Dolly Out", "Pan Left"], "step_nums": [MAX_STEPS, MAX_STEPS]}


def _beside(number: float, tolerance: float, period: float | None) -> Iterator[float]:
    """Three tolerances further; or half a period, the farthest that an angle can be off."""
    yield round(number + 3 * tolerance + 0.01, 2)
    if period:
        yield round(number + period / 2, 2)


def _opposite(name: str) -> str:
    named = next(p for p in PRIMITIVES if p.name == name)
    others = [p.name for p in PRIMITIVES if p.component == named.component and p.sign == -named.sign]
    return others[0] if others else name


def _marked(question: Question) -> list[float] | None:
    """Where the first mark stands: the same pixel, as if the camera had not moved."""
    marks = [mark for medium in question.media for mark in medium.get("marks", ())]
    return [float(v) for v in marks[0]["xy_px"]] if marks else None


def _middle(question: Question) -> list[float]:
    return [(side - 1) / 2 for side in picture_size(question)]


def _period(question: Question, name: str | None) -> float | None:
    period = question.scorer_params.get("period")
    return period.get(name) if isinstance(period, Mapping) else period


def _number(question: Question, name: str | None, rng: np.random.Generator) -> float:
    if period := _period(question, name):
        return round(float(rng.uniform(-period / 2, period / 2)), 1)
    if question.unit in _SPANS:
        return round(float(rng.uniform(*_SPANS[question.unit])), 1)
    low, high = _FACTORS.get(question.unit, _FACTORS[""])
    return round(float(np.exp(rng.uniform(np.log(low), np.log(high)))), 2)


def _some_plan(rng: np.random.Generator) -> dict[str, list[Json]]:
    """Some steps of one way and of one turn."""
    families = [[p.name for p in PRIMITIVES if p.component in family] for family in (TRANSLATIONS, ROTATIONS)]
    names = [family[rng.integers(len(family))] for family in families]
    return {"actions": names, "step_nums": [int(n) for n in rng.integers(1, MAX_STEPS + 1, size=2)]}
