"""Signals on their way into a store: written in a thread while the next expert runs, which reads them from memory."""

import queue
import threading
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from experts.signals import NoEstimate, Signal
from spatial_engine.store.signal_file import as_filed
from spatial_engine.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Unwritten:
    """A signal that could not be filed."""

    clip_id: str
    key: str
    error: Exception


class WriteBehind:
    """Files signals one after the other. Use it in a `with` block: its end waits until all is on file."""

    def __init__(self, store: Store, waiting: int = 2, kept_bytes: int = 1 << 29) -> None:
        """
        Args:
            store: where the files go.
            waiting: at most so many signals wait for the one that is being written; then `write` waits.
            kept_bytes: signals are kept in memory while they are no bigger than this in all; the newest always is.
        """
        self.store = store
        self._kept_bytes = kept_bytes
        self._kept: dict[tuple[str, str, str], Signal | NoEstimate] = {}
        self._unwritten: list[Unwritten] = []
        self._queue: queue.Queue[tuple[str, str, str, Signal | NoEstimate] | None] = queue.Queue(maxsize=waiting)
        self._thread = threading.Thread(target=self._work, name="write-behind", daemon=True)

    def write(self, clip_id: str, name: str, key: str, value: Signal | NoEstimate) -> None:
        """Hands a signal over."""
        value = as_filed(value)
        self._kept[clip_id, name, key] = value
        while len(self._kept) > 1 and sum(map(_bytes, self._kept.values())) > self._kept_bytes:
            del self._kept[next(iter(self._kept))]
        self._queue.put((clip_id, name, key, value))

    def read(self, clip_id: str, name: str, key: str) -> Signal | NoEstimate:
        """A signal as its file gives it: from memory, where it still lies there. Raises `StoreError`."""
        if (kept := self._kept.get((clip_id, name, key))) is not None:
            return kept
        self._queue.join()  # it may be on its way
        return self.store.read(clip_id, name, key)

    def settle(self) -> list[Unwritten]:
        """Waits until all is on file; returns what could not be written since the last time."""
        self._queue.join()
        unwritten, self._unwritten = self._unwritten, []
        return unwritten

    def __enter__(self) -> "WriteBehind":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                self.store.write(*item)
            except Exception as error:  # a full disk, or what a codec makes of odd values: told by `settle`
                self._unwritten.append(Unwritten(clip_id=item[0], key=item[2], error=error))
            finally:
                del item  # its memory is free while the next one is awaited
                self._queue.task_done()


def _bytes(value: Signal | NoEstimate) -> int:
    return sum(part.nbytes for part in vars(value).values() if isinstance(part, np.ndarray))
