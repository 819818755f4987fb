"""Points on the largest surface of a reconstruction, or of a part of it: walls, floor, and what stands on it.

An object that moves evenly along with the camera, or against it, is triangulated at a wrong range: with a camera that
moves evenly, too, nothing in its own points shows it. But then it hangs in the air: in the picture, nothing beside it
has its range.
"""

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay

_FRAMES, _FARTHEST_APART = 12, 8
"""Points are joined in at least so many evenly spaced frames, if there are so many, and at least in every 8th."""
_LEAST_POINTS = 4
"""A frame with fewer points has no triangulation."""


def on_largest_surface(
    point: Int64[np.ndarray, "o"],
    frame: Int64[np.ndarray, "o"],
    xy_px: Float64[np.ndarray, "o 2"],
    ranges: Float64[np.ndarray, "o"],
    count: int,
    same_range: float,
) -> Bool[np.ndarray, "count"]:
    """Which of `count` points belong to the largest group of joined points, or to one that has most of the points of
    the frames that see it: a tour of two rooms has two such groups.

    Two points are joined if they are neighbours in the Delaunay triangulation of a frame, and their ranges there differ
    by at most `same_range` (|ln| of their ratio). The arrays have one row per observation: of which point, in which
    frame, where, and how far that point is from the camera of the frame, in any unit. Observations with a NaN join
    nothing.
    """
    known = np.isfinite(ranges) & np.isfinite(xy_px).all(axis=1)
    point, frame, xy_px, ranges = point[known], frame[known], xy_px[known], ranges[known]
    edges = _edges(frame, xy_px)
    with np.errstate(invalid="ignore", divide="ignore"):
        joined = np.abs(np.log(ranges[edges[:, 0]] / ranges[edges[:, 1]])) <= same_range
    one, other = point[edges[joined]].T
    if not len(one):
        return np.zeros(count, dtype=bool)
    graph = coo_array((np.ones(len(one)), (one, other)), shape=(count, count))
    groups, group = connected_components(graph, directed=False)
    kept = _has_most_points(frame, group[point].astype(np.int64), groups)
    kept[np.bincount(group).argmax()] = True
    return np.asarray(kept[group])


def _has_most_points(
    frame: Int64[np.ndarray, "o"], group: Int64[np.ndarray, "o"], groups: int
) -> Bool[np.ndarray, "groups"]:
    """Whether more than half of a group's observations are in frames of which it has more than half."""
    row = np.unique(frame, return_inverse=True)[1]
    _, cell, size = np.unique(row * groups + group, return_inverse=True, return_counts=True)
    in_most = 2 * size[cell] > np.bincount(row)[row]
    return 2 * np.bincount(group, in_most, groups) > np.bincount(group, minlength=groups)


def _edges(frame: Int64[np.ndarray, "o"], xy_px: Float64[np.ndarray, "o 2"]) -> Int64[np.ndarray, "k 2"]:
    """Pairs of observations that are neighbours in their frame."""
    frames = np.unique(frame)
    found = [np.empty((0, 2), dtype=np.int64)]
    for one in frames[:: int(np.clip(len(frames) // _FRAMES, 1, _FARTHEST_APART))]:
        here = np.flatnonzero(frame == one)
        if len(here) < _LEAST_POINTS:
            continue
        # "QJ" joggles what lies on one line, which has no triangulation
        corners = here[Delaunay(xy_px[here], qhull_options="QJ").simplices]
        found += [corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]
    return np.concatenate(found)
