"""Worker script of SpatialTracker V2 (`environment-spatialtracker.yml`), called with known depth and cameras.

Behaviour of upstream that matters here, at commit 16732307966fbc05beb822b70b1c2d77d89810ce:
- with `full_point=False` it drops queries without good depth and adds others, in another order;
- `fixed_cam=False` refines the cameras, which then leave the given world frame; it also needs its bundle adjustment;
- the visibility is raised by 0.2 before it is returned;
- `Predictor.to` returns nothing; its constructor would download a base model for footage without depth.
"""

import json
import random
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

_VISIBILITY_RAISED = 0.2


class SetupProblem(Exception):  # noqa: N818 - a state of the machine, not a fault of the program
    """ "cause; remedy": what is missing on this machine."""


def load(request: dict[str, Any]) -> Any:
    """The predictor on the GPU.

    The request has `weights` (a folder, or None: random), `upstream` (the checkout) and `support_points`.
    """
    import torch

    if not torch.cuda.is_available():
        raise SetupProblem("SpatialTracker V2 needs a GPU; omit it, or use tapir")
    _seed()
    predictor = import_module("models.SpaTrackV2.models.predictor").Predictor(_arguments(request))
    if request["weights"] is not None:
        state = import_module("safetensors.torch").load_file(Path(request["weights"]) / "model.safetensors")
        found = predictor.load_state_dict(state, strict=False)
        if found.missing_keys:
            raise ValueError(f"the checkpoint lacks {len(found.missing_keys)} tensors, e.g. {found.missing_keys[0]}")
    predictor.spatrack.track_num = request["support_points"]
    predictor.eval()
    predictor.to("cuda")
    return predictor


def run(
    predictor: Any, request: dict[str, Any], arrays: dict[str, np.ndarray]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Tracks of one window.

    Arrays: `video` (n, h, w, 3) uint8 RGB, `z` (n, h, w) float32 with 0 where unknown, `k` (n, 3, 3) and
    `world_from_cam` (n, 4, 4) float32, `queries` (m, 3) float32 (frame, x, y). Returns `xyz` (n, m, 3): x, y in pixels
    and depth; `visibility` and `confidence` (n, m), 0 to 1, as the network defines them.
    """
    import torch

    _seed()
    z = arrays["z"]
    with torch.no_grad(), torch.amp.autocast(device_type="cuda", dtype=getattr(torch, request["dtype"])):
        answer = predictor.forward(
            torch.from_numpy(arrays["video"]).permute(0, 3, 1, 2).float(),
            depth=z,
            unc_metric=(z > 0).astype(np.float32),
            intrs=arrays["k"],
            extrs=arrays["world_from_cam"],
            queries=arrays["queries"],
            iters_track=request["iterations"],
            full_point=True,
            fps=1,
            fixed_cam=True,
            query_no_BA=True,
            stage=1,
            support_frame=len(z) - 1,
            replace_ratio=request["replace_ratio"],
        )
    track2d, visibility, confidence = (answer[at].float().cpu().numpy() for at in (5, 6, 7))
    return {}, {
        "xyz": track2d,
        "visibility": visibility[..., 0] - np.float32(_VISIBILITY_RAISED),
        "confidence": confidence[..., 0],
    }


def _arguments(request: dict[str, Any]) -> dict[str, Any]:
    """The published configuration; without weights that of the checkout."""
    if request["weights"] is not None:
        with (Path(request["weights"]) / "config.json").open(encoding="utf-8") as file:
            stored = json.load(file)
        arguments = dict(stored.get("args", stored))
    else:
        with (Path(request["upstream"]) / "config" / "magic_infer_offline.yaml").open(encoding="utf-8") as file:
            arguments = dict(import_module("yaml").safe_load(file)["model"])
    return {**arguments, "moge_as_base": False}


def _seed() -> None:
    """Upstream samples its support points at random."""
    import torch

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - upstream's own generator
    torch.manual_seed(0)
