"""Groups of three points of one photo, drawn so that a reader can tell what each of them lies on."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns
from templates.facts import Facts
from templates.scene.marks import Frame, Pixel, Pixels, frames_with_surface, markable, spread_frames
from templates.scene.pictures import MIN_DISTANCE
from templates.scene.scene import Scene

POINTS = 3
_FRAMES = 8
_PIXELS = 60
"""Pixels per frame among which groups are drawn."""
_TRIES = 32
"""Groups drawn for each that is asked for."""
_OTHER_SURFACE = 0.015
"""Least distance of a point from another surface, as a share of the photo's diagonal."""
_SAME_SURFACE = 0.15
"""Largest |ln| of the ratio of two ranges on one surface, within that distance."""
_EIGHT_WAYS = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y], dtype=float)
_EIGHT_WAYS /= np.linalg.norm(_EIGHT_WAYS, axis=1, keepdims=True)


@dataclass(frozen=True, kw_only=True)
class ThreePoints(Facts):
    """Three points of one photo."""

    frame: Int64[np.ndarray, "n"]
    points_px: Float64[np.ndarray, "n 3 2"]


@dataclass(frozen=True, kw_only=True)
class PlacedPoints(Columns):
    """Where the scene has three points of each fact; NaN where unknown."""

    xyz_cam: Float64[np.ndarray, "n 3 3"]
    """Positions in camera axes, in path units."""
    range_relative_sigma: Float64[np.ndarray, "n 3"]
    outlier_probability: Float64[np.ndarray, "n"]
    """Probability that any of the three is an outlier."""

    @classmethod
    def of(cls, facts: ThreePoints, scene: Scene) -> "PlacedPoints":
        """From the surface at the pixels."""
        seen = scene.surface(facts.frame.repeat(POINTS), facts.points_px.reshape(-1, 2))
        return cls(
            xyz_cam=seen.xyz_cam.reshape(-1, POINTS, 3),
            range_relative_sigma=seen.range_relative_sigma.reshape(-1, POINTS),
            outlier_probability=1 - np.prod(1 - seen.outlier_probability.reshape(-1, POINTS), axis=1),
        )

    @property
    def log_range(self) -> Float64[np.ndarray, "n 3"]:
        """ln of the Euclidean distance from the camera."""
        with np.errstate(divide="ignore"):
            return np.log(np.linalg.norm(self.xyz_cam, axis=2))

    @property
    def log_depth(self) -> Float64[np.ndarray, "n 3"]:
        """ln of the depth along the viewing axis."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(self.xyz_cam[:, :, 2])


def three_points(scene: Scene, rng: np.random.Generator, count: int) -> ThreePoints:
    """Random groups of distant clear pixels, up to `_TRIES` times as many as `count`."""
    frame, xy = clear_pixels(scene, rng, count)
    if not len(frame):
        return ThreePoints.none()
    _, start, points = np.unique(frame, return_index=True, return_counts=True)
    at = rng.integers(len(start), size=_TRIES * count)
    rows = start[at][:, None] + (rng.random((len(at), POINTS)) * points[at][:, None]).astype(np.int64)
    chosen = xy[rows]
    apart = np.linalg.norm(chosen - np.roll(chosen, 1, axis=1), axis=2).min(axis=1) >= MIN_DISTANCE * scene.diagonal_px
    return ThreePoints(frame=frame[rows[apart, 0]], points_px=chosen[apart])


def clear_pixels(scene: Scene, rng: np.random.Generator, count: int) -> Pixels:
    """Markable pixels away from other surfaces, ascending by frame, in frames spread over the clip."""
    frames = spread_frames(frames_with_surface(scene), max(_FRAMES, count // 50))
    frame, xy = markable(scene, frames)
    rows = np.sort(rng.permutation(len(frame))[: max(_PIXELS * len(frames), 2 * count)])
    rows = rows[on_one_surface(scene, frame[rows], xy[rows])]
    return frame[rows], xy[rows]


def on_one_surface(scene: Scene, frames: Frame, xy_px: Pixel) -> Bool[np.ndarray, "n"]:
    """Whether no known range within 1.5 % of the diagonal around each pixel differs from that at the pixel: an inexact
    look at it still meets the same surface."""
    around = xy_px[:, None] + _OTHER_SURFACE * scene.diagonal_px * _EIGHT_WAYS
    beside = scene.surface(np.repeat(frames, len(_EIGHT_WAYS)), around.reshape(-1, 2)).range
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.log(beside.reshape(-1, len(_EIGHT_WAYS)) / scene.surface(frames, xy_px).range[:, None])
        return ~(np.abs(ratio) > _SAME_SURFACE).any(axis=1)
