"""A linear model that reads prompt and options, and no picture: ridge regression on hashed n-grams of characters."""

import re
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.leaks.fixed_number import numbers_of
from spatial_engine.leaks.guesses import Guesses, has_words, no_guesses, right_option
from spatial_engine.leaks.ngrams import ngrams, option_cues
from templates.question import Question

BINS = 4
"""Of numbers: quarters of the answers that it learns from."""
AT_MOST = 1500
"""Questions of one template and format that are read; of more, this many drawn by their ids."""
_STEPS = 15
"""Of the solver; stopping early smooths too."""
_DAMP = 1.0

Folds = Int64[np.ndarray, "n"]


def blind_baseline(questions: Sequence[Question], folds: Folds) -> Guesses:
    """Which option, yes or no, or in which quarter a number lies; a model per template and format, learnt on other
    folds. The chance level of a number is the share of the largest bin among those it learns from."""
    guesses = no_guesses(questions)
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for n, question in enumerate(questions):
        if question.format in _GUESS:
            groups[question.template, question.format].append(n)
    for (_, form), members in sorted(groups.items()):
        if len(members) > AT_MOST:
            members = sorted(members, key=lambda n: sha256(questions[n].id.encode()).digest())[:AT_MOST]
        index = np.array(sorted(members))
        _GUESS[form](guesses, index, [questions[n] for n in index], folds[index])
    return guesses


def _choices(guesses: Guesses, index: Int64[np.ndarray, "m"], asked: Sequence[Question], folds: Folds) -> None:
    """Every option is worth something; the one that is worth most is said. Options without words have a letter."""
    from scipy.sparse import csr_array, hstack

    right = [right_option(question) for question in asked]
    pairs = [(n, k) for n, question in enumerate(asked) if right[n] is not None for k in range(len(question.options))]
    if not pairs:
        return
    of = np.array([n for n, _ in pairs])
    options = [asked[n].options[k] if has_words(asked[n]) else "" for n, k in pairs]
    crossed = _crossed([asked[n].prompt for n, _ in pairs], options)
    cues = csr_array(np.concatenate([option_cues(asked[n]) for n in dict.fromkeys(of.tolist())]))
    rows = hstack([ngrams(options, (1, 2, 3, 4)), crossed, cues], format="csr")
    goal = np.array([float(right[n] == k) - 1 / len(asked[n].options) for n, k in pairs])
    for test, worth in _predictions(rows, goal[:, None], folds[of]):
        for n in np.unique(of[test]):
            mine = worth[of[test] == n, 0]
            best = mine == mine.max()
            guesses.hits[index[n]] = best[right[n]] / best.sum()


def _yes_no(guesses: Guesses, index: Int64[np.ndarray, "m"], asked: Sequence[Question], folds: Folds) -> None:
    goal = np.array([1.0 if question.answer == "yes" else -1.0 for question in asked])
    for test, worth in _predictions(_with_constant(ngrams([q.prompt for q in asked])), goal[:, None], folds):
        guesses.hits[index[test]] = np.where(worth[:, 0] == 0, 0.5, (worth[:, 0] > 0) == (goal[test] > 0))


def _numbers(guesses: Guesses, index: Int64[np.ndarray, "m"], asked: Sequence[Question], folds: Folds) -> None:
    known = np.array([n for n, question in enumerate(asked) if numbers_of(question) is not None], dtype=np.int64)
    if not len(known):
        return
    values = np.array([float(asked[n].answer) for n in known])
    rows, folds, index = _with_constant(ngrams([asked[n].prompt for n in known])), folds[known], index[known]
    for fold in np.unique(folds):
        test = folds == fold
        if test.all():
            continue
        edges = np.unique(np.quantile(values[~test], np.arange(1, BINS) / BINS))
        bins = np.searchsorted(edges, values, side="right")
        shares = np.bincount(bins[~test], minlength=len(edges) + 1) / np.sum(~test)
        goal = np.eye(len(edges) + 1)[bins]
        worth = rows[test] @ _ridge(rows[~test], goal[~test])
        guesses.hits[index[test]] = np.argmax(np.round(worth, 9), axis=1) == bins[test]
        guesses.chance[index[test]] = shares.max()
        guesses.fixed[index[test]] = False


_GUESS = {"choice": _choices, "yes_no": _yes_no, "numeric": _numbers}


def _predictions(rows: Any, goal: Float64[np.ndarray, "m c"], folds: Folds) -> Any:
    """(members of a fold, what a model of the other folds says of them), fold by fold."""
    for fold in np.unique(folds):
        test = folds == fold
        if not test.all():
            yield test, np.round(rows[test] @ _ridge(rows[~test], goal[~test]), 9)


def _ridge(rows: Any, goal: Float64[np.ndarray, "m c"]) -> Float64[np.ndarray, "f c"]:
    from scipy.sparse.linalg import lsqr

    return np.stack([lsqr(rows, column, damp=_DAMP, iter_lim=_STEPS)[0] for column in goal.T], axis=1)


def _with_constant(rows: Any) -> Any:
    from scipy.sparse import csr_array, hstack

    return hstack([rows, csr_array(np.ones((rows.shape[0], 1)))], format="csr")


def _crossed(prompts: Sequence[str], options: Sequence[str]) -> Any:
    """Words of the prompt that not every prompt has, each together with the whole option."""
    from scipy.sparse import csr_array

    words = {prompt: frozenset(re.findall(r"\w+", prompt.lower())) for prompt in dict.fromkeys(prompts)}
    everywhere = frozenset.intersection(*words.values())
    column_of: dict[tuple[str, str], int] = {}
    rows, columns = [], []
    for row, (prompt, option) in enumerate(zip(prompts, options, strict=True)):
        for word in sorted(words[prompt] - everywhere):
            rows.append(row)
            columns.append(column_of.setdefault((word, option), len(column_of)))
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(prompts), max(1, len(column_of))))
    return matrix / max(1.0, float(np.sqrt(matrix.sum(axis=1).max())))
