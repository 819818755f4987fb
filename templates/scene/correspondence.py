"""Where a point of one frame lies in another: by confirmed matches, or by measured dense geometry; or that it lies
outside."""

import numpy as np
from jaxtyping import Float64

from templates.measured import Measured, Undecided
from templates.scene.out_of_view import beyond_edge, left_out
from templates.scene.scene import Scene, find_rows

_NEAR_PX = 1.5
"""A match speaks for a pixel within this distance (at 640 px width)."""
_DEPTH_AGREES = 0.03
"""Relative difference of depth up to which a reprojected point counts as seen."""
_CONFIRMED_BY = ("nothing", "track", "reprojection", "homography", "depth there and back")
"""In words: `Matches.confirmed_by`."""


def corresponding_point(
    scene: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "2"], frame_b: int
) -> Measured | Undecided:
    """The pixel in frame b of what frame a shows at a pixel; with a label where that is surely outside the picture."""
    if scene.measured_depth is not None:
        return _by_geometry(scene, frame_a, xy_a_px, frame_b)
    matches = scene.matches
    if matches is None:
        return Undecided(reason="no matches")
    pair = np.flatnonzero((matches.pairs == [frame_a, frame_b]).all(axis=1))
    rows = np.flatnonzero(np.isin(matches.pair, pair))
    apart = np.linalg.norm(matches.xy_a_px[rows] - xy_a_px, axis=1)
    if not len(rows) or apart.min() > _NEAR_PX * scene.pixel_scale:
        return left_out(scene, frame_a, xy_a_px, frame_b) or Undecided(reason="point is not matched")
    row = rows[apart.argmin()]
    return Measured(
        value=matches.xy_b_px[row],
        sigma=np.full(2, matches.sigma_px[row]),
        outlier_probability=float(matches.outlier_probability[row]),
        evidence={"confirmed_by": _CONFIRMED_BY[matches.confirmed_by[row]]},
    )


def _by_geometry(scene: Scene, frame_a: int, xy_a_px: np.ndarray, frame_b: int) -> Measured | Undecided:
    """Unprojects, moves with the object that carries the point, projects, and looks whether it is seen there."""
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
    if not np.isfinite(z) or abs(z - cam_b[2]) > _DEPTH_AGREES * cam_b[2]:
        return Undecided(reason="point is hidden")
    parallax = a[:3, :3].T @ (b[:3, 3] - a[:3, 3])
    reach = float(np.linalg.norm(parallax)) / max(float(seen.range[0]), 1e-9)
    sigma = float(seen.range_relative_sigma[0]) * reach * scene.path.intrinsics.fx_px
    return Measured(value=xy_b, sigma=np.full(2, max(sigma, 0.05)), evidence={"confirmed_by": "geometry"})


def moved_with_object(scene: Scene, frame_a: int, xy_a_px: np.ndarray, frame_b: int, world: np.ndarray) -> np.ndarray:
    """Where a world point seen at a pixel of frame a is at frame b, if the object there is known to move."""
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
    """Index of the object at a pixel; -1 for none or not known."""
    objects = scene.objects
    if objects is None or (row := int(find_rows(objects.frames, [frame])[0])) < 0:
        return -1
    height, width = objects.ids.shape[1:]
    scale = np.array([width / scene.clip.width_px, height / scene.clip.height_px])
    x, y = np.round((xy_px + 0.5) * scale - 0.5).astype(int)
    return int(objects.ids[row, np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)])
