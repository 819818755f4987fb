"""Converts GeoCalib's prediction for one picture: up, focal length, their σ, and when the prediction must not be
used."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

_FOCAL = 2  # row in upstream's covariance
_RADII = 64
_K1_TOLERANCE = 0.01  # as a share of the corner's radius: less than 0.5° for fields of view up to 70°


@dataclass(frozen=True, kw_only=True)
class TiltSettings:
    """Thresholds, floors of σ, and σ from upstream's covariance. Upstream's accuracies are areas under the recall curve
    up to 1 / 5 / 10° on LaMAR, from GeoCalib's README."""

    vfov_limits_deg: tuple[float, float] = (5.0, 150.0)
    """Upstream clamps the vertical field of view to these limits (camera.py): a value at a limit is no estimate."""
    k1_limit: float = 0.7
    """Upstream clamps k1 to ± this."""
    limit_share: float = 0.01
    """A value within this share of a limit counts as at it (float32, and rounding when converted to the picture's
    size)."""
    max_step_rad: float = float(np.deg2rad(0.2))
    """The prediction has converged if one more step of upstream's optimiser changes up and log f by less. About a
    tenth of the floor."""
    min_confidence: float = 0.05
    """Smallest mean of upstream's per-pixel confidences (0 to 1). Chosen, not calibrated."""
    max_raw_sigma_rad: float = float(np.deg2rad(3.0))
    """Largest raw σ of up: twice the floor. Raw σ ranks pictures and is no accuracy (see `sigma_factor`)."""
    sigma_factor: float = 1.0
    """Ratio of σ to upstream's √covariance, which contains curvature and confidence but no residual: 1.2e-2 rad on
    noise-free fields. It must be fitted on footage with known tilt; until then it is 1, and σ is raw."""
    up_floor_rad: float = float(np.deg2rad(1.5))
    """Floor of σ per axis of up: a normal error of 1.5° has the 5 / 10° areas of pitch, 77 / 86 % (roll's are
    better)."""
    vfov_floor_rad: float = float(np.deg2rad(5.0))
    """Floor of σ of the vertical field of view: a normal error of 5° has about upstream's areas, 42 / 60 %."""


@dataclass(frozen=True, kw_only=True)
class Tilt:
    """Upstream's prediction for one picture, in its pixels. The principal point is the centre of the picture."""

    up_cam: Float64[np.ndarray, "3"]
    """Upstream's `gravity.vec3d`, which points *up*; OpenCV camera axes."""
    width_px: int
    height_px: int
    focal_px: float
    """fy; upstream's fx differs only by rounding when it resizes."""
    k1: float
    """Upstream's: x_undistorted = x · (1 - k1·r²) in x / z, with r of the *distorted* point. 0 for pinhole cameras."""
    covariance: Float64[np.ndarray, "n n"]
    """Of roll and pitch (radians), then focal length (*network* pixels) unless it was known, then k1."""
    scale: float
    """Network pixels per picture pixel, along y."""
    focal_known: bool
    """Whether upstream kept a known focal length."""
    confidence: float
    """Mean of the confidences of the up and the latitude field."""
    step_rad: float
    """Change of up or of log f (the larger) by one more step of the optimiser."""

    @property
    def roll_pitch_rad(self) -> tuple[float, float]:
        """Roll > 0: the camera is rotated clockwise, seen from behind. Pitch > 0: it looks up. Upstream has
        the same signs."""
        x, y, z = self.up_cam
        return float(np.arctan2(-x, -y)), float(np.arcsin(np.clip(z, -1, 1)))

    @property
    def vfov_rad(self) -> float:
        """Vertical field of view without distortion."""
        return float(2 * np.arctan2(self.height_px, 2 * self.focal_px))

    @property
    def raw_up_sigma_rad(self) -> float:
        """σ of up, the larger of both axes, before factor and floor. A roll rotates up by cos(pitch) times its
        angle."""
        roll, pitch = np.sqrt(np.diag(self.covariance)[:2])
        return float(max(roll * np.hypot(*self.up_cam[:2]), pitch))

    @property
    def raw_focal_relative_sigma(self) -> float:
        """σ_f / f before factor and floor; 0 if f was known. (Upstream's own `focal_uncertainty` is half of it.)"""
        if self.focal_known:
            return 0.0
        return float(np.sqrt(self.covariance[_FOCAL, _FOCAL])) / (self.focal_px * self.scale)

    @property
    def our_k1(self) -> float | None:
        """k1 of our model, x_distorted = x · (1 + k1·r²) with r undistorted, fitted to upstream's polynomial over the
        picture. None if one such term does not fit.

        The two models are inverse to first order only. With upstream's k1 = -0.3 in our model, a ray in the corner
        would have an error of 14° at a field of view of 50°.
        """
        if self.k1 == 0:
            return 0.0
        distorted = np.linspace(0, np.hypot(self.width_px, self.height_px) / (2 * self.focal_px), _RADII)
        radius = distorted * (1 - self.k1 * distorted**2)
        k1 = float(np.sum(distorted * (distorted - radius) * radius**3) / np.sum(distorted * radius**6))
        fits = np.abs(radius * (1 + k1 * radius**2) - distorted).max() <= _K1_TOLERANCE * distorted[-1]
        return k1 if fits and (1 + 3 * k1 * radius**2 > 0).all() else None

    def before_rot90(self, k: int) -> "Tilt":
        """The tilt of the original picture, if this is the tilt of `np.rot90(picture, k)`."""
        x, y, z = self.up_cam
        width, height = self.width_px, self.height_px
        for _ in range(k % 4):
            x, y, width, height = -y, x, height, width
        return replace(self, up_cam=np.array([x, y, z]), width_px=width, height_px=height)


def refusal_reason(tilt: Tilt, settings: TiltSettings) -> str | None:
    """Short and stable reason why the prediction must not be used; None if it passes all checks."""
    numbers = [*tilt.up_cam, tilt.focal_px, tilt.k1, *tilt.covariance.ravel(), tilt.confidence, tilt.step_rad]
    if not np.isfinite(numbers).all() or (np.diag(tilt.covariance) <= 0).any() or tilt.focal_px <= 0:
        return "no finite calibration"
    low, high = settings.vfov_limits_deg
    vfov_deg = np.rad2deg(tilt.vfov_rad)
    if not low * (1 + settings.limit_share) < vfov_deg < high * (1 - settings.limit_share):
        return "field of view at the model's limit"
    if abs(tilt.k1) > settings.k1_limit * (1 - settings.limit_share) or _folds(tilt):
        return "distortion at the model's limit"
    if tilt.step_rad > settings.max_step_rad:
        return "calibration did not converge"
    if tilt.confidence < settings.min_confidence:
        return "low confidence in the calibration"
    if tilt.raw_up_sigma_rad > settings.max_raw_sigma_rad:
        return "tilt too uncertain"
    return None


def up_sigma_rad(tilt: Tilt, settings: TiltSettings) -> float:
    """σ per axis of up, with factor and floor."""
    return float(np.hypot(settings.sigma_factor * tilt.raw_up_sigma_rad, settings.up_floor_rad))


def pooled_focal(
    tilts: Sequence[Tilt], height_px: int, settings: TiltSettings
) -> tuple[float, Float64[np.ndarray, "n"], float]:
    """(median focal length of pictures of one camera, that of each picture, σ_f/f), in pixels of a frame of height
    `height_px`.

    σ is the robust standard deviation over the pictures or their median σ, whichever is larger, ⊕ floor. It is not
    divided by √count, as the pictures share their errors.
    """
    focal_px = np.array([tilt.focal_px * height_px / tilt.height_px for tilt in tilts])
    median = float(np.median(focal_px))
    deviation = 1.4826 * float(np.median(np.abs(np.log(focal_px / median))))
    own = settings.sigma_factor * float(np.median([tilt.raw_focal_relative_sigma for tilt in tilts]))
    vfov_rad = 2 * np.arctan2(height_px, 2 * median)
    return median, focal_px, float(np.hypot(max(deviation, own), settings.vfov_floor_rad / np.sin(vfov_rad)))


def _folds(tilt: Tilt) -> bool:
    """Whether upstream's polynomial maps two radii inside the picture to the same one."""
    corner = np.hypot(tilt.width_px, tilt.height_px) / (2 * tilt.focal_px)
    return bool(3 * tilt.k1 * corner**2 >= 1)
