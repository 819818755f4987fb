"""L1/Geometry/Distance: which of two marked points is closer, how many times as far, and how many metres."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from templates.answers import Answer, Label, Numbers
from templates.cue import Cue, marked, photos, place
from templates.fact import Fact
from templates.measured import Measured, Undecided
from templates.question import FormatName, Mark, Option, Photo, Phrasing, Question
from templates.scene.marks import listed, markable, spread_frames
from templates.scene.pictures import MIN_DISTANCE, Params, Pictures
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_FRAMES = 8
_PAIRS_PER_FRAME = 4
_DISTINCT_RANGES = 0.15
"""|ln| of a ratio of ranges that is usually larger than its σ."""


@dataclass(frozen=True, kw_only=True)
class RangeRatio(Template):
    """Ranges of two points from the camera. Measures ln(range B / range A) and ln(depth B / depth A)."""

    name: str = "range_ratio"
    version: str = "1"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    cue_formats: tuple[FormatName, ...] = ("numeric",)
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "sparse_points", "depth", "tracks", "image_tracks"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Pairs of markable points in frames spread over the clip."""
        facts = []
        for frame in spread_frames(frames_with_surface(scene), _FRAMES):
            xy = markable(scene, frame)
            ranges = scene.surface(frame, xy).range
            for a, b in _distant_pairs(xy, ranges, MIN_DISTANCE * scene.diagonal_px, rng):
                params = {"frame": frame, "a": listed(xy[a]), "b": listed(xy[b])}
                facts.append(Fact(template=self.name, params=params))
        return facts

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Log ratios of range and of depth along the viewing axis, with first-order σ."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        seen = scene.surface(fact.params["frame"], np.array([fact.params["a"], fact.params["b"]], dtype=float))
        if not np.isfinite(seen.xyz_cam).all() or (seen.xyz_cam[:, 2] <= 0).any():
            return Undecided(reason="distance of a marked point is not known")
        ranges, depths = seen.range, seen.xyz_cam[:, 2]
        sigma = float(np.hypot(*seen.range_relative_sigma))
        return Measured(
            value=np.log([ranges[1] / ranges[0], depths[1] / depths[0]]),
            sigma=np.array([sigma, sigma]),
            outlier_probability=float(1 - np.prod(1 - seen.outlier_probability)),
            evidence={"range_ratio": round(float(ranges[1] / ranges[0]), 4), "relative_sigma": round(sigma, 4)},
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """The closer point, if range and depth agree on it; or the ratio with a tolerance of 15 %."""
        log_ratio, sigma = measured.value, measured.sigma
        if format == "choice":
            if log_ratio[0] * log_ratio[1] <= 0:
                return Undecided(reason="the order by range differs from the order by depth")
            margin = float(np.min(np.abs(log_ratio) / sigma))
            return Label(
                text="1" if log_ratio[0] > 0 else "2", margin=margin, outlier_probability=measured.outlier_probability
            )
        ratio = float(np.exp(log_ratio[0]))
        tolerance = np.array([np.floor(self.max_tolerances.range_ratio * ratio * 100) / 100])
        return Numbers(
            names=("ratio",),
            value=np.array([ratio]),
            sigma=np.array([ratio * sigma[0]]),
            tolerance=tolerance,
            unit="",
            decimals=2,
            outlier_probability=measured.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """Two numbered marks in one photo."""
        marks = tuple(Mark(text=str(i + 1), xy_px=tuple(fact.params[key])) for i, key in enumerate("ab"))
        media = (Photo(frame=fact.params["frame"], marks=marks),)
        if isinstance(answer, Label):
            return Phrasing(
                prompt="Which of the marked points, 1 or 2, is closer to the camera?",
                media=media,
                options=tuple(Option(shown=f"Point {mark}", value=mark) for mark in "12"),
                answer="12".index(str(answer.text)),
            )
        return Phrasing(
            prompt=(
                "How many times as far from the camera is marked point 2 as marked point 1 (distance of 2 divided "
                f"by distance of 1)? Answer with a number; {answer.tolerance_in_words()} counts as right."
            ),
            media=media,
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """Two corners of one picture."""
        drawn = pictures.points(rng, 2)
        return drawn and {"frame": drawn[0], "a": drawn[1][0], "b": drawn[1][1]}

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The ratio."""
        if (len(photos(question)), len(marked(question))) != (1, 2):
            return None
        a, b = marked(question)
        text = f"{place(b, numbers)} is {question.answer:g} times as far from the camera as {place(a, numbers)}."
        return Cue(text=text, values=(float(question.answer),), pixels=(a, b))


@dataclass(frozen=True, kw_only=True)
class RangeMetres(Template):
    """Range of one point in metres, for clips with metric scale. Measures ln(range in metres)."""

    name: str = "range_metres"
    version: str = "1"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("numeric",)
    cue_formats: tuple[FormatName, ...] = ("numeric",)
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = frozenset({"camera_path", "sparse_points", "depth", "tracks", "image_tracks"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator) -> list[Fact]:
        """Markable points in frames spread over the clip."""
        facts = []
        for frame in spread_frames(frames_with_surface(scene), _FRAMES):
            xy = markable(scene, frame)
            for row in rng.permutation(len(xy))[:2]:
                facts.append(Fact(template=self.name, params={"frame": frame, "a": listed(xy[row])}))
        return facts

    def measure(self, facts: Sequence[Fact], scene: Scene) -> list[Measured | Undecided]:
        """Log range in metres; σ includes that of the scale."""
        return [self._measure(fact, scene) for fact in facts]

    def _measure(self, fact: Fact, scene: Scene) -> Measured | Undecided:
        if scene.path is None or scene.path.scale.kind != "metric":
            return Undecided(reason="scale is not metric")
        seen = scene.surface(fact.params["frame"], np.array([fact.params["a"]], dtype=float))
        if not np.isfinite(seen.xyz_cam).all():
            return Undecided(reason="distance of a marked point is not known")
        sigma = float(np.hypot(seen.range_relative_sigma[0], scene.path.scale.relative_sigma or 0.0))
        return Measured(
            value=np.log(seen.range),
            sigma=np.array([sigma]),
            outlier_probability=float(seen.outlier_probability[0]),
            evidence={"scale": scene.path.scale.source, "relative_sigma": round(sigma, 4)},
        )

    def answer(self, format: FormatName, fact: Fact, measured: Measured) -> Answer | Undecided:
        """Metres with a tolerance of 15 %."""
        metres = float(np.exp(measured.value[0]))
        return Numbers(
            names=("range",),
            value=np.array([metres]),
            sigma=metres * measured.sigma,
            tolerance=np.array([np.floor(self.max_tolerances.range_ratio * metres * 100) / 100]),
            unit="m",
            decimals=2,
            outlier_probability=measured.outlier_probability,
        )

    def phrase(self, format: FormatName, fact: Fact, answer: Answer, rng: np.random.Generator) -> Phrasing | Undecided:
        """One mark in one photo."""
        return Phrasing(
            prompt=(
                "How far from the camera is marked point A, in metres? Answer with a number; "
                f"{answer.tolerance_in_words()} counts as right."
            ),
            media=(Photo(frame=fact.params["frame"], marks=(Mark(text="A", xy_px=tuple(fact.params["a"])),)),),
        )

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> Params | None:
        """One corner."""
        drawn = pictures.points(rng, 1)
        return drawn and {"frame": drawn[0], "a": drawn[1][0]}

    def cue(self, question: Question, numbers: Mapping[int, int]) -> Cue | None:
        """The distance."""
        if (len(photos(question)), len(marked(question))) != (1, 1):
            return None
        (a,) = marked(question)
        text = f"{place(a, numbers)} is {question.answer:g} m from the camera."
        return Cue(text=text, values=(float(question.answer),), pixels=(a,))


def frames_with_surface(scene: Scene) -> np.ndarray:
    """Registered frames with surface points."""
    if scene.path is None:
        return np.empty(0, dtype=np.int64)
    registered = scene.path.frames[scene.path.registered]
    if scene.depth is not None:
        return np.intersect1d(scene.depth.frames, registered)
    if scene.points is not None:
        return np.intersect1d(scene.points.observation_frame, registered)
    return np.empty(0, dtype=np.int64)


def _distant_pairs(
    xy: np.ndarray, ranges: np.ndarray, min_distance_px: float, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Disjoint pairs of rows at least `min_distance_px` apart: alternately two with clearly different ranges and any
    two."""
    pairs: list[tuple[int, int]] = []
    free = [int(row) for row in rng.permutation(len(xy))]
    while free and len(pairs) < _PAIRS_PER_FRAME:
        a = free.pop()
        far = [b for b in free if np.linalg.norm(xy[a] - xy[b]) >= min_distance_px]
        if far:
            distinct = [b for b in far if abs(np.log(ranges[b] / ranges[a])) > _DISTINCT_RANGES]
            b = distinct[0] if distinct and len(pairs) % 2 == 0 else far[0]  # not the extreme, which may be an outlier
            free.remove(b)
            pairs.append((a, b))
    return pairs
