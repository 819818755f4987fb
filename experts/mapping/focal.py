"""What is believed about the focal length: the user's word, an estimate from a map, or next to nothing."""

from dataclasses import dataclass

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics


@dataclass(frozen=True, kw_only=True)
class FocalSettings:
    """Shares are of the longer side of the frame."""

    start_shares: tuple[float, float] = (0.6, 1.1)
    """Focal starts of the two maps: either side of real cameras (Kinect 0.82, ScanNet 0.90, fox 0.72)."""
    spare_shares: tuple[float, ...] = (0.85, 0.7)
    """Starts of further maps, where one of the two is refused: a start is only a start, and the solver has local
    minima."""
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


def camera_without_map(clip: Clip, settings: FocalSettings) -> tuple[Intrinsics, float]:
    """Full-size camera and σ_f/f where the footage does not give the focal length: the user's, or a broad guess."""
    if clip.options.intrinsics is not None:
        given = clip.options.intrinsics.scaled(clip.width_px, clip.height_px)
        return given, settings.given_relative_floor
    focal = settings.unknown_share * max(clip.width_px, clip.height_px)
    return Intrinsics.centred(clip.width_px, clip.height_px, focal), settings.unknown_relative_sigma


def estimated_relative_sigma(focal_px: float, formal_px: float, other_px: float, settings: FocalSettings) -> float:
    """σ_f/f of an estimate: formal ⊕ half the difference to the other map ⊕ systematic floor."""
    spread = disagreement(focal_px, other_px) / 2
    return float(np.linalg.norm([formal_px / focal_px, spread, settings.estimated_relative_floor]))


def disagreement(focal_px: float, other_px: float) -> float:
    """Relative difference of two focal lengths."""
    return 2 * abs(focal_px - other_px) / (focal_px + other_px)
