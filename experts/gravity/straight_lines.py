"""The focal length from vanishing points of straight lines: of single frames, without a camera path.

Where a frame shows lines of three orthogonal directions, two of them with vanishing points that are neither at infinity
nor one behind the other, only one focal length makes them orthogonal (Caprile & Torre, IJCV 1990). Bad at: cameras that
look straight along a wall, where the other directions vanish at infinity; things that stand at odd angles; lenses that
bend lines; pictures that were cropped off centre. It abstains there, as far as the lines show it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from experts.clip import Clip
from experts.gravity.focal_profile import FocalProfile, Peak, near, peak, profile
from experts.gravity.line_segments import LineSegments, detect
from experts.gravity.orthogonal_triples import PictureLines
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import Calibration, NoEstimate, Signal, Signals, ValidArea

_REMEDY = "give --intrinsics"


@dataclass(frozen=True, kw_only=True)
class StraightLinesSettings:
    """Focal lengths are shares of the longer side; heights of the profile are log likelihoods of one frame."""

    frames: int = 8
    """Frames that are searched for segments, spread evenly."""
    min_frames: int = 3
    """So many must have segments enough."""
    shortest_segment: float = 0.035
    """Shortest segment, as a share of the diagonal (28 px at 640x480)."""
    segments_per_frame: int = 120
    """The longest are used."""
    min_segments: int = 20
    """A frame with fewer is left out."""
    angle_sigma_rad: float = float(np.deg2rad(0.35))
    """σ of a long segment's angle: edges of real things are no straighter."""
    end_sigma_px: float = 0.5
    """... ⊕ this over half the length, at working size."""
    stray: float = 0.35
    """Share of segments that run along none of the three directions."""
    focal_limits: tuple[float, float] = (0.35, 2.2)
    """Searched: beyond all that COLMAP's gates call plausible."""
    steps: int = 24
    """Focal lengths that are tried, by equal ratios (8 %)."""
    draws: int = 300
    """Triples drawn per frame at every second focal length ..."""
    kept: int = 3
    """... of which so many are fitted."""
    seed: int = 0
    """Of the drawing."""
    min_height: float = 15.0
    """The peak stands so far above both ends of the range and above any other peak. On 68 rendered rooms all estimates
    that were more than 10 % wrong had a rival or an end nearer than 11."""
    finite_rad: float = float(np.deg2rad(80.0))
    """A vanishing point is finite if its direction is nearer to the viewing axis, ..."""
    finite_segments: float = 4.0
    """... and two such need so many segments a frame each (a nuScenes picture without: 26 % off on a clear peak)."""
    principal_sigma: float = 0.01
    """σ per axis of the principal point from the middle: 0.007 across and 0.013 down over eleven real cameras."""
    k1_sigma: float = 0.03
    """σ of the lens's distortion, which is taken for none: right maps of nine clips have 0.05 at most."""
    bent_k1: tuple[float, ...] = (-0.1, -0.05, 0.05, 0.1)
    """With none of these distortions ..."""
    max_bent_gain: float = 2.0
    """... do the lines do so much better than with none (log likelihood a frame). Measured: 1.2 at most on 26 rendered
    rooms, 2 and more on all but one of them bent by 0.1, where focal lengths were up to 2.8 σ off."""
    relative_floor: float = 0.05
    """Systematic σ: on real footage the lines are not quite orthogonal. Errors where it answers: 7-Scenes 0.0 %,
    MobileBrick 0.0 %, TUM fr3 1.1 %, HoloLens 8.1 %; single pictures of ScanNet, NYU 0.3 to 14 %."""
    max_relative_sigma: float = 0.12
    """With a larger σ it is not known."""


class StraightLinesExpert:
    """Expert "straight_lines": provides "calibration"."""

    name: ClassVar[str] = "straight_lines"
    version: ClassVar[str] = "2"
    provides: ClassVar[frozenset[str]] = frozenset({"calibration"})
    needs: ClassVar[frozenset[str]] = frozenset({"valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px", "intrinsics"})

    def __init__(self, settings: StraightLinesSettings | None = None) -> None:
        self.settings = settings or StraightLinesSettings()

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """`{"calibration": Calibration}`: one camera without distortion, its axis through the middle."""
        if clip.options.intrinsics is not None:
            return {"calibration": NoEstimate(reason="the camera is given")}
        area = signals.get("valid_area")
        found = self.focal(clip, area.valid if isinstance(area, ValidArea) else None)
        if isinstance(found, NoEstimate):
            return {"calibration": found}
        camera = Intrinsics.centred(clip.width_px, clip.height_px, found.focal * max(clip.width_px, clip.height_px))
        made_by = Provenance(
            expert=self.name, version=self.version, settings=asdict(self.settings), seed=self.settings.seed
        )
        signal = Calibration(intrinsics=camera, focal_relative_sigma=found.relative_sigma, provenance=made_by)
        return {"calibration": signal}

    def focal(self, clip: Clip, valid: Bool[np.ndarray, "h w"] | None) -> Peak | NoEstimate:
        """The focal length as a share of the longer side; `valid`: pixels at working size that show the scene."""
        s = self.settings
        at = np.unique(np.linspace(0, len(clip.frames) - 1, s.frames).round().astype(int))
        segments = detect(clip, [int(f) for f in clip.frames[at]], valid, s.shortest_segment)
        return self._focal(self._lines(clip, segments))

    def _lines(self, clip: Clip, segments: LineSegments) -> list[PictureLines]:
        """The longest segments of each frame that has enough."""
        s, longer = self.settings, max(clip.width_px, clip.height_px)
        end_sigma = s.end_sigma_px / max(clip.working_size)
        centre = (np.array([clip.width_px, clip.height_px]) - 1) / 2
        lines = []
        for frame in np.unique(segments.frame):
            own = np.flatnonzero(segments.frame == frame)
            longest = own[np.argsort(-segments.length[own], kind="stable")[: s.segments_per_frame]]
            if len(longest) < s.min_segments:
                continue
            ends = (segments.ends_px[longest] - centre) / longer
            along = ends[:, 1] - ends[:, 0]
            length = np.linalg.norm(along, axis=1)
            lines.append(
                PictureLines(
                    middle=ends.mean(axis=1),
                    way=along / length[:, None],
                    length=length,
                    sigma_rad=np.hypot(s.angle_sigma_rad, 2 * end_sigma / length),
                    stray=s.stray,
                )
            )
        return lines

    def _focal(self, frames: Sequence[PictureLines]) -> Peak | NoEstimate:
        """The focal length with its σ, or why not."""
        s = self.settings
        if len(frames) < s.min_frames:
            return NoEstimate(reason="too few straight lines", detail=f"enough of them in {len(frames)} frames")
        grid = np.geomspace(*s.focal_limits, s.steps)
        whole = profile(frames, grid, s.draws, s.kept, np.random.default_rng(s.seed))
        at = int(np.argmax(whole.mean))
        close = near(frames, whole.axes[:, at], float(grid[at]))
        top = peak(close.focal, close.mean)
        refused = self._refused(frames, whole, close, top)
        if refused is not None:
            return refused
        halves = [peak(close.focal, close.likelihood[k::2].mean(axis=0)).focal for k in (0, 1)]
        spread = abs(float(np.log(halves[0] / halves[1]))) / 2
        lens = self._lens(frames, close, top)
        sigma = float(np.linalg.norm([top.relative_sigma, spread, lens, s.relative_floor]))
        if sigma > s.max_relative_sigma:
            detail = f"σ {sigma:.2f}: peak {top.relative_sigma:.2f}, halves {spread:.2f}, lens {lens:.2f}"
            return NoEstimate(reason="straight lines tell the focal length too coarsely", detail=detail, remedy=_REMEDY)
        return Peak(focal=top.focal, relative_sigma=sigma)

    def _refused(
        self, frames: Sequence[PictureLines], whole: FocalProfile, close: FocalProfile, top: Peak
    ) -> NoEstimate | None:
        s, mean = self.settings, whole.mean
        height = float(mean.max()) - np.array([mean[0], mean[-1]])
        detail = f"{height[0]:.1f} and {height[1]:.1f} above the ends of the range"
        if height.min() < s.min_height:
            reason = "straight lines do not tell the focal length"
            return NoEstimate(reason=reason, detail=detail, remedy=_REMEDY)
        rival = float(mean.max() - _rival(whole, top))
        if rival < s.min_height:
            return NoEstimate(reason="two focal lengths explain the lines", detail=f"{rival:.1f} apart", remedy=_REMEDY)
        second = np.mean([self._second_finite(f, a, top.focal) for f, a in zip(frames, _at_top(close), strict=True)])
        if second < s.finite_segments:
            detail = f"{second:.1f} segments point to a second one"
            return NoEstimate(reason="fewer than two finite vanishing points", detail=detail, remedy=_REMEDY)
        bent = [near([f.unbent(k1, top.focal) for f in frames], _at_top(close), top.focal) for k1 in s.bent_k1]
        gain = max(float(found.mean.max()) for found in bent) - float(close.mean.max())
        if gain > s.max_bent_gain:
            return NoEstimate(reason="the lens bends straight lines", detail=f"by {gain:.1f}", remedy=_REMEDY)
        return None

    def _second_finite(self, lines: PictureLines, axes: Float64[np.ndarray, "3 3"], focal: float) -> float:
        """Segments that point to the second best of the finite vanishing points."""
        _, [owned] = lines.explained(lines.off_rad(axes[None], np.array([focal])))
        finite = np.abs(axes[:, 2]) > np.cos(self.settings.finite_rad)
        return float(np.sort(np.where(finite, owned.sum(axis=0), 0.0))[1])

    def _lens(self, frames: Sequence[PictureLines], close: FocalProfile, top: Peak) -> float:
        """What the σ of the principal point, across and down, and of the distortion do to ln focal."""
        s = self.settings
        across, down = s.principal_sigma * np.eye(2)
        other = [[lines.shifted(sign * by) for lines in frames] for by in (across, down) for sign in (1, -1)] + [
            [lines.unbent(sign * s.k1_sigma, top.focal) for lines in frames] for sign in (1, -1)
        ]
        there = [near(lines, _at_top(close), top.focal) for lines in other]
        moved = np.log([peak(found.focal, found.mean).focal for found in there])
        return float(np.linalg.norm(moved[::2] - moved[1::2]) / 2)


def given_focal_refused(clip: Clip, valid: Bool[np.ndarray, "h w"] | None, sigmas: float) -> NoEstimate | None:
    """Why the user's focal length is not believed: straight lines show another one, so many σ away. None where they
    agree or show none, or where none was given."""
    given = clip.options.intrinsics
    found = None if given is None else StraightLinesExpert().focal(clip, valid)
    if given is None or not isinstance(found, Peak):
        return None
    given_px = given.scaled(clip.width_px, clip.height_px).fx_px
    found_px = found.focal * max(clip.width_px, clip.height_px)
    if abs(np.log(given_px / found_px)) <= sigmas * found.relative_sigma:
        return None
    return NoEstimate(
        reason="straight lines contradict the given focal length",
        detail=f"{given_px:.0f} px is given, lines show {found_px:.0f} ± {found.relative_sigma * found_px:.0f} px",
        remedy="check --intrinsics",
    )


def _at_top(close: FocalProfile) -> Float64[np.ndarray, "n 3 3"]:
    return np.asarray(close.axes[:, int(np.argmax(close.mean))])


def _rival(whole: FocalProfile, top: Peak) -> float:
    """Height of the best other peak."""
    mean = np.r_[-np.inf, whole.mean, -np.inf]
    peaks = (mean[1:-1] >= mean[:-2]) & (mean[1:-1] >= mean[2:])
    far = np.abs(np.log(whole.focal / top.focal)) > max(0.2, 3 * top.relative_sigma)
    return float(whole.mean[peaks & far].max(initial=-np.inf))
