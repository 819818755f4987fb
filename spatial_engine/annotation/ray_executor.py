"""Runs one task over many items on a Ray cluster, by the protocol of `executor.run`.

Each worker is an actor: it gets the task once, and what the task loads stays for the items that follow. Where actors
run, and whether more machines are started for them, is up to Ray. An actor gets an item only when it runs and is idle,
so that nothing waits behind a machine that is not there yet.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from spatial_engine.annotation.executor import DIED, WATCH_S, WORKER_ENVIRONMENT, Crashed, attempt, become_worker
from spatial_engine.errors import SetupError, UsageError

Item = TypeVar("Item")
Result = TypeVar("Result")

_FALSE_STARTS = 3
"""Workers in a row that may die before they have begun."""


@dataclass(kw_only=True, eq=False)
class _Job:
    """An item, and the nodes on which workers died of it."""

    item: Any
    died_on: list[str] = field(default_factory=list)


@dataclass(kw_only=True, eq=False)
class _Worker:
    """An actor, and what it does."""

    actor: Any
    number: int
    node: str = ""
    """Where it runs; "" until it has begun."""
    job: _Job | None = None
    """None while it begins or is idle."""


@dataclass(frozen=True, kw_only=True)
class RayExecutor:
    """Actors of a Ray cluster. Raises `SetupError` without Ray, or without the cluster."""

    address: str | None
    """None: the cluster that this process is connected to, else one that is started on this machine."""
    gpus: float | None
    """GPUs of each actor; None: one, if the cluster has any."""

    def __call__(
        self,
        task: Callable[[Item], Result],
        items: Iterable[Item],
        workers: int,
        watch: Callable[[], None] | None = None,
    ) -> Iterator[tuple[Item, Result | Crashed]]:
        """As `executor.run`. An item whose worker dies is tried again by another one, and lost if that one dies, too;
        the death of a whole node does not count."""
        waiting = deque(_Job(item=item) for item in items)
        if not waiting:
            return
        ray = _connected(self.address)
        pool = _Pool(ray, self._actor_class(ray), task)
        try:
            for number in range(min(workers, len(waiting))):
                pool.start(number)
            while waiting or pool.busy:
                finished = pool.finished()
                if watch is not None and not finished:
                    watch()
                for worker, result in finished:
                    job, worker.job = worker.job, None
                    if isinstance(result, ray.exceptions.RayActorError):
                        if job is not None and _killed_by(ray, job, worker.node):
                            yield job.item, Crashed(error=DIED)
                        elif job is not None:
                            waiting.append(job)
                        pool.replace(worker, result, needed=bool(waiting))
                        continue
                    if job is None:
                        worker.node = result
                    elif isinstance(result, UsageError | SetupError):
                        raise result
                    else:
                        yield job.item, result
                    if waiting:
                        pool.give(worker, waiting.popleft())
        finally:
            pool.end()

    def _actor_class(self, ray: Any) -> Any:
        gpus = self.gpus
        if gpus is None:
            gpus = 1.0 if ray.cluster_resources().get("GPU") else 0.0
        return ray.remote(_Actor).options(
            num_cpus=1, num_gpus=gpus, max_restarts=0, runtime_env={"env_vars": WORKER_ENVIRONMENT}
        )


class _Pool:
    """The actors of one run."""

    def __init__(self, ray: Any, actor_class: Any, task: Callable[[Any], Any]) -> None:
        self._ray, self._actor_class, self._task = ray, actor_class, ray.put(task)
        self._workers: dict[int, _Worker] = {}
        self._calls: dict[Any, _Worker] = {}
        self._false_starts = 0

    @property
    def busy(self) -> bool:
        """Whether an item is at work."""
        return any(worker.job is not None for worker in self._calls.values())

    def start(self, number: int) -> None:
        """Asks Ray for a worker, which may have to wait for a machine."""
        worker = _Worker(actor=self._actor_class.remote(self._task, number), number=number)
        self._workers[number] = worker
        self._calls[worker.actor.begin.remote()] = worker

    def replace(self, worker: _Worker, error: Exception, *, needed: bool) -> None:
        """Starts another worker for a dead one, if one is needed. Raises `SetupError` if they die as they begin."""
        self._false_starts += not worker.node
        if self._false_starts >= _FALSE_STARTS:
            raise SetupError(
                f"workers of Ray die as they begin: {str(error).splitlines()[0]}",
                "does every node have this program, and the footage and the store at the same paths?",
            ) from error
        if needed:
            self.start(worker.number)

    def give(self, worker: _Worker, job: _Job) -> None:
        """Hands a worker its next item."""
        worker.job = job
        self._calls[worker.actor.attempt.remote(job.item)] = worker

    def finished(self) -> list[tuple[_Worker, Any]]:
        """Workers that began, finished an item or died in the last half second, with what they returned or the
        `RayActorError`."""
        found = []
        for call in self._ray.wait(list(self._calls), timeout=WATCH_S)[0]:
            worker = self._calls.pop(call)
            try:
                found.append((worker, self._ray.get(call)))
                self._false_starts = 0
            except self._ray.exceptions.RayActorError as error:
                found.append((worker, error))
        return found

    def end(self) -> None:
        """Ends all workers."""
        for worker in self._workers.values():
            self._ray.kill(worker.actor)


class _Actor:
    """A worker."""

    def __init__(self, task: Callable[[Any], Any], number: int) -> None:
        self.task = task
        become_worker(task, number)

    def begin(self) -> str:
        """The id of its node, once it runs."""
        import ray

        return str(ray.get_runtime_context().get_node_id())

    def attempt(self, item: Any) -> Any:
        """The result, or the error that concerns every item: raised here, Ray would wrap it."""
        try:
            return attempt(self.task, item)
        except (UsageError, SetupError) as error:
            return error


def _killed_by(ray: Any, job: _Job, node: str) -> bool:
    """Whether this is the second worker that died of an item, not counting those whose whole node died."""
    job.died_on.append(node)
    alive = {node["NodeID"] for node in ray.nodes() if node["Alive"]}
    return sum(node in alive for node in job.died_on) > 1


def _connected(address: str | None) -> Any:
    """Ray, connected to the cluster; what this process started ends with it."""
    try:
        import ray
    except ModuleNotFoundError as error:
        raise SetupError("--executor ray needs Ray, which is not installed", "pip install '.[ray]'") from error
    if ray.is_initialized():
        return ray
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise SetupError(
            f"no Ray cluster at {address or 'this machine'}: {str(error).splitlines()[0]}",
            "start one with `ray start --head`, or leave --ray-address out",
        ) from error
    return ray
