"""Intersection over union of boxes: along the axes of a picture, and oriented in space."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Float64

_FLAT = 1e-8
"""Intersections thinner than this share of the smaller box are surfaces, not volumes."""


def iou_2d(said: Sequence[float], true: Sequence[float]) -> float:
    """Of boxes (left, top, right, bottom) in pixels; 0 where one has no area."""
    a, b = np.asarray(said, dtype=float), np.asarray(true, dtype=float)
    common = _area(np.concatenate([np.maximum(a[:2], b[:2]), np.minimum(a[2:], b[2:])]))
    union = _area(a) + _area(b) - common
    return float(common / union) if union > 0 else 0.0


@dataclass(frozen=True, kw_only=True)
class OrientedBox:
    """A box in space."""

    centre: Float64[np.ndarray, "3"]
    size: Float64[np.ndarray, "3"]
    """Edge lengths along its own axes, in the unit of `centre`; positive."""
    world_from_box: Float64[np.ndarray, "3 3"]
    """Rotation: its columns are the box's axes."""

    @property
    def volume(self) -> float:
        """Product of the edges."""
        return float(np.prod(self.size))

    def corners(self) -> Float64[np.ndarray, "8 3"]:
        """In the world."""
        signs = np.array(list(product((-0.5, 0.5), repeat=3)))
        return self.centre + (signs * self.size) @ self.world_from_box.T

    def half_spaces(self) -> Float64[np.ndarray, "6 4"]:
        """Rows (n, d): a point x of the box has n · x + d <= 0 in all of them."""
        normals = np.concatenate([self.world_from_box.T, -self.world_from_box.T])
        reach = np.concatenate([self.size, self.size]) / 2
        return np.column_stack([normals, -(normals @ self.centre) - reach])


def iou_3d(said: OrientedBox, true: OrientedBox) -> float:
    """Exact volume of the intersection over that of the union, from 0 to 1, for any two orientations.

    The intersection of twelve half-spaces around its innermost point (by linear programming), as Qhull finds it; its
    volume is that of the hull of its corners. Raises `ValueError` for boxes that are not finite or have no volume.
    """
    for box in (said, true):
        if not (np.isfinite(box.corners()).all() and (box.size > 0).all()):
            raise ValueError("a box needs finite numbers and positive edges")
    common = intersection_volume(said, true)
    return min(1.0, common / (said.volume + true.volume - common))


def intersection_volume(a: OrientedBox, b: OrientedBox) -> float:
    """Volume that two boxes share."""
    from scipy.spatial import ConvexHull, HalfspaceIntersection

    scale = float(min(a.size.min(), b.size.min()))
    planes = np.concatenate([a.half_spaces(), b.half_spaces()])
    planes[:, 3] = (planes[:, 3] + planes[:, :3] @ b.centre) / scale  # around b, in its smallest edges
    inside, depth = _innermost(planes)
    if depth <= _FLAT:
        return 0.0
    corners = HalfspaceIntersection(planes, inside).intersections
    return float(ConvexHull(corners).volume) * scale**3


def _innermost(planes: Float64[np.ndarray, "n 4"]) -> tuple[Float64[np.ndarray, "3"], float]:
    """Centre and radius of the largest ball within all half-spaces; radius 0 where there is none."""
    from scipy.optimize import linprog

    lengths = np.linalg.norm(planes[:, :3], axis=1)
    found = linprog(
        [0, 0, 0, -1],
        A_ub=np.column_stack([planes[:, :3], lengths]),
        b_ub=-planes[:, 3],
        bounds=[(None, None)] * 3 + [(0, None)],
        method="highs",
    )
    return (found.x[:3], float(found.x[3])) if found.success else (np.zeros(3), 0.0)


def _area(box: Float64[np.ndarray, "4"]) -> float:
    left, top, right, bottom = box
    return float(max(0.0, right - left) * max(0.0, bottom - top))
