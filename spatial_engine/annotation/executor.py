"""Runs one task over many items in worker processes. A crash of a process affects only its item."""

import atexit
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from threadpoolctl import ThreadpoolController

from spatial_engine.errors import SetupError, SpatialEngineError, UsageError, disk_error
from spatial_engine.monitoring.profiling import profiled_in_worker

Item = TypeVar("Item")
Result = TypeVar("Result")

_SPAWN = multiprocessing.get_context("spawn")
WATCH_S = 0.5
"""Seconds between two calls of `watch`."""
DIED = "the worker process died (killed, or out of memory)"
WORKER_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENCV_FOR_THREADS_NUM": "1",
    "GLOG_minloglevel": "2",
    "MALLOC_MMAP_THRESHOLD_": str(64 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "PYTHONWARNINGS": "ignore:resource_tracker",
}
"""Of workers. One thread each: sums that are split among threads differ in their last bits. COLMAP prints errors only;
no warning about the locks that workers leave when Ctrl-C ends them (they are freed). Freed memory is kept for the next
clip (glibc, in bytes): to get 20 MB page by page anew took a tenth of the time of asking."""


@dataclass(frozen=True, kw_only=True)
class Crashed:
    """The failure of a task that raised or whose process crashed."""

    error: str
    """One line."""
    remedy: str = ""
    """Shown to the user but not stored: it may contain local paths."""
    traceback: str = ""


class Executor(Protocol):
    """Runs one task over many items, as `run` does."""

    def __call__(
        self,
        task: Callable[[Item], Result],
        items: Iterable[Item],
        workers: int,
        watch: Callable[[], None] | None = None,
        /,
    ) -> Iterator[tuple[Item, Result | Crashed]]:
        """(item, what `task` returned or `Crashed`) as they finish."""
        ...


def run(
    task: Callable[[Item], Result], items: Iterable[Item], workers: int, watch: Callable[[], None] | None = None
) -> Iterator[tuple[Item, Result | Crashed]]:
    """(item, what `task` returned or `Crashed`) as they finish.

    `workers` processes are spawned, so `task` and items must be picklable and a script that calls this needs
    `if __name__ == "__main__":`; 0 works in this process, where a crash of native code ends everything.
    A process unpickles `task` once: what it keeps lasts for the items that follow. `watch` is called every half second
    in this process while it waits for workers.
    When a process dies, the items then in work are tried again, one at a time: only one that kills its process
    twice is lost. `UsageError` and `SetupError` of the task, and a full disk (`SetupError`), pass through: they concern
    every item. Raises `UsageError` if no process can start.
    """
    if workers == 0:
        yield from ((item, _single_threaded(task, item)) for item in items)
        return
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        os._exit(1)  # a worker that imports a script without the guard; the first process says so
    waiting, suspects = deque(items), deque[Item]()
    while waiting:
        yield from _until_death(task, waiting, suspects, workers, watch)
        while suspects:
            alone, dead = deque([suspects.popleft()]), deque[Item]()
            yield from _until_death(task, alone, dead, 1, watch)
            yield from ((item, Crashed(error=DIED)) for item in dead)


def _single_threaded(task: Callable[[Item], Result], item: Item) -> Result | Crashed:
    """Runs the task in this process with one thread, as a worker does."""
    with _thread_pools(len(sys.modules)).limit(limits=1):
        return attempt(task, item)


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    """Those of the native libraries in this process: finding them takes longer than many an item, so they are looked
    for again only where more `modules` are imported."""
    return ThreadpoolController()


def attempt(task: Callable[[Item], Result], item: Item) -> Result | Crashed:
    """The result of the task, or its failure."""
    try:
        return task(item)
    except (UsageError, SetupError):
        raise
    except SpatialEngineError as error:
        return Crashed(error=error.cause, remedy=error.remedy, traceback=traceback.format_exc())
    except Exception as error:  # whatever footage provokes; recorded with its traceback
        if full := disk_error(error):
            raise full from error
        return Crashed(error=one_line(error), traceback=traceback.format_exc())


def worker_number() -> int:
    """Number of this worker in its run: 0, 1, ...; 0 in a process that is no worker."""
    return _number


def become_worker(task: Callable[[Any], Any], number: int) -> None:
    """Makes this process a worker, which a crash may end."""
    global _task, _is_worker, _number
    _task, _is_worker, _number = task, True, number


def leave_worker() -> None:
    """Ends this worker process like a crash; a fresh process takes over its item. Does nothing in a process that is no
    worker."""
    if _is_worker:
        os._exit(1)


def one_line(error: BaseException) -> str:
    """Kind and first line of an error."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def _until_death(
    task: Callable[[Item], Result],
    waiting: deque[Item],
    suspects: deque[Item],
    workers: int,
    watch: Callable[[], None] | None,
) -> Iterator[tuple[Item, Result | Crashed]]:
    """Processes `waiting` until it is empty or a process crashes; the items at work then become `suspects`."""
    running: dict[Future[Result | Crashed], Item] = {}
    with _pool(task, min(workers, len(waiting))) as (pool, started):
        while waiting or running:
            # no more in work than there are processes: so the suspects of a death are few
            while waiting and len(running) < workers:
                item = waiting.popleft()
                try:
                    running[pool.submit(_attempt_in_worker, item)] = item
                except BrokenProcessPool:
                    _check_started(started)
                    suspects.extend([*running.values(), item])
                    return
            while not (finished := wait(running, WATCH_S if watch else None, FIRST_COMPLETED).done):
                if watch is not None:
                    watch()
            for future in [future for future in finished if not isinstance(future.exception(), BrokenProcessPool)]:
                yield running.pop(future), future.result()
            if not finished.isdisjoint(running):
                _check_started(started)
                suspects.extend(running.values())
                return


def _check_started(started: Any) -> None:
    """Raises `UsageError` if no worker process has begun."""
    if not started.value:
        raise UsageError(
            "no worker process can start: it runs the script anew, up to the call that asks for workers",
            'put the call under `if __name__ == "__main__":`, or give workers=0 (several GPUs: device="cuda:0" too)',
        )


@contextmanager
def _pool(task: Callable[[Any], Any], workers: int) -> Iterator[tuple[ProcessPoolExecutor, Any]]:
    """A pool of single-threaded spawned processes, which end with the block in any case; the number of those that have
    begun."""
    others = set(multiprocessing.active_children())
    with _environment(WORKER_ENVIRONMENT):
        started = _SPAWN.Value("i", 0)
        pool = ProcessPoolExecutor(workers, mp_context=_SPAWN, initializer=_begin_worker, initargs=(task, started))
        try:
            yield pool, started
        except BaseException:
            for child in set(multiprocessing.active_children()) - others:
                child.kill()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _environment(changes: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in changes:
            os.environ.pop(name, None)
        os.environ.update({name: value for name, value in before.items() if value is not None})


_task: Callable[[Any], Any]  # of this worker process
_is_worker = False
_number = 0


def _begin_worker(task: Callable[[Any], Any], started: Any) -> None:
    with started.get_lock():
        number = started.value
        started.value += 1
    become_worker(task, number)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # here and in all threads that follow
    atexit.register(os._exit, 0)  # to free memory object by object took half a second
    threading.Thread(target=_die_at_sigterm, daemon=True).start()
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_at_sigterm() -> None:
    """Without a word: COLMAP sets a handler of its own when it is imported, which prints pages of its stack."""
    signal.sigwait({signal.SIGTERM})
    os._exit(1)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _attempt_in_worker(item: Any) -> Any:
    with profiled_in_worker():
        return attempt(_task, item)
