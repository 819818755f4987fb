"""Moves facts that were drawn without signals to the nearest pixels and photos that can be measured.

A random pixel rarely has a measurement of its own; a pixel near it often has. The limits below bound the move.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float64

from templates.fact import Fact
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, listed, markable
from templates.scene.scene import Scene, find_rows

MAX_PIXEL_SHIFT = 0.05
"""Largest distance of a mark from the drawn pixel, as a share of the diagonal."""
MAX_FRAME_SHIFT = 0.1
"""Largest distance of a photo from the drawn one, as a share of the clip's frames."""


def at_marks(facts: Sequence[Fact], scene: Scene) -> list[Fact]:
    """Facts with their pixels moved to the nearest markable ones of the frame "frame" or "from".

    A fact without such a frame, or without a markable pixel near, is unchanged.
    """
    markable_of: dict[int, Float64[np.ndarray, "k 2"]] = {}
    found = []
    for fact in facts:
        frame = fact.params.get("frame", fact.params.get("from"))
        if frame is not None and frame not in markable_of:
            markable_of[frame] = markable(scene, frame)
        found.append(fact if frame is None else nearest(fact, markable_of[frame], scene))
    return found


def at_tracks(facts: Sequence[Fact], scene: Scene) -> list[Fact]:
    """Facts with their pixels moved to the nearest static or moving tracks that are visible in all of their frames."""
    return [nearest(fact, _tracked(scene, fact.params["frames"]), scene) for fact in facts]


def at_matches(facts: Sequence[Fact], scene: Scene) -> list[Fact]:
    """Facts about a pixel "xy_a" of "frame_a" and its match in "frame_b", moved to the nearest reliable match."""
    return [_matched(fact, scene) for fact in facts]


def nearest(fact: Fact, xy_px: Float64[np.ndarray, "k 2"], scene: Scene) -> Fact:
    """The fact with each pixel moved to the nearest of `xy_px`, unless that exceeds `MAX_PIXEL_SHIFT`."""

    def moved(pixel: list[float]) -> list[float]:
        distance = np.linalg.norm(xy_px - np.array(pixel), axis=1)
        near = len(distance) > 0 and distance.min() <= MAX_PIXEL_SHIFT * scene.diagonal_px
        return listed(xy_px[distance.argmin()]) if near else pixel

    return fact.with_pixels(moved)


def _tracked(scene: Scene, frames: Sequence[int]) -> Float64[np.ndarray, "k 2"]:
    if scene.tracks is None or (columns := find_rows(scene.tracks.frames, frames)).min() < 0:
        return np.empty((0, 2))
    seen = scene.tracks.visible[:, columns].all(axis=1) & np.isin(scene.tracks.motion, (0, 1))
    return scene.tracks.xy_px[seen, columns[0]]


def _matched(fact: Fact, scene: Scene) -> Fact:
    matches, params = scene.matches, fact.params
    if matches is None or not len(matches.pairs):
        return fact
    frame_shift = np.abs(matches.pairs - [params["frame_a"], params["frame_b"]]).max(axis=1)[matches.pair]
    distance = np.linalg.norm(matches.xy_a_px - np.array(params["xy_a"]), axis=1)
    near = (matches.outlier_probability < MAX_OUTLIER_PROBABILITY) & (distance <= MAX_PIXEL_SHIFT * scene.diagonal_px)
    near &= frame_shift <= MAX_FRAME_SHIFT * float(np.ptp(scene.clip.frames))
    if not near.any():
        return fact
    row = int(np.flatnonzero(near)[distance[near].argmin()])
    frame_a, frame_b = matches.pairs[matches.pair[row]].tolist()
    place = {"frame_a": frame_a, "xy_a": listed(matches.xy_a_px[row]), "frame_b": frame_b}
    return replace(fact, params={**params, **place})
