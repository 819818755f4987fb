"""Constant baselines: one answer, one letter or one length per template, learnt on the other folds."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int64

from spatial_engine.leaks.compact import Ragged, grouped
from spatial_engine.leaks.guesses import Guesses, no_guesses
from spatial_engine.leaks.question_table import QuestionTable, Stack
from spatial_engine.scoring.constant_answer import best_constant
from templates.answers.answer import Answer

Folds = Int64[np.ndarray, "n"]


def majority(table: QuestionTable, folds: Folds) -> Guesses:
    """The answer that is right most often in its template and format: words of an option, yes or no, an order, a plan;
    of numbers and points the one within whose tolerance most answers lie."""
    guesses = no_guesses(table)
    _fill(guesses, table.possible, _first(table.possible), folds, *_template(table))
    for stack in table.stacks:
        _fill_numbers(guesses, stack, folds)
    return guesses


def position(table: QuestionTable, folds: Folds) -> Guesses:
    """The letter that is right most often in its template."""
    counts = np.where(table.right >= 0, table.options, 0).astype(np.int32)
    places = Ragged(np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts), counts)
    return _fill(no_guesses(table), places, table.right, folds, table.template.index, table.options)


def length(table: QuestionTable, folds: Folds) -> Guesses:
    """The longest option or the shortest, whichever is right more often in its template."""
    right = np.zeros(len(table), dtype=np.int8)
    known = np.flatnonzero(table.lengths.counts)
    right[known] = table.lengths.values[table.lengths.starts[known] + table.right[known]]
    return _fill(no_guesses(table), table.lengths, right, folds, *_template(table), never=0)


_ABOUT_TIME = "L3/Sequential Planning/"


def frame_order(table: QuestionTable, folds: Folds) -> Guesses:
    """The answer that is right most often in its template among questions whose photos are shown forwards in time,
    backwards, or mixed. Covers templates that show more than one of these, but neither orders nor sequential planning:
    there time is the question.
    """
    about_time = np.array([(leaf or "").startswith(_ABOUT_TIME) for leaf in table.ability.texts] or [False])
    covered = (table.possible.counts > 1) & ~about_time[table.ability.index]
    for rows in grouped(np.flatnonzero(covered), *_template(table)):
        if len(np.unique(table.direction[rows])) == 1:
            covered[rows] = False
    possible = table.possible.where(covered)
    return _fill(no_guesses(table), possible, _first(possible), folds, *_template(table), table.direction)


def _template(table: QuestionTable) -> tuple[np.ndarray, np.ndarray]:
    return table.template.index, table.format.index


def _first(possible: Ragged) -> np.ndarray:
    """The first value of each row; 0 for an empty one."""
    found = np.zeros(len(possible.counts), dtype=possible.values.dtype)
    known = np.flatnonzero(possible.counts)
    found[known] = possible.values[possible.starts[known]]
    return found


def _fill(
    guesses: Guesses,
    candidates: Ragged,
    right: np.ndarray,
    folds: Folds,
    *group: np.ndarray,
    never: int | None = None,
) -> Guesses:
    """Writes the hits of the most frequent right answer per group, counted in the other folds.

    `candidates`: the possible answers of each question; none: it is not guessed. `right`: the right one. Among equally
    frequent answers the guess is split evenly. `never`: an answer that is not guessed.
    """
    for rows in grouped(np.flatnonzero(candidates.counts), *group):
        offered = candidates.take(rows)
        answers, code = np.unique(offered.values, return_inverse=True)
        right_code = np.searchsorted(answers, right[rows].astype(answers.dtype))
        for fold in np.unique(folds[rows]):
            test = folds[rows] == fold
            seen = np.bincount(right_code[~test], minlength=len(answers))
            guessed = np.where(answers == never, 0, seen) if never is not None else seen
            single, several = (np.flatnonzero(test & which) for which in (offered.counts == 1, offered.counts > 1))
            if len(single):  # any answer seen before may be guessed
                best = seen.max()
                hits = (seen[right_code[single]] == best) / (seen == best).sum()
                guesses.hits[rows[single]] = hits if best else guesses.chance[rows[single]]
            if len(several):
                counts = Ragged(guessed[code], offered.counts).take(several)
                best = np.maximum.reduceat(counts.values, counts.starts)
                ties = np.add.reduceat(counts.values == best[counts.row], counts.starts, dtype=np.int64)
                guesses.hits[rows[several]] = (guessed[right_code[several]] == best) / ties
    return guesses


def _fill_numbers(guesses: Guesses, stack: Stack, folds: Folds) -> None:
    """Writes the hits of the best constant number, set of numbers or point, chosen on the other folds."""
    own = np.flatnonzero(guesses.by_tolerance[stack.rows])
    rows, answers = stack.rows[own], stack.answers.take(own)
    for fold in np.unique(folds[rows]):
        test = folds[rows] == fold
        if not test.all():
            guesses.hits[rows[test]] = _hits([_best(answers.take(~test))], answers.take(test))[0]


def _best(answers: Answer) -> tuple[float, ...]:
    """The numbers that are right for most of the answers."""
    numbers = _numbers(answers)
    order = np.lexsort(numbers.T[::-1])

    def hits(tried: Iterable[tuple[float, ...]], on: Iterable[int]) -> list[int]:
        return _hits(tried, answers.take(order[[*on]])).sum(axis=1).tolist()

    return best_constant([*map(tuple, numbers[order].tolist())], hits)


def _hits(tried: Iterable[tuple[float, ...]], answers: Answer) -> Bool[np.ndarray, "k n"]:
    """Which candidates are right for which answers of a stack."""
    shape = getattr(answers, str(answers.numbers)).shape
    guesses = (replace(answers, **{str(answers.numbers): _everywhere(numbers, shape)}) for numbers in tried)
    return np.array([(guess.error(answers)[0] <= answers.limits).all(axis=-1) for guess in guesses])


def _everywhere(numbers: tuple[float, ...], shape: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(np.reshape(numbers, shape[1:]), shape)


def _numbers(answers: Answer) -> np.ndarray:
    """The numbers of each answer of a stack, in a row."""
    numbers = getattr(answers, str(answers.numbers))
    return np.reshape(numbers, (len(numbers), -1))
