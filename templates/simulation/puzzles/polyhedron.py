"""Convex solids whose edges are all equally long, cut by planes; and the forms of flat shapes, compared.

Length 1 is that of an edge; z points up. A solid stands on its lowest face.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations

import numpy as np
from jaxtyping import Complex128, Float64, Int64

Points = Float64[np.ndarray, "n 3"]
Outline = Float64[np.ndarray, "n 2"]
"""Corners of a convex flat shape, in order."""
Form = Complex128[np.ndarray, "k"]
"""Of a shape, wherever it lies: turned, it differs in phase alone."""
_SAME = 1e-6
_ANGLES = np.linspace(0, 2 * np.pi, 120, endpoint=False)


def _around(count: int, z: float = 0.0) -> Points:
    """A regular polygon with sides of length 1."""
    angles = 2 * np.pi * np.arange(count) / count
    return np.column_stack([np.cos(angles), np.sin(angles), 0 * angles]) * 0.5 / np.sin(np.pi / count) + (0, 0, z)


def _above(count: int, below: bool = False) -> Points:
    """A pyramid, or two with the same base."""
    base = _around(count)
    top = np.sqrt(1 - (base[0] ** 2).sum())
    return np.vstack([base, *((0.0, 0.0, z) for z in ((top, -top) if below else (top,)))])


@dataclass(frozen=True)
class Solid:
    """A convex solid."""

    corners: Points

    @cached_property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs of corners at distance 1."""
        pairs = combinations(range(len(self.corners)), 2)
        return tuple((a, b) for a, b in pairs if abs(np.linalg.norm(self.corners[a] - self.corners[b]) - 1) < _SAME)

    @cached_property
    def faces(self) -> tuple[tuple[Float64[np.ndarray, "3"], frozenset[int]], ...]:
        """Outward normal and corners of each face: planes through three corners that have no corner beyond."""
        found: dict[frozenset[int], Float64[np.ndarray, "3"]] = {}
        for a, b, c in combinations(self.corners, 3):
            normal = np.cross(b - a, c - a)
            away = (self.corners - a) @ normal / np.linalg.norm(normal)
            if np.all(away < _SAME) or np.all(away > -_SAME):
                side = -np.sign(away[np.abs(away).argmax()])
                on = frozenset(np.flatnonzero(np.abs(away) < _SAME).tolist())
                found[on] = side * normal / np.linalg.norm(normal)
        return tuple((normal, on) for on, normal in found.items())

    def cut(self, point: Float64[np.ndarray, "3"], normal: Float64[np.ndarray, "3"]) -> Points:
        """Corners of the cut with a plane, in order around it; none where it only touches the solid."""
        away = (self.corners - point) @ normal
        if away.max() < _SAME or away.min() > -_SAME:
            return np.zeros((0, 3))
        on = [*self.corners[np.abs(away) < _SAME]]
        for a, b in self.edges:
            if away[a] * away[b] < 0 and min(abs(away[a]), abs(away[b])) > _SAME:
                on.append(self.corners[a] + away[a] / (away[a] - away[b]) * (self.corners[b] - self.corners[a]))
        points = np.array(on)
        across, up = plane_axes(normal)
        flat = (points - points.mean(axis=0)) @ np.array([across, up]).T
        return np.asarray(points[np.arctan2(flat[:, 1], flat[:, 0]).argsort()])

    def faces_of(self, a: Float64[np.ndarray, "3"], b: Float64[np.ndarray, "3"]) -> Iterator[Float64[np.ndarray, "3"]]:
        """Normals of the faces that both points lie on."""
        for normal, on in self.faces:
            start = self.corners[min(on)]
            if abs((a - start) @ normal) < _SAME and abs((b - start) @ normal) < _SAME:
                yield normal


@cache
def solids() -> Mapping[str, Solid]:
    """By name."""
    return {
        "regular tetrahedron": Solid(_above(3)),
        "cube": Solid(np.vstack([_around(4), _around(4, 1.0)])),
        "regular octahedron": Solid(_above(4, below=True)),
        "square pyramid": Solid(_above(4)),
        "pentagonal pyramid": Solid(_above(5)),
        "triangular prism": Solid(np.vstack([_around(3), _around(3, 1.0)])),
        "pentagonal prism": Solid(np.vstack([_around(5), _around(5, 1.0)])),
        "hexagonal prism": Solid(np.vstack([_around(6), _around(6, 1.0)])),
    }


def plane_axes(normal: Float64[np.ndarray, "3"]) -> tuple[Float64[np.ndarray, "3"], Float64[np.ndarray, "3"]]:
    """Two directions in a plane at right angles."""
    beside = np.eye(3)[np.abs(normal).argmin()]
    across = cross(normal, beside)
    across = across / np.sqrt(across @ across)
    up = cross(normal, across)
    return across, up / np.sqrt(up @ up)


def cross(a: Float64[np.ndarray, "3"], b: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3"]:
    """The cross product; for two vectors numpy's takes ten times as long."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def area_and_middle(shape: Outline) -> tuple[float, Float64[np.ndarray, "2"]]:
    """Area and centroid; the area is positive for corners in anticlockwise order."""
    (x, y), (u, v) = shape.T, shape[_next(len(shape))].T
    parts = x * v - u * y
    area = parts.sum() / 2
    return float(area), np.array([((x + u) * parts).sum(), ((y + v) * parts).sum()]) / (6 * area)


def upright(shape: Outline) -> Outline:
    """The shape with an area of 1, its middle at 0 and its long direction along x, corners anticlockwise."""
    area, middle = area_and_middle(shape)
    shape = (shape if area > 0 else shape[::-1]) - middle
    long = np.linalg.svd(_boundary(shape), full_matrices=False)[2]
    turned = np.array([long[0], (-long[0, 1], long[0, 0])])
    return np.asarray(shape @ turned.T / np.sqrt(abs(area)))


def form(shape: Outline) -> Form:
    """How far the border of an upright shape is from its middle, by direction, as a Fourier transform."""
    return np.fft.rfft(_reach(shape))


def differences(a: Form, b: Complex128[np.ndarray, "n k"]) -> Float64[np.ndarray, "n"]:
    """How far the borders of a shape and of others are from each other (root mean square), in the best of all ways to
    turn and mirror one. All have an area of 1."""
    common = np.fft.irfft(np.array([b.conj(), b]) * a, len(_RAYS)).max(axis=(0, 2))
    return np.sqrt(np.maximum(0.0, _power(a[None]) + _power(b) - 2 * common / len(_RAYS)))


def _power(forms: Complex128[np.ndarray, "n k"]) -> Float64[np.ndarray, "n"]:
    """The mean squares of real functions with these transforms, of even length."""
    squares = forms.real**2 + forms.imag**2
    return np.asarray((2 * squares.sum(axis=1) - squares[:, 0] - squares[:, -1]) / len(_RAYS) ** 2)


@cache
def _next(count: int) -> Int64[np.ndarray, "n"]:
    return np.roll(np.arange(count), -1)


def _boundary(shape: Outline) -> Float64[np.ndarray, "m 2"]:
    """Points at equal steps of each side, weighted by its length."""
    ends = shape[_next(len(shape))]
    weight = np.sqrt(np.linalg.norm(ends - shape, axis=1))[:, None, None]
    share = np.linspace(0.05, 0.95, 10)[None, :, None]
    return np.asarray((weight * (shape[:, None] + share * (ends - shape)[:, None])).reshape(-1, 2))


_RAYS = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])


def _reach(shape: Outline) -> Float64[np.ndarray, "m"]:
    """Distance of the border from 0 in all directions, for shapes that are convex around 0."""
    ends = shape[_next(len(shape))]
    side = ends - shape
    out = np.column_stack([side[:, 1], -side[:, 0]])
    away = (shape * out).sum(axis=1)
    ahead = _RAYS @ out.T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(ahead > 1e-9, away / ahead, np.inf).min(axis=1))
