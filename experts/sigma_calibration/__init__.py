"""Scales the σ that experts state to the errors measured on sets with ground truth."""

from experts.sigma_calibration.sigma_calibration import (
    QUANTITIES,
    AnswerFactor,
    HeldOut,
    NotCalibrated,
    SigmaCalibration,
    SigmaFactor,
    packaged_calibration,
    read_calibration,
    with_sigma_calibration,
)

__all__ = [
    "QUANTITIES",
    "AnswerFactor",
    "HeldOut",
    "NotCalibrated",
    "SigmaCalibration",
    "SigmaFactor",
    "packaged_calibration",
    "read_calibration",
    "with_sigma_calibration",
]
