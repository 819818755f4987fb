"""From σ as an expert states it to σ as it was measured on sets with ground truth: factors, kept as numbers."""

from experts.sigma_maps.applying import QUANTITIES, with_sigma_maps
from experts.sigma_maps.sigma_map import HeldOut, NoMap, SigmaMap
from experts.sigma_maps.sigma_maps import SigmaMaps, packaged_maps, read_maps

__all__ = [
    "QUANTITIES",
    "HeldOut",
    "NoMap",
    "SigmaMap",
    "SigmaMaps",
    "packaged_maps",
    "read_maps",
    "with_sigma_maps",
]
