"""Triples of orthogonal directions that explain straight segments: drawn by chance, then fitted in the picture.

A direction v of camera axes has its vanishing point at f·v_xy / v_z from the principal point; a segment that runs along
v points to it (Hartley & Zisserman, Multiple View Geometry, 8.6). Here lengths are shares of the frame's longer side.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

_STEP = 1e-5
_LARGEST_TURN_RAD = 0.1
_STEEP = 1e4
"""A segment whose middle is a vanishing point has no slope to follow."""


def drawn_triples(
    normal: Float64[np.ndarray, "s 3"], weight: Float64[np.ndarray, "s"], count: int, rng: np.random.Generator
) -> Float64[np.ndarray, "h 3 3"]:
    """At most `count` triples (rows): two segments give one direction, a third the rest; heavy ones are drawn more
    often. `normal`: of the plane through the camera and each segment."""
    i, j, k = rng.choice(len(weight), (3, count), p=weight / weight.sum())
    first = np.cross(normal[i], normal[j])
    usable = np.linalg.norm(first, axis=1) > 0.05
    second = np.cross(first[usable], normal[k][usable])
    proper = np.linalg.norm(second, axis=1) > 0.02
    first, second = (_unit(v) for v in (first[usable][proper], second[proper]))
    return np.stack([first, second, np.cross(first, second)], axis=1)


@dataclass(frozen=True, kw_only=True)
class PictureLines:
    """Segments of one frame, in shares of its longer side, from the principal point."""

    middle: Float64[np.ndarray, "s 2"]
    way: Float64[np.ndarray, "s 2"]
    """Unit vectors along the segments."""
    length: Float64[np.ndarray, "s"]
    sigma_rad: Float64[np.ndarray, "s"]
    """σ of each segment's angle in the picture."""
    stray: float
    """Share of segments that run along none of three directions."""

    def normals(self, focal: float) -> Float64[np.ndarray, "s 3"]:
        """Unit normals of the planes through the camera and each segment."""
        middle = np.c_[self.middle, np.full(len(self.middle), focal)]
        return _unit(np.cross(middle, np.c_[self.way, np.zeros(len(self.way))]))

    def shifted(self, by: Float64[np.ndarray, "2"]) -> "PictureLines":
        """The same picture with the principal point moved."""
        return replace(self, middle=self.middle - by)

    def unbent(self, k1: float, focal: float) -> "PictureLines":
        """As a lens without distortion would have drawn it, if this one has `k1` (to first order)."""
        middle, way, k = self.middle, self.way, k1 / focal**2
        shrink = 1 - k * np.sum(middle**2, axis=1, keepdims=True)
        straight = way * shrink - 2 * k * np.sum(middle * way, axis=1, keepdims=True) * middle
        return replace(self, middle=middle * shrink, way=_unit(straight))

    def off_rad(
        self, axes: Float64[np.ndarray, "*b 3 3"], focal: Float64[np.ndarray, "*b"]
    ) -> Float64[np.ndarray, "*b s 3"]:
        """Angle in the picture, -π/2 to π/2, from each segment to the way to each axis's (row's) vanishing point."""
        x, y, z = (axes[..., None, :, k] for k in range(3))
        f = focal[..., None, None]
        to_x, to_y = f * x - self.middle[:, :1] * z, f * y - self.middle[:, 1:] * z
        cross = self.way[:, :1] * to_y - self.way[:, 1:] * to_x
        along = self.way[:, :1] * to_x + self.way[:, 1:] * to_y
        return np.asarray((np.arctan2(cross, along) + np.pi / 2) % np.pi - np.pi / 2)

    def explained(
        self, off_rad: Float64[np.ndarray, "*b s 3"], widened: float = 1.0
    ) -> tuple[Float64[np.ndarray, "*b"], Float64[np.ndarray, "*b s 3"]]:
        """(log likelihood over that of no directions at all, probability that each segment runs along each axis).

        A segment runs along an axis up to its σ, or is a stray of any angle.
        """
        sigma = self.sigma_rad[:, None] * widened
        along = (1 - self.stray) / 3 / np.sqrt(2 * np.pi) / sigma * np.exp(-0.5 * (off_rad / sigma) ** 2)
        total = along.sum(axis=-1) + self.stray / np.pi
        return np.log(total * np.pi / self.stray).sum(axis=-1), along / total[..., None]

    def fitted(
        self, axes: Float64[np.ndarray, "*b 3 3"], focal: Float64[np.ndarray, "*b"], widths: tuple[float, ...]
    ) -> tuple[Float64[np.ndarray, "*b 3 3"], Float64[np.ndarray, "*b"]]:
        """(triples turned to their likeliest place, log likelihood there): one Gauss-Newton step of an EM for each of
        `widths`, by which σ is widened on the way."""
        for widened in widths:
            off = self.off_rad(axes, focal)
            owned = self.explained(off, widened)[1] / (self.sigma_rad[:, None] * widened) ** 2
            turned = [self.off_rad(axes @ small.T, focal) for small in _SMALL_TURNS]
            slope = np.stack([(t - off) / _STEP for t in turned], axis=-1)
            slope = np.where(np.abs(slope) > _STEEP, 0.0, slope)
            normal = np.einsum("...sai,...saj,...sa->...ij", slope, slope, owned) + np.eye(3)
            step = -np.linalg.solve(normal, np.einsum("...sai,...sa,...sa->...i", slope, off, owned)[..., None])[..., 0]
            length = np.linalg.norm(step, axis=-1, keepdims=True)
            axes = _turned(axes, step * np.minimum(1.0, _LARGEST_TURN_RAD / np.maximum(length, 1e-12)))
        return axes, self.explained(self.off_rad(axes, focal))[0]


_SMALL_TURNS = Rotation.from_rotvec(_STEP * np.eye(3)).as_matrix()


def _turned(axes: Float64[np.ndarray, "*b 3 3"], by: Float64[np.ndarray, "*b 3"]) -> Float64[np.ndarray, "*b 3 3"]:
    turn = Rotation.from_rotvec(by.reshape(-1, 3)).as_matrix().reshape(axes.shape)
    return np.asarray(axes @ turn.swapaxes(-1, -2))


def _unit(v: Float64[np.ndarray, "n d"]) -> Float64[np.ndarray, "n d"]:
    return v / np.linalg.norm(v, axis=1, keepdims=True)
