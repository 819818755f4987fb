"""L3/Causal Reasoning/Dynamics: how fast an object is if it reaches the camera in a given time."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer, Numbers
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, margin, mistaken, nearest
from templates.question import FormatName, Phrasing
from templates.scene.object_boxes import outliers, range_to_boxes
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.settings import MaxTolerances
from templates.template import Template

_SPEEDS = np.array([0.45, 0.77, 1.3, 2.2])
"""The options, in metres per second; always the same, so that the balance can make each right equally often."""
_STEP = 1.7
"""Ratio of neighbouring options."""
_JITTER = 0.1
"""Largest |ln| of the ratio between a speed and its option."""
_FITS = np.log(1.12)
"""Largest |ln| of the ratio between the right option and the speed."""
_NEAREST_M = 0.5
"""Least distance: nearer objects are almost there."""
_ANOTHER = 0.4
"""Least relative difference between a speed and what a mistake gives."""


@dataclass(frozen=True, kw_only=True)
class ObjectAndTime(Facts):
    """An object that a box marks, and how long it takes to the camera."""

    object: ObjectRefs
    seconds: Float64[np.ndarray, "n"]
    speeds: Float64[np.ndarray, "n 4"]
    """Options, in metres per second."""


@dataclass(frozen=True, kw_only=True)
class SpeedIf(Template):
    """The speed of an object that would reach the camera in a given time, for clips with metric scale. Measures ln of
    metres per second."""

    name: str = "speed_if"
    version: str = "2"
    ability: str = "L3/Causal Reasoning/Dynamics"
    formats: tuple[FormatName, ...] = ("choice", "numeric")
    facts: ClassVar[type[Facts]] = ObjectAndTime
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "depth"})
    max_tolerances: MaxTolerances = field(default_factory=MaxTolerances)

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> ObjectAndTime:
        """Random whole objects. An object at the middle of all distances in the clip comes at about 1 m/s, and the time
        changes as little as makes the speed near an option: so the time, which the prompt names, says nothing about
        the speed."""
        seen = boxed(seen_objects(scene), scene)
        objects = seen.take(rng.permutation(len(seen))[:count]).refs()
        distance, _ = range_to_boxes(scene, objects.frame, found_again(scene, objects))
        known = distance > 0
        objects, distance = objects.take(known), distance[known]
        relative = distance / np.median(distance) if len(distance) else distance
        option = np.abs(np.log(np.divide.outer(relative, _SPEEDS))).argmin(axis=1)
        speed = _SPEEDS[option] * np.exp(rng.uniform(-_JITTER, _JITTER, len(distance)))
        speeds = np.tile(_SPEEDS, (len(distance), 1))
        return ObjectAndTime(object=objects, seconds=np.maximum((distance / speed).round(1), 0.1), speeds=speeds)

    def measure(self, facts: ObjectAndTime, scene: Scene) -> Measured:
        """Distance of the nearest point of the object over the time; σ: its box, and the scale."""
        object = found_again(scene, facts.object)
        distance, distance_sigma = range_to_boxes(scene, facts.object.frame, object)
        with np.errstate(divide="ignore", invalid="ignore"):
            speed = distance / facts.seconds
            sigma = np.hypot(distance_sigma / distance, scene.metre_relative_sigma)
            error = np.abs(np.log(facts.speeds / speed[:, None]))
            label, wrong = nearest(error, _FITS, 0.8 * np.log(_STEP))
            mistakes = {
                "distance times time": distance * facts.seconds,
                "the distance itself": distance,
                "half the way": speed / 2,
            }
            traps = {
                **{
                    name: np.where(np.abs(v / speed - 1) > _ANOTHER, v.round(2), np.nan) for name, v in mistakes.items()
                },
                **{f"{name} (option)": mistaken(facts.speeds, v, label, _STEP) for name, v in mistakes.items()},
            }
        cases = {
            "scale is not metric": np.isnan(scene.metre_relative_sigma),
            "an object is not found again": object < 0,
            "the distance of an object is not known": ~np.isfinite(speed + sigma),
            "the object is too near": distance < _NEAREST_M,
            **wrong,
        }
        return Measured(
            why=first_reason(len(facts), cases),
            value=np.log(speed, out=np.full(len(facts), np.nan), where=speed > 0)[:, None],
            sigma=sigma[:, None],
            label=label,
            margin=margin(error, np.repeat(sigma[:, None], len(MARKS), axis=1)),
            outlier_probability=outliers(scene, object),
            evidence={"metres": distance.round(3), "relative_sigma": sigma.round(4)},
            traps=traps,
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """Metres per second with a tolerance of 15 %, or the number of the option."""
        if format == "choice":
            return measured.as_label()
        speed, share = np.exp(measured.value), self.max_tolerances.range_ratio
        return Numbers.within_share("speed", speed, speed * measured.sigma, share, measured.outliers, unit="m/s")

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a box."""
        object = fact["object"]
        options = tuple(f"{speed:.2f} m/s" for speed in fact["speeds"]) if format == "choice" else ()
        values = {"name": object["name"], "seconds": f"{fact['seconds']:g}"}
        return Phrasing(media=(Photo.boxed({"1": object}),), options=options, values=values)
