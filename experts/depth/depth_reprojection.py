"""Forward-backward reprojection: is a point of one frame visible in another? And which dense depth other frames
confirm.

A pixel of frame a is unprojected by its depth and projected into frame b. The depth of b at that pixel is unprojected
and projected back into a. If the point is visible, b has the expected depth there and the loop ends at the start pixel.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64

from experts.intrinsics import Intrinsics

SAME_SURFACE = 1.1
"""Four neighbouring pixels belong to one surface if their depths differ by less than this factor. Across a border depth
is undefined."""


@dataclass(frozen=True, kw_only=True)
class Reprojection:
    """Pixels of frame a reprojected into frame b, one row each. NaN where undefined."""

    xy_b_px: Float64[np.ndarray, "k 2"]
    """Full-size pixel of b where the point should appear; NaN outside the frame, behind the camera, or where a has no
    depth."""
    z_expected: Float64[np.ndarray, "k"]
    """Depth that the point should have in b."""
    z_seen: Float64[np.ndarray, "k"]
    """Depth of b at that pixel; NaN where unknown, or on the border of two surfaces."""
    back_px: Float64[np.ndarray, "k"]
    """Forward-backward error: distance between the start pixel and the end of the loop, in full-size pixels of a."""

    def agrees(self, relative: float, back_px: float) -> Bool[np.ndarray, "k"]:
        """The point is visible in b: the depths agree within `relative`, and the loop within `back_px`."""
        with np.errstate(invalid="ignore"):
            return (np.abs(self.z_seen / self.z_expected - 1) <= relative) & (self.back_px <= back_px)

    def contradicted(self, relative: float) -> Bool[np.ndarray, "k"]:
        """b sees a farther surface where the point should be: one of the two depths is wrong, or the object moved."""
        with np.errstate(invalid="ignore"):
            return self.z_seen > (1 + relative) * self.z_expected

    def hidden(self, relative: float) -> Bool[np.ndarray, "k"]:
        """b sees a nearer surface, which may occlude the point."""
        with np.errstate(invalid="ignore"):
            return self.z_seen < (1 - relative) * self.z_expected


def reprojected(
    xy_a_px: Float[np.ndarray, "k 2"],
    z_a: Float[np.ndarray, "ha wa"],
    z_b: Float[np.ndarray, "hb wb"],
    b_from_a: Float64[np.ndarray, "4 4"],
    camera_a: Intrinsics,
    camera_b: Intrinsics,
) -> Reprojection:
    """Reprojects pixels of frame a into frame b and back.

    Args:
        xy_a_px: full-size pixels of a.
        z_a, z_b: depth along the viewing axis, in the unit of `b_from_a`; NaN unknown; any size.
        b_from_a: transforms camera axes of a into those of b.
        camera_a, camera_b: full-size cameras.
    """
    xy_a = np.asarray(xy_a_px, dtype=float)
    rotation, shift = b_from_a[:3, :3], b_from_a[:3, 3]
    xyz_b = unprojected(xy_a, sampled(z_a, camera_a, xy_a), camera_a) @ rotation.T + shift
    xy_b = camera_b.project(xyz_b)
    xy_b[~camera_b.contains(xy_b, border_px=-0.5)] = np.nan
    z_seen = sampled(z_b, camera_b, xy_b)
    back = camera_a.project((unprojected(xy_b, z_seen, camera_b) - shift) @ rotation)
    return Reprojection(
        xy_b_px=xy_b,
        z_expected=np.where(np.isfinite(xy_b[:, 0]), xyz_b[:, 2], np.nan),
        z_seen=z_seen,
        back_px=np.asarray(np.linalg.norm(back - xy_a, axis=1)),
    )


def unprojected(
    xy_px: Float64[np.ndarray, "k 2"], z: Float64[np.ndarray, "k"], camera: Intrinsics
) -> Float64[np.ndarray, "k 3"]:
    """Points in camera axes from full-size pixels and their depth."""
    rays = camera.rays(xy_px)
    return np.asarray(rays * (z / rays[:, 2])[:, None])


def sampled(
    z: Float[np.ndarray, "h w"], camera: Intrinsics, xy_px: Float64[np.ndarray, "k 2"]
) -> Float64[np.ndarray, "k"]:
    """Depth at full-size pixels, interpolated linearly in 1/z (exact on planes). NaN outside the frame, next to unknown
    depth, and where the four neighbours are not of one surface (`SAME_SURFACE`)."""
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
    """Full-size pixels of the pixel centres of a smaller map, row by row."""
    xy = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    return np.asarray((xy + 0.5) * [camera.width_px / width, camera.height_px / height] - 0.5)


@dataclass(frozen=True, kw_only=True)
class ConsistencySettings:
    """When the depth of a pixel counts as confirmed."""

    stride: int = 3
    """Every n-th pixel in each direction is tested, on behalf of the cell around it."""
    min_baseline_share: float = 0.03
    """Smallest distance to the other camera, as a share of the median depth: 1.7° of parallax. From the same position
    the same error would appear twice."""
    agree: float = 0.05
    """Largest relative difference of the two depths."""
    back_px: float = 2.0
    """Largest forward-backward error, in pixels of the depth map."""
    contradict: float = 0.10
    """If the other frame sees a surface farther away by this share, the depth is wrong, or the object moved."""


def confirmed(
    z: Float32[np.ndarray, "n h w"],
    world_from_cam: Float64[np.ndarray, "n 4 4"],
    camera: Intrinsics,
    settings: ConsistencySettings,
) -> Bool[np.ndarray, "n h w"]:
    """Pixels whose depth the nearest frame before or after confirms and neither contradicts.

    "Nearest" is the first frame with enough baseline. A frame without any such neighbour is not confirmed.
    """
    height, width = z.shape[1:]
    first, stride = settings.stride // 2, settings.stride
    rows, columns = np.arange(first, height, stride), np.arange(first, width, stride)
    tested = pixel_grid(height, width, camera).reshape(height, width, 2)[np.ix_(rows, columns)].reshape(-1, 2)
    back_px = settings.back_px * camera.width_px / width
    out = np.zeros(z.shape, dtype=bool)
    for a in range(len(z)):
        agrees, contradicted = np.zeros(len(tested), dtype=bool), np.zeros(len(tested), dtype=bool)
        for b in _partners(a, z, world_from_cam, settings):
            b_from_a = np.linalg.inv(world_from_cam[b]) @ world_from_cam[a]
            seen = reprojected(tested, z[a], z[b], b_from_a, camera, camera)
            agrees |= seen.agrees(settings.agree, back_px)
            contradicted |= seen.contradicted(settings.contradict)
        cells = (agrees & ~contradicted).reshape(len(rows), len(columns))
        whole = np.repeat(np.repeat(cells, stride, axis=0), stride, axis=1)[:height, :width]
        out[a, : whole.shape[0], : whole.shape[1]] = whole
    return out & np.isfinite(z)


def _partners(
    a: int, z: Float32[np.ndarray, "n h w"], world_from_cam: Float64[np.ndarray, "n 4 4"], settings: ConsistencySettings
) -> list[int]:
    """The nearest frame on either side with enough baseline."""
    own = z[a, :: settings.stride, :: settings.stride]
    if not np.isfinite(own).any() or not np.isfinite(world_from_cam[a]).all():
        return []
    baseline = np.linalg.norm(world_from_cam[:, :3, 3] - world_from_cam[a, :3, 3], axis=1)
    far = np.flatnonzero(baseline >= settings.min_baseline_share * np.nanmedian(own))  # False for NaN
    return [*far[far < a][-1:].tolist(), *far[far > a][:1].tolist()]
