"""The blind baseline: a linear model that reads a question and its options, and sees no picture.

Ridge regression on n-grams of characters (scikit-learn), a model per template and format. Each question is predicted
by a model that was trained on other folds.
"""

import re
from collections.abc import Hashable, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.leaks.compact import grouped
from spatial_engine.leaks.guesses import Guesses, no_guesses
from spatial_engine.leaks.question_table import QuestionTable
from templates.question import Question

BINS = 4
"""A number is predicted as one of the quartiles of the answers in the training folds."""
AT_MOST = 1500
"""Largest number of questions per template and format; of more a sample is drawn by id."""
_CHARACTERS = (2, 5)
"""Shortest and longest n-gram."""
_LETTERS = 6
"""Number of letters with a feature of their own: A to F."""

Folds = Int64[np.ndarray, "n"]


def blind_baseline(table: QuestionTable, folds: Folds) -> Guesses:
    """Predicts the option, yes or no, or the quarter in which a number lies.

    The chance level of a number is the share of the largest quarter in the training folds.
    """
    guesses = no_guesses(table)
    model = np.select([table.options > 0, table.yes_no, ~np.isnan(table.number)], [1, 2, 3])
    for index in grouped(np.flatnonzero(model), table.template.ranks, table.format.ranks):
        if len(index) > AT_MOST:
            ids = dict(zip(index.tolist(), table.id[index].tolist(), strict=True))
            index = np.sort(sorted(ids, key=lambda n: sha256(ids[n]).digest())[:AT_MOST])
        _MODELS[model[index[0]]](guesses, index, table.read(index.tolist()), folds[index])
    return guesses


def _choices(guesses: Guesses, index: Int64[np.ndarray, "m"], asked: Sequence[Question], folds: Folds) -> None:
    """Every option gets a value; the option with the largest value is the prediction."""
    from scipy.sparse import hstack

    right = [question.right_option for question in asked]
    pairs = [(n, k) for n, question in enumerate(asked) if right[n] is not None for k in range(len(question.options))]
    of = np.array([n for n, _ in pairs], dtype=np.int64)
    if len(np.unique(folds[of])) < 2:
        return
    options = ["" if asked[n].has_pictures_as_options else asked[n].options[k] for n, k in pairs]
    answered = np.unique(of).tolist()
    cues = np.concatenate([option_cues(asked[n]) for n in answered])
    together = _words_with_option([asked[n].text for n in of], options)
    target = np.array([float(right[n] == k) - 1 / len(asked[n].options) for n, k in pairs])
    values = _cross_validated(hstack([_ngrams(options), together, cues], format="csr"), target, folds[of])
    for n, own in zip(answered, np.split(values, np.flatnonzero(np.diff(of)) + 1), strict=True):
        best = own == own.max()
        guesses.hits[index[n]] = best[right[n]] / best.sum()


def _yes_no(guesses: Guesses, index: Int64[np.ndarray, "m"], asked: Sequence[Question], folds: Folds) -> None:
    if len(np.unique(folds)) < 2:
        return
    target = np.array([1.0 if question.answer == "yes" else -1.0 for question in asked])
    values = _cross_validated(_ngrams([question.text for question in asked]), target, folds)
    guesses.hits[index] = np.where(values == 0, 0.5, (values > 0) == (target > 0))


def _numbers(guesses: Guesses, index: Int64[np.ndarray, "m"], asked: Sequence[Question], folds: Folds) -> None:
    from sklearn.model_selection import PredefinedSplit

    known = np.flatnonzero(np.isfinite([question.answer for question in asked])).tolist()
    if len(np.unique(folds[known])) < 2:
        return
    values = np.array([float(asked[n].answer) for n in known])
    features, index = _ngrams([asked[n].text for n in known]), index[known]
    for train, test in PredefinedSplit(folds[known]).split():
        edges = np.unique(np.quantile(values[train], np.arange(1, BINS) / BINS))
        bins = np.searchsorted(edges, values, side="right")
        one_hot = np.eye(len(edges) + 1)[bins]
        predicted = np.round(_ridge().fit(features[train], one_hot[train]).predict(features[test]), 9)
        guesses.hits[index[test]] = predicted.argmax(axis=1) == bins[test]
        guesses.chance[index[test]] = one_hot[train].mean(axis=0).max()
        guesses.by_tolerance[index[test]] = False


_MODELS = {1: _choices, 2: _yes_no, 3: _numbers}


def _cross_validated(features: Any, target: Float64[np.ndarray, "m"], folds: Folds) -> Float64[np.ndarray, "m"]:
    """The prediction for each row by a model that was trained on the other folds."""
    from sklearn.model_selection import PredefinedSplit

    values = np.empty(len(target))
    for train, test in PredefinedSplit(folds).split():
        values[test] = _ridge().fit(features[train], target[train]).predict(features[test])
    return np.round(values, 9)


def _ridge() -> Any:
    from sklearn.linear_model import Ridge

    return Ridge(solver="sparse_cg")


def _ngrams(texts: Sequence[str]) -> Any:
    """Which n-grams a text holds, its ends included; case does not count."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(analyzer="char", ngram_range=_CHARACTERS, binary=True, dtype=np.float64)
    return _features(vectorizer, [f"\x02{text}\x03" for text in texts])


def _words_with_option(prompts: Sequence[str], options: Sequence[str]) -> Any:
    """Each word of the prompt, together with the whole option."""
    from sklearn.feature_extraction.text import CountVectorizer

    def pairs(row: tuple[str, str]) -> list[str]:
        return [f"{word}\x1f{row[1]}" for word in ("", *re.findall(r"\w+", row[0].lower()))]

    vectorizer = CountVectorizer(analyzer=pairs, binary=True, dtype=np.float64)
    return _features(vectorizer, [*zip(prompts, options, strict=True)])


def _features(vectorizer: Any, rows: Sequence[Hashable]) -> Any:
    """The columns that some rows share and some lack, in rows of length 1; a constant where there is no such column.
    Equal rows are read once."""
    from scipy.sparse import csr_array
    from sklearn.preprocessing import normalize

    places: dict[Hashable, int] = {}
    index = [places.setdefault(row, len(places)) for row in rows]
    features = vectorizer.fit_transform(places)
    holds = np.bincount(index) @ features
    kept = np.flatnonzero((holds > 1) & (holds < len(rows)))
    return normalize(features[:, kept])[index] if len(kept) else csr_array(np.ones((len(rows), 1)))


def option_cues(question: Question) -> Float64[np.ndarray, "k 14"]:
    """Features that distinguish options without a picture, a row per option.

    Its letter (A to F); whether it is the longest, shortest; whether its number is the largest, smallest, between;
    whether it is most, least like the other options; the share of its words that stand in the prompt. An option that
    is a picture has its letter alone.
    """
    letters = np.eye(max(len(question.options), _LETTERS))[: len(question.options), :_LETTERS]
    cues = np.zeros((len(question.options), 8))
    if not question.has_pictures_as_options and len(question.options) > 1:
        options = [option.lower() for option in question.options]
        words = [set(re.findall(r"\w+", option)) for option in options]
        prompt = set(re.findall(r"\w+", question.prompt.lower()))
        cues[:, 0:2] = _extremes([len(option) for option in options])
        numbers = [re.search(r"-?\d+(?:\.\d+)?", option) for option in options]
        if all(numbers):
            cues[:, 2:4] = _extremes([float(found.group()[:30]) for found in numbers if found])
            cues[:, 4] = cues[:, 2:4].any() & ~cues[:, 2:4].any(axis=1)
        alike = [sum(len(own & other) / max(1, len(own | other)) for other in words) for own in words]
        cues[:, 5:7] = _extremes([round(share, 9) for share in alike])
        cues[:, 7] = [len(own & prompt) / max(1, len(own)) for own in words]
    return np.hstack([letters, cues])


def _extremes(sizes: Sequence[float]) -> list[tuple[bool, bool]]:
    """Whether each is the largest, the smallest; neither where all are equal."""
    least, most = min(sizes), max(sizes)
    return [(least < size == most, least == size < most) for size in sizes]
