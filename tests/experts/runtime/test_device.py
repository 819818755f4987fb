"""Placement, and batches when memory runs out. torch is played by a few lines: only its words matter here."""

import sys
from collections.abc import Iterator, Sequence
from types import SimpleNamespace

import pytest

from experts.expert import SetupProblem
from experts.runtime.device import in_batches, in_turn, is_lost, is_out_of_memory, place


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


class Network:
    """Doubles numbers; has room for `room` at a time."""

    def __init__(self, room: int = 100, error: Exception | None = None) -> None:
        self.room, self.error = room, error or OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        self.seen: list[int] = []

    def __call__(self, batch: Sequence[int]) -> list[int]:
        self.seen.append(len(batch))
        if len(batch) > self.room:
            raise self.error
        return [2 * number for number in batch]


def play_torch(monkeypatch: pytest.MonkeyPatch, gpus: int, capability: int = 8) -> list[int]:
    """A torch that finds so many GPUs. Returns the numbers of threads that it is told."""
    threads: list[int] = []
    cuda = SimpleNamespace(
        is_available=lambda: gpus > 0,
        device_count=lambda: gpus,
        get_device_capability=lambda device: (capability, 0),
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, set_num_threads=threads.append))
    return threads


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


def test_what_one_item_provokes_is_raised() -> None:
    with pytest.raises(OutOfMemoryError):
        list(in_batches(Network(room=0), range(4), 4))
    network = Network(room=1, error=ValueError("odd"))
    with pytest.raises(ValueError, match="odd"):
        list(in_batches(network, range(4), 4))
    assert network.seen == [4], "other errors are not tried again"


def test_as_many_results_as_items() -> None:
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


def test_the_failed_batch_is_free_before_the_next_is_tried() -> None:
    """An exception holds the frames that it passed, and they the tensors."""
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


@pytest.mark.parametrize(
    ("error", "memory", "lost"),
    [
        (MemoryError(), True, False),
        (OutOfMemoryError("CUDA out of memory"), True, False),
        (RuntimeError("CUDA error: out of memory"), True, False),
        (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to ..."), True, False),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes"), True, False),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True, False),
        (RuntimeError("CUDA error: device-side assert triggered"), False, True),
        (RuntimeError("CUDA error: an illegal memory access was encountered"), False, True),
        (RuntimeError("shapes cannot be multiplied"), False, False),
        (ValueError("CUDA error: not enough memory"), False, False),
    ],
)
def test_kinds_of_errors(error: Exception, memory: bool, lost: bool) -> None:
    assert (is_out_of_memory(error), is_lost(error)) == (memory, lost)


def test_where_a_model_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = play_torch(monkeypatch, gpus=0)
    assert (place().device, place().dtype) == ("cpu", "float32")
    assert place("cpu", "bfloat16").dtype == "bfloat16"
    assert set(threads) == {1}
    play_torch(monkeypatch, gpus=2)
    assert (place().device, place().dtype) == ("cuda", "bfloat16")
    assert place("cuda:1").device == "cuda:1"
    assert place("cpu").dtype == "float32"
    play_torch(monkeypatch, gpus=1, capability=7)
    assert place().dtype == "float16"


@pytest.mark.parametrize(
    ("gpus", "device", "dtype", "cause", "remedy"),
    [
        (0, "cuda", None, "no GPU that this torch can use", "--device cpu"),
        (1, "cuda:1", None, "there is no cuda:1", "1 GPU"),
        (1, "gpu", None, "no device is called 'gpu'", "auto, cpu, cuda"),
        (1, "cuda:x", None, "no device is called 'cuda:x'", "auto, cpu, cuda"),
        (1, "cpu", "half", "no precision is called 'half'", "float16"),
    ],
)
def test_what_there_is_not(
    monkeypatch: pytest.MonkeyPatch, gpus: int, device: str, dtype: str | None, cause: str, remedy: str
) -> None:
    play_torch(monkeypatch, gpus)
    with pytest.raises(SetupProblem) as caught:
        place(device, dtype)
    assert cause in caught.value.cause
    assert remedy in caught.value.remedy


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SetupProblem) as caught:
        place()
    assert caught.value.remedy.startswith("pip install torch")
    assert in_turn("auto", 3) == "auto", "loading says what is missing"


def test_workers_take_gpus_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    play_torch(monkeypatch, gpus=2)
    assert [in_turn(device, worker) for device in ("auto", "cuda") for worker in range(3)] == [
        "cuda:0", "cuda:1", "cuda:0", "cuda:0", "cuda:1", "cuda:0",
    ]  # fmt: skip
    assert in_turn("cuda:1", 0) == "cuda:1"
    assert in_turn("cpu", 1) == "cpu"
    play_torch(monkeypatch, gpus=1)
    assert in_turn("auto", 5) == "auto"
