"""Four objects of several photos on one floor plan: that of photo 1, whose camera faces up."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64, Shaped

from templates.columns import Columns, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import first_reason
from templates.scene.elsewhere import any_moves
from templates.scene.object_boxes import Row, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.on_floor import on_floor
from templates.scene.scattered import scattered, shown_together
from templates.scene.scene import Scene

OBJECTS = 4
MARKS = ("1", "2", "3", "4")
_TRIES = 8000
"""Draws of four objects."""


@dataclass(frozen=True, kw_only=True)
class FourObjects(Facts):
    """Four objects, each as one photo shows it. The earliest of the photos is photo 1."""

    first: ObjectRefs
    second: ObjectRefs
    third: ObjectRefs
    fourth: ObjectRefs

    @property
    def refs(self) -> tuple[ObjectRefs, ...]:
        """All four."""
        return self.first, self.second, self.third, self.fourth

    @property
    def frames(self) -> Int64[np.ndarray, "n 4"]:
        """The photo of each."""
        return np.stack([refs.frame for refs in self.refs], axis=1)

    @property
    def names(self) -> Shaped[np.ndarray, "n 4"]:
        """The name of each."""
        return np.stack([refs.name for refs in self.refs], axis=1)

    def found(self, scene: Scene) -> list[Row]:
        """The objects of a scene that are meant; -1 for none."""
        return [found_again(scene, refs) for refs in self.refs]


@dataclass(frozen=True, kw_only=True)
class Plans(Columns):
    """The places of four objects on n floor plans."""

    why: Texts
    """Why a plan is not known; "" where it is."""
    xy: Float64[np.ndarray, "n 4 2"]
    """To the right and ahead of the camera of photo 1, in path units."""
    sigma: Float64[np.ndarray, "n 4"]
    """Per axis."""
    outlier_probability: Float64[np.ndarray, "n"]

    @property
    def extent(self) -> Float64[np.ndarray, "n"]:
        """The larger side of the upright rectangle around all places; NaN where one is unknown."""
        return np.asarray((self.xy.max(axis=1) - self.xy.min(axis=1)).max(axis=1))

    @property
    def in_units(self) -> Float64[np.ndarray, "n 4 2"]:
        """From the middle of that rectangle, in units of its larger side."""
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = (self.xy.max(axis=1, keepdims=True) + self.xy.min(axis=1, keepdims=True)) / 2
            return np.asarray((self.xy - middle) / self.extent[:, None, None])


def plans(scene: Scene, facts: FourObjects, objects: list[Row]) -> Plans:
    """The plans of facts about the objects."""
    frames = facts.frames
    first = frames.min(axis=1)
    each = [on_floor(scene, refs.frame, object, first) for refs, object in zip(facts.refs, objects, strict=True)]
    xy, sigma = (np.stack([getattr(one, name) for one in each], axis=1) for name in ("xy", "sigma"))
    cases = {
        "an object is not found again": np.any([object < 0 for object in objects], axis=0),
        "an object moves": any_moves(scene, *objects),
        "one photo shows all objects": shown_together(scene, frames, np.stack(objects, axis=1)),
        "the place of an object is not known": ~np.isfinite(xy.sum(axis=(1, 2)) + sigma.sum(axis=1)),
    }
    return Plans(why=first_reason(len(facts), cases), xy=xy, sigma=sigma, outlier_probability=outliers(scene, *objects))


def propose_four(scene: Scene, rng: np.random.Generator) -> tuple[FourObjects, list[Row]]:
    """Random fours of whole objects in photos that share their views, none of which shows all; and these objects."""
    seen = boxed(seen_objects(scene), scene)
    rows = rng.permuted(scattered(scene, seen, rng, _TRIES, OBJECTS), axis=1)
    each = [seen.take(column) for column in rows.T]
    first, second, third, fourth = (one.refs() for one in each)
    return FourObjects(first=first, second=second, third=third, fourth=fourth), [one.object for one in each]
