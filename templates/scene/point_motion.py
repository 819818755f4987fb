"""Decides whether marked points move in the world."""

from functools import partial

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial import ConvexHull, QhullError, cKDTree

from experts.signals import Objects, PointTracks
from templates.measured import Measured, first_reason
from templates.scene.correspondence import objects_at
from templates.scene.marks import Frame, Pixel
from templates.scene.objects import masks_in_photos
from templates.scene.scene import Scene, find_rows
from templates.scene.surface import MAX_DISTANCE_PX

_SIGMA_PX = 2.0
"""σ of a residual against the static world (at 640 px width): a moving track has 6 px, which is 3 σ."""
INSIDE_PX = 6.0
"""Least distance of a mark from the outline of the moving tracks, inside or outside (at 640 px width)."""
_BORDER_PX = 3
"""An object mask counts where all pixels within this distance belong to the same object."""
_MIN_MOVED_SHARE = 0.02
"""A spot on an object of known pose moves if it travels at least this share of its distance from the camera."""
_MAX_STATIC_SHARE, _MAX_STATIC_TURN = 1e-3, 3e-3
"""It is static if the object travels at most this share, and no component of its axes changes by more, in all frames
from the first photo to the last."""

_AT_BORDER = "at the border of an object"
_NOT_LISTED = "objects are not known in all photos"


def point_motion(
    scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"], inside_px: float = INSIDE_PX
) -> Measured:
    """Label "yes" or "no" for a pixel of `frame` over `frames` (-1 ends a row): by the poses of objects where a
    dataset has them, else by tracks. Measures the residual in px at 640 px width, or the moved share of the range; what
    only moves between the photos is not decided."""
    if scene.exact_objects is None:
        return _by_tracks(scene, frame, xy_px, frames, inside_px)
    by_pose = _by_pose(scene, frame, xy_px, frames)
    unlisted = by_pose.why == _NOT_LISTED
    by_tracks = _by_tracks(scene, frame[unlisted], xy_px[unlisted], frames[unlisted], inside_px)
    return Measured.interleaved(unlisted, by_tracks, by_pose.take(~unlisted))


def _by_tracks(
    scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"], inside_px: float
) -> Measured:
    if scene.tracks is None or not len(scene.tracks.motion):
        return Measured.none(len(frame), "point is not tracked")
    tracks, found = scene.tracks, tracks_at(scene, frame, xy_px)
    row = np.maximum(found, 0)
    shown = find_rows(tracks.frames, frames)
    seen = ((frames < 0) | ((shown >= 0) & tracks.visible[row[:, None], shown])).all(axis=1)
    moves, static = tracks.motion[row] == 1, tracks.motion[row] == 0
    inside = _distance_inside_moving_px(scene, frame, xy_px) / scene.pixel_scale
    residual, parallax = tracks.residual_px[row] / scene.pixel_scale, tracks.parallax_px[row] / scene.pixel_scale
    cases = {
        "point is not tracked": found < 0,
        "point is not seen in all photos": ~seen,
        "the tracks do not decide whether the point moves": ~(moves | static),
        "at the outline of a moving object": np.where(moves, inside, -inside) < inside_px,
    }
    return Measured(
        why=first_reason(len(frame), cases),
        value=residual[:, None],
        sigma=np.full((len(frame), 1), _SIGMA_PX),
        label=np.where(moves, "yes", "no"),
        margin=np.where(moves, residual, parallax - residual) / _SIGMA_PX,
        outlier_probability=tracks.outlier_probability[row],
        evidence={
            "residual_px_640": residual.round(2),
            "parallax_px_640": np.where(np.isfinite(parallax), parallax.round(2), np.nan),
            "moving_pairs": tracks.moving_pairs[row],
        },
    )


def _distance_inside_moving_px(scene: Scene, frames: Frame, xy_px: Pixel) -> Float64[np.ndarray, "n"]:
    """Distance of pixels inside the outline (convex hull) of the moving tracks of their frame; negative outside.

    A mark on the outline covers two objects. -inf where fewer than three tracks move.
    """
    assert scene.tracks is not None
    found = np.full(len(frames), -np.inf)
    for frame in np.unique(frames):
        column, rows = int(find_rows(scene.tracks.frames, frame)), np.flatnonzero(frames == frame)
        moving = scene.tracks.xy_px[scene.tracks.motion == 1, column]
        moving = moving[np.isfinite(moving).all(axis=1)]
        try:
            equations = ConvexHull(moving).equations
        except (QhullError, ValueError):  # fewer than three, or all on one line
            continue
        found[rows] = -(xy_px[rows] @ equations[:, :2].T + equations[:, 2]).max(axis=1)
    return found


def tracks_at(scene: Scene, frames: Frame, xy_px: Pixel) -> Int64[np.ndarray, "n"]:
    """Row of the track nearest to each pixel of its frame; -1 if none is within `MAX_DISTANCE_PX`, and for NaN."""
    found = np.full(len(frames), -1)
    if (tracks := scene.tracks) is None:
        return found
    known = np.isfinite(xy_px).all(axis=1)
    for frame in np.unique(frames).tolist():
        rows = np.flatnonzero((frames == frame) & known)
        followed, places = scene.once(("tracks", frame), partial(_followed, tracks, frame))
        if len(followed):
            distance_px, nearest = places.query(xy_px[rows])
            found[rows] = np.where(distance_px <= MAX_DISTANCE_PX * scene.pixel_scale, followed[nearest], -1)
    return found


def _followed(tracks: PointTracks, frame: int) -> tuple[Int64[np.ndarray, "k"], cKDTree]:
    """The rows of the tracks that are known in a frame, and their pixels there."""
    column = int(find_rows(tracks.frames, frame))
    known = (
        np.isfinite(tracks.xy_px[:, column]).all(axis=1) if column >= 0 else np.zeros(len(tracks.motion), dtype=bool)
    )
    return np.flatnonzero(known), cKDTree(tracks.xy_px[known, column])


def _by_pose(scene: Scene, frame: Frame, xy_px: Pixel, frames: Int64[np.ndarray, "n k"]) -> Measured:
    """By the poses of objects, which only a dataset with ground truth has. What belongs to none is static only where
    all are listed."""
    objects = scene.exact_objects
    assert objects is not None
    if not objects.labels:
        return _still(len(frame))
    shown = np.concatenate([frame[:, None], np.where(frames < 0, frame[:, None], frames)], axis=1)
    rows = find_rows(objects.frames, shown)
    k, alone = _object_around(scene, frame, xy_px)
    poses, camera = objects.world_from_object[rows, k[:, None]], scene.world_from_cam(frame)
    surface = scene.surface(frame, xy_px)
    start = np.einsum("nij,nj->ni", camera[:, :3, :3], surface.xyz_cam) + camera[:, :3, 3]
    spot = np.einsum("nji,nj->ni", poses[:, 0, :3, :3], start - poses[:, 0, :3, 3])  # in the axes of the object
    places = np.einsum("nsij,nj->nsi", poses[..., :3, :3], spot) + poses[..., :3, 3]
    moved = np.linalg.norm(places - places[:, :1], axis=2).max(axis=1)
    travelled, turned = _between(objects, rows, k)
    with np.errstate(invalid="ignore"):
        share = np.where(k >= 0, moved, 0.0) / surface.range
        rests = (travelled <= _MAX_STATIC_SHARE * surface.range) & (turned <= _MAX_STATIC_TURN)
        still = (share <= _MAX_STATIC_SHARE) & ((k < 0) | rests)
    with_mask = masks_in_photos(scene)[rows[:, 0]].any(axis=1)
    unlisted = (rows < 0).any(axis=1) | ~with_mask | ((k < 0) & ("*" not in objects.complete))
    cases = {
        _AT_BORDER: ~alone,
        _NOT_LISTED: unlisted,
        "the object moves too little to decide": ~(still | (share >= _MIN_MOVED_SHARE)),
    }
    return Measured(
        why=first_reason(len(frame), cases),
        value=share[:, None],
        sigma=np.zeros((len(frame), 1)),
        label=np.where(share >= _MIN_MOVED_SHARE, "yes", "no"),
        margin=np.full(len(frame), np.inf),
        evidence={"moved_share_of_range": share.round(4)},
    )


def _between(
    objects: Objects, rows: Int64[np.ndarray, "n s"], object: Int64[np.ndarray, "n"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """The largest way of each object from its place in the first photo, in all frames up to the last one, and the
    largest change of a component of its axes."""
    each = np.column_stack([rows[:, 0], rows.min(axis=1), rows.max(axis=1), object])
    spans, of_row = np.unique(each, axis=0, return_inverse=True)
    way, turn = np.zeros(len(spans)), np.zeros(len(spans))
    for span, (first, low, high, k) in enumerate(spans.tolist()):
        change = objects.world_from_object[low : high + 1, k] - objects.world_from_object[first, k]
        way[span] = np.linalg.norm(change[:, :3, 3], axis=1).max(initial=0.0)
        turn[span] = np.abs(change[:, :3, :3]).max(initial=0.0)
    return way[of_row.reshape(-1)], turn[of_row.reshape(-1)]


def _still(count: int) -> Measured:
    """Of a scene in which nothing moves."""
    return Measured(
        why=np.full(count, ""),
        value=np.zeros((count, 1)),
        sigma=np.zeros((count, 1)),
        label=np.full(count, "no"),
        margin=np.full(count, np.inf),
        evidence={"moved_share_of_range": np.zeros(count)},
    )


def _object_around(scene: Scene, frame: Frame, xy_px: Pixel) -> tuple[Int64[np.ndarray, "n"], Bool[np.ndarray, "n"]]:
    """The object at each pixel, and whether it alone is within `_BORDER_PX`."""
    offsets = np.array([(dx, dy) for dx in (-_BORDER_PX, 0, _BORDER_PX) for dy in (-_BORDER_PX, 0, _BORDER_PX)])
    around_px = (xy_px + offsets[:, None]).reshape(-1, 2)
    around = objects_at(scene, np.tile(frame, len(offsets)), around_px).reshape(len(offsets), len(frame))
    return around[0], (around == around[0]).all(axis=0)
