"""Says of every 2-D track where it is truly visible and whether its point moves in the world.

Forward-backward agreement keeps 23-75 % of occluded points, so a track counts as visible only where it agrees
with the reprojection of one static 3-D point, or moves together with its neighbours. Where the camera path
cannot predict a static point (unresolved), nothing is said: motion -1, visible nowhere.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int32, Int64
from scipy.spatial import cKDTree

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import Abstained, CameraPath, ImageTracks, PointTracks, Signal, Signals
from experts.static_fit import (
    REFERENCE_WIDTH_PX,
    Sightings,
    StaticFit,
    fit_consensus,
    fit_whole,
    fit_window,
    parallax_rad,
    shown_px,
    sightings,
)


@dataclass(frozen=True, kw_only=True)
class TrackGeometrySettings:
    """Thresholds; "px" are those of a 640 px wide picture."""

    moving_px: float = 6.0
    """A pair of frames shows motion from this departure on (issue 2)."""
    moving_pairs: int = 3
    """So many pairs must show it (issue 2)."""
    moving_neighbours: int = 2
    """So many neighbours must depart alike (issue 2)."""
    neighbour_radius_px: float = 50.0
    """Neighbours lie within this."""
    likeness: float = 0.4
    """Neighbours depart alike when their departures differ by less than this share of the departure."""
    continuous_px: float = 0.6
    """A mover departs (RMS) within each third of its life; a track that slid over a border rests before it.
    About twice the drift of tracking over 30 frames (0.26 px)."""
    two_points_px: float = 1.0
    """A track whose two halves each fit a static point to this (RMS) slid from one to the other."""
    largest_moving_share: float = 0.4
    """With more movers than this the camera path itself is in doubt: nothing is said of motion."""
    inlier_px: float = 1.5
    """A static track departs by less (drift of tracking 0.6 px at 89 frames, camera path about 0.5 px)."""
    static_share: float = 0.9
    """... in at least this share of its frames."""
    static_frames: int = 8
    """... of which there are at least so many."""
    parallax_px: float = 8.0
    """Least parallax of a static track (only where the camera travels)."""
    shown_px: float = 2.0
    """A move by `move_share` of the range would have left at least this RMS departure, whatever its direction."""
    shown_ratio: float = 3.0
    """... and at least this many times what was seen."""
    move_share: float = 0.25
    """Move over a track's life, as a share of the range, that "static" excludes."""
    still_px: float = 1.0
    """For a camera that does not travel, a static track departs by less in 90 % of its frames (issue 2)."""
    border_radius_px: float = 32.0
    """An occlusion border is near where static points within this ..."""
    border_depth_ratio: float = 1.25
    """... differ in depth by more than this factor."""
    border_share: float = 0.3
    """A track with more than this share of its frames near a border is not called moving."""
    occluder_radius_px: float = 10.0
    """Half a tracking window: a nearer static point within this may hide the track's own."""
    occluder_depth_ratio: float = 1.15
    """Nearer by more than this factor."""
    guard_frames: int = 2
    """Frames on either side of a departure that are not trusted either."""
    stations: int = 16
    """Frames, spread evenly, at which pairs are formed and neighbours looked up."""
    p_gross_confirmed: float = 0.003
    """Probability of a plain error where geometry confirms the track (DESIGN §6: below 0.5 %)."""
    p_gross_unconfirmed: float = 0.05
    """... and where it does not."""
    sigma_px_by_age: tuple[tuple[int, float], ...] = ((0, 0.1), (10, 0.11), (30, 0.26), (60, 0.43), (89, 0.6))
    """σ of a track so many frames after its first (measured on rendered scenes; grows on linearly)."""


class TrackGeometryExpert:
    """Expert "track_geometry": 2-D tracks and the camera path into tracks with visibility and motion."""

    name: ClassVar[str] = "track_geometry"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset({"tracks"})
    needs: ClassVar[frozenset[str]] = frozenset({"image_tracks", "camera_path", "sparse_points"})
    options: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, settings: TrackGeometrySettings | None = None) -> None:
        self.settings = settings or TrackGeometrySettings()

    def load(self, weights: str | None = None, device: str = "cpu", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | Abstained]:
        """`{"tracks": PointTracks}`; abstains without 2-D tracks or camera path."""
        tracks, path = signals["image_tracks"], signals["camera_path"]
        if not isinstance(tracks, ImageTracks):
            return {"tracks": Abstained(reason="no tracks", detail=getattr(tracks, "reason", ""))}
        if not isinstance(path, CameraPath):
            return {"tracks": Abstained(reason="no camera path", detail=getattr(path, "reason", ""))}
        if path.motion == "unresolved" or not len(tracks.xy_px):
            return {"tracks": self._undecided(clip, tracks)}
        return {"tracks": self._decided(clip, tracks, path)}

    def _undecided(self, clip: Clip, tracks: ImageTracks) -> PointTracks:
        count = len(tracks.xy_px)
        return PointTracks(
            frames=tracks.frames,
            xy_px=tracks.xy_px.astype(np.float64),
            visible=np.zeros(tracks.xy_px.shape[:2], dtype=bool),
            sigma_px=self._sigma_px(clip, tracks),
            p_gross=np.full(count, self.settings.p_gross_unconfirmed),
            motion=np.full(count, -1, dtype=np.int32),
            residual_px=np.full(count, np.nan),
            moving_pairs=np.zeros(count, dtype=np.int32),
            parallax_px=np.zeros(count),
            provenance=self._provenance(),
        )

    def _decided(self, clip: Clip, tracks: ImageTracks, path: CameraPath) -> PointTracks:
        s = sightings(tracks, path)
        consensus = fit_consensus(s, self.settings.inlier_px)
        fits = np.nan_to_num(consensus.residual_px, nan=np.inf) < self.settings.inlier_px
        parallax = parallax_rad(s, consensus, fits) * s.focal_px
        static = self._static(s, consensus, fits, parallax)
        moving, residual, pairs = self._moving(s, consensus, static)
        explained = fits.sum(axis=1) >= np.maximum(3, self.settings.static_share * s.seen.sum(axis=1))
        visible = self._visible(s, consensus, fits, static) & (static | (explained & ~moving))[:, None]
        visible[moving] = self._moves_along(s, moving)
        scale = clip.width_px / REFERENCE_WIDTH_PX
        confirmed = static | (moving & (visible.sum(axis=1) >= self.settings.static_frames))
        return PointTracks(
            frames=tracks.frames,
            xy_px=tracks.xy_px.astype(np.float64),
            visible=visible,
            sigma_px=self._sigma_px(clip, tracks),
            p_gross=np.where(confirmed, self.settings.p_gross_confirmed, self.settings.p_gross_unconfirmed),
            motion=np.where(moving, 1, np.where(static, 0, -1)).astype(np.int32),
            residual_px=residual * scale,
            moving_pairs=pairs,
            parallax_px=np.full(len(static), float(clip.width_px)) if s.turning else parallax * scale,
            provenance=self._provenance(),
        )

    def _static(
        self, s: Sightings, fit: StaticFit, fits: Bool[np.ndarray, "t n"], parallax: Float64[np.ndarray, "t"]
    ) -> Bool[np.ndarray, "t"]:
        """Tracks that a static point explains, and that would have shown a move."""
        seen = s.seen.sum(axis=1)
        limit = self.settings.still_px if s.turning else self.settings.inlier_px
        near = (np.nan_to_num(fit.residual_px, nan=np.inf) < limit).sum(axis=1)
        static = (near >= self.settings.static_share * seen) & (seen >= self.settings.static_frames)
        squares = np.where(fits, np.nan_to_num(fit.residual_px), 0) ** 2
        rms = np.sqrt(squares.sum(axis=1) / np.maximum(fits.sum(axis=1), 1))
        if not s.turning:
            static &= parallax >= self.settings.parallax_px
        shown = np.zeros(len(static))
        shown[static] = shown_px(
            s.of(np.flatnonzero(static)), _of(fit, static), fits[static], self.settings.move_share
        )
        return static & (shown >= np.maximum(self.settings.shown_px, self.settings.shown_ratio * rms))

    def _moving(
        self, s: Sightings, consensus: StaticFit, static: Bool[np.ndarray, "t"]
    ) -> tuple[Bool[np.ndarray, "t"], Float64[np.ndarray, "t"], Int32[np.ndarray, "t"]]:
        """Tracks that no static point explains; median departure and number of departing pairs of every track."""
        whole = fit_whole(s)
        stations = _spread(s.u.shape[1], self.settings.stations)
        residual, pairs = self._departing_pairs(whole)
        moving = (pairs >= self.settings.moving_pairs) & (residual >= self.settings.moving_px) & ~static
        moving &= self._continuous(s)
        long = s.seen.sum(axis=1) >= self.settings.static_frames
        if moving.sum() > self.settings.largest_moving_share * long.sum():
            return np.zeros(len(static), dtype=bool), residual, pairs
        moving &= self._border_share(s, consensus, static, moving, stations) <= self.settings.border_share
        for _ in range(2):  # a neighbour must itself have neighbours
            moving &= self._companions(s, whole, moving, stations) >= self.settings.moving_neighbours
        return moving, residual, pairs

    def _departing_pairs(self, whole: StaticFit) -> tuple[Float64[np.ndarray, "t"], Int32[np.ndarray, "t"]]:
        """Median over pairs of spread frames of how much the departure changes, and how many pairs change enough."""
        count = len(whole.xyz_world)
        seen = np.isfinite(whole.residual_px)
        rank = np.cumsum(seen, axis=1) - 1
        change = []
        at = []
        for share in np.linspace(0, 1, 6):  # six frames of its own life
            column = np.argmax(rank >= np.round(share * np.maximum(rank[:, -1:], 0)), axis=1)
            at.append(whole.departure_px[np.arange(count), column])
        for i in range(len(at)):
            for j in range(i + 2, len(at)):
                change.append(np.linalg.norm(at[i] - at[j], axis=-1))
        table = np.stack(change, axis=1)
        enough = seen.sum(axis=1) >= self.settings.static_frames
        residual = np.where(enough, np.median(np.nan_to_num(table, nan=0.0), axis=1), np.nan)
        pairs = np.where(enough, (table >= self.settings.moving_px).sum(axis=1), 0).astype(np.int32)
        return np.minimum(residual, 1e6), pairs

    def _continuous(self, s: Sightings) -> Bool[np.ndarray, "t"]:
        """Departs in each third of its life and in one half at least clearly: no rest, no single slide."""
        third = [_rms(fit_window(s, w)) for w in ((0, 1 / 3), (1 / 3, 2 / 3), (2 / 3, 1))]
        half = [_rms(fit_window(s, w)) for w in ((0, 0.5), (0.5, 1))]
        in_thirds = np.min(third, axis=0) >= self.settings.continuous_px
        return in_thirds & (np.min(half, axis=0) >= self.settings.two_points_px)

    def _border_share(
        self,
        s: Sightings,
        fit: StaticFit,
        static: Bool[np.ndarray, "t"],
        asked: Bool[np.ndarray, "t"],
        stations: list[int],
    ) -> Float64[np.ndarray, "t"]:
        """Share of a track's stations at which static neighbours lie at clearly different depths."""
        near, total = np.zeros(len(static)), np.zeros(len(static))
        if s.turning:
            return near
        for n in stations:
            here = np.flatnonzero(asked & s.seen[:, n])
            known = np.flatnonzero(static & s.seen[:, n])
            total[here] += 1
            if not len(known):
                continue
            for track, around in zip(here, _around(s, n, known, here, self.settings.border_radius_px), strict=True):
                z = fit.z[known[around], n]
                near[track] += len(z) >= 2 and float(z.max()) > self.settings.border_depth_ratio * float(z.min())
        return near / np.maximum(total, 1)

    def _companions(
        self, s: Sightings, whole: StaticFit, moving: Bool[np.ndarray, "t"], stations: list[int]
    ) -> Int64[np.ndarray, "t"]:
        """How many moving neighbours' departures change alike between shared stations (fewest over stations)."""
        best = np.zeros(len(moving), dtype=np.int64)
        for a, b in zip(stations[:-2], stations[2:], strict=True):
            here = np.flatnonzero(moving & s.seen[:, a] & s.seen[:, b])
            if len(here) <= 1:
                continue
            change = (s.u[here, b] - s.u[here, a]) * s.focal_px
            for i, around in enumerate(_around(s, a, here, here, self.settings.neighbour_radius_px)):
                apart = np.linalg.norm(change[around] - change[i], axis=-1)
                alike = apart <= self.settings.likeness * max(np.linalg.norm(change[i]), self.settings.inlier_px)
                best[here[i]] = max(best[here[i]], int(alike.sum()) - 1)
        return best

    def _visible(
        self, s: Sightings, fit: StaticFit, fits: Bool[np.ndarray, "t n"], static: Bool[np.ndarray, "t"]
    ) -> Bool[np.ndarray, "t n"]:
        """Where a static track is at its point, away from departures and from nearer points that may hide it."""
        bad = s.seen & ~fits
        guarded = bad.copy()
        for k in range(1, self.settings.guard_frames + 1):
            guarded[:, k:] |= bad[:, :-k]
            guarded[:, :-k] |= bad[:, k:]
        visible = fits & ~guarded
        if s.turning:
            return visible
        for n in range(s.u.shape[1]):
            known, here = np.flatnonzero(static & visible[:, n]), np.flatnonzero(visible[:, n])
            if not len(known) or not len(here):
                continue
            tree = cKDTree(fit.predicted_u[known, n] * s.focal_px)
            pairs = cKDTree(fit.predicted_u[here, n] * s.focal_px).sparse_distance_matrix(
                tree, self.settings.occluder_radius_px, output_type="ndarray"
            )
            behind = fit.z[here[pairs["i"]], n] > self.settings.occluder_depth_ratio * fit.z[known[pairs["j"]], n]
            visible[here[pairs["i"][behind]], n] = False
        return visible

    def _moves_along(self, s: Sightings, moving: Bool[np.ndarray, "t"]) -> Bool[np.ndarray, "m n"]:
        """Where a moving track moves like another moving track nearby, from the frame before to the next one."""
        tracks = np.flatnonzero(moving)
        along = np.zeros((len(tracks), s.u.shape[1]), dtype=bool)
        for n in range(s.u.shape[1]):
            a, b = max(0, n - 2), min(s.u.shape[1] - 1, n + 2)
            here = tracks[s.seen[tracks][:, [a, n, b]].all(axis=1)]
            if len(here) < 2:
                continue
            change = (s.u[here, b] - s.u[here, a]) * s.focal_px
            for i, around in enumerate(_around(s, n, here, here, self.settings.neighbour_radius_px)):
                apart = np.linalg.norm(change[around] - change[i], axis=-1)
                limit = max(self.settings.likeness * float(np.linalg.norm(change[i])), self.settings.continuous_px)
                alike = int((apart <= limit).sum()) - 1
                along[np.searchsorted(tracks, here[i]), n] = alike >= self.settings.moving_neighbours
        return along

    def _sigma_px(self, clip: Clip, tracks: ImageTracks) -> Float64[np.ndarray, "t n"]:
        age, sigma = np.array(self.settings.sigma_px_by_age).T
        followed = np.isfinite(tracks.xy_px[..., 0])
        first = tracks.frames[np.argmax(followed, axis=1)]
        frames_on = np.maximum(tracks.frames[None] - first[:, None], 0)
        growth = np.where(frames_on <= age[-1], np.interp(frames_on, age, sigma), sigma[-1] * frames_on / age[-1])
        return np.where(followed, growth * clip.width_px / REFERENCE_WIDTH_PX, np.nan)

    def _provenance(self) -> Provenance:
        return Provenance(expert=self.name, version=self.version, settings=asdict(self.settings))


def _of(fit: StaticFit, rows: Bool[np.ndarray, "t"]) -> StaticFit:
    return StaticFit(
        xyz_world=fit.xyz_world[rows],
        z=fit.z[rows],
        predicted_u=fit.predicted_u[rows],
        departure_px=fit.departure_px[rows],
    )


def _rms(fit: StaticFit) -> Float64[np.ndarray, "t"]:
    seen = np.isfinite(fit.residual_px)
    squares = np.where(seen, np.minimum(np.nan_to_num(fit.residual_px), 1e6), 0) ** 2
    return np.sqrt(squares.sum(axis=1) / np.maximum(seen.sum(axis=1), 1))


def _spread(frames: int, count: int) -> list[int]:
    return sorted({round(k * (frames - 1) / (count - 1)) for k in range(count)})


def _around(
    s: Sightings, n: int, known: Int64[np.ndarray, "k"], asked: Int64[np.ndarray, "q"], radius_px: float
) -> list[list[int]]:
    """For each asked track the indices into `known` of tracks within the radius in frame n."""
    tree = cKDTree(s.u[known, n] * s.focal_px)
    return list(tree.query_ball_point(s.u[asked, n] * s.focal_px, radius_px))
