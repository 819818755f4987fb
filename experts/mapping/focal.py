"""What is believed about the focal length: the user's word, an estimate from a map, one without a map, or nothing."""

from dataclasses import dataclass, replace

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.signals import Calibration, Signals


@dataclass(frozen=True, kw_only=True)
class FocalSettings:
    """Shares are of the longer side of the frame."""

    start_shares: tuple[float, float] = (0.6, 1.1)
    """Focal starts of the two maps: either side of real cameras (Kinect 0.82, ScanNet 0.90, fox 0.72)."""
    spare_shares: tuple[float, ...] = (0.85, 0.7)
    """Starts of further maps, where one of the two is refused: a start is only a start, and the solver has local
    minima."""
    extreme_shares: tuple[float, ...] = (0.45, 1.5, 0.6, 1.2)
    """Hardly a camera that films scenes has a shorter or longer focal length than the first two. Where footage does not
    tell it, one map is made at either end, and only what both say is asked; ends that lose what was seen are no
    cameras of this footage, and the next are tried."""
    extreme_keyframes: int = 6
    """... of clips with so many keyframes: four with a mover were mapped wrongly, and passed."""
    extreme_ratio: float = 2.0
    """Both ends are so many times apart, ..."""
    max_extreme_loss: float = 1.5
    """... and no map has more than so many times their observations."""
    unknown_share: float = 0.85
    """Focal length of a camera about which nothing is known."""
    unknown_relative_sigma: float = 0.20
    """Its σ: real cameras lie at 0.5 to 1.3."""
    estimated_relative_floor: float = 0.05
    """Systematic σ of an estimate: on a forward drive three starts agree to 1 % and are 4 % wrong."""
    given_relative_floor: float = 0.005
    """σ of the user's own focal length."""
    plausible_shares: tuple[float, float] = (0.5, 1.8)
    """An estimate outside is refused: every wrong map measured went there or to a large distortion."""
    min_noise_px: float = 0.3
    """Floor of the pixel noise (working size) behind the formal σ: SIFT points are no better."""
    max_relative_sigma: float = 0.15
    """With a larger σ a map's focal length, and with it the shape of everything, is not known: refused."""
    max_disagreement: float = 0.25
    """Largest relative difference between the focal lengths of the two maps."""
    rival_factor: float = 1.3
    """A map at a focal length so many times longer or shorter ..."""
    max_rival_share: float = 1.2
    """... that keeps more than so many times the observations is a rival: nothing is known. Wrong maps of arcs (f 0.54
    to 0.70 of the true one, two starts agreeing, residuals of 0.4 px) had rivals with 1.33 to 1.6; right maps of eight
    real and rendered clips 1.12 at most."""
    max_witness_sigma: float = 0.12
    """An estimate without a map counts up to this σ_f/f."""
    witness_sigmas: float = 3.0
    """A map whose focal length is so many joint σ off such an estimate is refused; an implausible one that is no more
    than one off is not."""


@dataclass(frozen=True, kw_only=True)
class KnownCamera:
    """What is known of the camera before any map is made."""

    camera: Intrinsics
    """Full size."""
    relative_sigma: float
    """σ_f/f."""

    def sigmas_off(self, camera: Intrinsics, relative_sigma: float) -> float:
        """How many joint σ the focal length of an estimate, at any size, lies off."""
        here = self.camera.scaled(camera.width_px, camera.height_px)
        return float(abs(np.log(camera.fx_px / here.fx_px)) / np.hypot(relative_sigma, self.relative_sigma))

    def shifted(self, sigmas: float) -> Intrinsics:
        """The camera with a focal length so many σ longer."""
        factor = 1 + sigmas * self.relative_sigma
        return replace(self.camera, fx_px=self.camera.fx_px * factor, fy_px=self.camera.fy_px * factor)


def users_camera(clip: Clip, settings: FocalSettings) -> KnownCamera | None:
    """The user's camera, if given."""
    if clip.options.intrinsics is None:
        return None
    camera = clip.options.intrinsics.scaled(clip.width_px, clip.height_px)
    return KnownCamera(camera=camera, relative_sigma=settings.given_relative_floor)


def witness(signals: Signals, settings: FocalSettings) -> KnownCamera | None:
    """The camera as measured without its path, if it was, with a σ that is measured and small enough."""
    found = signals.get("calibration")
    if not isinstance(found, Calibration) or found.provenance.sigma == "raw":
        return None
    if found.focal_relative_sigma > settings.max_witness_sigma:
        return None
    return KnownCamera(camera=found.intrinsics, relative_sigma=found.focal_relative_sigma)


def plausible_shares(known: KnownCamera | None, settings: FocalSettings) -> tuple[float, float]:
    """Where the focal length of a map may lie, as shares of the longer side: the usual, and what is known."""
    low, high = settings.plausible_shares
    if known is None:
        return low, high
    share = known.camera.fx_px / max(known.camera.width_px, known.camera.height_px)
    return min(low, share * (1 - known.relative_sigma)), max(high, share * (1 + known.relative_sigma))


def guessed_camera(clip: Clip, settings: FocalSettings) -> KnownCamera:
    """A camera about which nothing is known."""
    focal = settings.unknown_share * max(clip.width_px, clip.height_px)
    camera = Intrinsics.centred(clip.width_px, clip.height_px, focal)
    return KnownCamera(camera=camera, relative_sigma=settings.unknown_relative_sigma)


def estimated_relative_sigma(focal_px: float, formal_px: float, other_px: float, settings: FocalSettings) -> float:
    """σ_f/f of an estimate: formal ⊕ half the difference to the other map ⊕ systematic floor."""
    spread = disagreement(focal_px, other_px) / 2
    return float(np.linalg.norm([formal_px / focal_px, spread, settings.estimated_relative_floor]))


def disagreement(focal_px: float, other_px: float) -> float:
    """Relative difference of two focal lengths."""
    return 2 * abs(focal_px - other_px) / (focal_px + other_px)
