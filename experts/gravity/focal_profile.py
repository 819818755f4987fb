"""Likelihood of the focal length: how well orthogonal triples explain the segments of some frames.

Each frame has its own triple at every focal length, so no camera path is needed. The principal point is the centre of
the frame, and pixels are square. The log likelihoods are averaged over frames, not summed: frames of a clip show the
same lines, so their errors are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from experts.gravity.orthogonal_triples import PictureLines, sampled_triples

_COARSE_TO_FINE = (4.0, 2.5, 1.5, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Factors of σ in the iterations of a fit from a sample."""
_FINE = (1.0,) * 4
"""The same for a fit from a fitted triple nearby."""
_SAMPLE_SIGMA_FACTOR = 3.0
"""Samples are inaccurate: σ is multiplied by this when they are ranked."""
_NEAR_STEPS = np.linspace(-0.15, 0.15, 13)
"""ln focal relative to the peak."""


@dataclass(frozen=True, kw_only=True)
class FocalProfile:
    """The best triple per frame and focal length."""

    focal: Float64[np.ndarray, "g"]
    """Shares of the longer side, ascending by equal ratios."""
    log_likelihood: Float64[np.ndarray, "n g"]
    """Log likelihood of each frame's segments, relative to random directions."""
    axes: Float64[np.ndarray, "n g 3 3"]
    """The triples (rows, camera axes)."""

    @property
    def mean(self) -> Float64[np.ndarray, "g"]:
        """Mean log likelihood over the frames."""
        return np.asarray(self.log_likelihood.mean(axis=0))

    @property
    def best_axes(self) -> Float64[np.ndarray, "n 3 3"]:
        """The triple of each frame at the best focal length."""
        return np.asarray(self.axes[:, int(np.argmax(self.mean))])


@dataclass(frozen=True, kw_only=True)
class Peak:
    """Maximum of a profile."""

    focal: float
    """Share of the longer side."""
    relative_sigma: float
    """σ_f / f from the curvature; inf without a maximum."""


def profile(
    frames: Sequence[PictureLines], focal: Float64[np.ndarray, "g"], samples: int, fits: int, rng: np.random.Generator
) -> FocalProfile:
    """The profile over all `focal`.

    At every second focal length, `samples` triples are sampled in each frame, and the best `fits` of them are fitted
    there and at the neighbouring focal lengths. Then each result is a start for the fit at the next focal length.
    """
    found = [_frame_profile(lines, focal, samples, fits, rng) for lines in frames]
    axes, log_likelihood = zip(*found, strict=True)
    return FocalProfile(focal=focal, log_likelihood=np.stack(log_likelihood), axes=np.stack(axes))


def profile_near(frames: Sequence[PictureLines], axes: Float64[np.ndarray, "n 3 3"], focal: float) -> FocalProfile:
    """The profile within 15 % of a focal length, fitted from each frame's triple at it."""
    grid = focal * np.exp(_NEAR_STEPS)
    start = [np.broadcast_to(one, (len(grid), 3, 3)) for one in axes]
    found = [lines.fitted(one, grid, _FINE) for lines, one in zip(frames, start, strict=True)]
    fitted, log_likelihood = zip(*found, strict=True)
    return FocalProfile(focal=grid, log_likelihood=np.stack(log_likelihood), axes=np.stack(fitted))


def fitted_peak(focal: Float64[np.ndarray, "g"], log_likelihood: Float64[np.ndarray, "g"]) -> Peak:
    """Vertex of the parabola in ln focal through the values around the highest one; σ = 1 / √(-second derivative)."""
    at = int(np.argmax(log_likelihood))
    around = slice(max(0, at - 3), at + 4)
    log = np.log(focal)
    curvature, slope, _ = np.polyfit(log[around], log_likelihood[around], 2)
    if curvature >= 0:
        return Peak(focal=float(focal[at]), relative_sigma=float("inf"))
    vertex = float(np.clip(-slope / (2 * curvature), log[0], log[-1]))
    return Peak(focal=float(np.exp(vertex)), relative_sigma=float(1 / np.sqrt(-2 * curvature)))


def _frame_profile(
    lines: PictureLines, focal: Float64[np.ndarray, "g"], samples: int, fits: int, rng: np.random.Generator
) -> tuple[Float64[np.ndarray, "g 3 3"], Float64[np.ndarray, "g"]]:
    best_of = {at: _best_samples(lines, float(focal[at]), samples, fits, rng) for at in range(0, len(focal), 2)}
    starts = [(at, one) for at in range(len(focal)) for k in best_of if abs(k - at) <= 1 for one in best_of[k]]
    where = np.array([at for at, _ in starts])
    fitted, likelihood = lines.fitted(np.stack([one for _, one in starts]), focal[where], _COARSE_TO_FINE)
    best = [int(np.flatnonzero(where == at)[np.argmax(likelihood[where == at])]) for at in range(len(focal))]
    axes, highest = fitted[best], likelihood[best]
    along = range(len(focal))
    for order, back in ((along[1:], -1), (along[-2::-1], 1)):
        for at in order:
            [again], [height] = lines.fitted(axes[[at + back]], focal[[at]], _FINE)
            if height > highest[at]:
                axes[at], highest[at] = again, height
    return axes, highest


def _best_samples(
    lines: PictureLines, focal: float, samples: int, fits: int, rng: np.random.Generator
) -> Float64[np.ndarray, "k 3 3"]:
    triples = sampled_triples(lines.normals(focal), lines.length, samples, rng)
    error = lines.error_rad(triples, np.full(len(triples), focal))
    log_likelihood, _ = lines.likelihood(error, _SAMPLE_SIGMA_FACTOR)
    return triples[np.argsort(-log_likelihood, kind="stable")[:fits]]
