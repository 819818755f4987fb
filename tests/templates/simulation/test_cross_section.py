"""Cuts of solids, made again: a large square in the plane is clipped by every face of the convex hull."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from templates.asked import Draft
from templates.generate import ask_puzzles
from templates.registry import create_templates
from templates.simulation.puzzles import cross_section, polyhedron


@cache
def drafts(count: int = 40, seed: int = 0) -> list[Draft]:
    found = ask_puzzles([create_templates()["cross_section"]], count, seed)
    return [draft for asked in found.asked for draft in asked.drafts()]


def clipped(corners: np.ndarray, three: np.ndarray) -> np.ndarray:
    """The part of the plane through three points that lies in the convex hull, in coordinates of the plane."""
    u = (three[1] - three[0]) / np.linalg.norm(three[1] - three[0])
    v = three[2] - three[0] - (three[2] - three[0]) @ u * u
    v /= np.linalg.norm(v)
    polygon = 9.0 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    for *normal, offset in ConvexHull(corners).equations:
        beyond = (three[0] + polygon @ np.array([u, v])) @ normal + offset
        kept = []
        for k, here in enumerate(polygon):
            there, a, b = polygon[k - 1], beyond[k], beyond[k - 1]
            if (a > 1e-9) != (b > 1e-9):
                kept.append(there + b / (b - a) * (here - there))
            if a <= 1e-9:
                kept.append(here)
        polygon = np.array(kept)
    far = np.linalg.norm(polygon - np.roll(polygon, 1, axis=0), axis=1) > 1e-6
    return polygon[far]


def similar(a: np.ndarray, b: np.ndarray) -> float:
    """Of two polygons the largest distance of corners, when one is turned, mirrored and scaled onto the other."""
    if len(a) != len(b):
        return np.inf
    (p, q) = ((shape @ (1, 1j)) - (shape @ (1, 1j)).mean() for shape in (a, b))
    found = []
    for way in (q, q[::-1], q.conj(), q[::-1].conj()):
        for k in range(len(q)):
            turned = np.roll(way, k)
            turned = turned * (turned.conj() @ p) / (turned.conj() @ turned)
            found.append(np.abs(turned - p).max() / np.abs(p).max())
    return min(found)


def shown_shape(sheet) -> np.ndarray:
    return np.array(sheet.polygons[0].corners)


def three_points(fact) -> tuple[np.ndarray, np.ndarray]:
    corners = polyhedron.solids()[fact["solid"]].corners
    return corners, np.array([corners[a] + k / fact["parts"] * (corners[b] - corners[a]) for a, b, k in fact["plane"]])


def test_one_shape_alone_is_the_cut():
    for draft in drafts():
        cut = clipped(*three_points(draft.fact))
        off = [similar(cut, shown_shape(option.shown)) for option in draft.options]
        assert off[draft.written] < 0.01
        assert min(each for k, each in enumerate(off) if k != draft.written) > 0.08


def test_the_sides_are_told_in_edges_of_the_solid():
    for draft in drafts():
        corners, three = three_points(draft.fact)
        cut = clipped(corners, three)
        sides = np.linalg.norm(np.roll(cut, -1, axis=0) - cut, axis=1)
        told = [float(side) for side in draft.evidence["working"].split(", ")]
        assert np.abs(np.sort(told) - np.sort(sides)).max() < 0.01


def test_options_differ_clearly():
    for draft in drafts():
        for a, b in combinations([shown_shape(option.shown) for option in draft.options], 2):
            assert similar(a, b) > 0.05


def test_the_drawing_shows_the_cut():
    """The tinted part is a projection of the cut: an affine map takes one onto the other."""
    for draft in drafts():
        drawn, cut = np.array(draft.media[0].polygons[0].corners), clipped(*three_points(draft.fact))
        assert len(drawn) == len(cut)
        off = []
        for k in range(len(cut)):
            for way in (cut, cut[::-1]):
                flat = np.column_stack([np.roll(way, k, axis=0), np.ones(len(cut))])
                found, *_ = np.linalg.lstsq(flat, drawn, rcond=None)
                off.append(np.abs(flat @ found - drawn).max())
        assert min(off) < 1e-6


@pytest.mark.parametrize(
    ("name", "corners", "edges", "faces"),
    [
        ("regular tetrahedron", 4, 6, 4),
        ("cube", 8, 12, 6),
        ("regular octahedron", 6, 12, 8),
        ("square pyramid", 5, 8, 5),
        ("pentagonal pyramid", 6, 10, 6),
        ("triangular prism", 6, 9, 5),
        ("pentagonal prism", 10, 15, 7),
        ("hexagonal prism", 12, 18, 8),
    ],
)
def test_solids_have_equal_edges(name, corners, edges, faces):
    solid = polyhedron.solids()[name]
    assert (len(solid.corners), len(solid.edges), len(solid.faces)) == (corners, edges, faces)
    hull = ConvexHull(solid.corners)
    assert len(np.unique(hull.equations.round(6), axis=0)) == faces and len(hull.vertices) == corners


def test_a_difference_does_not_depend_on_how_a_shape_lies():
    shape = np.array([(0, 0), (3, 0), (2, 1), (0, 1.5)])
    turn = np.array([(0.6, 0.8), (-0.8, 0.6)])
    others = [shape, shape @ turn, shape * (-1, 1), 7 * shape[::-1] + 3, shape * (1, 1.5)]
    forms = np.array([polyhedron.form(polyhedron.upright(other)) for other in others])
    found = polyhedron.differences(forms[0], forms)
    assert found[:4].max() < 0.01 and found[4] > 0.07


@pytest.mark.parametrize(("name", "parts", "kinds"), [("regular tetrahedron", 2, 3), ("cube", 2, 15)])
def test_so_many_kinds_of_cuts_exist(name, parts, kinds):
    """Through corners and middles of edges, without small cuts."""
    found = cross_section.planes(name, parts)
    assert len(found) == kinds
