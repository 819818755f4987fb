"""Feeds a model: items prepared ahead in a thread, and batches that shrink when memory runs out."""

import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from experts.runtime.device import forget_cached, is_out_of_memory

Item = TypeVar("Item")
Result = TypeVar("Result")


class _End:
    """Marks the end of a queue; holds the error of the producer, if any."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def ahead(items: Iterable[Item], depth: int = 2) -> Generator[Item, None, None]:
    """The same items in the same order, up to `depth` of them prepared ahead in a thread. An error of the producer is
    raised at the position of its item. A consumer that stops early stops the producer."""
    waiting: queue.Queue[Item | _End] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def put(item: Item | _End) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def produce() -> None:
        try:
            for item in items:
                if not put(item):
                    return
        except BaseException as error:  # raised again at the position of the item
            put(_End(error))
        else:
            put(_End(None))

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    try:
        while not isinstance(item := waiting.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        thread.join()


def in_batches(
    call: Callable[[Sequence[Item]], Sequence[Result]], items: Iterable[Item], size: int, *, fill: bool = False
) -> Iterator[Result]:
    """One result per item, in order. `call` gets `size` items at a time; when memory runs out, half as many from then
    on.

    With `fill`, a short batch is padded with its last item and the extra results are dropped, so that every call has
    the same shape. Raises the error of a batch of one item.
    """
    coming, held = iter(items), list[Item]()
    while held := [*held, *islice(coming, max(0, size - len(held)))]:
        size = size if fill else min(size, len(held))
        batch = held[:size]
        results = _unless_too_big(call, [*batch, *batch[-1:] * (size - len(batch))])
        if results is None:
            size //= 2
            forget_cached()
            continue
        if len(results) != size:
            raise ValueError(f"{len(results)} results for a batch of {size}")
        yield from results[: len(batch)]
        held = held[size:]


def _unless_too_big(
    call: Callable[[Sequence[Item]], Sequence[Result]], batch: Sequence[Item]
) -> Sequence[Result] | None:
    """None if memory ran out for a batch of more than one item. Returns only after the error, which holds the memory,
    is released."""
    try:
        return call(batch)
    except Exception as error:
        if not is_out_of_memory(error) or len(batch) == 1:
            raise
        return None
