"""Points of a picture, and the format that asks for one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from templates.answers.answer import Answer, Errors, Recorded, Rows, by_name, or_nan, or_none
from templates.answers.format import Format, OfficialMetric
from templates.answers.measures import gaussian_score
from templates.answers.region import Region, pixel
from templates.answers.registry import recorded_answer
from templates.answers.score import Score, UnscorableError
from templates.columns import Json
from templates.question import Question


@dataclass(frozen=True, kw_only=True)
class Point(Answer):
    """A pixel. Right: within `tolerance_px` (a radius)."""

    name: ClassVar[str] = "point"
    numbers: ClassVar[str] = "xy_px"

    xy_px: Float[np.ndarray, "*n 2"]
    sigma_px: Rows
    """σ per axis."""
    tolerance_px: Rows

    def p_within(self) -> Rows:
        """Rayleigh distribution: both axes have the same σ."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 - np.exp(-0.5 * (np.asarray(self.tolerance_px) / self.sigma_px) ** 2)

    @property
    def limits(self) -> Float[np.ndarray, "*n 1"]:
        """The radius."""
        return np.asarray(self.tolerance_px, dtype=float)[..., None]

    def error(self, truth: "Point") -> tuple[Float[np.ndarray, "*n 1"], Float[np.ndarray, "... 1"]]:
        """Distance in pixels."""
        distance = np.linalg.norm(self.xy_px - truth.xy_px, axis=-1, keepdims=True)
        return distance, np.asarray(truth.sigma_px, dtype=float)[..., None]

    def lead(self, other: Answer, truth: "Point") -> float:
        """Distance of the true point from the line halfway between the two; negative beyond it."""
        if not isinstance(other, Point) or not isinstance(truth, Point):
            return np.nan
        way = other.xy_px - self.xy_px
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(((self.xy_px + other.xy_px) / 2 - truth.xy_px) @ way / np.linalg.norm(way) / truth.sigma_px)

    def difference(self, truth: "Point") -> Errors:
        """Differences along x and y."""
        return by_name("xy", self.xy_px - truth.xy_px), dict.fromkeys(
            "xy", float(np.hypot(self.sigma_px, truth.sigma_px))
        )

    def tolerance_in_words(self) -> str:
        """ "within 23 pixels"."""
        return f"within {self.tolerance_px:g} pixels"

    def to_json(self) -> Recorded:
        """[x, y]; the answer is rounded to 0.1 px."""
        xy = self.xy_px.tolist()
        return Recorded(
            value=xy,
            answer=[round(part, 1) for part in xy],
            sigma=or_none(self.sigma_px),
            tolerance=float(self.tolerance_px),
            unit="px",
        )

    @classmethod
    def from_json(cls, question: Question) -> "Point":
        """Raises `UnscorableError` where the pixel or its tolerance is missing."""
        xy, tolerance = pixel(question.value), or_nan(question.tolerance)
        if xy is None or not tolerance >= 0:
            raise UnscorableError("no measured pixel with a tolerance")
        return cls(xy_px=xy, sigma_px=or_nan(question.sigma), tolerance_px=tolerance)

    def predicted(self, value: Json) -> "Point | None":
        """A pair of numbers."""
        xy = pixel(value)
        return None if xy is None else replace(self, xy_px=xy)

    def detail(self, prediction: "Point") -> Mapping[str, Json]:
        """Distance, its square, and the Gaussian score exp(-d² / 2σ²)."""
        distance = float(np.linalg.norm(prediction.xy_px - self.xy_px))
        found: dict[str, Json] = {"distance_px": distance, "squared_error": distance**2}
        if np.isfinite(self.sigma_px) and self.sigma_px > 0:
            found["gaussian"] = gaussian_score(distance, 0.0, float(self.sigma_px))
        return {"value": prediction.xy_px.tolist(), **found}


class Pixel(Format):
    """The pixel of a photo: a point, or any pixel of a region."""

    name: ClassVar[str] = "point"
    reader: ClassVar[str] = "pixel"
    takes: ClassVar[tuple[str, ...]] = ("point", "region")

    def form(self, question: Question) -> str:
        """A pair."""
        return "the pixel as [x, y]"

    def score(self, question: Question, value: Json) -> Score:
        """1 within the tolerance. Raises `UnscorableError` for a question without a photo."""
        picture_size(question)
        return super().score(question, value)

    def no_op(self, question: Question) -> Json:
        """The first mark, as if the camera had not moved; without marks, the middle."""
        marks = [mark for medium in question.media for mark in medium.get("marks", ())]
        if marks:
            return [float(v) for v in marks[0]["xy_px"]]
        return [(side - 1) / 2 for side in picture_size(question)]

    def guess(self, question: Question, rng: np.random.Generator) -> Json:
        """A random pixel of the photo."""
        return [round(float(rng.uniform(0, side - 1)), 1) for side in picture_size(question)]

    def near_misses(self, question: Question) -> Iterator[Json]:
        """The mirrored point, and the corners."""
        (width, height), (x, y) = picture_size(question), question.answer
        yield [width - 1 - x, height - 1 - y]
        yield from ([x, y] for x in (0, width - 1) for y in (0, height - 1))

    def official(self, question: Question) -> OfficialMetric:
        """Of a region its mask."""
        recorded = recorded_answer(question)
        if not isinstance(recorded, Region):
            return super().official(question)
        return OfficialMetric("affmask", recorded.mask_png(*picture_size(question)), {"point": question.answer})

    def official_text(self, value: Json) -> str:
        """The pair."""
        return json.dumps(value)


def picture_size(question: Question) -> tuple[int, int]:
    """Width and height in pixels of the last photo, in which the point is asked for. Raises `UnscorableError` if there
    is none."""
    photos = [medium for medium in question.media if medium.get("kind") == "frames" and not medium.get("option")]
    if not photos:
        raise UnscorableError("no photo for the point to lie in")
    width, height = photos[-1]["frame_size_px"]
    return int(width), int(height)
