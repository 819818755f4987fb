"""What tracks of the picture say of a learned depth: an estimate of range that rests on no network's depth."""

from dataclasses import dataclass

import numpy as np

from experts.depth.depth_reprojection import sampled
from experts.signals import Depth, PointTracks
from experts.tracking.path_on_tracks import FittedPath
from experts.tracking.track_ranges import departures


@dataclass(frozen=True, kw_only=True)
class TrackLimits:
    """When tracks tell ranges, and when they contradict a depth."""

    tracks: int = 50
    """So many tracks that are followed over ..."""
    frames: int = 8
    """... at least so many frames are needed to say anything."""
    depth_frames: int = 8
    """Frames of the depth that are compared, evenly spread."""
    told: float = 0.10
    """A track tells a range if its σ, relative, is at most this."""
    apart: float = 0.20
    """A depth that is further off, relative, the common factor taken out, is wrong there."""
    relative: float = 0.12
    """Largest robust σ of ln of the ratio: three times what learned depth of 4 % leaves; a scale that drifts by half
    over a clip leaves 0.14."""
    factor: float = 0.15
    """Largest |ln| of the common factor: path and depth are said to be in one unit. A focal length 1.4 times too long
    leaves 0.34 where the camera only trucks."""
    contradicted_share: float = 0.25
    """If more of the told ranges are wrong, the depth is: with honest σ of 4 % none is, and of a room's depth turned
    inside out more than half."""


@dataclass(frozen=True, kw_only=True)
class DepthAndTracks:
    """What one factor leaves between ranges of depth and of tracks."""

    relative: float
    """Robust σ of ln of their ratio."""
    factor: float
    """ln of the common factor: ranges of the tracks over those of the depth."""
    contradicted: float
    """Share of told ranges that are wrong."""
    told: int
    """Ranges compared."""


def enough_tracks(tracks: PointTracks, limits: TrackLimits) -> bool:
    """Whether there are tracks enough to say anything."""
    followed = np.isfinite(tracks.xy_px[..., 0]).sum(axis=1)
    return int(((followed >= limits.frames) & (tracks.motion != 1)).sum()) >= limits.tracks


def contradicts(held: DepthAndTracks, limits: TrackLimits) -> bool:
    """Whether tracks say that the depth is wrong, or not in the path's unit."""
    off = (held.contradicted > limits.contradicted_share, held.relative > limits.relative)
    return any(off) or abs(held.factor) > limits.factor


def depth_and_tracks(
    depth: Depth, tracks: PointTracks, fitted: FittedPath, limits: TrackLimits
) -> DepthAndTracks | None:
    """Compares ranges at the pixels of tracks that do not move; None where tracks tell too few."""
    camera = fitted.path.intrinsics
    frames, row, column = np.intersect1d(depth.frames, tracks.frames, return_indices=True)
    found = [np.empty(0)]
    for k in np.unique(np.linspace(0, max(len(frames) - 1, 0), min(limits.depth_frames, len(frames))).astype(int)):
        seen = np.flatnonzero(tracks.visible[:, column[k]] & (tracks.motion != 1))
        xy = tracks.xy_px[seen, column[k]]
        z = sampled(depth.z[row[k]], camera, xy)
        seen, xy, z = seen[np.isfinite(z)], xy[np.isfinite(z)], z[np.isfinite(z)]
        ranges = z / camera.rays(xy)[:, 2]
        departure, sigma = departures(ranges, tracks, seen, fitted, int(frames[k]), xy)
        found.append(departure[sigma <= limits.told])
    all_told = np.concatenate(found)
    if len(all_told) < limits.tracks or not np.isfinite(all_told).any():
        return None
    middle = float(np.median(all_told[np.isfinite(all_told)]))
    off = np.abs(all_told - middle)
    return DepthAndTracks(
        relative=1.4826 * float(np.median(off[np.isfinite(off)])),
        factor=middle,
        contradicted=float((off > limits.apart).mean()),
        told=len(all_told),
    )
