"""Where an object is, roughly, if it has no box in the world: from points well inside it that agree.

The points are triangulated ones (no dense depth), or the depth in the middle of a detector's box (no mask). They lie on
the visible surface; the object's middle lies behind them by an unknown part of its extent, which σ includes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy import ndimage

from experts.depth.depth_views import View
from experts.objects.detections import SegmentedFrame
from experts.objects.mask_points import MaskPoints, at_border
from experts.objects.object_following import Track
from experts.signals import CameraPath, ImageTracks, SparsePoints


@dataclass(frozen=True, kw_only=True)
class RoughSettings:
    """Chosen; checked on rendered rooms (`tests/experts/objects/test_rough_places.py`)."""

    rim_px: int = 2
    """Points this close to the border of a mask may be behind it."""
    inner: float = 0.5
    """Share of each side of a box in which its object is expected."""
    least_points: int = 4
    """Smallest number of triangulated points."""
    outlier: float = 0.05
    """Largest outlier probability of a triangulated point."""
    agreeing: float = 0.8
    """Smallest share of the points whose depth is that of their median, within the shorter side of what is seen ..."""
    agreeing_frames: float = 0.9
    """... and of the frames whose points have one place ..."""
    apart: float = 0.75
    """... within this share of the longer side: the surface of a cube is at most 0.87 of a side from its middle."""
    points: int = 300
    """Largest number of points per frame (cost)."""
    extent: float = 0.3
    """σ of the middle per axis, as a share of the longer side of what is seen ..."""
    cut: float = 0.8
    """... and where no frame shows the object whole."""


def points_inside(
    points: SparsePoints,
    path: CameraPath,
    frame: int,
    mask: Bool[np.ndarray, "h w"],
    is_box: bool,
    shape: tuple[int, int],
    settings: RoughSettings,
) -> MaskPoints | None:
    """Triangulated points that a frame of (height, width) `shape` shows well inside a mask (or a box); None where they
    are too few or disagree."""
    pose = pose_of(path, frame)
    seen = (points.observation_frame == frame) & (
        points.outlier_probability[points.observation_point] <= settings.outlier
    )
    if pose is None or not seen.any():
        return None
    size = np.array(mask.shape[::-1])
    at = np.round((points.observation_xy_px[seen] + 0.5) * size / shape[::-1] - 0.5).astype(int)
    at = np.clip(at, 0, size - 1)
    deep = middle_of(mask, settings.inner) if is_box else _eroded(mask, settings.rim_px)
    rows = points.observation_point[seen][deep[at[:, 1], at[:, 0]]]
    xyz = points.xyz_world[rows]
    if len(rows) < settings.least_points:
        return None
    focal_px = path.intrinsics.scaled(mask.shape[1], mask.shape[0]).fx_px
    near = _agreeing((xyz - pose[:3, 3]) @ pose[:3, 2], mask, focal_px, settings)
    return None if near is None else _on_surface(xyz[near], pose, points.range_relative_sigma[rows][near])


def observed(points: SparsePoints, frames: Int64[np.ndarray, "n"]) -> ImageTracks:
    """The observations of triangulated points as tracks in the image."""
    xy = np.full((len(points.xyz_world), len(frames), 2), np.nan, dtype=np.float32)
    rows = np.isin(points.observation_frame, frames)
    column = np.searchsorted(frames, points.observation_frame[rows])
    xy[points.observation_point[rows], column] = points.observation_xy_px[rows]
    return ImageTracks(frames=frames, xy_px=xy, provenance=points.provenance)


def central_points(mask: Bool[np.ndarray, "h w"], view: View, settings: RoughSettings) -> MaskPoints | None:
    """Points by depth in the middle of a box; None where they disagree, as in a chair through which a wall is seen."""
    row, column = np.nonzero(middle_of(mask, settings.inner) & np.isfinite(view.z))
    if len(row) < 4 * settings.least_points:
        return None
    few = np.unique(np.linspace(0, len(row) - 1, settings.points).round().astype(int))
    row, column = row[few], column[few]
    rays = view.camera.rays(np.stack([column, row], axis=1).astype(np.float64))
    cam = rays / rays[:, 2:] * view.z[row, column, None]
    near = _agreeing(cam[:, 2], mask, view.camera.fx_px, settings)
    if near is None:
        return None
    xyz = cam[near] @ view.world_from_cam[:3, :3].T + view.world_from_cam[:3, 3]
    return _on_surface(xyz, view.world_from_cam, view.relative_sigma[row, column][near].astype(np.float64))


def rough_place(
    track: Track,
    frames: Int64[np.ndarray, "n"],
    found: Sequence[SegmentedFrame],
    parts: Sequence[Sequence[MaskPoints | None]],
    path: CameraPath,
    settings: RoughSettings,
) -> tuple[Float64[np.ndarray, "3"], float] | None:
    """The middle of an object in the world and its σ per axis; None where its frames disagree, or none has points."""
    seen = places_of(track, frames, found, parts, path)
    if not seen:
        return None
    extent = settings.cut if all(place.is_cut for place in seen) else settings.extent
    seen = [place for place in seen if not place.is_cut] or seen
    xyz, side = np.array([place.xyz for place in seen]), float(np.median([place.side for place in seen]))
    middle = np.median(xyz, axis=0)
    near = np.linalg.norm(xyz - middle, axis=1) <= settings.apart * side
    if near.mean() < settings.agreeing_frames:
        return None
    measured = float(np.median([place.sigma for place in seen]))
    spread = float(np.sqrt(np.mean(np.sum((xyz[near] - middle) ** 2, axis=1)) / 3))
    return middle, float(np.sqrt((extent * side) ** 2 + measured**2 + spread**2))


@dataclass(frozen=True, kw_only=True)
class PlaceInFrame:
    """Where one frame sees an object."""

    xyz: Float64[np.ndarray, "3"]
    """Median of its points, in the world."""
    camera: Float64[np.ndarray, "3"]
    """Position of the camera."""
    side: float
    """Longer side of what is seen, at that distance."""
    sigma: float
    """Of the distance."""
    is_cut: bool
    """Whether the object reaches the border of the picture."""


def places_of(
    track: Track,
    frames: Int64[np.ndarray, "n"],
    found: Sequence[SegmentedFrame],
    parts: Sequence[Sequence[MaskPoints | None]],
    path: CameraPath,
) -> list[PlaceInFrame]:
    """Of each frame that has points of the object."""
    out = []
    for n, d in sorted(track.seen.items()):
        part, pose = parts[n][d], pose_of(path, int(frames[n]))
        if part is None or not len(part) or pose is None:
            continue
        mask = found[n].ids == d
        xyz = np.median(part.xyz, axis=0)
        z = float((xyz - pose[:3, 3]) @ pose[:3, 2])
        focal = path.intrinsics.scaled(mask.shape[1], mask.shape[0]).fx_px
        out.append(
            PlaceInFrame(
                xyz=xyz,
                camera=pose[:3, 3],
                side=max(_sides(mask)) / focal * abs(z),
                sigma=float(np.median(part.relative_sigma)) * float(np.linalg.norm(xyz - pose[:3, 3])),
                is_cut=bool((mask & at_border(mask.shape, 1)).any()),
            )
        )
    return out


def pose_of(path: CameraPath, frame: int) -> Float64[np.ndarray, "4 4"] | None:
    """World from camera; None where it is not known. A camera without translation is at the origin."""
    rows = np.flatnonzero((path.frames == frame) & path.registered)
    if not len(rows):
        return None
    pose = path.world_from_cam[rows[0]].copy()
    if path.motion in ("static", "rotation_only"):
        pose[:3, 3] = np.nan_to_num(pose[:3, 3], nan=0.0)
    return pose if np.isfinite(pose).all() else None


def middle_of(mask: Bool[np.ndarray, "h w"], share: float) -> Bool[np.ndarray, "h w"]:
    """The pixels of a mask in the middle of its bounding box: this share of each side."""
    out = np.zeros_like(mask)
    row, column = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if len(row):
        top, bottom = _middle(int(row[0]), int(row[-1]) + 1, share)
        left, right = _middle(int(column[0]), int(column[-1]) + 1, share)
        out[top:bottom, left:right] = mask[top:bottom, left:right]
    return out


def _middle(first: int, stop: int, share: float) -> tuple[int, int]:
    cut = round((stop - first) * (1 - share) / 2)
    return first + cut, stop - cut


def _eroded(mask: Bool[np.ndarray, "h w"], rim_px: int) -> Bool[np.ndarray, "h w"]:
    return np.asarray(ndimage.binary_erosion(mask, np.ones((2 * rim_px + 1, 2 * rim_px + 1)), border_value=1))


def _sides(mask: Bool[np.ndarray, "h w"]) -> tuple[int, int]:
    row, column = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return (int(row[-1] - row[0]) + 1, int(column[-1] - column[0]) + 1) if len(row) else (1, 1)


def _agreeing(
    z: Float64[np.ndarray, "p"], mask: Bool[np.ndarray, "h w"], focal_px: float, settings: RoughSettings
) -> Bool[np.ndarray, "p"] | None:
    """Points at the depth of their median, within the shorter side of the mask; None if they are too few."""
    middle = float(np.median(z))
    near = np.abs(z - middle) <= min(_sides(mask)) / focal_px * abs(middle)
    return near if near.mean() >= settings.agreeing else None


def _on_surface(
    xyz: Float64[np.ndarray, "p 3"], pose: Float64[np.ndarray, "4 4"], relative_sigma: Float64[np.ndarray, "p"]
) -> MaskPoints:
    count = len(xyz)
    return MaskPoints(
        xyz=xyz, step=np.zeros((count, 3, 2)), ray=xyz - pose[:3, 3], relative_sigma=relative_sigma,
        truncated=np.ones(count, dtype=bool), touches_other=np.zeros(count, dtype=bool), inner_px=np.zeros(count),
    )  # fmt: skip
