"""Device and precision of a model, its free memory, and the errors of a device."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experts.expert import SetupProblem

_BFLOAT16_CAPABILITY = 8  # Ampere; older cards only emulate it, slowly and with far more memory
_DTYPES = ("float32", "float16", "bfloat16")


@dataclass(frozen=True, kw_only=True)
class Placement:
    """A torch device and a precision."""

    device: str = "cpu"
    """ "cpu", "cuda" or "cuda:1"."""
    dtype: str = "float32"
    """Precision of the network's matrix products; its output heads may use a higher one."""

    @property
    def torch_dtype(self) -> Any:
        """The precision as a torch dtype."""
        import torch

        return getattr(torch, self.dtype)

    @property
    def free_bytes(self) -> int:
        """Memory of the device that a model can use: what is free, and what torch keeps but does not use."""
        if self.device.startswith("cuda"):
            import torch

            cached = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
            return int(torch.cuda.mem_get_info(self.device)[0] + cached)
        return _free_host_bytes()


def place(device: str = "auto", dtype: str | None = None) -> Placement:
    """Resolves the user's choice of device. "auto" is the first GPU, or the CPU. Raises `SetupProblem`.

    It also limits torch to one host thread, here as in worker processes: sums split among threads differ in their last
    bits.
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
        raise SetupProblem("no GPU that this torch can use", "use --device cpu, or install a CUDA build of torch")
    if kind == "cuda" and int(number or 0) >= torch.cuda.device_count():
        raise SetupProblem(f"there is no {device}", f"this machine has {torch.cuda.device_count()} GPUs")
    return Placement(device=device, dtype=dtype or _best_dtype(device))


def worker_device(device: str, worker: int) -> str:
    """Device of worker number `worker`. If the user names no single device, the GPUs are assigned to workers
    round-robin."""
    if device not in ("auto", "cuda"):
        return device
    try:
        import torch
    except ImportError:
        return device  # loading reports what is missing
    count = torch.cuda.device_count()
    return f"cuda:{worker % count}" if count > 1 else device


def _best_dtype(device: str) -> str:
    import torch

    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if torch.cuda.get_device_capability(device)[0] >= _BFLOAT16_CAPABILITY else "float16"


def _free_host_bytes() -> int:
    """Available memory according to Linux; 4 GB where it is unknown."""
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
    """Whether a model failed because memory ran out, on a GPU or on the host."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in _OUT_OF_MEMORY)


def is_lost(error: BaseException) -> bool:
    """Whether every later GPU call of this process will fail too, as after a failed assertion or an invalid address."""
    return isinstance(error, RuntimeError) and "CUDA error" in str(error) and not is_out_of_memory(error)


def forget_cached() -> None:
    """Frees the memory that torch caches."""
    import gc
    import sys

    gc.collect()
    if (torch := sys.modules.get("torch")) is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
