"""Is a point of one frame seen again in another? Its depth carried over, compared with what lies there, and back.

A cyclic depth check: lift a pixel of frame a by its depth, project it into b, read b's depth there, lift that and
project it back into a. A point that is seen again lies at the depth that b measured, and comes home to its pixel.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float64

from experts.intrinsics import Intrinsics

SAME_SURFACE = 1.1
"""Four pixels around a place belong to one surface if their depths differ by less than this factor; across a border
there is no depth to read."""


@dataclass(frozen=True, kw_only=True)
class SeenAgain:
    """What frame b says of pixels of frame a, one row each. NaN where it says nothing."""

    xy_b_px: Float64[np.ndarray, "k 2"]
    """Full-size pixel of b where the point should appear; NaN outside the picture, behind the camera, or where a has no
    depth."""
    z_expected: Float64[np.ndarray, "k"]
    """Depth that the point should have in b."""
    z_seen: Float64[np.ndarray, "k"]
    """Depth that b has at that pixel; NaN where it has none, or on the border of two surfaces."""
    back_px: Float64[np.ndarray, "k"]
    """Distance, in full-size pixels of a, between the pixel asked for and where b's own depth leads back to."""

    def agrees(self, relative: float, back_px: float) -> Bool[np.ndarray, "k"]:
        """Seen again: both depths are the same within `relative`, and the way back ends within `back_px`."""
        with np.errstate(invalid="ignore"):
            return (np.abs(self.z_seen / self.z_expected - 1) <= relative) & (self.back_px <= back_px)

    def contradicted(self, relative: float) -> Bool[np.ndarray, "k"]:
        """b sees through the place where the point should be: one of the two depths is wrong, or the thing moved."""
        with np.errstate(invalid="ignore"):
            return self.z_seen > (1 + relative) * self.z_expected

    def hidden(self, relative: float) -> Bool[np.ndarray, "k"]:
        """b sees something nearer there, which may hide the point: nothing is said about it."""
        with np.errstate(invalid="ignore"):
            return self.z_seen < (1 - relative) * self.z_expected


def seen_again(
    xy_a_px: Float[np.ndarray, "k 2"],
    z_a: Float[np.ndarray, "ha wa"],
    z_b: Float[np.ndarray, "hb wb"],
    b_from_a: Float64[np.ndarray, "4 4"],
    camera_a: Intrinsics,
    camera_b: Intrinsics,
) -> SeenAgain:
    """Carries pixels of frame a into frame b and back.

    Args:
        xy_a_px: full-size pixels of a.
        z_a, z_b: depth along the viewing axis, in the unit of `b_from_a`; NaN unknown; any size.
        b_from_a: camera axes of b from those of a.
        camera_a, camera_b: full-size cameras.
    """
    xy_a = np.asarray(xy_a_px, dtype=float)
    rotation, shift = b_from_a[:3, :3], b_from_a[:3, 3]
    xyz_b = unprojected(xy_a, sampled(z_a, camera_a, xy_a), camera_a) @ rotation.T + shift
    xy_b = camera_b.project(xyz_b)
    xy_b[~camera_b.contains(xy_b, border_px=-0.5)] = np.nan
    z_seen = sampled(z_b, camera_b, xy_b)
    back = camera_a.project((unprojected(xy_b, z_seen, camera_b) - shift) @ rotation)
    return SeenAgain(
        xy_b_px=xy_b,
        z_expected=np.where(np.isfinite(xy_b[:, 0]), xyz_b[:, 2], np.nan),
        z_seen=z_seen,
        back_px=np.asarray(np.linalg.norm(back - xy_a, axis=1)),
    )


def unprojected(
    xy_px: Float64[np.ndarray, "k 2"], z: Float64[np.ndarray, "k"], camera: Intrinsics
) -> Float64[np.ndarray, "k 3"]:
    """Points in camera axes, of full-size pixels and their depth."""
    rays = camera.rays(xy_px)
    return np.asarray(rays * (z / rays[:, 2])[:, None])


def sampled(
    z: Float[np.ndarray, "h w"], camera: Intrinsics, xy_px: Float64[np.ndarray, "k 2"]
) -> Float64[np.ndarray, "k"]:
    """Depth at full-size pixels, linear in 1/z (exact on planes); NaN outside, next to unknown depth, and where the
    four pixels around are not of one surface (`SAME_SURFACE`)."""
    height, width = z.shape
    xy = (xy_px + 0.5) * [width / camera.width_px, height / camera.height_px] - 0.5
    with np.errstate(invalid="ignore"):
        inside = np.all((xy >= -0.5) & (xy <= [width - 0.5, height - 0.5]), axis=1)
    xy = np.clip(np.where(inside[:, None], xy, 0.0), 0.0, [width - 1, height - 1])
    at = np.minimum(xy.astype(np.int64), np.maximum([width - 2, height - 2], 0))
    share_x, share_y = (xy - at).T
    left, top = at.T
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    corners = np.stack([z[top, left], z[top, right], z[bottom, left], z[bottom, right]]).astype(float)
    weights = np.stack([1 - share_x, share_x] * 2) * np.stack([1 - share_y, 1 - share_y, share_y, share_y])
    with np.errstate(divide="ignore", invalid="ignore"):
        depth = 1 / np.sum(weights / corners, axis=0)
        one_surface = corners.max(axis=0) <= SAME_SURFACE * corners.min(axis=0)  # False next to NaN
    return np.where(inside & one_surface, depth, np.nan)


def pixel_grid(height: int, width: int, camera: Intrinsics) -> Float64[np.ndarray, "k 2"]:
    """Full-size pixels of the middles of a smaller map's pixels, row by row."""
    xy = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    return np.asarray((xy + 0.5) * [camera.width_px / width, camera.height_px / height] - 0.5)
