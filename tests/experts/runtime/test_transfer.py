"""Copies to and from a GPU: pinned, on streams of their own, and awaited where they are used. A stub replaces torch and
writes down what it is asked for."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from experts.runtime.transfer import Copy, _stream, fetched, sent


class Stub:
    """A stub of torch."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.streams: list[Stream] = []
        self.compute = Stream(self, "compute")
        self.current = self.compute
        self.float32 = "float32"
        self.cuda = SimpleNamespace(
            Stream=self.stream, stream=self.on, current_stream=lambda device: self.current, Event=Event
        )

    def stream(self, device: str) -> "Stream":
        self.streams.append(Stream(self, f"copies {len(self.streams)}"))
        return self.streams[-1]

    @contextmanager
    def on(self, stream: "Stream") -> Iterator[None]:
        self.current = stream
        yield
        self.current = self.compute

    def from_numpy(self, array: np.ndarray) -> "Tensor":
        return Tensor(self, "host", array)

    def empty(self, shape: tuple[int, ...], dtype: str, pin_memory: bool) -> "Tensor":
        return Tensor(self, "pinned" if pin_memory else "host", np.zeros(shape))


class Event:
    def __init__(self, blocking: bool = False) -> None:
        self.blocking = blocking

    def synchronize(self) -> None:
        self.stub.calls.append(f"host waits for {self.stream}")


class Stream:
    def __init__(self, stub: Stub, name: str) -> None:
        self.stub, self.name = stub, name

    def record_event(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.stub, event.stream = self.stub, self.name
        return event

    def wait_event(self, event: Event) -> None:
        self.stub.calls.append(f"{self.name} waits for {event.stream}")

    def wait_stream(self, stream: "Stream") -> None:
        self.stub.calls.append(f"{self.name} waits for {stream.name}")


class Tensor:
    dtype, is_cuda, device = "float32", False, "cuda"

    def __init__(self, stub: Stub, memory: str, array: np.ndarray) -> None:
        self.stub, self.memory, self.array, self.shape = stub, memory, array, array.shape

    def pin_memory(self) -> "Tensor":
        return Tensor(self.stub, "pinned", self.array)

    def to(self, device: str, non_blocking: bool = False) -> "Tensor":
        self._copied(self.memory, device, non_blocking)
        return Tensor(self.stub, device, self.array)

    def copy_(self, other: "Tensor", non_blocking: bool) -> None:
        self._copied(other.memory, self.memory, non_blocking)
        self.array = other.array

    def _copied(self, origin: str, target: str, non_blocking: bool) -> None:
        how = "queued" if non_blocking else "at once"
        self.stub.calls.append(f"{origin} to {target} on {self.stub.current.name}, {how}")

    def record_stream(self, stream: Stream) -> None:
        self.stub.calls.append(f"kept until {stream.name}")


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    stub = Stub()
    monkeypatch.setitem(sys.modules, "torch", stub)
    _stream.cache_clear()
    yield stub
    _stream.cache_clear()


ARRAY = np.arange(6.0).reshape(2, 3)


def test_inputs_are_pinned_and_copied_beside_the_work_of_the_gpu(torch: Stub) -> None:
    copy = sent(ARRAY, "cuda:1")
    assert torch.calls == ["pinned to cuda:1 on copies 0, queued"] and copy.shape == (2, 3)
    on_device: Any = copy.on_device()
    assert on_device.memory == "cuda:1"
    assert torch.calls[1:] == ["compute waits for copies 0", "kept until compute"], "the host waits for nothing"


def test_outputs_are_copied_after_the_work_before_them(torch: Stub) -> None:
    result = Tensor(torch, "cuda", ARRAY)
    result.is_cuda = True
    sent(ARRAY, "cuda")
    torch.calls.clear()
    copy = fetched(result)
    assert torch.calls == ["copies 1 waits for compute", "cuda to pinned on copies 1, queued", "kept until copies 1"]
    assert copy.done.blocking, "a thread that waits leaves its core to others"
    arrived: Any = copy.on_host()
    assert torch.calls[3:] == ["host waits for copies 1"] and arrived.array is ARRAY


def test_each_direction_has_one_stream(torch: Stub) -> None:
    for _ in range(3):
        sent(ARRAY, "cuda")
    assert len(torch.streams) == 1


def test_on_a_cpu_nothing_is_pinned_or_awaited(torch: Stub) -> None:
    copy = sent(ARRAY[:, ::2], "cpu")
    assert torch.calls == ["host to cpu on compute, at once"] and copy.done is None
    tensor: Any = copy.on_device()
    assert tensor.array.flags.c_contiguous
    assert fetched(tensor) == Copy(tensor) and torch.calls[1:] == []
