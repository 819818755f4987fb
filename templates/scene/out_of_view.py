"""Points of one photo that another leaves out: where they would lie, and how surely that is beyond its edges.

Proof, not lack of evidence: a point that nothing matches may still be there, hidden or too plain to find.
"""

import numpy as np
from jaxtyping import Bool, Float64

from experts.intrinsics import Intrinsics
from experts.tracking.track_ranges import passing
from templates.measured import Measured, Undecided
from templates.scene.marks import markable
from templates.scene.scene import Scene, find_rows, inside
from templates.unanswerable import UNDETERMINED

_NEAR_PX = 1.5
"""A track or a match speaks for a pixel within this distance (at 640 px width)."""
_BORDER = 0.06
_MAX_P_GROSS = 0.01
_RANGE_FACTOR = 2.0
"""What is seen may be nearer than measured by this factor, or as far as it likes. Of 430 sure points of rendered rooms
that lay outside at their measured range, one did not; of 187 that lie outside so, all do."""
_MAX_FOCAL_SIGMA = 0.1
"""Of a camera that only turns: its focal length is measured or stated, not guessed (0.2)."""
_LEAST_SIGMA_PX = 0.05


def left_out(
    scene: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "2"], frame_b: int
) -> Measured | Undecided | None:
    """The label that photo b does not show what photo a shows at a pixel; None where that is not known to be so.

    All that lies behind the pixel, from half the known range of what is seen there to infinity, must lie beyond one
    edge of photo b.
    """
    if not _can_tell(scene):
        return None
    nearness, outlier_probability = _known(scene, frame_a, xy_a_px[None])
    ends_b = _ends_seen_from(scene, frame_a, xy_a_px[None], frame_b, nearness)[:, 0]
    found = beyond_edge(scene, frame_a, frame_b, ends_b, np.append(nearness, 0.0), float(outlier_probability[0]))
    if found is not None and _followed(scene, frame_a, xy_a_px, frame_b):
        return Undecided(reason="a track contradicts the map")
    return found


def beyond_edge(
    scene: Scene,
    frame_a: int,
    frame_b: int,
    ends_b: Float64[np.ndarray, "e 3"],
    nearness: Float64[np.ndarray, "e"],
    outlier_probability: float,
) -> Measured | None:
    """The label for places `ends_b / nearness` in b's camera axes that lie beyond one edge of the photo; None if not.

    First-order σ of each place: the turn between the photos, with what a wrong focal length does to it, and the way
    between them over the distance from b. The margin is the least of the places', each in its own σ.
    """
    assert scene.path is not None
    camera, frames = scene.path.intrinsics, [frame_a, frame_b]
    across = _across(scene, frames)
    if not (np.isfinite(across) and np.isfinite(outlier_probability)):
        return None
    angle = np.hypot(scene.turn_sigma_rad(frames), across * nearness / np.linalg.norm(ends_b, axis=1))
    xy = camera.project(ends_b)
    off_axis = 1 + np.sum((ends_b[:, :2] / ends_b[:, 2:]) ** 2, axis=1)  # d tan / d angle
    sigma = np.maximum(max(camera.fx_px, camera.fy_px) * off_axis * angle, _LEAST_SIGMA_PX)
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


def _across(scene: Scene, frames: list[int]) -> float:
    """σ of the way between two photos across any direction, in path units: systematic ⊕ formal."""
    assert scene.path is not None
    if scene.path.motion != "general":
        return 0.0
    a, b = scene.world_from_cam(frames)[:, :3, 3]
    systematic = scene.path.direction_sigma_rad * np.linalg.norm(b - a)
    return float(np.hypot(systematic, np.linalg.norm(scene.position_sigma(frames))))


def pixels_left_out(scene: Scene, frame_a: int, frame_b: int, least_px: float) -> Float64[np.ndarray, "k 2"]:
    """Pixels of photo a, known and away from its edges, behind which all lies at least so far outside photo b."""
    if not _can_tell(scene) or scene.path is None:
        return np.empty((0, 2))
    xy = _matched(scene, frame_a)[0] if scene.path.motion == "rotation_only" else markable(scene, frame_a)
    nearness, _ = _known(scene, frame_a, xy)
    beyond = overshoots_px(scene.path.intrinsics, _ends_seen_from(scene, frame_a, xy, frame_b, nearness))
    return np.round(xy[(beyond.min(axis=0) >= least_px).any(axis=1)], 1)


def overshoots_px(camera: Intrinsics, xyz_cam: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n 4"]:
    """How far points lie beyond the left, upper, right and lower edge of the picture; negative on its side of them.

    -inf behind the camera, and where radial distortion folds back: there a pixel says nothing of its direction.
    """
    xy = camera.project(xyz_cam)
    with np.errstate(divide="ignore", invalid="ignore"):
        tangent2 = np.sum((xyz_cam[..., :2] / xyz_cam[..., 2:]) ** 2, axis=-1, keepdims=True)
    beyond = np.concatenate([-xy, xy - [camera.width_px - 1, camera.height_px - 1]], axis=-1)
    return np.where((1 + 3 * camera.k1 * tangent2 > 0) & np.isfinite(beyond), beyond, -np.inf)


def _can_tell(scene: Scene) -> bool:
    """Whether the way and the turn between photos are known: of a camera that only turns, if its focal length is."""
    path = scene.path
    if path is None or path.motion not in ("general", "rotation_only"):
        return False
    return path.motion == "general" or path.focal_relative_sigma <= _MAX_FOCAL_SIGMA


def _known(
    scene: Scene, frame_a: int, xy_px: Float64[np.ndarray, "k 2"]
) -> tuple[Float64[np.ndarray, "k"], Float64[np.ndarray, "k"]]:
    """Largest nearness (1 / range) of what is seen at pixels, twice the measured one, and its outlier probability; NaN
    where unknown. To a camera that only turns all is at infinity, and a match says that there is something."""
    assert scene.path is not None
    if scene.path.motion == "rotation_only":
        matched, outlier_probability = _matched(scene, frame_a)
        apart = np.linalg.norm(matched[None] - xy_px[:, None], axis=2)
        near = apart <= _NEAR_PX * scene.pixel_scale
        least = np.where(near, outlier_probability, np.inf).min(axis=1, initial=np.inf)
        return np.zeros(len(xy_px)), np.where(np.isfinite(least), least, np.nan)
    surface = scene.surface(frame_a, xy_px)
    return _RANGE_FACTOR / surface.range, surface.outlier_probability


def _ends_seen_from(
    scene: Scene, frame_a: int, xy_px: Float64[np.ndarray, "k 2"], frame_b: int, nearness: Float64[np.ndarray, "k"]
) -> Float64[np.ndarray, "2 k 3"]:
    """The nearest and the farthest place behind pixels of photo a, in b's camera axes and times their nearness."""
    assert scene.path is not None
    a, b = scene.world_from_cam([frame_a, frame_b])
    way = np.zeros(3) if scene.path.motion == "rotation_only" else a[:3, 3] - b[:3, 3]
    rays = scene.path.intrinsics.rays(xy_px) @ a[:3, :3].T
    return np.stack([rays + way * nearness[:, None], rays]) @ b[:3, :3]


def _matched(scene: Scene, frame: int) -> tuple[Float64[np.ndarray, "k 2"], Float64[np.ndarray, "k"]]:
    """Pixels of a frame that are surely matched to any other, and how doubtful each is."""
    matches = scene.matches
    if matches is None:
        return np.empty((0, 2)), np.empty(0)
    here = (matches.pairs[matches.pair, 0] == frame) & (matches.outlier_probability < _MAX_P_GROSS)
    here &= inside(scene.clip, matches.xy_a_px, _BORDER)
    return matches.xy_a_px[here], matches.outlier_probability[here]


def _followed(scene: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "2"], frame_b: int) -> bool:
    """Whether a track says that photo b shows it after all."""
    if scene.tracks is None:
        return False
    a, b = find_rows(scene.tracks.frames, [frame_a, frame_b])
    if min(a, b) < 0:
        return False
    seen: Bool[np.ndarray, "t"] = scene.tracks.visible[:, a] & scene.tracks.visible[:, b]
    return bool(passing(scene.tracks.xy_px[:, a], seen, xy_a_px[None], _NEAR_PX * scene.pixel_scale)[0] >= 0)
