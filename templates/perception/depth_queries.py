"""L1/Geometry/Distance: the order of three points, the depth at a named pixel, the distances of three points."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Label, Numbers
from templates.answers.answers import Answers
from templates.answers.order import numbers_in_order, order_labels
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason, margin_of_all
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.misleading import mixed, taking_turns
from templates.scene.named_pixels import name_of, pixel_of
from templates.scene.pictures import Pictures
from templates.scene.point_groups import POINTS, PlacedPoints, ThreePoints, clear_pixels, three_points
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_STEPS = np.array([(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y])
_READS = SURFACE | {"image_tracks"}
_NOT_METRIC = "scale is not metric"
_UNKNOWN = "distance of a marked point is not known"
_MARKS = tuple(str(number + 1) for number in range(POINTS))
_LETTERS = ("P", "Q", "R")
"""Marks where each point has a number of its own."""
_TRIED = 4
"""Pixels tried for each that is named."""
_EQUAL = "two points are about equally far"
_VISIBLE = 0.15
"""Least |ln| of the ratio of two distances that people can see."""


@dataclass(frozen=True, kw_only=True)
class _AboutThreePoints(Template):
    version: str = "1"
    ability: str = "L1/Geometry/Distance"
    facts: ClassVar[type[Facts]] = ThreePoints
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = _READS
    with_bars: ClassVar[bool] = True

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Three numbered marks in one photo."""
        marks = dict(zip(_MARKS, fact["points_px"], strict=True))
        written = numbers_in_order(answer.to_json().answer) if format == "order" else None
        return Phrasing(media=(Photo.marked(fact["frame"], marks),), answer=written)

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """Three corners of one picture."""
        drawn = pictures.points(rng, POINTS)
        return drawn and {"frame": drawn[0], "points_px": drawn[1]}


@dataclass(frozen=True, kw_only=True)
class DepthOrder(_AboutThreePoints):
    """Three points by their distance from the camera, and the closest one.

    Measures ln(range) of each, then ln(depth) of each, both relative to the mean of the three.
    """

    name: str = "depth_order"
    formats: tuple[FormatName, ...] = ("order", "choice")
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    not_worth_asking: ClassVar[frozenset[str]] = frozenset({_EQUAL})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreePoints:
        """Points at distinct distances; in half of the groups the lowest one in the picture is not the closest."""
        facts = three_points(scene, rng, count)
        measured = self.measure(facts, scene)
        misleading = measured.value[:, :POINTS].argmin(axis=1) != _from_below(facts)[:, 0]
        answers = [self.answer(format, facts, measured) for format in self.formats]
        return facts.take(mixed(misleading, answers, count, rng))

    def measure(self, facts: ThreePoints, scene: Scene) -> Measured:
        """Logarithms of range and depth; σ that of each range."""
        placed, from_below = PlacedPoints.of(facts, scene), _from_below(facts)
        ranges, depths, sigma = placed.log_range, placed.log_depth, placed.range_relative_sigma
        return Measured(
            why=first_reason(len(facts), {_UNKNOWN: ~np.isfinite(ranges + depths).all(axis=1)}),
            value=np.column_stack([each - each.mean(axis=1, keepdims=True) for each in (ranges, depths)]),
            sigma=np.column_stack([sigma, sigma]),
            outlier_probability=placed.outlier_probability,
            evidence={
                "relative_sigma": sigma.max(axis=1).round(4),
                "ranges": np.exp(ranges).round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "the lowest one in the picture": np.array(_MARKS)[from_below[:, 0]],
                "lower in the picture": order_labels(from_below + 1),
                "reversed": order_labels(ranges.argsort(axis=1)[:, ::-1] + 1),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The order, or the closest point; both hold for distances in a straight line and along the viewing axis."""
        ranges, depths = measured.value[:, :POINTS], measured.value[:, POINTS:]
        order = ranges.argsort(axis=1)
        steps = np.minimum(*(np.diff(np.take_along_axis(each, order, axis=1), axis=1) for each in (ranges, depths)))
        sigma = np.take_along_axis(measured.sigma[:, :POINTS], order, axis=1)
        if format == "order":
            text, spread = order_labels(order + 1), np.hypot(sigma[:, 1:], sigma[:, :-1])
        else:
            text, spread = np.array(_MARKS)[order[:, 0]], np.hypot(sigma[:, 1:], sigma[:, :1])
            steps = np.cumsum(steps, axis=1)
        cases = {
            "the order by range differs from the order by depth": (steps <= 0).any(axis=1),
            _EQUAL: (steps < _VISIBLE).any(axis=1),
        }
        label = Label(text=text, margin=margin_of_all(steps, spread), outlier_probability=measured.outliers)
        return Answers.of(label, first_reason(len(facts), cases))


@dataclass(frozen=True, kw_only=True)
class DepthsAtOnce(_AboutThreePoints):
    """Distances of three points in metres, for clips with metric scale. Measures ln(range in metres) of each."""

    name: str = "depths_at_once"
    formats: tuple[FormatName, ...] = ("json",)
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ThreePoints:
        """Points whose ranges are not all about equal."""
        facts = three_points(scene, rng, count)
        differ = np.ptp(PlacedPoints.of(facts, scene).log_range, axis=1) > 2 * _VISIBLE
        return facts.take(rng.permutation(np.flatnonzero(differ))[:count])

    def measure(self, facts: ThreePoints, scene: Scene) -> Measured:
        """Logarithms of the ranges; σ includes that of the scale."""
        placed, metre = PlacedPoints.of(facts, scene), scene.metre_relative_sigma
        sigma, known = np.hypot(placed.range_relative_sigma, metre), np.isfinite(placed.log_range).all(axis=1)
        return Measured(
            why=first_reason(len(facts), {_NOT_METRIC: np.isnan(metre), _UNKNOWN: ~known}),
            value=placed.log_range,
            sigma=sigma,
            outlier_probability=placed.outlier_probability,
            evidence={
                "relative_sigma": sigma.max(axis=1).round(4),
                "depths_m": np.exp(placed.log_depth).round(3),
                "off_axis_deg": np.degrees(np.arccos(np.exp(np.minimum(placed.log_depth - placed.log_range, 0)))).round(
                    1
                ),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Numbers:
        """Metres of each point, each with a tolerance of 15 %."""
        metres = np.exp(measured.value)
        return Numbers(
            names=_LETTERS,
            value=metres,
            sigma=metres * measured.sigma,
            tolerance=np.floor(self.max_tolerances.range_ratio * metres * 100) / 100,
            unit="m",
            decimals=2,
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Three marks with the names of the numbers."""
        return Phrasing(media=(Photo.marked(fact["frame"], dict(zip(_LETTERS, fact["points_px"], strict=True))),))


@dataclass(frozen=True, kw_only=True)
class NamedPixels(Facts):
    """A pixel of a photo that shows no mark."""

    frame: Int64[np.ndarray, "n"]
    a_px: Float64[np.ndarray, "n 2"]
    size: Int64[np.ndarray, "n 2"]
    """Width and height of the photo."""


@dataclass(frozen=True, kw_only=True)
class DepthAt(Template):
    """Depth along the viewing axis at a pixel that two numbers from 0 to 1000 name, for clips with metric scale.
    Measures ln(depth in millimetres)."""

    name: str = "depth_at"
    version: str = "1"
    ability: str = "L1/Geometry/Distance"
    formats: tuple[FormatName, ...] = ("numeric",)
    facts: ClassVar[type[Facts]] = NamedPixels
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = _READS
    with_bars: ClassVar[bool] = True
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedPixels:
        """Markable pixels that two whole numbers name, away from other surfaces; of any height, near and far alike."""
        frame, xy = clear_pixels(scene, rng, _TRIED * count)
        rows = rng.permutation(len(frame))
        rows = rows[_near_and_far(scene.surface(frame[rows], xy[rows]).range, xy[rows, 1])][:count]
        size = np.tile([scene.clip.width_px, scene.clip.height_px], (len(rows), 1))
        return NamedPixels(frame=frame[rows], a_px=pixel_of(name_of(xy[rows], size), size), size=size)

    def measure(self, facts: NamedPixels, scene: Scene) -> Measured:
        """Log depth; σ includes that of the scale, and what half a step of the named numbers changes."""
        seen, name, metre = scene.surface(facts.frame, facts.a_px), name_of(facts.a_px, facts.size), 1000.0
        around = pixel_of((name[:, None] + _STEPS).reshape(-1, 2), facts.size.repeat(len(_STEPS), axis=0))
        exchanged = pixel_of(name[:, ::-1], facts.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            depth = np.log(seen.xyz_cam[:, 2] * metre)
            beside = np.log(scene.surface(facts.frame.repeat(len(_STEPS)), around).xyz_cam[:, 2] * metre)
            step = np.nan_to_num(np.abs(beside.reshape(-1, len(_STEPS)) - depth[:, None])).max(axis=1, initial=0.0)
        sigma = np.sqrt(seen.range_relative_sigma**2 + scene.metre_relative_sigma**2 + (step / 2) ** 2)
        cases = {
            _NOT_METRIC: np.isnan(scene.metre_relative_sigma),
            "depth at the pixel is not known": ~np.isfinite(depth),
            "depth changes between neighbouring pixels": step > self.max_tolerances.range_ratio / 3,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=depth[:, None],
            sigma=sigma[:, None],
            outlier_probability=seen.outlier_probability,
            evidence={
                "relative_sigma": sigma.round(4),
                "range_m": seen.range.round(3),
                "off_axis_deg": np.degrees(np.arccos(seen.xyz_cam[:, 2] / seen.range)).round(1),
            },
            traps={
                "distance in a straight line": (seen.range * metre).round(),
                "x and y exchanged": (scene.surface(facts.frame, exchanged).xyz_cam[:, 2] * metre).round(),
                "centimetres": np.exp(depth).round() / 10,
                "metres": np.exp(depth).round() / 1000,
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Numbers:
        """Whole millimetres with a tolerance of 15 %."""
        depth, share = np.exp(measured.value), self.max_tolerances.range_ratio
        return Numbers.within_share(
            "depth", depth, depth * measured.sigma, share, measured.outliers, unit="mm", decimals=0
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo without marks, and the two numbers."""
        x, y = name_of(np.array(fact["a_px"]), np.array(fact["size"])).tolist()
        return Phrasing(media=(Photo(frame=fact["frame"]),), values={"x": x, "y": y})

    def draw(self, pictures: Pictures, rng: np.random.Generator) -> dict[str, Json] | None:
        """One corner."""
        drawn, size = pictures.points(rng, 1), [pictures.clip.width_px, pictures.clip.height_px]
        return drawn and {"frame": drawn[0], "a_px": drawn[1][0], "size": size}


def _near_and_far(range: Float64[np.ndarray, "n"], y_px: Float64[np.ndarray, "n"]) -> Int64[np.ndarray, "n"]:
    """Rows in an order in which thirds of ranges and of heights in the picture take turns: the two numbers in the
    prompt do not tell the depth."""
    thirds = [np.searchsorted(np.nanquantile(each, [1 / 3, 2 / 3]), each) for each in (range, y_px) if len(each)]
    return taking_turns(np.char.mod("%d", 3 * thirds[0] + thirds[1])) if thirds else np.arange(0)


def _from_below(facts: ThreePoints) -> Int64[np.ndarray, "n 3"]:
    """The points from the lowest to the highest one in the picture."""
    return (-facts.points_px[:, :, 1]).argsort(axis=1)
