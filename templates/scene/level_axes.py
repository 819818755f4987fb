"""The axes of a photo's camera, levelled by gravity: up, and to the right and ahead on the floor."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from templates.columns import Columns
from templates.scene.scene import Frames, Scene

MAX_ROLL_RAD, MAX_PITCH_RAD = np.radians(20.0), np.radians(60.0)
"""Beyond this roll, right in the photo is not right on the floor; beyond this pitch, nobody sees what is ahead."""

NOT_UPRIGHT = "the photo is not upright"


@dataclass(frozen=True, kw_only=True)
class LevelAxes(Columns):
    """Orthogonal unit vectors in camera axes, for n photos; NaN where gravity is not known."""

    right: Float64[np.ndarray, "n 3"]
    ahead: Float64[np.ndarray, "n 3"]
    """The horizontal part of the viewing direction."""
    up: Float64[np.ndarray, "n 3"]
    sigma_rad: Float64[np.ndarray, "n"]
    """σ per axis of up."""
    upright: Bool[np.ndarray, "n"]
    """Whether right and ahead on the floor are those of the photo: it is neither rolled nor pitched far."""

    @property
    def heading_sigma_rad(self) -> Float64[np.ndarray, "n"]:
        """σ of `ahead` about up, by that of up: the more, the farther the photo looks up or down."""
        level = np.hypot(self.up[:, 0], self.up[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.sigma_rad * np.abs(self.up[:, 2]) / level)


def level_axes(scene: Scene, frames: Frames) -> LevelAxes:
    """The levelled axes of photos."""
    up, sigma_rad = scene.up_cam(frames)
    ahead = np.array([0.0, 0.0, 1.0]) - up[:, 2:] * up
    with np.errstate(invalid="ignore", divide="ignore"):
        ahead = ahead / np.linalg.norm(ahead, axis=1, keepdims=True)
        right = np.cross(ahead, up)
        level = (right[:, 0] >= np.cos(MAX_ROLL_RAD)) & (np.abs(up[:, 2]) <= np.sin(MAX_PITCH_RAD))
    return LevelAxes(right=right, ahead=ahead, up=up, sigma_rad=sigma_rad, upright=level)
