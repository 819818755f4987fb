"""Habits: one answer, one letter or one length for all questions of a template, learnt on other scenes."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from jaxtyping import Int64

from spatial_engine.leaks.fixed_number import fixed_numbers
from spatial_engine.leaks.guesses import Guesses, has_words, no_guesses, right_option
from templates.question import Question

Folds = Int64[np.ndarray, "n"]
Key = Callable[[Question], Hashable]
Offer = Mapping[int, Sequence[Hashable]]
"""By index of the question: its possible answers, the right one first."""


def majority(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The answer that is right most often in its template and format: words of an option, yes or no, an order, a plan;
    of numbers and points the one within whose tolerance most answers lie."""
    guesses = no_guesses(questions)
    _fill(guesses, _answers(questions), questions, folds, _template)
    fixed_numbers(guesses, questions, folds)
    return guesses


def position(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The letter that is right most often in its template."""
    offer: dict[int, Sequence[Hashable]] = {}
    for n, question in enumerate(questions):
        if question.format == "choice" and (right := right_option(question)) is not None:
            offer[n] = [right, *(k for k in range(len(question.options)) if k != right)]
    return _fill(no_guesses(questions), offer, questions, folds, lambda q: (q.template, len(q.options)))


def length(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The longest option or the shortest, whichever is right more often in its template."""
    offer: dict[int, Sequence[Hashable]] = {}
    for n, question in enumerate(questions):
        if question.format != "choice" or not has_words(question) or (right := right_option(question)) is None:
            continue
        sizes = [len(option) for option in question.options]
        ends = {max(sizes): "longest", min(sizes): "shortest"} if len(set(sizes)) > 1 else {}
        kinds = [ends.get(size, "") for size in sizes]
        offer[n] = [kinds[right], *(kind for k, kind in enumerate(kinds) if k != right)]
    return _fill(no_guesses(questions), offer, questions, folds, _template, never="")


def frame_order(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The answer that is right most often among questions of a template whose photos are shown in the same order of
    time (forwards, backwards, mixed), where that differs. Not of orders: there time is what is asked."""
    offer = {n: said for n, said in _answers(questions).items() if questions[n].format in ("choice", "yes_no")}
    seen: dict[Hashable, set[str]] = defaultdict(set)
    for n in offer:
        seen[_template(questions[n])].add(_direction(questions[n]))
    offer = {n: said for n, said in offer.items() if len(seen[_template(questions[n])]) > 1}
    return _fill(no_guesses(questions), offer, questions, folds, lambda q: (*_template(q), _direction(q)))


def _template(question: Question) -> tuple[Hashable, ...]:
    return (question.template, question.format)


def _answers(questions: Sequence[Question]) -> dict[int, Sequence[Hashable]]:
    """In words. A habit for orders and plans may be any of those seen, so only the right one is offered."""
    offer: dict[int, Sequence[Hashable]] = {}
    for n, question in enumerate(questions):
        if question.format == "yes_no" and question.answer in ("yes", "no"):
            offer[n] = ("yes", "no") if question.answer == "yes" else ("no", "yes")
        elif question.format in ("order", "plan"):
            offer[n] = (json.dumps(question.answer, sort_keys=True),)
        elif question.format == "choice" and has_words(question) and (right := right_option(question)) is not None:
            words = list(question.options)
            offer[n] = [words.pop(right), *words]
    return offer


def _direction(question: Question) -> str:
    frames = [frame for medium in question.media if not medium.get("option") for frame in medium.get("frames") or ()]
    steps = np.sign(np.diff(frames))
    if len(steps) == 0:
        return ""
    return "forwards" if (steps > 0).all() else "backwards" if (steps < 0).all() else "mixed"


def _fill(
    guesses: Guesses, offer: Offer, questions: Sequence[Question], folds: Folds, key: Key, never: Hashable = None
) -> Guesses:
    """Writes the hits of the habit. Learnt on the other folds alone; among equally usual answers it draws lots."""
    seen: dict[Hashable, Counter[Hashable]] = defaultdict(Counter)
    own: dict[tuple[Hashable, int], Counter[Hashable]] = defaultdict(Counter)
    for n, answers in offer.items():
        group = key(questions[n])
        seen[group][answers[0]] += 1
        own[group, int(folds[n])][answers[0]] += 1
    usual: dict[tuple[Hashable, int], Counter[Hashable]] = {
        place: seen[place[0]] - counts for place, counts in own.items()
    }
    for n, answers in offer.items():
        known = usual[key(questions[n]), int(folds[n])]
        if len(answers) == 1:  # any answer ever seen may be said
            best = known.most_common(1)
            ties = sum(count == best[0][1] for count in known.values()) if best else 0
            guesses.hits[n] = (known[answers[0]] == best[0][1]) / ties if best else guesses.chance[n]
            continue
        counts = [0 if answer == never else known[answer] for answer in answers]
        guesses.hits[n] = (counts[0] == max(counts)) / counts.count(max(counts))
    return guesses
