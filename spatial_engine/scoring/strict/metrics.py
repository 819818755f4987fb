"""The published metrics of one answer without their known defects: letters, numbers, yes or no, angles, points,
judges."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import UInt8

from spatial_engine.scoring.reading import (
    conclusion,
    read_choice,
    read_number,
    read_object,
    read_point,
    read_yes_no,
)
from spatial_engine.scoring.reading.json_object import as_number, objects
from spatial_engine.scoring.strict.rows import UnreadableError, mapping, number, strict_metric, value_of
from templates.answers.measures import gaussian_score, mean_relative_accuracy
from templates.answers.score import UnscorableError

_FEWEST = 4
"""Letters that are read where a row lists no options."""


@strict_metric
def multichoiceeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """1 if the response chooses the right option. A response that cannot be read is wrong; nothing is guessed.

    `answer`: a letter, alone or before its option ("B", "B. table"); `extra_info["option"]`: the options in order.
    """
    letter = letter_of(answer)
    options = extra_info.get("option") or []
    if not isinstance(options, list | tuple) or not all(isinstance(option, str) for option in options):
        raise UnscorableError("the options are not a list of texts")
    place = ord(letter) - ord("A")
    if options and place >= len(options):
        raise UnscorableError(f"the answer {letter} is not one of the {len(options)} options")
    prediction = value_of(read_choice(response, options or [""] * max(_FEWEST, place + 1)))
    return float(prediction == letter), {"prediction": prediction}


def letter_of(answer: Any) -> str:
    """The letter of a row's answer. Raises `UnscorableError`."""
    found = re.match(r"\s*\(?([A-Z])(?:\W|$)", answer, re.IGNORECASE) if isinstance(answer, str) else None
    if found is None:
        raise UnscorableError("the answer is not a letter")
    return found[1].upper()


@strict_metric
def meanrelativeacc(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean relative accuracy: the share of ten limits that |prediction - target| / |target| does not exceed (target 0:
    |prediction|).

    `answer`: a number; `extra_info["unit"]`: its unit, if it has one; the response is converted to it.
    """
    target = number(answer, "the answer")
    unit = extra_info.get("unit", "")
    prediction = value_of(read_number(response, unit if isinstance(unit, str) else ""))
    return mean_relative_accuracy(prediction, target), {"prediction": prediction}


@strict_metric
def judgemodel(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """1 if the response gives the answer, "yes" or "no" in any case. `extra_info` is not used."""
    target = answer.strip().lower().rstrip(".") if isinstance(answer, str) else ""
    if target not in ("yes", "no"):
        raise UnscorableError("the answer is neither yes nor no")
    prediction = value_of(read_yes_no(response))
    return float(prediction == target), {"prediction": prediction}


_PERIOD_DEG = {"roll": 360.0, "pitch": 360.0, "vfov": None}


@strict_metric
def gravityeval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Mean of exp(-d² / 2σ²) over roll, pitch, vfov in degrees, d wrapped to ±180°. σ = 0: 1 if equal, else 0.

    `answer`: their JSON; `extra_info`: roll_unc, pitch_unc, vfov_unc. All three must be there and finite.
    """
    given = mapping(answer, "the answer")
    target = {name: number(given.get(name), f"the answer's {name}") for name in _PERIOD_DEG}
    sigma = {name: number(extra_info.get(f"{name}_unc"), f"{name}_unc") for name in _PERIOD_DEG}
    prediction = value_of(read_object(response, tuple(_PERIOD_DEG), unit="deg"))
    terms = {
        name: gaussian_score(prediction[name], target[name], sigma[name], period, exact_counts=True)
        for name, period in _PERIOD_DEG.items()
    }
    return sum(terms.values()) / len(terms), {"prediction": prediction, "terms": terms}


@strict_metric
def aff_mask_metric(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """Grey value, from 0 to 1, of the mask at the point that the response gives; 0 outside the picture.

    `answer`: base64 of a picture file. The point may be fractions, percents, thousandths, pixels or a box's centre
    (`read_point`). `extra_info` is not used.
    """
    mask = _decoded(answer)
    height, width = mask.shape
    x, y = value_of(read_point(response, width, height))
    column, row = round(x), round(y)
    inside = 0 <= column < width and 0 <= row < height
    value = int(mask[row, column]) if inside else 0
    return value / 255, {"column": column, "row": row, "inside": inside}


def _decoded(answer: Any) -> UInt8[np.ndarray, "h w"]:
    import cv2

    text = answer.split("base64,", 1)[-1] if isinstance(answer, str) else ""
    try:
        data = np.frombuffer(base64.b64decode(text + "==="), dtype=np.uint8)
        mask = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
    except (binascii.Error, ValueError, cv2.error):
        mask = None
    if mask is None or mask.size == 0:
        raise UnscorableError("the answer is not a picture")
    return np.asarray(mask, dtype=np.uint8)


@strict_metric
def gpteval(response: str, answer: Any, extra_info: Mapping[str, Any]) -> tuple[float, dict[str, Any]]:
    """The judge's score, from 0 to 1, in the last JSON object with an `answer_score`; else the number that the reply
    states. A score outside 0 to 1 counts as unread. `response` is the judge's reply; the other two are not used."""
    given = next((found["answer_score"] for found in objects(conclusion(response)) if "answer_score" in found), None)
    while isinstance(given, list) and len(given) == 1:
        given = given[0]
    score = value_of(read_number(response)) if given is None else as_number(given)
    if score is None or not 0 <= score <= 1:
        raise UnreadableError("the judge's score is not from 0 to 1")
    return score, {}
