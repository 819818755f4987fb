"""Points of one photo that lie outside another: how many σ they lie beyond its edges.

A point without a match may still be visible, because it is hidden or has no texture. Only geometry proves the label.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.intrinsics import Intrinsics
from experts.tracking.track_ranges import nearest_tracks
from templates.measured import Measured, first_reason
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, Frame, Pixel, inside, markable
from templates.scene.offsets import offsets
from templates.scene.scene import Scene, find_rows
from templates.scene.surface import MAX_DISTANCE_PX
from templates.unanswerable import UNDETERMINED

NOT_PROVEN = "nothing proves that the point is outside"
_RANGE_FACTOR = 2.0
"""The point may be nearer than measured by this factor, or arbitrarily far. In rendered rooms one of 430 points outside
at its measured range was inside; none of 187 points outside at every such range was."""
_MAX_FOCAL_SIGMA = 0.1
"""Largest relative σ of the focal length of a camera in pure rotation: measured or stated, not guessed (0.2)."""
_MIN_SIGMA_PX = 0.05


def out_of_view(scene: Scene, frame_a: Frame, xy_a_px: Pixel, frame_b: Frame) -> Measured:
    """The label that photo b does not show the point at a pixel of photo a; undecided where that is not proven.

    Every point on the pixel's ray, from half the measured range to infinity, must lie beyond one edge of photo b.
    """
    if not _relative_pose_known(scene):
        return Measured.none(len(frame_a), NOT_PROVEN, components=2)
    inverse_range, outlier_probability = _max_inverse_range(scene, frame_a, xy_a_px)
    ends_b = _ray_ends(scene, frame_a, xy_a_px, frame_b, inverse_range)
    inverse = np.stack([inverse_range, np.zeros(len(frame_a))], axis=1)
    found = beyond_edge(scene, frame_a, frame_b, ends_b, inverse, outlier_probability)
    contradicted = found.why == ""
    contradicted[contradicted] = _tracked_into(
        scene, frame_a[contradicted], xy_a_px[contradicted], frame_b[contradicted]
    )
    return replace(found, why=np.where(contradicted, "a track contradicts the reconstruction", found.why))


def beyond_edge(
    scene: Scene,
    frame_a: Frame,
    frame_b: Frame,
    ends_b: Float64[np.ndarray, "n e 3"],
    inverse_range: Float64[np.ndarray, "n e"],
    outlier_probability: Float64[np.ndarray, "n"],
) -> Measured:
    """The label for points `ends_b / inverse_range` (b's camera axes) beyond one common edge of photo b.

    First-order σ of each point: the rotation between the photos ⊕ the translation between them over the distance from
    b. The margin is the smallest one of the points, each in its own σ.
    """
    assert scene.path is not None
    camera, frames = scene.path.intrinsics, np.stack([frame_a, frame_b], axis=1)
    translation_sigma = _translation_sigma(scene, frames)
    with np.errstate(invalid="ignore", divide="ignore"):
        parallax_sigma_rad = translation_sigma[:, None] * inverse_range / np.linalg.norm(ends_b, axis=2)
        sigma_rad = np.hypot(scene.relative_rotation_sigma_rad(frames)[:, None], parallax_sigma_rad)
        xy = camera.project(ends_b)
        slope = 1 + np.sum((ends_b[..., :2] / ends_b[..., 2:]) ** 2, axis=2)  # d tan / d angle
        sigma = np.maximum(max(camera.fx_px, camera.fy_px) * slope * sigma_rad, _MIN_SIGMA_PX)
        beyond = overshoots_px(camera, ends_b)
        margins = (beyond / sigma[..., None]).min(axis=1)
    rows = np.arange(len(frame_a))
    edge = np.where(np.isnan(margins), -np.inf, margins).argmax(axis=1)
    least = np.nan_to_num(beyond[rows, :, edge], nan=-np.inf).argmin(axis=1)
    proven = (margins[rows, edge] > 0) & np.isfinite(translation_sigma) & np.isfinite(outlier_probability)
    return Measured(
        why=first_reason(len(rows), {NOT_PROVEN: ~proven}),
        value=xy[rows, least],
        sigma=np.repeat(sigma[rows, least][:, None], 2, axis=1),
        label=np.full(len(rows), UNDETERMINED),
        margin=margins[rows, edge],
        outlier_probability=outlier_probability,
        evidence={
            "outside_px": beyond[rows, least, edge].round(1),
            "outside_sigma_px": sigma[rows, least].round(1),
            "camera": np.full(len(rows), scene.path.motion),
        },
    )


def _translation_sigma(scene: Scene, frames: Int64[np.ndarray, "n 2"]) -> Float64[np.ndarray, "n"]:
    """σ per axis of the translation between two photos, in path units: systematic ⊕ positions."""
    if scene.path is None or scene.path.motion != "general":
        return np.zeros(len(frames))
    return offsets(scene, frames).shift_sigma


def pixels_out_of_view(scene: Scene, frame_a: int, frame_b: int, least_px: float) -> Float64[np.ndarray, "k 2"]:
    """Markable pixels of photo a whose rays lie at least `least_px` outside photo b, at every possible range."""
    if not _relative_pose_known(scene) or scene.path is None:
        return np.empty((0, 2))
    xy = _matched(scene, frame_a)[0] if scene.path.motion == "rotation_only" else markable(scene, [frame_a])[1]
    a, b = np.full(len(xy), frame_a), np.full(len(xy), frame_b)
    inverse_range, _ = _max_inverse_range(scene, a, xy)
    beyond = overshoots_px(scene.path.intrinsics, _ray_ends(scene, a, xy, b, inverse_range))
    return np.round(xy[(beyond.min(axis=1) >= least_px).any(axis=1)], 1)


def overshoots_px(camera: Intrinsics, xyz_cam: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n 4"]:
    """Distance of points beyond the left, upper, right and lower edge of the picture, in px; negative inside.

    -inf behind the camera, and where radial distortion folds back: there the pixel does not determine the direction.
    """
    xy = camera.project(xyz_cam)
    with np.errstate(divide="ignore", invalid="ignore"):
        tangent2 = np.sum((xyz_cam[..., :2] / xyz_cam[..., 2:]) ** 2, axis=-1, keepdims=True)
    beyond = np.concatenate([-xy, xy - [camera.width_px - 1, camera.height_px - 1]], axis=-1)
    return np.where((1 + 3 * camera.k1 * tangent2 > 0) & np.isfinite(beyond), beyond, -np.inf)


def _relative_pose_known(scene: Scene) -> bool:
    """Whether translation and rotation between photos are known. A pure rotation requires a known focal length."""
    path = scene.path
    if path is None or path.motion not in ("general", "rotation_only"):
        return False
    return path.motion == "general" or path.focal_relative_sigma <= _MAX_FOCAL_SIGMA


def _max_inverse_range(
    scene: Scene, frame_a: Frame, xy_px: Pixel
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """Upper bound of 1 / range at pixels (twice the measured value), and outlier probabilities; NaN where unknown.

    For a camera in pure rotation every point is at infinity; a match shows that there is a point.
    """
    assert scene.path is not None
    if scene.path.motion != "rotation_only":
        surface = scene.surface(frame_a, xy_px)
        return _RANGE_FACTOR / surface.range, surface.outlier_probability
    found = np.full(len(xy_px), np.nan)
    for frame in np.unique(frame_a):
        rows = np.flatnonzero(frame_a == frame)
        matched, outlier_probability = _matched(scene, int(frame))
        near = np.linalg.norm(matched[None] - xy_px[rows, None], axis=2) <= MAX_DISTANCE_PX * scene.pixel_scale
        least = np.where(near, outlier_probability, np.inf).min(axis=1, initial=np.inf)
        found[rows] = np.where(np.isfinite(least), least, np.nan)
    return np.zeros(len(xy_px)), found


def _ray_ends(
    scene: Scene, frame_a: Frame, xy_px: Pixel, frame_b: Frame, inverse_range: Float64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n 2 3"]:
    """The nearest and the farthest possible point of each pixel of photo a, in b's camera axes, over its range."""
    assert scene.path is not None
    a, b = scene.world_from_cam(frame_a), scene.world_from_cam(frame_b)
    translation = np.zeros((len(a), 3)) if scene.path.motion == "rotation_only" else a[:, :3, 3] - b[:, :3, 3]
    rays = np.einsum("nij,nj->ni", a[:, :3, :3], scene.path.intrinsics.rays(xy_px))
    ends = np.stack([rays + translation * inverse_range[:, None], rays], axis=1)
    return np.asarray(ends @ b[:, :3, :3])


def _matched(scene: Scene, frame: int) -> tuple[Float64[np.ndarray, "k 2"], Float64[np.ndarray, "k"]]:
    """Pixels of a frame with a reliable match in any other frame, and their outlier probabilities."""
    matches = scene.matches
    if matches is None:
        return np.empty((0, 2)), np.empty(0)
    here = (matches.pairs[matches.pair, 0] == frame) & (matches.outlier_probability < MAX_OUTLIER_PROBABILITY)
    here &= inside(scene.clip, matches.xy_a_px)
    return matches.xy_a_px[here], matches.outlier_probability[here]


def _tracked_into(scene: Scene, frame_a: Frame, xy_a_px: Pixel, frame_b: Frame) -> Bool[np.ndarray, "n"]:
    """Whether a track through the pixel of photo a is visible in photo b."""
    found = np.zeros(len(frame_a), dtype=bool)
    if scene.tracks is None:
        return found
    for pair in np.unique(np.stack([frame_a, frame_b], axis=1), axis=0):
        rows = np.flatnonzero((frame_a == pair[0]) & (frame_b == pair[1]))
        a, b = find_rows(scene.tracks.frames, pair)
        if min(a, b) >= 0:
            visible = scene.tracks.visible[:, a] & scene.tracks.visible[:, b]
            radius_px = MAX_DISTANCE_PX * scene.pixel_scale
            found[rows] = nearest_tracks(scene.tracks.xy_px[:, a], visible, xy_a_px[rows], radius_px) >= 0
    return found
