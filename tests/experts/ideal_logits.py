"""Logits of an Orient Anything without error."""

import numpy as np

_ROTATIONS = {722: 180, 902: 360, 900: 360}


def density(bins: int, mean_rad: float, fronts: int, kappa: float, first_deg: int = 0) -> np.ndarray:
    """Von Mises over bins of one degree."""
    x = np.deg2rad(first_deg + np.arange(bins))
    raw = np.exp(kappa * (np.cos(fronts * (x - mean_rad)) - 1))
    return raw / raw.sum()


def ideal_logits(
    head: int, azimuth_rad: float, polar_rad: float, rotation_rad: float, *, fronts: int = 1, kappa: float = 8.0
) -> np.ndarray:
    """Logits of a head of that size; V1's state that there is a front."""
    rotations = _ROTATIONS[head]
    azimuth = density(360, azimuth_rad, fronts, kappa)
    parts = [
        np.log(azimuth) if head != 900 else _logit(0.9 * azimuth / azimuth.max()),
        np.log(density(180, polar_rad, 1, 300.0, -90) + 1e-30),
        np.log(density(rotations, rotation_rad, 1, 300.0, -rotations // 2) + 1e-30),
        [] if head == 900 else [6.0, -6.0],
    ]
    return np.concatenate(parts).astype(np.float32)


def _logit(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1 - p))
