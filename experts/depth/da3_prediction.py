"""Converts predictions of Depth Anything 3 to our conventions.

Upstream: cam_from_world (n, 3, 4) in a world of its own; K per view in processed pixels counted from the corner;
z-depth; confidence exp + 1 without upper bound; sky as a mask, or as confidence exactly 1 (nested); the depth of the
sky is filled in.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.runtime.windows import Window
from experts.signals import NoEstimate

PATCH_PX = 14
"""The sides of processed pictures are multiples of this."""
_METRIC_FOCAL_PX = 300.0
"""DA3METRIC's depth is in metres at this focal length, in processed pixels; it scales with the focal length
(alignment.py)."""
_SKY_CONF = 1.0
"""The nested network marks sky by exactly this confidence; elsewhere it is exp + 1."""


@dataclass(frozen=True, kw_only=True)
class DecodingSettings:
    """Plausibility limits of a prediction, and σ from its confidence."""

    plausible_focal: tuple[float, float] = (0.35, 4.0)
    """Focal length as a share of the longer side (110° to 14° across it). Random weights violate it."""
    square_within: float = 0.15
    """Largest |ln fx/fy|: pixels are square."""
    sigma_scale: float = 0.03
    """σ_z / z = sigma_scale · (confidence − 1)^−sigma_power, within floor and ceiling. Raw: an assumed relation, to be
    fitted where true depth is known."""
    sigma_power: float = 0.5
    sigma_floor: float = 0.03
    """Raw: the best published relative errors of such models."""
    sigma_ceiling: float = 0.5
    sigma_without_confidence: float = 0.1
    """σ_z / z of the metric network alone, which has no confidence. Raw."""
    min_known_share: float = 0.02
    """A frame with depth in a smaller share of its pixels has no pose."""
    finite_share: float = 0.99
    """If a smaller share of the depth is finite and > 0, the model has failed."""


def processed_size(width_px: int, height_px: int, process_res: int) -> tuple[int, int]:
    """(width, height) of upstream's "upper_bound_resize". A picture of this size is not resized again."""
    factor = process_res / max(width_px, height_px)
    sides = (max(1, round(width_px * factor)), max(1, round(height_px * factor)))
    width, height = (max(PATCH_PX, (side + PATCH_PX // 2) // PATCH_PX * PATCH_PX) for side in sides)
    return width, height


def decoded(
    prediction: Any, rows: Int64[np.ndarray, "n"], valid: Bool[np.ndarray, "h w"], settings: DecodingSettings
) -> Window | NoEstimate:
    """Poses and depth of one call, in the world and unit of the call.

    Args:
        prediction: upstream's, of the any-view or nested network.
        rows: rows of the frames in the clip.
        valid: pixels of the processed size that show the scene.
    """
    world_from_cam = inverted(np.asarray(prediction.extrinsics))
    k = np.asarray(prediction.intrinsics, dtype=np.float64).copy()
    if world_from_cam is None or not np.isfinite(k).all():
        return NoEstimate(reason="model output is not finite")
    known = ~sky_of(prediction) & valid
    z = depth_where(np.asarray(prediction.depth), known, settings)
    if isinstance(z, NoEstimate):
        return z
    if not known.any():
        return NoEstimate(reason="only sky", detail="no pixel with a depth")
    if (refused := implausible_focal(k, max(z.shape[1:]), settings)) is not None:
        return refused
    k[:, :2, 2] -= 0.5  # the corner of a pixel is half a pixel from its centre
    world_from_cam[np.isfinite(z).mean(axis=(1, 2)) < settings.min_known_share] = np.nan
    return Window(
        rows=rows,
        world_from_cam=world_from_cam,
        k_map=k,
        z=z,
        relative_sigma=relative_sigma(prediction.conf, z, settings),
    )


def metric_depth(
    prediction: Any, camera: Intrinsics, valid: Bool[np.ndarray, "h w"], settings: DecodingSettings
) -> tuple[Float32[np.ndarray, "n h w"], Float32[np.ndarray, "n h w"]] | NoEstimate:
    """Depth in metres and its relative σ from the metric network alone, scaled by the focal length at the processed
    size."""
    height, width = prediction.depth.shape[1:]
    processed = camera.scaled(width, height)
    factor = (processed.fx_px + processed.fy_px) / 2 / _METRIC_FOCAL_PX
    z = depth_where(np.asarray(prediction.depth) * np.float32(factor), ~sky_of(prediction) & valid, settings)
    return z if isinstance(z, NoEstimate) else (z, relative_sigma(None, z, settings))


def sky_of(prediction: Any) -> Bool[np.ndarray, "n h w"]:
    """Sky pixels, whose depth upstream has filled in. Empty for a network without sky detection (any-view alone)."""
    if prediction.sky is not None:
        return np.asarray(prediction.sky).astype(bool)
    if is_metric(prediction) and prediction.conf is not None:
        return np.asarray(prediction.conf) == _SKY_CONF
    return np.zeros(prediction.depth.shape, dtype=bool)


def is_metric(prediction: Any) -> bool:
    """Whether depth and cameras are in metres. (Upstream returns 1, or an empty dictionary for "no".)"""
    return prediction.is_metric == 1


def depth_where(
    depth: Float32[np.ndarray, "n h w"], known: Bool[np.ndarray, "n h w"], settings: DecodingSettings
) -> Float32[np.ndarray, "n h w"] | NoEstimate:
    """Depth of the known pixels, NaN elsewhere."""
    good = np.isfinite(depth) & (depth > 0)
    if known.any() and good[known].mean() < settings.finite_share:
        return NoEstimate(reason="model output is not finite", detail=f"{good[known].mean():.0%} of the depths are")
    return np.where(known & good, depth, np.float32(np.nan))


def relative_sigma(
    conf: Float32[np.ndarray, "n h w"] | None, z: Float32[np.ndarray, "n h w"], settings: DecodingSettings
) -> Float32[np.ndarray, "n h w"]:
    """σ_z / z from confidence; NaN where the depth is NaN."""
    if conf is None:
        sigma = np.full(z.shape, settings.sigma_without_confidence, dtype=np.float32)
    else:
        sure = np.maximum(conf - np.float32(1), np.float32(1e-6))
        sigma = np.clip(
            settings.sigma_scale * sure**-settings.sigma_power, settings.sigma_floor, settings.sigma_ceiling
        )
    return np.where(np.isfinite(z), sigma, np.nan).astype(np.float32)


def implausible_focal(k: Float64[np.ndarray, "n 3 3"], side_px: int, settings: DecodingSettings) -> NoEstimate | None:
    """`NoEstimate` if the median focal length over the views is implausible."""
    fx, fy = np.median(k[:, 0, 0]), np.median(k[:, 1, 1])
    low, high = (side_px * share for share in settings.plausible_focal)
    if low <= fx <= high and low <= fy <= high and abs(np.log(fx / fy)) <= settings.square_within:
        return None
    detail = f"{fx:.3g} and {fy:.3g} px where {low:.0f} to {high:.0f} px, alike, is plausible"
    return NoEstimate(reason="focal length not plausible", detail=detail)


def inverted(cam_from_world: Float32[np.ndarray, "n _ 4"]) -> Float64[np.ndarray, "n 4 4"] | None:
    """world_from_cam with exact rotations; None if an entry is not finite or a matrix is not a rotation."""
    if not np.isfinite(cam_from_world).all() or np.any(np.linalg.det(cam_from_world[:, :3, :3]) < 0.5):
        return None
    rotation = Rotation.from_matrix(cam_from_world[:, :3, :3].astype(np.float64)).inv()
    out = np.tile(np.eye(4), (len(cam_from_world), 1, 1))
    out[:, :3, :3] = rotation.as_matrix()
    out[:, :3, 3] = -rotation.apply(cam_from_world[:, :3, 3].astype(np.float64))
    return out
