"""Items made ahead of need, in a thread."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from experts.runtime.prefetch import ahead


def counted(made: list[int], stop_at: int = 100) -> Iterator[int]:
    for number in range(stop_at):
        made.append(number)
        yield number


def test_same_items_same_order() -> None:
    assert list(ahead(range(50), depth=3)) == list(range(50))
    assert list(ahead([])) == []


def test_no_more_ahead_than_asked_for() -> None:
    made: list[int] = []
    with closing(ahead(counted(made), depth=2)) as items:
        assert next(items) == 0
        time.sleep(0.3)
        assert len(made) == 4, "one out, two in waiting, one in hand"


def test_nothing_is_made_before_the_first_is_asked_for() -> None:
    made: list[int] = []
    items = ahead(counted(made))
    time.sleep(0.1)
    assert made == []
    items.close()


def test_an_error_comes_where_its_item_was_due() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("damaged frame")

    items = ahead(broken())
    assert next(items) == 1
    with pytest.raises(ValueError, match="damaged frame"):
        next(items)


def test_who_stops_early_leaves_no_thread() -> None:
    before = threading.active_count()
    made: list[int] = []
    with closing(ahead(counted(made), depth=1)) as items:
        next(items)
    assert threading.active_count() == before
    assert len(made) < 5


def test_an_error_of_the_consumer_leaves_no_thread() -> None:
    before = threading.active_count()
    with pytest.raises(KeyError), closing(ahead(range(100))) as items:
        next(items)
        raise KeyError
    assert threading.active_count() == before


def test_work_and_making_overlap() -> None:
    def made() -> Iterator[int]:
        for number in range(10):
            time.sleep(0.02)
            yield number

    started = time.perf_counter()
    for _ in ahead(made()):
        time.sleep(0.02)
    assert time.perf_counter() - started < 0.35, "0.22 s where they overlap, 0.4 s one after the other"
