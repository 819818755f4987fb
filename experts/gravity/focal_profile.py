"""How well orthogonal triples explain the segments of some frames, focal length by focal length.

Each frame has a triple of its own at every focal length, so no camera path is needed; the principal point is the middle
of the frame and pixels are square. The mean over frames counts as what one frame says: frames of a clip show the same
lines, and their errors are alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.gravity.orthogonal_triples import PictureLines, drawn_triples

_COARSE_TO_FINE = (4.0, 2.5, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0)
_FINE = (1.0,) * 4
_DRAWN_WIDENED = 3.0
"""Drawn triples are rough: σ is so many times wider when they are told apart."""
_NEAR_STEPS = np.linspace(-0.15, 0.15, 13)
"""ln focal around the peak."""


@dataclass(frozen=True, kw_only=True)
class FocalProfile:
    """Per frame and focal length the best triple."""

    focal: Float64[np.ndarray, "g"]
    """Shares of the longer side, ascending by equal ratios."""
    likelihood: Float64[np.ndarray, "n g"]
    """Log likelihood of each frame's segments over that of no directions."""
    axes: Float64[np.ndarray, "n g 3 3"]
    """The triples (rows, camera axes)."""

    @property
    def mean(self) -> Float64[np.ndarray, "g"]:
        """Over frames."""
        return np.asarray(self.likelihood.mean(axis=0))


@dataclass(frozen=True, kw_only=True)
class Peak:
    """Where a profile is highest."""

    focal: float
    """Share of the longer side."""
    relative_sigma: float
    """From the curvature; inf where there is none."""


def profile(
    frames: Sequence[PictureLines], focal: Float64[np.ndarray, "g"], draws: int, kept: int, rng: np.random.Generator
) -> FocalProfile:
    """At every second focal length `draws` triples are drawn in each frame and the best `kept` of them fitted, there
    and at its neighbours; then each is tried where the next one stands."""
    found = [_of_frame(lines, focal, draws, kept, rng) for lines in frames]
    axes, likelihood = zip(*found, strict=True)
    return FocalProfile(focal=focal, likelihood=np.stack(likelihood), axes=np.stack(axes))


def near(frames: Sequence[PictureLines], axes: Float64[np.ndarray, "n 3 3"], focal: float) -> FocalProfile:
    """The profile within 15 % of a focal length, from each frame's triple there."""
    grid = focal * np.exp(_NEAR_STEPS)
    start = [np.broadcast_to(one, (len(grid), 3, 3)) for one in axes]
    found = [lines.fitted(one, grid, _FINE) for lines, one in zip(frames, start, strict=True)]
    turned, likelihood = zip(*found, strict=True)
    return FocalProfile(focal=grid, likelihood=np.stack(likelihood), axes=np.stack(turned))


def peak(focal: Float64[np.ndarray, "g"], likelihood: Float64[np.ndarray, "g"]) -> Peak:
    """Top of the parabola through the highest places, in ln focal; σ = 1 / √(-second derivative)."""
    at = int(np.argmax(likelihood))
    around = slice(max(0, at - 3), at + 4)
    log = np.log(focal)
    bend, slope, _ = np.polyfit(log[around], likelihood[around], 2)
    if bend >= 0:
        return Peak(focal=float(focal[at]), relative_sigma=float("inf"))
    top = float(np.clip(-slope / (2 * bend), log[0], log[-1]))
    return Peak(focal=float(np.exp(top)), relative_sigma=float(1 / np.sqrt(-2 * bend)))


def _of_frame(
    lines: PictureLines, focal: Float64[np.ndarray, "g"], draws: int, kept: int, rng: np.random.Generator
) -> tuple[Float64[np.ndarray, "g 3 3"], Float64[np.ndarray, "g"]]:
    drawn = {at: _best_drawn(lines, float(focal[at]), draws, kept, rng) for at in range(0, len(focal), 2)}
    tried = [(at, one) for at in range(len(focal)) for k in drawn if abs(k - at) <= 1 for one in drawn[k]]
    where = np.array([at for at, _ in tried])
    fitted, likelihood = lines.fitted(np.stack([one for _, one in tried]), focal[where], _COARSE_TO_FINE)
    best = [int(np.flatnonzero(where == at)[np.argmax(likelihood[where == at])]) for at in range(len(focal))]
    axes, height = fitted[best], likelihood[best]
    along = range(len(focal))
    for order, back in ((along[1:], -1), (along[-2::-1], 1)):
        for at in order:
            [turned], [found] = lines.fitted(axes[[at + back]], focal[[at]], _FINE)
            if found > height[at]:
                axes[at], height[at] = turned, found
    return axes, height


def _best_drawn(
    lines: PictureLines, focal: float, draws: int, kept: int, rng: np.random.Generator
) -> Float64[np.ndarray, "k 3 3"]:
    triples = drawn_triples(lines.normals(focal), lines.length, draws, rng)
    likelihood, _ = lines.explained(lines.off_rad(triples, np.full(len(triples), focal)), _DRAWN_WIDENED)
    return triples[np.argsort(-likelihood, kind="stable")[:kept]]
