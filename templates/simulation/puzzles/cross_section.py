"""L3/Causal Reasoning/Geometry Puzzles: which shape has the cut of a solid with a plane?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations, product
from typing import ClassVar

import numpy as np
from jaxtyping import Complex128, Float64, Int64

from templates.answers import Answer
from templates.columns import Texts
from templates.facts import Facts
from templates.media import Line, Polygon, Sheet
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.simulation.puzzles.polyhedron import (
    Form,
    Outline,
    Points,
    Solid,
    area_and_middle,
    cross,
    differences,
    form,
    plane_axes,
    solids,
    upright,
)
from templates.simulation.puzzles.puzzle import OPTIONS, DrawnChoice, Row

Plane = tuple[tuple[int, int, int], ...]
"""Three points of edges: two corners, and at how many parts from the first one the point lies."""
_LEAST = 0.08
"""Between two options, as `polyhedron.differences` measures it; a square that is stretched by 1.35 is 0.08 off."""
_FEW, _CANDIDATES = 8, 16
"""Cuts with as many corners, below which others are wrong options too; and how many are tried."""
_VIEWS, _ROUNDS = 6, 30
"""Views that are tried for a plane, and how often a plane is tried."""
_LEAST_SIDE, _LEAST_AREA, _LEAST_DEPTH = 0.2, 0.12, 0.2
"""Of a cut; and how far corners of the solid reach on both sides of the plane."""
_LEAST_APART, _LEAST_TURNED, _LEAST_FACE = 0.1, 0.3, 0.12
"""Between corners in the drawing; and the shares of the areas of a cut, and of every face, that the drawing shows."""
_LEAST_NORMAL = 0.05
"""Twice the area of the triangle of the three points."""
_EXTENT = (-1.4, -1.1, 1.4, 1.1)


@dataclass(frozen=True, kw_only=True)
class CutSolids(Facts):
    """Solids, planes through three points of their edges, and what wrong options show."""

    solid: Texts
    """Its name, of `polyhedron.solids`."""
    parts: Int64[np.ndarray, "n"]
    """Into how many parts the points divide edges."""
    plane: Int64[np.ndarray, "n 3 3"]
    """Of each point: the corners of its edge, and at how many parts from the first one it lies."""
    others: Int64[np.ndarray, "n 3 3 3"]
    """Three other planes, whose cuts are wrong options; the same one again: the cut as it looks in the drawing."""
    view_deg: Int64[np.ndarray, "n 2"]
    """Azimuth and elevation from which the solid is drawn."""


@dataclass(frozen=True, kw_only=True)
class CrossSection(DrawnChoice):
    """The true shape of the cut of a solid with a plane, which the drawing shows from the side.

    There are 2498 kinds of cuts through quarters of edges: 132 of a cube, 941 of a hexagonal prism.

    Wrong options are other cuts of the same solid, with as many corners where there are enough, or the cut as it looks
    in the drawing.
    """

    name: str = "cross_section"
    version: str = "1"
    facts: ClassVar[type[Facts]] = CutSolids
    solids: tuple[str, ...] = tuple(solids())
    """Names of the solids."""
    parts: tuple[int, ...] = (4,)
    """Into how many parts the plane divides three edges: with 2, it goes through corners and middles of edges."""

    def draws(self, rng: np.random.Generator, count: int) -> Iterator[Row | None]:
        """Planes in random order: of a solid with many, each is less likely to come early. Those for which there were
        too few wrong options come again."""
        every = [(name, parts) for parts in self.parts for name in self.solids]
        counts = np.array([len(planes(*one)) for one in every])
        chance = rng.exponential(size=counts.sum()) * np.repeat(np.sqrt(counts), counts)
        which, first = np.repeat(np.arange(len(every)), counts), np.cumsum(counts) - counts
        left = chance.argsort().tolist()
        for _ in range(_ROUNDS):
            failed = []
            for k in left:
                name, parts = every[which[k]]
                row = self._row(name, parts, planes(name, parts)[k - first[which[k]]], rng)
                failed += [k] if row is None else []
                yield row
            left = failed

    def _row(self, name: str, parts: int, plane: Plane, rng: np.random.Generator) -> Row | None:
        """A plane, and a view in which all corners can be told apart, with wrong options that clearly differ."""
        views, cut = _views(name), _cut(name, parts, plane)
        tried = (views[k] for k in rng.permutation(len(views))[:_VIEWS].tolist())
        view = next((view for view in tried if _can_be_read(cut, view)), None)
        if view is None:
            return None
        like = _planes_with(name, parts, len(cut))
        if len(like) < _FEW:
            like = planes(name, parts)
        candidates = [like[int(k * len(like))] for k in rng.random(_CANDIDATES).tolist()]
        if rng.random() < 0.5:
            candidates.insert(0, plane)  # as it looks in the drawing
        forms = np.array(
            [
                form(_drawn_shape(name, parts, plane, view)) if other == plane else _true_form(name, parts, other)
                for other in candidates
            ]
        )
        chosen = _unlike(_true_form(name, parts, plane), forms, OPTIONS - 1)
        if len(chosen) < OPTIONS - 1:
            return None
        others = [[[*point] for point in candidates[k]] for k in chosen]
        row = {"solid": name, "parts": parts, "plane": [[*point] for point in plane], "others": others}
        row["view_deg"] = [*view]
        return row if all(map(_fits, (_true_shape(name, parts, plane), *_wrong_shapes(row)))) else None

    def key(self, row: Row) -> object:
        """The solid, and how far its corners are from the plane: equal, however it is turned or mirrored."""
        solid = solids()[row["solid"]]
        point, normal = _point_and_normal(solid, row["parts"], row["plane"])
        return row["solid"], tuple(_key((solid.corners - point) @ normal).tolist())

    def solution(self, row: Row) -> str:
        """The corners of the cut."""
        return _text(_true_shape(row["solid"], row["parts"], _corners_of(row["plane"])))

    def working(self, row: Row) -> str:
        """Sides of the cut in order, in edges of the solid."""
        corners = _cut(row["solid"], row["parts"], _corners_of(row["plane"]))
        sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
        return ", ".join(f"{side:.2f}" for side in sides)

    def mistakes(self, row: Row) -> Sequence[tuple[str, str]]:
        """Cuts of the same solid with other planes; the cut as it looks in the drawing."""
        drawn = [plane == row["plane"] for plane in row["others"]]
        names = ("as it looks in the drawing" if same else "another cut" for same in drawn)
        return [*zip(map(_text, _wrong_shapes(row)), names, strict=True)]

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The solid, and the line along which the plane meets it."""
        solid = solids()[row["solid"]]
        cut = _cut(row["solid"], row["parts"], _corners_of(row["plane"]))
        axes = _drawing_axes(*row["view_deg"])
        lines = sorted(_lines(solid, cut, axes), key=lambda line: not line.dashed)
        area = Polygon(corners=_xy(cut @ axes[:2].T), fill="orange", edge=None)
        return (Sheet(polygons=(area,), lines=tuple(lines)),)

    def option(self, row: Row, solution: str) -> Sheet:
        """A shape."""
        return Sheet(polygons=(Polygon(corners=_xy(_read(solution)), fill="blue"),), extent=_EXTENT)

    def phrase(self, format: FormatName, fact: Row, answer: Answer, offer: Offer | None) -> Phrasing:
        """The solid by its name, and a shape for each option."""
        return replace(super().phrase(format, fact, answer, offer), values={"solid": fact["solid"]})


def _unlike(true: Form, forms: Complex128[np.ndarray, "n k"], count: int) -> list[int]:
    """The first forms, up to a count, that differ from the true one and from each other."""
    left, chosen = differences(true, forms) >= _LEAST, list[int]()
    while len(chosen) < count and left.any():
        chosen.append(int(left.argmax()))
        left &= differences(forms[chosen[-1]], forms) >= _LEAST
    return chosen


@cache
def planes(name: str, parts: int) -> tuple[Plane, ...]:
    """All planes through three points of edges whose cut is large enough, one of each kind of equal ones."""
    solid = solids()[name]
    spots = {(a, b, k) if k else (a, a, 0) for a, b in solid.edges for k in range(parts)}
    spots |= {(b, b, 0) for _, b in solid.edges}
    points = sorted(spots)
    xyz = np.array([solid.corners[a] + k / parts * (solid.corners[b] - solid.corners[a]) for a, b, k in points])
    triples = np.array([*combinations(range(len(points)), 3)])
    a, b, c = xyz[triples].transpose(1, 0, 2)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    kept = length > _LEAST_NORMAL
    triples, a, normal = triples[kept], a[kept], normal[kept] / length[kept, None]
    away = np.einsum("mk,nk->nm", solid.corners, normal) - (a * normal).sum(axis=1)[:, None]
    deep = (away.max(axis=1) > _LEAST_DEPTH) & (away.min(axis=1) < -_LEAST_DEPTH)
    _, first = np.unique(_key(away[deep]), axis=0, return_index=True)
    found = [tuple(points[k] for k in triple) for triple in triples[deep][np.sort(first)].tolist()]
    return tuple(plane for plane in found if _is_large(_cut(name, parts, plane)))


def _key(away: Float64[np.ndarray, "*n m"]) -> Int64[np.ndarray, "*n m"]:
    """Distances of corners from a plane, in order; of the two directions in which they may count, the first one."""
    one, other = (np.sort((1000 * each).round().astype(np.int64), axis=-1) for each in (away, -away))
    unlike = (one != other).argmax(axis=-1)[..., None]
    is_first = np.take_along_axis(one, unlike, axis=-1) < np.take_along_axis(other, unlike, axis=-1)
    return np.where(is_first, one, other)


def _point_and_normal(
    solid: Solid, parts: int, plane: Sequence[Sequence[int]]
) -> tuple[Float64[np.ndarray, "3"], Float64[np.ndarray, "3"]]:
    """A point of the plane, and its normal."""
    a, b, c = (solid.corners[i] + k / parts * (solid.corners[j] - solid.corners[i]) for i, j, k in plane)
    normal = cross(b - a, c - a)
    return a, normal / np.sqrt(normal @ normal)


@lru_cache(maxsize=1 << 14)
def _cut(name: str, parts: int, plane: Plane) -> Points:
    """Corners of the cut."""
    solid = solids()[name]
    return solid.cut(*_point_and_normal(solid, parts, plane))


def _is_large(cut: Points) -> bool:
    """Whether it is large, and has no short side."""
    sides = np.linalg.norm(np.roll(cut, -1, axis=0) - cut, axis=1)
    return bool(sides.min() > _LEAST_SIDE and abs(area_and_middle(_flat(cut))[0]) > _LEAST_AREA)


@cache
def _planes_with(name: str, parts: int, corners: int) -> tuple[Plane, ...]:
    """Those whose cut has that many corners."""
    return tuple(plane for plane in planes(name, parts) if len(_cut(name, parts, plane)) == corners)


def _flat(cut: Points) -> Outline:
    """The cut as seen at right angles to it."""
    normal = cross(cut[1] - cut[0], cut[2] - cut[0])
    return np.asarray((cut - cut[0]) @ np.array(plane_axes(normal)).T)


@lru_cache(maxsize=1 << 14)
def _true_shape(name: str, parts: int, plane: Plane) -> Outline:
    """The cut as seen at right angles to it."""
    return upright(_flat(_cut(name, parts, plane)))


@lru_cache(maxsize=1 << 14)
def _true_form(name: str, parts: int, plane: Plane) -> Form:
    return form(_true_shape(name, parts, plane))


def _drawn_shape(name: str, parts: int, plane: Plane, view: tuple[int, int]) -> Outline:
    """The cut as it looks in the drawing."""
    return upright(_cut(name, parts, plane) @ _drawing_axes(*view)[:2].T)


def _wrong_shapes(row: Row) -> Iterator[Outline]:
    name, parts, plane = row["solid"], row["parts"], _corners_of(row["plane"])
    azimuth_deg, elevation_deg = row["view_deg"]
    for other in map(_corners_of, row["others"]):
        same = other == plane
        yield (
            _drawn_shape(name, parts, plane, (azimuth_deg, elevation_deg)) if same else _true_shape(name, parts, other)
        )


def _corners_of(plane: Sequence[Sequence[int]]) -> Plane:
    return tuple((int(a), int(b), int(k)) for a, b, k in plane)


def _fits(shape: Outline) -> bool:
    """Whether an option has room for it."""
    return bool((np.abs(shape) < _EXTENT[2:]).all())


@cache
def _views(name: str) -> tuple[tuple[int, int], ...]:
    """Azimuths and elevations from which no two corners fall together, and no face is seen from its edge."""
    solid, found = solids()[name], []
    for view in product(range(0, 360, 5), (20, 27, 34)):
        axes = _drawing_axes(*view)
        faces = min(abs(float(normal @ axes[2])) for normal, _ in solid.faces)
        if faces > _LEAST_FACE and _apart(solid.corners @ axes[:2].T) > _LEAST_APART:
            found.append(view)
    return tuple(found)


def _can_be_read(cut: Points, view: tuple[int, int]) -> bool:
    """Whether the corners of the cut are apart in the drawing, and it is not seen from its edge."""
    axes = _drawing_axes(*view)
    normal = cross(cut[1] - cut[0], cut[2] - cut[0])
    turned = abs(float(normal @ axes[2])) / float(np.sqrt(normal @ normal))
    return turned > _LEAST_TURNED and _apart(cut @ axes[:2].T) > _LEAST_APART


def _apart(points: Outline) -> float:
    """Least distance between two points."""
    away = ((points[:, None] - points) ** 2).sum(axis=2)
    return float(np.sqrt(away[np.triu_indices(len(points), 1)].min()))


@lru_cache(maxsize=1 << 10)
def _drawing_axes(azimuth_deg: int, elevation_deg: int) -> Float64[np.ndarray, "3 3"]:
    """To the right and up in the drawing, and to the viewer."""
    azimuth, elevation = np.radians((azimuth_deg, elevation_deg))
    right = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    viewer = np.array([np.sin(azimuth) * np.cos(elevation), -np.cos(azimuth) * np.cos(elevation), np.sin(elevation)])
    return np.array([right, np.cross(viewer, right), viewer])


def _lines(solid: Solid, cut: Points, axes: Float64[np.ndarray, "3 3"]) -> Iterator[Line]:
    """Edges, and the sides of the cut; dashed where no face that is seen holds them."""
    for a, b in solid.edges:
        yield _line(solid, solid.corners[a], solid.corners[b], axes, is_cut=False)
    for start, end in zip(cut, np.roll(cut, -1, axis=0), strict=True):
        yield _line(solid, start, end, axes, is_cut=True)


def _line(
    solid: Solid,
    start: Float64[np.ndarray, "3"],
    end: Float64[np.ndarray, "3"],
    axes: Float64[np.ndarray, "3 3"],
    is_cut: bool,
) -> Line:
    hidden = not any(normal @ axes[2] > 0 for normal in solid.faces_of(start, end))
    ends = _xy(np.array([start, end]) @ axes[:2].T)
    return Line(points=ends, colour="orange" if is_cut else "grey" if hidden else "dark", dashed=hidden)


def _xy(points: Outline) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in points)


def _text(shape: Outline) -> str:
    return " ".join(f"{x:.3f},{y:.3f}" for x, y in shape)


def _read(text: str) -> Outline:
    return np.array([corner.split(",") for corner in text.split(" ")], dtype=np.float64)
