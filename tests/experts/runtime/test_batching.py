"""Items prepared ahead in a thread, and batches that halve when memory runs out."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from experts.runtime.batching import ahead, in_batches


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


class Network:
    """Doubles numbers; at most `room` fit into memory."""

    def __init__(self, room: int = 100, error: Exception | None = None) -> None:
        self.room, self.error = room, error or OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        self.seen: list[int] = []

    def __call__(self, batch: Sequence[int]) -> list[int]:
        self.seen.append(len(batch))
        if len(batch) > self.room:
            raise self.error
        return [2 * number for number in batch]


def counted(made: list[int], stop_at: int = 100) -> Iterator[int]:
    for number in range(stop_at):
        made.append(number)
        yield number


def test_same_items_same_order() -> None:
    assert list(ahead(range(50), depth=3)) == list(range(50))
    assert list(ahead([])) == []


def test_no_more_items_ahead_than_the_depth() -> None:
    made: list[int] = []
    with closing(ahead(counted(made), depth=2)) as items:
        assert next(items) == 0
        until_s = time.monotonic() + 20
        while len(made) < 4 and time.monotonic() < until_s:
            time.sleep(0.01)
        time.sleep(0.1)
        assert len(made) == 4, "one returned, two in the queue, one being put"


def test_no_item_is_made_before_the_first_request() -> None:
    made: list[int] = []
    items = ahead(counted(made))
    time.sleep(0.1)
    assert made == []
    items.close()


def test_an_error_is_raised_at_the_position_of_its_item() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("damaged frame")

    items = ahead(broken())
    assert next(items) == 1
    with pytest.raises(ValueError, match="damaged frame"):
        next(items)


def test_a_consumer_that_stops_early_leaves_no_thread() -> None:
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


def test_the_next_item_is_made_while_the_consumer_works() -> None:
    begun = [threading.Event() for _ in range(5)]

    def made() -> Iterator[int]:
        for number, event in enumerate(begun):
            event.set()
            yield number

    for number in ahead(made()):
        assert all(event.wait(20) for event in begun[: number + 2])


@pytest.mark.parametrize("fill", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
def test_one_result_per_item_in_order(size: int, fill: bool) -> None:
    network = Network()
    assert list(in_batches(network, range(7), size, fill=fill)) == [0, 2, 4, 6, 8, 10, 12]
    assert list(in_batches(network, [], size, fill=fill)) == []
    assert set(network.seen[:-1]) <= {size}
    assert network.seen[-1] == (size if fill else (7 % size or size))


def test_batches_halve_when_memory_runs_out() -> None:
    network = Network(room=3)
    assert list(in_batches(network, range(10), 8)) == list(range(0, 20, 2))
    assert network.seen == [8, 4, 2, 2, 2, 2, 2]
    network = Network(room=1)
    assert list(in_batches(network, range(3), 3)) == [0, 2, 4]
    assert network.seen == [3, 1, 1, 1]


def test_a_filled_batch_halves_though_it_holds_one() -> None:
    network = Network(room=2)
    assert list(in_batches(network, [5], 8, fill=True)) == [10]
    assert network.seen == [8, 4, 2]


def test_the_error_of_a_single_item_is_raised() -> None:
    with pytest.raises(OutOfMemoryError):
        list(in_batches(Network(room=0), range(4), 4))
    network = Network(room=1, error=ValueError("odd"))
    with pytest.raises(ValueError, match="odd"):
        list(in_batches(network, range(4), 4))
    assert network.seen == [4], "other errors are not tried again"


def test_a_wrong_number_of_results_is_an_error() -> None:
    with pytest.raises(ValueError, match="3 results for a batch of 2"):
        list(in_batches(lambda batch: [1, 2, 3], range(2), 2))


def test_items_are_taken_when_needed() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            taken.append(number)
            yield number

    results = in_batches(Network(), items(), 3)
    assert next(results) == 0
    assert taken == [0, 1, 2]


def test_a_failed_batch_is_released_before_the_next_one() -> None:
    """An exception holds its stack frames, and these hold the tensors."""
    living: list[int] = []

    class Tensor:
        def __init__(self) -> None:
            living.append(1)

        def __del__(self) -> None:
            living.pop()

    def call(batch: Sequence[int]) -> list[int]:
        assert not living
        tensor = Tensor()
        if len(batch) > 1:
            raise OutOfMemoryError(f"no room for {tensor}")
        return list(batch)

    assert list(in_batches(call, range(4), 4)) == [0, 1, 2, 3]
