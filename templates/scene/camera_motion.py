"""Whether the camera moves between two photos: by its path, by the static points, or by the edges of the picture."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64

from templates.measured import Measured, first_reason
from templates.scene.offsets import offsets
from templates.scene.scene import Scene, angle_between_rad, find_rows
from templates.scene.shared_view import shared_views

_STILL_RAD = np.radians(1.0)
"""A camera that rotates by less does not visibly move ..."""
_SEEN_RAD = np.radians(3.0)
"""... and one that rotates by more does."""
_STILL_SHARE, _SEEN_SHARE = 0.01, 0.03
"""The same for a translation, as shares of the distance of the scene; and for the shift of the static points at the
middle of the picture, as shares of its longer side: through the lenses of most cameras, a rotation of 1 degree shifts
it by 1 to 3 % of that."""
_SEEN_SIGMAS = 5.0
"""A translation counts from this many σ: a position's σ is at least 0.5 % of the distance of the scene."""
_ZOOM_SHARE = 0.15
"""A zoom shifts the middle by at most this share of the longer side, times the change of scale: lenses are
not centred."""
_SHIFT_SIGMA = 0.004
"""σ of the shift, as a share of the longer side."""
_BETWEEN = 16
"""Frames of an interval at which the camera is looked at."""
_MIN_TRACKS = 20
_GRID = np.array([8, 6])
"""Cells of the picture across and down; the outer ones are its edges."""
_MIN_CELLS, _MIN_SIDES = 8, 3
"""Least number of outer cells with tracks, and of sides of the picture that have one."""
_EDGE_SHARE = 0.77
"""Least share of these cells that shift together: at most 0.38 in 7 rooms with a static camera and moving objects, at
most 0.45 under a zoom. In 16 static clips it is reached by none of 2 521 intervals."""
_EDGE_ANGLE_RAD = np.radians(45.0)
"""They shift together within this angle of the median shift."""


def ends_of(frames: Int64[np.ndarray, "n k"]) -> Int64[np.ndarray, "n 2"]:
    """The first and the last frame of each row; -1 ends a row."""
    last = (frames >= 0).sum(axis=1) - 1
    return np.column_stack([frames[:, 0], frames[np.arange(len(last)), last]])


def frames_between(scene: Scene, ends: Int64[np.ndarray, "n 2"]) -> Int64[np.ndarray, "n f"]:
    """Evenly spaced registered frames from the first to the last frame of each row: what the camera does in between is
    not told by its poses at the ends. -1 where there is no path."""
    frames = np.empty(0, np.int64) if scene.path is None else scene.path.frames[scene.path.registered]
    if not len(frames):
        return np.full((len(ends), _BETWEEN), -1)
    first, last = np.minimum(np.searchsorted(frames, ends), len(frames) - 1).T
    return frames[np.linspace(first, last, _BETWEEN, axis=1).round().astype(np.int64)]


def camera_moved(scene: Scene, ends: Int64[np.ndarray, "n 2"]) -> Measured:
    """Label "yes" if the camera rotates or translates visibly from the first to the last photo, "no" if it stands still
    all the time. Measures the angle of its rotation in degrees, or the shift of the picture in percent of its longer
    side."""
    return _by_picture(scene, ends) if scene.path is None else _by_path(scene, ends)


@dataclass(frozen=True, kw_only=True)
class PathMargins:
    """By how many σ the camera visibly rotates or travels between two photos, and by how many it does not; negative
    infinity where unknown."""

    angle_rad: Float64[np.ndarray, "n"]
    """Of the rotation; NaN where unknown."""
    sigma_rad: Float64[np.ndarray, "n"]
    rotates: Float64[np.ndarray, "n"]
    keeps_direction: Float64[np.ndarray, "n"]
    travels: Float64[np.ndarray, "n"]
    keeps_place: Float64[np.ndarray, "n"]


def path_margins(scene: Scene, ends: Int64[np.ndarray, "n 2"], distance: Float64[np.ndarray, "n"]) -> PathMargins:
    """Rotation and translation by the camera path. `distance`: of what the photos show, in path units."""
    first, last = np.moveaxis(scene.world_from_cam(ends), 1, 0)
    angle = angle_between_rad(first[:, :3, :3], last[:, :3, :3])
    sigma = np.hypot(scene.rotation_sigma_rad(ends).max(axis=1), scene.turn_relative_sigma * angle)
    never, motion = np.full(len(ends), -np.inf), "unresolved" if scene.path is None else scene.path.motion
    with np.errstate(divide="ignore", invalid="ignore"):
        travels, keeps_place = never, -never if motion in ("static", "rotation_only") else never
        if motion == "general":
            travels, keeps_place = _translation(scene, ends, distance)
        return PathMargins(
            angle_rad=angle,
            sigma_rad=sigma,
            rotates=np.where(angle >= _SEEN_RAD, (angle - _STILL_RAD) / sigma, -np.inf),
            keeps_direction=np.where(np.isfinite(angle), (_STILL_RAD - angle) / sigma, -np.inf),
            travels=travels,
            keeps_place=keeps_place,
        )


def _by_path(scene: Scene, ends: Int64[np.ndarray, "n 2"]) -> Measured:
    assert scene.path is not None
    frames, row = np.unique(ends, return_inverse=True)
    distance = shared_views(scene, frames).distance[row.reshape(ends.shape)].min(axis=1)
    margins = path_margins(scene, ends, distance)
    still = np.fmin(margins.keeps_direction, margins.keeps_place)
    if scene.path.motion == "rotation_only":
        still = np.full(len(ends), -np.inf)
    rows = np.flatnonzero(still > 0)
    still[rows] = np.fmin(still[rows], _still_between(scene, ends[rows], distance[rows]))
    moves = np.fmax(margins.rotates, margins.travels)
    cases = {
        "rotation of a photo is not known": ~np.isfinite(margins.angle_rad),
        "the camera moves too little to decide": np.fmax(moves, still) <= 0,
    }
    angle, sigma = np.degrees(margins.angle_rad), np.degrees(margins.sigma_rad)
    measured = _label(first_reason(len(ends), cases), angle, sigma, moves, still)
    away = np.full(len(ends), np.nan)
    if scene.path.motion == "general":
        with np.errstate(invalid="ignore", divide="ignore"):
            away = (offsets(scene, ends).length / distance).round(2)
    return replace(measured, evidence={"camera_turned_deg": angle.round(1), "camera_moved_over_distance": away})


def _still_between(
    scene: Scene, ends: Int64[np.ndarray, "n 2"], distance: Float64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n"]:
    """By how many σ the camera stands still at every moment in between."""
    between = frames_between(scene, ends)
    pairs = np.stack([np.broadcast_to(ends[:, :1], between.shape), between], axis=-1).reshape(-1, 2)
    margins = path_margins(scene, pairs, np.repeat(distance, between.shape[1]))
    still = np.fmin(margins.keeps_direction, margins.keeps_place)
    return np.asarray(still.reshape(between.shape).min(axis=1, initial=np.inf))


def _translation(
    scene: Scene, ends: Int64[np.ndarray, "n 2"], distance: Float64[np.ndarray, "n"]
) -> tuple[np.ndarray, np.ndarray]:
    """By how many σ the camera translates visibly, and by how many it does not; negative infinity where unknown."""
    travel = offsets(scene, ends)
    beyond = (travel.length - _STILL_SHARE * distance) / travel.position_sigma
    visible = (travel.length >= _SEEN_SHARE * distance) & (beyond >= _SEEN_SIGMAS)
    return np.where(visible, beyond, -np.inf), np.where(np.isfinite(distance), -beyond, -np.inf)


def _by_picture(scene: Scene, ends: Int64[np.ndarray, "n 2"]) -> Measured:
    shift, zoom = np.full(len(ends), np.nan), np.zeros(len(ends))
    for row, frames in enumerate(ends):
        shift[row], zoom[row] = _edge_shift(scene, frames) if scene.tracks is None else _shift(scene, frames)
    moves = (shift - _STILL_SHARE - _ZOOM_SHARE * zoom) / _SHIFT_SIGMA
    moves = np.where(shift >= _SEEN_SHARE, moves, -np.inf)
    cases = {
        "too few static points": np.isnan(shift),
        "the camera moves too little to decide": ~(moves > 0),
    }
    sigma = np.full(len(ends), 100 * _SHIFT_SIGMA)
    return _label(first_reason(len(ends), cases), 100 * shift, sigma, moves, np.full(len(ends), -np.inf))


def _shift(scene: Scene, frames: Int64[np.ndarray, "2"]) -> tuple[float, float]:
    """Shift of the middle of the picture and change of its scale, by the similarity of the static points; NaN if they
    are too few."""
    tracks = scene.tracks
    if tracks is None or (find_rows(tracks.frames, frames) < 0).any():
        return np.nan, 0.0
    columns = find_rows(tracks.frames, frames)
    rows = np.flatnonzero((tracks.motion == 0) & tracks.visible[:, columns].all(axis=1))
    if len(rows) < _MIN_TRACKS:
        return np.nan, 0.0
    middle = np.array([scene.clip.width_px, scene.clip.height_px]) / 2
    a, b = ((tracks.xy_px[rows, column] - middle) @ np.array([1, 1j]) for column in columns)
    design = np.stack([a, np.ones_like(a)], axis=1)
    scale, shift = np.linalg.lstsq(design, b, rcond=None)[0]
    return float(abs(shift) / _longer_side_px(scene)), float(abs(abs(scale) - 1))


def _edge_shift(scene: Scene, frames: Int64[np.ndarray, "2"]) -> tuple[float, float]:
    """Shift of the edges of the picture where nearly all of them shift together, which only the camera makes them do;
    NaN where they do not. It holds where parallax or large moving objects leave the static points unknown."""
    tracks = scene.image_tracks
    if tracks is None or (columns := find_rows(tracks.frames, frames)).min() < 0:
        return np.nan, 0.0
    both = tracks.xy_px[:, columns].astype(np.float64)
    start, end = np.moveaxis(both[np.isfinite(both).all(axis=(1, 2))], 1, 0)
    cell = np.clip(np.floor(start / [scene.clip.width_px, scene.clip.height_px] * _GRID), 0, _GRID - 1).astype(int)
    sides = np.concatenate([cell == 0, cell == _GRID - 1], axis=1)
    edge = sides.any(axis=1)
    cells, row = np.unique(cell[edge] @ [1, _GRID[0]], return_inverse=True)
    if edge.sum() < _MIN_TRACKS or len(cells) < _MIN_CELLS or sides.any(axis=0).sum() < _MIN_SIDES:
        return np.nan, 0.0
    moved = (end - start)[edge] / _longer_side_px(scene)
    each = np.array([np.median(moved[row == k], axis=0) for k in range(len(cells))])
    shift = np.median(each, axis=0)
    along = each @ shift / max(float(np.linalg.norm(shift)), 1e-9)
    together = (along >= _SEEN_SHARE) & (along >= np.cos(_EDGE_ANGLE_RAD) * np.linalg.norm(each, axis=1))
    return (float(np.linalg.norm(shift)) if together.mean() >= _EDGE_SHARE else np.nan), 0.0


def _longer_side_px(scene: Scene) -> int:
    return max(scene.clip.width_px, scene.clip.height_px)


def _label(
    why: np.ndarray,
    value: Float64[np.ndarray, "n"],
    sigma: Float64[np.ndarray, "n"],
    moves: Float64[np.ndarray, "n"],
    still: Float64[np.ndarray, "n"],
) -> Measured:
    return Measured(
        why=why,
        value=value[:, None],
        sigma=sigma[:, None],
        label=np.where(moves > still, "yes", "no"),
        margin=np.maximum(moves, still),
    )
