"""Surface points of a mask: its pixels unprojected by depth into the world, and where the object may continue unseen.

Learned depth is blurred at borders. So depth at a mask's rim is extrapolated from inside, along the surface (1 / z is
linear in the pixels of a plane). Pixel noise is smoothed first.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy import ndimage

from experts.depth.depth_views import UnprojectionSettings, View

_FOUR = [(-1, 0), (1, 0), (0, -1), (0, 1)]


def occlusions(
    mask: Bool[np.ndarray, "a b"],
    inverse: Float64[np.ndarray, "a b"],
    outside: Float64[np.ndarray, "a b"],
    relative_sigma: Float32[np.ndarray, "a b"],
    others: Bool[np.ndarray, "a b"],
    rim_px: int,
    settings: UnprojectionSettings,
) -> tuple[Bool[np.ndarray, "a b"], Bool[np.ndarray, "a b"]]:
    """Border pixels of the mask next to a nearer surface; and those next to another object that is not farther away.

    Depth outside the mask is extrapolated to the border. Otherwise the floor in front of an object, which comes nearer
    from row to row, would be mistaken for an occluder.

    Args:
        mask: of the object.
        inverse: 1 / z of its surface; NaN where unknown.
        outside: 1 / z around it; NaN in the mask and where unknown.
        relative_sigma: σ_z / z.
        others: pixels of other objects.
        rim_px: depth this close to the border is ignored.
        settings: thresholds.
    """
    near, far = rim_px + 1, rim_px + 4
    hides, touches = np.zeros_like(mask), np.zeros_like(mask)
    tolerance = 1 + settings.occluder + settings.occluder_sigmas * np.nan_to_num(relative_sigma, nan=0.0)
    for dy, dx in _FOUR:
        edge = mask & ~_moved(mask, dy, dx)
        one, two = shifted(outside, near * dy, near * dx), shifted(outside, far * dy, far * dx)
        slope = np.nan_to_num((one - two) / (far - near), nan=0.0)
        with np.errstate(invalid="ignore"):
            extrapolated = np.clip(one + near * slope, 0.8 * one, 1.25 * one)
            hides |= edge & (extrapolated > tolerance * inverse)
            touches |= edge & _moved(others, near * dy, near * dx) & (extrapolated > inverse / tolerance)
    return hides, touches


def at_border(shape: tuple[int, ...], width_px: int) -> Bool[np.ndarray, "h w"]:
    """Pixels this close to the picture's border."""
    out = np.ones(shape, dtype=bool)
    out[width_px : shape[0] - width_px, width_px : shape[1] - width_px] = False
    return out


def _moved(mask: Bool[np.ndarray, "a b"], dy: int, dx: int) -> Bool[np.ndarray, "a b"]:
    return np.asarray(shifted(mask.astype(np.float64), dy, dx) == 1)


def shifted(values: Float64[np.ndarray, "a b"], dy: int, dx: int) -> Float64[np.ndarray, "a b"]:
    """values[y + dy, x + dx]; NaN beyond the border."""
    out = np.full(values.shape, np.nan)
    h, w = values.shape
    if abs(dy) < h and abs(dx) < w:
        out[max(0, -dy) : h - max(0, dy), max(0, -dx) : w - max(0, dx)] = values[
            max(0, dy) : h - max(0, -dy), max(0, dx) : w - max(0, -dx)
        ]
    return out


@dataclass(frozen=True, kw_only=True)
class MaskPoints:
    """The visible surface of one object in one frame."""

    xyz: Float64[np.ndarray, "p 3"]
    """World."""
    step: Float64[np.ndarray, "p 3 2"]
    """World displacement to the next column and row on the surface."""
    ray: Float64[np.ndarray, "p 3"]
    """From the camera to the point, world axes."""
    relative_sigma: Float64[np.ndarray, "p"]
    """σ_z / z."""
    truncated: Bool[np.ndarray, "p"]
    """Whether the object may continue near here unmeasured: at the picture's border, behind a nearer surface, or where
    the mask has no depth."""
    touches_other: Bool[np.ndarray, "p"]
    """Whether another object that is not farther away begins near here; the object may continue behind it."""
    inner_px: Float64[np.ndarray, "p"]
    """Distance to the mask's border."""

    def __len__(self) -> int:
        return len(self.xyz)

    def of(self, rows: Int64[np.ndarray, "r"] | Bool[np.ndarray, "p"]) -> "MaskPoints":
        """The given rows."""
        return MaskPoints(
            xyz=self.xyz[rows], step=self.step[rows], ray=self.ray[rows], relative_sigma=self.relative_sigma[rows],
            truncated=self.truncated[rows], touches_other=self.touches_other[rows], inner_px=self.inner_px[rows],
        )  # fmt: skip

    def at_most(self, count: int) -> "MaskPoints":
        """Evenly subsampled to at most `count` points."""
        return self if len(self) <= count else self.of(np.linspace(0, len(self) - 1, count).round().astype(np.int64))


def unprojected(
    mask: Bool[np.ndarray, "h w"],
    view: View,
    settings: UnprojectionSettings,
    others: Bool[np.ndarray, "h w"] | None = None,
) -> MaskPoints:
    """Points of a mask, row by row; empty where its inside has no depth. `others`: pixels of other objects."""
    window = _window(mask, view.rim_px + 8)
    part, z, sigma = mask[window], view.z[window], view.relative_sigma[window]
    inverse = _surface(part, z, sigma, view.rim_px)
    known = part & np.isfinite(inverse)
    if known.sum() < 2:
        return _no_points()
    beside = np.zeros_like(part) if others is None else others[window]
    hides, touches = occlusions(
        part, inverse, _smoothed(_inverse(z, ~part), sigma), sigma, beside, view.rim_px, settings
    )
    wide = np.ones((2 * settings.border_px + 1, 2 * settings.border_px + 1))
    truncated = (
        ndimage.binary_dilation(hides | (part & ~known), wide) | at_border(mask.shape, settings.border_px)[window]
    )
    touches_other = ndimage.binary_dilation(touches, wide)
    top, left = window[0].start, window[1].start
    row, column = np.nonzero(known)
    rays_cam = view.camera.rays(np.stack([column + left, row + top], axis=1).astype(np.float64))
    rays = (rays_cam / rays_cam[:, 2:]) @ view.world_from_cam[:3, :3].T / inverse[known][:, None]
    grid = np.full((*part.shape, 3), np.nan)
    grid[known] = rays + view.world_from_cam[:3, 3]
    step = np.stack([_step(grid, axis=1)[known], _step(grid, axis=0)[known]], axis=2)
    relative = sigma[known].astype(np.float64)
    return MaskPoints(
        xyz=grid[known],
        step=step,
        ray=rays,
        relative_sigma=np.where(np.isfinite(relative), relative, np.nanmedian(relative)),
        truncated=truncated[known],
        touches_other=touches_other[known],
        inner_px=ndimage.distance_transform_edt(part)[known],
    )


def _no_points() -> MaskPoints:
    return MaskPoints(
        xyz=np.zeros((0, 3)), step=np.zeros((0, 3, 2)), ray=np.zeros((0, 3)), relative_sigma=np.zeros(0),
        truncated=np.zeros(0, dtype=bool), touches_other=np.zeros(0, dtype=bool), inner_px=np.zeros(0),
    )  # fmt: skip


def _window(mask: Bool[np.ndarray, "h w"], margin: int) -> tuple[slice, slice]:
    row, column = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(row):
        return slice(0, 1), slice(0, 1)
    return (
        slice(max(0, int(row[0]) - margin), int(row[-1]) + margin + 1),
        slice(max(0, int(column[0]) - margin), int(column[-1]) + margin + 1),
    )


def _surface(
    mask: Bool[np.ndarray, "a b"],
    z: Float32[np.ndarray, "a b"],
    sigma: Float32[np.ndarray, "a b"],
    rim: int,
) -> Float64[np.ndarray, "a b"]:
    """1 / z on the mask: smoothed inside, extrapolated to the rim; NaN elsewhere."""
    core = ndimage.binary_erosion(mask, np.ones((2 * rim + 1, 2 * rim + 1)), border_value=1) & np.isfinite(z)
    inverse = _smoothed(_inverse(z, core), sigma)
    return np.where(np.isfinite(inverse), inverse, _extrapolated(inverse, mask & ~np.isfinite(inverse), rim + 3))


def _inverse(z: Float32[np.ndarray, "a b"], where: Bool[np.ndarray, "a b"]) -> Float64[np.ndarray, "a b"]:
    known = where & np.isfinite(z)
    return np.where(known, 1 / np.where(known, z, 1.0), np.nan).astype(np.float64)


def _smoothed(inverse: Float64[np.ndarray, "a b"], sigma: Float32[np.ndarray, "a b"]) -> Float64[np.ndarray, "a b"]:
    """Mean over 5×5 pixels of similar depth: within three σ (at least 0.5 %)."""
    tolerance = 3 * np.nan_to_num(np.maximum(sigma, 0.005), nan=0.005) * inverse
    total, weight = np.zeros_like(inverse), np.zeros_like(inverse)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            other = shifted(inverse, dy, dx)
            with np.errstate(invalid="ignore"):
                # A pixel enters only with its mirror, so that a slope is not biased at the mask's border.
                mirror = shifted(inverse, -dy, -dx)
                similar = (np.abs(other - inverse) < tolerance) & (np.abs(mirror - inverse) < tolerance)
            total += np.where(similar, other, 0)
            weight += similar
    return np.where(weight > 0, total / np.maximum(weight, 1), inverse)


def _extrapolated(
    inverse: Float64[np.ndarray, "a b"], wanted: Bool[np.ndarray, "a b"], radius: int
) -> Float64[np.ndarray, "a b"]:
    """Values at the wanted pixels, from a plane through the known pixels within `radius`; at most 10 % from their
    mean."""
    known, size = np.isfinite(inverse), 2 * radius + 1
    weight, value = known.astype(np.float64), np.where(known, inverse, 0.0)
    row, column = np.nonzero(wanted)
    powers = [(0, 0), (1, 0), (0, 1)]
    sums = {(x, y): _window_moment(weight, x, y, radius)[row, column] for x in range(3) for y in range(3 - x)}
    normal = np.stack([np.stack([sums[a + c, b + d] for c, d in powers], axis=1) for a, b in powers], axis=1)
    right = np.stack([_window_moment(value, x, y, radius)[row, column] for x, y in powers], axis=1)
    count = normal[:, 0, 0]
    enough = count >= size  # of a plane's three numbers
    out = np.full(inverse.shape, np.nan)
    if enough.any():
        normal[:, 1, 1] += 0.1 * count  # regularises the slope if all known pixels are on a line
        normal[:, 2, 2] += 0.1 * count
        mean = right[enough, 0] / count[enough]
        plane = np.linalg.solve(normal[enough], right[enough, :, None])[:, 0, 0]
        out[row[enough], column[enough]] = np.clip(plane, 0.9 * mean, mean / 0.9)
    return out


def _window_moment(values: Float64[np.ndarray, "a b"], x: int, y: int, radius: int) -> Float64[np.ndarray, "a b"]:
    """Sum of values · dx^x · dy^y over the window around each pixel."""
    offset = np.arange(-radius, radius + 1, dtype=np.float64)
    along = ndimage.correlate1d(values, offset**x, axis=1, mode="constant")
    return np.asarray(ndimage.correlate1d(along, offset**y, axis=0, mode="constant"))


def _step(grid: Float64[np.ndarray, "a b 3"], axis: int) -> Float64[np.ndarray, "a b 3"]:
    """Displacement to the next pixel along an axis: mean of both sides, or the known one; 0 where none is known."""
    ahead = np.full(grid.shape, np.nan)
    back = np.full(grid.shape, np.nan)
    step = np.diff(grid, axis=axis)
    if axis == 0:
        ahead[:-1], back[1:] = step, step
    else:
        ahead[:, :-1], back[:, 1:] = step, step
    both = np.stack([ahead, back])
    known = np.isfinite(both)
    return np.where(known, both, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
