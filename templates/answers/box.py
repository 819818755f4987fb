"""Boxes in a photo, asked for as four numbers by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float

from templates.answers.answer import Answer, Errors, Recorded, Rows, by_name, listed, numbers_of
from templates.answers.sampling import normals
from templates.answers.score import UnscorableError
from templates.columns import Json
from templates.question import Question

CORNERS = ("x0", "y0", "x1", "y1")
"""Left, top, right and bottom, in pixels."""
LEAST_IOU = 0.5


@dataclass(frozen=True, kw_only=True)
class Box(Answer):
    """An upright rectangle in a photo. Right: intersection over union (IoU) with the true one of at least a half."""

    name: ClassVar[str] = "box"
    numbers: ClassVar[str] = "corners_px"

    corners_px: Float[np.ndarray, "*n 4"]
    """In the order of `CORNERS`."""
    sigma_px: Float[np.ndarray, "*n 4"]

    def p_within(self) -> Rows:
        """Share of samples of the corners whose box overlaps enough with this one."""
        known = np.isfinite(self.sigma_px).all(axis=-1)
        enough = [iou(self.corners_px, sample) >= LEAST_IOU for sample in self._samples()]
        return np.where(known, np.mean(enough, axis=0), 0.0)

    def _samples(self) -> Iterator[Float[np.ndarray, "*n 4"]]:
        sigma = np.nan_to_num(self.sigma_px, nan=0.0, posinf=0.0)
        return (self.corners_px + sigma * step for step in normals(len(CORNERS)))

    @property
    def limits(self) -> Float[np.ndarray, "*n 1"]:
        """The largest 1 - IoU."""
        return np.full((*self.corners_px.shape[:-1], 1), 1 - LEAST_IOU)

    def error(self, truth: "Box") -> tuple[Float[np.ndarray, "*n 1"], Float[np.ndarray, "... 1"]]:
        """1 - IoU; its σ is that over the samples of the true corners."""
        known = np.isfinite(truth.sigma_px).all(axis=-1)
        spread = np.std([iou(self.corners_px, sample) for sample in truth._samples()], axis=0)
        return 1 - iou(self.corners_px, truth.corners_px)[..., None], np.where(known, spread, np.inf)[..., None]

    def difference(self, truth: "Box") -> Errors:
        """Differences of the corners."""
        sigma = np.hypot(self.sigma_px, truth.sigma_px)
        return by_name(CORNERS, self.corners_px - truth.corners_px), by_name(CORNERS, sigma)

    def repeats(self, other: "Box") -> Bool[np.ndarray, "*n"]:
        """They overlap enough."""
        return np.asarray(iou(self.corners_px, other.corners_px) >= LEAST_IOU)

    def tolerance_in_words(self) -> str:
        """ "overlap (IoU) of at least 0.5"."""
        return f"overlap (IoU) of at least {LEAST_IOU}"

    def to_json(self) -> Recorded:
        """An object of four numbers; those of the answer are rounded to 0.1 px."""
        return Recorded(
            value=by_name(CORNERS, self.corners_px),
            answer=by_name(CORNERS, self.corners_px.round(1)),
            sigma=by_name(CORNERS, listed(self.sigma_px)),
            tolerance=1 - LEAST_IOU,
            unit="px",
        )

    @classmethod
    def from_json(cls, question: Question) -> "Box":
        """Raises `UnscorableError` where a corner is missing."""
        corners = _corners(question.value)
        if corners is None:
            raise UnscorableError("no box of four numbers")
        return cls(corners_px=corners, sigma_px=numbers_of(question.sigma, CORNERS))

    def predicted(self, value: Json) -> "Box | None":
        """An object of four numbers; of opposite corners in any order."""
        corners = _corners(value)
        return None if corners is None else replace(self, corners_px=corners)

    def detail(self, prediction: "Box") -> Mapping[str, Json]:
        """The IoU."""
        return {"iou": float(iou(prediction.corners_px, self.corners_px))}

    def guess(self, width_px: int, height_px: int, rng: np.random.Generator) -> Json:
        """A random box of a picture."""
        return by_name(CORNERS, np.sort(rng.uniform(0, [width_px, height_px], size=(2, 2)), axis=0).ravel().round(1))

    def near_misses(self) -> Iterator[Json]:
        """The box beside it; one that is too large."""
        size = np.tile(self.corners_px[2:] - self.corners_px[:2], 2)
        yield by_name(CORNERS, (self.corners_px + [1, 0, 1, 0] * size).round(1))
        yield by_name(CORNERS, (self.corners_px + [-0.5, -0.5, 0.5, 0.5] * size).round(1))


def iou(a: Float[np.ndarray, "*n 4"], b: Float[np.ndarray, "*m 4"]) -> Float[np.ndarray, "..."]:
    """Intersection over union; 0 where a box has no area. Leading axes broadcast."""
    common = _area(np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:]))
    union = _area(a[..., :2], a[..., 2:]) + _area(b[..., :2], b[..., 2:]) - common
    return np.asarray(common / np.where(union > 0, union, 1.0))


def _area(low: Float[np.ndarray, "*n 2"], high: Float[np.ndarray, "*n 2"]) -> Float[np.ndarray, "*n"]:
    return np.asarray(np.prod(np.maximum(high - low, 0), axis=-1))


def _corners(value: Json) -> Float[np.ndarray, "4"] | None:
    found = numbers_of(value, CORNERS)
    return np.sort(found.reshape(2, 2), axis=0).ravel() if np.isfinite(found).all() else None
