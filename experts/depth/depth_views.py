"""Frames with depth and a known camera: lookup of world points in them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from experts.intrinsics import Intrinsics
from experts.signals import CameraPath, Depth


@dataclass(frozen=True, kw_only=True)
class UnprojectionSettings:
    """Which depth is used, and how it is compared. Pixels refer to the working size."""

    rim_px: float = 2.0
    """Depth this close to the border of a mask is ignored, in pixels of the coarser of depth map and mask (chosen)."""
    relative_sigma: float = 0.15
    """Largest σ / z of usable depth (chosen)."""
    same_depth: float = 0.03
    """Two depths belong to one surface if they differ by less than this share ..."""
    same_depth_sigmas: float = 2.0
    """... plus this many of their joint σ (chosen)."""
    border_px: int = 3
    """This close to the border of the picture, or to a nearer surface, an object may continue unseen (chosen)."""
    occluder: float = 0.04
    """A surface nearer by this share occludes (chosen: 0.12 m at 3 m) ..."""
    occluder_sigmas: float = 0.5
    """... plus this many σ: neighbouring pixels share most of their error."""


@dataclass(frozen=True, kw_only=True)
class View:
    """Depth of a frame at working size, and its camera."""

    z: Float32[np.ndarray, "h w"]
    """Depth along the viewing axis; NaN where unknown or too uncertain."""
    relative_sigma: Float32[np.ndarray, "h w"]
    """σ_z / z."""
    camera: Intrinsics
    """At working size."""
    world_from_cam: Float64[np.ndarray, "4 4"]
    position_sigma: float
    """σ per axis of the camera's position, in path units."""
    rotation_sigma_rad: float
    """σ per axis of the camera's rotation."""
    rim_px: int
    """Depth this close to the border of a mask is ignored, at working size."""


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """World points compared with the depth of one view."""

    row: Int64[np.ndarray, "p"]
    column: Int64[np.ndarray, "p"]
    """Nearest pixel; 0 for points outside the picture."""
    seen: Bool[np.ndarray, "p"]
    """The view has a surface at the point's depth."""
    through: Bool[np.ndarray, "p"]
    """The view sees a surface behind the point."""
    hidden: Bool[np.ndarray, "p"]
    """The view sees a surface in front of the point."""


def views_of(
    frames: Int64[np.ndarray, "n"],
    size: tuple[int, int],
    depth: Depth,
    path: CameraPath,
    settings: UnprojectionSettings,
) -> list[View | None]:
    """The view of each frame, at (height, width) `size`; None where depth or pose is unknown. A camera without
    translation is at the origin."""
    fixed = path.motion in ("static", "rotation_only")
    found: list[View | None] = []
    for d, c in zip(_rows(depth.frames, frames), _rows(path.frames, frames), strict=True):
        pose = path.world_from_cam[c].copy()
        if fixed:
            pose[:3, 3] = np.nan_to_num(pose[:3, 3], nan=0.0)
        if d < 0 or c < 0 or not path.registered[c] or not np.all(np.isfinite(pose)):
            found.append(None)
            continue
        z, sigma = _resampled(depth.z[d], size), _resampled(depth.relative_sigma[d], size)
        with np.errstate(invalid="ignore"):
            good = np.isfinite(z) & (z > 0) & (sigma <= settings.relative_sigma)
        position_sigma, rotation_sigma = path.position_sigma[c], path.rotation_sigma_rad[c]
        found.append(
            View(
                z=np.where(good, z, np.float32("nan")),
                relative_sigma=np.where(good, sigma, np.float32("nan")),
                camera=path.intrinsics.scaled(size[1], size[0]),
                world_from_cam=pose,
                position_sigma=float(np.nan_to_num(position_sigma)),
                rotation_sigma_rad=float(np.nan_to_num(rotation_sigma)),
                rim_px=round(settings.rim_px * max(1.0, size[1] / depth.z.shape[2])),
            )
        )
    return found


def _rows(frames: Int64[np.ndarray, "n"], wanted: Int64[np.ndarray, "m"]) -> Int64[np.ndarray, "m"]:
    """Row of each wanted frame, -1 where it is missing."""
    at = np.searchsorted(frames, wanted).clip(0, max(0, len(frames) - 1))
    return np.where(frames[at] == wanted, at, -1) if len(frames) else np.full(len(wanted), -1)


def _resampled(values: Float32[np.ndarray, "a b"], size: tuple[int, int]) -> Float32[np.ndarray, "h w"]:
    """Nearest-neighbour values: interpolation across a border would invent surfaces."""
    row = ((np.arange(size[0]) + 0.5) * values.shape[0] / size[0]).astype(int)
    column = ((np.arange(size[1]) + 0.5) * values.shape[1] / size[1]).astype(int)
    return np.ascontiguousarray(values[row[:, None], column[None]])


def looked_up(xyz: Float64[np.ndarray, "p 3"], view: View, settings: UnprojectionSettings) -> Lookup:
    """Compares world points with the depth of a view."""
    cam = (xyz - view.world_from_cam[:3, 3]) @ view.world_from_cam[:3, :3]
    xy = view.camera.project(cam)
    inside = view.camera.contains(xy)
    at = np.round(np.where(inside[:, None], xy, 0)).astype(np.int64)
    z, sigma = view.z[at[:, 1], at[:, 0]], view.relative_sigma[at[:, 1], at[:, 0]]
    tolerance = settings.same_depth + settings.same_depth_sigmas * np.sqrt(2) * sigma
    with np.errstate(invalid="ignore", divide="ignore"):
        share = z / cam[:, 2] - 1
        seen, through = inside & (np.abs(share) <= tolerance), inside & (share > tolerance)
        return Lookup(row=at[:, 1], column=at[:, 0], seen=seen, through=through, hidden=inside & (share < -tolerance))
