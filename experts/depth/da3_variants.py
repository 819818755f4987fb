"""Which networks and weights of Depth Anything 3 there are, and the packages that they need."""

from dataclasses import dataclass

from experts.runtime.model_expert import Package


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Which networks, and whose weights."""

    anyview: str | None = None
    """Upstream's configuration of the any-view network: cameras, and depth up to scale."""
    metric: str | None = None
    """... of the metric network: depth in metres, and sky."""
    weights: tuple[tuple[str, str], ...]
    """(checkpoint, branch of the nested network that it fills; "" the whole)."""


def _joined(anyview: str, checkpoint: str) -> Variant:
    weights = ((checkpoint, "da3"), ("da3metric-large", "da3_metric"))
    return Variant(anyview=anyview, metric="da3metric-large", weights=weights)


DEFAULT = "base"
VARIANTS: dict[str, Variant] = {
    "base": _joined("da3-base", "da3-base"),
    "small": _joined("da3-small", "da3-small"),
    "large": _joined("da3-large", "da3-large-1.1"),
    "giant": _joined("da3-giant", "da3-giant-1.1"),
    "relative": Variant(anyview="da3-base", weights=(("da3-base", ""),)),
    "metric": Variant(metric="da3metric-large", weights=(("da3metric-large", ""),)),
    "nested": Variant(anyview="da3-giant", metric="da3metric-large", weights=(("da3nested-giant-large-1.1", ""),)),
}
"""By name. "relative": no metres. "metric": depth alone, and only where the focal length is known. Both networks: as
"nested" joins them, which is upstream's own code over the named weights."""

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
"""Without dependencies: upstream's own list pins numpy below 2 and names what is not used here."""
