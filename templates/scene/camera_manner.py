"""In which manner a camera films what is in the middle of its picture: around it, towards it, away from it, past it,
or turning where it stands; along with it, from behind something that hides it, or wandering about.

Each manner has bounds on the same numbers, and between the bounds of any two manners lies a gap: where one holds, all
others fail. What follows or reveals something may have the path of another manner: then that is not meant.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from templates.measured import margin_of_all
from templates.scene.camera_motion import ends_of
from templates.scene.followed import followed
from templates.scene.picture_middle import Middle, picture_middle, spread
from templates.scene.scene import Scene, angle_between_rad

ORBITS, IN, OUT, PAST, TURNS, FOLLOWS, REVEALS, WANDERS = MANNERS = (
    "orbits",
    "pushes_in",
    "pulls_back",
    "tracks_past",
    "turns_in_place",
    "follows",
    "reveals",
    "wanders",
)
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
_SIDEWAYS, _NOT_SIDEWAYS = np.radians([25.0, 45.0])
"""Largest angle of the way to left and right where the camera passes, and the border."""
_BACK = 0.1
"""Largest part of the way that a camera goes back."""
_SAME_RANGE = np.log(1.5)
"""What the camera approaches is at the same place in all frames, within this logarithm of its range."""
_NEAR_CENTRE, _LEAST_SHARE = 0.45, 0.08
"""What it orbits lies this near to the point about which the view axes turn, as a share of their distance, and makes up
at least this share of the middle of the picture."""
_BENT_BY_FOCAL = 0.3
"""An error of the focal length scales all turns: that moves the point on which the view axes meet, and parts them by
this share of the error."""
_ALL_HIDDEN, _LITTLE_HIDDEN = 0.85, 0.3
"""Least share of what the middle shows at the end that is hidden at first, where it is revealed; largest share of it in
any other manner."""
_FAR_NEARER, _NEARER_AT_ALL = np.log(1.5), np.log(1.15)
"""What hides it is nearer by this logarithm of the range; the second is the border."""
_VACATED = 0.5
"""Where so large a share of the very middle is not there in another frame, though it could be seen, it moves."""
_HALF_WAY, _BEND_RAD, _BEND_BORDER_RAD = 0.1, *np.radians([60.0, 40.0])
"""The way of a camera that wanders bends by this angle between two parts of this length each, as shares of the
distance; the border of the angle."""
_TO_AND_FRO_RAD, _ONE_WAY_RAD, _ALL_ROUND_RAD = np.radians([30.0, 15.0, 170.0])
"""It turns to and fro by this angle, and not all round; the second is the border."""
_LOOKS = 9
"""Poses of a video that are compared."""
_NO_MANNER = "the camera does not film in a simple manner"
_MAY_MOVE = "what is in the middle of the picture may move"


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
    turn_sigma = float(np.hypot(scene.rotation_sigma_rad(frames).max(), scene.turn_relative_sigma * turn_rad.max()))
    turns = float(turn_rad.max())
    looks = float(np.arccos(np.clip(poses[:, :3, 2] @ poses[0, :3, 2], -1, 1)).max())
    if path.motion == "rotation_only":
        return _decided([(looks - _BORDER_RAD, turn_sigma)], bool(looks >= _AROUND_RAD), TURNS, looks)
    middle = picture_middle(scene, path.frames[every])
    if middle is None:
        return Manner(why="how far away the middle of the picture is is not known")
    way = poses[:, :3, 3] - poses[0, :3, 3]
    length, sigma = np.linalg.norm(way, axis=1), float(scene.offset_sigma(frames[None, [0, -1]])[0])
    share = float(length.max() / np.median(middle.range))
    if share <= _LITTLE and looks >= _AROUND_RAD:
        share_sigma = float(np.hypot(sigma / np.median(middle.range), middle.sigma * share))
        return _decided([(_IN_PLACE - share, share_sigma), (looks - _BORDER_RAD, turn_sigma)], True, TURNS, looks)
    along = followed(scene, first, last)
    if along.surely:
        return _decided([*along.gaps], True, FOLLOWS, turns)
    if along.maybe:
        return Manner(why=_MAY_MOVE)
    straight, rotation_sigma = turns <= _STRAIGHT_RAD and length[-1] > 0, scene.rotation_sigma_rad(frames).max()
    axis_sigma = float(np.hypot(rotation_sigma, _BENT_BY_FOCAL * scene.focal_relative_sigma * turns))
    found = Manner(why=_NO_MANNER) if straight else _orbit(poses, middle, axis_sigma, turn_sigma, sigma)
    if found.why:
        other = (
            _straight(scene, way, poses, middle, turns, sigma)
            if straight
            else _wanders(poses, middle, axis_sigma, turn_sigma, sigma)
        )
        share_gap = (share - _LITTLE, sigma / float(np.median(middle.range)))
        passes = bool(straight or _off_axis(poses) > _BORDER_RAD)
        hides = not other.why or middle.hidden_at_first(scene) >= _ALL_HIDDEN  # the quick look excludes most videos
        found = (_revealed(middle, scene, share_gap, passes, turns) if hides else None) or other
    may_move = not found.why and middle.vacated(scene) > _VACATED  # which takes longest, and few videos have a manner
    return Manner(why=_MAY_MOVE) if may_move else found


def _revealed(
    middle: Middle, scene: Scene, share_gap: tuple[float, float], passes: bool, turns: float
) -> Manner | None:
    """Of a camera that comes past what hides the middle at first; None where nothing does."""
    least_hidden, most_hidden, nearer = middle.hidden(scene)
    if least_hidden >= _ALL_HIDDEN:
        gaps = [(nearer - _NEARER_AT_ALL, float(np.sqrt(2) * middle.sigma)), share_gap]
        return _decided(gaps, bool(nearer >= _FAR_NEARER and passes), REVEALS, turns)
    if most_hidden > _LITTLE_HIDDEN:
        return Manner(why="what the video shows is partly hidden at first")
    return None


def _straight(
    scene: Scene,
    way: Float64[np.ndarray, "n 3"],
    poses: Float64[np.ndarray, "n 4 4"],
    middle: Middle,
    turns: float,
    sigma: float,
) -> Manner:
    """Of a camera that hardly turns: towards the middle of the picture, away from it, or past it."""
    length, (right, _, axis) = float(np.linalg.norm(way[-1])), _mean_axes(poses)
    ahead = float(way[-1] @ axis)
    angle, sideways = (float(np.arccos(np.clip(abs(way[-1] @ one) / length, 0, 1))) for one in (axis, right))
    angle_sigma = float(np.hypot(scene.direction_sigma_rad, sigma / length))
    bend = float(np.linalg.norm(way - np.outer(way @ way[-1] / length**2, way[-1]), axis=1).max()) / length
    along = (middle.world_from_cam[:, :3, 3] - middle.world_from_cam[0, :3, 3]) @ axis
    done = way @ way[-1] / length**2
    if bend > np.sin(_ALONG) or (np.maximum.accumulate(done) - done).max() > _BACK:
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
    gaps = [
        (share - _WAY / 2, share_sigma),
        (angle - _BETWEEN, angle_sigma),
        (_NOT_SIDEWAYS - sideways, angle_sigma),
    ]
    return _decided(gaps, bool(angle >= _ACROSS and sideways <= _SIDEWAYS and share >= _WAY), PAST, turns)


def _mean_axes(poses: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "3 3"]:
    """Right, down and ahead of a camera that hardly turns, in the world."""
    axes = poses[:, :3, :3].mean(axis=0).T
    return np.asarray(axes / np.linalg.norm(axes, axis=1, keepdims=True))


def _orbit(
    poses: Float64[np.ndarray, "n 4 4"], middle: Middle, axis_sigma: float, turn_sigma: float, sigma: float
) -> Manner:
    """Around the point nearest to all view axes."""
    centre = _meeting_point(poses)
    offset = centre - poses[:, :3, 3]
    distance = np.linalg.norm(offset, axis=1)
    if not distance.min() > 0:
        return Manner(why=_NO_MANNER)
    off_axis = _off_axis(poses)
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


def _wanders(
    poses: Float64[np.ndarray, "n 4 4"], middle: Middle, axis_sigma: float, turn_sigma: float, sigma: float
) -> Manner:
    """First this way, then that, looking to and fro, and at nothing all the time."""
    places, axes, range = poses[:, :3, 3], poses[:, :3, 2], float(np.median(middle.range))
    before, after = places - places[0], places[-1] - places
    lengths = np.stack([np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)])
    bend = int(lengths.sum(axis=0).argmax())
    halves = lengths[:, bend]
    if not halves.min() > 0:
        return Manner(why=_NO_MANNER)
    bends = float(np.arccos(np.clip(before[bend] @ after[bend] / halves.prod(), -1, 1)))
    from_start, to_end = (np.arccos(np.clip(axes @ axes[k], -1, 1)) for k in (0, -1))
    to_and_fro = float((from_start + to_end).max() - from_start[-1])
    all_round = float(np.arccos(np.clip((axes[1:] * axes[:-1]).sum(axis=1), -1, 1)).sum())
    off_axis = _off_axis(poses)
    gaps = [
        (bends - _BEND_BORDER_RAD, sigma / float(halves.min())),
        (to_and_fro - _ONE_WAY_RAD, np.sqrt(2) * turn_sigma),
        (off_axis - _NOT_KEPT_RAD, float(np.hypot(axis_sigma, sigma / range))),
        (float(halves.min()) / range - _HALF_WAY / 2, float(np.hypot(sigma / range, middle.sigma * _HALF_WAY))),
    ]
    holds = bends >= _BEND_RAD and to_and_fro >= _TO_AND_FRO_RAD and all_round <= _ALL_ROUND_RAD
    holds = holds and off_axis >= 2 * _NOT_KEPT_RAD and halves.min() >= _HALF_WAY * range
    return _decided(gaps, bool(holds), WANDERS, all_round)


def _meeting_point(poses: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "3"]:
    """The point nearest to all view axes."""
    places, axes = poses[:, :3, 3], poses[:, :3, 2]
    across = np.eye(3) - axes[:, :, None] * axes[:, None]
    return np.linalg.lstsq(across.sum(axis=0), np.einsum("nij,nj->i", across, places), rcond=None)[0]


def _off_axis(poses: Float64[np.ndarray, "n 4 4"]) -> float:
    """Largest angle between the view axes and that point."""
    offset = _meeting_point(poses) - poses[:, :3, 3]
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = (offset * poses[:, :3, 2]).sum(axis=1) / np.linalg.norm(offset, axis=1)
    return float(np.arccos(np.clip(np.nan_to_num(cosine), -1, 1)).max())


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
