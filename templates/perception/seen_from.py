"""L1/Relation/Relative Direction: where something that photo 2 shows was, seen from photo 1, which does not show it."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Box, Photo, PhotoMark
from templates.offer import Offer
from templates.perception.eight_directions import bearings, in_all_directions, offered_directions
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import Elsewhere, any_moves, cone_rad, elsewhere, on_mover
from templates.scene.intervals import places
from templates.scene.marks import markable
from templates.scene.object_boxes import boxes_of, corners_cam, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import SURFACE, Scene
from templates.scene.shared_view import partners
from templates.settings import MaxTolerances
from templates.template import Template

_PLACES = 14
_TRIED = 8
"""Points tried for each fact that is proposed, ..."""
_TRIED_OBJECTS = 600
"""... and views of objects that are tried at all."""
_MAX_ELEVATION_RAD = np.radians(35)
"""Largest elevation of something whose horizontal direction is asked for."""
_OUTSIDE_RAD = np.radians(4)
"""Least angle between something and the cone that holds all of photo 1, ..."""
_OUTSIDE_SIGMAS = 3.0
"""... and in σ."""
_MAX_HALF_WIDTH_RAD = np.radians(20)
"""Largest angle between the middle of an object and its corners: a broader one lies in several directions."""


@dataclass(frozen=True, kw_only=True)
class PointsElsewhere(Facts):
    """A point of a photo, and another photo, which does not show it."""

    frame: Int64[np.ndarray, "n"]
    point_px: Float64[np.ndarray, "n 2"]
    frame_seen_from: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class ObjectsElsewhere(Facts):
    """An object of a photo, and another photo, which does not show it."""

    object: ObjectRefs
    frame_seen_from: Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class _SeenFrom(Template):
    """Measures the azimuth in radians, clockwise from ahead as seen from above."""

    ability: str = "L1/Relation/Relative Direction"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    @abstractmethod
    def _shown(self, fact: Mapping[str, Json]) -> tuple[int, PhotoMark, dict[str, str]]:
        """The frame of photo 2, its mark, and what fills the placeholders."""

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """Azimuth in degrees with a tolerance of 15°, or one of eight directions."""
        azimuth, sigma = np.degrees(measured.value[:, 0]), np.degrees(measured.sigma[:, 0])
        return bearings(format, azimuth, sigma, measured.outliers, self.max_tolerances.direction_deg)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """Four directions a quarter turn apart."""
        return offered_directions(answers) if format == "choice" else None

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Photo 1 without marks, and photo 2 with one."""
        frame, mark, values = self._shown(fact)
        media = (Photo(frame=fact["frame_seen_from"]), Photo(frame=frame, marks=(mark,)))
        return Phrasing(media=media, values=values)


@dataclass(frozen=True, kw_only=True)
class PointFromPhoto(_SeenFrom):
    """Where a point marked in photo 2 is, seen from photo 1."""

    name: str = "point_from_photo"
    version: str = "1"
    facts: ClassVar[type[Facts]] = PointsElsewhere
    needs: frozenset[str] = frozenset({"camera_path"})
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> PointsElsewhere:
        """Random markable points, in all directions alike, each with a photo that shares part of its view with that of
        the point but not the point."""
        frames = places(scene, _PLACES)
        frame, xy = markable(scene, frames.tolist())
        drawn = rng.integers(max(1, len(frame)), size=_TRIED * min(count, len(frame)))
        frame, xy = frame[drawn], xy[drawn]
        facts = PointsElsewhere(frame=frame, point_px=xy, frame_seen_from=partners(scene, frames, frame, rng))
        return facts.take(in_all_directions(self.measure(facts, scene))[:count])

    def measure(self, facts: PointsElsewhere, scene: Scene) -> Measured:
        """σ from the point's range, and the poses of both photos."""
        surface, zero = scene.surface(facts.frame, facts.point_px), np.zeros(len(facts))
        there = facts.frame_seen_from
        range_sigma = surface.range * surface.range_relative_sigma
        seen = elsewhere(scene, facts.frame, there, surface.xyz_cam, zero, range_sigma, level=False)
        cases = {"the point moves": on_mover(scene, facts.frame, facts.point_px)}
        return _measured(
            scene, seen, facts.frame, there, surface.xyz_cam, surface.outlier_probability, cases, level=False
        )

    def _shown(self, fact: Mapping[str, Json]) -> tuple[int, PhotoMark, dict[str, str]]:
        (mark,) = Photo.marked(fact["frame"], {"P": fact["point_px"]}).marks
        return fact["frame"], mark, {}


@dataclass(frozen=True, kw_only=True)
class ObjectFromPhoto(_SeenFrom):
    """Where an object that a box marks in photo 2 is, seen from photo 1: the middle of its oriented box."""

    name: str = "object_from_photo"
    version: str = "2"
    facts: ClassVar[type[Facts]] = ObjectsElsewhere
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ObjectsElsewhere:
        """Random whole objects, in all directions alike, each with a photo as for points."""
        seen = boxed(seen_objects(scene), scene)
        seen = seen.take(rng.integers(len(seen), size=_TRIED_OBJECTS)) if len(seen) else seen
        frames = np.union1d(places(scene, _PLACES), seen.frame)
        facts = ObjectsElsewhere(object=seen.refs(), frame_seen_from=partners(scene, frames, seen.frame, rng))
        return facts.take(in_all_directions(self.measure(facts, scene))[:count])

    def measure(self, facts: ObjectsElsewhere, scene: Scene) -> Measured:
        """σ from that of the box, and the poses of both photos. All corners must lie outside photo 1."""
        frame, found = facts.object.frame, found_again(scene, facts.object)
        corners, corner_sigma = corners_cam(scene, frame, found)
        middle, sigma = corners.mean(axis=1), np.where(np.isnan(corner_sigma), np.nan, boxes_of(scene, frame, found)[3])
        zero, there = np.zeros(len(facts)), facts.frame_seen_from
        seen = elsewhere(scene, frame, there, middle, sigma, zero, level=True)
        each = [
            elsewhere(scene, frame, there, corner, corner_sigma, zero, level=True) for corner in corners.swapaxes(0, 1)
        ]
        width = _half_width_rad(scene, frame, there, middle, corners)
        cases = {
            "the object is not found again": found < 0,
            "the object moves": any_moves(scene, found),
            "photo 1 may show part of it": ~np.all([_is_outside(scene, one) for one in each], axis=0),
            "the object lies in several directions": ~(width <= _MAX_HALF_WIDTH_RAD),
        }
        return _measured(scene, seen, frame, there, middle, outliers(scene, found), cases, level=True)

    def _shown(self, fact: Mapping[str, Json]) -> tuple[int, PhotoMark, dict[str, str]]:
        box = tuple(map(tuple, fact["object"]["box_px"]))
        return fact["object"]["frame"], Box(points_px=box), {"name": fact["object"]["name"]}


def _measured(
    scene: Scene,
    seen: Elsewhere,
    frame: Int64[np.ndarray, "n"],
    seen_from: Int64[np.ndarray, "n"],
    xyz_cam: Float64[np.ndarray, "n 3"],
    outlier_probability: Float64[np.ndarray, "n"],
    cases: Mapping[str, Bool[np.ndarray, "n"]],
    *,
    level: bool,
) -> Measured:
    """The azimuths, refused by `cases` and where the direction is unclear; and what mistakes give instead."""
    zero, here = np.zeros(len(frame)), np.full_like(xyz_cam, 1e-9)
    own = elsewhere(scene, frame, frame, xyz_cam, zero, zero, level=level).azimuth_rad
    camera = elsewhere(scene, frame, seen_from, here, zero, zero, level=level).azimuth_rad
    degrees = np.degrees(seen.azimuth_rad)
    every_case = {
        "the place, or up in photo 1, is not known": ~np.isfinite(seen.azimuth_rad + seen.sigma_rad),
        **cases,
        "photo 1 may show it": ~_is_outside(scene, seen),
        "it lies too far above or below the camera": ~(np.abs(seen.elevation_rad) <= _MAX_ELEVATION_RAD),
    }
    traps = {"mirrored": -degrees, "opposite": degrees + 180, "seen from photo 2": np.degrees(own)}
    traps["direction of the camera of photo 2"] = np.degrees(camera)
    return Measured(
        why=first_reason(len(frame), every_case),
        value=seen.azimuth_rad[:, None],
        sigma=seen.sigma_rad[:, None],
        outlier_probability=outlier_probability,
        evidence={
            "direction_sigma_deg": np.degrees(seen.sigma_rad).round(2),
            "to_the_right": (seen.ground * np.sin(seen.azimuth_rad)).round(3),
            "ahead": (seen.ground * np.cos(seen.azimuth_rad)).round(3),
            "length_unit": np.full(len(frame), scene.length_unit),
        },
        traps={name: (np.round(angle) + 180) % 360 - 180 for name, angle in traps.items()},
    )


def _is_outside(scene: Scene, seen: Elsewhere) -> Bool[np.ndarray, "n"]:
    """Whether places lie outside the cone around photo 1, visibly and by σ."""
    cone = np.pi if scene.path is None else cone_rad(scene.path.intrinsics)
    with np.errstate(invalid="ignore"):
        outside = seen.from_axis_rad - cone * (1 + scene.focal_relative_sigma)
        return np.asarray(outside >= np.maximum(_OUTSIDE_RAD, _OUTSIDE_SIGMAS * seen.from_axis_sigma_rad))


def _half_width_rad(
    scene: Scene,
    frame: Int64[np.ndarray, "n"],
    seen_from: Int64[np.ndarray, "n"],
    middle: Float64[np.ndarray, "n 3"],
    corners: Float64[np.ndarray, "n 8 3"],
) -> Float64[np.ndarray, "n"]:
    """Largest angle between the middle of objects and their corners, seen from the other photo."""
    here, there = scene.world_from_cam(frame), scene.world_from_cam(seen_from)
    camera = np.einsum("nji,nj->ni", here[:, :3, :3], there[:, :3, 3] - here[:, :3, 3])
    with np.errstate(invalid="ignore", divide="ignore"):
        rays = np.concatenate([middle[:, None], corners], axis=1) - camera[:, None]
        rays /= np.linalg.norm(rays, axis=2, keepdims=True)
        return np.asarray(np.arccos(np.clip(np.einsum("ni,nki->nk", rays[:, 0], rays[:, 1:]), -1, 1)).max(axis=1))
