"""How far written numbers are from true ones, beside the σ that both state."""

import numpy as np
from jaxtyping import Float64

from templates.answer import MOTIONS, Answer, Numbers, Plan, Point, Shape, rms

Errors = tuple[dict[str, float], dict[str, float]]
"""(error, σ) by the number's name."""


def numeric_error(answer: Answer, true: Answer | None) -> Errors:
    """Answer minus truth and σ of that difference, in the answer's units; nothing for what is no number."""
    match answer, true:
        case Numbers(), Numbers():
            rows = [true.names.index(name) for name in answer.names if name in true.names]
            names = [name for name in answer.names if name in true.names]
            own = [answer.names.index(name) for name in names]
            off = answer.value[own] - true.value[rows]
            if answer.period:
                off = (off + answer.period / 2) % answer.period - answer.period / 2
            return _named(names, off, np.hypot(answer.sigma[own], true.sigma[rows]))
        case Point(), Point():
            sigma = np.full(2, np.hypot(answer.sigma_px, true.sigma_px))
            return _named(["x", "y"], answer.xy_px - true.xy_px, sigma)
        case Plan(), Plan():
            return _named(list(MOTIONS), answer.amounts - true.amounts, np.hypot(answer.sigma, true.sigma))
        case Shape(), Shape():
            sigma = np.hypot(answer.sigma, true.sigma)
            return {"rms": rms(answer.points, true.points)}, {"rms": float(sigma)}
    return {}, {}


def _named(names: list[str], off: Float64[np.ndarray, "d"], sigma: Float64[np.ndarray, "d"]) -> Errors:
    return dict(zip(names, off.tolist(), strict=True)), dict(zip(names, sigma.tolist(), strict=True))
