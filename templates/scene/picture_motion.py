"""Where marked points are in the pictures of a camera that stands still, over time."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns
from templates.scene.camera_motion import camera_moved
from templates.scene.correspondence import objects_at
from templates.scene.elsewhere import movers
from templates.scene.intervals import seconds_between
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, Frame, Pixel, grid_px, inside
from templates.scene.places import places_over_time
from templates.scene.point_motion import tracks_at
from templates.scene.scene import Scene, find_rows

_LEAST_FRAMES = 5
"""That show a point whose motion is continued."""
_GRID = 48
"""Cells per side of the grid on which points of moving objects are sought."""
_AROUND_PX = 4.0
"""Around a mark on a moving object, all pixels are of that object (at 640 px width)."""


@dataclass(frozen=True, kw_only=True)
class PicturePlaces(Columns):
    """n points in k frames of a camera that stands still; NaN where not followed."""

    xy_px: Float64[np.ndarray, "n k 2"]
    sigma_px: Float64[np.ndarray, "n k"]
    outlier_probability: Float64[np.ndarray, "n"]


def pixels_over_time(scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"]) -> PicturePlaces:
    """The pixels, in each of `frames` (-1 ends a row), of the points at pixels of `frame`: by the poses of objects if
    a dataset has them, else by tracks."""
    by_tracks = _by_tracks(scene, frame, xy_px, frames)
    if scene.exact_objects is None or scene.path is None:
        return by_tracks
    camera, places = scene.path.intrinsics, places_over_time(scene, frame, xy_px, frames)
    with np.errstate(invalid="ignore", divide="ignore"):
        sigma = max(camera.fx_px, camera.fy_px) * places.sigma / places.xyz_cam[..., 2]
        xy = camera.project(places.xyz_cam)
    same = np.stack([objects_at(scene, f, at) for f, at in zip(frames.T, xy.swapaxes(0, 1), strict=True)], axis=1)
    shown = (same == objects_at(scene, frame, xy_px)[:, None]) & camera.contains(xy)
    return PicturePlaces(
        xy_px=np.where(shown[..., None], xy, np.nan),
        sigma_px=np.where(shown, sigma, np.nan),
        outlier_probability=scene.surface(frame, xy_px).outlier_probability,
    )


def _by_tracks(scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"]) -> PicturePlaces:
    tracks, count = scene.tracks, len(frame)
    if tracks is None or not len(tracks.motion):
        nan = np.full(frames.shape, np.nan)
        return PicturePlaces(xy_px=np.stack([nan, nan], axis=2), sigma_px=nan, outlier_probability=np.ones(count))
    row, column = tracks_at(scene, frame, xy_px), find_rows(tracks.frames, frames)
    at = np.maximum(row, 0)
    beside = xy_px - tracks.xy_px[at, np.maximum(find_rows(tracks.frames, frame), 0)]
    shown = (row >= 0)[:, None] & (column >= 0) & tracks.visible[at[:, None], column]
    xy = tracks.xy_px[at[:, None], column] + beside[:, None]
    return PicturePlaces(
        xy_px=np.where(shown[..., None], xy, np.nan),
        sigma_px=np.where(shown, tracks.sigma_px[at[:, None], column], np.nan).astype(np.float64),
        outlier_probability=np.where(row >= 0, tracks.outlier_probability[at], 1.0).astype(np.float64),
    )


def continued(
    scene: Scene, frames: Int64[np.ndarray, "n k"], xy_px: Float64[np.ndarray, "n k 2"], later: Frame
) -> Float64[np.ndarray, "n 2 2"]:
    """Where points would be in later frames if they went on as in `frames` (-1 ends a row): evenly in the picture, and
    evenly in space. NaN for points that too few frames show."""
    even, a, b, c = _fits(scene, frames, xy_px)
    until = seconds_between(scene, np.column_stack([frames[:, 0], later]))[:, None]
    scale = 1 + c * until
    with np.errstate(invalid="ignore", divide="ignore"):
        in_space = np.where(scale > 0, (a + b * until) / scale, np.nan)
        return np.stack([even[:, 0] + even[:, 1] * until, in_space], axis=1)


def expected_crossing_s(
    scene: Scene,
    frames: Int64[np.ndarray, "n k"],
    xy_px: Float64[np.ndarray, "n k 2"],
    x_px: Float64[np.ndarray, "n"],
) -> Float64[np.ndarray, "n"]:
    """When points that go on evenly in space, as in `frames` (-1 ends a row), are in a column of the picture: seconds
    after the first frame. NaN where too few frames show them."""
    _, a, b, c = _fits(scene, frames, xy_px)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((x_px - a[:, 0]) / (b[:, 0] - c[:, 0] * x_px))


def _fits(
    scene: Scene, frames: Int64[np.ndarray, "n k"], xy_px: Float64[np.ndarray, "n k 2"]
) -> tuple[Float64[np.ndarray, "n 2 2"], Float64[np.ndarray, "n 2"], Float64[np.ndarray, "n 2"], np.ndarray]:
    """By least squares, over the seconds since the first frame: place and velocity of an even motion in the picture,
    and a, b and c (n, 1) of an even and straight motion in space, whose pixels are (a + b t) / (1 + c t)."""
    start = np.repeat(frames[:, :1], frames.shape[1], axis=1)
    since = seconds_between(scene, np.column_stack([start.ravel(), frames.ravel()])).reshape(frames.shape)
    known = np.isfinite(since) & np.isfinite(xy_px).all(axis=2)
    found = np.full((len(frames), 9), np.nan)
    for row in np.flatnonzero(known.sum(axis=1) >= _LEAST_FRAMES):
        t, xy = since[row, known[row]], xy_px[row, known[row]]
        line = np.column_stack([np.ones_like(t), t])
        nothing = np.zeros_like(line)
        design = np.block([[line, nothing, -(t * xy[:, 0])[:, None]], [nothing, line, -(t * xy[:, 1])[:, None]]])
        ax, bx, ay, by, c = np.linalg.lstsq(design, xy.T.ravel(), rcond=None)[0]
        found[row] = [*np.linalg.lstsq(line, xy, rcond=None)[0].ravel(), ax, ay, bx, by, c]
    return found[:, :4].reshape(-1, 2, 2), found[:, 4:6], found[:, 6:8], found[:, 8:]


def later_frames(scene: Scene, frame: int, soonest_s: float, latest_s: float) -> Int64[np.ndarray, "k"]:
    """Registered frames in which points are followed, so many seconds after a frame."""
    followed = scene.exact_objects or scene.tracks
    if scene.path is None or followed is None:
        return np.empty(0, dtype=np.int64)
    known = np.intersect1d(scene.path.frames[scene.path.registered & (scene.path.frames > frame)], followed.frames)
    seconds = seconds_between(scene, np.column_stack([np.full_like(known, frame), known]))
    return np.asarray(known[(seconds >= soonest_s) & (seconds <= latest_s)])


def stands_still(scene: Scene, first: Frame, last: Frame) -> Bool[np.ndarray, "n"]:
    """Whether the camera certainly stands still between two frames."""
    ends, row = np.unique(np.column_stack([first, last]), axis=0, return_inverse=True)
    moved = camera_moved(scene, ends)
    assert moved.margin is not None
    still = (moved.why == "") & (np.asarray(moved.label) == "no") & (moved.margin >= 3)
    return np.asarray(still[row.reshape(-1)])


def moving_pixels(scene: Scene, frame: int) -> Float64[np.ndarray, "k 2"]:
    """Pixels of a frame that show something that moves, away from its outline and from the edges of the picture."""
    if scene.exact_objects is None:
        tracks = scene.tracks
        if tracks is None or (column := int(find_rows(tracks.frames, [frame])[0])) < 0:
            return np.empty((0, 2))
        sure = tracks.visible[:, column] & (tracks.motion == 1) & (tracks.outlier_probability < MAX_OUTLIER_PROBABILITY)
        xy = np.round(tracks.xy_px[sure, column].astype(np.float64), 1)
        return xy[inside(scene.clip, xy)]
    xy = np.round(grid_px(scene.clip, _GRID), 1)
    xy = xy[inside(scene.clip, xy)]
    here, moves = np.full(len(xy), frame), np.append(movers(scene), False)
    around = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1)]
    each = np.stack([objects_at(scene, here, xy + np.array(step) * _AROUND_PX * scene.pixel_scale) for step in around])
    return xy[moves[each[0]] & (each == each[0]).all(axis=0)]
