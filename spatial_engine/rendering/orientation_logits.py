"""Logits of an Orient Anything that states given angles."""

import numpy as np
from jaxtyping import Float32, Float64

_ROTATIONS = {722: 180, 902: 360, 900: 360}


def density(bins: int, mean_rad: float, fronts: int, kappa: float, first_deg: int = 0) -> Float64[np.ndarray, "b"]:
    """Von Mises over bins of one degree; uniform for 0 fronts."""
    x = np.deg2rad(first_deg + np.arange(bins))
    raw = np.exp(kappa * (np.cos(fronts * (x - mean_rad)) - 1))
    return np.asarray(raw / raw.sum())


def ideal_logits(
    head: int,
    azimuth_rad: float,
    polar_rad: float,
    rotation_rad: float,
    *,
    fronts: int = 1,
    kappa: float = 8.0,
    tilt_kappa: float = 300.0,
) -> Float32[np.ndarray, "d"]:
    """Logits of a head of that size (722, 902: V1, which states that there is a front; 900: V2).

    `kappa` and `tilt_kappa` are the concentrations of the azimuth and of the two other angles.
    """
    rotations = _ROTATIONS[head]
    azimuth = density(360, azimuth_rad, fronts, kappa)
    parts = [
        np.log(azimuth + 1e-30) if head != 900 else _logit(0.9 * azimuth / azimuth.max()),
        np.log(density(180, polar_rad, 1, tilt_kappa, -90) + 1e-30),
        np.log(density(rotations, rotation_rad, 1, tilt_kappa, -rotations // 2) + 1e-30),
        np.array([] if head == 900 else [6.0, -6.0]),
    ]
    return np.concatenate(parts).astype(np.float32)


def _logit(p: Float64[np.ndarray, "b"]) -> Float64[np.ndarray, "b"]:
    return np.log(p / (1 - p))
