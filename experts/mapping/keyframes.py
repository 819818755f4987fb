"""Keyframes: frames with enough displacement to be worth matching, and few enough to be matched."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int64


@dataclass(frozen=True, kw_only=True)
class KeyframeSettings:
    """When the picture has changed enough."""

    step_share: float = 0.035
    """Median displacement of the tracks between keyframes, as a share of the diagonal (measured on 1000 frames of
    7-Scenes: all frames register)."""
    min_tracks: int = 20
    """With fewer shared tracks the displacement is unknown: a new keyframe starts."""
    min_survival: float = 0.4
    """A new keyframe starts when a smaller share of the last keyframe's tracks survives: the view has changed."""
    growth: float = 1.25
    """Factor on the displacement while there are too many keyframes."""
    enough: int = 12
    """With fewer keyframes the displacement shrinks, so that points are seen from three (on a forward drive, 5 frames 6
    m displacement do not connect) ..."""
    min_step_share: float = 0.01
    """... down to this."""


def choose_keyframes(
    xy_px: Float32[np.ndarray, "t n 2"], diagonal_px: float, max_keyframes: int, settings: KeyframeSettings
) -> Int64[np.ndarray, "k"]:
    """Columns of `xy_px` (positions in the clip) that are keyframes: the first, the last, and one per step between.

    Steps grow until there are at most `max_keyframes` (at least 2), or shrink until there are `enough`.
    """
    share = settings.step_share
    chosen = _walk(xy_px, share * diagonal_px, settings)
    while len(chosen) < min(settings.enough, max_keyframes) and share > settings.min_step_share:
        share /= settings.growth
        chosen = _walk(xy_px, share * diagonal_px, settings)
    for _ in range(60):
        if len(chosen) <= max(2, max_keyframes):
            return chosen
        share *= settings.growth
        chosen = _walk(xy_px, share * diagonal_px, settings)
    kept = np.unique(np.linspace(0, len(chosen) - 1, max(2, max_keyframes)).round().astype(int))
    return np.asarray(chosen[kept])


def _walk(xy_px: Float32[np.ndarray, "t n 2"], step_px: float, settings: KeyframeSettings) -> Int64[np.ndarray, "k"]:
    chosen = [0]
    for at in range(1, xy_px.shape[1]):
        start = xy_px[:, chosen[-1]]
        displacement = np.linalg.norm(xy_px[:, at] - start, axis=-1)
        shared = np.isfinite(displacement)
        survival = shared.sum() / max(1, np.isfinite(start[:, 0]).sum())
        lost = shared.sum() < settings.min_tracks or survival < settings.min_survival
        if lost or np.median(displacement[shared]) >= step_px:
            chosen.append(at)
    if chosen[-1] != xy_px.shape[1] - 1:
        chosen.append(xy_px.shape[1] - 1)
    return np.array(chosen, dtype=np.int64)
