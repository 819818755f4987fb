"""The package depth_anything_3 (0.1.1, Apache-2.0): imported without unused dependencies; its variants and its
networks."""

import os
import sys
import warnings
from collections.abc import Callable, Sequence
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
from experts.runtime.transfer import Copy, fetched, sent


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


class DepthAnything3Network:
    """Upstream's model for windows of several clips; see `experts.runtime.per_window.WindowNetwork`.

    Upstream's `inference` takes one window, although its networks take several. Three of its steps use statistics of
    all of them (the alignment with the metric depth, twice the filling of the sky): here, of each window alone.
    """

    def __init__(self, upstream: Any, device: str) -> None:
        self.upstream, self.device = upstream, device
        network = upstream.model
        for part in (network, *(getattr(network, name, None) for name in ("da3", "da3_metric"))):
            for step in _POOLING_STEPS:
                if hasattr(part, step):
                    setattr(part, step, _for_each_window(getattr(part, step)))

    def prepared(self, window: Sequence[UInt8[np.ndarray, "h w 3"]], *, padded: bool) -> Copy:
        """Starts copying a window to the device. Its pictures have the processed size."""
        return sent(np.stack(window), self.device)

    def infer(self, inputs: Sequence[Copy]) -> list[Any]:
        """Upstream's output for each window."""
        import torch

        with torch.inference_mode():
            pixels = torch.stack([window.on_device() for window in inputs])
            images = pixels.permute(0, 1, 4, 2, 3).contiguous().float().div(255)
            images = self.upstream.input_processor.NORMALIZE(images)
            output = self.upstream(images, ref_view_strategy="middle", export_feat_layers=[])
            return [
                type(output)({name: _fetched(row[name]) for name in _OUTPUTS if name in row})
                for row in _windows_of(output)
            ]

    def received(self, output: Any) -> Any:
        """Upstream's `Prediction` of one window."""
        arrived = {name: value.on_host() if isinstance(value, Copy) else value for name, value in output.items()}
        return self.upstream.output_processor(type(output)(arrived))


_POOLING_STEPS = ("_process_mono_sky_estimation", "_apply_depth_alignment", "_handle_sky_regions")
_OUTPUTS = ("depth", "depth_conf", "extrinsics", "intrinsics", "sky", "is_metric", "scale_factor")


def _for_each_window(step: Callable[..., Any]) -> Callable[..., Any]:
    """The step of upstream, which takes one or two outputs and returns the first one changed, for each window alone.

    It is seeded, because upstream samples at random to compute quantiles.
    """

    def steps(*outputs: Any) -> Any:
        import torch

        changed = []
        for windows in zip(*(_windows_of(output) for output in outputs), strict=True):
            torch.manual_seed(_SEED)
            changed.append(step(*windows))
        return changed[0] if len(changed) == 1 else _together(changed)

    return steps


def _windows_of(output: Any) -> list[Any]:
    """The output of a batch as one of a batch of one for each window."""
    import torch

    def row(value: Any, number: int) -> Any:
        if isinstance(value, torch.Tensor):
            return value[number : number + 1]
        return value[number] if isinstance(value, tuple) else value

    count = len(output["depth"])
    if count == 1:
        return [output]
    return [type(output)({name: row(value, n) for name, value in output.items()}) for n in range(count)]


def _together(windows: Sequence[Any]) -> Any:
    """The opposite of `_windows_of`. What is no tensor becomes a tuple of one value per window."""
    import torch

    def joined(values: tuple[Any, ...]) -> Any:
        return torch.cat(values) if isinstance(values[0], torch.Tensor) else values

    names = windows[0]
    return type(names)({name: joined(tuple(window[name] for window in windows)) for name in names})


def _fetched(value: Any) -> Any:
    import torch

    return fetched(value) if isinstance(value, torch.Tensor) else value


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

        def forward(self, image: Any, *inputs: Any, **options: Any) -> Any:
            dtype = placement.torch_dtype
            with torch.inference_mode(), torch.autocast(image.device.type, dtype, enabled=dtype != torch.float32):
                output = self.model(image, *inputs, **options)
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
