"""Decides for every 2-D track in which frames its point is visible, and whether the point moves in the world.

A forward-backward check keeps 23-75 % of occluded points. So a track counts as visible only where it agrees with the
reprojection of one static 3-D point, or moves rigidly with its neighbours. Without a path that predicts static points,
the background of the picture does, if it moves by homographies.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial import cKDTree

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.provenance import Provenance
from experts.signals import CameraPath, ImageTracks, NoEstimate, PointTracks, Signal, Signals
from experts.tracking.background import BackgroundSettings, background_of, surrounded_by_background
from experts.tracking.moving_tracks import (
    MovingSettings,
    evenly_spaced,
    find_moving,
    moves_with_neighbours,
    near_border,
)
from experts.tracking.path_on_tracks import FitSettings, fitted_to_tracks
from experts.tracking.static_fit import (
    REFERENCE_WIDTH_PX,
    Observations,
    StaticFit,
    fit_consensus,
    observations,
    parallax_rad,
    shown_px,
)


@dataclass(frozen=True, kw_only=True)
class TrackGeometrySettings:
    """Thresholds; "px" refer to a picture of 640 px width."""

    moving: MovingSettings = field(default_factory=MovingSettings)
    """When a track moves in the world."""
    background: BackgroundSettings = field(default_factory=BackgroundSettings)
    """When homographies describe the background."""
    fit: FitSettings = field(default_factory=FitSettings)
    """A path that explains a smaller share of the tracks than `moving.explained_share` is first fitted to them: a
    learned path is accurate to some tenths of a degree, which is several pixels."""
    inlier_px: float = 1.5
    """Largest residual of a static track (tracking drift 0.6 px at 89 frames, camera path about 0.5 px) ..."""
    static_share: float = 0.9
    """... in at least this share of its frames."""
    static_frames: int = 8
    """Smallest number of frames of a static track."""
    parallax_px: float = 8.0
    """Smallest parallax of a static track (only where the camera translates)."""
    shown_px: float = 2.0
    """A steady motion would have caused at least this RMS residual, in any direction ..."""
    shown_ratio: float = 3.0
    """... and at least this many times the observed residual."""
    move_share: float = 0.25
    """Motion over a track's frames, as a share of the range, that "static" excludes."""
    static_px: float = 1.0
    """Largest residual of a static track if the camera does not translate."""
    occluder_radius_px: float = 10.0
    """Half a tracking window: a nearer static point within this may occlude the point."""
    occluder_depth_ratio: float = 1.15
    """A point is nearer if its depth is smaller by more than this factor."""
    guard_frames: int = 2
    """Frames before and after a large residual that do not count as visible either."""
    outlier_probability_confirmed: float = 0.003
    """Outlier probability where geometry confirms the track: below 0.5 %."""
    outlier_probability_unconfirmed: float = 0.05
    """Outlier probability where it does not, or near an occlusion border."""
    sigma_px_by_age: tuple[tuple[int, float], ...] = ((0, 0.3), (30, 0.4), (60, 0.5), (89, 0.6))
    """σ of a track this many frames after its first (measured on rendered scenes; extrapolated linearly) ..."""
    sigma_per_step: float = 0.02
    """... ⊕ this share of each step from frame to frame (steps of 24 px: 1.4 px after 8 frames, on hololens_indoor)."""


class TrackGeometryExpert(WeightFreeExpert):
    """Expert "track_geometry": adds visibility and motion to 2-D tracks, given a camera path."""

    name: ClassVar[str] = "track_geometry"
    version: ClassVar[str] = "8"
    provides: ClassVar[frozenset[str]] = frozenset({"tracks"})
    needs: ClassVar[frozenset[str]] = frozenset({"image_tracks", "camera_path"})
    options: ClassVar[frozenset[str]] = frozenset()
    joins: ClassVar[bool] = True

    def __init__(self, settings: TrackGeometrySettings | None = None) -> None:
        self.settings = settings or TrackGeometrySettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"tracks": PointTracks}`; `NoEstimate` without 2-D tracks or camera path."""
        tracks, path = signals["image_tracks"], signals["camera_path"]
        if not isinstance(tracks, ImageTracks):
            return {"tracks": NoEstimate(reason="no tracks", detail=getattr(tracks, "reason", ""))}
        if isinstance(path, CameraPath) and path.motion != "unresolved":
            return {"tracks": self._decided(clip, tracks, *self._observations(tracks, path))}
        background = background_of(tracks, clip.width_px, clip.height_px, self.settings.background)
        if isinstance(background, NoEstimate):
            why = path.reason if isinstance(path, NoEstimate) else "too little parallax"
            detail = f"{why}; {background.reason}: {background.detail}"
            return {"tracks": NoEstimate(reason="no camera path and no background", detail=detail)}
        return {"tracks": self._decided(clip, tracks, *background, of_background=True)}

    def _decided(
        self, clip: Clip, tracks: ImageTracks, s: Observations, consensus: StaticFit, *, of_background: bool = False
    ) -> PointTracks:
        """`of_background`: the static points are those of the background, not those of a camera path."""
        fits = np.nan_to_num(consensus.residual_px, nan=np.inf) < self.settings.inlier_px
        parallax = parallax_rad(s, consensus, fits) * s.focal_px
        static = self._static(s, consensus, fits, parallax)
        explained = self._explained(s, fits)
        located = explained & (parallax >= self.settings.parallax_px)
        found = find_moving(s, consensus, static, explained, located, self.settings.moving)
        if of_background:
            moving = surrounded_by_background(s, static, found.moving, self.settings.background)
            found = replace(found, moving=moving)
        visible = self._visible(s, consensus, fits, located) & (explained & ~found.moving)[:, None]
        visible |= moves_with_neighbours(s, found.moving, self.settings.moving)
        scale = clip.width_px / REFERENCE_WIDTH_PX
        return PointTracks(
            frames=tracks.frames,
            xy_px=tracks.xy_px.astype(np.float64),
            visible=visible,
            sigma_px=self._sigma_px(clip, tracks),
            outlier_probability=self._outlier_probability(s, consensus, located, static, found.moving),
            motion=np.where(found.moving, 1, np.where(static, 0, -1)).astype(np.int32),
            residual_px=found.residual_px * scale,
            moving_pairs=found.pairs,
            parallax_px=np.full(len(static), float(clip.width_px)) if s.rotation_only else parallax * scale,
            provenance=self._provenance(),
        )

    def _observations(self, tracks: ImageTracks, path: CameraPath) -> tuple[Observations, StaticFit]:
        """Observations under the input path; under the path fitted to the tracks if only that one explains enough of
        them."""
        direct = observations(tracks, path)
        fit = fit_consensus(direct, self.settings.inlier_px)
        if self._share(direct, fit) >= self.settings.moving.explained_share:
            return direct, fit
        adjusted = fitted_to_tracks(direct, path, tracks.frames, self.settings.fit)
        adjusted_fit = fit_consensus(adjusted, self.settings.inlier_px)
        if self._share(adjusted, adjusted_fit) < self.settings.moving.explained_share:
            return direct, fit
        return adjusted, adjusted_fit

    def _share(self, s: Observations, fit: StaticFit) -> float:
        """Share of the observations in sufficiently long tracks that belong to tracks of one static point."""
        fits = np.nan_to_num(fit.residual_px, nan=np.inf) < self.settings.inlier_px
        seen = s.seen.sum(axis=1)
        judged = seen >= self.settings.moving.frames
        return float(seen[judged & self._explained(s, fits)].sum() / seen[judged].sum()) if judged.any() else 1.0

    def _explained(self, s: Observations, fits: Bool[np.ndarray, "t n"]) -> Bool[np.ndarray, "t"]:
        return np.asarray(fits.sum(axis=1) >= np.maximum(3, self.settings.static_share * s.seen.sum(axis=1)))

    def _outlier_probability(
        self,
        s: Observations,
        fit: StaticFit,
        located: Bool[np.ndarray, "t"],
        static: Bool[np.ndarray, "t"],
        moving: Bool[np.ndarray, "t"],
    ) -> Float64[np.ndarray, "t"]:
        """Small where a static point or rigid neighbours confirm the track, away from borders."""
        samples = evenly_spaced(s.u.shape[1], self.settings.moving.samples)
        border = near_border(s, fit, located, static, samples, self.settings.moving)
        confirmed = moving | (static & (border <= self.settings.moving.border_share))
        return np.where(
            confirmed, self.settings.outlier_probability_confirmed, self.settings.outlier_probability_unconfirmed
        )

    def _static(
        self, s: Observations, fit: StaticFit, fits: Bool[np.ndarray, "t n"], parallax: Float64[np.ndarray, "t"]
    ) -> Bool[np.ndarray, "t"]:
        """Tracks that a static point explains, and in which a motion would have been visible."""
        seen = s.seen.sum(axis=1)
        limit = self.settings.static_px if s.rotation_only else self.settings.inlier_px
        near = (np.nan_to_num(fit.residual_px, nan=np.inf) < limit).sum(axis=1)
        static = (near >= self.settings.static_share * seen) & (seen >= self.settings.static_frames)
        squares = np.where(fits, np.nan_to_num(fit.residual_px), 0) ** 2
        rms = np.sqrt(squares.sum(axis=1) / np.maximum(fits.sum(axis=1), 1))
        if not s.rotation_only:
            static &= parallax >= self.settings.parallax_px
        shown = shown_px(s, fit, fits & static[:, None], self.settings.move_share)
        return static & (shown >= np.maximum(self.settings.shown_px, self.settings.shown_ratio * rms))

    def _visible(
        self, s: Observations, fit: StaticFit, fits: Bool[np.ndarray, "t n"], located: Bool[np.ndarray, "t"]
    ) -> Bool[np.ndarray, "t n"]:
        """Frames in which a static track agrees with its point, away from large residuals and from nearer points."""
        bad = s.seen & ~fits
        suspect = bad.copy()
        for k in range(1, self.settings.guard_frames + 1):
            suspect[:, k:] |= bad[:, :-k]
            suspect[:, :-k] |= bad[:, k:]
        visible = fits & ~suspect
        if s.rotation_only:
            return visible
        for n in range(s.u.shape[1]):
            known, here = np.flatnonzero(located & visible[:, n]), np.flatnonzero(visible[:, n])
            if not len(known) or not len(here):
                continue
            tree = cKDTree(fit.predicted_u[known, n] * s.focal_px)
            pairs = cKDTree(fit.predicted_u[here, n] * s.focal_px).sparse_distance_matrix(
                tree, self.settings.occluder_radius_px, output_type="ndarray"
            )
            behind = fit.z[here[pairs["i"]], n] > self.settings.occluder_depth_ratio * fit.z[known[pairs["j"]], n]
            visible[here[pairs["i"][behind]], n] = False
        return visible

    def _sigma_px(self, clip: Clip, tracks: ImageTracks) -> Float64[np.ndarray, "t n"]:
        age, sigma = np.array(self.settings.sigma_px_by_age).T
        followed = np.isfinite(tracks.xy_px[..., 0])
        first = tracks.frames[np.argmax(followed, axis=1)]
        frames_on = np.maximum(tracks.frames[None] - first[:, None], 0)
        growth = np.where(frames_on <= age[-1], np.interp(frames_on, age, sigma), sigma[-1] * frames_on / age[-1])
        step = np.linalg.norm(np.diff(tracks.xy_px.astype(np.float64), axis=1, prepend=np.nan), axis=-1)
        path_variance = self.settings.sigma_per_step**2 * np.cumsum(np.nan_to_num(step) ** 2, axis=1)
        return np.where(followed, np.hypot(growth * clip.width_px / REFERENCE_WIDTH_PX, np.sqrt(path_variance)), np.nan)

    def _provenance(self) -> Provenance:
        return Provenance(expert=self.name, version=self.version, settings=asdict(self.settings))
