"""What a template returns, checked: an error names the method, and the field and row that are wrong."""

from collections.abc import Mapping
from typing import TypeVar

import numpy as np

from templates.answers.answers import Answers
from templates.answers.label import Label
from templates.answers.registry import format_of
from templates.facts import Facts
from templates.measured import Measured
from templates.offer import Offer
from templates.question import FormatName

Kind = TypeVar("Kind")
AnyFacts = TypeVar("AnyFacts", bound=Facts)


def returned(method: str, kind: type[Kind], found: object) -> Kind:
    """What a method returned. Raises `TypeError` for anything but a `kind`."""
    if not isinstance(found, kind):
        raise TypeError(f"{method} returned {type(found).__name__}; allowed: {kind.__name__}")
    return found


def checked_facts(kind: type[AnyFacts], found: object) -> AnyFacts:
    """What `propose` returned. Raises `TypeError` or `ValueError`."""
    facts = returned("propose", kind, found)
    for name, column in facts.arrays():
        if column.dtype.kind == "f":
            _none(np.isinf(column), f"{kind.__name__}.{name}", column, "finite numbers, NaN where there is none")
    return facts


def checked_measured(found: object, count: int) -> Measured:
    """What `measure` returned for `count` facts. Raises `TypeError` or `ValueError`."""
    measured = returned("measure", Measured, found)
    value, sigma, known = measured.value, measured.sigma, measured.why == ""
    _rows("measure", len(measured), count)
    if sigma.shape != value.shape:
        raise ValueError(f"measure gave value the shape {value.shape} and sigma {sigma.shape}")
    returned("measure, evidence,", Mapping, measured.evidence)  # type: ignore[type-abstract]
    for name, column in measured.evidence.items():
        where = f"measure, evidence[{name!r}],"
        _rows(where, len(np.atleast_1d(returned(where, np.ndarray, column))), count)
    for name, column in measured.traps.items():
        where = f"measure, traps[{name!r}],"
        _rows(where, len(returned(where, np.ndarray, column)), count)
    _none(np.isinf(value) & known[:, None], "Measured.value", value, "finite numbers, NaN for one that is unknown")
    unknown = known & np.isnan(value).all(axis=1)
    if unknown.any() and value.shape[1]:
        raise ValueError(f"measure gave row {int(unknown.argmax())} no reason (why) and no finite value")
    odd = ~(sigma >= 0) & ~np.isnan(value) & known[:, None]
    _none(odd, "Measured.sigma", sigma, "0 or more, inf where unknown")
    outliers = measured.outliers
    odd = ((outliers < 0) | (outliers > 1)) & known
    _none(odd, "Measured.outlier_probability", outliers, "0 to 1, NaN where unknown")
    return measured


def checked_answers(found: object, count: int) -> Answers:
    """What `answer` returned for `count` facts. Raises `TypeError` or `ValueError`."""
    answers = returned("answer", Answers, found)
    returned("answer, why,", np.ndarray, answers.why)
    _rows("answer", len(answers), count)
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(own for own, _ in answers.stacks)])
    if outside := sorted({*rows.tolist()} - {*range(count)}):
        raise ValueError(f"Answers.stacks holds row {outside[0]}; allowed: 0 to {count - 1}")
    stacks_of = np.bincount(rows, minlength=count)
    _none((stacks_of != 1) & (answers.why == ""), "the number of Answers.stacks with an answer", stacks_of, "1")
    for own, stack in answers.stacks:
        if isinstance(stack, Label) and (dtype := np.asarray(stack.text).dtype).kind != "U":
            raise TypeError(f"Label.text holds {dtype}; allowed: text")
        if stack.numbers is not None:
            numbers = np.asarray(getattr(stack, stack.numbers), dtype=float)
            odd = ~np.isfinite(numbers).reshape(len(own), -1) & (answers.why[own] == "")[:, None]
            _none(
                odd, f"{type(stack).__name__}.{stack.numbers}", numbers, "finite numbers where there is no reason (why)"
            )
    return answers


def checked_offer(format: FormatName, found: object, answers: Answers) -> Offer | None:
    """What `offer` returned in a format for these answers. Raises `TypeError`, `ValueError` or `UnknownNameError`."""
    format_of(format)
    offer = None if found is None else returned("offer", Offer, found)
    if offer is not None:
        _rows("offer", len(offer.why), len(answers))
    if format == "choice" and (answers.why == "").any() and (offer is None or offer.options is None):
        raise ValueError("offer returned no options for the format choice")
    return offer


def check_kinds(format: FormatName, answers: Answers, offer: Offer | None) -> None:
    """Raises `TypeError` or `ValueError` for answers that are asked but that the format cannot ask for."""
    for own, stack in answers.stacks:
        if len(asked := np.flatnonzero(answers.why[own] == "")):
            format_of(format).check(stack.take(asked))
            if format == "yes_no" and not isinstance(stack, Label) and (offer is None or offer.options is None):
                raise ValueError(
                    f"offer returned no drawing for yes_no: a {type(stack).__name__} needs one to ask about"
                )


def _rows(method: str, rows: int, count: int) -> None:
    if rows != count:
        raise ValueError(f"{method} returned {rows} rows for {count} facts")


def _none(wrong: np.ndarray, field: str, column: np.ndarray, allowed: str) -> None:
    """Raises `ValueError` for the first row that is wrong."""
    if wrong.any():
        row = int(np.argwhere(wrong)[0, 0])
        raise ValueError(f"{field} is {column[row].tolist()} in row {row}; allowed: {allowed}")
