"""Triples of orthogonal directions that explain straight segments: sampled at random, then refined in the image plane.

A direction v in camera axes has its vanishing point at f·v_xy / v_z from the principal point. The segment of a line
with direction v points to it (Hartley & Zisserman, Multiple View Geometry, 8.6). Lengths are shares of the frame's
longer side.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

_STEP_RAD = 1e-5
"""Rotation for numerical derivatives."""
_MAX_ROTATION_RAD = 0.1
"""Largest rotation per iteration."""
_MAX_SLOPE = 1e4
"""Larger derivatives are ignored: the midpoint of the segment is a vanishing point."""


def sampled_triples(
    normal: Float64[np.ndarray, "s 3"], weight: Float64[np.ndarray, "s"], count: int, rng: np.random.Generator
) -> Float64[np.ndarray, "h 3 3"]:
    """At most `count` triples (rows). Two segments determine the first direction, a third one the others.

    Args:
        normal: unit normal of the plane through the camera centre and each segment.
        weight: probability of each segment, up to a factor.
        count: number of samples; degenerate ones are dropped.
        rng: random numbers.
    """
    i, j, k = rng.choice(len(weight), (3, count), p=weight / weight.sum())
    first = np.cross(normal[i], normal[j])
    usable = np.linalg.norm(first, axis=1) > 0.05
    second = np.cross(first[usable], normal[k][usable])
    proper = np.linalg.norm(second, axis=1) > 0.02
    first, second = (_unit(v) for v in (first[usable][proper], second[proper]))
    return np.stack([first, second, np.cross(first, second)], axis=1)


@dataclass(frozen=True, kw_only=True)
class PictureLines:
    """Segments of one frame, relative to the principal point, as shares of the frame's longer side."""

    middle: Float64[np.ndarray, "s 2"]
    """Midpoints."""
    direction: Float64[np.ndarray, "s 2"]
    """Unit vectors along the segments."""
    length: Float64[np.ndarray, "s"]
    sigma_rad: Float64[np.ndarray, "s"]
    """σ of each segment's angle in the image plane."""
    outlier_share: float
    """Share of segments that have none of the three directions."""

    def normals(self, focal: float) -> Float64[np.ndarray, "s 3"]:
        """Unit normals of the planes through the camera centre and each segment."""
        middle = np.c_[self.middle, np.full(len(self.middle), focal)]
        return _unit(np.cross(middle, np.c_[self.direction, np.zeros(len(self.direction))]))

    def shifted(self, by: Float64[np.ndarray, "2"]) -> "PictureLines":
        """The same segments with the principal point shifted."""
        return replace(self, middle=self.middle - by)

    def undistorted(self, k1: float, focal: float) -> "PictureLines":
        """The segments without the distortion of a lens with `k1`, to first order."""
        middle, direction, k = self.middle, self.direction, k1 / focal**2
        shrink = 1 - k * np.sum(middle**2, axis=1, keepdims=True)
        straight = direction * shrink - 2 * k * np.sum(middle * direction, axis=1, keepdims=True) * middle
        return replace(self, middle=middle * shrink, direction=_unit(straight))

    def error_rad(
        self, axes: Float64[np.ndarray, "*b 3 3"], focal: Float64[np.ndarray, "*b"]
    ) -> Float64[np.ndarray, "*b s 3"]:
        """Signed angle in the picture, -π/2 to π/2, from each segment to the direction towards the vanishing point of
        each axis (row)."""
        x, y, z = (axes[..., None, :, k] for k in range(3))
        f = focal[..., None, None]
        to_x, to_y = f * x - self.middle[:, :1] * z, f * y - self.middle[:, 1:] * z
        cross = self.direction[:, :1] * to_y - self.direction[:, 1:] * to_x
        along = self.direction[:, :1] * to_x + self.direction[:, 1:] * to_y
        return np.asarray((np.arctan2(cross, along) + np.pi / 2) % np.pi - np.pi / 2)

    def likelihood(
        self, error_rad: Float64[np.ndarray, "*b s 3"], sigma_factor: float = 1.0
    ) -> tuple[Float64[np.ndarray, "*b"], Float64[np.ndarray, "*b s 3"]]:
        """(log likelihood relative to random directions, probability that each segment has the direction of each axis).

        A mixture: the angle of a segment is normal about an axis with its σ, or uniform for an outlier.
        """
        sigma = self.sigma_rad[:, None] * sigma_factor
        along = (1 - self.outlier_share) / 3 / np.sqrt(2 * np.pi) / sigma * np.exp(-0.5 * (error_rad / sigma) ** 2)
        total = along.sum(axis=-1) + self.outlier_share / np.pi
        return np.log(total * np.pi / self.outlier_share).sum(axis=-1), along / total[..., None]

    def fitted(
        self, axes: Float64[np.ndarray, "*b 3 3"], focal: Float64[np.ndarray, "*b"], sigma_factors: tuple[float, ...]
    ) -> tuple[Float64[np.ndarray, "*b 3 3"], Float64[np.ndarray, "*b"]]:
        """(triples rotated to the maximum of the likelihood, log likelihood there).

        Expectation maximisation with one Gauss-Newton step per iteration. Each iteration multiplies σ by one of
        `sigma_factors`, so that the first ones converge from far away.
        """
        for factor in sigma_factors:
            error = self.error_rad(axes, focal)
            weight = self.likelihood(error, factor)[1] / (self.sigma_rad[:, None] * factor) ** 2
            rotated = [self.error_rad(axes @ small.T, focal) for small in _SMALL_ROTATIONS]
            slope = np.stack([(r - error) / _STEP_RAD for r in rotated], axis=-1)
            slope = np.where(np.abs(slope) > _MAX_SLOPE, 0.0, slope)
            normal = np.einsum("...sai,...saj,...sa->...ij", slope, slope, weight) + np.eye(3)
            moment = np.einsum("...sai,...sa,...sa->...i", slope, error, weight)
            step = -np.linalg.solve(normal, moment[..., None])[..., 0]
            length = np.linalg.norm(step, axis=-1, keepdims=True)
            axes = _rotated(axes, step * np.minimum(1.0, _MAX_ROTATION_RAD / np.maximum(length, 1e-12)))
        return axes, self.likelihood(self.error_rad(axes, focal))[0]


_SMALL_ROTATIONS = Rotation.from_rotvec(_STEP_RAD * np.eye(3)).as_matrix()


def _rotated(axes: Float64[np.ndarray, "*b 3 3"], by: Float64[np.ndarray, "*b 3"]) -> Float64[np.ndarray, "*b 3 3"]:
    rotation = Rotation.from_rotvec(by.reshape(-1, 3)).as_matrix().reshape(axes.shape)
    return np.asarray(axes @ rotation.swapaxes(-1, -2))


def _unit(v: Float64[np.ndarray, "n d"]) -> Float64[np.ndarray, "n d"]:
    return v / np.linalg.norm(v, axis=1, keepdims=True)
