"""L1/Orientation/Object Orientation: which way an object faces, as seen from the camera."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.object_boxes import Row, fronts_of, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene, find_rows
from templates.template import Template

WAYS = ("towards the camera", "to the left", "away from the camera", "to the right")
"""By azimuth, 90° each."""
_LARGEST_DEVIATION_RAD = np.radians(30)
"""From the middle of a way: people call what lies between two ways by either name."""

_LARGEST_POLAR_RAD, _LARGEST_ROTATION_RAD = np.radians([60, 20])
"""Of an object whose azimuth alone says where its front is turned in the photo."""


@dataclass(frozen=True, kw_only=True)
class OneObject(Facts):
    """An object of a photo."""

    object: ObjectRefs


@dataclass(frozen=True, kw_only=True)
class ObjectFaces(Template):
    """The way an object's front faces, relative to the line from the camera to it. Measures its azimuth."""

    name: str = "object_faces"
    version: str = "2"
    ability: str = "L1/Orientation/Object Orientation"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = OneObject
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": WAYS}
    needs: frozenset[str] = frozenset({"objects", "object_orientation"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "object_orientation"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> OneObject:
        """Random whole objects."""
        seen = boxed(seen_objects(scene), scene)
        return OneObject(object=seen.take(rng.permutation(len(seen))[:count]).refs())

    def measure(self, facts: OneObject, scene: Scene) -> Measured:
        """The way; σ of the azimuth is that of the signal."""
        found = found_again(scene, facts.object)
        front = fronts_of(scene, facts.object.frame, found)
        azimuth, sigma = front.azimuth_rad, front.sigma_rad
        quarter = np.nan_to_num(np.round(azimuth / (np.pi / 2))).astype(np.int64)
        deviation = np.abs(azimuth - quarter * np.pi / 2)
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = (np.pi / 4 - deviation) / sigma
        polar, rotation = np.abs(angles_of(scene, facts.object.frame, found)[:, 1:]).T
        cases = {
            "an object is not found again": found < 0,
            "which way the object faces is not known": ~np.isfinite(azimuth) | ~np.isfinite(sigma),
            "the object has no single front": front.fronts != 1,
            "the object faces between two ways": deviation > _LARGEST_DEVIATION_RAD,
            "the object is not upright in the photo": ~(rotation <= _LARGEST_ROTATION_RAD),
            "the object is seen from steeply above or below": ~(polar <= _LARGEST_POLAR_RAD),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=azimuth[:, None],
            sigma=sigma[:, None],
            label=np.array(WAYS)[quarter % 4],
            margin=margin,
            outlier_probability=1 - (1 - outliers(scene, found)) * (1 - front.outlier_probability),
            evidence={"azimuth_deg": np.degrees(azimuth).round(1), "name": facts.object.name},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The way."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a box."""
        of = fact["object"]
        return Phrasing(media=(Photo.boxed({"1": of}),), values={"name": of["name"]})


def angles_of(scene: Scene, frame: Row, object: Row) -> Float64[np.ndarray, "n 3"]:
    """Azimuth, polar angle and rotation in rad; NaN where unknown."""
    facing, angles = scene.orientation, np.full((len(frame), 3), np.nan)
    if facing is not None and len(facing.frames):
        rows = find_rows(facing.frames, frame)
        known = np.flatnonzero((rows >= 0) & (object >= 0))
        at = rows[known], object[known]
        angles[known] = np.column_stack(
            [each[at] for each in (facing.azimuth_rad, facing.polar_rad, facing.rotation_rad)]
        )
    return angles
