"""L1/Orientation/Object Orientation: how far an object leans, and the three angles of its axes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer, Numbers
from templates.answers.answers import Answers
from templates.columns import Json, Texts
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.object_facing import OneObject, angles_of
from templates.question import FormatName, Phrasing
from templates.scene.attitude import attitude
from templates.scene.headings import Axes, axes_of
from templates.scene.misleading import misleading_first
from templates.scene.object_boxes import Number, Row, fronts_of, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

STANCES = ("upright", "tilted", "lying")
_RANGES_DEG = ((0.0, 5.0), (20.0, 70.0), (85.0, 95.0))
"""Tilts that people call so."""
_BETWEEN_DEG = (-np.inf, 12.5, 77.5, 102.5)
"""Tilts between two of them."""
_LEAST_TILT_DEG, _LARGEST_TILT_DEG = 10.0, 100.0
"""Tilts that are asked for as a number."""
_LARGEST_POLAR_RAD = np.radians(70)
"""From straight above, azimuth and rotation cannot be told apart."""
_MISLEADING = 0.4
"""Least share of tilts that differ from what the edges of the photo suggest, among those that are proposed first."""
_NOT_FOUND, _NO_AXES = "an object is not found again", "which way the object faces is not known"


@dataclass(frozen=True, kw_only=True)
class ObjectTilt(Template):
    """The angle between an object's own vertical axis and gravity's. Measures it in degrees: 0 upright, 90 lying."""

    name: str = "object_tilt"
    version: str = "1"
    ability: str = "L1/Orientation/Object Orientation"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = OneObject
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": STANCES}
    needs: frozenset[str] = frozenset({"gravity", "objects", "object_orientation"})
    reads: frozenset[str] = frozenset({"camera_path", "gravity", "objects", "object_orientation"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> OneObject:
        """Whole objects; first those that lean, and upright ones in photos that are not level, then others."""
        seen = boxed(seen_objects(scene), scene)
        tilt, against_photo, _ = _tilts(scene, axes_of(scene, seen.frame, seen.object), seen.frame)
        known, differs = np.isfinite(tilt), _nearest(tilt) != _nearest(against_photo)
        known_rows = np.flatnonzero(known)
        first = known_rows[misleading_first((differs | (tilt >= _LEAST_TILT_DEG))[known], rng, _MISLEADING)]
        others = rng.permutation(np.setdiff1d(known_rows, first))
        return OneObject(object=seen.take(np.concatenate([first, others])[:count]).refs())

    def measure(self, facts: OneObject, scene: Scene) -> Measured:
        """The tilt. σ: polar angle and rotation of the object ⊕ gravity."""
        frame, found = facts.object.frame, found_again(scene, facts.object)
        axes, (up, _) = axes_of(scene, frame, found), scene.up_cam(frame)
        tilt, against_photo, sigma = _tilts(scene, axes, frame)
        nearest = _nearest(tilt)
        border = np.array([*_BETWEEN_DEG, np.inf])
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.fmin(tilt - border[nearest], border[nearest + 1] - tilt) / sigma
        cases = {
            _NOT_FOUND: found < 0,
            "gravity is not known in this frame": ~np.isfinite(up).all(axis=1),
            _NO_AXES: ~np.isfinite(tilt) | ~np.isfinite(sigma),
            "the object is upside down": tilt > _LARGEST_TILT_DEG,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=tilt[:, None],
            sigma=sigma[:, None],
            label=_stance(tilt),
            margin=margin,
            outlier_probability=1 - (1 - outliers(scene, found)) * (1 - axes.outlier_probability),
            evidence={
                "tilt_deg": tilt.round(1),
                "tilt_sigma_deg": sigma.round(1),
                "against_photo_deg": against_photo.round(1),
                "pitch_deg": attitude(scene, frame).pitch.round(1),
                "roll_deg": attitude(scene, frame).roll.round(1),
            },
            traps={
                "against the edges of the photo": np.append(STANCES, "")[_nearest(against_photo)],
                "perspective taken for tilt": np.full(len(facts), "tilted"),
                "long side taken for the vertical one": np.where(nearest == 2, "upright", "lying"),
                "small tilt overlooked": np.full(len(facts), "upright"),
                "degrees against the edges of the photo": self._mistaken(against_photo, tilt),
                "degrees from the horizontal": self._mistaken(90 - tilt, tilt),
            },
        )

    def _mistaken(self, number: Number, right: Number) -> Number:
        """The numbers that do not count as right; NaN for others."""
        return np.where(np.abs(number - right) > self.max_tolerances.tilt_deg, number, np.nan)

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """The stance; or degrees with a tolerance of 10°, of objects that lean."""
        tilt = measured.value
        if format == "choice":
            return Answers.of(
                measured.as_label(), np.where(measured.label == "", "the tilt is between two answers", "")
            )
        numbers = Numbers(
            names=("tilt",),
            value=tilt,
            sigma=measured.sigma,
            tolerance=np.full(tilt.shape, self.max_tolerances.tilt_deg),
            unit="deg",
            decimals=0,
            outlier_probability=measured.outliers,
        )
        return Answers.of(numbers, np.where(tilt[:, 0] < _LEAST_TILT_DEG, "the object hardly leans", ""))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a box."""
        return _one_box(fact)


@dataclass(frozen=True, kw_only=True)
class ObjectAngles(Template):
    """Azimuth, polar angle and rotation of an object, relative to the ray to it, as Orient Anything defines them
    (https://arxiv.org/abs/2412.18605). Measures them in degrees."""

    name: str = "object_angles"
    version: str = "1"
    ability: str = "L1/Orientation/Object Orientation"
    formats: tuple[FormatName, ...] = ("json",)
    facts: ClassVar[type[Facts]] = OneObject
    needs: frozenset[str] = frozenset({"objects", "object_orientation"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "object_orientation"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> OneObject:
        """Random whole objects with one, two or four fronts."""
        seen = boxed(seen_objects(scene), scene)
        fronts = fronts_of(scene, seen.frame, seen.object).fronts
        return OneObject(object=seen.take(rng.permutation(np.flatnonzero(np.isin(fronts, (1, 2, 4))))[:count]).refs())

    def measure(self, facts: OneObject, scene: Scene) -> Measured:
        """The angles, and as a fourth component the number of fronts; σ is that of the signal."""
        found = found_again(scene, facts.object)
        angles, axes = angles_of(scene, facts.object.frame, found), axes_of(scene, facts.object.frame, found)
        sigma = axes.sigma_rad
        cases = {
            _NOT_FOUND: found < 0,
            _NO_AXES: ~np.isfinite(angles).all(axis=1) | ~np.isfinite(sigma).all(axis=1),
            "the object has no front": ~np.isin(axes.fronts, (1, 2, 4)),
            "the object is seen from straight above or below": np.abs(angles[:, 1]) > _LARGEST_POLAR_RAD,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.column_stack([np.degrees(angles), axes.fronts]),
            sigma=np.column_stack([np.degrees(sigma), np.zeros(len(facts))]),
            outlier_probability=1 - (1 - outliers(scene, found)) * (1 - axes.outlier_probability),
            evidence={
                "fronts": axes.fronts,
                "azimuth_against_the_viewing_axis_deg": _against_axis_deg(scene, facts.object.frame, found).round(1),
            },
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Numbers:
        """The angles with tolerances of 20°, 15° and 15°; the azimuth repeats as often as there are fronts."""
        period = np.full((len(facts), 3), 360.0)
        period[:, 0] /= np.maximum(measured.value[:, 3], 1)
        limits = (self.max_tolerances.azimuth_deg, *[self.max_tolerances.polar_deg] * 2)
        return Numbers(
            names=("azimuth", "polar", "rotation"),
            value=np.column_stack([measured.value[:, 0] % period[:, 0], measured.value[:, 1:3]]),
            sigma=measured.sigma[:, :3],
            tolerance=np.tile(limits, (len(facts), 1)),
            unit="deg",
            period=period,
            decimals=0,
            outlier_probability=measured.outliers,
        )

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a box."""
        return _one_box(fact)


def _one_box(fact: Mapping[str, Json]) -> Phrasing:
    of = fact["object"]
    return Phrasing(media=(Photo.boxed({"1": of}),), values={"name": of["name"]})


def _tilts(scene: Scene, axes: Axes, frame: Row) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tilt against gravity, tilt against a camera that is taken for level, and σ of the first, all in degrees."""
    up, up_sigma = scene.up_cam(frame)
    level = np.tile([0.0, -1.0, 0.0], (len(frame), 1))
    sigma = np.hypot(axes.sigma_rad[:, 1:].max(axis=1), up_sigma)
    return _angle_deg(axes.top_cam, up), _angle_deg(axes.top_cam, level), np.degrees(sigma)


def _angle_deg(a: Float64[np.ndarray, "n 3"], b: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n"]:
    return np.asarray(np.degrees(2 * np.arctan2(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1))))


def _stance(tilt_deg: Float64[np.ndarray, "n"]) -> Texts:
    """What people call a tilt; "" between two words."""
    within = [(tilt_deg >= low) & (tilt_deg <= high) for low, high in _RANGES_DEG]
    return np.select(within, STANCES, "")


def _nearest(tilt_deg: Float64[np.ndarray, "n"]) -> Row:
    """Index of the nearest of `STANCES`; their number for objects that are upside down."""
    return np.searchsorted(_BETWEEN_DEG, np.nan_to_num(tilt_deg)) - 1


def _against_axis_deg(scene: Scene, frame: Row, object: Row) -> Float64[np.ndarray, "n"]:
    """The azimuth if the object lay on the viewing axis: a typical mistake."""
    axes = axes_of(scene, frame, object)
    left = np.cross(axes.top_cam, axes.front_cam)
    return np.degrees(np.arctan2(-left[:, 2], -axes.front_cam[:, 2])) % 360
