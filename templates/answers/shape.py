"""Drawn shapes: outlines and paths."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from templates.answers.answer import Answer, Errors, Recorded, Rows, or_nan, or_none
from templates.columns import Json
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class Shape(Answer):
    """A drawn outline or path, in its own units. Right: root-mean-square distance within `tolerance`."""

    name: ClassVar[str] = "shape"

    points: Float[np.ndarray, "*n k 2"]
    """A stack of unequal lengths ends in NaN."""
    sigma: Rows
    """σ of the root-mean-square distance to the true shape."""
    tolerance: Rows
    """At most half the distance to the nearest wrong option."""

    def p_within(self) -> Rows:
        """Two-sided."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - 2 * ndtr(-np.asarray(self.tolerance) / self.sigma)

    @property
    def limits(self) -> Float[np.ndarray, "*n 1"]:
        """The tolerance."""
        return np.asarray(self.tolerance, dtype=float)[..., None]

    def error(self, truth: "Shape") -> tuple[Float[np.ndarray, "*n 1"], Float[np.ndarray, "... 1"]]:
        """Root-mean-square distance of corresponding points."""
        return rms(self.points, truth.points)[..., None], np.asarray(truth.sigma, dtype=float)[..., None]

    def difference(self, truth: "Shape") -> Errors:
        """The distance as `rms`."""
        return {"rms": float(rms(self.points, truth.points))}, {"rms": float(np.hypot(self.sigma, truth.sigma))}

    def to_json(self) -> Recorded:
        """The points as value; no format asks for them as an answer."""
        return Recorded(value=self.points.tolist(), sigma=or_none(self.sigma), tolerance=float(self.tolerance))

    @classmethod
    def from_json(cls, question: Question) -> "Shape":
        """Raises `ValueError` where the value is not a list of points."""
        return cls(points=_points(question.value), sigma=or_nan(question.sigma), tolerance=question.tolerance)

    def predicted(self, value: Json) -> "Shape | None":
        """A list of equally many points."""
        if not isinstance(value, list) or len(value) != self.points.shape[-2]:
            return None
        return replace(self, points=_points(value))


def rms(a: Float[np.ndarray, "*n k 2"], b: Float[np.ndarray, "*n k 2"]) -> Float[np.ndarray, "*n"]:
    """Root-mean-square distance between corresponding points of two shapes."""
    return np.asarray(np.sqrt(np.nanmean(np.sum((a - b) ** 2, axis=-1), axis=-1)))


def _points(value: Json) -> Float[np.ndarray, "k 2"]:
    points = np.array(value, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a shape is a list of points [x, y], not {value!r}")
    return points
