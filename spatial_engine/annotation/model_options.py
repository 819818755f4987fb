"""The user's word on models: which weights, on which device, and under which licences."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from experts.checkpoints.weights import RANDOM
from experts.expert import Expert, original
from spatial_engine.errors import UsageError

_DEVICE = re.compile(r"auto|cpu|cuda(:\d+)?")


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """How experts with weights are loaded."""

    weights: str | None = None
    """Folder of weight files; "random": weights drawn by chance, to try the code; None: the usual folder."""
    device: str = "auto"
    """ "auto", "cpu", "cuda" or "cuda:1"."""
    dtype: str | None = None
    """"float32", "float16" or "bfloat16"; None: what the device does best."""
    allow_noncommercial: bool = False
    """Whether code and weights may run that forbid commercial use."""
    clips_at_once: int = 8
    """Clips that a worker takes at a time where experts have models: pictures of several clips share batches, and
    files of one are written while the next is looked at. Results do not depend on it."""

    def __post_init__(self) -> None:
        if not _DEVICE.fullmatch(self.device):
            raise UsageError(f"no device is called {self.device!r}", "there are: auto, cpu, cuda, cuda:0, cuda:1, ...")


def check_licences(experts: Iterable[Expert], model_options: ModelOptions) -> None:
    """Raises `UsageError` for an expert that forbids commercial use, unless the user allows that."""
    for expert in experts:
        if problem := licence_problem(expert, model_options):
            raise problem


def licence_problem(expert: Expert, model_options: ModelOptions) -> UsageError | None:
    """Why the user's word does not allow an expert; None if it does. Weights drawn by chance are nobody's."""
    expert = original(expert)
    binding = "code_commercial_ok" if model_options.weights == RANDOM else "commercial_ok"
    if model_options.allow_noncommercial or getattr(expert, binding, True):
        return None
    instead = getattr(expert, "permissive_substitute", "")
    return UsageError(
        f"expert {expert.name} may not be used commercially ({licence_of(expert)})",
        f"say --allow-noncommercial{f', or take {instead} instead' if instead else ''}",
    )


def licence_of(expert: Expert) -> str:
    """Licences of an expert's code and weights, for people."""
    expert = original(expert)
    code = getattr(expert, "code_licence", "Apache-2.0")
    weights = getattr(expert, "weights_licence", None)
    return f"{code}, weights {weights}" if weights else f"{code}, no weights"
