"""Baselines that always answer alike: one answer, one letter or one length for a template, learnt on other folds."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from jaxtyping import Bool, Float64, Int64

from spatial_engine.leaks.guesses import Guesses, has_words, no_guesses, numbers_of, period_of, right_option
from spatial_engine.scoring.constant_answer import best_constant
from templates.question import Question

Folds = Int64[np.ndarray, "n"]
Key = Callable[[Question], Hashable]
Candidates = Mapping[int, Sequence[Hashable]]
"""The possible answers of a question, by its index; the right answer comes first."""
_Rows = Float64[np.ndarray, "n d"]


def majority(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The answer that is right most often in its template and format: words of an option, yes or no, an order, a plan;
    of numbers and points the one within whose tolerance most answers lie."""
    guesses = no_guesses(questions)
    _fill(guesses, _answers(questions), questions, folds, _template)
    _fill_numbers(guesses, questions, folds)
    return guesses


def position(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The letter that is right most often in its template."""
    candidates: dict[int, Sequence[Hashable]] = {}
    for n, question in enumerate(questions):
        if question.format == "choice" and (right := right_option(question)) is not None:
            candidates[n] = [right, *(k for k in range(len(question.options)) if k != right)]
    return _fill(no_guesses(questions), candidates, questions, folds, lambda q: (q.template, len(q.options)))


def length(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The longest option or the shortest, whichever is right more often in its template."""
    candidates: dict[int, Sequence[Hashable]] = {}
    for n, question in enumerate(questions):
        if question.format != "choice" or not has_words(question) or (right := right_option(question)) is None:
            continue
        sizes = [len(option) for option in question.options]
        ends = {max(sizes): "longest", min(sizes): "shortest"} if len(set(sizes)) > 1 else {}
        kinds = [ends.get(size, "") for size in sizes]
        candidates[n] = [kinds[right], *(kind for k, kind in enumerate(kinds) if k != right)]
    return _fill(no_guesses(questions), candidates, questions, folds, _template, never="")


def frame_order(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The answer that is right most often in its template among questions whose photos are shown forwards in time,
    backwards, or mixed. Covers templates that show more than one of these, and no orders: there time is the question.
    """
    candidates = {n: own for n, own in _answers(questions).items() if questions[n].format in ("choice", "yes_no")}
    seen: dict[Hashable, set[str]] = defaultdict(set)
    for n in candidates:
        seen[_template(questions[n])].add(_direction(questions[n]))
    candidates = {n: own for n, own in candidates.items() if len(seen[_template(questions[n])]) > 1}
    return _fill(no_guesses(questions), candidates, questions, folds, lambda q: (*_template(q), _direction(q)))


def _template(question: Question) -> tuple[Hashable, ...]:
    return (question.template, question.format)


def _answers(questions: Sequence[Question]) -> dict[int, Sequence[Hashable]]:
    """In words. Any order or plan seen before may be guessed, so only the right one is a candidate there."""
    candidates: dict[int, Sequence[Hashable]] = {}
    for n, question in enumerate(questions):
        if question.format == "yes_no" and question.answer in ("yes", "no"):
            candidates[n] = ("yes", "no") if question.answer == "yes" else ("no", "yes")
        elif question.format in ("order", "plan"):
            candidates[n] = (json.dumps(question.answer, sort_keys=True),)
        elif question.format == "choice" and has_words(question) and (right := right_option(question)) is not None:
            words = list(question.options)
            candidates[n] = [words.pop(right), *words]
    return candidates


def _direction(question: Question) -> str:
    frames = [frame for medium in question.media if not medium.get("option") for frame in medium.get("frames") or ()]
    steps = np.sign(np.diff(frames))
    if len(steps) == 0:
        return ""
    return "forwards" if (steps > 0).all() else "backwards" if (steps < 0).all() else "mixed"


def _fill(
    guesses: Guesses,
    candidates: Candidates,
    questions: Sequence[Question],
    folds: Folds,
    key: Key,
    never: Hashable = None,
) -> Guesses:
    """Writes the hits of the most frequent answer per `key`, counted in the other folds.

    Among equally frequent answers the guess is split evenly. `never`: an answer that is not guessed.
    """
    seen: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    own: dict[tuple[Hashable, int], Counter[Hashable]] = defaultdict(Counter)
    for n, answers in candidates.items():
        group = key(questions[n])
        seen[group][answers[0]] += 1
        own[group, int(folds[n])][answers[0]] += 1
    elsewhere = {place: seen[place[0]] - counts for place, counts in own.items()}
    for n, answers in candidates.items():
        known = elsewhere[key(questions[n]), int(folds[n])]
        if len(answers) == 1:  # any answer seen before may be guessed
            best = known.most_common(1)
            ties = sum(count == best[0][1] for count in known.values()) if best else 0
            guesses.hits[n] = (known[answers[0]] == best[0][1]) / ties if best else guesses.chance[n]
            continue
        counts = [0 if answer == never else known[answer] for answer in answers]
        guesses.hits[n] = (counts[0] == max(counts)) / counts.count(max(counts))
    return guesses


def _fill_numbers(guesses: Guesses, questions: Sequence[Question], folds: Folds) -> None:
    """Writes the hits of one constant number, set of numbers or point per template, chosen in the other folds."""
    groups: dict[tuple[str, str, Hashable, float | None], list[int]] = defaultdict(list)
    for n, question in enumerate(questions):
        if (numbers := numbers_of(question)) is not None:
            names: Hashable = tuple(sorted(question.answer)) if question.format == "json" else len(numbers[0])
            groups[question.template, question.format, names, period_of(question)].append(n)
    for (_, form, _, period), members in groups.items():
        rows = np.array([numbers_of(questions[n]) for n in members], dtype=np.float64)
        index, answers, tolerances = np.array(members), rows[:, 0], rows[:, 1]
        for fold in np.unique(folds[index]):
            test = folds[index] == fold
            if test.all():
                continue
            best = _best(answers[~test], tolerances[~test], period, form == "point")
            near = _within(answers[test], tolerances[test], best[None], period, form == "point")
            guesses.hits[index[test]] = near[0]


def _best(answers: _Rows, tolerances: _Rows, period: float | None, point: bool) -> Float64[np.ndarray, "d"]:
    order = np.lexsort(answers.T[::-1])

    def hits(tried: Sequence[tuple[float, ...]], on: Sequence[int]) -> list[int]:
        rows = order[on]
        return _within(answers[rows], tolerances[rows], np.array(tried), period, point).sum(axis=1).tolist()

    return np.array(best_constant([tuple(row) for row in answers[order].tolist()], hits), dtype=np.float64)


def _within(
    answers: _Rows, tolerances: _Rows, guessed: Float64[np.ndarray, "k d"], period: float | None, point: bool
) -> Bool[np.ndarray, "k n"]:
    error = np.abs(guessed[:, None] - answers[None])
    if period is not None:
        error = np.minimum(error % period, period - error % period)
    if point:
        return np.hypot.reduce(error, axis=2) <= tolerances[None, :, 0]
    return (error <= tolerances[None]).all(axis=2)
