"""The checks that the tests themselves rest on find what is wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Event

import numpy as np
import pytest
from beartype.roar import BeartypeCallHintViolation
from jaxtyping import Float, TypeCheckError

from tests.array_types import EVERY_CALL, FIRST, checked, count_again

Rows = Float[np.ndarray, "n 3"]


@checked
def summed(one: Rows, other: Rows) -> Float[np.ndarray, "n"]:
    return (one + other).sum(axis=1) if len(one) else np.zeros(7)


@checked
@dataclass(frozen=True)
class Pair:
    one: Rows
    other: Rows

    @property
    @checked
    def total(self) -> Rows:
        return summed(self.one, self.other)


@checked
def named(name: str, count: float) -> list[str]:
    return [name] * int(count)


@checked
def each(rows: Rows, others: Rows) -> Iterator[np.ndarray]:
    yield from rows + others


@pytest.fixture
def every_call() -> Iterator[Event]:
    was_set = EVERY_CALL.is_set()
    yield EVERY_CALL
    EVERY_CALL.set() if was_set else EVERY_CALL.clear()
    count_again()


def test_true_types_pass() -> None:
    pair = Pair(np.ones((2, 3)), np.ones((2, 3)))
    assert summed(pair.one, pair.other).tolist() == [6, 6]
    assert named("a", 2) == ["a", "a"] and len(list(each(pair.one, pair.other))) == 2
    assert len(summed(np.ones((5, 3)), np.ones((5, 3)))) == 5, "each call has lengths of its own"


def test_unequal_lengths_of_one_axis_are_found() -> None:
    with pytest.raises(BeartypeCallHintViolation):
        summed(np.ones((2, 3)), np.ones((4, 3)))
    with pytest.raises(BeartypeCallHintViolation):
        Pair(np.ones((2, 3)), np.ones((4, 3)))
    with pytest.raises(TypeCheckError):
        next(each(np.ones((2, 3)), np.ones((4, 3))))


def test_a_wrong_result_is_found() -> None:
    with pytest.raises(BeartypeCallHintViolation):
        summed(np.ones((0, 3)), np.ones((0, 3)))
    with pytest.raises(BeartypeCallHintViolation):
        Pair(np.ones((2, 3)), np.ones((2, 3))).total  # noqa: B018


def test_other_types_are_checked_too() -> None:
    with pytest.raises(BeartypeCallHintViolation):
        named(1, 2.0)  # type: ignore[arg-type]


def test_the_first_calls_in_a_file_are_checked_and_fewer_and_fewer_later_or_all_if_asked(every_call: Event) -> None:
    @checked
    def same(one: int) -> int:
        return one

    def found() -> bool:
        try:
            return same("one") != "one"  # type: ignore[arg-type, comparison-overlap]
        except BeartypeCallHintViolation:
            return True

    every_call.clear()
    count_again()
    calls = [found() for _ in range(80)]
    assert (np.flatnonzero(calls) + 1).tolist() == [*range(1, FIRST + 1), 7, 10, 15, 22, 33, 49, 73]
    count_again()
    assert [found() for _ in calls] == calls
    every_call.set()
    count_again()
    assert all(found() for _ in calls)


def test_our_modules_are_checked(every_call: Event) -> None:
    from experts.intrinsics import Intrinsics

    every_call.set()
    count_again()
    with pytest.raises(BeartypeCallHintViolation):
        Intrinsics.project(None, np.ones((2, 4)))  # type: ignore[arg-type]
