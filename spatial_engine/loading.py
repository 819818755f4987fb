"""The user's word on models: which weights, on which device, and under which licences."""

from collections.abc import Iterable
from dataclasses import dataclass

from experts.expert import Expert
from spatial_engine.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Loading:
    """How experts with weights are loaded."""

    weights: str | None = None
    """Folder of weight files; "random": weights drawn by chance, to try the code; None: the usual folder."""
    device: str = "auto"
    """ "auto", "cpu", "cuda" or "cuda:1"."""
    dtype: str | None = None
    """"float32", "float16" or "bfloat16"; None: what the device does best."""
    allow_noncommercial: bool = False
    """Whether code and weights may run that forbid commercial use."""


def check_licences(experts: Iterable[Expert], loading: Loading) -> None:
    """Raises `UsageError` for an expert that forbids commercial use, unless the user allows that."""
    for expert in experts:
        if getattr(expert, "commercial_ok", True) or loading.allow_noncommercial:
            continue
        licence = getattr(expert, "weights_licence", None) or getattr(expert, "code_licence", "")
        instead = getattr(expert, "permissive_substitute", "")
        raise UsageError(
            f"expert {expert.name} may not be used commercially ({licence})",
            f"say --allow-noncommercial{f', or take {instead} instead' if instead else ''}",
        )
