"""The focal length from vanishing points of straight lines in single frames, without a camera path.

If a frame shows lines of three orthogonal directions, and two vanishing points are finite and distinct, only one focal
length makes the directions orthogonal (Caprile & Torre, IJCV 1990). Weak points: cameras that look along a wall, where
the other vanishing points are at infinity; furniture at oblique angles; lens distortion; pictures cropped off centre.
There the expert returns no estimate, as far as the lines show the problem.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from experts.clip import Clip
from experts.expert import WeightFreeExpert
from experts.gravity.focal_profile import FocalProfile, Peak, fitted_peak, profile, profile_near
from experts.gravity.line_segments import LineSegments, detect
from experts.gravity.orthogonal_triples import PictureLines
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import Calibration, NoEstimate, Signal, Signals, ValidArea
from experts.stated_camera import contradicted

_REMEDY = "give --intrinsics"


@dataclass(frozen=True, kw_only=True)
class StraightLinesSettings:
    """Focal lengths are shares of the longer side; differences between log likelihoods are per frame."""

    frames: int = 8
    """Number of frames in which segments are detected, evenly spaced."""
    min_frames: int = 3
    """Smallest number of frames with enough segments."""
    shortest_segment: float = 0.035
    """Shortest segment, as a share of the diagonal (28 px at 640x480)."""
    segments_per_frame: int = 120
    """Largest number of segments per frame, the longest first."""
    min_segments: int = 20
    """A frame with fewer segments is not used."""
    angle_sigma_rad: float = float(np.deg2rad(0.35))
    """σ of a long segment's angle: edges of real objects are no straighter."""
    end_sigma_px: float = 0.5
    """... ⊕ this over half the length, at working size."""
    outlier_share: float = 0.35
    """Share of segments that have none of the three directions."""
    focal_limits: tuple[float, float] = (0.35, 2.2)
    """Range of focal lengths: wider than the plausible range of COLMAP (`FocalSettings`)."""
    steps: int = 24
    """Number of focal lengths in the range, by equal ratios (8 %)."""
    samples: int = 300
    """Number of triples sampled per frame at every second focal length ..."""
    fits: int = 3
    """... and number of those that are fitted."""
    seed: int = 0
    """Seed of the sampling."""
    min_height: float = 15.0
    """Smallest difference of the log likelihood between the peak and both ends of the range, and any other peak. On 68
    rendered rooms, all estimates with more than 10 % error had a difference below 11."""
    finite_rad: float = float(np.deg2rad(80.0))
    """A vanishing point is finite if its direction is within this angle of the viewing axis, ..."""
    finite_segments: float = 4.0
    """... and two such points need this many segments per frame each (a nuScenes picture without them had 26 % error at
    a clear peak)."""
    principal_sigma: float = 0.01
    """σ per axis of the principal point about the centre: 0.007 across and 0.013 down over eleven real cameras."""
    k1_sigma: float = 0.03
    """σ of the lens distortion, which is assumed to be 0: correct reconstructions of nine clips have at most 0.05."""
    tested_k1: tuple[float, ...] = (-0.1, -0.05, 0.05, 0.1)
    """If one of these distortions ..."""
    max_k1_gain: float = 2.0
    """... increases the log likelihood by more than this, the lens bends lines. Measured: at most 1.2 on 26 rendered
    rooms; at least 2 on all but one of them with a distortion of 0.1, where focal lengths had errors up to 2.8 σ."""
    relative_floor: float = 0.05
    """Systematic σ: real lines are not exactly orthogonal. Errors of estimates: 7-Scenes 0.0 %, MobileBrick 0.0 %, TUM
    fr3 1.1 %, HoloLens 8.1 %; single pictures of ScanNet and NYU 0.3 to 14 %."""
    max_relative_sigma: float = 0.12
    """Largest σ_f/f of an estimate."""
    user_sigmas: float = 2.0
    """The user's focal length is contradicted if it differs by more than this many σ (true ones of five sets: at most
    1.4), ..."""
    confirming_sigmas: float = 1.0
    """... and confirmed if it differs by at most this many, of ..."""
    confirming_sigma: float = 0.07
    """... at most this σ_f/f, so that an error of 15 % is not confirmed. Then ..."""
    user_relative_sigma: float = 0.005
    """... it has this σ_f/f."""


class StraightLinesExpert(WeightFreeExpert):
    """Expert "straight_lines": provides "calibration"."""

    name: ClassVar[str] = "straight_lines"
    version: ClassVar[str] = "5"
    provides: ClassVar[frozenset[str]] = frozenset({"calibration"})
    needs: ClassVar[frozenset[str]] = frozenset({"valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px", "intrinsics"})

    def __init__(self, settings: StraightLinesSettings | None = None) -> None:
        self.settings = settings or StraightLinesSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"calibration": Calibration}`: no distortion, principal point at the centre of the frame.

        If the user provides the camera: that one, if lines confirm it.
        """
        area = signals.get("valid_area")
        found = self.focal(clip, area.valid if isinstance(area, ValidArea) else None)
        user = clip.options.intrinsics and clip.options.intrinsics.scaled(clip.width_px, clip.height_px)
        known = found if user is None else self._held_against_lines(user, found)
        if isinstance(known, NoEstimate):
            return {"calibration": known}
        signal = Calibration(
            intrinsics=user or Intrinsics.centred(clip.width_px, clip.height_px, known.focal * _longer(clip)),
            focal_relative_sigma=known.relative_sigma,
            provenance=Provenance(
                expert=self.name, version=self.version, settings=asdict(self.settings), seed=self.settings.seed
            ),
        )
        return {"calibration": signal}

    def _held_against_lines(self, user: Intrinsics, found: Peak | NoEstimate) -> Peak | NoEstimate:
        """The user's focal length with its σ, if straight lines confirm it."""
        s, unconfirmed = self.settings, "straight lines do not confirm --intrinsics"
        if isinstance(found, NoEstimate):
            return NoEstimate(reason=unconfirmed, detail=found.reason)
        stated = user.fx_px / max(user.width_px, user.height_px)
        differs = abs(np.log(stated / found.focal)) / found.relative_sigma
        if differs > s.user_sigmas:
            return contradicted(found.focal / stated, "straight lines", found.relative_sigma)
        if differs > s.confirming_sigmas or found.relative_sigma > s.confirming_sigma:
            detail = f"they differ by {differs:.1f} σ of {found.relative_sigma:.2f}"
            return NoEstimate(reason=unconfirmed, detail=detail)
        return Peak(focal=stated, relative_sigma=s.user_relative_sigma)

    def focal(self, clip: Clip, valid: Bool[np.ndarray, "h w"] | None) -> Peak | NoEstimate:
        """The focal length as a share of the longer side; `valid`: pixels at working size that show the scene."""
        s = self.settings
        at = np.unique(np.linspace(0, len(clip.frames) - 1, s.frames).round().astype(int))
        segments = detect(clip, [int(f) for f in clip.frames[at]], valid, s.shortest_segment)
        return self._focal(picture_lines(clip, segments, s))

    def _focal(self, frames: Sequence[PictureLines]) -> Peak | NoEstimate:
        """The focal length with its σ."""
        s = self.settings
        if len(frames) < s.min_frames:
            return NoEstimate(reason="too few straight lines", detail=f"enough of them in {len(frames)} frames")
        grid = np.geomspace(*s.focal_limits, s.steps)
        whole = profile(frames, grid, s.samples, s.fits, np.random.default_rng(s.seed))
        close = profile_near(frames, whole.best_axes, float(grid[int(np.argmax(whole.mean))]))
        peak = fitted_peak(close.focal, close.mean)
        refusal = self._refusal(frames, whole, close, peak)
        if refusal is not None:
            return refusal
        halves = [fitted_peak(close.focal, close.log_likelihood[k::2].mean(axis=0)).focal for k in (0, 1)]
        half_difference = abs(float(np.log(halves[0] / halves[1]))) / 2
        lens = self._lens_sigma(frames, close, peak)
        sigma = float(np.linalg.norm([peak.relative_sigma, half_difference, lens, s.relative_floor]))
        if sigma > s.max_relative_sigma:
            detail = f"σ {sigma:.2f}: peak {peak.relative_sigma:.2f}, halves {half_difference:.2f}, lens {lens:.2f}"
            return NoEstimate(reason="focal length from straight lines too uncertain", detail=detail, remedy=_REMEDY)
        return Peak(focal=peak.focal, relative_sigma=sigma)

    def _refusal(
        self, frames: Sequence[PictureLines], whole: FocalProfile, close: FocalProfile, peak: Peak
    ) -> NoEstimate | None:
        """Why the peak must not be used; None if it passes all checks."""
        s, mean = self.settings, whole.mean
        height = float(mean.max()) - np.array([mean[0], mean[-1]])
        detail = f"{height[0]:.1f} and {height[1]:.1f} above the ends of the range"
        if height.min() < s.min_height:
            reason = "straight lines do not determine the focal length"
            return NoEstimate(reason=reason, detail=detail, remedy=_REMEDY)
        lead = float(mean.max() - _second_peak(whole, peak))
        if lead < s.min_height:
            detail = f"log likelihoods differ by {lead:.1f}"
            return NoEstimate(reason="two focal lengths explain the lines", detail=detail, remedy=_REMEDY)
        second = np.mean([self._second_finite(f, a, peak.focal) for f, a in zip(frames, close.best_axes, strict=True)])
        if second < s.finite_segments:
            detail = f"{second:.1f} segments point to a second one"
            return NoEstimate(reason="fewer than two finite vanishing points", detail=detail, remedy=_REMEDY)
        undistorted = [[f.undistorted(k1, peak.focal) for f in frames] for k1 in s.tested_k1]
        highest = max(float(profile_near(lines, close.best_axes, peak.focal).mean.max()) for lines in undistorted)
        gain = highest - float(close.mean.max())
        if gain > s.max_k1_gain:
            detail = f"a distortion increases the log likelihood by {gain:.1f}"
            return NoEstimate(reason="the lens bends straight lines", detail=detail, remedy=_REMEDY)
        return None

    def _second_finite(self, lines: PictureLines, axes: Float64[np.ndarray, "3 3"], focal: float) -> float:
        """Expected number of segments that point to the second best of the finite vanishing points."""
        _, [probability] = lines.likelihood(lines.error_rad(axes[None], np.array([focal])))
        finite = np.abs(axes[:, 2]) > np.cos(self.settings.finite_rad)
        return float(np.sort(np.where(finite, probability.sum(axis=0), 0.0))[1])

    def _lens_sigma(self, frames: Sequence[PictureLines], close: FocalProfile, peak: Peak) -> float:
        """σ of ln focal due to the σ of the principal point, across and down, and of the distortion."""
        s = self.settings
        across, down = s.principal_sigma * np.eye(2)
        changed = [[lines.shifted(sign * by) for lines in frames] for by in (across, down) for sign in (1, -1)] + [
            [lines.undistorted(sign * s.k1_sigma, peak.focal) for lines in frames] for sign in (1, -1)
        ]
        profiles = [profile_near(lines, close.best_axes, peak.focal) for lines in changed]
        focal = np.log([fitted_peak(found.focal, found.mean).focal for found in profiles])
        return float(np.linalg.norm(focal[::2] - focal[1::2]) / 2)


def picture_lines(clip: Clip, segments: LineSegments, settings: StraightLinesSettings) -> list[PictureLines]:
    """The longest segments of each frame that has enough segments."""
    s, longer = settings, _longer(clip)
    segments = segments.longest(s.segments_per_frame)
    end_sigma = s.end_sigma_px / max(clip.working_size)
    centre = (np.array([clip.width_px, clip.height_px]) - 1) / 2
    lines = []
    for frame in np.unique(segments.frame):
        own = np.flatnonzero(segments.frame == frame)
        longest = own[np.argsort(-segments.length[own], kind="stable")]
        if len(longest) < s.min_segments:
            continue
        ends = (segments.ends_px[longest] - centre) / longer
        along = ends[:, 1] - ends[:, 0]
        length = np.linalg.norm(along, axis=1)
        lines.append(
            PictureLines(
                middle=ends.mean(axis=1),
                direction=along / length[:, None],
                length=length,
                sigma_rad=np.hypot(s.angle_sigma_rad, 2 * end_sigma / length),
                outlier_share=s.outlier_share,
            )
        )
    return lines


def _longer(clip: Clip) -> int:
    return max(clip.width_px, clip.height_px)


def _second_peak(whole: FocalProfile, peak: Peak) -> float:
    """Log likelihood of the best other peak."""
    mean = np.r_[-np.inf, whole.mean, -np.inf]
    peaks = (mean[1:-1] >= mean[:-2]) & (mean[1:-1] >= mean[2:])
    far = np.abs(np.log(whole.focal / peak.focal)) > max(0.2, 3 * peak.relative_sigma)
    return float(whole.mean[peaks & far].max(initial=-np.inf))
