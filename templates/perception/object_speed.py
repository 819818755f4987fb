"""L1/Motion/Allo: which of two objects moves faster, and how many metres per second an object makes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Answer, Numbers
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.intervals import seconds_between
from templates.scene.moving_objects import NOT_FOUND, drawn_photos, followed, moving, seen_step, way
from templates.scene.object_boxes import outliers
from templates.scene.objects import SeenObjects, meet
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_MARKS = ("1", "2")
_VISIBLE = np.log(1.3)
"""Least |ln| of a ratio of speeds that people see."""
_ANOTHER = 0.4
"""Least relative difference between a speed and what a mistake gives: twice the tolerance."""
_TRIES = 4


@dataclass(frozen=True, kw_only=True)
class TwoMovedObjects(Facts):
    """Two objects in the same two photos, in order of time."""

    first: ObjectRefs
    second: ObjectRefs
    first_later: ObjectRefs
    second_later: ObjectRefs


@dataclass(frozen=True, kw_only=True)
class FasterObject(Template):
    """The faster one of two moving objects. Measures ln(way of 2 / way of 1)."""

    name: str = "faster_object"
    version: str = "1"
    ability: str = "L1/Motion/Allo"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = TwoMovedObjects
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TwoMovedObjects:
        """Random pairs of moving objects whose boxes do not overlap, in two photos; first those that can be told
        apart."""
        seen = moving(scene)
        refs = [seen.take(rows).refs() for rows in _pairs(seen, rng, _TRIES * count).T]
        drawn = TwoMovedObjects(first=refs[0], second=refs[1], first_later=refs[2], second_later=refs[3])
        good = self.measure(drawn, scene).why == ""
        return drawn.take(np.concatenate([np.flatnonzero(good), np.flatnonzero(~good)])[:count])

    def measure(self, facts: TwoMovedObjects, scene: Scene) -> Measured:
        """Log ratio of the straight ways; σ from those of the places."""
        frames = np.column_stack([facts.first.frame, facts.first_later.frame])
        pairs = ((facts.first, facts.first_later), (facts.second, facts.second_later))
        objects = [followed(scene, refs) for refs in pairs]
        a, b = (way(scene, object, frames, frames[:, 0]) for object in objects)
        with np.errstate(invalid="ignore", divide="ignore"):
            value = np.log(b.length / a.length)
            sigma = np.hypot(a.sigma / a.length, b.sigma / b.length)
            margin = np.abs(value) / sigma
        cases = {NOT_FOUND: np.any([object < 0 for object in objects], axis=0)}
        cases |= {reason: holds | b.cases()[reason] for reason, holds in a.cases().items()}
        cases |= {"both objects are about equally fast": np.abs(value) < _VISIBLE}
        return Measured(
            why=first_reason(len(facts), cases),
            value=value[:, None],
            sigma=sigma[:, None],
            label=np.where(value > 0, "2", "1"),
            margin=margin,
            outlier_probability=outliers(scene, *objects),
            evidence={
                "ratio": np.exp(value).round(3),
                "moved": np.column_stack([a.length, b.length]).round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={"faster in the picture": np.where(np.diff(_shifts_px(facts))[:, 0] > 0, "2", "1")},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The mark of the faster object."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos with two numbered boxes each."""
        a, b = fact["first"], fact["second"]
        media = (Photo.boxed({"1": a, "2": b}), Photo.boxed({"1": fact["first_later"], "2": fact["second_later"]}))
        return Phrasing(media=media, values={"a": a["name"], "b": b["name"]})


def _shifts_px(facts: TwoMovedObjects) -> Float64[np.ndarray, "n 2"]:
    """How far the boxes move in the picture."""
    pairs = ((facts.first, facts.first_later), (facts.second, facts.second_later))
    return np.column_stack([np.linalg.norm((b.box_px - a.box_px).mean(axis=1), axis=1) for a, b in pairs])


def _pairs(seen: SeenObjects, rng: np.random.Generator, count: int) -> Int64[np.ndarray, "n 4"]:
    """Rows of two objects in a photo, and of the same two in a later one."""
    at = {key: row for row, key in enumerate(zip(seen.frame.tolist(), seen.object.tolist(), strict=True))}
    rows = []
    for a, later in drawn_photos(seen, rng, count, 2).tolist():
        others = np.flatnonzero((seen.frame == seen.frame[a]) & (seen.object != seen.object[a]))
        for b in rng.permutation(others)[:1].tolist():
            b_later = at.get((int(seen.frame[later]), int(seen.object[b])))
            if (
                b_later is None
                or meet(seen.box_px[a], seen.box_px[b])
                or meet(seen.box_px[later], seen.box_px[b_later])
            ):
                continue
            rows.append((a, b, later, b_later))
    return np.array(rows, dtype=np.int64).reshape(-1, 4)


@dataclass(frozen=True, kw_only=True)
class TimedObject(Facts):
    """An object in two photos."""

    first: ObjectRefs
    second: ObjectRefs
    seconds: Float64[np.ndarray, "n"]
    """Between the photos."""


@dataclass(frozen=True, kw_only=True)
class ObjectSpeed(Template):
    """The mean speed of an object between two photos, for clips with metric scale and time stamps. Measures metres per
    second."""

    name: str = "object_speed"
    version: str = "1"
    ability: str = "L1/Motion/Allo"
    formats: tuple[FormatName, ...] = ("numeric",)
    facts: ClassVar[type[Facts]] = TimedObject
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> TimedObject:
        """Random moving objects in two photos; first those that move straight."""
        seen = moving(scene)
        first, second = (seen.take(rows).refs() for rows in drawn_photos(seen, rng, _TRIES * count, 2).T)
        drawn = TimedObject(
            first=first, second=second, seconds=seconds_between(scene, np.column_stack([first.frame, second.frame]))
        )
        good = self.measure(drawn, scene).why == ""
        return drawn.take(np.concatenate([np.flatnonzero(good), np.flatnonzero(~good)])[:count])

    def measure(self, facts: TimedObject, scene: Scene) -> Measured:
        """Straight way over time; σ: places and scale."""
        object = followed(scene, (facts.first, facts.second))
        frames = np.column_stack([facts.first.frame, facts.second.frame])
        found = way(scene, object, frames, frames[:, 0])
        with np.errstate(invalid="ignore", divide="ignore"):
            speed = found.length / facts.seconds
            relative = np.hypot(found.sigma / found.length, scene.metre_relative_sigma)
            sigma = speed * relative
            seen = np.linalg.norm(seen_step(scene, object, frames), axis=1) / facts.seconds
        cases = {
            "scale is not metric": np.isnan(scene.metre_relative_sigma),
            "the footage has no time stamps": ~(facts.seconds > 0),
            NOT_FOUND: object < 0,
            **found.cases(),
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=speed[:, None],
            sigma=sigma[:, None],
            outlier_probability=outliers(scene, object),
            evidence={"metres": found.length.round(3), "relative_sigma": relative.round(4)},
            traps={"the camera's own motion": np.where(np.abs(seen - speed) > _ANOTHER * speed, seen.round(2), np.nan)},
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Numbers:
        """Metres per second with a tolerance of 20 %."""
        value, sigma = measured.value, measured.sigma
        return Numbers.within_share("speed", value, sigma, self.max_tolerances.speed, measured.outliers, unit="m/s")

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos with a box around the object, and the time between them."""
        values = {"name": fact["first"]["name"], "seconds": f"{fact['seconds']:.3g}"}
        return Phrasing(media=tuple(Photo.boxed({"": fact[name]}) for name in ("first", "second")), values=values)
