"""The child half of Orient Anything V2 on a backbone of one block: upstream's has 1.2 billion parameters. Runs in the
worker's process, and sees no package of ours either."""

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
    """As the real one, after upstream's backbone has been replaced by its own smallest."""
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
    print("upstream prints, and nobody minds")
    return _REAL.load(request)


def without_rembg() -> None:
    """Upstream's decoding imports a background remover that it does not need."""
    sys.modules.setdefault("rembg", types.ModuleType("rembg"))
