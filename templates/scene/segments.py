"""Straight lines in space between two surface points, and the angles between them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns
from templates.scene.edges import mask_pixel_px, straight_edges
from templates.scene.marks import inside
from templates.scene.point_groups import clear_pixels
from templates.scene.scene import Scene, find_rows

_PIXEL_SIGMA_PX = 1.0
"""σ of the position of an end per axis, at 640 px width."""
_BETWEEN = np.array([0.25, 0.5, 0.75])
"""Places between the ends at which a line is compared with the surface."""
_OFF_SURFACE = 0.04
"""Largest distance of a line from the surface along it, as a share of its length."""
_SHORTEST, _LONGEST = 0.1, 0.5
"""Of lines in the photo, as shares of the diagonal."""
_MANY_EDGES = 12
"""So many edges of objects in a photo suffice."""
_INWARDS = 0.015
"""How far inside an object a line along its edge runs, as a share of the diagonal, ..."""
_INWARDS_PX = 5.0
"""... and in pixels of its mask: the depth of an object is blurred at its border."""


@dataclass(frozen=True, kw_only=True)
class Segments(Columns):
    """Lines between two points of one photo each."""

    frame: Int64[np.ndarray, "n"]
    ends_px: Float64[np.ndarray, "n 2 2"]


@dataclass(frozen=True, kw_only=True)
class Directions(Columns):
    """Directions of lines in space; NaN where unknown."""

    along: Float64[np.ndarray, "n 3"]
    """Unit vector in camera axes."""
    sigma_rad: Float64[np.ndarray, "n"]
    """Per axis, without that of the focal length."""
    outlier_probability: Float64[np.ndarray, "n"]
    """Probability that one of the ends is an outlier."""
    leaves_surface: Bool[np.ndarray, "n"]
    """Whether a known surface between the ends lies off the line."""


def directions(scene: Scene, lines: Segments) -> Directions:
    """From the surface points at both ends; σ of ranges and pixels."""
    seen = scene.surface(lines.frame.repeat(2), lines.ends_px.reshape(-1, 2))
    ends = seen.xyz_cam.reshape(-1, 2, 3)
    line = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(line, axis=1)
    pixel_rad = np.nan if scene.path is None else _PIXEL_SIGMA_PX * scene.pixel_scale / scene.path.intrinsics.fx_px
    with np.errstate(invalid="ignore", divide="ignore"):
        along = line / length[:, None]
        shift = (seen.xyz_cam * seen.range_relative_sigma[:, None]).reshape(-1, 2, 3)
        across = shift - np.einsum("nki,ni->nk", shift, along)[..., None] * along[:, None]
        moved = np.hypot(np.linalg.norm(across, axis=2), ends[:, :, 2] * pixel_rad)
        sigma = np.linalg.norm(moved, axis=1) / length
    return Directions(
        along=along,
        sigma_rad=sigma,
        outlier_probability=1 - np.prod(1 - seen.outlier_probability.reshape(-1, 2), axis=1),
        leaves_surface=_leaves_surface(scene, lines, ends),
    )


def _leaves_surface(scene: Scene, lines: Segments, ends: Float64[np.ndarray, "n 2 3"]) -> Bool[np.ndarray, "n"]:
    start, along = lines.ends_px[:, :1], lines.ends_px[:, 1:] - lines.ends_px[:, :1]
    between = start + _BETWEEN[:, None] * along
    xyz = scene.surface(lines.frame.repeat(len(_BETWEEN)), between.reshape(-1, 2)).xyz_cam.reshape(-1, len(_BETWEEN), 3)
    line = ends[:, 1] - ends[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        off = np.linalg.norm(np.cross(xyz - ends[:, :1], line[:, None]), axis=2) / np.sum(line**2, axis=1)[:, None]
        return np.asarray((off > _OFF_SURFACE).any(axis=1))


def angle_deg(first: Directions, second: Directions) -> Float64[np.ndarray, "n"]:
    """Between the lines of each row, 0 to 90."""
    with np.errstate(invalid="ignore"):
        return np.degrees(np.arccos(np.clip(np.abs(np.sum(first.along * second.along, axis=1)), 0, 1)))


def possible_segments(scene: Scene, rng: np.random.Generator, count: int) -> Segments:
    """Lines along straight edges of objects; in photos with few of them, also lines between clear pixels."""
    edges = _along_edges(scene)
    shown, edges_shown = np.unique(edges.frame, return_counts=True)
    frame, xy = clear_pixels(scene, rng, count)
    free = ~np.isin(frame, shown[edges_shown >= _MANY_EDGES])
    frame, xy = frame[free], xy[free]
    _, first, points = np.unique(frame, return_index=True, return_counts=True)
    start = np.repeat(np.arange(len(frame)), 4)
    at = np.repeat(np.arange(len(points)), points)[start] if len(frame) else start
    end = first[at] + (rng.random(len(start)) * points[at]).astype(np.int64) if len(frame) else start
    length = np.linalg.norm(xy[end] - xy[start], axis=1) / scene.diagonal_px
    kept = (length >= _SHORTEST) & (length <= _LONGEST)
    between = Segments(frame=frame[start[kept]], ends_px=np.stack([xy[start[kept]], xy[end[kept]]], axis=1))
    return Segments.concatenated([edges, between])


def _along_edges(scene: Scene) -> Segments:
    """Just inside the object, in photos with depth."""
    edges, depth = straight_edges(scene), scene.depth
    if depth is None:
        return Segments.concatenated([])
    edges = edges.take(find_rows(depth.frames, edges.frame) >= 0)
    step = max(_INWARDS * scene.diagonal_px, _INWARDS_PX * mask_pixel_px(scene)) if len(edges) else 0.0
    ends = edges.ends_px - step * edges.outward[:, None]
    within = inside(scene.clip, ends).all(axis=1)
    return Segments(frame=edges.frame[within], ends_px=ends[within])
