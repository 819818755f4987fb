"""Moves facts that were drawn without signals to the nearest pixels and photos that can be measured.

A random pixel rarely has a measurement of its own; a pixel near it often has. The limits below bound the move.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.facts import Facts
from templates.scene.correspondence import both_ways
from templates.scene.marks import MAX_OUTLIER_PROBABILITY, markable
from templates.scene.scene import Scene, find_rows

MAX_PIXEL_SHIFT = 0.05
"""Largest distance of a mark from the drawn pixel, as a share of the diagonal."""
MAX_FRAME_SHIFT = 0.1
"""Largest distance of a photo from the drawn one, as a share of the clip's frames."""
_MARKED = ("frame", "frame_from")
"""Columns with the frame in which a fact marks pixels."""


def at_marks(facts: Facts, scene: Scene) -> Facts:
    """Facts with their pixels moved to the nearest markable ones of their column `frame` or `frame_from`.

    Facts without such a column, or without a markable pixel near, are unchanged.
    """
    frames = next((getattr(facts, name) for name in _MARKED if hasattr(facts, name)), None)
    if frames is None:
        return facts
    return facts.with_pixels(by_frame(frames, lambda frame: markable(scene, [frame])[1], scene))


def by_frame(
    frames: Int64[np.ndarray, "n"], places_px: Callable[[int], Float64[np.ndarray, "k 2"]], scene: Scene
) -> Callable[[np.ndarray], np.ndarray]:
    """A change of columns of pixels: each pixel moves to the nearest of the places of its row's frame, unless that
    exceeds `MAX_PIXEL_SHIFT`."""
    places = {int(frame): places_px(int(frame)) for frame in np.unique(frames)}

    def moved(column: np.ndarray) -> np.ndarray:
        moved = column.copy()
        for row, frame in enumerate(frames.tolist()):
            points = [nearest(xy, places[frame], scene) for xy in column[row].reshape(-1, 2)]
            moved[row] = np.reshape(points, column.shape[1:])
        return moved

    return moved


def nearest(xy_px: Float64[np.ndarray, "2"], places_px: Float64[np.ndarray, "k 2"], scene: Scene) -> np.ndarray:
    """The nearest of the places, unless it is farther than `MAX_PIXEL_SHIFT`."""
    distance = np.linalg.norm(places_px - xy_px, axis=1)
    near = len(distance) > 0 and distance.min() <= MAX_PIXEL_SHIFT * scene.diagonal_px
    return places_px[distance.argmin()] if near else xy_px


def tracked(scene: Scene, frames: Int64[np.ndarray, "k"]) -> Float64[np.ndarray, "t 2"]:
    """Pixels, in the first of the frames, of static and moving tracks that are visible in all of them."""
    if scene.tracks is None or (columns := find_rows(scene.tracks.frames, frames)).min() < 0:
        return np.empty((0, 2))
    seen = scene.tracks.visible[:, columns].all(axis=1) & np.isin(scene.tracks.motion, (0, 1))
    return scene.tracks.xy_px[seen, columns[0]]


def nearest_match(
    scene: Scene, frame_a: int, xy_a_px: Float64[np.ndarray, "2"], frame_b: int
) -> tuple[int, np.ndarray, int] | None:
    """Frame a, pixel and frame b of the reliable match nearest to a pixel, in frames near the given ones; None if it is
    farther than the limits."""
    matches = both_ways(scene)
    if matches is None or not len(matches.pairs):
        return None
    frame_shift = np.abs(matches.pairs - [frame_a, frame_b]).max(axis=1)[matches.pair]
    distance = np.linalg.norm(matches.xy_a_px - xy_a_px, axis=1)
    near: Bool[np.ndarray, "m"] = matches.outlier_probability < MAX_OUTLIER_PROBABILITY
    near &= (distance <= MAX_PIXEL_SHIFT * scene.diagonal_px) & (
        frame_shift <= MAX_FRAME_SHIFT * float(np.ptp(scene.clip.frames))
    )
    if not near.any():
        return None
    row = int(np.flatnonzero(near)[distance[near].argmin()])
    a, b = matches.pairs[matches.pair[row]].tolist()
    return a, matches.xy_a_px[row].round(1), b
