"""Solids of unit cubes, turned and drawn from the front, the right and above; x to the right, y to the back, z up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
from jaxtyping import Float64

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
_POINTS = len(_STEPS) ** 2
_ALL = (1 << _POINTS) - 1


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
        (x * _TO_VIEWER[0] + y * _TO_VIEWER[1] + z * _TO_VIEWER[2] + nearer, (x, y, z), number)
        for x, y, z in filled
        for number, ((a, b, c), nearer) in enumerate(_NEARER[: 1 if tops_only else None])
        if (x + a, y + b, z + c) not in filled
    ]
    shapes = []
    for _, cube, number in sorted(faces):
        u, v = _on_drawing(cube)
        corners = tuple((u + a, v + b) for a, b in _OUTLINES[number])
        shapes.append(Polygon(corners=corners, fill=_FACES[number][1] if paint is None else paint[cube]))
    return tuple(shapes)


def visible_shares(cubes: Sequence[Vector], of: Sequence[Vector] | None = None) -> Float64[np.ndarray, "n 3"]:
    """The share of the top, right and front face of each cube (by default of all) that no cube hides."""
    shares = [_shares(cube, cubes) for cube in (cubes if of is None else of)]
    return np.array(shares, dtype=np.float64).reshape(-1, len(SEEN))


def all_seen(cubes: Sequence[Vector], least: float) -> bool:
    """Whether some face of each cube is seen to at least this share."""
    return all(max(_shares(cube, cubes)) >= least for cube in cubes)


def _shares(cube: Vector, cubes: Sequence[Vector]) -> list[float]:
    (x, y, z), hidden = cube, 0
    for a, b, c in cubes:
        hidden |= _hidden_by((a - x, b - y, c - z))
    return [1 - (hidden >> _POINTS * face & _ALL).bit_count() / _POINTS for face in range(len(SEEN))]


@cache
def _hidden_by(offset: Vector) -> int:
    """Which points on the faces of a cube another one hides that lies so far from it, as bits: whether a ray to the
    viewer meets it (slab method)."""
    points = _ON_FACES.reshape(-1, 3)
    low, high = ((np.array(offset) + end - points) / VIEW for end in (0, 1))
    enter, leave = np.minimum(low, high).max(axis=1), np.maximum(low, high).min(axis=1)
    hidden = leave - np.maximum(enter, 1e-9) > 1e-9
    return sum(1 << k for k in np.flatnonzero(hidden).tolist())


def _on_drawing(cube: Vector) -> XY:
    x, y, z = cube
    return x * _ACROSS[0] + y * _ACROSS[1] + z * _ACROSS[2], x * _HIGH[0] + y * _HIGH[1] + z * _HIGH[2]


def _corners(normal: Vector) -> Iterable[np.ndarray]:
    """Of a face of the cube at 0."""
    centre, (a, b) = 0.5 + 0.5 * np.array(normal), np.eye(3)[np.flatnonzero(np.array(normal) == 0)]
    return (centre + 0.5 * (s * a + t * b) for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1)))


_ACROSS, _HIGH, _TO_VIEWER = _RIGHT.tolist(), _UP.tolist(), VIEW.tolist()
_OUTLINES = tuple(projected([*_corners(normal)]) for normal in SEEN)
"""Of the faces of the cube at 0 on the drawing."""
_NEARER = tuple((normal, 0.5 * float(np.array(normal) @ VIEW)) for normal in SEEN)
"""How much nearer than the middle of a cube each face is."""
