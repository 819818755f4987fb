"""A small square of a picture, placed in another picture at many distances, and correlated with it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64

from experts.clip import Clip
from experts.intrinsics import Intrinsics

STEP_PX = 1.5
"""Between two tried places, in working pixels."""
RADIUS_PX = 7
"""Half width of a patch, in working pixels."""
_LEAST_CONTRAST = 3.0
"""Standard deviation of the grey levels of a patch."""
_ROWS = 16384
"""Largest number of rows that OpenCV samples at once is 32767."""

_STEPS = np.arange(-RADIUS_PX, RADIUS_PX + 1, dtype=np.float32)
_ACROSS, _DOWN = (axis.ravel() for axis in np.meshgrid(_STEPS, _STEPS))
_CROSS = RADIUS_PX * np.array([[0.0, 0.0], [1, 0], [-1, 0], [0, 1], [0, -1]])
"""The middle of a patch and the middles of its sides."""


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Correlation of a patch with one view, for every inverse depth."""

    score: Float64[np.ndarray, "h"]
    """0 where the view does not contain the patch."""
    shift_px: Float64[np.ndarray, "h"]
    """Displacement along the epipolar line since inverse depth 0, in working pixels."""


@dataclass(frozen=True, kw_only=True)
class Affine:
    """Where a patch lies in a view, in working pixels, for every inverse depth. A patch spans a degree or two, within
    which a projection is affine to a tenth of a pixel."""

    middle: Float64[np.ndarray, "h 2"]
    """NaN behind the view."""
    per_px: Float64[np.ndarray, "h 2 2"]
    """Change of x and y (axis 1) for one pixel across and one down (axis 2)."""


@dataclass(frozen=True, kw_only=True)
class Patch:
    """The surroundings of a pixel."""

    rays: Float64[np.ndarray, "5 3"]
    """Of the middle and of the middles of the sides, with z = 1."""
    grey: Float32[np.ndarray, "p"]
    """Grey levels, of mean 0 and norm 1."""

    @classmethod
    def around(
        cls, xy_px: Float64[np.ndarray, "2"], image: Float32[np.ndarray, "h w"], clip: Clip, intrinsics: Intrinsics
    ) -> "Patch | None":
        """Around a full-size pixel of a picture in working size; None where all grey levels are alike."""
        middle = clip.working_from_full(xy_px)
        x, y = middle.astype(np.float32)
        (grey,) = _sampled(image, x + _ACROSS[None], y + _DOWN[None])
        if grey.std() < _LEAST_CONTRAST:
            return None
        rays = intrinsics.rays(clip.full_from_working(middle + _CROSS))
        return cls(rays=rays / rays[:, 2:], grey=(grey - grey.mean()) / np.linalg.norm(grey - grey.mean()))

    def placed(
        self,
        view_from_own: Float64[np.ndarray, "4 4"],
        inverse: Float64[np.ndarray, "h"],
        clip: Clip,
        intrinsics: Intrinsics,
    ) -> Affine:
        """Its place in another view of the same camera, parallel to the picture at every inverse depth."""
        points = (self.rays @ view_from_own[:3, :3].T)[None] + inverse[:, None, None] * view_from_own[:3, 3]
        xy = clip.working_from_full(intrinsics.project(points))
        sides = (xy[:, [1, 3]] - xy[:, [2, 4]]) / (2 * RADIUS_PX)
        return Affine(middle=xy[:, 0], per_px=sides.swapaxes(1, 2))

    def swept(self, affine: Affine, image: Float32[np.ndarray, "h w"], across_px: float) -> Sweep:
        """The best correlation within `across_px` across the epipolar line, for every inverse depth."""
        middle = affine.middle
        along = np.gradient(middle, axis=0) if len(middle) > 1 else np.array([[1.0, 0.0]])
        length = np.linalg.norm(along, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            across = np.stack([-along[:, 1], along[:, 0]], axis=1) / length[:, None]
        rows = np.flatnonzero(_inside(affine, image.shape) & np.isfinite(across).all(axis=1))
        score = np.zeros(len(middle))
        if len(rows):
            most = np.ceil(across_px / STEP_PX)
            tried = [middle[rows] + k * STEP_PX * across[rows] for k in np.arange(-most, most + 1)]
            score[rows] = np.max([self._correlated(image, each, affine.per_px[rows]) for each in tried], axis=0)
        return Sweep(score=score, shift_px=np.nancumsum(length) - length[0])

    def _correlated(
        self,
        image: Float32[np.ndarray, "h w"],
        middle: Float64[np.ndarray, "n 2"],
        per_px: Float64[np.ndarray, "n 2 2"],
    ) -> Float32[np.ndarray, "n"]:
        start, step = middle.astype(np.float32), per_px.astype(np.float32)
        x, y = (start[:, k, None] + step[:, k, :1] * _ACROSS + step[:, k, 1:] * _DOWN for k in (0, 1))
        seen = _sampled(image, x, y)
        seen -= seen.mean(axis=1, keepdims=True)
        return np.asarray(seen @ self.grey / np.maximum(np.linalg.norm(seen, axis=1), np.float32(1e-6)))


def _inside(affine: Affine, shape: tuple[int, ...]) -> Bool[np.ndarray, "h"]:
    """Whether the whole patch lies at least a pixel inside the picture."""
    reach = RADIUS_PX * np.abs(affine.per_px).sum(axis=2)
    with np.errstate(invalid="ignore"):
        found = (affine.middle - reach >= 1) & (affine.middle + reach <= np.array(shape[::-1]) - 2)
    return np.asarray(found.all(axis=1))


def _sampled(
    image: Float32[np.ndarray, "h w"], x: Float32[np.ndarray, "n p"], y: Float32[np.ndarray, "n p"]
) -> Float32[np.ndarray, "n p"]:
    import cv2

    found = [
        cv2.remap(image, x[k : k + _ROWS], y[k : k + _ROWS], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        for k in range(0, len(x), _ROWS)
    ]
    return np.concatenate(found)
