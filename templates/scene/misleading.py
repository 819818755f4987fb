"""Facts among which a typical mistake is often wrong."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int64

from templates.answers.answers import Answers
from templates.columns import Texts

_SURE = 0.99
"""Least P(right) of what `mixed` chooses."""


def misleading_first(
    misled: Bool[np.ndarray, "n"], rng: np.random.Generator, least_share: float
) -> Int64[np.ndarray, "k"]:
    """Rows in random order; among any number of first ones, at least `least_share` are rows whose answer a mistake gets
    wrong (`misled`). Other rows beyond that share are left out."""
    wrong, right = rng.permutation(np.flatnonzero(misled)), rng.permutation(np.flatnonzero(~misled))
    nth = np.arange(1, len(right) + 1)
    before = np.ceil(nth / (1 - least_share) - 1e-9) - nth  # so many misled rows come before each other one
    place = np.concatenate([np.arange(1, len(wrong) + 1), before + 0.5])
    rows = np.concatenate([wrong, right])[np.argsort(place, kind="stable")]
    return np.asarray(rows[np.sort(place) <= len(wrong) + 0.5], dtype=np.int64)


def mixed(
    misleading: Bool[np.ndarray, "n"], answers: Sequence[Answers], count: int, rng: np.random.Generator
) -> Int64[np.ndarray, "k"]:
    """At most `count` rows in random order; half of them are misleading as far as there are enough: a reader who trusts
    the picture alone answers them wrongly. Only rows whose answer is sure in the first format in which any is."""
    every = [each.p_right >= _SURE for each in answers]
    sure = next((each for each in every if each.any()), np.ones_like(misleading))
    fooling, others = np.flatnonzero(sure & misleading), np.flatnonzero(sure & ~misleading)
    half = max(count // 2, count - len(others))
    return rng.permutation(np.concatenate([fooling[:half], others[: count - min(half, len(fooling))]]))


def taking_turns(labels: Texts) -> Int64[np.ndarray, "n"]:
    """Rows in an order in which the labels take turns as far as they can be had."""
    turn = np.zeros(len(labels))
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        turn[rows] = np.arange(len(rows))
    return np.argsort(turn, kind="stable")


def paired(stated: Int64[np.ndarray, "n"], labels: Texts, pair: tuple[str, str]) -> Int64[np.ndarray, "k"]:
    """The rows, in order, that are left if every stated number keeps as many of one label as of the other, the first
    ones of each: the number alone tells nothing of the answer."""
    kept = []
    for number in np.unique(stated):
        each = [np.flatnonzero((stated == number) & (labels == label)) for label in pair]
        kept += [rows[: min(map(len, each))] for rows in each]
    return np.sort(np.concatenate([np.empty(0, dtype=np.int64), *kept]))
