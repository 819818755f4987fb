"""The package depth_anything_3 (0.1.1, Apache-2.0): imported without unused dependencies; its variants and its
networks."""

import os
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import UInt8

from experts.checkpoints.weights import load_state
from experts.expert import SetupProblem
from experts.runtime.device import Placement
from experts.runtime.model_expert import Package


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Networks and weights of a variant."""

    anyview: str | None = None
    """Upstream's configuration of the any-view network: cameras, and depth up to scale."""
    metric: str | None = None
    """Upstream's configuration of the metric network: depth in metres, and sky."""
    weights: tuple[tuple[str, str], ...]
    """(checkpoint, branch of the nested network that it fills; "" for all)."""


def _two_networks(anyview: str, checkpoint: str) -> Variant:
    weights = ((checkpoint, "da3"), ("da3metric-large", "da3_metric"))
    return Variant(anyview=anyview, metric="da3metric-large", weights=weights)


DEFAULT_VARIANT = "base"
VARIANTS: dict[str, Variant] = {
    "base": _two_networks("da3-base", "da3-base"),
    "small": _two_networks("da3-small", "da3-small"),
    "large": _two_networks("da3-large", "da3-large-1.1"),
    "giant": _two_networks("da3-giant", "da3-giant-1.1"),
    "relative": Variant(anyview="da3-base", weights=(("da3-base", ""),)),
    "metric": Variant(metric="da3metric-large", weights=(("da3metric-large", ""),)),
    "nested": Variant(anyview="da3-giant", metric="da3metric-large", weights=(("da3nested-giant-large-1.1", ""),)),
}
"""By name. "relative": without metres. "metric": depth alone, only with a known focal length. The others have both
networks, joined as in upstream's "nested" variant."""

PACKAGES = (
    Package(module="torch", install="pip install torch torchvision", licence="BSD-3-Clause"),
    Package(module="torchvision", install="pip install torchvision", licence="BSD-3-Clause"),
    Package(
        module="depth_anything_3",
        install="pip install --no-deps depth-anything-3==0.1.1"
        " && pip install addict einops omegaconf imageio safetensors huggingface_hub",
        licence="Apache-2.0",
    ),
    Package(module="addict", install="pip install addict", licence="MIT"),
    Package(module="einops", install="pip install einops", licence="MIT"),
    Package(module="omegaconf", install="pip install omegaconf", licence="BSD-3-Clause"),
    Package(module="imageio", install="pip install imageio", licence="BSD-2-Clause"),
    Package(module="safetensors", install="pip install safetensors", licence="Apache-2.0"),
    Package(module="huggingface_hub", install="pip install huggingface_hub", licence="Apache-2.0"),
)
"""Installed without dependencies: upstream's list requires numpy < 2 and names packages that are not used here."""


_REPLACED = {"depth_anything_3.utils.export": "export", "depth_anything_3.utils.pose_align": "align_poses_umeyama"}
"""Modules of upstream and what its API imports of them: exporters (moviepy, a second pycolmap), and the alignment with
known cameras (evo, GPL-3). Neither is used here."""
_FILLED_SKY = 0.3
"""Upstream fills in depth where its sky map reaches this value (alignment.py), but reports sky only from 0.5 on."""
_SEED = 0


def import_api() -> Any:
    """Imports `depth_anything_3.api` without the modules in `_REPLACED`. It prints errors only."""
    os.environ.setdefault("DA3_LOG_LEVEL", "ERROR")
    for name, function in _REPLACED.items():
        setattr(sys.modules.setdefault(name, ModuleType(name)), function, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own dependencies' old names
        from depth_anything_3 import api
    return api


def build_model(
    anyview: str | None, metric: str | None, files: Sequence[tuple[str, Path]] | None, placement: Placement
) -> Any:
    """Upstream's model on the device, in evaluation mode.

    Args:
        anyview, metric: names of upstream's configurations. Both: upstream's nested network of the two, which
            gives the any-view depth and cameras one metric scale.
        files: (branch, folder of its checkpoint); branch "da3" or "da3_metric" of a nested network, "" for all. None:
            random weights.
    """
    api = import_api()
    config = _config(api, anyview, metric)
    model = _placed(api, placement)(config)
    for branch, folder in files or ():
        _load(model.get_submodule(f"model.{branch}" if branch else "model"), folder)
    return model.to(placement.device)


def predict(model: Any, pictures: Sequence[UInt8[np.ndarray, "h w 3"]], process_res: int) -> Any:
    """Upstream's `Prediction` for pictures of one size.

    It is seeded, because upstream samples at random to compute quantiles.
    """
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(_SEED)
    return model.inference(list(pictures), ref_view_strategy="middle", process_res=process_res, export_kwargs={})


def _config(api: Any, anyview: str | None, metric: str | None) -> Any:
    """Upstream's configuration without the Gaussian heads, which import e3nn and gsplat and are not used."""
    parts = {"anyview": anyview, "metric": metric}
    configs = {part: api.load_config(api.MODEL_REGISTRY[name]) for part, name in parts.items() if name is not None}
    for config in configs.values():
        for head in ("gs_head", "gs_adapter"):
            config.pop(head, None)
    if len(configs) == 1:
        return next(iter(configs.values()))
    nested = {"path": "depth_anything_3.model.da3", "name": "NestedDepthAnything3Net", "args": "as_params"}
    return {"__object__": nested, **configs}


def _placed(api: Any, placement: Placement) -> Any:
    """Upstream's class with our precision and sky mask. Upstream uses bfloat16 even where the GPU only emulates it, and
    reports less sky than it fills in."""
    import torch

    class Placed(api.DepthAnything3):  # type: ignore[misc]
        def __init__(self, config: Any) -> None:
            torch.nn.Module.__init__(self)
            self.config, self.model, self.device = config, api.create_object(config).eval(), None
            self.input_processor, self.output_processor = api.InputProcessor(), api.OutputProcessor()

        def forward(self, image: Any, *inputs: Any) -> Any:
            dtype = placement.torch_dtype
            with torch.inference_mode(), torch.autocast(image.device.type, dtype, enabled=dtype != torch.float32):
                output = self.model(image, *inputs)
            if "sky" in output:
                output.sky = (output.sky >= _FILLED_SKY).float()
            return output

    return Placed


def _load(network: Any, folder: Path) -> None:
    """Loads a checkpoint into a network. Tensors without a counterpart are ignored.

    Upstream saves a tensor that several layers share under one of its names; it fills in the others.
    """
    state = {name.removeprefix("model."): tensor for name, tensor in load_state(folder / "model.safetensors").items()}
    wanted = network.state_dict()
    shared = {(own.data_ptr(), own.shape): state[name] for name, own in wanted.items() if name in state}
    found = {name: state.get(name, shared.get((own.data_ptr(), own.shape))) for name, own in wanted.items()}
    wrong = [name for name, own in wanted.items() if getattr(found[name], "shape", None) != own.shape]
    if wrong:
        cause = f"weights {folder.name} do not fit this network: {len(wrong)} tensors, the first {wrong[0]}"
        raise SetupProblem(cause, f"spatial-engine weights verify {folder.name}")
    network.load_state_dict(found)
