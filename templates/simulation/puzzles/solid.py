"""Solids of unit cubes, turned and drawn from the front, the right and above; x to the right, y to the back, z up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.media import XY, Colour, Polygon

Vector = tuple[int, int, int]
"""A direction along an axis, or the corner of a unit cube with the least coordinates."""
_AZIMUTH, _ELEVATION = np.radians(28.0), np.radians(33.0)
_RIGHT = np.array([np.cos(_AZIMUTH), np.sin(_AZIMUTH), 0.0])
VIEW = np.array([np.sin(_AZIMUTH) * np.cos(_ELEVATION), -np.cos(_AZIMUTH) * np.cos(_ELEVATION), np.sin(_ELEVATION)])
"""Direction to the viewer. No cube lies exactly behind another one, so that each place on the drawing means one."""
_UP = np.cross(VIEW, _RIGHT)
_FACES: tuple[tuple[Vector, Colour], ...] = (
    ((0, 0, 1), "white"),
    ((1, 0, 0), "grey"),
    ((0, -1, 0), "light"),
)
"""Outward normals of the faces that can be seen, and their colours."""
SEEN = tuple(normal for normal, _ in _FACES)
_STEPS = np.linspace(0.1, 0.9, 5)
_ON_FACES = np.array(
    [[np.insert((u, v), k, side) for u in _STEPS for v in _STEPS] for k, side in ((2, 1), (0, 1), (1, 0))]
)
"""Points on the three faces of a cube."""


@dataclass(frozen=True)
class Turn:
    """A rotation by quarter turns, or a mirroring."""

    axes: tuple[int, int, int]
    signs: tuple[int, int, int]

    def __call__(self, vector: Vector) -> Vector:
        """The turned vector."""
        (i, j, k), (a, b, c) = self.axes, self.signs
        return a * vector[i], b * vector[j], c * vector[k]

    def all(self, vectors: Iterable[Vector]) -> list[Vector]:
        """The turned vectors."""
        (i, j, k), (a, b, c) = self.axes, self.signs
        return [(a * vector[i], b * vector[j], c * vector[k]) for vector in vectors]

    @property
    def determinant(self) -> int:
        """1 for a rotation, -1 for a mirroring."""
        order = -1 if self.axes in ((0, 2, 1), (1, 0, 2), (2, 1, 0)) else 1
        return order * self.signs[0] * self.signs[1] * self.signs[2]


HOLDS = [
    turn
    for axes in permutations((0, 1, 2))
    for signs in product((1, -1), repeat=3)
    if (turn := Turn((axes[0], axes[1], axes[2]), (signs[0], signs[1], signs[2]))).determinant > 0
]
"""The 24 rotations of a cube."""


def projected(points: Sequence[np.ndarray]) -> tuple[XY, ...]:
    """Points on the drawing."""
    return tuple((float(point @ _RIGHT), float(point @ _UP)) for point in points)


def drawing(
    cubes: Iterable[Vector], tops_only: bool = False, paint: Mapping[Vector, Colour] | None = None
) -> tuple[Polygon, ...]:
    """The visible faces, far ones first; in the colour of each cube, where it is painted."""
    filled = set(cubes)
    faces = [
        (cube, normal, colour if paint is None else paint[cube])
        for cube in filled
        for normal, colour in _FACES[: 1 if tops_only else None]
        if (cube[0] + normal[0], cube[1] + normal[1], cube[2] + normal[2]) not in filled
    ]
    faces.sort(key=lambda face: float((np.array(face[0]) + 0.5 * np.array(face[1])) @ VIEW))
    return tuple(Polygon(corners=projected([*_corners(cube, n)]), fill=colour) for cube, n, colour in faces)


def visible_shares(cubes: Sequence[Vector], of: Sequence[Vector] | None = None) -> Float64[np.ndarray, "n 3"]:
    """The share of the top, right and front face of each cube (by default of all) that no cube hides."""
    filled, asked = np.array(cubes).reshape(-1, 3), np.array(cubes if of is None else of).reshape(-1, 3)
    hidden = _hidden((asked[:, None, None] + _ON_FACES).reshape(-1, 3), filled)
    return np.asarray(1 - hidden.reshape(len(asked), len(SEEN), -1).mean(axis=2))


def _hidden(points: Float64[np.ndarray, "p 3"], filled: Int64[np.ndarray, "n 3"]) -> Bool[np.ndarray, "p"]:
    """Whether a ray to the viewer meets a cube (slab method)."""
    low, high = ((filled[None] + end - points[:, None]) / VIEW for end in (0, 1))
    enter, leave = np.minimum(low, high).max(axis=2), np.maximum(low, high).min(axis=2)
    return np.asarray((leave - np.maximum(enter, 1e-9) > 1e-9).any(axis=1))


def _corners(cube: Vector, normal: Vector) -> Iterable[np.ndarray]:
    centre, (a, b) = np.array(cube) + 0.5 + 0.5 * np.array(normal), np.eye(3)[np.flatnonzero(np.array(normal) == 0)]
    return (centre + 0.5 * (s * a + t * b) for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)))
