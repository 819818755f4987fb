"""Copies between the host and a GPU that nobody waits for: through pinned memory, on streams of their own."""

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class Copy:
    """A tensor that is being copied."""

    tensor: Any
    done: Any = None
    """The CUDA event after which the copy is complete; None: it is."""

    @property
    def shape(self) -> tuple[int, ...]:
        """That of the tensor."""
        return tuple(self.tensor.shape)

    def on_device(self) -> Any:
        """The tensor, for work that is queued on the current stream: the GPU waits for the copy, this thread does
        not."""
        if self.done is not None:
            import torch

            stream = torch.cuda.current_stream(self.tensor.device)
            stream.wait_event(self.done)
            self.tensor.record_stream(stream)
        return self.tensor

    def on_host(self) -> Any:
        """The tensor, as soon as it is complete."""
        if self.done is not None:
            self.done.synchronize()
        return self.tensor


def sent(array: np.ndarray, device: str) -> Copy:
    """Starts copying an array to a device."""
    import torch

    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if not device.startswith("cuda"):
        return Copy(tensor.to(device))
    stream = _stream(device, "in")
    with torch.cuda.stream(stream):
        copy = tensor.pin_memory().to(device, non_blocking=True)
    return Copy(copy, stream.record_event())


def fetched(tensor: Any) -> Copy:
    """Starts copying a tensor to the host, after the work that is queued on the current stream."""
    if not tensor.is_cuda:
        return Copy(tensor)
    import torch

    stream = _stream(str(tensor.device), "out")
    stream.wait_stream(torch.cuda.current_stream(tensor.device))
    host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    with torch.cuda.stream(stream):
        host.copy_(tensor, non_blocking=True)
    tensor.record_stream(stream)
    return Copy(host, stream.record_event(torch.cuda.Event(blocking=True)))


@cache
def _stream(device: str, direction: Literal["in", "out"]) -> Any:
    """One stream for each direction: results that are not computed yet must not hold up the next inputs."""
    import torch

    return torch.cuda.Stream(device)
