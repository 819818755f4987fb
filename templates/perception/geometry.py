"""L1/Geometry/Distance: which of two marked points is closer, how many times as far, and how many metres."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Label, Numbers
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.cue import Cue, marked, photos, place
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing, Question
from templates.scene.marks import frames_with_surface, markable, spread_frames
from templates.scene.pictures import MIN_DISTANCE, Pictures
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_FRAMES = 8
_UNKNOWN = "distance of a marked point is not known"
_DISTINCT_RANGES = 0.15
"""|ln| of a ratio of ranges that is usually larger than its σ; a smaller ratio is not asked for as a number."""
_READS = SURFACE | {"image_tracks"}


@dataclass(frozen=True, kw_only=True)
class PointPairs(Facts):
    """Two points of one photo."""

    frame: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]
    b_px: Float64[np.ndarray, "n 2"]


@dataclass(frozen=True, kw_only=True)
class RangeRatio(Template):
    """Ranges of two points from the camera. Measures ln(range B / range A) and ln(depth B / depth A)."""

    name: str = "range_ratio"
    version: str = "2"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = PointPairs
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": ("1", "2")}
    cue_formats: tuple[FormatName, ...] = ("numeric",)
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = _READS
    with_bars: ClassVar[bool] = True
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointPairs:
        """Pairs of distant markable points in frames spread over the clip; every other one with distinct ranges."""
        frame, xy = markable(scene, spread_frames(frames_with_surface(scene), max(_FRAMES, count // 100)))
        frames, start, points = np.unique(frame, return_index=True, return_counts=True)
        if not len(frames):
            return PointPairs.none()
        ranges = scene.surface(frame, xy).range
        at = rng.integers(len(frames), size=16 * count)
        a, b = (start[at] + (rng.random(len(at)) * points[at]).astype(np.int64) for _ in "ab")
        apart = np.linalg.norm(xy[a] - xy[b], axis=1) >= MIN_DISTANCE * scene.diagonal_px
        distinct = np.abs(np.log(ranges[b] / ranges[a])) > _DISTINCT_RANGES
        chosen = [np.flatnonzero(apart & distinct)[: count // 2], np.flatnonzero(apart)[: count - count // 2]]
        rows = rng.permutation(np.unique(np.concatenate(chosen)))
        return PointPairs(frame=frame[a[rows]], a_px=xy[a[rows]], b_px=xy[b[rows]])

    def measure(self, facts: PointPairs, scene: Scene) -> Measured:
        """Log ratios of range and of depth along the viewing axis, with first-order σ."""
        a, b = scene.surface(facts.frame, facts.a_px), scene.surface(facts.frame, facts.b_px)
        ratio = b.range / a.range
        with np.errstate(invalid="ignore"):
            value = np.log(np.column_stack([ratio, b.xyz_cam[:, 2] / a.xyz_cam[:, 2]]))
            known = (a.xyz_cam[:, 2] > 0) & (b.xyz_cam[:, 2] > 0)
        sigma = np.hypot(a.range_relative_sigma, b.range_relative_sigma)
        return Measured(
            why=first_reason(len(facts), {_UNKNOWN: ~known}),
            value=value,
            sigma=np.column_stack([sigma, sigma]),
            outlier_probability=1 - (1 - a.outlier_probability) * (1 - b.outlier_probability),
            evidence={
                "range_ratio": ratio.round(4),
                "relative_sigma": sigma.round(4),
                "ranges": np.column_stack([a.range, b.range]).round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "the lower one in the picture": np.where(facts.a_px[:, 1] > facts.b_px[:, 1], "1", "2"),
                "divided the other way": (1 / ratio).round(2),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The closer point, if range and depth agree on it; or the ratio with a tolerance of 15 %."""
        log_ratio, sigma = measured.value, measured.sigma
        if format == "choice":
            margin, text = np.min(np.abs(log_ratio) / sigma, axis=1), np.where(log_ratio[:, 0] > 0, "1", "2")
            differ = {"the order by range differs from the order by depth": log_ratio[:, 0] * log_ratio[:, 1] <= 0}
            label = Label(text=text, margin=margin, outlier_probability=measured.outliers)
            return Answers.of(label, first_reason(len(facts), differ))
        return Answers.of(_of_logarithm(measured, "ratio", "", self.max_tolerances.range_ratio), measured.why)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """Both points; a ratio near 1 is not asked for."""
        if format == "choice":
            return super().offer(format, facts, answers, chance)
        log_ratio = np.log(answers.column(Numbers, "value", np.ones((len(facts), 1)))[:, 0])
        return Offer(why=first_reason(len(facts), {"the ratio is nearly 1": np.abs(log_ratio) < _DISTINCT_RANGES}))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two numbered marks in one photo."""
        return Phrasing(media=(Photo.marked(fact["frame"], {"1": fact["a_px"], "2": fact["b_px"]}),))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Two corners of one picture."""
        drawn = pictures.points(rng, 2)
        return drawn and {"frame": drawn[0], "a_px": drawn[1][0], "b_px": drawn[1][1]}

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The ratio."""
        if (len(photos(question)), len(marked(question))) != (1, 2):
            return None
        a, b = marked(question)
        text = f"{place(b, numbers)} is {question.answer:g} times as far from the camera as {place(a, numbers)}."
        return Cue(text=text, values=(float(question.answer),), pixels=(a, b))


@dataclass(frozen=True, kw_only=True)
class Points(Facts):
    """One point of a photo."""

    frame: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]


@dataclass(frozen=True, kw_only=True)
class RangeMetres(Template):
    """Range of one point in metres, for clips with metric scale. Measures ln(range in metres)."""

    name: str = "range_metres"
    version: str = "2"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("numeric",)
    facts: ClassVar[type[Facts]] = Points
    cue_formats: tuple[FormatName, ...] = ("numeric",)
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = _READS
    with_bars: ClassVar[bool] = True
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> Points:
        """Markable points in frames spread over the clip."""
        frame, xy = markable(scene, spread_frames(frames_with_surface(scene), max(_FRAMES, count // 50)))
        rows = rng.permutation(len(frame))[:count]
        return Points(frame=frame[rows], a_px=xy[rows])

    def measure(self, facts: Points, scene: Scene) -> Measured:
        """Log range in metres; σ includes that of the scale."""
        seen, source = scene.surface(facts.frame, facts.a_px), "" if scene.path is None else scene.path.scale.source
        sigma = np.hypot(seen.range_relative_sigma, scene.metre_relative_sigma)
        cases = {"scale is not metric": np.isnan(scene.metre_relative_sigma), _UNKNOWN: np.isnan(seen.range)}
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.log(seen.range)[:, None],
            sigma=sigma[:, None],
            outlier_probability=seen.outlier_probability,
            evidence={
                "scale": np.full(len(facts), source),
                "relative_sigma": sigma.round(4),
                "depth_m": seen.xyz_cam[:, 2].round(3),
                "off_axis_deg": np.degrees(np.arccos(seen.xyz_cam[:, 2] / seen.range)).round(1),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Numbers:
        """Metres with a tolerance of 15 %."""
        return _of_logarithm(measured, "range", "m", self.max_tolerances.range_ratio)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One mark in one photo."""
        return Phrasing(media=(Photo.marked(fact["frame"], {"P": fact["a_px"]}),))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """One corner."""
        drawn = pictures.points(rng, 1)
        return drawn and {"frame": drawn[0], "a_px": drawn[1][0]}

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The distance."""
        if (len(photos(question)), len(marked(question))) != (1, 1):
            return None
        (a,) = marked(question)
        text = f"{place(a, numbers)} is {question.answer:g} m from the camera."
        return Cue(text=text, values=(float(question.answer),), pixels=(a,))


def _of_logarithm(measured: Measured, name: str, unit: str, relative_tolerance: float) -> Numbers:
    """The numbers whose logarithm is the first component."""
    value = np.exp(measured.value[:, :1])
    return Numbers.within_share(
        name, value, value * measured.sigma[:, :1], relative_tolerance, measured.outliers, unit=unit
    )
