"""L1/Geometry/Shape: which geometric primitive an object is."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from templates.answers import Answer
from templates.columns import Json, Texts
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Photo
from templates.offer import Offer
from templates.question import FormatName, Phrasing
from templates.scene.bodies import SHAPES
from templates.scene.misleading import taking_turns
from templates.scene.object_boxes import Row, outliers
from templates.scene.objects import SeenObjects, boxed, found_again, seen_objects
from templates.scene.primitives import Fits, fits_of
from templates.scene.scene import SURFACE, Scene
from templates.template import Template

_VIEWS = 4
"""Photos of each object that may be asked about: those that show it largest."""
_FITS = 0.75
"""Largest misfit of a primitive that an object is, in σ: below 1, as errors of depth are alike at close pixels."""
_FITS_ELSEWHERE = 1.0
"""Largest misfit of it in the other photos."""
_TIMES = 2.0
"""Least ratio of the misfits of the second best and the best primitive."""
_INDEPENDENT = 8
"""So many of the errors of an outline and a surface are independent."""
_LEAST_MARGIN = 2.33
"""Of what is proposed, in σ."""


@dataclass(frozen=True, kw_only=True)
class NamedShapes(Facts):
    """An object of a photo, and the primitive that a question of yes or no is about."""

    object: ObjectRefs
    shape: Texts


@dataclass(frozen=True, kw_only=True)
class PrimitiveOf(Template):
    """The geometric primitive that an object is. Fits each to the depth of the object's surface and to its outline;
    measures the misfits in σ."""

    name: str = "primitive_of"
    version: str = "2"
    ability: str = "L1/Geometry/Shape"
    formats: tuple[FormatName, ...] = ("choice", "yes_no")
    facts: ClassVar[type[Facts]] = NamedShapes
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": SHAPES}
    needs: frozenset[str] = frozenset({"camera_path", "depth", "objects"})
    reads: frozenset[str] = SURFACE | {"objects"}

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> NamedShapes:
        """Objects of all primitives in turn. Half of the questions of yes or no name the right one, the others the one
        that fits second best."""
        seen = _largest(scene)
        fits = _judged(scene, seen.frame, seen.object)
        sure = rng.permutation(np.flatnonzero((fits.why == "") & (_margin(fits) >= _LEAST_MARGIN)))
        best, second = _ranked(fits.take(sure))[:2]
        rows = taking_turns(best)[:count]
        shape = np.where(rng.random(len(rows)) < 0.5, best[rows], second[rows])
        return NamedShapes(object=seen.take(sure[rows]).refs(), shape=shape)

    def measure(self, facts: NamedShapes, scene: Scene) -> Measured:
        """The primitive that fits best."""
        object = found_again(scene, facts.object)
        fits = _judged(scene, facts.object.frame, object)
        best, second = _ranked(fits)[:2]
        seen = scene.surface(facts.object.frame, facts.object.inside_px)
        depth_outlier = np.nan_to_num(seen.outlier_probability, nan=1.0)
        return Measured(
            why=np.where(object < 0, "the object is not found again", fits.why),
            value=fits.misfit,
            sigma=np.ones_like(fits.misfit),
            label=best,
            margin=_margin(fits),
            outlier_probability=1 - (1 - outliers(scene, object)) * (1 - depth_outlier),
            evidence={
                "misfit": np.sort(fits.misfit, axis=1)[:, 0].round(2),
                "second": second,
                "second_misfit": np.sort(fits.misfit, axis=1)[:, 1].round(2),
            },
            traps={
                "the second best fit": second,
                "every object taken for a box": np.full(len(facts), "cuboid"),
                "depth overlooked": np.full(len(facts), "flat plate"),
                "any round object taken for a ball": np.full(len(facts), "ball"),
                "its taper overlooked": np.where(best == "cone", "cylinder", ""),
            },
        )

    def answer(self, format: FormatName, facts: NamedShapes, measured: Measured) -> Answer:
        """The primitive, or whether it is the named one."""
        label = measured.as_label()
        return label if format == "choice" else replace(label, text=np.where(label.text == facts.shape, "yes", "no"))

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """One photo with a box."""
        values = {} if format == "choice" else {"shape": fact["shape"]}
        return Phrasing(media=(Photo.boxed({"1": fact["object"]}),), values=values)


def _largest(scene: Scene) -> SeenObjects:
    """Objects that are not cut, in the photos that show them largest. Whether something hides them is seen at their
    outlines: boxes around round objects reach beyond them."""
    seen = seen_objects(scene)
    seen = boxed(replace(seen, shown=np.full(len(seen), np.nan)), scene)
    seen = seen.take(np.lexsort((-np.nan_to_num(seen.area_px), seen.object)))
    return seen.take(np.arange(len(seen)) - np.searchsorted(seen.object, seen.object) < _VIEWS)


def _ranked(fits: Fits) -> np.ndarray:
    """The primitives of each object from the best fit to the worst: (5, n)."""
    return np.array(SHAPES)[np.argsort(np.nan_to_num(fits.misfit), axis=1)].T


def _margin(fits: Fits) -> Float64[np.ndarray, "n"]:
    """By how many σ the second best primitive fits worse."""
    best, second = np.sort(fits.misfit, axis=1)[:, :2].T
    return np.asarray(np.sqrt(_INDEPENDENT * (second**2 - best**2)))


def _judged(scene: Scene, frame: Row, object: Row) -> Fits:
    """The fits, and why the primitive cannot be told. Other photos of the object must not contradict; where masks are
    estimated, one has to confirm."""
    seen = _largest(scene)
    views, fits = fits_of(scene, seen.frame, seen.object), fits_of(scene, frame, object)
    best, second = np.sort(fits.misfit, axis=1)[:, :2].T
    elsewhere = views.misfit[:, np.argmin(np.nan_to_num(fits.misfit), axis=1)].T
    others = (object[:, None] == seen.object) & (frame[:, None] != seen.frame) & (views.why == "")
    with np.errstate(invalid="ignore"):
        fitting = (elsewhere <= _FITS_ELSEWHERE) & (elsewhere <= _TIMES * views.misfit.min(axis=1))
        cases = {
            "the object is no primitive": ~(best <= _FITS),
            "two primitives fit the object": ~(second >= _TIMES * best),
            "another photo shows another primitive": (others & ~fitting).any(axis=1),
            "no other photo confirms the primitive": ~others.any(axis=1) & (scene.exact_objects is None),
        }
    return replace(fits, why=np.where(fits.why == "", first_reason(len(fits), cases), fits.why))
