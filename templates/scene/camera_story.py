"""What a camera does in a video, part by part: the named motions of its path, where they are decided.

A motion is named if it is clearly visible, and left out if it is hardly visible. Videos with anything between the two
have no story: thresholds of half and of twice the size must give the same one.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64

from action_mapping.camera_rates import PathWarning
from action_mapping.dead_zones import SegmentSettings, window_lengths
from action_mapping.primitives import COMPONENTS, PRIMITIVE, ROTATIONS, STAY, TRANSLATIONS, Primitive, primitive_of
from action_mapping.reading import camera_motion, levelled_motion
from action_mapping.segments import Segment, motion_segments_at
from templates.measured import margin_of_all
from templates.scene.camera_motion import ends_of
from templates.scene.marks import spread_frames
from templates.scene.scene import Scene, find_rows
from templates.scene.shared_view import scene_distance

Axes = Literal["level", "camera"]
"""In which motions are named: level with the ground, or those of the camera itself."""
Part = tuple[str, ...]
"""Names of the motions at one time (`Primitive.name`): "Stay", one translation, one rotation, or one of both."""

MOST_PARTS = 4
_LEAST_PART_S = 0.7
"""Shortest part of a story."""
_LEAST_STAY_S = 1.0
"""Shortest rest; a shorter one between two motions is not told."""
_MOST_STEP_S = 0.25
"""Longest time between two poses."""
_FACTORS = (1.0, 0.5, 2.0)
"""Of the thresholds, which must all give the same story."""
_ROTATION_RAD_S = np.radians(2.5)
_TRANSLATION_PER_S = 0.03
"""Slower translation is no motion, as a share of the distance of the scene."""
_FRACTION = 0.12
"""Nor is any motion below this share of the speed of the fastest part."""
_ROTATES_RAD = np.radians(4.0)
_TRAVELS = 0.04
"""Borders between what is seen over a part and what is not; the second is a share of the distance of the scene."""
_CLEARLY, _HARDLY = 1.5, 0.5
"""What is named is this many times the border, what is left out at most this many times; ..."""
_ASIDE, _MOST_ASIDE = 0.4, 0.25
"""... or it is small beside the main motion of its kind: the border, and the most that is left out."""
_PLACES = 16
"""Frames at which the distance of the scene is measured."""


@dataclass(frozen=True, kw_only=True)
class Story:
    """What the camera does, in order of time."""

    why: str
    """Why there is none; "" where there is."""
    parts: tuple[Part, ...] = ()
    times_s: tuple[float, ...] = ()
    """When each part begins, from the first frame on, and when the last one ends."""
    margin: float = np.nan
    """Distance from any other story, in σ."""

    @property
    def code(self) -> str:
        """The parts as text: "Dolly In, Pan Left | Truck Right"."""
        return coded(self.parts)


def coded(parts: Sequence[Part]) -> str:
    """Parts as text: "Dolly In, Pan Left | Truck Right"."""
    return " | ".join(", ".join(part) for part in parts)


def parts_of(code: str) -> tuple[Part, ...]:
    """The inverse of `coded`."""
    return tuple(tuple(part.split(", ")) for part in code.split(" | "))


def axes_of(scene: Scene) -> Axes:
    """In which the motions of a scene can be named."""
    return "camera" if scene.up_world is None else "level"


def camera_story(scene: Scene, frames: Int64[np.ndarray, "k"], axes: str) -> Story:
    """The story of a video, by all poses between its first and its last frame. A row may end in -1."""
    first, last = (int(frame) for frame in ends_of(frames[None])[0])
    return scene.once(("camera story", first, last, axes), lambda: _story(scene, first, last, axes))


def _story(scene: Scene, first: int, last: int, axes: str) -> Story:
    path, clock_s = scene.path, scene.clip.times_s
    if clock_s is None:
        return Story(why="the times of the frames are not known")
    if path is None or path.motion not in ("general", "rotation_only"):
        return Story(why="how the camera moves is not known")
    rows = np.flatnonzero(path.registered & (path.frames >= first) & (path.frames <= last))
    at = find_rows(scene.clip.frames, path.frames[rows])
    if not len(rows) or path.frames[rows[0]] != first or path.frames[rows[-1]] != last or at.min() < 0:
        return Story(why="the pose of a frame is not known")
    times_s = clock_s[at]
    if len(rows) < 3 or not (np.diff(times_s) > 0).all() or np.diff(times_s).max() > _MOST_STEP_S:
        return Story(why="the poses are too far apart in time")
    if axes == "level" and scene.up_world is None:
        return Story(why="which way is up is not known")
    distance = _distance(scene, first, last) if path.motion == "general" else 1.0
    if not distance > 0:
        return Story(why="the distance of the scene is not known")
    poses = path.world_from_cam[rows]
    thresholds = _thresholds(poses, times_s, distance)
    found = _named(poses, times_s, scene.up_world if axes == "level" else None, thresholds)
    stories = [tuple(part for part, _ in parts) for parts in found]
    if any(() in story for story in stories):
        return Story(why="no simple motion at some time")
    if len({*stories}) > 1:
        return Story(why="whether the camera moves in some way is too close to call")
    if len(stories[0]) > MOST_PARTS:
        return Story(why="too many motions one after the other")
    edges = [0, *(segment.first for _, segment in found[0][1:]), len(rows) - 1]
    if (np.diff(times_s[edges]) < _LEAST_PART_S).any():
        return Story(why="a motion is too short to be seen well")
    margin = _margin(scene, path.frames[rows], poses, edges, stories[0], axes, distance)
    if not margin > 0:
        return Story(why="the camera moves too little or too much in some way to decide")
    return Story(why="", parts=stories[0], times_s=tuple((times_s[edges] - times_s[0]).tolist()), margin=margin)


def _distance(scene: Scene, first: int, last: int) -> float:
    """Of what the frames of a video show, in path units; NaN where it is not known."""
    assert scene.path is not None
    frames = np.array(spread_frames(scene.path.frames[scene.path.registered], _PLACES), dtype=np.int64)
    each = scene.once("distances for stories", lambda: scene_distance(scene, frames))
    known = np.isfinite(each)
    inside = known & (frames >= first) & (frames <= last)
    if inside.any():
        return float(np.median(each[inside]))
    away = np.where(known, np.abs(frames - (first + last) / 2), np.inf)
    return float(each[away.argmin()]) if known.any() else np.nan


def _thresholds(
    poses: Float64[np.ndarray, "n 4 4"], times_s: Float64[np.ndarray, "n"], distance: float
) -> tuple[float, float]:
    """The slowest rotation and translation that count as motion."""
    steps, durations_s = camera_motion(poses[:-1], poses[1:]), np.diff(times_s)
    fastest = [
        float(np.percentile(np.divide(*window_lengths(np.nan_to_num(part), durations_s, 0.5)), 95))
        for part in (steps[:, :3], steps[:, 3:])
    ]
    return max(_ROTATION_RAD_S, _FRACTION * fastest[0]), max(_TRANSLATION_PER_S * distance, _FRACTION * fastest[1])


def _named(
    poses: Float64[np.ndarray, "n 4 4"],
    times_s: Float64[np.ndarray, "n"],
    up_world: Float64[np.ndarray, "3"] | None,
    thresholds: tuple[float, float],
) -> list[list[tuple[Part, Segment]]]:
    """Parts with their segments at thresholds times each of the factors, up to the first ones among which is a part
    without a simple name, ()."""
    rotation, translation = thresholds
    settings = [SegmentSettings(rotation_rad_s=f * rotation, translation_m_s=f * translation) for f in _FACTORS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PathWarning)  # lengths are in any unit
        found = []
        for segments in motion_segments_at(poses, times_s, settings, scale="metric", up_world=up_world):
            found.append([*_joined([(_part(one, up_world is not None), one) for one in segments])])
            if any(part == () for part, _ in found[-1]):
                break
    return found


def _joined(parts: Sequence[tuple[Part, Segment]]) -> Iterator[tuple[Part, Segment]]:
    """Equal neighbours as one part. Short rests are not told; but beside longer ones they have no simple name."""
    rest = (STAY.name,)
    short = [part == rest and segment.t1_s - segment.t0_s < _LEAST_STAY_S for part, segment in parts]
    told = [one for one, left_out in zip(parts, short, strict=True) if not left_out]
    if not told or (any(short) and any(part == rest for part, _ in told)):
        return iter([((), parts[0][1])])
    return ((part, next(group)[1]) for part, group in groupby(told, key=lambda one: one[0]))


def _part(segment: Segment, levelled: bool) -> Part:
    """The motions of a segment, translation first; () for two of a kind, and where camera axes have other names."""
    named = segment.levelled if levelled else segment.primitives
    if not named:
        return ()
    kinds = [[p for p in named if p.component in kind] for kind in (TRANSLATIONS, ROTATIONS)]
    if any(len(of_kind) > 1 for of_kind in kinds):
        return ()
    if any(primitive != STAY and primitive not in segment.primitives for primitive in named):
        return ()
    return tuple(p.name for of_kind in kinds for p in of_kind) or (STAY.name,)


def _margin(
    scene: Scene,
    frames: Int64[np.ndarray, "n"],
    poses: Float64[np.ndarray, "n 4 4"],
    edges: Sequence[int],
    parts: Sequence[Part],
    axes: str,
    distance: float,
) -> float:
    """By how many σ all motions of all parts are decided; 0 where one is neither clear nor negligible."""
    up_sigma_rad = 0.0
    if axes == "level":
        assert scene.up_world is not None
        steps = levelled_motion(poses[:-1], poses[1:], scene.up_world)
        up_sigma_rad = float(np.nan_to_num(scene.up_cam(frames)[1]).max())
    else:
        steps = camera_motion(poses[:-1], poses[1:])
    kinds = [(slice(0, 3), _ROTATES_RAD), (slice(3, 6), _TRAVELS * distance)]
    if np.isnan(steps[:, 3:]).any():  # only rotations are known, and nothing else moves
        kinds = kinds[:1]
    gaps, sigmas = [], []
    for part, low, high in zip(parts, edges[:-1], edges[1:], strict=True):
        signs = np.zeros(6)
        for primitive in map(PRIMITIVE.__getitem__, part):
            if primitive.component is not None:
                signs[COMPONENTS.index(primitive.component)] = primitive.sign
        named = signs != 0
        amounts, other_way = _changes(steps[low:high], signs)
        for kind, border in kinds:
            size = float(np.abs(amounts[kind]).max())
            beside = size * named[kind].any()
            aside = np.where(named[kind], 0.0, beside)  # what goes back can be seen however far it then goes
            clear = amounts[kind] >= _CLEARLY * border
            hardly = other_way[kind] <= np.maximum(_HARDLY * border, _MOST_ASIDE * aside)
            if not (hardly & (clear | ~named[kind])).all():
                return 0.0
            gaps += [
                np.maximum(border, _ASIDE * aside) - other_way[kind],
                np.where(named[kind], amounts[kind] - border, np.inf),
            ]
            went, back = (
                _sigma(scene, frames[[low, high]], kind.start == 0, length, up_sigma_rad)
                for length in (size, float(other_way[kind][named[kind]].max(initial=0.0)))
            )
            sigmas += [np.where(named[kind], back, went), np.full(3, went)]
    return float(margin_of_all(np.concatenate(gaps)[None], np.concatenate(sigmas)[None])[0])


def _changes(
    steps: Float64[np.ndarray, "m 6"], signs: Float64[np.ndarray, "6"]
) -> tuple[Float64[np.ndarray, "6"], Float64[np.ndarray, "6"]]:
    """How far each component goes in its own direction, and how far it goes the other way at any time; without a
    direction, how far it goes at most."""
    sums = np.concatenate([np.zeros((1, 6)), np.cumsum(steps, axis=0)])
    along = np.where(signs != 0, signs, 1.0) * sums
    back = (np.maximum.accumulate(along) - along).max(axis=0)
    return along[-1] * (signs != 0), np.where(signs != 0, back, np.ptp(sums, axis=0))


def _sigma(scene: Scene, ends: Int64[np.ndarray, "2"], rotation: bool, size: float, up_sigma_rad: float) -> float:
    """σ of each component of a motion of that size between two frames."""
    turn = float(scene.rotation_sigma_rad(ends).max())
    if rotation:
        return float(np.linalg.norm([turn, scene.turn_relative_sigma * size, up_sigma_rad * size]))
    places = float(scene.offset_sigma(ends[None])[0])
    return float(np.linalg.norm([places, size * turn, size * scene.direction_sigma_rad, size * up_sigma_rad]))


def opposite(name: str) -> str:
    """The motion in the other direction."""
    primitive: Primitive = PRIMITIVE[name]
    return name if primitive.component is None else primitive_of(primitive.component, -primitive.sign).name
