"""Sources of the focal length: the user, a reconstruction, an estimate without a path, or a broad prior."""

from dataclasses import dataclass, replace

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.mapping.bundle_adjustment import refitted_focal
from experts.mapping.colmap_mapping import SparseReconstruction
from experts.signals import CENTRE_RELATIVE_SIGMA, Calibration, NoEstimate, Signals
from experts.stated_camera import contradicted


@dataclass(frozen=True, kw_only=True)
class FocalSettings:
    """Shares are of the longer side of the frame."""

    start_shares: tuple[float, float] = (0.6, 1.1)
    """Initial focal lengths of the two reconstructions, on either side of real cameras (Kinect 0.82, ScanNet 0.90, fox
    0.72)."""
    spare_shares: tuple[float, ...] = (0.85, 0.7)
    """Initial values of further reconstructions if one of the two is rejected: the solver has local minima."""
    extreme_shares: tuple[float, ...] = (0.45, 1.5, 0.6, 1.2)
    """Cameras that film scenes rarely have a focal length outside the first two values. If the footage does not
    determine the focal length, one reconstruction is made at either extreme, and only questions with the same answer in
    both are asked. If an extreme loses observations, the footage excludes it and the next value is tried."""
    extreme_keyframes: int = 6
    """Smallest number of keyframes for that: with four keyframes and a moving object, wrong reconstructions passed."""
    extreme_ratio: float = 2.0
    """Smallest ratio between the two extremes."""
    max_extreme_loss: float = 1.5
    """Limit of the observations of any reconstruction, as a multiple of those of each of the two used."""
    unknown_share: float = 0.75
    """Focal length of an unknown camera."""
    unknown_relative_sigma: float = 0.33
    """Its σ_f/f: most cameras are at 0.5 to 1.3 (two labels about a room at 0.51 were wrong with 0.85 ± 20 %)."""
    estimated_relative_floor: float = 0.01
    """Smallest systematic σ of an estimate, ..."""
    spread_factor: float = 1.5
    """... to which the spread of the focal lengths of several camera models is added, this many times (formal σ
    alone: errors of up to 25 σ), ..."""
    formal_factor: float = 3.0
    """... and the formal σ this many times, because errors of observations are not independent: where camera models
    agree, a clip of seven keyframes erred by 8 formal σ, and a rolling shutter on a way straight ahead by 6. With both,
    78 % of nine real sets are within 1 σ and all within 2 (docs/sigma_calibration.md)."""
    user_relative_floor: float = 0.005
    """σ of the user's own focal length, if the footage confirms it: ..."""
    max_user_error: float = 0.08
    """... if the focal length that fits best with the same distortion differs by at most this ⊕ 2 formal σ (true ones
    of 12 sets: at most 0.068), ..."""
    confirming_sigma: float = 0.03
    """... and has at most this formal σ, or an independent estimate with at most this σ_f/f agrees ..."""
    agreeing_sigmas: float = 2.0
    """... within this many combined σ. Otherwise the footage does not confirm it: its σ is the difference ⊕ the formal
    σ, and without a reconstruction it is not used."""
    plausible_shares: tuple[float, float] = (0.5, 1.8)
    """An estimate outside is refused, unless the footage determines that of a long lens well: every wrong
    reconstruction measured had such a focal length or a large distortion."""
    max_relative_sigma: float = 0.15
    """A reconstruction with a larger σ of the focal length is refused, as its shape is unknown, ..."""
    max_long_relative_sigma: float = 0.05
    """... or with a larger one than this where the focal length is beyond `plausible_shares`: through a long lens the
    directions between places bend more than their σ says (in a rendered room by 4 degrees at σ 0.09; by 2 at 0.05)."""
    max_disagreement: float = 0.25
    """Largest relative difference between the focal lengths of the two reconstructions."""
    alternative_factor: float = 1.3
    """An alternative reconstruction has a focal length this many times longer or shorter."""
    max_alternative_share: float = 1.2
    """An alternative with more than this many times the observations refutes the reconstruction. Wrong ones of arcs (f
    0.54 to 0.70 of the true one, two initial values agreeing, residuals of 0.4 px) had alternatives with 1.33 to 1.6;
    correct ones of eight real and rendered clips had at most 1.12."""
    max_independent_sigma: float = 0.12
    """Largest σ_f/f of an independent estimate that is used."""
    independent_sigmas: float = 3.0
    """A reconstruction whose focal length differs from an independent estimate by this many combined σ is rejected."""


@dataclass(frozen=True, kw_only=True)
class KnownCamera:
    """What is known of the camera before any reconstruction."""

    camera: Intrinsics
    """Full size."""
    relative_sigma: float
    """σ_f/f."""
    centre_relative_sigma: tuple[float, float] = (CENTRE_RELATIVE_SIGMA, CENTRE_RELATIVE_SIGMA)
    """σ of either coordinate of the principal point over the focal length; 0 of the user's camera."""

    def error_in_sigmas(self, camera: Intrinsics, relative_sigma: float) -> float:
        """Difference from the focal length of an estimate (at any image size), in combined σ."""
        here = self.camera.scaled(camera.width_px, camera.height_px)
        return float(abs(np.log(camera.fx_px / here.fx_px)) / np.hypot(relative_sigma, self.relative_sigma))

    def shifted(self, sigmas: float) -> Intrinsics:
        """The camera with a focal length `sigmas` σ longer."""
        factor = 1 + sigmas * self.relative_sigma
        return replace(self.camera, fx_px=self.camera.fx_px * factor, fy_px=self.camera.fy_px * factor)


def user_camera(clip: Clip, settings: FocalSettings) -> KnownCamera | None:
    """The user's camera, if provided."""
    if clip.options.intrinsics is None:
        return None
    camera = clip.options.intrinsics.scaled(clip.width_px, clip.height_px)
    return KnownCamera(camera=camera, relative_sigma=settings.user_relative_floor, centre_relative_sigma=(0.0, 0.0))


def agrees(signals: Signals, user: KnownCamera, settings: FocalSettings) -> bool:
    """Whether an estimate without a reconstruction confirms the user's camera."""
    found = signals.get("calibration")
    if not isinstance(found, Calibration) or found.focal_relative_sigma > settings.confirming_sigma:
        return False
    return user.error_in_sigmas(found.intrinsics, found.focal_relative_sigma) <= settings.agreeing_sigmas


def held_against_footage(sparse: SparseReconstruction, settings: FocalSettings) -> float | NoEstimate:
    """σ_f/f of the user's camera, with which `sparse` was made; or that the footage contradicts it."""
    ln_factor, sigma = refitted_focal(sparse)
    if abs(ln_factor) > np.hypot(settings.max_user_error, 2 * sigma):
        return contradicted(float(np.exp(ln_factor)), "bundle adjustment", sigma)
    if sigma <= settings.confirming_sigma:
        return settings.user_relative_floor
    return min(float(np.hypot(sigma, ln_factor)), settings.unknown_relative_sigma)


def independent_camera(signals: Signals, settings: FocalSettings) -> KnownCamera | None:
    """The camera as estimated without a reconstruction, if its σ is calibrated and small enough."""
    found = signals.get("calibration")
    if not isinstance(found, Calibration) or found.provenance.sigma == "raw":
        return None
    if found.focal_relative_sigma > settings.max_independent_sigma:
        return None
    return KnownCamera(camera=found.intrinsics, relative_sigma=found.focal_relative_sigma)


def plausible_shares(known: KnownCamera | None, settings: FocalSettings) -> tuple[float, float]:
    """Plausible focal lengths of a reconstruction, as shares of the longer side: the usual range, extended to a known
    camera."""
    low, high = settings.plausible_shares
    if known is None:
        return low, high
    share = known.camera.fx_px / max(known.camera.width_px, known.camera.height_px)
    return min(low, share * (1 - known.relative_sigma)), max(high, share * (1 + known.relative_sigma))


def max_relative_sigma(camera: Intrinsics, settings: FocalSettings) -> float:
    """Largest accepted σ_f/f of a reconstruction with this camera."""
    long = camera.fx_px > settings.plausible_shares[1] * max(camera.width_px, camera.height_px)
    return settings.max_long_relative_sigma if long else settings.max_relative_sigma


def unknown_camera(clip: Clip, settings: FocalSettings) -> KnownCamera:
    """A broad prior for a camera of which nothing is known."""
    focal = settings.unknown_share * max(clip.width_px, clip.height_px)
    camera = Intrinsics.centred(clip.width_px, clip.height_px, focal)
    return KnownCamera(camera=camera, relative_sigma=settings.unknown_relative_sigma)


def estimated_relative_sigma(
    sparse: SparseReconstruction, other: SparseReconstruction, settings: FocalSettings
) -> float:
    """σ_f/f of an estimate: formal ⊕ half the difference to the other reconstruction ⊕ spread over camera models ⊕
    floor."""
    formal = settings.formal_factor * max(sparse.focal_formal_sigma, other.focal_formal_sigma)
    half = disagreement(sparse.camera.fx_px, other.camera.fx_px) / 2
    spread = settings.spread_factor * max(sparse.focal_spread, other.focal_spread)
    return float(np.linalg.norm([formal, half, spread, settings.estimated_relative_floor]))


def disagreement(focal_px: float, other_px: float) -> float:
    """Relative difference of two focal lengths."""
    return 2 * abs(focal_px - other_px) / (focal_px + other_px)
