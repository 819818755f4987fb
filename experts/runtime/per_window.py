"""Experts that process a clip window by window: windows of several clips share calls of the network.

On a GPU every clip has a thread, which decodes its frames, copies its windows to the GPU, and joins the results. The
network runs in the caller's thread on the windows that wait for it. On a CPU clips run one after the other.
"""

import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from queue import SimpleQueue
from typing import Any, Protocol

from experts.clip import Clip
from experts.runtime.device import forget_cached, is_lost, is_out_of_memory
from experts.runtime.model_expert import ModelExpert
from experts.signals import NoEstimate, Signal, Signals

Results = Mapping[str, Signal | NoEstimate]
_CLIPS = 8
"""Clips in progress on a GPU: some wait for the network while others are decoded or joined."""


class WindowNetwork(Protocol):
    """A network for windows: frames that are processed jointly. The length of a window is its number of frames."""

    def prepared(self, window: Any, *, padded: bool) -> Any:
        """The inputs of a window, on the device; windows whose inputs have the same `shape` can share a call. `padded`:
        brings inputs to one of few shapes, without any effect on the result. Called in the thread of the clip."""
        ...

    def infer(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """One output per window, which no other window of the call affects."""
        ...

    def received(self, output: Any) -> Any:
        """An output as the expert uses it, on the host. Called in the thread of the clip."""
        ...


@dataclass(frozen=True, kw_only=True)
class NetworkCalls:
    """The network, as the expert calls it for a clip."""

    predicted: Callable[[Any], Any]
    """From a window to its result; it waits for other clips."""
    free_bytes: int
    """Free memory while no clip is in progress: the size of windows does not depend on other clips."""


class PerWindowExpert(ModelExpert):
    """Base of such experts. A subclass defines `process` and `batch_frames`; its `build` returns a `WindowNetwork`."""

    @property
    def batch_frames(self) -> int:
        """Largest number of frames per call that several windows may make up."""
        raise NotImplementedError

    def process(self, clip: Clip, signals: Signals, calls: NetworkCalls) -> Results:
        """The signals of a clip; see `Expert.__call__`."""
        raise NotImplementedError

    @property
    def shares_calls(self) -> bool:
        """Whether several clips are in progress at a time."""
        return self.placement.device != "cpu"

    def __call__(self, clip: Clip, signals: Signals) -> Results:
        """The signals of one clip: the same as among other clips."""
        outcome = next(call_many(self, [(clip, signals)]))
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def call_many(expert: PerWindowExpert, calls: Iterable[tuple[Clip, Signals]]) -> Iterator[Results | BaseException]:
    """The signals of each clip, in order, or the error that it raised; other clips go on.

    The result of a clip does not depend on other clips. A call of the network has room for as many windows of equal
    length as `batch_frames` allows; what other clips do not fill, copies of a window do, because networks choose their
    kernels, and so their rounding, by shape. It does depend on the room, and so on halving when memory runs out.
    """
    if expert.shares_calls:
        yield from _in_threads(expert, calls)
        return
    for call in calls:
        alone = NetworkCalls(
            predicted=lambda window: predicted_alone(expert.model, window), free_bytes=expert.placement.free_bytes
        )
        try:
            outcome: Results | BaseException = expert.process(*call, alone)
        except (Exception, SystemExit) as error:  # belongs to this clip
            outcome = error
        yield outcome


def predicted_alone(network: WindowNetwork, window: Any) -> Any:
    """The result of one window."""
    (output,) = network.infer([network.prepared(window, padded=False)])
    return network.received(output)


def _in_threads(expert: PerWindowExpert, calls: Iterable[tuple[Clip, Signals]]) -> Iterator[Results | BaseException]:
    coming, begun = iter(calls), deque[Future[Results]]()
    shared = _SharedNetwork(network=expert.model, batch_frames=expert.batch_frames)
    each = NetworkCalls(predicted=shared.predicted, free_bytes=expert.placement.free_bytes)
    with ThreadPoolExecutor(_CLIPS) as threads, closing(shared):
        while True:
            for clip, signals in islice(coming, _CLIPS - len(begun)):
                begun.append(threads.submit(expert.process, clip, signals, each))
                shared.begin(begun[-1])
            if not begun:
                return
            while not begun[0].done():
                shared.serve()
            finished = begun.popleft()
            yield finished.exception() or finished.result()


@dataclass(eq=False)
class _Request:
    """A window that waits for the network."""

    inputs: Any
    frames: int
    output: Future[Any] = field(default_factory=Future)


@dataclass(kw_only=True)
class _SharedNetwork:
    """Runs the network on windows of several clips. All methods but `predicted` belong to one thread."""

    network: WindowNetwork
    batch_frames: int
    _events: "SimpleQueue[_Request | None]" = field(default_factory=SimpleQueue)
    """From the threads of the clips: a request, or None when a clip is finished."""
    _waiting: dict[tuple[int, ...], list[_Request]] = field(default_factory=dict)
    """Requests by the shape of their inputs, in the order of their arrival."""
    _working: int = 0
    """Clips whose next event is still to come."""

    def predicted(self, window: Sized) -> Any:
        """The result of a window, for the thread of a clip."""
        inputs = self.network.prepared(window, padded=self._room(len(window)) > 1)
        request = _Request(inputs, len(window))
        self._events.put(request)
        return self.network.received(request.output.result())

    def begin(self, clip: "Future[Results]") -> None:
        """Takes note of a clip that was started."""
        self._working += 1
        clip.add_done_callback(lambda _: self._events.put(None))

    def serve(self) -> None:
        """Calls the network once, or waits for a clip."""
        while not self._events.empty():
            self._take(self._events.get())
        if batch := self._next_batch():
            self._run(batch)
        else:
            self._take(self._events.get())

    def close(self) -> None:
        """Ends the clips in progress at their next request."""
        while self._working or self._waiting:
            for request in [request for alike in self._waiting.values() for request in alike]:
                self._answer(request, CancelledError())
            self._waiting.clear()
            self._take(self._events.get())

    def _take(self, event: _Request | None) -> None:
        self._working -= 1
        if event is not None:
            self._waiting.setdefault(tuple(event.inputs.shape), []).append(event)

    def _room(self, frames: int) -> int:
        """Windows of this length per call."""
        return max(1, self.batch_frames // frames)

    def _next_batch(self) -> list[_Request]:
        """Windows that fill a call; any, if no clip can add to them; else none."""
        for shape, alike in self._waiting.items():
            room = self._room(alike[0].frames)
            if len(alike) >= room or not self._working:
                self._waiting[shape] = alike[room:]
                if not self._waiting[shape]:
                    del self._waiting[shape]
                return alike[:room]
        return []

    def _run(self, batch: Sequence[_Request]) -> None:
        outputs = self._outputs(batch)
        if outputs is None:
            frames = batch[0].frames
            self.batch_frames = frames * (self._room(frames) // 2)
            self._waiting.setdefault(tuple(batch[0].inputs.shape), [])[:0] = batch
            forget_cached()
            return
        for request, output in zip(batch, outputs, strict=True):
            self._answer(request, output)

    def _outputs(self, batch: Sequence[_Request]) -> Sequence[Any] | None:
        """The output of each window, or its error; None: memory ran out for several windows."""
        room, inputs = self._room(batch[0].frames), [request.inputs for request in batch]
        try:
            return self.network.infer([*inputs, *inputs[-1:] * (room - len(inputs))])[: len(inputs)]
        except Exception as error:
            traceback.clear_frames(error.__traceback__)  # they hold memory of the GPU
            if is_out_of_memory(error) and room > 1:
                return None
            if len(batch) == 1 or is_lost(error):
                return [error] * len(batch)
        outputs = [self._outputs([request]) for request in batch]  # which one it concerns is seen when each is alone
        return None if None in outputs else [output for alone in outputs if alone is not None for output in alone]

    def _answer(self, request: _Request, output: Any) -> None:
        self._working += 1
        if isinstance(output, BaseException):
            request.output.set_exception(output)
        else:
            request.output.set_result(output)
