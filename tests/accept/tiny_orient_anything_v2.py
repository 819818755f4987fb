"""The worker script of Orient Anything V2 with a backbone of one block (upstream's has 1.2 billion parameters). It runs
in the worker's process and imports none of our packages."""

import importlib.util
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def _real() -> Any:
    path = Path(__file__).resolve().parents[2] / "experts" / "runtime" / "workers" / "orient_anything_v2.py"
    spec = importlib.util.spec_from_file_location("orient_anything_v2_worker", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_REAL = _real()
run = _REAL.run


def load(request: Mapping[str, Any]) -> Any:
    """Loads the network after replacing its backbone by one of one block."""
    sys.path.insert(0, request["upstream"])
    import torch
    import vision_tower
    from vggt.models.aggregator import Aggregator

    torch.set_num_threads(1)

    class OneBlock(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.aggregator = Aggregator(depth=1, patch_embed="conv")

    vision_tower.VGGT = OneBlock
    print("printed output must not disturb the pipe")
    return _REAL.load(request)


def without_rembg() -> None:
    """Replaces a background remover that upstream's decoding imports and does not use."""
    sys.modules.setdefault("rembg", types.ModuleType("rembg"))
