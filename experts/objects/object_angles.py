"""Converts Orient Anything's outputs: logits to angles, σ and number of fronts; angles to rotations.

The model's frame F is (towards the viewer, picture's right, picture's up), along the ray to the object. Rx(rotation) ·
Ry(polar) · Rz(-azimuth) rotates object axes (x front, y left, z up) into it. Azimuth 0 faces the viewer, at 90° the
front points to the picture's left; polar > 0: seen from above; rotation > 0: counter-clockwise.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64
from scipy.optimize import minimize_scalar
from scipy.spatial.transform import Rotation

_CAM_FROM_F = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]])
_AZIMUTHS, _POLARS = 360, 180  # bins of one degree
_ROTATIONS = {722: 180, 902: 360, 900: 360}  # by size of the head; the zero lies in the middle
_WITHOUT_CONFIDENCE = 900
_KAPPA_MAX = 20.0


@dataclass(frozen=True, kw_only=True)
class AngleSettings:
    """Thresholds. Fits are upstream's own (V2, utils/app_utils.py). No accuracy per angle is published: σ is raw."""

    min_front: float = 0.5
    """V1: an object with at least this P(has a front) has one (upstream's demo)."""
    max_frontless: float = 0.1
    """V1: an object with at most this has none; in between it is unknown. Chosen, not calibrated."""
    fronts: tuple[int, ...] = (1, 2, 4)
    """V2: numbers of fronts that are tested, in this order."""
    min_kappa: tuple[float, ...] = (0.6, 0.5, 0.25)
    """... the smallest concentration of each ..."""
    min_fit: float = 0.45
    """... the smallest share of the variance that the fit explains ..."""
    good_fit: float = 0.8
    """... and the share from which on no further number is tested."""
    floor_rad: float = float(np.deg2rad(1.0))
    """Floor of σ: the model's bin."""


@dataclass(frozen=True, kw_only=True)
class ObjectAngles:
    """Orientation of one object in one picture, radians; NaN where unknown, with σ inf."""

    azimuth_rad: float
    """One of `fronts` equivalent ones."""
    polar_rad: float
    rotation_rad: float
    sigma_rad: Float64[np.ndarray, "3"]
    """Of azimuth, polar, rotation."""
    fronts: int
    """1; 2 or 4 if the object looks the same after a half or quarter rotation; 0 none; -1 unknown."""

    @property
    def rotation(self) -> Float64[np.ndarray, "3 3"]:
        """Rotates object axes into OpenCV axes of a camera that looks along the ray to the object; NaN without
        azimuth."""
        if not np.isfinite([self.azimuth_rad, self.polar_rad, self.rotation_rad]).all():
            return np.full((3, 3), np.nan)
        return rotation_of(self.azimuth_rad, self.polar_rad, self.rotation_rad)


_UNKNOWN = ObjectAngles(
    azimuth_rad=np.nan, polar_rad=np.nan, rotation_rad=np.nan, sigma_rad=np.full(3, np.inf), fronts=-1
)


def angles_from_logits(logits: Float[np.ndarray, "d"], settings: AngleSettings) -> ObjectAngles:
    """Angles from any of the three heads, identified by size: 722 and 902 (V1), 900 (V2). Raises ValueError for
    others."""
    if logits.size not in _ROTATIONS:
        raise ValueError(f"no head of Orient Anything has {logits.size} outputs; known: {sorted(_ROTATIONS)}")
    if not np.isfinite(logits).all():
        return _UNKNOWN
    raw = logits.astype(np.float64)
    ends = np.cumsum([_AZIMUTHS, _POLARS, _ROTATIONS[logits.size]])
    azimuths, polars, rotations, confidence = np.split(raw, ends)
    if logits.size == _WITHOUT_CONFIDENCE:
        density = 1 / (1 + np.exp(-azimuths))  # trained with a binary cross entropy per bin
        density /= density.sum()
        fronts = count_fronts(density, settings)
    else:
        density, front = _softmax(azimuths), float(_softmax(confidence)[0])
        fronts = 1 if front >= settings.min_front else 0 if front <= settings.max_frontless else -1
    if fronts == -1:
        return _UNKNOWN
    azimuth, azimuth_sigma = circular_mean(density, 0, fronts) if fronts else (np.nan, np.inf)
    polar, polar_sigma = circular_mean(_softmax(polars), -_POLARS // 2)
    rotation, rotation_sigma = circular_mean(_softmax(rotations), -rotations.size // 2)
    sigma = np.hypot([azimuth_sigma, polar_sigma, rotation_sigma], settings.floor_rad)
    full_circle = 2 * np.pi
    return ObjectAngles(
        azimuth_rad=azimuth % full_circle % full_circle,
        polar_rad=polar,
        rotation_rad=rotation,
        sigma_rad=sigma,
        fronts=fronts,
    )


def circular_mean(density: Float64[np.ndarray, "b"], first_deg: int, fold: int = 1) -> tuple[float, float]:
    """Mean and σ = √(-2 ln R) of bins of one degree that repeat `fold` times per revolution.

    The model is trained towards wide distributions, and σ includes that width.
    """
    rotated = fold * np.deg2rad(first_deg + np.arange(density.size))
    moment = np.sum(density * np.exp(1j * rotated))
    length = min(float(np.abs(moment)), 1.0)
    return float(np.angle(moment)) / fold, float(np.sqrt(-2 * np.log(length))) / fold if length > 0 else np.inf


def count_fronts(density: Float64[np.ndarray, "360"], settings: AngleSettings) -> int:
    """Number of fronts: the best fit of exp(κ·cos(n·(x - μ))) / 2π, and 0 if none is good enough.

    Idea and thresholds are Orient Anything V2's; here μ comes from the n-th circular moment, κ from least squares.
    """
    fits = []
    for fronts, min_kappa in zip(settings.fronts, settings.min_kappa, strict=True):
        kappa, explained = _fitted(density, fronts)
        fits.append((explained, fronts if kappa >= min_kappa and explained >= settings.min_fit else 0))
        if explained > settings.good_fit:
            break
    return max(fits, key=lambda fit: fit[0])[1]


def _fitted(density: Float64[np.ndarray, "360"], fronts: int) -> tuple[float, float]:
    """κ, and the share of the variance that the fit explains."""
    x = np.deg2rad(np.arange(_AZIMUTHS))
    per_rad = density * _AZIMUTHS / (2 * np.pi)
    wave = np.cos(fronts * (x - circular_mean(density, 0, fronts)[0]))
    best = minimize_scalar(_squared_error, bounds=(0.0, _KAPPA_MAX), method="bounded", args=(wave, per_rad))
    total = float(np.sum((per_rad - per_rad.mean()) ** 2))
    return float(best.x), 1 - float(best.fun) / (total + 1e-8)


def _squared_error(kappa: float, wave: Float64[np.ndarray, "360"], per_rad: Float64[np.ndarray, "360"]) -> float:
    return float(np.sum((per_rad - np.exp(kappa * wave) / (2 * np.pi)) ** 2))


def rotation_of(azimuth_rad: float, polar_rad: float, rotation_rad: float) -> Float64[np.ndarray, "3 3"]:
    """Rotates object axes (x front, y left, z up) into OpenCV axes of a camera that looks at the object."""
    rotated = Rotation.from_euler("XYZ", [rotation_rad, polar_rad, -azimuth_rad]).as_matrix()
    return np.asarray(_CAM_FROM_F @ rotated)


def angles_of(cam_from_object: Float64[np.ndarray, "3 3"]) -> tuple[float, float, float]:
    """Azimuth in [0, 2π), polar, rotation: the inverse of `rotation_of` (ambiguous from straight above)."""
    rotated = _CAM_FROM_F.T @ cam_from_object
    polar = float(np.arcsin(np.clip(rotated[0, 2], -1, 1)))
    azimuth = float(np.arctan2(rotated[0, 1], rotated[0, 0])) % (2 * np.pi)
    return azimuth, polar, float(np.arctan2(-rotated[1, 2], rotated[2, 2]))


def look_along(ray: Float64[np.ndarray, "3"]) -> Float64[np.ndarray, "3 3"]:
    """The smallest rotation from a camera that looks along `ray` to the camera. To first order, a crop around a pixel
    is the picture of the former, stretched but not rotated."""
    axis = np.cross([0.0, 0.0, 1.0], ray)
    sine = np.linalg.norm(axis)
    if sine == 0:
        return np.eye(3)
    return np.asarray(Rotation.from_rotvec(axis / sine * np.arctan2(sine, ray[2])).as_matrix())


def _softmax(logits: Float64[np.ndarray, "b"]) -> Float64[np.ndarray, "b"]:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()
