"""What GeoCalib says of a picture, in our terms: up, focal length, their σ, and when not to believe it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

_FOCAL, _K1 = 2, 3  # places in upstream's covariance
_RADII = 64
_K1_TOLERANCE = 0.01  # of the corner's radius: within a field of view of 70° less than half a degree


@dataclass(frozen=True, kw_only=True)
class TiltSettings:
    """Refusals, floors and the map from upstream's covariance to σ. Upstream's numbers: LaMAR, area under the recall
    curve up to 1 / 5 / 10°, from GeoCalib's README."""

    vfov_limits_deg: tuple[float, float] = (5.0, 150.0)
    """Upstream clamps the vertical field of view to these (camera.py): a result there is none."""
    k1_limit: float = 0.7
    """... and k1 to ± this."""
    limit_share: float = 0.01
    """This near to a limit, relative, counts as on it (float32 and the way back to the picture's size)."""
    moved_rad: float = float(np.deg2rad(0.2))
    """Converged: one more step of upstream's optimiser moves up and log f by less. A tenth of the floor."""
    min_confidence: float = 0.05
    """Least mean of upstream's per-pixel confidences (0 to 1). Chosen, nobody has calibrated it."""
    max_raw_sigma_rad: float = float(np.deg2rad(3.0))
    """Largest raw σ of up: twice the floor. Raw σ ranks pictures, it is no accuracy (see `sigma_factor`)."""
    sigma_factor: float = 1.0
    """σ over upstream's √covariance, which is curvature times confidence, not residual: 1.2e-2 rad on noise-free
    fields. To be fitted on footage with known tilt; 1 until then, and σ counts as raw."""
    up_floor_rad: float = float(np.deg2rad(1.5))
    """σ per axis of up: a normal error of 1.5° has the 5 / 10° areas of pitch, 77 / 86 % (roll's are better)."""
    vfov_floor_rad: float = float(np.deg2rad(5.0))
    """σ of the vertical field of view: a normal error of 5° has about upstream's areas, 42 / 60 %."""


@dataclass(frozen=True, kw_only=True)
class Tilt:
    """One picture as upstream sees it; pixels are those of the picture that it was given, its axis meets the middle."""

    up_cam: Float64[np.ndarray, "3"]
    """Upstream's `gravity.vec3d`: it points *up*; OpenCV camera axes."""
    width_px: int
    height_px: int
    focal_px: float
    """fy; upstream's fx differs only by the rounding of its resize."""
    k1: float
    """Upstream's: x_undistorted = x · (1 - k1·r²) in x / z, r of the *distorted* point. 0 for pinholes."""
    covariance: Float64[np.ndarray, "n n"]
    """Of roll and pitch (radians), then focal length (*network* pixels) unless it was given, then k1."""
    scale: float
    """Network pixels per picture pixel, along y."""
    focal_given: bool
    confidence: float
    """Mean of the confidences of the up and the latitude field."""
    moved_rad: float
    """How far one more step moves up and log f (the larger)."""

    @property
    def roll_pitch_rad(self) -> tuple[float, float]:
        """DESIGN §3: roll > 0 turned clockwise as seen from behind, pitch > 0 looks up. Upstream's signs are these."""
        x, y, z = self.up_cam
        return float(np.arctan2(-x, -y)), float(np.arcsin(np.clip(z, -1, 1)))

    @property
    def vfov_rad(self) -> float:
        """Vertical field of view, distortion ignored."""
        return float(2 * np.arctan2(self.height_px, 2 * self.focal_px))

    @property
    def raw_up_sigma_rad(self) -> float:
        """σ of up per axis, the larger of two, before factor and floor. A roll turns up by cos(pitch) as much."""
        roll, pitch = np.sqrt(np.diag(self.covariance)[:2])
        return float(max(roll * np.hypot(*self.up_cam[:2]), pitch))

    @property
    def raw_focal_relative_sigma(self) -> float:
        """σ_f / f before factor and floor; 0 where f was given. (Upstream's own `focal_uncertainty` is half of it.)"""
        if self.focal_given:
            return 0.0
        return float(np.sqrt(self.covariance[_FOCAL, _FOCAL])) / (self.focal_px * self.scale)

    @property
    def our_k1(self) -> float | None:
        """k1 of x_distorted = x · (1 + k1·r²), r undistorted: the best fit to upstream's polynomial over the picture;
        None where one such term cannot follow it.

        The two are each other's inverse to first order only: with upstream's k1 = -0.3 in ours, at a field of view of
        50°, a ray in the corner would be 14° off.
        """
        if self.k1 == 0:
            return 0.0
        distorted = np.linspace(0, np.hypot(self.width_px, self.height_px) / (2 * self.focal_px), _RADII)
        radius = distorted * (1 - self.k1 * distorted**2)
        k1 = float(np.sum(distorted * (distorted - radius) * radius**3) / np.sum(distorted * radius**6))
        follows = np.abs(radius * (1 + k1 * radius**2) - distorted).max() <= _K1_TOLERANCE * distorted[-1]
        return k1 if follows and (1 + 3 * k1 * radius**2 > 0).all() else None

    def turned_back(self, quarter_turns: int) -> "Tilt":
        """The picture itself, where this is the picture turned so many quarters counter-clockwise (np.rot90)."""
        x, y, z = self.up_cam
        width, height = self.width_px, self.height_px
        for _ in range(quarter_turns % 4):
            x, y, width, height = -y, x, height, width
        return replace(self, up_cam=np.array([x, y, z]), width_px=width, height_px=height)


def doubt(tilt: Tilt, settings: TiltSettings) -> str | None:
    """Why the picture tells nothing, short and countable; None: it may be believed as far as its σ."""
    numbers = [*tilt.up_cam, tilt.focal_px, tilt.k1, *tilt.covariance.ravel(), tilt.confidence, tilt.moved_rad]
    if not np.isfinite(numbers).all() or (np.diag(tilt.covariance) <= 0).any() or tilt.focal_px <= 0:
        return "no finite calibration"
    low, high = settings.vfov_limits_deg
    vfov_deg = np.rad2deg(tilt.vfov_rad)
    if not low * (1 + settings.limit_share) < vfov_deg < high * (1 - settings.limit_share):
        return "field of view at the model's limit"
    if abs(tilt.k1) > settings.k1_limit * (1 - settings.limit_share) or _folds(tilt):
        return "distortion at the model's limit"
    if tilt.moved_rad > settings.moved_rad:
        return "calibration did not converge"
    if tilt.confidence < settings.min_confidence:
        return "low confidence in the calibration"
    if tilt.raw_up_sigma_rad > settings.max_raw_sigma_rad:
        return "tilt too uncertain"
    return None


def up_sigma_rad(tilt: Tilt, settings: TiltSettings) -> float:
    """σ per axis of up."""
    return float(np.hypot(settings.sigma_factor * tilt.raw_up_sigma_rad, settings.up_floor_rad))


def pooled_focal(
    tilts: Sequence[Tilt], height_px: int, settings: TiltSettings
) -> tuple[float, Float64[np.ndarray, "n"], float]:
    """One focal length (pixels of a frame of that height) from pictures of one camera: (median, each picture's, σ_f/f).

    σ is the pictures' spread or their own σ, the larger, not divided by their number (they err alike), ⊕ floor.
    """
    focal_px = np.array([tilt.focal_px * height_px / tilt.height_px for tilt in tilts])
    median = float(np.median(focal_px))
    spread = 1.4826 * float(np.median(np.abs(np.log(focal_px / median))))
    own = settings.sigma_factor * float(np.median([tilt.raw_focal_relative_sigma for tilt in tilts]))
    vfov_rad = 2 * np.arctan2(height_px, 2 * median)
    return median, focal_px, float(np.hypot(max(spread, own), settings.vfov_floor_rad / np.sin(vfov_rad)))


def _folds(tilt: Tilt) -> bool:
    """Whether upstream's polynomial maps two radii inside the picture to one."""
    corner = np.hypot(tilt.width_px, tilt.height_px) / (2 * tilt.focal_px)
    return bool(3 * tilt.k1 * corner**2 >= 1)
