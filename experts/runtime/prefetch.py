"""Works ahead in a thread: frames are decoded while the model is busy with those before."""

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")


class _End:
    """Ends a queue; carries the error of the producer, if there was one."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


def ahead(items: Iterable[Item], depth: int = 2) -> Generator[Item, None, None]:
    """The same items in the same order, up to `depth` of them made ahead of need. An error of the producer is raised
    where its item was due; a consumer that stops early stops the producer."""
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
        except BaseException as error:  # raised again where the item was due
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
