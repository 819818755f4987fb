"""The pixel in one frame that shows a point of another: from confirmed matches, or from measured dense depth."""

import numpy as np
from jaxtyping import Float64

from templates.measured import Measured, Undecided
from templates.scene.out_of_view import beyond_edge, out_of_view
from templates.scene.scene import Scene, find_rows
from templates.scene.surface import MAX_DISTANCE_PX

_MAX_DEPTH_DIFFERENCE = 0.03
"""Largest relative difference of depth at which a reprojected point counts as visible."""
_CONFIRMED_BY = ("nothing", "track", "reprojection", "homography", "depth there and back")
"""In words: `Matches.confirmed_by`."""


def corresponding_point(
    scene: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "2"], frame_b: int
) -> Measured | Undecided:
    """The pixel of frame b that shows the same point as a pixel of frame a.

    The label "cannot be determined" where the point certainly lies outside frame b.
    """
    if scene.measured_depth is not None:
        return _by_geometry(scene, frame_a, xy_a_px, frame_b)
    matches = scene.matches
    if matches is None:
        return Undecided(reason="no matches")
    pair = np.flatnonzero((matches.pairs == [frame_a, frame_b]).all(axis=1))
    rows = np.flatnonzero(np.isin(matches.pair, pair))
    distance_px = np.linalg.norm(matches.xy_a_px[rows] - xy_a_px, axis=1)
    if not len(rows) or distance_px.min() > MAX_DISTANCE_PX * scene.pixel_scale:
        return out_of_view(scene, frame_a, xy_a_px, frame_b) or Undecided(reason="point is not matched")
    row = rows[distance_px.argmin()]
    return Measured(
        value=matches.xy_b_px[row],
        sigma=np.full(2, matches.sigma_px[row]),
        outlier_probability=float(matches.outlier_probability[row]),
        evidence={"confirmed_by": _CONFIRMED_BY[matches.confirmed_by[row]]},
    )


def _by_geometry(scene: Scene, frame_a: int, xy_a_px: np.ndarray, frame_b: int) -> Measured | Undecided:
    """Unprojects the pixel, moves the point with its object, projects it, and tests whether frame b shows it."""
    seen = scene.surface(frame_a, xy_a_px[None])
    a, b = scene.world_from_cam([frame_a, frame_b])
    if scene.path is None or not (np.isfinite(seen.xyz_cam).all() and np.isfinite(a).all() and np.isfinite(b).all()):
        return Undecided(reason="depth or camera is not known")
    world = a[:3, :3] @ seen.xyz_cam[0] + a[:3, 3]
    world = moved_with_object(scene, frame_a, xy_a_px, frame_b, world)
    cam_b = b[:3, :3].T @ (world - b[:3, 3])
    (xy_b,) = scene.path.intrinsics.project(cam_b[None])
    if not scene.path.intrinsics.contains(xy_b):
        outside = beyond_edge(scene, frame_a, frame_b, cam_b[None], np.ones(1), 0.0)
        return outside or Undecided(reason="point leaves the picture")
    there = scene.surface(frame_b, xy_b[None])
    z = float(there.xyz_cam[0, 2])
    if not np.isfinite(z) or abs(z - cam_b[2]) > _MAX_DEPTH_DIFFERENCE * cam_b[2]:
        return Undecided(reason="point is hidden")
    baseline = a[:3, :3].T @ (b[:3, 3] - a[:3, 3])
    parallax_rad = float(np.linalg.norm(baseline)) / max(float(seen.range[0]), 1e-9)
    sigma = float(seen.range_relative_sigma[0]) * parallax_rad * scene.path.intrinsics.fx_px
    return Measured(value=xy_b, sigma=np.full(2, max(sigma, 0.05)), evidence={"confirmed_by": "geometry"})


def moved_with_object(scene: Scene, frame_a: int, xy_a_px: np.ndarray, frame_b: int, world: np.ndarray) -> np.ndarray:
    """The world position at frame b of a point that frame a shows at a pixel; moved with the object at that pixel."""
    objects = scene.objects
    if objects is None:
        return world
    row_a, row_b = find_rows(objects.frames, [frame_a, frame_b])
    k = object_at(scene, frame_a, xy_a_px)
    if row_a < 0 or row_b < 0 or k < 0:
        return world
    from_a, from_b = objects.world_from_object[row_a, k], objects.world_from_object[row_b, k]
    local = from_a[:3, :3].T @ (world - from_a[:3, 3])
    return np.asarray(from_b[:3, :3] @ local + from_b[:3, 3])


def object_at(scene: Scene, frame: int, xy_px: np.ndarray) -> int:
    """Index of the object at a pixel; -1 where there is none, or none is known."""
    objects = scene.objects
    if objects is None or (row := int(find_rows(objects.frames, [frame])[0])) < 0:
        return -1
    height, width = objects.ids.shape[1:]
    scale = np.array([width / scene.clip.width_px, height / scene.clip.height_px])
    x, y = np.round((xy_px + 0.5) * scale - 0.5).astype(int)
    return int(objects.ids[row, np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)])
