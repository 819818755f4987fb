"""From σ as an expert states it to σ as it was measured on sets with ground truth: factors, kept as numbers."""

from experts.sigma_calibration.applying import QUANTITIES, with_sigma_calibration
from experts.sigma_calibration.sigma_calibration import SigmaCalibration, packaged_calibration, read_calibration
from experts.sigma_calibration.sigma_factor import HeldOut, NotCalibrated, SigmaFactor

__all__ = [
    "QUANTITIES",
    "HeldOut",
    "NotCalibrated",
    "SigmaCalibration",
    "SigmaFactor",
    "packaged_calibration",
    "read_calibration",
    "with_sigma_calibration",
]
