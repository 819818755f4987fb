"""Observations of sparse points in the frames between keyframes.

Only keyframes take part in the reconstruction. In another registered frame a point is observed where optical flow from
a keyframe near in time ends, if it starts and ends where the frame's pose puts the point, leads back, and both pictures
show the same there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64

from experts.clip import Clip, GreyPicture
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.matching.frame_pairs import evenly_spaced


@dataclass(frozen=True, kw_only=True)
class ObservationSettings:
    """Pixels are those of the working size."""

    frames: int = 300
    """Largest number of frames between keyframes, evenly spaced."""
    keyframes: int = 4
    """Number of nearest keyframes from which points are followed."""
    window_px: int = 15
    """Side of the matched patch."""
    pyramid_levels: int = 1
    """The pose already tells the place to a few pixels."""
    reprojection_px: float = 1.5
    """Largest distance of the place found from the place where the pose puts the point."""
    forward_backward_px: float = 0.7
    """Largest distance from the start after the way there and back."""
    min_contrast: float = 1e-3
    """Smallest eigenvalue of the patch, on OpenCV's scale."""
    compared_px: int = 9
    """Side of the squares around both pixels ..."""
    min_correlation: float = 0.8
    """... whose normalised cross-correlation is at least this: flow also settles on something smooth that hides the
    point. In five rendered rooms 1 to 4 % of the right observations have less, and half of the wrong ones in the room
    in which a person walks by."""


@dataclass(frozen=True, kw_only=True)
class Observations:
    """Where points are seen."""

    point: Int64[np.ndarray, "o"]
    """Row of the reconstruction's points."""
    column: Int64[np.ndarray, "o"]
    """Position of the frame in the clip."""
    xy_px: Float64[np.ndarray, "o 2"]
    """Pixel at working size."""


def observations_between(
    clip: Clip,
    keyframes: Int64[np.ndarray, "k"],
    reconstructions: Sequence[SparseReconstruction],
    cam_from_world: Sequence[Float64[np.ndarray, "n 4 4"]],
    settings: ObservationSettings,
) -> list[Observations]:
    """For each reconstruction of the same keyframes, with its poses of all frames, the observations in the others.

    `keyframes`: position in the clip of each place. Frames without a pose (NaN) have none.
    """
    posed = np.any([np.isfinite(poses[:, 0, 0]) for poses in cam_from_world], axis=0)
    between = evenly_spaced(np.setdiff1d(np.flatnonzero(posed), keyframes), settings.frames)
    pictures = {int(frame): grey for frame, grey in clip.read_grey(clip.frames[keyframes].tolist())} if between else {}
    found: list[list[Observations]] = [[] for _ in reconstructions]
    for column, grey in _pictures(clip, between):
        for sparse, poses, own in zip(reconstructions, cam_from_world, found, strict=True):
            if np.isfinite(poses[column, 0, 0]):
                near = _nearest(keyframes[sparse.places], column, settings.keyframes)
                places = sparse.places[near].tolist()
                earlier = {place: pictures[int(clip.frames[keyframes[place]])] for place in places}
                own.append(_in_frame(column, grey, earlier, sparse, poses[column], settings))
    return [_joined(each) for each in found]


def _pictures(clip: Clip, columns: Sequence[int]) -> Iterator[tuple[int, GreyPicture]]:
    read = clip.read_grey(clip.frames[list(columns)].tolist()) if columns else iter(())
    for column, (_, grey) in zip(columns, read, strict=True):
        yield column, grey


def _nearest(columns: Int64[np.ndarray, "k"], column: int, count: int) -> Int64[np.ndarray, "c"]:
    return np.argsort(np.abs(columns - column), kind="stable")[:count]


def _in_frame(
    column: int,
    grey: GreyPicture,
    earlier: Mapping[int, GreyPicture],
    sparse: SparseReconstruction,
    cam_from_world: Float64[np.ndarray, "4 4"],
    settings: ObservationSettings,
) -> Observations:
    """What one frame shows of the points of the given keyframes; the nearest keyframe that finds a point counts."""
    points, places = [np.empty(0, dtype=np.int64)], [np.empty((0, 2))]
    for place, picture in earlier.items():
        seen = np.flatnonzero((sparse.place == place) & ~np.isin(sparse.point, np.concatenate(points)))
        in_cam = sparse.xyz_world[sparse.point[seen]] @ cam_from_world[:3, :3].T + cam_from_world[:3, 3]
        expected = sparse.camera.project(in_cam)
        inside = sparse.camera.contains(expected)
        seen, expected = seen[inside], expected[inside]
        xy, good = _followed(picture, grey, sparse.xy_px[seen], expected, settings)
        points.append(sparse.point[seen[good]])
        places.append(xy[good])
    point = np.concatenate(points)
    return Observations(point=point, column=np.full(len(point), column), xy_px=np.concatenate(places))


def _followed(
    picture: GreyPicture,
    grey: GreyPicture,
    xy_px: Float64[np.ndarray, "m 2"],
    expected_px: Float64[np.ndarray, "m 2"],
    settings: ObservationSettings,
) -> tuple[Float64[np.ndarray, "m 2"], Bool[np.ndarray, "m"]]:
    """Where optical flow finds the pixels of `picture` in `grey`, and whether it found what was expected."""
    if not len(xy_px):
        return np.empty((0, 2)), np.empty(0, dtype=bool)
    start, guess = (xy.astype(np.float32)[:, None] for xy in (xy_px, expected_px))
    there, found = _flow(picture, grey, start, guess, settings)
    back, returned = _flow(grey, picture, there, start, settings)
    good = found & returned
    good &= np.linalg.norm(back - start, axis=2)[:, 0] <= settings.forward_backward_px
    good &= np.linalg.norm(there - guess, axis=2)[:, 0] <= settings.reprojection_px
    alike = correlation(picture, grey, start[good, 0], there[good, 0], settings.compared_px)
    good[good] = alike >= settings.min_correlation
    return there[:, 0].astype(np.float64), good


def correlation(
    picture: GreyPicture,
    other: GreyPicture,
    xy_px: Float32[np.ndarray, "m 2"],
    other_px: Float32[np.ndarray, "m 2"],
    side_px: int,
) -> Float64[np.ndarray, "m"]:
    """Normalised cross-correlation of the squares around pixels of two pictures; 0 where one is uniform."""
    if not len(xy_px):
        return np.empty(0)
    import cv2

    step = np.arange(side_px, dtype=np.float32) - side_px // 2
    squares = []
    for shown, xy in ((picture, xy_px), (other, other_px)):
        x, y = xy[:, :1] + np.tile(step, side_px), xy[:, 1:] + np.repeat(step, side_px)
        square = cv2.remap(shown.astype(np.float32), x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        square -= square.mean(axis=1, keepdims=True)
        squares.append(square / np.maximum(np.linalg.norm(square, axis=1, keepdims=True), 1e-9))
    return np.asarray(np.sum(squares[0] * squares[1], axis=1, dtype=np.float64))


def _flow(
    picture: GreyPicture,
    grey: GreyPicture,
    start: Float32[np.ndarray, "m 1 2"],
    guess: Float32[np.ndarray, "m 1 2"],
    settings: ObservationSettings,
) -> tuple[Float32[np.ndarray, "m 1 2"], Bool[np.ndarray, "m"]]:
    import cv2

    options: dict[str, Any] = {
        "winSize": (settings.window_px, settings.window_px),
        "maxLevel": settings.pyramid_levels,
        "minEigThreshold": settings.min_contrast,
        "flags": cv2.OPTFLOW_USE_INITIAL_FLOW,
    }
    found, status, _ = cv2.calcOpticalFlowPyrLK(picture, grey, start, guess.copy(), **options)
    return found, status[:, 0] > 0


def _joined(parts: Sequence[Observations]) -> Observations:
    return Observations(
        point=np.concatenate([np.empty(0, dtype=np.int64), *(part.point for part in parts)]),
        column=np.concatenate([np.empty(0, dtype=np.int64), *(part.column for part in parts)]),
        xy_px=np.concatenate([np.empty((0, 2)), *(part.xy_px for part in parts)]),
    )
