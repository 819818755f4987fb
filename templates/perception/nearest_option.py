"""Four drawn options, of which the one nearest to a measurement is right."""

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Texts
from templates.distractors import all_apart

MARKS = ("1", "2", "3", "4")
Errors = Float64[np.ndarray, "n 4"]
"""How far each option lies from the measurement."""


def right_and_others(
    apart: Bool[np.ndarray, "n m m"], rng: np.random.Generator, first: int = 1
) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k 4"]]:
    """Rows with four candidates that are all apart, and these in random order. Candidate 0 is right; the first ones are
    always among the four."""
    order = np.concatenate(
        [np.zeros((len(apart), first)), 1 + rng.random((len(apart), apart.shape[1] - first))], axis=1
    )
    chosen = all_apart(apart, order.argsort(axis=1, kind="stable"), len(MARKS))
    rows = np.flatnonzero((chosen[:, :first] == range(first)).all(axis=1))
    return rows, rng.permuted(chosen[rows], axis=1)


def nearest(error: Errors, most: float, step: float) -> tuple[Texts, dict[str, Bool[np.ndarray, "n"]]]:
    """The option with the smallest error, and why none is right: its error exceeds `most`, or the next one differs by
    less than `step`."""
    least, next_least = np.sort(error, axis=1)[:, :2].T
    with np.errstate(invalid="ignore"):
        cases = {"no option is near the right one": least > most, "two options are alike": next_least - least < step}
    return np.array(MARKS)[np.nan_to_num(error).argmin(axis=1)], cases


def margin(error: Errors, sigma: Errors) -> Float64[np.ndarray, "n"]:
    """Half the difference between the two smallest errors, in σ: a common error that large makes them equal."""
    least, next_least = np.sort(error, axis=1)[:, :2].T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((next_least - least) / 2 / sigma.max(axis=1))


def named(error: Errors, most: float) -> Texts:
    """The option nearest to what a mistake gives; "" where none is near."""
    return np.where(error.min(axis=1) <= most, np.array(MARKS)[np.nan_to_num(error).argmin(axis=1)], "")


def mistaken(options: Float64[np.ndarray, "n 4"], value: Float64[np.ndarray, "n"], label: Texts, step: float) -> Texts:
    """The option, of a series with the ratio `step`, nearest to what a mistake gives; "" for the right one (`label`),
    and where none is near."""
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.nan_to_num(np.abs(np.log(options / value[:, None])), nan=np.inf, posinf=np.inf)
    option = named(off, np.log(step) / 2)
    return np.where(option == label, "", option)


def first_of(which: Bool[np.ndarray, "n 4"]) -> Texts:
    """The first option of which it is true; "" for none."""
    return np.where(which.any(axis=1), np.array(MARKS)[which.argmax(axis=1)], "")
