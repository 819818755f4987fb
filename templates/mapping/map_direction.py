"""L2/Memory/Cognitive Map: where an object is for someone who stands at a second one and faces a third."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Complex128

from templates.answers import Answer
from templates.answers.answers import Answers
from templates.chance import Chance
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.eight_directions import bearings, in_all_directions, offered_directions
from templates.question import FormatName, Phrasing
from templates.scene.elsewhere import any_moves
from templates.scene.object_boxes import Row, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.on_floor import OnFloor, on_floor
from templates.scene.scattered import scattered, shown_together
from templates.scene.scene import SURFACE, Scene
from templates.settings import MaxTolerances
from templates.template import Template

_MARKS = ("1", "2", "3")
_TRIES = 5000
"""Draws of three objects."""
_LEAST_M, _LEAST_SHARE = 0.5, 0.25
"""Least distance from the first object to the others: in metres, or without a metric scale as a share of that from the
camera."""
_LARGEST_HALF_WIDTH_RAD = np.radians(25)
"""Largest angle under which half an object appears from the first one: a broader one lies in several directions."""
_SURE = 0.99
"""Least P(right) of an answer that is proposed."""
_LARGEST_PLACE = 0.5
"""Largest reach of the first object from its middle, as a share of the distances to the others."""


@dataclass(frozen=True, kw_only=True)
class FromObject(Facts):
    """Three objects: where one stands, what one faces, and what is sought. The photos of all are shown."""

    at: ObjectRefs
    facing: ObjectRefs
    sought: ObjectRefs

    @property
    def refs(self) -> tuple[ObjectRefs, ObjectRefs, ObjectRefs]:
        """All three."""
        return self.at, self.facing, self.sought


@dataclass(frozen=True, kw_only=True)
class MapDirection(Template):
    """Where a third object is for someone who stands at one and faces another. Measures the horizontal angle in
    radians, clockwise from above."""

    name: str = "map_direction"
    version: str = "2"
    ability: str = "L2/Memory/Cognitive Map"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = FromObject
    needs: frozenset[str] = frozenset({"camera_path", "gravity", "objects"})
    reads: frozenset[str] = SURFACE | {"gravity", "objects"}
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> FromObject:
        """Three objects of up to three photos that share their views, in all directions alike."""
        seen = boxed(seen_objects(scene), scene)
        rows = rng.permuted(scattered(scene, seen, rng, _TRIES, 3), axis=1)
        each = [seen.take(column) for column in rows.T]
        at, facing, sought = (one.refs() for one in each)
        facts = FromObject(at=at, facing=facing, sought=sought)
        measured = _measured(scene, facts, [one.object for one in each])
        sure = [self.answer(form, facts, measured).refused(measured.why).p_right >= _SURE for form in self.formats]
        rows = np.flatnonzero(np.any(sure, axis=0))
        return facts.take(rows[in_all_directions(measured.take(rows))][:count])

    def measure(self, facts: FromObject, scene: Scene) -> Measured:
        """The angle; σ: the places of all three objects, the poses of their photos, and gravity."""
        return _measured(scene, facts, [found_again(scene, refs) for refs in facts.refs])

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answers:
        """Degrees with a tolerance of 15°, or one of eight directions."""
        angle, sigma = np.degrees(measured.value[:, 0]), np.degrees(measured.sigma[:, 0])
        return bearings(format, angle, sigma, measured.outliers, self.max_tolerances.direction_deg)

    def offer(self, format: FormatName, facts: Facts, answers: Answers, chance: Chance) -> Offer | None:
        """Four directions a quarter turn apart."""
        return offered_directions(answers) if format == "choice" else None

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The photos in order of time, with a box for each object."""
        refs = dict(zip(_MARKS, (fact["at"], fact["facing"], fact["sought"]), strict=True))
        names = dict(zip("abc", (ref["name"] for ref in refs.values()), strict=True))
        return Phrasing(media=Photo.all_boxed(refs), values=names)


def _measured(scene: Scene, facts: FromObject, objects: list[Row]) -> Measured:
    frames = np.stack([refs.frame for refs in facts.refs], axis=1)
    here, ahead, there = (
        on_floor(scene, refs.frame, object, facts.at.frame) for refs, object in zip(facts.refs, objects, strict=True)
    )
    to_ahead, to_there = (_offset(here, one) for one in (ahead, there))
    angle = np.angle(to_there * to_ahead.conj())
    angle = np.where(angle < 1e-9 - np.pi, np.pi, angle)  # straight behind is 180, never -180
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = [np.abs(to_ahead), np.abs(to_there)]
        # a shift of the first object turns both lines of sight
        turned = np.abs(1 / to_there - 1 / to_ahead) * here.sigma
        sigma = np.sqrt((ahead.sigma / reach[0]) ** 2 + (there.sigma / reach[1]) ** 2 + turned**2)
        width = [np.arcsin(np.clip(one.radius / r, 0, 1)) for one, r in zip((ahead, there), reach, strict=True)]
    metric = scene.path is not None and scene.path.scale.kind == "metric"
    least = np.full(len(facts), _LEAST_M) if metric else _LEAST_SHARE * here.distance
    nearest = np.minimum(*reach)
    cases = {
        "an object is not found again": np.any([each < 0 for each in objects], axis=0),
        "an object moves": any_moves(scene, *objects),
        "one photo shows all three objects": shown_together(scene, frames, np.stack(objects, axis=1)),
        "the place of an object is not known": ~np.isfinite(angle + sigma),
        "two objects are too near to each other": ~(nearest >= least) | ~(here.radius <= _LARGEST_PLACE * nearest),
        "an object lies in several directions": ~(np.maximum(*width) <= _LARGEST_HALF_WIDTH_RAD),
    }
    mistakes = {
        "in the frame of the camera": np.angle(to_there),
        "mirrored": -angle,
        "facing the other way": angle + np.pi,
        "the first two objects exchanged": np.angle((to_ahead - to_there) * to_ahead.conj()),
    }
    return Measured(
        why=first_reason(len(facts), cases),
        value=angle[:, None],
        sigma=sigma[:, None],
        outlier_probability=outliers(scene, *objects),
        evidence={
            "angle_sigma_deg": np.degrees(sigma).round(2),
            "to_faced": np.column_stack([to_ahead.imag, to_ahead.real]).round(2),
            "to_sought": np.column_stack([to_there.imag, to_there.real]).round(2),
            "length_unit": np.full(len(facts), scene.length_unit),
        },
        traps={name: (np.round(np.degrees(trap)) + 180) % 360 - 180 for name, trap in mistakes.items()},
    )


def _offset(start: OnFloor, end: OnFloor) -> Complex128[np.ndarray, "n"]:
    """Ahead, and to the right as the imaginary part: angles are clockwise."""
    right, ahead = (end.xy - start.xy).T
    return np.asarray(ahead + 1j * right)
