"""Where a fact that was drawn without signals is asked: at the nearest place that carries a mark.

A drawn pixel says where, not to the tenth of a pixel: a mark may stand anywhere near it. Photos that are matched with
each other may be taken shortly before or after the drawn ones. Both reach only as far as stated here.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float64

from templates.fact import Fact
from templates.scene.marks import listed, markable
from templates.scene.scene import Scene, find_rows

NEAR = 0.05
"""Share of the diagonal: how far a mark may stand from the drawn pixel."""
SHORTLY = 0.1
"""Share of the clip's frames: how far the photos of a pair may lie from the drawn ones."""
_MAX_OUTLIER_PROBABILITY = 0.01


def at_marks(facts: Sequence[Fact], scene: Scene) -> list[Fact]:
    """Facts with their pixels at the nearest markable ones of the frame "frame" or "from"; unchanged where none is
    near, or where a fact names no such frame."""
    markable_of: dict[int, Float64[np.ndarray, "k 2"]] = {}
    found = []
    for fact in facts:
        frame = fact.params.get("frame", fact.params.get("from"))
        if frame is not None and frame not in markable_of:
            markable_of[frame] = markable(scene, frame)
        found.append(fact if frame is None else nearest(fact, markable_of[frame], scene))
    return found


def at_tracks(facts: Sequence[Fact], scene: Scene) -> list[Fact]:
    """Facts with their pixels at the nearest tracks that all of their frames show, moving or not."""
    return [nearest(fact, _tracked(scene, fact.params["frames"]), scene) for fact in facts]


def at_matches(facts: Sequence[Fact], scene: Scene) -> list[Fact]:
    """Facts about a pixel "xy_a" of "frame_a" and its match in "frame_b", at a sure match near it."""
    return [_matched(fact, scene) for fact in facts]


def nearest(fact: Fact, xy_px: Float64[np.ndarray, "k 2"], scene: Scene) -> Fact:
    """The fact with each pixel moved to the nearest of these, unless that is too far."""

    def moved(pixel: list[float]) -> list[float]:
        distance = np.linalg.norm(xy_px - np.array(pixel), axis=1)
        near = len(distance) > 0 and distance.min() <= NEAR * scene.diagonal_px
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
    frames_off = np.abs(matches.pairs - [params["frame_a"], params["frame_b"]]).max(axis=1)[matches.pair]
    distance = np.linalg.norm(matches.xy_a_px - np.array(params["xy_a"]), axis=1)
    near = (matches.outlier_probability < _MAX_OUTLIER_PROBABILITY) & (distance <= NEAR * scene.diagonal_px)
    near &= frames_off <= SHORTLY * float(np.ptp(scene.clip.frames))
    if not near.any():
        return fact
    row = int(np.flatnonzero(near)[distance[near].argmin()])
    frame_a, frame_b = matches.pairs[matches.pair[row]].tolist()
    place = {"frame_a": frame_a, "xy_a": listed(matches.xy_a_px[row]), "frame_b": frame_b}
    return replace(fact, params={**params, **place})
