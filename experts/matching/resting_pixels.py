"""Pixels that may be carried from frame to frame: away from edges, depth borders and what moves; and tracks by them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64
from scipy.spatial import cKDTree

from experts.clip import Clip
from experts.depth.depth_reprojection import sampled
from experts.intrinsics import Intrinsics
from experts.signals import Objects, PointTracks, ValidArea

_TRACK_SLOPE = 0.3
"""px that a track's word loses per px of distance: neighbours of one surface move alike to about a third."""


@dataclass(frozen=True, kw_only=True)
class Ends:
    """Where tracks say that pixels of another frame lie."""

    xy_px: Float64[np.ndarray, "k 2"]
    """NaN where no track passes."""
    sigma_px: Float64[np.ndarray, "k"]
    """σ per axis."""


def inside(clip: Clip, xy_px: Float64[np.ndarray, "k 2"], edge_share: float) -> Bool[np.ndarray, "k"]:
    """Further from the frame's edges than this share of its size; False for NaN."""
    size = np.array([clip.width_px, clip.height_px])
    with np.errstate(invalid="ignore"):
        return np.asarray(np.all((xy_px >= edge_share * size) & (xy_px <= (1 - edge_share) * size - 1), axis=1))


def shows_scene(area: ValidArea, clip: Clip, xy_px: Float64[np.ndarray, "k 2"]) -> Bool[np.ndarray, "k"]:
    """Not on a constant border or an overlay."""
    x, y = np.round(clip.working_from_full(xy_px)).astype(int).T
    height, width = area.valid.shape
    return area.valid[y.clip(0, height - 1), x.clip(0, width - 1)]


def near_depth_border(
    z: Float32[np.ndarray, "h w"], camera: Intrinsics, xy_px: Float64[np.ndarray, "k 2"], radius_px: float, ratio: float
) -> Bool[np.ndarray, "k"]:
    """Whether depth a radius away differs by more than a factor in any of eight directions, or is not known in more
    than two of them, or at the pixel itself."""
    turn = np.arange(8) * np.pi / 4
    around = xy_px[:, None] + radius_px * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ring = sampled(z, camera, around.reshape(-1, 2)).reshape(len(xy_px), 8)
    own = sampled(z, camera, xy_px)
    with np.errstate(invalid="ignore"):
        apart = np.abs(np.log(ring / own[:, None])) > np.log(ratio)
    return np.asarray(apart.any(axis=1) | (np.isnan(ring).sum(axis=1) > 2) | np.isnan(own))


def followed_pixels(tracks: PointTracks, frame: int) -> Float64[np.ndarray, "t 2"]:
    """Pixels of the tracks that are followed in a frame and are not known to move."""
    column = _column(tracks, frame)
    if column is None:
        return np.empty((0, 2))
    here = tracks.xy_px[tracks.motion != 1, column]
    return here[np.isfinite(here).all(axis=1)]


def track_ends(tracks: PointTracks, a: int, b: int, xy_a_px: Float64[np.ndarray, "k 2"], radius_px: float) -> Ends:
    """Where the tracks that pass pixels of frame a within a radius, seen in both frames and not moving, end in b."""
    nothing = Ends(xy_px=np.full_like(xy_a_px, np.nan), sigma_px=np.full(len(xy_a_px), np.nan))
    at, to = _column(tracks, a), _column(tracks, b)
    if at is None or to is None:
        return nothing
    known = np.isfinite(tracks.xy_px[:, [at, to]]).all(axis=(1, 2)) & (tracks.motion != 1)
    known &= tracks.visible[:, at] & tracks.visible[:, to]
    if not known.any():
        return nothing
    start, end, sigma = tracks.xy_px[known, at], tracks.xy_px[known, to], tracks.sigma_px[known, to]
    apart, nearest = cKDTree(start).query(xy_a_px)
    near = apart <= radius_px
    return Ends(
        xy_px=np.where(near[:, None], end[nearest] + xy_a_px - start[nearest], np.nan),
        sigma_px=np.where(near, np.hypot(sigma[nearest], _TRACK_SLOPE * apart), np.nan),
    )


def near_movers(
    tracks: PointTracks, frame: int, xy_px: Float64[np.ndarray, "k 2"], radius_px: float
) -> Bool[np.ndarray, "k"]:
    """Within a radius of a track that moves in the world."""
    column = _column(tracks, frame)
    movers = tracks.xy_px[tracks.motion == 1, column] if column is not None else np.empty((0, 2))
    movers = movers[np.isfinite(movers).all(axis=1)]
    if not len(movers):
        return np.zeros(len(xy_px), dtype=bool)
    return np.asarray(cKDTree(movers).query(xy_px)[0] <= radius_px)


def on_moving_object(
    objects: Objects, clip: Clip, frame: int, xy_px: Float64[np.ndarray, "k 2"]
) -> Bool[np.ndarray, "k"]:
    """On a thing whose pose is not the same in all frames that know it, or in none; False where there are no masks."""
    rows = np.flatnonzero(objects.frames == frame)
    if not len(rows) or not objects.labels:
        return np.zeros(len(xy_px), dtype=bool)
    poses = objects.world_from_object
    known = np.isfinite(poses)
    low, high = np.where(known, poses, np.inf).min(axis=0), np.where(known, poses, -np.inf).max(axis=0)
    rests = np.all((high - low >= 0) & (high - low < 1e-6), axis=(1, 2))
    height, width = objects.ids.shape[1:]
    x, y = np.round((xy_px + 0.5) * [width / clip.width_px, height / clip.height_px] - 0.5).astype(int).T
    thing = objects.ids[rows[0]][y.clip(0, height - 1), x.clip(0, width - 1)]
    return np.asarray((thing >= 0) & ~rests[thing])


def _column(tracks: PointTracks, frame: int) -> int | None:
    at = int(np.searchsorted(tracks.frames, frame))
    return at if at < len(tracks.frames) and tracks.frames[at] == frame else None
