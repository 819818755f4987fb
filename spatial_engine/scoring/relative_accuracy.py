"""Mean relative accuracy (Yang et al. 2024, Thinking in Space, eq. 1), with the errors of its codes mended."""

import math

_LIMITS = tuple(k / 20 for k in range(1, 11))
"""1 - θ for θ = 0.5, 0.55, ... 0.95, without the noise of linspace: an error of exactly 20 % passes 20 %."""
_ROUNDING = 1e-12


def mean_relative_accuracy(said: float, true: float) -> float:
    """Share of the ten limits 5 %, 10 %, ... 50 % that |said - true| / |true| does not exceed: 0, 0.1, ... 1.

    For quantities on a ratio scale: lengths, counts, ratios; a direction has no zero. Published codes divide by the
    signed truth, which lets every answer to a negative one pass. A truth of 0 takes the answer itself for its error,
    as VLMEvalKit does. NaN and infinite answers give 0.
    """
    if not (math.isfinite(said) and math.isfinite(true)):
        return 0.0
    error = abs(said - true) / (abs(true) or 1.0)
    return sum(error <= limit + _ROUNDING for limit in _LIMITS) / len(_LIMITS)
