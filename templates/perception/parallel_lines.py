"""L1/Geometry/Shape: whether two drawn lines are parallel or perpendicular in space."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Label
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo, Segment
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import misleading_first
from templates.scene.scene import SURFACE, Scene
from templates.scene.segments import Segments, angle_deg, directions, possible_segments
from templates.template import Template

_AT_BORDER = "the angle is near the border of two kinds"
_MARKS = ("1", "2")
_LABELS = ("parallel", "neither", "perpendicular")
_BORDERS_DEG = (15.0, 75.0)
"""Smaller angles count as parallel, larger ones as perpendicular."""
_CLEAR_DEG = ((0.0, 5.0), (25.0, 65.0), (85.0, 90.0))
"""Angles at which each label is easy to see."""
_LARGEST_SIGMA_RAD = np.radians(3.5)
"""Of the directions of lines that are proposed."""
_APART = 0.06
"""Least distance between the ends of the two lines, as a share of the diagonal."""
_PAIRS = 4000
"""Most pairs of lines of one photo among which facts are chosen."""


@dataclass(frozen=True, kw_only=True)
class TwoLines(Facts):
    """Two lines in one photo."""

    frame: Int64[np.ndarray, "n"]
    first_px: Float64[np.ndarray, "n 2 2"]
    second_px: Float64[np.ndarray, "n 2 2"]


@dataclass(frozen=True, kw_only=True)
class ParallelLines(Template):
    """Two lines along edges of objects, or between points of the scene. Measures the angle between them in space, in
    degrees."""

    name: str = "parallel_lines"
    version: str = "1"
    ability: str = "L1/Geometry/Shape"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = TwoLines
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _LABELS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_AT_BORDER})
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TwoLines:
        """As many parallel as perpendicular and other lines; half of each kind look different in the photo."""
        lines = possible_segments(scene, rng, count)
        found = directions(scene, lines)
        sure = (found.sigma_rad < _LARGEST_SIGMA_RAD) & ~found.leaves_surface
        lines, found = lines.take(sure), found.take(sure)
        pairs = _pairs(lines, _APART * scene.diagonal_px, rng)
        first, second = lines.take(pairs[:, 0]), lines.take(pairs[:, 1])
        angle = angle_deg(found.take(pairs[:, 0]), found.take(pairs[:, 1]))
        misled = _named(angle) != _named(_in_photo_deg(first.ends_px, second.ends_px))
        chosen = []
        for least, most in _CLEAR_DEG:
            kind = np.flatnonzero((angle >= least) & (angle <= most))
            chosen.append(kind[misleading_first(misled[kind], rng, 0.5)][: -(-count // len(_CLEAR_DEG))])
        rows = rng.permutation(np.concatenate(chosen))
        return TwoLines(frame=first.frame[rows], first_px=first.ends_px[rows], second_px=second.ends_px[rows])

    def measure(self, facts: TwoLines, scene: Scene) -> Measured:
        """The angle. σ: directions of both lines; the focal length, whose error keeps parallel lines parallel."""
        first, second = (
            directions(scene, Segments(frame=facts.frame, ends_px=ends)) for ends in (facts.first_px, facts.second_px)
        )
        angle = angle_deg(first, second)
        stretched = scene.focal_relative_sigma * np.sin(np.radians(angle))
        sigma = np.degrees(np.sqrt(first.sigma_rad**2 + second.sigma_rad**2 + stretched**2))
        in_photo = _in_photo_deg(facts.first_px, facts.second_px)
        is_clear = np.any([(angle >= least) & (angle <= most) for least, most in _CLEAR_DEG], axis=0)
        cases = {
            "distance of a marked point is not known": ~np.isfinite(angle + sigma),
            "a line leaves the surface": first.leaves_surface | second.leaves_surface,
            _AT_BORDER: ~is_clear,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=angle[:, None],
            sigma=sigma[:, None],
            label=_named(angle),
            margin=np.min([np.abs(angle - border) for border in _BORDERS_DEG], axis=0) / sigma,
            outlier_probability=1 - (1 - first.outlier_probability) * (1 - second.outlier_probability),
            evidence={"angle_deg": angle.round(1), "angle_in_photo_deg": in_photo.round(1)},
            traps={
                "the angle in the photo": _named(in_photo),
                "perspective taken for a slant": np.full(len(facts), "neither"),
                "lines taken for opposite edges of a box": np.full(len(facts), "parallel"),
                "lines taken for edges of a corner": np.full(len(facts), "perpendicular"),
                "parallel in the photo": np.where(in_photo < _BORDERS_DEG[0], "yes", "no"),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer | Answers:
        """The kind of angle, or whether it is parallel."""
        label = measured.as_label()
        if format == "choice":
            return label
        angle, sigma = measured.value[:, 0], measured.sigma[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.abs(angle - _BORDERS_DEG[0]) / sigma
        text = np.where(angle < _BORDERS_DEG[0], "yes", "no")
        return Label(text=text, margin=margin, outlier_probability=measured.outliers)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two lines."""
        ends = [tuple(map(tuple, fact[name])) for name in ("first_px", "second_px")]
        marks = tuple(Segment(text=text, points_px=line) for text, line in zip(_MARKS, ends, strict=True))
        return Phrasing(media=(Photo(frame=fact["frame"], marks=marks),))


def _named(angle_deg: Float64[np.ndarray, "n"]) -> Texts:
    return np.array(_LABELS)[np.searchsorted(_BORDERS_DEG, np.nan_to_num(angle_deg))]


def _in_photo_deg(first_px: Float64[np.ndarray, "n 2 2"], second_px: Float64[np.ndarray, "n 2 2"]) -> np.ndarray:
    """Angle between the lines in the photo, 0 to 90."""
    a, b = (ends[:, 1] - ends[:, 0] for ends in (first_px, second_px))
    cross = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return np.degrees(np.arctan2(np.abs(cross), np.abs(np.sum(a * b, axis=1))))


def _pairs(lines: Segments, least_px: float, rng: np.random.Generator) -> Int64[np.ndarray, "n 2"]:
    """Pairs of lines of one photo whose ends are apart and that do not cross."""
    found = [np.empty((0, 2), dtype=np.int64)]
    for frame in np.unique(lines.frame):
        rows = rng.permutation(np.flatnonzero(lines.frame == frame))
        a, b = np.triu_indices(len(rows), 1)
        chosen = rng.permutation(len(a))[:_PAIRS]
        pairs = np.column_stack([rows[a[chosen]], rows[b[chosen]]])
        first, second = lines.ends_px[pairs[:, 0]], lines.ends_px[pairs[:, 1]]
        gap = np.linalg.norm(first[:, :, None] - second[:, None], axis=3).min(axis=(1, 2))
        found.append(pairs[(gap >= least_px) & ~_cross(first, second)])
    return np.concatenate(found)


def _cross(first: Float64[np.ndarray, "n 2 2"], second: Float64[np.ndarray, "n 2 2"]) -> np.ndarray:
    """Whether each line has the ends of the other on different sides."""
    return np.all([_side(a, b[:, 0]) * _side(a, b[:, 1]) < 0 for a, b in ((first, second), (second, first))], axis=0)


def _side(line: Float64[np.ndarray, "n 2 2"], point: Float64[np.ndarray, "n 2"]) -> np.ndarray:
    along, away = line[:, 1] - line[:, 0], point - line[:, 0]
    return along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]
