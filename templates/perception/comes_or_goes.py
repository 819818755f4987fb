"""L1/Motion/Allo: whether an object comes nearer, goes away or crosses, whatever the camera does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64

from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.moving_objects import (
    NOT_FOUND,
    MovedObject,
    Way,
    followed,
    moved_objects,
    seen_step,
    way,
)
from templates.scene.object_boxes import outliers
from templates.scene.scene import Scene
from templates.template import Template

_COMES, _GOES, _ACROSS = _WAYS = ("comes", "goes", "across")
_RADIAL, _CROSSING = 0.9, 0.35
"""Least and largest change of distance over the way, of objects that come or go, and of those that cross."""
_SAME, _NEAREST = 0.1, 0.8
"""Of objects that cross: largest change of the ln of the distance, and least distance on the straight way as a share of
that at its nearer end."""
_TRIES = 3


class InTwoPhotos(Template):
    """Common base: an object in two photos."""

    version: str = "2"
    ability: str = "L1/Motion/Allo"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = MovedObject

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The label."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """Two photos with a box around the object."""
        media = tuple(Photo.boxed({"": fact[name]}) for name in ("first", "second"))
        return Phrasing(media=media, values={"name": fact["first"]["name"]})


@dataclass(frozen=True, kw_only=True)
class ComesOrGoes(InTwoPhotos):
    """Whether an object moves towards the place of photo 1, away from it or across. Measures the change of its distance
    from that place over the length of its way."""

    name: str = "comes_or_goes"
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _WAYS}
    needs: frozenset[str] = frozenset({"camera_path", "objects"})
    reads: frozenset[str] = frozenset({"camera_path", "objects"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MovedObject:
        """Random moving objects in two photos; first those that come, go or cross."""
        drawn = moved_objects(scene, rng, _TRIES * count)
        good = self.measure(drawn, scene).why == ""
        return drawn.take(np.concatenate([np.flatnonzero(good), np.flatnonzero(~good)])[:count])

    def measure(self, facts: MovedObject, scene: Scene) -> Measured:
        """The label; σ of the share from those of both places."""
        object, frames = followed(scene, (facts.first, facts.second)), facts.frames
        found = way(scene, object, frames, frames[:, 0])
        before, after = (np.linalg.norm(xyz, axis=1) for xyz in (found.start_cam, found.start_cam + found.step_cam))
        with np.errstate(invalid="ignore", divide="ignore"):
            share, sigma = (after - before) / found.length, found.sigma / found.length
        radial, crossing = np.abs(share) >= _RADIAL, np.abs(share) <= _CROSSING
        cases = {
            NOT_FOUND: object < 0,
            **found.cases(),
            "the object moves at a slant": ~(radial | crossing),
            "the distance does not stay about the same": crossing & ~_stays(found, before, after),
        }
        with np.errstate(invalid="ignore", divide="ignore"):
            margin = np.abs(np.abs(share) - (_RADIAL + _CROSSING) / 2) / sigma
            then = np.linalg.norm(found.start_cam + seen_step(scene, object, frames), axis=1)
            seems = (then - before) / found.length
        return Measured(
            why=first_reason(len(facts), cases),
            value=share[:, None],
            sigma=sigma[:, None],
            label=_radially(share),
            margin=margin,
            outlier_probability=outliers(scene, object),
            evidence={
                "way_over_distance": (found.length / before).round(3),
                "distances": np.column_stack([before, after]).round(3),
                "moved": found.length.round(3),
                "length_unit": np.full(len(facts), scene.length_unit),
            },
            traps={
                "the camera's own motion": np.where(np.isnan(seems), "", _radially(seems)),
                "reversed": np.where(np.abs(share) <= _CROSSING, "", _radially(-share)),
            },
        )


def _stays(found: Way, before: Float64[np.ndarray, "n"], after: Float64[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
    """Whether the distance from the camera stays about the same, at the ends and on the straight way between them."""
    with np.errstate(invalid="ignore", divide="ignore"):
        part = np.clip(-np.einsum("ni,ni->n", found.start_cam, found.step_cam) / found.length**2, 0, 1)
        nearest = np.linalg.norm(found.start_cam + part[:, None] * found.step_cam, axis=1)
        return (np.abs(np.log(after / before)) <= _SAME) & (nearest >= _NEAREST * np.minimum(before, after))


def _radially(share: Float64[np.ndarray, "n"]) -> np.ndarray:
    border = (_RADIAL + _CROSSING) / 2
    return np.where(np.abs(share) <= border, _ACROSS, np.where(share < 0, _COMES, _GOES))
