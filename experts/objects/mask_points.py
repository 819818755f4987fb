"""Pixels of a mask unprojected by depth into the world: the visible surface of a thing.

Depth maps of models are blurred over borders: a mask's rim takes its depth from inside, along the surface (1 / z is
linear in the pixels of a plane). Noise from pixel to pixel is smoothed first.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy import ndimage

from experts.depth.depth_views import UnprojectionSettings, View
from experts.objects.mask_borders import at_border, neighbours, shifted


@dataclass(frozen=True, kw_only=True)
class MaskPoints:
    """The visible surface of one thing in one frame."""

    xyz: Float64[np.ndarray, "p 3"]
    """World."""
    step: Float64[np.ndarray, "p 3 2"]
    """World step to the next column and row on the surface."""
    ray: Float64[np.ndarray, "p 3"]
    """Camera to point, world axes."""
    relative_sigma: Float64[np.ndarray, "p"]
    """σ_z / z."""
    cut: Bool[np.ndarray, "p"]
    """Whether the thing may go on unmeasured near here: at the picture's border, behind something nearer, or where
    the mask has no depth."""
    touch: Bool[np.ndarray, "p"]
    """Whether another thing begins near here, no farther away: the thing may go on behind it."""
    inner_px: Float64[np.ndarray, "p"]
    """Distance to the mask's border."""

    def __len__(self) -> int:
        return len(self.xyz)

    def of(self, rows: Int64[np.ndarray, "r"] | Bool[np.ndarray, "p"]) -> "MaskPoints":
        """Some of them."""
        return MaskPoints(
            xyz=self.xyz[rows], step=self.step[rows], ray=self.ray[rows], relative_sigma=self.relative_sigma[rows],
            cut=self.cut[rows], touch=self.touch[rows], inner_px=self.inner_px[rows],
        )  # fmt: skip

    def at_most(self, count: int) -> "MaskPoints":
        """Evenly thinned."""
        return self if len(self) <= count else self.of(np.linspace(0, len(self) - 1, count).round().astype(np.int64))


def unprojected(
    mask: Bool[np.ndarray, "h w"],
    view: View,
    settings: UnprojectionSettings,
    others: Bool[np.ndarray, "h w"] | None = None,
) -> MaskPoints:
    """Points of a mask, row by row; none where its inside has no depth. `others`: pixels of other things."""
    window = _window(mask, view.rim_px + 8)
    part, z, sigma = mask[window], view.z[window], view.relative_sigma[window]
    inverse = _surface(part, z, sigma, view.rim_px)
    known = part & np.isfinite(inverse)
    if known.sum() < 2:
        return _no_points()
    beside = np.zeros_like(part) if others is None else others[window]
    hides, touches = neighbours(
        part, inverse, _smoothed(_inverse(z, ~part), sigma), sigma, beside, view.rim_px, settings
    )
    wide = np.ones((2 * settings.border_px + 1, 2 * settings.border_px + 1))
    cut = ndimage.binary_dilation(hides | (part & ~known), wide) | at_border(mask.shape, settings.border_px)[window]
    touch = ndimage.binary_dilation(touches, wide)
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
        cut=cut[known],
        touch=touch[known],
        inner_px=ndimage.distance_transform_edt(part)[known],
    )


def _no_points() -> MaskPoints:
    return MaskPoints(
        xyz=np.zeros((0, 3)), step=np.zeros((0, 3, 2)), ray=np.zeros((0, 3)), relative_sigma=np.zeros(0),
        cut=np.zeros(0, dtype=bool), touch=np.zeros(0, dtype=bool), inner_px=np.zeros(0),
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
    """1 / z on the mask: smoothed inside, carried on over the rim; NaN elsewhere."""
    core = ndimage.binary_erosion(mask, np.ones((2 * rim + 1, 2 * rim + 1)), border_value=1) & np.isfinite(z)
    inverse = _smoothed(_inverse(z, core), sigma)
    return np.where(np.isfinite(inverse), inverse, _carried_on(inverse, mask & ~np.isfinite(inverse), rim + 3))


def _inverse(z: Float32[np.ndarray, "a b"], where: Bool[np.ndarray, "a b"]) -> Float64[np.ndarray, "a b"]:
    known = where & np.isfinite(z)
    return np.where(known, 1 / np.where(known, z, 1.0), np.nan).astype(np.float64)


def _smoothed(inverse: Float64[np.ndarray, "a b"], sigma: Float32[np.ndarray, "a b"]) -> Float64[np.ndarray, "a b"]:
    """Mean over 5×5 pixels of like depth: within three σ (at least 0.5 %)."""
    spread = 3 * np.nan_to_num(np.maximum(sigma, 0.005), nan=0.005) * inverse
    total, weight = np.zeros_like(inverse), np.zeros_like(inverse)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            other = shifted(inverse, dy, dx)
            with np.errstate(invalid="ignore"):
                # A pixel and its mirror come in together, so that a slope is not bent at the mask's border.
                mirror = shifted(inverse, -dy, -dx)
                alike = (np.abs(other - inverse) < spread) & (np.abs(mirror - inverse) < spread)
            total += np.where(alike, other, 0)
            weight += alike
    return np.where(weight > 0, total / np.maximum(weight, 1), inverse)


def _carried_on(
    inverse: Float64[np.ndarray, "a b"], wanted: Bool[np.ndarray, "a b"], radius: int
) -> Float64[np.ndarray, "a b"]:
    """Values at the wanted pixels, from a plane through what is known within `radius`; at most 10 % off its mean."""
    known, size = np.isfinite(inverse), 2 * radius + 1
    weight, value = known.astype(np.float64), np.where(known, inverse, 0.0)
    row, column = np.nonzero(wanted)
    offset = np.arange(-radius, radius + 1, dtype=np.float64)

    def total(of: Float64[np.ndarray, "a b"], x: int, y: int) -> Float64[np.ndarray, "p"]:
        """Of `of` · dx^x · dy^y over the window."""
        along = ndimage.correlate1d(of, offset**x, axis=1, mode="constant")
        return np.asarray(ndimage.correlate1d(along, offset**y, axis=0, mode="constant")[row, column])

    powers = [(0, 0), (1, 0), (0, 1)]
    sums = {(x, y): total(weight, x, y) for x in range(3) for y in range(3 - x)}
    normal = np.stack([np.stack([sums[a + c, b + d] for c, d in powers], axis=1) for a, b in powers], axis=1)
    right = np.stack([total(value, x, y) for x, y in powers], axis=1)
    count = normal[:, 0, 0]
    enough = count >= size  # of a plane's three numbers
    out = np.full(inverse.shape, np.nan)
    if enough.any():
        normal[:, 1, 1] += 0.1 * count  # holds the slope where all known pixels lie in a line
        normal[:, 2, 2] += 0.1 * count
        mean = right[enough, 0] / count[enough]
        plane = np.linalg.solve(normal[enough], right[enough, :, None])[:, 0, 0]
        out[row[enough], column[enough]] = np.clip(plane, 0.9 * mean, mean / 0.9)
    return out


def _step(grid: Float64[np.ndarray, "a b 3"], axis: int) -> Float64[np.ndarray, "a b 3"]:
    """To the next pixel along an axis: the mean of both sides, or the one that is known; 0 where none is."""
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
