"""Sends many requests to one server concurrently. Replies are cached in one sqlite file."""

import asyncio
import json
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spatial_engine.errors import Interrupted, SetupError, UsageError
from spatial_engine.language.chat.request import Failed, Outcome, Reply, Request, TimedOut
from spatial_engine.options import Server
from spatial_engine.progress import counted

_PATIENCE_S = 30.0  # a writer waits this long for the transaction of another process


class Cache:
    """`DIR/replies.sqlite`. Several processes may use it. A reply is on disk when `put` returns.

    Raises `UsageError` where the file is no such cache.
    """

    def __init__(self, folder: str | Path, *, must_exist: bool = False) -> None:
        self.path = Path(folder) / "replies.sqlite"
        if must_exist and not self.path.is_file():
            raise UsageError(f"--replay: there is no cache in {folder}", "name the --cache of the run to be replayed")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._db = sqlite3.connect(self.path, timeout=_PATIENCE_S, check_same_thread=False)
            self._db.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT, seconds REAL)")
        except sqlite3.DatabaseError as error:
            raise UsageError(
                f"{self.path} is not a cache of replies: {error}", "name another --cache folder"
            ) from error

    def get(self, key: str) -> tuple[dict[str, Any], float] | None:
        """The JSON of the server and its duration in seconds; None on a miss."""
        row = self._db.execute("SELECT reply, seconds FROM replies WHERE key = ?", (key,)).fetchone()
        return None if row is None else (json.loads(row[0]), float(row[1]))

    def put(self, key: str, reply: dict[str, Any], seconds: float) -> None:
        """Stores a reply; replaces an earlier one of the same request."""
        with self._db:
            self._db.execute("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", (key, json.dumps(reply), seconds))

    def close(self) -> None:
        """Closes the file."""
        self._db.close()


@contextmanager
def opened_cache(folder: str | Path | None, replay: bool) -> Iterator[Cache | None]:
    """The cache of a folder while the block runs; None without a folder. Raises `UsageError`."""
    if folder is None:
        if replay:
            raise UsageError("--replay needs a cache", "name the folder of replies: --cache DIR")
        yield None
        return
    cache = Cache(folder, must_exist=replay)
    try:
        yield cache
    finally:
        cache.close()


if TYPE_CHECKING:
    from spatial_engine.language.chat.client import Client

T = TypeVar("T")
_HOPELESS_AFTER = 5
"""After this many failures in a row with one cause the run stops."""

_NO_MODEL = "is that a chat server, and does --base-url end in /v1?"
_REMEDIES = {
    "401": "put the server's key into the environment variable that --api-key-env names",
    "403": "does the key in --api-key-env allow this model?",
    "404": "is --model one of those that the server lists at BASE_URL/models, and does --base-url end in /v1?",
    "405": _NO_MODEL,
    "501": _NO_MODEL,
    "no completion": _NO_MODEL,
    "400": "the server's words say what it does not take; --temperature default sends no temperature",
    "429": "the account's quota is used up: top it up; what is answered is kept",
    "no connection": "is the server running, and is --base-url right?",
}

Jobs = Iterable[tuple[T, Request]]
Done = Callable[[T, Outcome], None]


def ask_all(jobs: Jobs[T], server: Server, done: Done[T], cache: Cache | None = None) -> None:
    """Sends the request of every job, and calls `done` with each outcome.

    Raises `SetupError` if requests fail in a row with a cause that affects all of them, `UsageError` without the
    address of a server, and `Interrupted` on Ctrl-C. Outcomes until then are kept.
    """
    server.check_address()
    try:
        _run(lambda: _ask_all(jobs, server, done, cache))
    except KeyboardInterrupt as error:
        raise Interrupted("stopped", "run the same command again: it goes on where it stopped") from error


def replay_all(jobs: Jobs[T], done: Done[T], cache: Cache) -> None:
    """The same from the cache only. Raises `UsageError` before any call of `done` if a reply is missing."""
    jobs = list(jobs)
    found = [(job, _cached(cache, request)) for job, request in jobs]
    missing = sum(reply is None for _, reply in found)
    if missing:
        cause = f"--replay: {cache.path} lacks {missing} of {len(jobs)} replies"
        remedy = "were model, settings, questions or pictures others? without --replay the server is asked for them"
        raise UsageError(cause, remedy)
    for job, reply in found:
        if reply is not None:
            done(job, reply)


async def _ask_all(jobs: Jobs[T], server: Server, done: Done[T], cache: Cache | None) -> None:
    from spatial_engine.language.chat.client import Client

    waiting, watch = iter(jobs), _Watch()
    async with Client(server) as client:
        workers = (_work(waiting, client, done, cache, watch) for _ in range(server.concurrency))
        await asyncio.gather(*workers)
    if watch.verdict is not None:
        cause = f"{server.base_url}: {counted(watch.in_a_row, 'request')} in a row failed: {watch.verdict}"
        raise SetupError(cause, _REMEDIES.get(watch.verdict.kind, "the server's words say why"))


async def _work(
    waiting: Iterator[tuple[T, Request]], client: "Client", done: Done[T], cache: Cache | None, watch: "_Watch"
) -> None:
    """One of several workers on the waiting jobs. Requests under way are finished even if the run stops."""
    for job, request in waiting:
        outcome: Outcome | None = _cached(cache, request) if cache else None
        if outcome is None:
            outcome = await _asked(client, request)
            if cache and isinstance(outcome, Reply):
                cache.put(request.key, outcome.body, outcome.seconds)
            watch.see(outcome)
        done(job, outcome)
        if watch.hopeless:
            return


async def _asked(client: "Client", request: Request) -> Outcome:
    try:
        return await client.ask(request)
    except (TimedOut, Failed) as outcome:
        return outcome


def _cached(cache: Cache, request: Request) -> Reply | None:
    found = cache.get(request.key)
    return None if found is None else Reply(body=found[0], seconds=found[1])


class _Watch:
    """Decides when to stop after failures."""

    def __init__(self) -> None:
        self.in_a_row = 0
        """Number of failures in a row with one cause."""
        self._last: Failed | None = None
        self._seen, self._answers = 0, 0

    def see(self, outcome: Outcome) -> None:
        """Counts one outcome."""
        self._seen += 1
        self._answers += isinstance(outcome, Reply)
        lasting = outcome if isinstance(outcome, Failed) and outcome.reach != "passing" else None
        same = lasting and self._last and lasting.kind == self._last.kind
        self.in_a_row = self.in_a_row + 1 if same else int(lasting is not None)
        self._last = lasting

    @property
    def hopeless(self) -> bool:
        """Whether to stop. After a first answer a refused request may be the fault of its item."""
        if self._last is None or self.in_a_row < _HOPELESS_AFTER:
            return False
        return self._last.reach == "all" or not self._answers

    @property
    def verdict(self) -> Failed | None:
        """The cause of failure of the whole run; None if it succeeded, or may succeed next time."""
        return self._last if self.hopeless or self.in_a_row == self._seen else None


def _run(work: Callable[[], Awaitable[None]]) -> None:
    """Runs a coroutine, also inside a running event loop (of a notebook)."""

    async def whole() -> None:
        await work()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(whole())
        return
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, whole()).result()
