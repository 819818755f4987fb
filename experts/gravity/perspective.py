"""Whether straight lines of single pictures show perspective: then the camera faces no wall.

Before a wall that it faces, an approach scales the picture as a zoom does. There lines run in all directions of the
picture, but none of them to a vanishing point: the third of three orthogonal directions is the viewing axis, and no
line has it.
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.gravity.focal_profile import profile
from experts.gravity.line_segments import detect
from experts.gravity.orthogonal_triples import PictureLines
from experts.gravity.straight_lines import StraightLinesSettings, picture_lines


@dataclass(frozen=True, kw_only=True)
class PerspectiveSettings:
    """Differences between log likelihoods are per picture."""

    lines: StraightLinesSettings = field(default_factory=StraightLinesSettings)
    """How segments are found and judged."""
    frames: int = 3
    """Pictures, evenly spaced; most of them must show perspective."""
    focal_shares: tuple[float, ...] = (0.6, 0.85, 1.2, 1.7)
    """Focal lengths that are tried, as shares of the longer side: a vanishing point fits with most of them."""
    least_gain: float = 40.0
    """Smallest gain in log likelihood over three directions of which one is the viewing axis, or over two across it.
    Rendered walls that the camera faces have 16 at most; 21 of 28 pictures of 14 real sets have 40 and more."""


def shows_perspective(
    clip: Clip, frames: list[int], valid: Bool[np.ndarray, "h w"] | None, settings: PerspectiveSettings
) -> bool:
    """Whether most of some pictures, evenly spaced among `frames`, show perspective."""
    s = settings
    at = np.unique(np.linspace(0, len(frames) - 1, s.frames).round().astype(int))
    lines = picture_lines(clip, detect(clip, [frames[k] for k in at], valid, s.lines.shortest_segment), s.lines)
    return sum(_gain(each, s) >= s.least_gain for each in lines) > len(at) / 2


def _gain(lines: PictureLines, settings: PerspectiveSettings) -> float:
    s, focal = settings.lines, np.array(settings.focal_shares)
    found = profile([lines], focal, s.samples, s.fits, np.random.default_rng(s.seed))
    facing = _facing()
    error = lines.error_rad(facing, np.full(len(facing), focal[0]))
    without = [lines.likelihood(error[..., axes])[0].max() for axes in ([0, 1, 2], [0, 1, 1], [0, 1, 0])]
    return float(found.mean.max() - min(without[0], max(without[1:])))


def _facing() -> Float64[np.ndarray, "t 3 3"]:
    """Triples whose third direction is the viewing axis, at all turns about it."""
    turns = np.deg2rad(np.arange(0, 90, 0.25))
    return np.asarray(Rotation.from_rotvec(np.outer(turns, [0, 0, 1])).as_matrix())
