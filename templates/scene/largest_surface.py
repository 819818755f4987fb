"""Sparse points on the largest surface: walls, floor, and what stands on it.

An object that moves evenly along with the camera, or against it, is triangulated at a wrong range: with a camera that
moves evenly, too, nothing in its own points shows it. But then it hangs in the air: in the picture, nothing beside it
has its range.
"""

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay

from experts.signals import SparsePoints

_FRAMES, _FARTHEST_APART = 12, 8
"""Points are joined in at least so many evenly spaced frames, if there are so many, and at least in every 8th."""
_LEAST_POINTS = 4
"""A frame with fewer points has no triangulation."""


def on_largest_surface(
    points: SparsePoints, counted: Bool[np.ndarray, "o"], ranges: Float64[np.ndarray, "o"], same_range: float
) -> Bool[np.ndarray, "p"]:
    """Which points belong to the largest group of joined points.

    Two points are joined if they are neighbours in the Delaunay triangulation of a frame, and their ranges there differ
    by at most `same_range` (|ln| of their ratio). `ranges`: distance of each observation's point from the camera of its
    frame, in any unit. Only `counted` observations are used.
    """
    number = len(points.xyz_world)
    placed = np.isfinite(ranges) & np.isfinite(points.observation_xy_px).all(axis=1)
    edges = _edges(points, counted & placed)
    with np.errstate(invalid="ignore", divide="ignore"):
        joined = np.abs(np.log(ranges[edges[:, 0]] / ranges[edges[:, 1]])) <= same_range
    one, other = points.observation_point[edges[joined]].T
    if not len(one):
        return np.zeros(number, dtype=bool)
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(number, number))
    group = connected_components(graph, directed=False)[1]
    return np.asarray(group == np.bincount(group).argmax())


def _edges(points: SparsePoints, which: Bool[np.ndarray, "o"]) -> Int64[np.ndarray, "k 2"]:
    """Pairs of observations that are neighbours in their frame."""
    frames = np.unique(points.observation_frame[which])
    found = [np.empty((0, 2), dtype=np.int64)]
    for frame in frames[:: int(np.clip(len(frames) // _FRAMES, 1, _FARTHEST_APART))]:
        here = np.flatnonzero(which & (points.observation_frame == frame))
        if len(here) < _LEAST_POINTS:
            continue
        # "QJ" joggles what lies on one line, which has no triangulation
        corners = here[Delaunay(points.observation_xy_px[here], qhull_options="QJ").simplices]
        found += [corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]
    return np.concatenate(found)
