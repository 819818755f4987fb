"""The horizontal direction in which something lies: eight directions in words, or degrees."""

import numpy as np
from jaxtyping import Float64, Int64

from templates.answers import Label, Numbers
from templates.answers.answers import Answers
from templates.measured import Measured, first_reason
from templates.offer import Offer
from templates.question import FormatName
from templates.scene.misleading import taking_turns

DIRECTIONS = (
    "ahead",
    "ahead and to the right",
    "to the right",
    "behind and to the right",
    "behind",
    "behind and to the left",
    "to the left",
    "ahead and to the left",
)
"""Clockwise from straight ahead, 45° each."""
FROM_BORDER_DEG = 4.0
"""Least distance from the border between two named directions."""
_QUARTER_TURNS = np.array([0, 2, 4, 6])
"""Steps of 45° to the options: all lie 90° from each other, so that none stands out."""
_ALONG = ("", "a quarter turn off", "front and back exchanged", "a quarter turn off")
_BESIDE = ("", "a quarter turn off", "mirrored", "a quarter turn off")
_DIAGONAL = ("", "front and back exchanged", "opposite", "mirrored")
_ACROSS = ("", "mirrored", "opposite", "front and back exchanged")
_MISTAKES = np.array([_ALONG, _DIAGONAL, _BESIDE, _ACROSS] * 2)
"""The mistakes that lead to the options, by the right direction."""


def bearings(
    format: FormatName,
    azimuth_deg: Float64[np.ndarray, "n"],
    sigma_deg: Float64[np.ndarray, "n"],
    outlier_probability: Float64[np.ndarray, "n"],
    tolerance_deg: float,
    *,
    from_border_deg: float = FROM_BORDER_DEG,
) -> Answers:
    """Azimuths clockwise from ahead: one of eight directions in the format choice, else degrees with a tolerance."""
    if format == "choice":
        sector = np.nan_to_num(np.round(azimuth_deg / 45)).astype(np.int64)
        inside = 22.5 - np.abs(azimuth_deg - 45 * sector)
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = inside / sigma_deg
        label = Label(text=np.array(DIRECTIONS)[sector % 8], margin=margin, outlier_probability=outlier_probability)
        near = inside < from_border_deg
        return Answers.of(label, first_reason(len(azimuth_deg), {"it lies between two of the directions": near}))
    numbers = Numbers(
        names=("azimuth",),
        value=azimuth_deg[:, None],
        sigma=sigma_deg[:, None],
        tolerance=np.full((len(azimuth_deg), 1), tolerance_deg),
        unit="deg",
        period=360.0,
        decimals=0,
        outlier_probability=outlier_probability,
    )
    return Answers.of(numbers, np.full(len(azimuth_deg), ""))


def in_all_directions(measured: Measured) -> Int64[np.ndarray, "k"]:
    """The rows with a measured azimuth (rad); the eight directions take turns as far as they can be had."""
    known = np.flatnonzero(measured.why == "")
    sector = np.round(np.degrees(measured.value[known, 0]) / 45).astype(np.int64) % len(DIRECTIONS)
    return known[taking_turns(sector.astype(np.str_))]


def offered_directions(answers: Answers) -> Offer:
    """The right direction, and those a quarter turn, half a turn and three quarters from it."""
    right = answers.among(DIRECTIONS)
    options = np.array(DIRECTIONS)[(right[:, None] + _QUARTER_TURNS) % len(DIRECTIONS)]
    return Offer.first_right(options, mistakes=_MISTAKES[right])
