"""Where a model runs and in which precision; how much memory is left there; what to do when it runs out."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from experts.expert import SetupProblem

Item = TypeVar("Item")
Result = TypeVar("Result")

_BFLOAT16_CAPABILITY = 8  # Ampere; older cards only emulate it, slowly and with far more memory
_DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A device of torch and a precision."""

    device: str = "cpu"
    """ "cpu", "cuda" or "cuda:1"."""
    dtype: str = "float32"
    """Precision of the network's inner products; its heads may use more."""

    @property
    def torch_dtype(self) -> Any:
        """The precision as torch names it."""
        import torch

        return getattr(torch, self.dtype)

    @property
    def free_bytes(self) -> int:
        """Memory that is free now, on the device."""
        if self.device.startswith("cuda"):
            import torch

            return int(torch.cuda.mem_get_info(self.device)[0])
        return _free_host_bytes()


def place(device: str = "auto", dtype: str | None = None) -> Placement:
    """The user's word made exact. "auto" is the first GPU, or the CPU. Raises `SetupProblem`.

    From then on torch takes one thread of the host, in this process as in workers: sums that are split among threads
    differ in their last bits.
    """
    try:
        import torch
    except ImportError as error:
        raise SetupProblem(f"torch cannot be imported: {error}", "pip install torch torchvision") from error
    torch.set_num_threads(1)
    if dtype is not None and dtype not in _DTYPES:
        raise SetupProblem(f"no precision is called {dtype!r}", f"there are: {', '.join(_DTYPES)}")
    found = torch.cuda.is_available()
    if device == "auto":
        device = "cuda" if found else "cpu"
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
        raise SetupProblem(f"no device is called {device!r}", "there are: auto, cpu, cuda, cuda:0, cuda:1, ...")
    if kind == "cuda" and not found:
        raise SetupProblem("no GPU that this torch can use", "take --device cpu, or install a CUDA build of torch")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise SetupProblem(f"there is no {device}", f"this machine has {torch.cuda.device_count()} GPUs")
    return Placement(device=device, dtype=dtype or _best_dtype(device))


def in_turn(device: str, worker: int) -> str:
    """The device of a worker: where the user names no single one, workers take the GPUs that there are in turn."""
    if device not in ("auto", "cuda"):
        return device
    try:
        import torch
    except ImportError:
        return device  # loading says what is missing
    count = torch.cuda.device_count()
    return f"cuda:{worker % count}" if count > 1 else device


def _best_dtype(device: str) -> str:
    import torch

    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if torch.cuda.get_device_capability(device)[0] >= _BFLOAT16_CAPABILITY else "float16"


def _free_host_bytes() -> int:
    """What Linux says is available; 4 GB where nothing says so."""
    try:
        with Path("/proc/meminfo").open(encoding="ascii") as lines:
            fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 4 << 30


_OUT_OF_MEMORY = (
    "out of memory",  # CUDA
    "CUBLAS_STATUS_ALLOC_FAILED",
    "not enough memory",  # torch on the host, Windows ...
    "can't allocate memory",  # ... and Linux
)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a model failed for want of memory, on a GPU or on the host."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY)


def is_lost(error: BaseException) -> bool:
    """Whether the GPU will fail every later call of this process, as after a failed assertion or a bad address."""
    return isinstance(error, RuntimeError) and "CUDA error" in str(error) and not is_out_of_memory(error)


def in_batches(
    call: Callable[[Sequence[Item]], Sequence[Result]], items: Iterable[Item], size: int, *, fill: bool = False
) -> Iterator[Result]:
    """One result per item, in order, `size` items at a time; where memory runs out, half as many from then on.

    With `fill` a short batch is filled up with its last item, and what comes of that is dropped: every call has the
    same shape. Raises the error of a batch of one.
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
    """None where memory ran out for more than one. Returns only when the error, which holds the memory, is gone."""
    try:
        return call(batch)
    except Exception as error:
        if not is_out_of_memory(error) or len(batch) == 1:
            raise
        return None


def forget_cached() -> None:
    """Gives back what torch keeps for later."""
    import gc
    import sys

    gc.collect()
    if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
