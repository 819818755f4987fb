"""The network of Orient Anything V1, reimplemented: DINOv2's class token through two linear layers. Needs torch and
transformers.

The layout is the checkpoint's (Orient Anything, CC BY 4.0); parameters are named as there, DINOv2's as in the installed
transformers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experts.checkpoints.weights import load_state
from experts.expert import SetupProblem

_RENAMED = {  # in transformers 5
    "attention.attention.query": "attention.q_proj",
    "attention.attention.key": "attention.k_proj",
    "attention.attention.value": "attention.v_proj",
    "attention.output.dense": "attention.o_proj",
}
_BACKBONES = {384: (12, 6), 768: (12, 12), 1024: (24, 16)}  # width: layers, heads
WIDTHS = {"small": 384, "base": 768, "large": 1024}
"""Width of each published size."""


def make_network(width: int, outputs: int) -> Any:
    """A torch module with random weights in evaluation mode: (B, 3, 224, 224) normalised pictures -> (B, outputs)."""
    from torch import Tensor, nn
    from transformers import Dinov2Config, Dinov2Model

    layers, heads = _BACKBONES[width]

    class OrientationNet(nn.Module):  # type: ignore[misc]  # torch comes without types here
        def __init__(self) -> None:
            super().__init__()
            self.dinov2 = Dinov2Model(
                Dinov2Config(
                    hidden_size=width,
                    num_hidden_layers=layers,
                    num_attention_heads=heads,
                    image_size=518,
                    patch_size=14,
                )
            )
            self.down_sampler = nn.Module()
            self.down_sampler.net1 = nn.Sequential(nn.Linear(width, outputs), nn.BatchNorm1d(outputs), nn.ReLU())
            self.down_sampler.net2 = nn.Sequential(nn.Linear(outputs, outputs), nn.BatchNorm1d(outputs))

        def forward(self, pixel_values: Tensor) -> Tensor:
            token = self.dinov2(pixel_values=pixel_values).last_hidden_state[:, 0]
            logits: Tensor = self.down_sampler.net2(self.down_sampler.net1(token))
            return logits

    return OrientationNet().eval()


def load_network(checkpoint: Path) -> Any:
    """The network of a checkpoint of any size. Raises `SetupProblem` for another file."""
    state = load_state(checkpoint)
    try:
        outputs, width = state["down_sampler.net1.0.weight"].shape
        network = make_network(width, outputs)
        network.load_state_dict(with_names_of(network.state_dict(), state))
    except (KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:  # other names, other shapes
        cause = f"{checkpoint} holds no weights of Orient Anything V1"
        raise SetupProblem(cause, "it is not loaded: use another file") from error
    return network


def with_names_of(wanted: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters of a checkpoint under the names of the installed transformers: old ones, or those of version 5."""
    renamed = {}
    for name, value in state.items():
        if name not in wanted:
            for old, new in _RENAMED.items():
                name = name.replace(old, new)
        renamed[name] = value
    return renamed
