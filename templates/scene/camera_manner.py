"""In which manner a camera films what is in the middle of its picture: around it, towards it, away from it, past it,
or turning where it stands.

Each manner has bounds on the same numbers, and between the bounds of any two manners lies a gap: where one holds, all
others fail.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from templates.measured import margin_of_all
from templates.scene.camera_motion import ends_of
from templates.scene.marks import known_pixels
from templates.scene.scene import Scene, angle_between_rad

ORBITS, IN, OUT, PAST, TURNS = MANNERS = ("orbits", "pushes_in", "pulls_back", "tracks_past", "turns_in_place")
_KEPT_RAD, _NOT_KEPT_RAD = np.radians([5.0, 8.0])
"""Largest angle between the view axis and what it stays on, and the border beyond which it does not."""
_AROUND_RAD, _BORDER_RAD, _STRAIGHT_RAD = np.radians([30.0, 20.0, 10.0])
"""A camera that orbits or turns goes round by the first angle at least; one that moves straight turns by the last at
most. The second is the border between."""
_NEARER, _AS_NEAR = np.log(1.3), np.log(1.15)
"""What the camera approaches becomes this many times as large, in logarithms; the second is the border."""
_WAY, _IN_PLACE, _LITTLE = 0.25, 0.04, 0.015
"""Least way past things and largest way of a camera that turns, in shares of the distance; the border between."""
_ALONG, _ACROSS = np.radians([20.0, 65.0])
"""Largest angle of the way to the view axis where the camera approaches; least one where it passes."""
_BETWEEN = np.radians(40.0)
_SAME_RANGE = np.log(1.5)
"""What the camera approaches is at the same place in all frames, within this logarithm of its range."""
_NEAR_CENTRE, _LEAST_SHARE = 0.45, 0.08
"""What it orbits lies this near to the point about which the view axes turn, as a share of their distance, and makes up
at least this share of the middle of the picture."""
_BENT_BY_FOCAL = 0.3
"""An error of the focal length scales all turns: that moves the point on which the view axes meet, and parts them by
this share of the error."""
_LOOKS = 9
"""Poses of a video that are compared."""
_MIDDLE, _INNER = 0.25, 5
"""Half the middle of the picture, in shares of its sides; and the number of points in the very middle of which the
range is the median."""
_MOST_POINTS = 80
_NO_MANNER = "the camera does not film in a simple manner"


@dataclass(frozen=True, kw_only=True)
class Manner:
    """How the camera films, with the margin of that in σ."""

    why: str
    label: str = ""
    margin: float = np.nan
    around_deg: float = np.nan
    """How far it goes round what is in the middle, or turns."""
    nearer: float = np.nan
    """How many times as large that becomes."""


def camera_manner(scene: Scene, frames: Int64[np.ndarray, "k"]) -> Manner:
    """The manner of a video, by poses between its first and last frame. A row may end in -1."""
    first, last = (int(frame) for frame in ends_of(frames[None])[0])
    return scene.once(("camera manner", first, last), lambda: _manner(scene, first, last))


def _manner(scene: Scene, first: int, last: int) -> Manner:
    path = scene.path
    if path is None or path.motion not in ("general", "rotation_only"):
        return Manner(why="how the camera moves is not known")
    every = np.flatnonzero(path.registered & (path.frames >= first) & (path.frames <= last))
    rows = spread(every, _LOOKS)
    frames, poses = path.frames[rows], path.world_from_cam[rows]
    if len(rows) < _LOOKS or frames[0] != first or frames[-1] != last:
        return Manner(why="the pose of a frame is not known")
    turn_rad = angle_between_rad(poses[:1, :3, :3], poses[:, :3, :3])
    turn_sigma = float(np.hypot(scene.rotation_sigma_rad(frames).max(), scene.focal_relative_sigma * turn_rad.max()))
    turns = float(turn_rad.max())
    if path.motion == "rotation_only":
        return _decided([(turns - _BORDER_RAD, turn_sigma)], bool(turns >= _AROUND_RAD), TURNS, turns)
    middle = _middle(scene, path.frames[every])
    if middle is None:
        return Manner(why="how far away the middle of the picture is is not known")
    way = poses[:, :3, 3] - poses[0, :3, 3]
    length, sigma = np.linalg.norm(way, axis=1), float(np.linalg.norm(scene.position_sigma(frames[[0, -1]])))
    share = float(length.max() / np.median(middle.range))
    if share <= _LITTLE and turns >= _AROUND_RAD:
        share_sigma = float(np.hypot(sigma / np.median(middle.range), middle.sigma * share))
        return _decided([(_IN_PLACE - share, share_sigma), (turns - _BORDER_RAD, turn_sigma)], True, TURNS, turns)
    if turns <= _STRAIGHT_RAD and length[-1] > 0:
        return _straight(scene, way, poses[:, :3, 2], middle, turns, sigma)
    axis_sigma = float(
        np.hypot(scene.rotation_sigma_rad(frames).max(), _BENT_BY_FOCAL * scene.focal_relative_sigma * turns)
    )
    return _orbit(poses, middle, axis_sigma, turn_sigma, sigma)


def spread(rows: Int64[np.ndarray, "n"], count: int) -> Int64[np.ndarray, "k"]:
    """At most `count` of the rows, evenly spaced, the first and the last among them."""
    if not len(rows):
        return rows
    return rows[np.unique(np.linspace(0, len(rows) - 1, count).round().astype(np.int64))]


@dataclass(frozen=True, kw_only=True)
class _Middle:
    """What the middle of the picture shows in some frames."""

    world_from_cam: Float64[np.ndarray, "n 4 4"]
    range: Float64[np.ndarray, "n"]
    """Of the very middle."""
    sigma: float
    """Relative σ of the ranges."""
    xyz_world: Sequence[Float64[np.ndarray, "_ 3"]]
    """Surface points in the middle of each."""


def _middle(scene: Scene, frames: Int64[np.ndarray, "n"]) -> _Middle | None:
    """What is seen in some of the frames; None where too little is known."""
    if scene.depth is not None and len(with_depth := np.intersect1d(frames, scene.depth.frames)):
        frames = with_depth
    found = [_seen(scene, frame) for frame in spread(frames, _LOOKS // 2).tolist()]
    known = [one for one in found if one is not None]
    if len(known) < 2:
        return None
    poses, points, ranges, sigmas = zip(*known, strict=True)
    return _Middle(world_from_cam=np.stack(poses), range=np.array(ranges), sigma=float(max(sigmas)), xyz_world=points)


def _seen(
    scene: Scene, frame: int
) -> tuple[Float64[np.ndarray, "4 4"], Float64[np.ndarray, "p 3"], float, float] | None:
    """Pose of a frame, surface points in the middle of its picture, and the range of the very middle with its σ; None
    where too few points are known."""
    away = known_pixels(scene, frame) / [scene.clip.width_px, scene.clip.height_px] - 0.5
    middle = known_pixels(scene, frame)[np.abs(away).max(axis=1, initial=0) <= _MIDDLE]
    middle = middle[:: 1 + len(middle) // _MOST_POINTS]
    seen = scene.surface(frame, middle)
    seen, middle = seen.take(np.isfinite(seen.range)), middle[np.isfinite(seen.range)]
    if len(middle) < _INNER:
        return None
    away = np.linalg.norm(middle / [scene.clip.width_px, scene.clip.height_px] - 0.5, axis=1)
    inner, pose = np.argsort(away, kind="stable")[:_INNER], scene.world_from_cam(frame)
    xyz_world = seen.xyz_cam @ pose[:3, :3].T + pose[:3, 3]
    sigma = float(np.median(seen.range_relative_sigma[inner]))
    return pose, xyz_world, float(np.median(seen.range[inner])), sigma


def _straight(
    scene: Scene,
    way: Float64[np.ndarray, "n 3"],
    axes: Float64[np.ndarray, "n 3"],
    middle: _Middle,
    turns: float,
    sigma: float,
) -> Manner:
    """Of a camera that hardly turns: towards the middle of the picture, away from it, or past it."""
    length, axis = float(np.linalg.norm(way[-1])), axes.mean(axis=0) / np.linalg.norm(axes.mean(axis=0))
    ahead = float(way[-1] @ axis)
    angle = float(np.arccos(np.clip(abs(ahead) / length, 0, 1)))
    angle_sigma = float(np.hypot(scene.direction_sigma_rad, sigma / length))
    bend = float(np.linalg.norm(way - np.outer(way @ way[-1] / length**2, way[-1]), axis=1).max()) / length
    along = (middle.world_from_cam[:, :3, 3] - middle.world_from_cam[0, :3, 3]) @ axis
    if bend > np.sin(_ALONG):
        return Manner(why=_NO_MANNER)
    if angle <= _ALONG:
        from_start = middle.range + along  # were nothing hidden, all would be equal
        start = float(np.median(from_start))
        near, far = sorted((start, start - ahead))
        if near <= 0 or np.abs(np.log(from_start / start)).max() > _SAME_RANGE:
            return Manner(why=_NO_MANNER)
        nearer = float(np.log(far / near))
        gaps = [
            (nearer - _AS_NEAR, float(np.hypot(middle.sigma * nearer, sigma / near))),
            (_BETWEEN - angle, angle_sigma),
        ]
        return _decided(gaps, bool(nearer >= _NEARER), IN if ahead > 0 else OUT, turns, nearer)
    share = length / float(np.median(middle.range))
    share_sigma = float(np.hypot(sigma / np.median(middle.range), middle.sigma * share))
    gaps = [(share - _WAY / 2, share_sigma), (angle - _BETWEEN, angle_sigma)]
    return _decided(gaps, bool(angle >= _ACROSS and share >= _WAY), PAST, turns)


def _orbit(
    poses: Float64[np.ndarray, "n 4 4"], middle: _Middle, axis_sigma: float, turn_sigma: float, sigma: float
) -> Manner:
    """Around the point nearest to all view axes."""
    places, axes = poses[:, :3, 3], poses[:, :3, 2]
    across = np.eye(3) - axes[:, :, None] * axes[:, None]
    centre = np.linalg.lstsq(across.sum(axis=0), np.einsum("nij,nj->i", across, places), rcond=None)[0]
    offset = centre - places
    distance = np.linalg.norm(offset, axis=1)
    if not distance.min() > 0:
        return Manner(why=_NO_MANNER)
    off_axis = float(np.arccos(np.clip((offset * axes).sum(axis=1) / distance, -1, 1)).max())
    around = float(np.arccos(np.clip((offset @ offset[0]) / distance / distance[0], -1, 1)).max())
    nearer = float(np.ptp(np.log(distance)))
    there = np.linalg.norm(centre - middle.world_from_cam[:, :3, 3], axis=1)
    near = [
        float((np.linalg.norm(xyz - centre, axis=1) <= _NEAR_CENTRE * away).mean())
        for xyz, away in zip(middle.xyz_world, there, strict=True)
    ]
    seen_sigma = sigma / float(distance.min())
    gaps = [
        (_NOT_KEPT_RAD - off_axis, float(np.hypot(axis_sigma, seen_sigma))),
        (around - _BORDER_RAD, float(np.hypot(turn_sigma, seen_sigma))),
    ]
    holds = off_axis <= _KEPT_RAD and around >= _AROUND_RAD and nearer <= _AS_NEAR and min(near) >= _LEAST_SHARE
    return _decided(gaps, bool(holds), ORBITS, around, nearer)


def _decided(
    gaps: list[tuple[float, float]], holds: bool, label: str, around_rad: float, nearer: float = 0.0
) -> Manner:
    if not holds:
        return Manner(why=_NO_MANNER)
    difference, sigma = np.array(gaps).T
    margin = float(margin_of_all(difference[None], sigma[None])[0])
    return Manner(
        why="", label=label, margin=margin, around_deg=float(np.degrees(around_rad)), nearer=float(np.exp(nearer))
    )
