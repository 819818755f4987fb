"""Which of two lengths is larger, or their ratio, from its measured logarithm."""

import numpy as np

from templates.answers import Label, Numbers
from templates.measured import Measured
from templates.question import FormatName


def larger_or_ratio(format: FormatName, measured: Measured, tolerance: float) -> Label | Numbers:
    """From ln(length 2 / length 1): "1" or "2" for a choice; else the ratio, whose tolerance is a share of it."""
    value, sigma = measured.value[:, 0], measured.sigma[:, 0]
    if format == "choice":
        with np.errstate(divide="ignore", invalid="ignore"):
            margin = np.abs(value) / sigma
        return Label(text=np.where(value > 0, "2", "1"), margin=margin, outlier_probability=measured.outliers)
    ratio = np.exp(measured.value)
    return Numbers.within_share("ratio", ratio, ratio * measured.sigma, tolerance, measured.outliers, unit="")
