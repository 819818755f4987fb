"""Placement of models, and kinds of device errors. A stub replaces torch."""

import sys
from types import SimpleNamespace

import pytest

from experts.expert import SetupProblem
from experts.runtime.device import Placement, is_lost, is_out_of_memory, place, worker_device


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


def stub_torch(monkeypatch: pytest.MonkeyPatch, gpus: int, capability: int = 8) -> list[int]:
    """Installs a stub of torch with that many GPUs. Returns the thread counts that it receives."""
    threads: list[int] = []
    cuda = SimpleNamespace(
        is_available=lambda: gpus > 0,
        device_count=lambda: gpus,
        get_device_capability=lambda device: (capability, 0),
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, set_num_threads=threads.append))
    return threads


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


def test_placement_of_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = stub_torch(monkeypatch, gpus=0)
    assert (place().device, place().dtype) == ("cpu", "float32")
    assert place("cpu", "bfloat16").dtype == "bfloat16"
    assert set(threads) == {1}
    stub_torch(monkeypatch, gpus=2)
    assert (place().device, place().dtype) == ("cuda", "bfloat16")
    assert place("cuda:1").device == "cuda:1"
    assert place("cpu").dtype == "float32"
    stub_torch(monkeypatch, gpus=1, capability=7)
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
def test_unknown_devices_and_precisions_are_refused(
    monkeypatch: pytest.MonkeyPatch, gpus: int, device: str, dtype: str | None, cause: str, remedy: str
) -> None:
    stub_torch(monkeypatch, gpus)
    with pytest.raises(SetupProblem) as caught:
        place(device, dtype)
    assert cause in caught.value.cause
    assert remedy in caught.value.remedy


def test_memory_that_torch_keeps_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the windows of a clip would be smaller after other clips, and its results others."""
    stub_torch(monkeypatch, gpus=1)
    cuda = sys.modules["torch"].cuda
    for free, reserved in ((70, 10), (20, 60)):
        cuda.mem_get_info = lambda device, free=free: (free, 80)
        cuda.memory_reserved = lambda device, reserved=reserved: reserved
        cuda.memory_allocated = lambda device: 10
        assert Placement(device="cuda").free_bytes == 70


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SetupProblem) as caught:
        place()
    assert caught.value.remedy.startswith("pip install torch")
    assert worker_device("auto", 3) == "auto", "loading reports what is missing"


def test_gpus_are_assigned_to_workers_round_robin(monkeypatch: pytest.MonkeyPatch) -> None:
    stub_torch(monkeypatch, gpus=2)
    assert [worker_device(device, worker) for device in ("auto", "cuda") for worker in range(3)] == [
        "cuda:0", "cuda:1", "cuda:0", "cuda:0", "cuda:1", "cuda:0",
    ]  # fmt: skip
    assert worker_device("cuda:1", 0) == "cuda:1"
    assert worker_device("cpu", 1) == "cpu"
    stub_torch(monkeypatch, gpus=1)
    assert worker_device("auto", 5) == "auto"
