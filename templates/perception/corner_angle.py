"""L1/Geometry/Shape: at what angle two drawn lines meet in space."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer, Label, Numbers
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo, Segment
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed
from templates.scene.pictures import Pictures
from templates.scene.point_groups import POINTS, PlacedPoints, ThreePoints, three_points
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_AT_BORDER = "the angle is near the border of two kinds"
_MARKS = ("1", "2")
_LABELS = ("acute", "right", "obtuse")
_BORDERS_DEG = (75.0, 105.0)
"""Between the labels."""
_CLEAR_DEG = ((10.0, 60.0), (82.0, 98.0), (120.0, 170.0))
"""Angles at which each label is easy to see. Beyond them the lines nearly coincide, or form one line."""
_LEAST_IN_PHOTO_DEG = 15.0
"""Least angle between the lines in the photo, and of one to the continuation of the other."""
_PIXEL_SIGMA_PX = 1.0
"""σ of a mark's position per axis, at 640 px width."""
_LARGEST_SIGMA_DEG = 6.0
"""Of an angle with a kind: errors of ranges that turn a line farther are no small ones."""
_SECOND_ORDER = 3 / 4
"""Mean square of δ² / 2 for a normal error δ of variance 1: how a line turns as an end moves by much of its length."""


@dataclass(frozen=True, kw_only=True)
class CornerAngle(Template):
    """Two straight lines in space from a common point. Measures the angle between them in degrees, 0 to 180."""

    name: str = "corner_angle"
    version: str = "1"
    ability: str = "L1/Geometry/Shape"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = ThreePoints
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _LABELS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_AT_BORDER})
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"image_tracks"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreePoints:
        """As many angles of each kind as there are; half of them are of another kind in the photo."""
        facts = three_points(scene, rng, count)
        in_photo = _in_photo_deg(facts)
        facts = facts.take(np.abs(in_photo - 90) < 90 - _LEAST_IN_PHOTO_DEG)
        measured = self.measure(facts, scene)
        kinds, choice = _named(measured.value[:, 0]), self.answer("choice", facts, measured)
        misleading, chosen = kinds != _named(_in_photo_deg(facts)), []
        for kind in _LABELS:
            own = np.flatnonzero(kinds == kind)
            chosen.append(own[mixed(misleading[own], [choice.take(own)], -(-count // len(_LABELS)), rng)])
        return facts.take(rng.permutation(np.concatenate(chosen)))

    def measure(self, facts: ThreePoints, scene: Scene) -> Measured:
        """The angle. σ: ranges of the three points (to second order), pixels, and the focal length, whose error
        stretches all lengths across the viewing axis."""
        seen = PlacedPoints.of(facts, scene)
        places, shift = seen.xyz_cam, seen.xyz_cam * seen.range_relative_sigma[:, :, None]
        lines = places[:, 1:] - places[:, :1]
        with np.errstate(invalid="ignore", divide="ignore"):
            length = np.linalg.norm(lines, axis=2, keepdims=True)
            along = lines / length
            cos = np.clip(np.sum(along[:, 0] * along[:, 1], axis=1), -1, 1)
            angle = np.degrees(np.arccos(cos))
            across = along[:, ::-1] - cos[:, None, None] * along  # from each line towards the other
            slopes = -across / np.linalg.norm(across, axis=2, keepdims=True)
            slopes /= length  # of the angle, by the end of each line
        by_point = np.concatenate([-slopes.sum(axis=1, keepdims=True), slopes], axis=1)
        moved = np.einsum("nki,nki->nk", by_point, shift)
        aside = np.linalg.norm(by_point, axis=2) * places[:, :, 2] * _pixel_sigma_rad(scene)
        stretched = np.einsum("nki,nki->n", slopes[..., :2], lines[..., :2]) * scene.focal_relative_sigma
        large = np.linalg.norm(np.stack([shift[:, [0, 0]], shift[:, 1:]]), axis=3) / length[..., 0]
        second_order = _SECOND_ORDER * (large**4).sum(axis=(0, 2))
        sigma = np.degrees(np.sqrt((moved**2 + aside**2).sum(axis=1) + stretched**2 + second_order))
        in_photo = _in_photo_deg(facts)
        return Measured(
            why=first_reason(len(facts), {"distance of a marked point is not known": ~np.isfinite(angle + sigma)}),
            value=angle[:, None],
            sigma=sigma[:, None],
            outlier_probability=seen.outlier_probability,
            evidence={
                "angle_deg": angle.round(1),
                "angle_in_photo_deg": in_photo.round(1),
                "lengths": length[..., 0].round(3),
                "between_ends": np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1).round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "the angle in the photo": _named(in_photo),
                "the angle to the continued line": _named(180 - angle),
                "the angle at the other end of line 1": _named(_angle_deg(places[:, [1, 0, 2]])),
                "the angle at the other end of line 2": _named(_angle_deg(places[:, [2, 0, 1]])),
                "every corner taken as square": np.full(len(facts), "right"),
                "measured in the photo": in_photo.round(1),
                "measured to the continued line": (180 - angle).round(1),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The kind of the angle, or the angle with a tolerance of 10°."""
        angle, sigma = measured.value[:, 0], measured.sigma[:, 0]
        if format == "numeric":
            numbers = Numbers(
                names=("angle",),
                value=measured.value,
                sigma=measured.sigma,
                tolerance=np.full((len(angle), 1), self.max_tolerances.angle_deg),
                unit="deg",
                decimals=0,
                outlier_probability=measured.outliers,
            )
            return Answers.of(numbers, np.full(len(angle), ""))
        with np.errstate(invalid="ignore", divide="ignore"):
            is_clear = np.any([(angle >= least) & (angle <= most) for least, most in _CLEAR_DEG], axis=0)
            margin = np.min([np.abs(angle - border) for border in _BORDERS_DEG], axis=0) / sigma
        label = Label(text=_named(angle), margin=margin, outlier_probability=measured.outliers)
        cases = {
            _AT_BORDER: ~is_clear,
            "the angle is known too roughly": sigma > _LARGEST_SIGMA_DEG,
        }
        return Answers.of(label, first_reason(len(angle), cases))

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


def _named(angle_deg: Float64[np.ndarray, "n"]) -> Texts:
    return np.array(_LABELS)[np.searchsorted(_BORDERS_DEG, np.nan_to_num(angle_deg))]


def _in_photo_deg(facts: ThreePoints) -> Float64[np.ndarray, "n"]:
    return _angle_deg(facts.points_px)


def _angle_deg(points: Float64[np.ndarray, "n 3 d"]) -> Float64[np.ndarray, "n"]:
    """Angle at the first of three points."""
    a, b = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        cos = np.sum(a * b, axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    return np.degrees(np.arccos(np.clip(cos, -1, 1)))
