"""Constant baselines: one answer, one letter or one length per template, learnt on the other folds."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int64

from spatial_engine.leaks.guesses import Guesses, no_guesses, written
from spatial_engine.scoring.constant_answer import best_constant
from spatial_engine.scoring.own import by_format
from templates.answers.answer import Answer, stacked
from templates.answers.score import Unscored
from templates.question import Question

Folds = Int64[np.ndarray, "n"]
Key = Callable[[Question], Hashable]
Candidates = Mapping[int, Sequence[Hashable]]
"""The possible answers of a question, by its index; the right answer comes first."""


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
        if (right := question.right_option) is not None:
            candidates[n] = [right, *(k for k in range(len(question.options)) if k != right)]
    return _fill(no_guesses(questions), candidates, questions, folds, lambda q: (q.template, len(q.options)))


def length(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The longest option or the shortest, whichever is right more often in its template."""
    candidates: dict[int, Sequence[Hashable]] = {}
    for n, question in enumerate(questions):
        right = question.right_option
        if right is None or question.has_pictures_as_options:
            continue
        sizes = [len(option) for option in question.options]
        ends = {max(sizes): "longest", min(sizes): "shortest"} if len(set(sizes)) > 1 else {}
        kinds = [ends.get(size, "") for size in sizes]
        candidates[n] = [kinds[right], *(kind for k, kind in enumerate(kinds) if k != right)]
    return _fill(no_guesses(questions), candidates, questions, folds, _template, never="")


_ABOUT_TIME = "L3/Sequential Planning/"


def frame_order(questions: Sequence[Question], folds: Folds) -> Guesses:
    """The answer that is right most often in its template among questions whose photos are shown forwards in time,
    backwards, or mixed. Covers templates that show more than one of these, but neither orders nor sequential planning:
    there time is the question.
    """
    candidates = {
        n: own
        for n, own in _answers(questions).items()
        if len(own) > 1 and not questions[n].ability.startswith(_ABOUT_TIME)
    }
    seen: dict[Hashable, set[str]] = defaultdict(set)
    for n in candidates:
        seen[_template(questions[n])].add(_direction(questions[n]))
    candidates = {n: own for n, own in candidates.items() if len(seen[_template(questions[n])]) > 1}
    return _fill(no_guesses(questions), candidates, questions, folds, lambda q: (*_template(q), _direction(q)))


def _template(question: Question) -> tuple[Hashable, ...]:
    return (question.template, question.format)


def _answers(questions: Sequence[Question]) -> dict[int, Sequence[Hashable]]:
    return {n: found for n, question in enumerate(questions) if (found := _possible(question))}


def _possible(question: Question) -> Sequence[str]:
    found = by_format(question, lambda form: form.possible(question))
    return () if isinstance(found, Unscored) else found


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
    """Writes the hits of the best constant number, set of numbers or point per template, chosen on the other folds."""
    groups: dict[Hashable, list[tuple[int, Answer]]] = defaultdict(list)
    for n, question in enumerate(questions):
        answer = written(question) if guesses.by_tolerance[n] else None
        if answer is not None and answer.numbers is not None:
            period = str(question.scorer_params.get("period"))
            groups[question.template, question.format, getattr(answer, "names", ()), period].append((n, answer))
    for members in groups.values():
        index, answers = np.array([n for n, _ in members]), [answer for _, answer in members]
        for fold in np.unique(folds[index]):
            test = folds[index] == fold
            if test.all():
                continue
            known, asked = ([answers[n] for n in np.flatnonzero(part)] for part in (~test, test))
            guesses.hits[index[test]] = _hits([_best(known)], asked)[0]


def _best(answers: Sequence[Answer]) -> tuple[float, ...]:
    """The numbers that are right for most of the answers."""
    by_size = sorted(answers, key=_numbers)

    def hits(tried: Sequence[tuple[float, ...]], on: Sequence[int]) -> list[int]:
        return _hits(tried, [by_size[n] for n in on]).sum(axis=1).tolist()

    return best_constant([_numbers(answer) for answer in by_size], hits)


def _hits(tried: Iterable[tuple[float, ...]], answers: Sequence[Answer]) -> Bool[np.ndarray, "k n"]:
    """Which candidates are right for which answers; the answers have one type and the same names."""
    targets = stacked(answers)
    shape = getattr(targets, str(targets.numbers)).shape
    guesses = (replace(targets, **{str(targets.numbers): np.broadcast_to(numbers, shape)}) for numbers in tried)
    return np.array([(guess.error(targets)[0] <= targets.limits).all(axis=-1) for guess in guesses])


def _numbers(answer: Answer) -> tuple[float, ...]:
    return tuple(np.ravel(getattr(answer, str(answer.numbers))).tolist())
