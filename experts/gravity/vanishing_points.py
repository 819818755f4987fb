"""Gravity from vanishing points: the three directions of a built scene, pooled over the clip.

Vanishing points alone do not say which of the three axes is up. Here only the user's word does (`--upright`:
roll and pitch of most frames within 45°); without it the expert declines before it looks at a pixel, and where the
footage does not confirm it, there is no gravity (`upright`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.gravity.line_segments import LineSegments, detect
from experts.gravity.orthogonal_triples import drawn_triples
from experts.gravity.straight_lines import given_focal_refused
from experts.gravity.upright import UprightSettings, unconfirmed
from experts.provenance import Provenance
from experts.signals import CameraPath, Gravity, NoEstimate, Signal, Signals, ValidArea

_FLAG = "--upright, if the camera was held upright (roll and pitch of most frames within 45°)"


@dataclass(frozen=True, kw_only=True)
class VanishingPointsSettings:
    """Gates and floors. Where no source is named the value was chosen once and then checked on real sets."""

    frames: int = 20
    """Frames that are searched for segments, spread evenly."""
    shortest_segment: float = 0.035
    """Shortest segment, as a share of the diagonal (28 px at 640x480)."""
    segments_per_frame: int = 120
    """The longest are used."""
    inlier_rad: float = float(np.deg2rad(2.0))
    """A segment points to a vanishing point within this angle in the picture."""
    hypotheses: int = 1500
    """Sampled triples of directions."""
    scored_segments: int = 800
    """So many, the longest, tell the sampled triples apart."""
    seed: int = 0
    """Of the sampling."""
    explained_share: float = 0.45
    """Share of the segments' length that the three directions explain (0.4 was too low for single frames)."""
    up_share: float = 0.1
    """... and the upward one alone."""
    level_share: float = 0.1
    """... and the stronger of the others."""
    rival_share: float = 0.9
    """Another triple with a different upward direction explains less than this share of the best one."""
    rival_rad: float = float(np.deg2rad(6.0))
    """From this angle on it is different."""
    supporting_frames: int = 4
    """So many frames must see the upward direction by themselves ..."""
    supporting_segments: int = 4
    """... with so many segments each ..."""
    frame_rad: float = float(np.deg2rad(6.0))
    """... and agree with the pooled direction within this."""
    halves_rad: float = float(np.deg2rad(2.5))
    """Odd and even frames alone agree within this."""
    focal_rad: float = float(np.deg2rad(5.0))
    """Refused if the focal length's σ moves the result by more."""
    max_focal_sigma: float = 0.3
    """σ_f/f above which the effect of the focal length is not even tried."""
    image_up_rad: float = float(np.deg2rad(35.0))
    """The upward axis lies within this of image-up averaged over the clip (DESIGN §3)."""
    others_rad: float = float(np.deg2rad(55.0))
    """... and both others beyond this (DESIGN §3)."""
    held_alike: float = 0.8
    """Length of the mean of the frames' image-up: with less, the camera was turned about and "upright" says little."""
    pooled_floor_rad: float = float(np.deg2rad(1.5))
    """σ of a pooled direction (pooled errors of 0.7-1.45° measured on 7-Scenes)."""
    single_floor_rad: float = float(np.deg2rad(2.5))
    """σ where all frames show one view (single frames of 7-Scenes: median error 2.6°)."""
    one_view_rad: float = float(np.deg2rad(5.0))
    """A camera that does not travel and turns by less than this shows one view."""
    upright: UprightSettings | None = field(default_factory=UprightSettings)
    """What confirms the user's word; None: it is believed."""
    focal_sigmas: float = 3.0
    """A given focal length that is so many σ from that of straight lines is not believed."""


@dataclass(frozen=True, kw_only=True)
class _Pool:
    """Segments of all frames, rotated into one world."""

    normal: Float64[np.ndarray, "s 3"]
    middle: Float64[np.ndarray, "s 3"]
    weight: Float64[np.ndarray, "s"]
    frame: Int64[np.ndarray, "s"]

    def of(self, chosen: Bool[np.ndarray, "s"]) -> "_Pool":
        return _Pool(
            normal=self.normal[chosen], middle=self.middle[chosen], weight=self.weight[chosen], frame=self.frame[chosen]
        )

    def error_rad(self, axes: Float64[np.ndarray, "*h 3 3"]) -> Float64[np.ndarray, "*h s 3"]:
        """Angle in the picture between each segment and the way to each axis's (row's) vanishing point."""
        off = np.einsum("sk,...ak->...sa", self.normal, axes)
        along = np.einsum("sk,...ak->...sa", self.middle, axes)
        return np.arcsin(np.minimum(np.abs(off) / np.sqrt(np.maximum(1 - along**2, 1e-6)), 1.0))


class VanishingPointsExpert:
    """Expert "vanishing_points": provides "gravity"."""

    name: ClassVar[str] = "vanishing_points"
    version: ClassVar[str] = "4"
    provides: ClassVar[frozenset[str]] = frozenset({"gravity"})
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "valid_area"})
    may_use: ClassVar[frozenset[str]] = frozenset({"sparse_points", "depth"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px", "upright", "intrinsics"})

    def __init__(self, settings: VanishingPointsSettings | None = None) -> None:
        self.settings = settings or VanishingPointsSettings()

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"gravity": Gravity}` for the registered frames. Needs their rotations; points or depth show the floor."""
        return {"gravity": self._gravity(clip, signals)}

    def _gravity(self, clip: Clip, signals: Signals) -> Gravity | NoEstimate:
        if not clip.options.upright:
            return NoEstimate(reason="which axis is up is not known without --upright", remedy=_FLAG)
        path = signals["camera_path"]
        if not isinstance(path, CameraPath) or not path.registered.any():
            return NoEstimate(reason="no camera path", detail=getattr(path, "reason", ""))
        if path.focal_relative_sigma > self.settings.max_focal_sigma:
            return NoEstimate(reason="gravity rests on the focal length", detail="which the footage does not tell")
        if path.registered.sum() < self.settings.supporting_frames:
            return NoEstimate(reason="too few frames for gravity", detail=f"{int(path.registered.sum())} registered")
        rotation = path.world_from_cam[path.registered][:, :3, :3]
        image_up = -rotation[:, :, 1].mean(axis=0)
        if np.linalg.norm(image_up) < self.settings.held_alike:
            return NoEstimate(reason="the camera was not held one way up")
        image_up /= np.linalg.norm(image_up)
        area = signals.get("valid_area")
        frames = path.frames[path.registered]
        at = np.unique(np.round(np.linspace(0, len(frames) - 1, self.settings.frames)).astype(int))
        valid = area.valid if isinstance(area, ValidArea) else None
        if (refused := given_focal_refused(clip, valid, self.settings.focal_sigmas)) is not None:
            return refused
        segments = detect(clip, [int(f) for f in frames[at]], valid, self.settings.shortest_segment)
        found = self._up(segments, path, image_up)
        if isinstance(found, NoEstimate):
            return found
        axes, variance = found
        against = None if self.settings.upright is None else unconfirmed(axes, path, signals, self.settings.upright)
        if against is not None:
            return NoEstimate(reason="the footage does not confirm --upright", detail=against, remedy=f"check {_FLAG}")
        sigma = np.sqrt(variance + path.rotation_sigma_rad[path.registered] ** 2)
        return Gravity(
            frames=frames,
            up_cam=np.einsum("nij,i->nj", rotation, axes[0]),
            sigma_rad=sigma,
            decided_by="--upright",
            provenance=Provenance(
                expert=self.name, version=self.version, settings=asdict(self.settings), seed=self.settings.seed
            ),
        )

    def _up(
        self, segments: LineSegments, path: CameraPath, image_up: Float64[np.ndarray, "3"]
    ) -> tuple[Float64[np.ndarray, "3 3"], float] | NoEstimate:
        """Three orthogonal directions in the path's world, up first, and the variance of up per axis; or why not."""
        pool = self._pool(segments, path, 1.0)
        axes = self._fit(pool, image_up)
        if isinstance(axes, NoEstimate):
            return axes
        spread = self._spread(pool, axes[0])
        if isinstance(spread, NoEstimate):
            return spread
        halves = self._halves(pool, axes[0], image_up)
        if isinstance(halves, NoEstimate):
            return halves
        focal = self._focal_effect(segments, path, axes[0], image_up)
        if isinstance(focal, NoEstimate):
            return focal
        return axes, self._floor_rad(path) ** 2 + spread**2 + (halves / 2) ** 2 + focal**2

    def _floor_rad(self, path: CameraPath) -> float:
        rotation = Rotation.from_matrix(path.world_from_cam[path.registered][:, :3, :3])
        turned = (rotation[0].inv() * rotation).magnitude().max()
        one_view = path.motion != "general" and turned < self.settings.one_view_rad
        return self.settings.single_floor_rad if one_view else self.settings.pooled_floor_rad

    def _pool(self, segments: LineSegments, path: CameraPath, focal_factor: float) -> _Pool:
        camera = replace(
            path.intrinsics, fx_px=path.intrinsics.fx_px * focal_factor, fy_px=path.intrinsics.fy_px * focal_factor
        )
        chosen = np.zeros(len(segments.length), dtype=bool)
        for frame in np.unique(segments.frame):
            own = np.flatnonzero(segments.frame == frame)
            chosen[own[np.argsort(-segments.length[own], kind="stable")[: self.settings.segments_per_frame]]] = True
        kept = segments.of(chosen)
        normal, middle = kept.planes(camera)
        rotation = path.world_from_cam[np.searchsorted(path.frames, kept.frame)][:, :3, :3]
        return _Pool(
            normal=np.einsum("sij,sj->si", rotation, normal),
            middle=np.einsum("sij,sj->si", rotation, middle),
            weight=kept.length,
            frame=kept.frame,
        )

    def _fit(self, pool: _Pool, image_up: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3 3"] | NoEstimate:
        """Three orthogonal directions, upward first; sampled, then refined. Abstains where they are doubtful."""
        if len(pool.weight) < 10 * 3:
            return NoEstimate(reason="too few straight lines", detail=f"{len(pool.weight)} segments")
        triples = self._drawn(pool)
        score = self._scores(pool, triples)
        if not len(score):
            return NoEstimate(reason="straight lines do not share three directions")
        axes = _upward_first(self._refined(pool, triples[np.argmax(score)]), image_up)
        share = self._shares(pool, axes)
        angle = np.arccos(np.clip(np.abs(axes @ image_up), 0, 1))
        explained = share.sum()
        others = np.stack([_upward_first(t, image_up)[0] for t in triples])
        rival = np.arccos(np.clip(np.abs(others @ axes[0]), 0, 1)) > self.settings.rival_rad
        strongest = score[rival].max(initial=0.0) / score.max() * explained
        detail = f"explained {explained:.2f} (up {share[0]:.2f}), rival {strongest:.2f}"
        detail += f", {np.rad2deg(angle[0]):.0f}° off image-up"
        if explained < self.settings.explained_share:
            return NoEstimate(reason="straight lines do not share three directions", detail=detail)
        if share[0] < self.settings.up_share or share[1:].max() < self.settings.level_share:
            return NoEstimate(reason="too few upright or level lines", detail=detail)
        if strongest > self.settings.rival_share * explained:
            return NoEstimate(reason="vanishing points are ambiguous", detail=detail)
        if angle[0] > self.settings.image_up_rad or angle[1:].min() < self.settings.others_rad:
            return NoEstimate(reason="no axis is clearly upright", detail=detail, remedy=f"check {_FLAG}")
        return axes

    def _drawn(self, pool: _Pool) -> Float64[np.ndarray, "h 3 3"]:
        rng = np.random.default_rng(self.settings.seed)
        return drawn_triples(pool.normal, pool.weight, self.settings.hypotheses, rng)

    def _scores(self, pool: _Pool, triples: Float64[np.ndarray, "h 3 3"]) -> Float64[np.ndarray, "h"]:
        """Share of length explained by each triple, soft at the threshold; seen on the longest segments."""
        longest = np.zeros(len(pool.weight), dtype=bool)
        longest[np.argsort(-pool.weight, kind="stable")[: self.settings.scored_segments]] = True
        scored = pool.of(longest)
        return np.array([self._soft(scored, triple).sum() for triple in triples]) / scored.weight.sum()

    def _soft(self, pool: _Pool, axes: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "s"]:
        error = pool.error_rad(axes).min(axis=1)
        return pool.weight * np.maximum(0.0, 1 - (error / (1.5 * self.settings.inlier_rad)) ** 2)

    def _shares(self, pool: _Pool, axes: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "3"]:
        soft = self._soft(pool, axes)
        return np.bincount(pool.error_rad(axes).argmin(axis=1), weights=soft, minlength=3) / pool.weight.sum()

    def _refined(self, pool: _Pool, axes: Float64[np.ndarray, "3 3"]) -> Float64[np.ndarray, "3 3"]:
        """Rotates the triple to the robust least-squares optimum of its inliers."""
        for _ in range(2):
            error = pool.error_rad(axes)
            near = error.min(axis=1) < 2 * self.settings.inlier_rad
            inliers, owner = pool.of(near), error.argmin(axis=1)[near]
            scale = self.settings.inlier_rad * float(np.sqrt(np.median(inliers.weight)))
            found = least_squares(_misfit, np.zeros(3), loss="soft_l1", f_scale=scale, args=(axes, inliers, owner))
            axes = _turned(axes, found.x)
        return axes

    def _spread(self, pool: _Pool, up: Float64[np.ndarray, "3"]) -> float | NoEstimate:
        """RMS over the root of the count of how far single frames' own upward directions lie from the pooled one."""
        angles = []
        for frame in np.unique(pool.frame):
            own = pool.of(pool.frame == frame)
            near = own.error_rad(np.stack([up] * 3))[:, 0] < 2 * self.settings.inlier_rad
            if near.sum() < self.settings.supporting_segments:
                continue
            normal, weight = own.normal[near], own.weight[near]
            single = np.linalg.eigh(np.einsum("si,sj,s->ij", normal, normal, weight))[1][:, 0]
            angles.append(np.arccos(min(1.0, abs(float(single @ up)))))
        close = [a for a in angles if a <= self.settings.frame_rad]
        if len(close) < self.settings.supporting_frames or 2 * len(close) < len(angles):
            return NoEstimate(reason="too few frames agree on gravity", detail=f"{len(close)} of {len(angles)} frames")
        return float(np.sqrt(np.mean(np.square(close)) / len(close)))

    def _halves(
        self, pool: _Pool, up: Float64[np.ndarray, "3"], image_up: Float64[np.ndarray, "3"]
    ) -> float | NoEstimate:
        """Angle between what odd and even frames find by themselves."""
        order = np.searchsorted(np.unique(pool.frame), pool.frame)
        halves = [self._fit(pool.of(order % 2 == k), image_up) for k in (0, 1)]
        axes = [h for h in halves if not isinstance(h, NoEstimate)]
        if len(axes) < 2:
            return NoEstimate(reason="half of the frames gives no gravity")
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
        """How far a focal length one σ shorter or longer moves the result."""
        worst = 0.0
        for factor in (1 - path.focal_relative_sigma, 1 + path.focal_relative_sigma):
            pool = self._pool(segments, path, factor)
            triples = self._drawn(pool)
            best = self._refined(pool, triples[np.argmax(self._scores(pool, triples))])
            worst = max(worst, _angle(_upward_first(best, image_up)[0], up))
        if worst > self.settings.focal_rad:
            return NoEstimate(reason="gravity rests on the focal length", detail=f"moves by {np.rad2deg(worst):.1f}°")
        return worst


def _turned(axes: Float64[np.ndarray, "3 3"], by: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3 3"]:
    return axes @ Rotation.from_rotvec(by).as_matrix().T


def _misfit(
    by: Float64[np.ndarray, "3"], axes: Float64[np.ndarray, "3 3"], pool: _Pool, owner: Int64[np.ndarray, "s"]
) -> Float64[np.ndarray, "s"]:
    return np.sqrt(pool.weight) * pool.error_rad(_turned(axes, by))[np.arange(len(owner)), owner]


def _upward_first(axes: Float64[np.ndarray, "3 3"], image_up: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3 3"]:
    """Rows reordered: the one nearest to image-up first, pointing up."""
    order = np.argsort(-np.abs(axes @ image_up), kind="stable")
    return axes[order] * np.sign(axes[order] @ image_up + 1e-12)[:, None]


def _angle(a: Float64[np.ndarray, "3"], b: Float64[np.ndarray, "3"]) -> float:
    return float(np.arccos(np.clip(a @ b, -1, 1)))
