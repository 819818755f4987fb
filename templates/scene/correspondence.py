"""The pixels in one frame that show points of another: from confirmed matches, or from measured dense depth."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial import cKDTree

from experts.signals import Matches
from templates.measured import Measured, first_reason
from templates.scene.marks import Frame, Pixel
from templates.scene.out_of_view import NOT_PROVEN, beyond_edge, out_of_view
from templates.scene.scene import Scene, find_rows
from templates.scene.surface import MAX_DISTANCE_PX

_MAX_DEPTH_DIFFERENCE = 0.03
"""Largest relative difference of depth at which a reprojected point counts as visible; 3 σ if that is more, ..."""
_HIDDEN_DIFFERENCE = 0.1
"""... but never more than this."""
_CONFIRMED_BY = np.array(["nothing", "track", "reprojection", "homography", "depth there and back"])
"""In words: `Matches.confirmed_by`."""
_LEAVES = "point leaves the picture"
_MIN_SIGMA_PX = 0.05


def corresponding_points(scene: Scene, frame_a: Frame, xy_a_px: Pixel, frame_b: Frame) -> Measured:
    """The pixels of frame b that show the same points as pixels of frame a.

    The label "cannot be determined" where the point certainly lies outside frame b.
    """
    if scene.measured_depth is not None or scene.matched is not None:
        return _by_geometry(scene, frame_a, xy_a_px, frame_b)
    matches, count = both_ways(scene), len(frame_a)
    if matches is None:
        return Measured.none(count, "no matches", components=2)
    row = _nearest_match(scene, matches, frame_a, xy_a_px, frame_b)
    outside = out_of_view(scene, frame_a, xy_a_px, frame_b)
    outside = replace(outside, why=np.where(outside.why == NOT_PROVEN, "point is not matched", outside.why))
    if not len(matches.pair):
        return replace(outside, evidence={"confirmed_by": np.full(count, ""), **outside.evidence})
    outliers, confirmed_by = matches.outlier_probability[row], _CONFIRMED_BY[matches.confirmed_by[row]]
    return _either(row < 0, outside, matches.xy_b_px[row], matches.sigma_px[row], outliers, confirmed_by)


def _either(
    is_outside: np.ndarray,
    outside: Measured,
    xy_px: Pixel,
    sigma_px: np.ndarray,
    outlier_probability: np.ndarray,
    confirmed_by: np.ndarray,
) -> Measured:
    """What `outside` says where it applies, elsewhere the pixel."""
    assert outside.label is not None and outside.margin is not None
    known = {
        name: np.where(is_outside, column, "" if column.dtype.kind == "U" else np.nan)
        for name, column in outside.evidence.items()
    }
    return Measured(
        why=np.where(is_outside, outside.why, ""),
        value=np.where(is_outside[:, None], outside.value, xy_px),
        sigma=np.where(is_outside[:, None], outside.sigma, sigma_px[:, None]),
        label=np.where(is_outside, outside.label, ""),
        margin=np.where(is_outside, outside.margin, np.nan),
        outlier_probability=np.where(is_outside, outside.outliers, outlier_probability),
        evidence={"confirmed_by": np.where(is_outside, "", confirmed_by), **known},
    )


def both_ways(scene: Scene) -> Matches | None:
    """The matches from either frame of each pair to the other; computed once per scene."""
    matches = scene.matches
    return scene.once("matches both ways", lambda: matches and matches.and_also(matches.swapped()))


def _nearest_match(
    scene: Scene, matches: Matches, frame_a: Frame, xy_a_px: Pixel, frame_b: Frame
) -> Int64[np.ndarray, "n"]:
    """Row of the match of the two frames nearest to the pixel; -1 if none is within `MAX_DISTANCE_PX`."""
    apart = 1e6  # so that no search crosses frames
    if not len(matches.pair):
        return np.full(len(frame_a), -1)
    pairs = matches.pairs[matches.pair]
    tree = scene.once("places of matches", lambda: cKDTree(np.column_stack([pairs * apart, matches.xy_a_px])))
    wanted = np.column_stack([frame_a * apart, frame_b * apart, xy_a_px])
    distance_px, row = tree.query(wanted)
    return np.where(distance_px <= MAX_DISTANCE_PX * scene.pixel_scale, row, -1)


def _by_geometry(scene: Scene, frame_a: Frame, xy_a_px: Pixel, frame_b: Frame) -> Measured:
    """Unprojects the pixels, moves the points with their objects, projects them, and tests whether frame b shows
    them."""
    if scene.path is None:
        return Measured.none(len(frame_a), "depth or camera is not known", components=2)
    camera = scene.path.intrinsics
    seen = scene.surface(frame_a, xy_a_px)
    a, b = scene.world_from_cam(frame_a), scene.world_from_cam(frame_b)
    known = np.isfinite(seen.xyz_cam).all(axis=1) & np.isfinite(a).all(axis=(1, 2)) & np.isfinite(b).all(axis=(1, 2))
    world = np.einsum("nij,nj->ni", a[:, :3, :3], seen.xyz_cam) + a[:, :3, 3]
    world = moved_with_object(scene, frame_a, xy_a_px, frame_b, world)
    cam_b = np.einsum("nji,nj->ni", b[:, :3, :3], world - b[:, :3, 3])
    with np.errstate(invalid="ignore"):
        xy_b = camera.project(cam_b)
    is_outside = known & ~camera.contains(xy_b)
    outside = beyond_edge(scene, frame_a, frame_b, cam_b[:, None], np.ones((len(frame_a), 1)), np.zeros(len(frame_a)))
    there = scene.surface(frame_b, xy_b)
    with np.errstate(invalid="ignore"):
        both_sigma = 3 * np.hypot(seen.range_relative_sigma, there.range_relative_sigma)
        most = np.clip(both_sigma, _MAX_DEPTH_DIFFERENCE, _HIDDEN_DIFFERENCE)
        shown = np.abs(there.xyz_cam[:, 2] - cam_b[:, 2]) <= most * cam_b[:, 2]
        unclear = np.isnan(there.range) | (both_sigma > _HIDDEN_DIFFERENCE)
        parallax_rad = np.linalg.norm(b[:, :3, 3] - a[:, :3, 3], axis=1) / np.maximum(seen.range, 1e-9)
        sigma = np.hypot(
            seen.range_relative_sigma * parallax_rad * camera.fx_px, _pose_sigma_px(scene, frame_a, frame_b)
        )
        sigma = np.maximum(sigma, _MIN_SIGMA_PX)
    if scene.matched is not None:
        rows = np.flatnonzero(known & ~is_outside & unclear)
        pairs = np.column_stack([frame_a, frame_b])[rows]
        shown[rows] = scene.matched.shows(pairs, xy_a_px[rows], seen.xyz_cam[rows, 2])
    outside = replace(outside, why=np.where(outside.why == NOT_PROVEN, _LEAVES, outside.why))
    confirmed_by = np.full(len(frame_a), "geometry")
    found = _either(is_outside, outside, xy_b, sigma, np.zeros(len(frame_a)), confirmed_by)
    cases = {"depth or camera is not known": ~known, "point is hidden": known & ~is_outside & ~shown}
    return found.refused(first_reason(len(frame_a), cases))


def _pose_sigma_px(scene: Scene, frame_a: Frame, frame_b: Frame) -> Float64[np.ndarray, "n"]:
    """σ that the rotation between two frames gives a pixel; the σ that matches show, if that is smaller."""
    assert scene.path is not None
    rotation = scene.relative_rotation_sigma_rad(np.column_stack([frame_a, frame_b])) * scene.path.intrinsics.fx_px
    return rotation if scene.matched is None else np.fmin(rotation, scene.matched.pose_sigma_px)


def moved_with_object(
    scene: Scene, frame_a: Frame, xy_a_px: Pixel, frame_b: Frame, world: Float64[np.ndarray, "n 3"]
) -> Float64[np.ndarray, "n 3"]:
    """World positions at frame b of points that frame a shows at pixels; moved with the objects at those pixels."""
    objects = scene.exact_objects
    if objects is None or not objects.labels:
        return world
    row_a, row_b = find_rows(objects.frames, frame_a), find_rows(objects.frames, frame_b)
    k = objects_at(scene, frame_a, xy_a_px)
    moves = (row_a >= 0) & (row_b >= 0) & (k >= 0)
    from_a, from_b = objects.world_from_object[row_a, k], objects.world_from_object[row_b, k]
    local = np.einsum("nji,nj->ni", from_a[:, :3, :3], world - from_a[:, :3, 3])
    return np.where(moves[:, None], np.einsum("nij,nj->ni", from_b[:, :3, :3], local) + from_b[:, :3, 3], world)


def objects_at(scene: Scene, frames: Frame, xy_px: Pixel) -> Int64[np.ndarray, "n"]:
    """Index of the object at each pixel; -1 where there is none, or none is known."""
    objects = scene.exact_objects
    if objects is None:
        return np.full(len(frames), -1)
    rows = find_rows(objects.frames, frames)
    height, width = objects.ids.shape[1:]
    scale = np.array([width / scene.clip.width_px, height / scene.clip.height_px])
    x, y = np.round((np.nan_to_num(xy_px) + 0.5) * scale - 0.5).astype(int).T
    ids = objects.ids[rows, np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    return np.where(rows < 0, -1, ids).astype(np.int64)
