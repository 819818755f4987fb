"""Which depth of a plane sweep can be trusted: patches on which several views agree and which no view sees through.

Merrell et al., "Real-time visibility-based fusion of depth maps", ICCV 2007.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Bool, Float32

from experts.depth.sweep import DepthView, projected
from experts.intrinsics import Intrinsics


@dataclass(frozen=True, kw_only=True)
class PatchSettings:
    """When a pixel's depth counts. Pixels are those of the swept picture. docs/experts.md has the measured errors."""

    correlation: float = 0.7
    """Least correlation with the neighbours."""
    views: int = 3
    """Least number of other views whose depth agrees ..."""
    agree: float = 0.02
    """... within this share."""
    through: float = 0.08
    """A view that sees a surface farther away by this share contradicts."""
    edge_ratio: float = 1.06
    """Depth within 3 × 3 pixels that differs by more than this factor is an edge."""
    edge_px: int = 6
    """Least distance from an edge."""
    patch_px: int = 9
    """Side of the square around a pixel ..."""
    kept_share: float = 0.85
    """... of which this share must be kept."""
    area_px: int = 770
    """Least area of a patch: slats of a chair give small ones, with the depth of the slats in the gaps."""
    smooth_px: int = 5
    """Side of the square over which the kept depth of a patch is averaged."""
    noise_px: float = 0.1
    """σ of a matched pixel."""
    relative_sigma: float = 0.01
    """Systematic σ_z / z."""


@dataclass(frozen=True, kw_only=True)
class Patches:
    """Trusted depth of one view; NaN elsewhere."""

    z: Float32[np.ndarray, "h w"]
    relative_sigma: Float32[np.ndarray, "h w"]
    """σ_z / z."""

    @property
    def share(self) -> float:
        """Of the picture."""
        return float(np.isfinite(self.z).mean())

    def within(self, valid: Bool[np.ndarray, "h w"] | None) -> "Patches":
        """What lies in the valid area; None: all."""
        unknown = np.float32(0) if valid is None else np.where(valid, np.float32(0), np.float32("nan"))
        return Patches(z=self.z + unknown, relative_sigma=self.relative_sigma + unknown)


def consistent_patches(
    depth: DepthView, others: Sequence[DepthView], camera: Intrinsics, settings: PatchSettings
) -> Patches:
    """The depth of a view in patches that the other views confirm. `camera` is the pinhole camera of all views."""
    agreeing, squares = np.zeros_like(depth.z), np.zeros_like(depth.z)
    contradicted = np.zeros(depth.z.shape, dtype=bool)
    for other in others:
        there = projected(depth.z, depth.view, other.view, camera)
        with np.errstate(invalid="ignore"):
            ratio = there.sampled(other.z, cv2.INTER_NEAREST, np.nan) / there.z
            agrees = np.abs(ratio - 1) <= settings.agree
            contradicted |= ratio > 1 + settings.through
        agreeing += agrees
        squares += np.where(agrees, there.parallax_px**2, 0)
    sure = (depth.correlation >= settings.correlation) & (agreeing >= settings.views) & ~contradicted
    z = _smoothed_in_patches(depth.z, sure & ~_near_edge(depth.z, settings), settings)
    with np.errstate(invalid="ignore", divide="ignore"):
        parallax_px = np.sqrt(_mean(squares, settings.patch_px) / _mean(agreeing, settings.patch_px))
        sigma = np.hypot(settings.noise_px / parallax_px, settings.relative_sigma)
    return Patches(z=z, relative_sigma=np.where(np.isfinite(z), sigma, np.nan).astype(np.float32))


def _near_edge(z: Float32[np.ndarray, "h w"], settings: PatchSettings) -> Bool[np.ndarray, "h w"]:
    """Pixels near a jump of depth."""
    three = np.ones((3, 3), np.uint8)
    farthest = cv2.dilate(np.nan_to_num(z, nan=0.0), three)
    nearest = cv2.erode(np.nan_to_num(z, nan=1e30), three)
    reach = np.ones((2 * settings.edge_px + 1,) * 2, np.uint8)
    return np.asarray(cv2.dilate((farthest > settings.edge_ratio * nearest).astype(np.uint8), reach) > 0)


def _smoothed_in_patches(
    z: Float32[np.ndarray, "h w"], kept: Bool[np.ndarray, "h w"], settings: PatchSettings
) -> Float32[np.ndarray, "h w"]:
    """Depth of pixels surrounded by kept ones: the mean 1/z of the kept ones around, which is exact on planes."""
    share = _mean(kept.astype(np.float32), settings.patch_px)
    weight = _mean(kept.astype(np.float32), settings.smooth_px)
    inverse = _mean(np.where(kept, 1 / z, 0).astype(np.float32), settings.smooth_px)
    inside = _large((share >= settings.kept_share) & (weight > 0), settings.area_px)
    return np.where(inside, weight / np.where(inside, inverse, 1), np.float32("nan")).astype(np.float32)


def _large(inside: Bool[np.ndarray, "h w"], area_px: int) -> Bool[np.ndarray, "h w"]:
    """Those of the connected patches that have at least this area."""
    _, patch, stats, _ = cv2.connectedComponentsWithStats(inside.astype(np.uint8), connectivity=4)
    return inside & (stats[patch, cv2.CC_STAT_AREA] >= area_px)


def _mean(values: Float32[np.ndarray, "h w"], side_px: int) -> Float32[np.ndarray, "h w"]:
    return cv2.blur(values, (side_px, side_px), borderType=cv2.BORDER_CONSTANT)
