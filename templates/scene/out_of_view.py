"""Points of one photo that lie outside another: how many σ they lie beyond its edges.

A point without a match may still be visible, because it is hidden or has no texture. Only geometry proves the label.
"""

import numpy as np
from jaxtyping import Bool, Float64

from experts.intrinsics import Intrinsics
from experts.tracking.track_ranges import nearest_tracks
from templates.measured import Measured, Undecided
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, markable
from templates.scene.scene import Scene, find_rows, inside
from templates.scene.surface import MAX_DISTANCE_PX
from templates.unanswerable import UNDETERMINED

_RANGE_FACTOR = 2.0
"""The point may be nearer than measured by this factor, or arbitrarily far. In rendered rooms one of 430 points outside
at its measured range was inside; none of 187 points outside at every such range was."""
_MAX_FOCAL_SIGMA = 0.1
"""Largest relative σ of the focal length of a camera in pure rotation: measured or stated, not guessed (0.2)."""
_MIN_SIGMA_PX = 0.05


def out_of_view(
    scene: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "2"], frame_b: int
) -> Measured | Undecided | None:
    """The answer that photo b does not show the point at a pixel of photo a; None if that is not proven.

    Every point on the pixel's ray, from half the measured range to infinity, must lie beyond one edge of photo b.
    """
    if not _relative_pose_known(scene):
        return None
    inverse_range, outlier_probability = _max_inverse_range(scene, frame_a, xy_a_px[None])
    ends_b = _ray_ends(scene, frame_a, xy_a_px[None], frame_b, inverse_range)[:, 0]
    found = beyond_edge(scene, frame_a, frame_b, ends_b, np.append(inverse_range, 0.0), float(outlier_probability[0]))
    if found is not None and _tracked_into(scene, frame_a, xy_a_px, frame_b):
        return Undecided(reason="a track contradicts the reconstruction")
    return found


def beyond_edge(
    scene: Scene,
    frame_a: int,
    frame_b: int,
    ends_b: Float64[np.ndarray, "e 3"],
    inverse_range: Float64[np.ndarray, "e"],
    outlier_probability: float,
) -> Measured | None:
    """The label for points `ends_b / inverse_range` (b's camera axes) beyond one common edge of photo b; else None.

    First-order σ of each point: the rotation between the photos ⊕ the translation between them over the distance from
    b. The margin is the smallest one of the points, each in its own σ.
    """
    assert scene.path is not None
    camera, frames = scene.path.intrinsics, [frame_a, frame_b]
    translation_sigma = _translation_sigma(scene, frames)
    if not (np.isfinite(translation_sigma) and np.isfinite(outlier_probability)):
        return None
    parallax_sigma_rad = translation_sigma * inverse_range / np.linalg.norm(ends_b, axis=1)
    sigma_rad = np.hypot(scene.relative_rotation_sigma_rad(frames), parallax_sigma_rad)
    xy = camera.project(ends_b)
    slope = 1 + np.sum((ends_b[:, :2] / ends_b[:, 2:]) ** 2, axis=1)  # d tan / d angle
    sigma = np.maximum(max(camera.fx_px, camera.fy_px) * slope * sigma_rad, _MIN_SIGMA_PX)
    beyond = overshoots_px(camera, ends_b)
    margins = (beyond / sigma[:, None]).min(axis=0)
    edge = int(margins.argmax())
    least = int(beyond[:, edge].argmin())
    if not margins[edge] > 0:
        return None
    return Measured(
        value=xy[least],
        sigma=np.full(2, sigma[least]),
        label=UNDETERMINED,
        margin=float(margins[edge]),
        outlier_probability=outlier_probability,
        evidence={
            "outside_px": round(float(beyond[least, edge]), 1),
            "outside_sigma_px": round(float(sigma[least]), 1),
            "camera": scene.path.motion,
        },
    )


def _translation_sigma(scene: Scene, frames: list[int]) -> float:
    """σ per axis of the translation between two photos, in path units: systematic ⊕ formal."""
    assert scene.path is not None
    if scene.path.motion != "general":
        return 0.0
    a, b = scene.world_from_cam(frames)[:, :3, 3]
    systematic = scene.path.direction_sigma_rad * np.linalg.norm(b - a)
    return float(np.hypot(systematic, np.linalg.norm(scene.position_sigma(frames))))


def pixels_out_of_view(scene: Scene, frame_a: int, frame_b: int, least_px: float) -> Float64[np.ndarray, "k 2"]:
    """Markable pixels of photo a whose rays lie at least `least_px` outside photo b, at every possible range."""
    if not _relative_pose_known(scene) or scene.path is None:
        return np.empty((0, 2))
    xy = _matched(scene, frame_a)[0] if scene.path.motion == "rotation_only" else markable(scene, frame_a)
    inverse_range, _ = _max_inverse_range(scene, frame_a, xy)
    beyond = overshoots_px(scene.path.intrinsics, _ray_ends(scene, frame_a, xy, frame_b, inverse_range))
    return np.round(xy[(beyond.min(axis=0) >= least_px).any(axis=1)], 1)


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
    scene: Scene, frame_a: int, xy_px: Float64[np.ndarray, "k 2"]
) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """Upper bound of 1 / range at pixels (twice the measured value), and outlier probabilities; NaN where unknown.

    For a camera in pure rotation every point is at infinity; a match shows that there is a point.
    """
    assert scene.path is not None
    if scene.path.motion == "rotation_only":
        matched, outlier_probability = _matched(scene, frame_a)
        near = np.linalg.norm(matched[None] - xy_px[:, None], axis=2) <= MAX_DISTANCE_PX * scene.pixel_scale
        least = np.where(near, outlier_probability, np.inf).min(axis=1, initial=np.inf)
        return np.zeros(len(xy_px)), np.where(np.isfinite(least), least, np.nan)
    surface = scene.surface(frame_a, xy_px)
    return _RANGE_FACTOR / surface.range, surface.outlier_probability


def _ray_ends(
    scene: Scene, frame_a: int, xy_px: Float64[np.ndarray, "k 2"], frame_b: int, inverse_range: Float64[np.ndarray, "k"]
) -> Float64[np.ndarray, "2 k 3"]:
    """The nearest and the farthest possible point of each pixel of photo a, in b's camera axes, over its range."""
    assert scene.path is not None
    a, b = scene.world_from_cam([frame_a, frame_b])
    translation = np.zeros(3) if scene.path.motion == "rotation_only" else a[:3, 3] - b[:3, 3]
    rays = scene.path.intrinsics.rays(xy_px) @ a[:3, :3].T
    return np.stack([rays + translation * inverse_range[:, None], rays]) @ b[:3, :3]


def _matched(scene: Scene, frame: int) -> tuple[Float64[np.ndarray, "k 2"], Float64[np.ndarray, "k"]]:
    """Pixels of a frame with a reliable match in any other frame, and their outlier probabilities."""
    matches = scene.matches
    if matches is None:
        return np.empty((0, 2)), np.empty(0)
    here = (matches.pairs[matches.pair, 0] == frame) & (matches.outlier_probability < MAX_OUTLIER_PROBABILITY)
    here &= inside(scene.clip, matches.xy_a_px)
    return matches.xy_a_px[here], matches.outlier_probability[here]


def _tracked_into(scene: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "2"], frame_b: int) -> bool:
    """Whether a track through the pixel of photo a is visible in photo b."""
    if scene.tracks is None:
        return False
    a, b = find_rows(scene.tracks.frames, [frame_a, frame_b])
    if min(a, b) < 0:
        return False
    visible: Bool[np.ndarray, "t"] = scene.tracks.visible[:, a] & scene.tracks.visible[:, b]
    return bool(
        nearest_tracks(scene.tracks.xy_px[:, a], visible, xy_a_px[None], MAX_DISTANCE_PX * scene.pixel_scale)[0] >= 0
    )
