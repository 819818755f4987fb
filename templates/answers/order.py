"""The format that asks for an order: numbers of photos, or of marks."""

import json
from collections.abc import Iterator, Sequence
from math import factorial
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.answers.answer import Answer
from templates.answers.format import Format
from templates.answers.measures import kendall_tau, pairs_right
from templates.answers.score import Score, UnscorableError
from templates.columns import Json, Texts
from templates.question import Question

_MAX_PHOTOS = 100


class Order(Format):
    """A list of the numbers of photos or marks. Right: the true order."""

    name: ClassVar[str] = "order"
    reader: ClassVar[str] = "order"
    takes: ClassVar[tuple[str, ...]] = ("label",)

    def form(self, question: Question) -> str:
        """A list."""
        return "the list of numbers, in order, in square brackets"

    def score(self, question: Question, value: Json) -> Score:
        """1 for the right order; in the detail the share of pairs in the right order, and Kendall's tau."""
        order = _right_order(question)
        predicted = value if isinstance(value, list) and all(type(number) is int for number in value) else None
        if predicted is not None and len(predicted) > len(order) and predicted[0] not in order:
            predicted = predicted[1:]  # the question states the place of the first photo
        if predicted is None or sorted(predicted) != sorted(order):
            return Score(value=0.0, detail={"value": None, "right": order})
        graded = {"kendall_tau": kendall_tau(predicted, order), "pairs_right": pairs_right(predicted, order)}
        return Score(value=float(predicted == order), detail={"value": predicted, "right": order, **graded})

    def chance(self, question: Question) -> float:
        """1/n! of n numbers."""
        return 1 / factorial(len(_right_order(question)))

    def possible(self, question: Question) -> Sequence[str]:
        """The right order: there are too many to list."""
        return (json.dumps(question.answer),)

    def stated(self, question: Question, recorded: Answer) -> Answer:
        """The order as a label."""
        if not isinstance(question.answer, list):
            raise ValueError(f"no order: {question.answer!r:.40}")
        prediction = recorded.predicted(order_label(question.answer))
        if prediction is None:
            raise ValueError(f"an order is measured as a label, not as {recorded.name}")
        return prediction

    def no_op(self, question: Question) -> Json:
        """The numbers in ascending order."""
        return sorted(question.answer)

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """A random order."""
        return [int(number) for number in rng.permutation(sorted(question.answer))]

    def near_misses(self, question: Question) -> Iterator[Json]:
        """The reverse."""
        yield question.answer[::-1]


def order_label(numbers: list[int]) -> str:
    """The label of an order: its numbers ("3 2 5 4")."""
    return " ".join(map(str, numbers))


def numbers_in_order(label: str) -> list[int]:
    """The numbers of such a label, as a question of the format records its answer."""
    return [int(number) for number in label.split()]


def order_labels(orders: Int64[np.ndarray, "n k"]) -> Texts:
    """The labels of orders, one in each row: numbers from 1 to 100."""
    as_bytes = np.ascontiguousarray(orders, dtype=np.uint8).view(f"S{orders.shape[1]}")[:, 0]  # sorts ten times faster
    _, first, which = np.unique(as_bytes, return_index=True, return_inverse=True)
    return np.array([order_label(order) for order in orders[first].tolist()], dtype=np.str_)[which]


def _right_order(question: Question) -> list[int]:
    order = question.answer
    if not isinstance(order, list) or not 0 < len(order) <= _MAX_PHOTOS or any(type(n) is not int for n in order):
        raise UnscorableError("the right order is not a list of numbers")
    if len(set(order)) < len(order) or min(order) < 1:
        raise UnscorableError("the right order has a number twice")
    return order
