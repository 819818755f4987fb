"""Gravity from vanishing points: the three orthogonal directions of a built scene, pooled over the clip.

Vanishing points alone do not show which of the three axes is up. Only the user's statement does (`--upright`: roll and
pitch of most frames within 45°). Without it the expert returns no estimate before it reads a pixel. Where the footage
does not confirm it (`upright`), there is no gravity.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.gravity.line_segments import LineSegments, PooledSegments, detect
from experts.gravity.orthogonal_triples import sampled_triples
from experts.gravity.upright import UprightSettings, unconfirmed
from experts.provenance import Provenance
from experts.signals import CameraPath, Gravity, NoEstimate, Signal, Signals, ValidArea
from experts.stated_camera import contradiction

_FLAG = "--upright, if the camera was held upright (roll and pitch of most frames within 45°)"


@dataclass(frozen=True, kw_only=True)
class VanishingPointsSettings:
    """Thresholds and floors of σ. Values without a source were chosen once and then checked on real data sets."""

    frames: int = 20
    """Number of frames in which segments are detected, evenly spaced."""
    shortest_segment: float = 0.035
    """Shortest segment, as a share of the diagonal (28 px at 640x480)."""
    segments_per_frame: int = 120
    """Largest number of segments per frame, the longest first."""
    inlier_rad: float = float(np.deg2rad(2.0))
    """A segment points to a vanishing point within this angle in the picture."""
    hypotheses: int = 1500
    """Number of sampled triples of directions."""
    scored_segments: int = 800
    """Number of segments, the longest, that score the sampled triples."""
    seed: int = 0
    """Seed of the sampling."""
    explained_share: float = 0.45
    """Smallest share of the segments' length that the three directions explain (0.4 was too low for single frames)."""
    up_share: float = 0.1
    """... that the upward direction explains ..."""
    level_share: float = 0.1
    """... and that the stronger of the other two explains."""
    max_alternative_share: float = 0.9
    """Another triple with a different upward direction explains at most this share of what the best one explains."""
    alternative_rad: float = float(np.deg2rad(6.0))
    """An upward direction is different beyond this angle."""
    supporting_frames: int = 4
    """At least this many frames, each on its own, must show the upward direction ..."""
    supporting_segments: int = 4
    """... with at least this many segments each ..."""
    frame_rad: float = float(np.deg2rad(6.0))
    """... and agree with the pooled direction within this angle."""
    halves_rad: float = float(np.deg2rad(2.5))
    """Odd and even frames alone agree within this angle."""
    focal_rad: float = float(np.deg2rad(5.0))
    """Largest change of the result when the focal length changes by one σ."""
    max_focal_sigma: float = 0.3
    """Largest σ_f/f; beyond it the effect of the focal length is not computed."""
    image_up_rad: float = float(np.deg2rad(35.0))
    """The upward axis is within this angle of image-up averaged over the clip."""
    other_axes_rad: float = float(np.deg2rad(55.0))
    """... and both other axes are beyond this angle."""
    min_image_up_length: float = 0.8
    """Smallest length of the mean of the frames' image-up vectors. If it is shorter, image-up varies over the clip and
    `--upright` decides nothing."""
    pooled_floor_rad: float = float(np.deg2rad(1.5))
    """σ of a pooled direction (pooled errors of 0.7-1.45° measured on 7-Scenes)."""
    single_floor_rad: float = float(np.deg2rad(2.5))
    """σ where all frames show one view (single frames of 7-Scenes: median error 2.6°)."""
    one_view_rad: float = float(np.deg2rad(5.0))
    """A camera that does not translate and rotates by less than this shows one view."""
    upright: UprightSettings | None = field(default_factory=UprightSettings)
    """When the footage confirms `--upright`; None: it is not checked."""


class VanishingPointsExpert(WeightFreeExpert):
    """Expert "vanishing_points": provides "gravity"."""

    name: ClassVar[str] = "vanishing_points"
    version: ClassVar[str] = "6"
    provides: ClassVar[frozenset[str]] = frozenset({"gravity"})
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "valid_area"})
    may_use: ClassVar[frozenset[str]] = frozenset({"sparse_points", "depth", "calibration"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px", "upright"})

    def __init__(self, settings: VanishingPointsSettings | None = None) -> None:
        self.settings = settings or VanishingPointsSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"gravity": Gravity}` for the registered frames. Needs their rotations; points or depth show the floor."""
        return {"gravity": self._gravity(clip, signals)}

    def _gravity(self, clip: Clip, signals: Signals) -> Gravity | NoEstimate:
        s = self.settings
        if not clip.options.upright:
            return NoEstimate(reason="which axis is up is not known without --upright", remedy=_FLAG)
        if (contradicted := contradiction(signals)) is not None:
            return contradicted
        path = signals["camera_path"]
        if not isinstance(path, CameraPath) or not path.registered.any():
            return NoEstimate(reason="no camera path", detail=getattr(path, "reason", ""))
        if path.focal_relative_sigma > s.max_focal_sigma:
            detail = "the footage does not determine the focal length"
            return NoEstimate(reason="gravity depends on the focal length", detail=detail)
        if path.registered.sum() < s.supporting_frames:
            return NoEstimate(reason="too few frames for gravity", detail=f"{int(path.registered.sum())} registered")
        rotation, frames = path.world_from_cam[path.registered][:, :3, :3], path.frames[path.registered]
        image_up = -rotation[:, :, 1].mean(axis=0)
        if np.linalg.norm(image_up) < s.min_image_up_length:
            return NoEstimate(reason="image-up varies over the clip")
        image_up /= np.linalg.norm(image_up)
        area = signals.get("valid_area")
        valid = area.valid if isinstance(area, ValidArea) else None
        at = np.unique(np.round(np.linspace(0, len(frames) - 1, s.frames)).astype(int))
        segments = detect(clip, [int(f) for f in frames[at]], valid, s.shortest_segment)
        found = self._up(segments.longest(s.segments_per_frame), path, image_up)
        if isinstance(found, NoEstimate):
            return found
        axes, variance = found
        why = None if s.upright is None else unconfirmed(axes, path, signals, s.upright)
        if why is not None:
            return NoEstimate(reason="the footage does not confirm --upright", detail=why, remedy=f"check {_FLAG}")
        return Gravity(
            frames=frames,
            up_cam=np.einsum("nij,i->nj", rotation, axes[0]),
            sigma_rad=np.sqrt(variance + path.rotation_sigma_rad[path.registered] ** 2),
            decided_by="--upright",
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(s), seed=s.seed),
        )

    def _up(
        self, segments: LineSegments, path: CameraPath, image_up: Float64[np.ndarray, "3"]
    ) -> tuple[Float64[np.ndarray, "3 3"], float] | NoEstimate:
        """Three orthogonal directions in the path's world, up first, and the variance of up per axis."""
        pool = PooledSegments.on_path(segments, path, 1.0)
        axes = self._fit(pool, image_up)
        if isinstance(axes, NoEstimate):
            return axes
        frames = self._frames_sigma(pool, axes[0])
        if isinstance(frames, NoEstimate):
            return frames
        halves = self._halves_difference(pool, axes[0], image_up)
        if isinstance(halves, NoEstimate):
            return halves
        focal = self._focal_effect(segments, path, axes[0], image_up)
        if isinstance(focal, NoEstimate):
            return focal
        return axes, self._floor_rad(path) ** 2 + frames**2 + (halves / 2) ** 2 + focal**2

    def _floor_rad(self, path: CameraPath) -> float:
        rotation = Rotation.from_matrix(path.world_from_cam[path.registered][:, :3, :3])
        angle = (rotation[0].inv() * rotation).magnitude().max()
        one_view = path.motion != "general" and angle < self.settings.one_view_rad
        return self.settings.single_floor_rad if one_view else self.settings.pooled_floor_rad

    def _fit(self, pool: PooledSegments, image_up: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3 3"] | NoEstimate:
        """Three orthogonal directions, upward first: sampled, then refined. `NoEstimate` where they are ambiguous."""
        s = self.settings
        if len(pool.weight) < 10 * 3:
            return NoEstimate(reason="too few straight lines", detail=f"{len(pool.weight)} segments")
        triples = self._sampled(pool)
        score = self._scores(pool, triples)
        if not len(score):
            return NoEstimate(reason="straight lines do not share three directions")
        axes = _upward_first(pool.refined(triples[np.argmax(score)], s.inlier_rad), image_up)
        share = self._shares(pool, axes)
        angle = np.arccos(np.clip(np.abs(axes @ image_up), 0, 1))
        explained = share.sum()
        ups = np.stack([_upward_first(t, image_up)[0] for t in triples])
        differs = np.arccos(np.clip(np.abs(ups @ axes[0]), 0, 1)) > s.alternative_rad
        alternative = score[differs].max(initial=0.0) / score.max() * explained
        detail = f"explained share {explained:.2f} (up {share[0]:.2f}), alternative {alternative:.2f}"
        detail += f", {np.rad2deg(angle[0]):.0f}° from image-up"
        if explained < s.explained_share:
            return NoEstimate(reason="straight lines do not share three directions", detail=detail)
        if share[0] < s.up_share or share[1:].max() < s.level_share:
            return NoEstimate(reason="too few upright or level lines", detail=detail)
        if alternative > s.max_alternative_share * explained:
            return NoEstimate(reason="vanishing points are ambiguous", detail=detail)
        if angle[0] > s.image_up_rad or angle[1:].min() < s.other_axes_rad:
            return NoEstimate(reason="no axis is clearly upright", detail=detail, remedy=f"check {_FLAG}")
        return axes

    def _sampled(self, pool: PooledSegments) -> Float64[np.ndarray, "h 3 3"]:
        rng = np.random.default_rng(self.settings.seed)
        return sampled_triples(pool.normal, pool.weight, self.settings.hypotheses, rng)

    def _scores(self, pool: PooledSegments, triples: Float64[np.ndarray, "h 3 3"]) -> Float64[np.ndarray, "h"]:
        """Share of the length that each triple explains, over the longest segments."""
        longest = np.zeros(len(pool.weight), dtype=bool)
        longest[np.argsort(-pool.weight, kind="stable")[: self.settings.scored_segments]] = True
        scored = pool.of(longest)
        return np.array([self._explained(scored, triple).sum() for triple in triples]) / scored.weight.sum()

    def _explained(self, pool: PooledSegments, axes: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "s"]:
        """Length of each segment, reduced to 0 as its error rises to 1.5 times the inlier angle."""
        error = pool.error_rad(axes).min(axis=1)
        return pool.weight * np.maximum(0.0, 1 - (error / (1.5 * self.settings.inlier_rad)) ** 2)

    def _shares(self, pool: PooledSegments, axes: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "3"]:
        explained = self._explained(pool, axes)
        return np.bincount(pool.error_rad(axes).argmin(axis=1), weights=explained, minlength=3) / pool.weight.sum()

    def _frames_sigma(self, pool: PooledSegments, up: Float64[np.ndarray, "3"]) -> float | NoEstimate:
        """Standard error of up: RMS angle between the up of single frames and the pooled one, over √count."""
        s, angles = self.settings, []
        for frame in np.unique(pool.frame):
            own = pool.of(pool.frame == frame)
            near = own.error_rad(np.stack([up] * 3))[:, 0] < 2 * s.inlier_rad
            if near.sum() < s.supporting_segments:
                continue
            normal, weight = own.normal[near], own.weight[near]
            single = np.linalg.eigh(np.einsum("si,sj,s->ij", normal, normal, weight))[1][:, 0]
            angles.append(np.arccos(min(1.0, abs(float(single @ up)))))
        close = [a for a in angles if a <= s.frame_rad]
        if len(close) < s.supporting_frames or 2 * len(close) < len(angles):
            return NoEstimate(reason="too few frames agree on gravity", detail=f"{len(close)} of {len(angles)} frames")
        return float(np.sqrt(np.mean(np.square(close)) / len(close)))

    def _halves_difference(
        self, pool: PooledSegments, up: Float64[np.ndarray, "3"], image_up: Float64[np.ndarray, "3"]
    ) -> float | NoEstimate:
        """Largest angle between the ups of odd frames, of even frames and of all."""
        order = np.searchsorted(np.unique(pool.frame), pool.frame)
        halves = [self._fit(pool.of(order % 2 == k), image_up) for k in (0, 1)]
        axes = [h for h in halves if not isinstance(h, NoEstimate)]
        if len(axes) < 2:
            return NoEstimate(reason="half of the frames does not determine gravity")
        worst = max(_angle(axes[0][0], axes[1][0]), *(_angle(a[0], up) for a in axes))
        if worst > self.settings.halves_rad:
            return NoEstimate(reason="halves of the clip disagree on gravity", detail=f"{np.rad2deg(worst):.1f}°")
        return worst

    def _focal_effect(
        self,
        segments: LineSegments,
        path: CameraPath,
        up: Float64[np.ndarray, "3"],
        image_up: Float64[np.ndarray, "3"],
    ) -> float | NoEstimate:
        """Largest change of up when the focal length is one σ shorter or longer."""
        worst = 0.0
        for factor in (1 - path.focal_relative_sigma, 1 + path.focal_relative_sigma):
            pool = PooledSegments.on_path(segments, path, factor)
            triples = self._sampled(pool)
            best = pool.refined(triples[np.argmax(self._scores(pool, triples))], self.settings.inlier_rad)
            worst = max(worst, _angle(_upward_first(best, image_up)[0], up))
        if worst > self.settings.focal_rad:
            detail = f"one σ changes it by {np.rad2deg(worst):.1f}°"
            return NoEstimate(reason="gravity depends on the focal length", detail=detail)
        return worst


def _upward_first(axes: Float64[np.ndarray, "3 3"], image_up: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3 3"]:
    """Rows reordered: the one nearest to image-up first, pointing up."""
    order = np.argsort(-np.abs(axes @ image_up), kind="stable")
    return axes[order] * np.sign(axes[order] @ image_up + 1e-12)[:, None]


def _angle(a: Float64[np.ndarray, "3"], b: Float64[np.ndarray, "3"]) -> float:
    return float(np.arccos(np.clip(a @ b, -1, 1)))
