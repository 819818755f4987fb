"""Worker script of Orient Anything V2: runs upstream's network on crops. It cannot import our packages.

`load` request: upstream (folder of the checkout), weights (file, or null: random), device, dtype, seed. `run` arrays:
pictures (n, 518, 518, 3) uint8 RGB -> logits (n, 900) float32.
"""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

_OUTPUTS = 900


def load(request: Mapping[str, Any]) -> Any:
    """The network in evaluation mode on its device."""
    import torch

    sys.path.insert(0, request["upstream"])
    from vision_tower import VGGT_OriAny_Ref  # type: ignore[import-not-found]  # in the checkout

    torch.manual_seed(request["seed"])
    network = VGGT_OriAny_Ref(out_dim=_OUTPUTS, dtype=getattr(torch, request["dtype"]), nopretrain=True)
    if request["weights"] is not None:
        network.load_state_dict(torch.load(request["weights"], map_location="cpu", weights_only=True, mmap=True))
    return network.to(request["device"]).eval()


def run(
    network: Any, request: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Processes each picture by itself: a batch of scenes with one view each."""
    import torch

    device = network.get_device()
    pixels = torch.from_numpy(arrays["pictures"]).to(device).permute(0, 3, 1, 2)[:, None].float() / 255
    with torch.no_grad():
        logits = network(pixels).reshape(len(pixels), _OUTPUTS)
    return {}, {"logits": np.asarray(logits.float().cpu().numpy(), dtype=np.float32)}
