"""Points: right within a radius."""

import math

import numpy as np

from spatial_engine.scoring import reading
from spatial_engine.scoring.own.fault import Fault, fault_if_unfit
from spatial_engine.scoring.own.numbers import finite
from spatial_engine.scoring.reading import Reading, Unreadable
from spatial_engine.scoring.score import Score
from templates.answer import Point, right
from templates.measured import Json
from templates.question import Question


def read_point(question: Question, response: str) -> Reading | Unreadable:
    """A pixel of the photo that is asked about, at the size that the prompt states."""
    width, height = picture_size(question)
    return reading.read_point(response, width, height)


def picture_size(question: Question) -> tuple[int, int]:
    """Width and height, in pixels, of the last photo: the one in which a point is asked for."""
    with fault_if_unfit("no photo for the point to lie in"):
        photos = [medium for medium in question.media if medium["kind"] == "frames" and not medium.get("option")]
        width, height = photos[-1]["frame_size_px"]
        return int(width), int(height)


def score_point(question: Question, value: Json) -> Score:
    """1 within the tolerance. In the detail: distance, and the Gaussian score exp(-d² / 2σ²)."""
    picture_size(question)  # without a photo nobody can answer
    truth, tolerance, sigma = _pair(question.value), finite(question.tolerance), finite(question.sigma)
    if truth is None or tolerance is None or tolerance < 0:
        raise Fault("no measured pixel with a tolerance")
    said = _pair(value)
    known: dict[str, Json] = {"value": said, "unit": "px", "tolerance": tolerance, "sigma": sigma}
    if said is None:
        return Score(value=0.0, detail=known)
    is_right = right(_point(said, tolerance), _point(truth, tolerance)) is True
    distance = math.dist(said, truth)
    graded: dict[str, Json] = {"distance_px": distance, "squared_error": distance**2}
    if sigma is not None and sigma > 0:
        graded["gaussian"] = math.exp(-0.5 * (distance / sigma) ** 2)
    return Score(value=float(is_right), detail={**known, **graded})


def _pair(value: Json) -> list[float] | None:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return None
    x, y = (finite(part) for part in value)
    return None if x is None or y is None else [x, y]


def _point(xy: list[float], tolerance: float) -> Point:
    """Without σ: here the measurement is the truth."""
    return Point(xy_px=np.array(xy), sigma_px=0.0, tolerance_px=tolerance)
