"""Plane sweep: depth of one picture from how well its neighbours, warped through a series of planes, match it.

Collins, "A space-sweep approach to true multi-image matching", CVPR 1996.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float32, Float64

from experts.depth.semi_global import aggregated, best_labels
from experts.intrinsics import Intrinsics


@dataclass(frozen=True, kw_only=True)
class SweepSettings:
    """How one picture is swept. Pixels are those of the swept picture."""

    window_px: int = 7
    """Side of the square over which two pictures are correlated."""
    noise_grey: float = 2.0
    """Noise of the pictures in grey levels: contrast below it does not count as a match."""
    small_step: float = 0.1
    """Penalty of two neighbouring pixels one plane apart, in units of 1 - correlation."""
    large_step: float = 0.6
    """Penalty of two neighbouring pixels more than one plane apart."""
    plane_px: float = 1.0
    """Largest parallax between two consecutive planes ..."""
    planes: tuple[int, int] = (32, 64)
    """... within these numbers of planes."""


@dataclass(frozen=True, kw_only=True)
class View:
    """A picture without lens distortion, and its pose."""

    grey: Float32[np.ndarray, "h w"]
    """Grey levels, 0 to 255."""
    cam_from_world: Float64[np.ndarray, "4 4"]


@dataclass(frozen=True, kw_only=True)
class DepthView:
    """A view with depth that may be wrong."""

    view: View
    z: Float32[np.ndarray, "h w"]
    """Along the viewing axis, in path units; NaN where unknown."""
    correlation: Float32[np.ndarray, "h w"]
    """Mean normalised cross-correlation with other views at that depth, -1 to 1."""


def swept(
    view: View, neighbours: Sequence[View], camera: Intrinsics, z_range: tuple[float, float], settings: SweepSettings
) -> DepthView:
    """Depth of a view between the two values of `z_range`, by semi-global matching over planes even in 1/z.

    `camera` is the pinhole camera of all views.
    """
    moves = [each.cam_from_world @ np.linalg.inv(view.cam_from_world) for each in neighbours]
    near, far = z_range
    farthest = max(float(np.linalg.norm(move[:3, 3])) for move in moves)
    parallax_px = camera.fx_px * farthest * (1 / near - 1 / far)
    count = int(np.clip(np.ceil(parallax_px / settings.plane_px), *settings.planes))
    inverse_z = np.linspace(1 / far, 1 / near, count)
    reference = _Windows.of(view.grey, settings)
    matched = np.empty((count, *view.grey.shape), dtype=np.float32)
    for plane, w in enumerate(inverse_z):
        warped = [
            _through_plane(each.grey, move, float(w), camera) for each, move in zip(neighbours, moves, strict=True)
        ]
        matched[plane] = _mean_correlation(reference, warped, settings)
    label = best_labels(aggregated(1 - matched, settings.small_step, settings.large_step))
    found = np.take_along_axis(matched, np.round(label).astype(np.int64)[None], 0)[0]
    z = 1 / (inverse_z[0] + label * (inverse_z[1] - inverse_z[0]))
    return DepthView(view=view, z=z.astype(np.float32), correlation=found)


def rendered(view: View, known: Sequence[DepthView], camera: Intrinsics, settings: SweepSettings) -> DepthView:
    """Depth of a view that was not swept: the median of what the known views have there.

    Its correlation is that with the first two of the known views.
    """
    stack = np.sort([_forward_warped(each, view, camera) for each in known], axis=0)  # NaN last
    middle = np.maximum(np.isfinite(stack).sum(axis=0) - 1, 0) // 2
    z = np.take_along_axis(stack, middle[None], 0)[0]
    reference = _Windows.of(view.grey, settings)
    warped = [_backward_warped(each.view, view, z, camera) for each in known[:2]]
    return DepthView(view=view, z=z, correlation=_mean_correlation(reference, warped, settings))


@dataclass(frozen=True, kw_only=True)
class Projection:
    """The points of a view's pixels in another camera. NaN behind it, and where depth is unknown."""

    x_px: Float32[np.ndarray, "h w"]
    y_px: Float32[np.ndarray, "h w"]
    z: Float32[np.ndarray, "h w"]
    parallax_px: Float32[np.ndarray, "h w"]
    """Displacement in pixels per unit of ln of the first view's depth."""

    def sampled(self, picture: Float32[np.ndarray, "h w"], interpolation: int, outside: float) -> np.ndarray:
        """Values of the other picture at the points, `outside` where there is none."""
        x, y = (np.clip(np.nan_to_num(each, nan=-9), -9, 32000) for each in (self.x_px, self.y_px))
        return cv2.remap(picture, x, y, interpolation, borderValue=outside)


def projected(z: Float32[np.ndarray, "h w"], view: View, other: View, camera: Intrinsics) -> Projection:
    """The points that a view has at depth `z`, in the camera of another view."""
    move = (other.cam_from_world @ np.linalg.inv(view.cam_from_world)).astype(np.float32)
    ray_x = ((np.arange(camera.width_px) - camera.cx_px) / camera.fx_px).astype(np.float32)
    ray_y = ((np.arange(camera.height_px) - camera.cy_px) / camera.fy_px).astype(np.float32)[:, None]
    along = [z * (row[0] * ray_x + (row[1] * ray_y + row[2])) for row in move[:3, :3]]
    x, y, ahead = (part + shift for part, shift in zip(along, move[:3, 3], strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):
        ahead = np.where(ahead > 0, ahead, np.float32("nan"))
        x, y = x / ahead, y / ahead
        parallax = np.hypot(along[0] - x * along[2], along[1] - y * along[2]) / ahead
    focal = np.array([camera.fx_px, camera.fy_px], dtype=np.float32)
    middle = np.array([camera.cx_px, camera.cy_px], dtype=np.float32)
    return Projection(
        x_px=focal[0] * x + middle[0], y_px=focal[1] * y + middle[1], z=ahead, parallax_px=focal[0] * parallax
    )


def _forward_warped(known: DepthView, view: View, camera: Intrinsics) -> Float32[np.ndarray, "h w"]:
    """The depth of another view's surfaces in this view, in any order; NaN where none is seen."""
    there = projected(known.z, known.view, view, camera)
    x, y = np.round(there.x_px), np.round(there.y_px)
    with np.errstate(invalid="ignore"):
        inside = (x >= 0) & (x < camera.width_px) & (y >= 0) & (y < camera.height_px)
    z = np.full((camera.height_px, camera.width_px), np.nan, dtype=np.float32)
    z[y[inside].astype(np.int64), x[inside].astype(np.int64)] = there.z[inside]
    return z


def _backward_warped(
    other: View, view: View, z: Float32[np.ndarray, "h w"], camera: Intrinsics
) -> Float32[np.ndarray, "h w"]:
    """The picture of another view as this view sees it at depth `z`; -1 where unknown."""
    return projected(z, view, other, camera).sampled(other.grey, cv2.INTER_LINEAR, -1.0)


def _through_plane(
    grey: Float32[np.ndarray, "h w"], move: Float64[np.ndarray, "4 4"], inverse_z: float, camera: Intrinsics
) -> Float32[np.ndarray, "h w"]:
    """Another picture as this view sees it on the plane at 1/z; -1 outside it."""
    homography = move[:3, :3].copy()
    homography[:, 2] += move[:3, 3] * inverse_z
    homography = camera.matrix @ homography @ np.linalg.inv(camera.matrix)
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return cv2.warpPerspective(grey, homography, (grey.shape[1], grey.shape[0]), flags=flags, borderValue=-1.0)


@dataclass(frozen=True, kw_only=True)
class _Windows:
    """A picture with mean and variance of the window around each pixel."""

    grey: Float32[np.ndarray, "h w"]
    mean: Float32[np.ndarray, "h w"]
    variance: Float32[np.ndarray, "h w"]

    @classmethod
    def of(cls, grey: Float32[np.ndarray, "h w"], settings: SweepSettings) -> "_Windows":
        mean = _window_mean(grey, settings)
        variance = np.maximum(_window_mean(grey * grey, settings) - mean * mean, 0)
        return cls(grey=grey, mean=mean, variance=variance + np.float32(settings.noise_grey**2))


def _mean_correlation(
    reference: _Windows, warped: Sequence[Float32[np.ndarray, "h w"]], settings: SweepSettings
) -> Float32[np.ndarray, "h w"]:
    """Mean correlation with the warped pictures that show the pixel (are not -1 there); 0 where none does."""
    total, shown_by = np.zeros_like(reference.grey), np.zeros_like(reference.grey)
    for grey in warped:
        other = _Windows.of(grey, settings)
        joint = _window_mean(reference.grey * grey, settings) - reference.mean * other.mean
        shown = (grey >= 0).astype(np.float32)
        total += shown * joint / np.sqrt(reference.variance * other.variance)
        shown_by += shown
    return total / np.maximum(shown_by, 1)


def _window_mean(values: Float32[np.ndarray, "h w"], settings: SweepSettings) -> Float32[np.ndarray, "h w"]:
    return cv2.blur(values, (settings.window_px, settings.window_px))
