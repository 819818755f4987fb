"""Lets the torchvision of a package index be imported beside a torch without CUDA.

Its compiled part needs CUDA's libraries, so two operators are missing that it describes at import; declared without a
body they do, as nothing here calls them.
"""

import sys
from functools import cache
from importlib.util import find_spec
from typing import Any

_OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
)


@cache
def import_torchvision() -> Any:
    """Imports torchvision if it is installed, once per process, and declares what it lacks. The result must be kept:
    the declaration lives as long."""
    if find_spec("torchvision") is None:
        return None
    try:
        import torchvision  # noqa: F401 - whoever imports it next finds it whole
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
        return _declared()
    return None


def _declared() -> Any:
    import torch

    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]
    library = torch.library.Library("torchvision", "DEF")
    for operator in _OPERATORS:
        library.define(operator)
    import torchvision  # noqa: F401

    return library
