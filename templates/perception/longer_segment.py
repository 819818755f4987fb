"""L1/Geometry/Size: which of two drawn lines is longer in space, and how many times as long."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo, Segment
from templates.offer import Offer
from templates.perception.larger_or_ratio import larger_or_ratio
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed
from templates.scene.pictures import Pictures
from templates.scene.point_groups import POINTS, PlacedPoints, ThreePoints, three_points
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_MARKS = ("1", "2")
_EQUAL = "two lines are about equally long"
_VISIBLE = 0.2
"""Least |ln| of a ratio of lengths that people can see."""
_LEAST_ANGLE_RAD = np.radians(20)
"""Between the two lines in the picture, so that neither covers the other."""
_SECOND_ORDER = 3 / 4
"""Mean square of δ² / 2 for a normal error δ of variance 1: how a line grows as an end moves across it."""
_PIXEL_SIGMA_PX = 1.0
"""σ of a mark's position per axis, at 640 px width: measured surface points lie up to 1.5 px from it."""


@dataclass(frozen=True, kw_only=True)
class LongerSegment(Template):
    """Two straight lines in space from a common point. Measures ln(length 2 / length 1)."""

    name: str = "longer_segment"
    version: str = "1"
    ability: str = "L1/Geometry/Size"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = ThreePoints
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_EQUAL})
    needs: frozenset[str] = frozenset({"camera_path"})
    with_bars: ClassVar[bool] = True
    reads: frozenset[str] = SURFACE | {"image_tracks"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreePoints:
        """Lines of visibly different lengths; half of the pairs have the other order in the picture."""
        facts = three_points(scene, rng, count)
        facts = facts.take(_angle_rad(facts) > _LEAST_ANGLE_RAD)
        measured = self.measure(facts, scene)
        misleading = measured.value[:, 0] * _in_picture(facts) < 0
        return facts.take(mixed(misleading, [self.answer("choice", facts, measured)], count, rng))

    def measure(self, facts: ThreePoints, scene: Scene) -> Measured:
        """Log ratio of the lengths. σ: ranges of the three points (to second order: a line across the view grows with
        any error), pixels, and the focal length, whose error stretches all lengths across the viewing axis."""
        seen = PlacedPoints.of(facts, scene)
        places, shift = seen.xyz_cam, seen.xyz_cam * seen.range_relative_sigma[:, :, None]
        lines = places[:, 1:] - places[:, :1]
        length = np.linalg.norm(lines, axis=2)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.log(length[:, 1] / length[:, 0])
            slopes = lines / length[:, :, None] ** 2  # of ln(length), by its end
            shifts = np.linalg.norm(np.stack([shift[:, [0, 0]], shift[:, 1:]]), axis=3) / length
        by_point = np.stack([slopes[:, 0] - slopes[:, 1], -slopes[:, 0], slopes[:, 1]], axis=1)
        along = np.einsum("nki,nki->nk", by_point, shift)
        across = np.linalg.norm(by_point, axis=2) * places[:, :, 2] * _pixel_sigma_rad(scene)
        stretched = np.einsum("nki,nki->nk", slopes[..., :2], lines[..., :2])
        sigma = np.sqrt(
            (along**2 + across**2).sum(axis=1)
            + (np.diff(stretched, axis=1)[:, 0] * scene.focal_relative_sigma) ** 2
            + _SECOND_ORDER * (shifts**4).sum(axis=(0, 2))
        )
        ratio_px = _in_picture(facts)
        return Measured(
            why=first_reason(len(facts), {"distance of a marked point is not known": ~np.isfinite(value + sigma)}),
            value=value[:, None],
            sigma=sigma[:, None],
            outlier_probability=seen.outlier_probability,
            evidence={
                "length_ratio": np.exp(value).round(4),
                "relative_sigma": sigma.round(4),
                "lengths": length.round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "longer in the picture": np.where(ratio_px > 0, "2", "1"),
                "measured in the picture": np.exp(ratio_px).round(2),
                "divided the other way": np.exp(-value).round(2),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The longer line, or the ratio with a tolerance of 15 %."""
        equal = np.abs(measured.value[:, 0]) < _VISIBLE
        why = first_reason(len(facts), {_EQUAL: equal})
        return Answers.of(larger_or_ratio(format, measured, self.max_tolerances.size_ratio), why)

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with two lines."""
        start, *ends = [tuple(xy) for xy in fact["points_px"]]
        marks = tuple(Segment(text=text, points_px=(start, end)) for text, end in zip(_MARKS, ends, strict=True))
        return Phrasing(media=(Photo(frame=fact["frame"], marks=marks),))

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Three corners of one picture."""
        drawn = pictures.points(rng, POINTS)
        return drawn and {"frame": drawn[0], "points_px": drawn[1]}


def _pixel_sigma_rad(scene: Scene) -> float:
    return np.nan if scene.path is None else _PIXEL_SIGMA_PX * scene.pixel_scale / scene.path.intrinsics.fx_px


def _in_picture(facts: ThreePoints) -> Float64[np.ndarray, "n"]:
    """Log ratio of the lengths in the picture."""
    length = np.linalg.norm(facts.points_px[:, 1:] - facts.points_px[:, :1], axis=2)
    return np.log(length[:, 1] / length[:, 0])


def _angle_rad(facts: ThreePoints) -> Float64[np.ndarray, "n"]:
    """Between the lines in the picture."""
    first, second = (facts.points_px[:, 1:] - facts.points_px[:, :1]).swapaxes(0, 1)
    return np.abs(np.arctan2(first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0], (first * second).sum(axis=1)))
