"""Hints of correspondence: pixels of two photos that show the same point, in words and as lines between the photos."""

from itertools import pairwise

import numpy as np
from jaxtyping import Float64

from templates.cue import Cue, place
from templates.hints.hint import MOST, Allowed, Captioned, Hint, Numbers, Scenes, decided
from templates.media import XY, MatchedPhotos
from templates.perception.same_point import Correspondences, SamePoint
from templates.scene.marks import inside, known_pixels, spaced
from templates.scene.scene import Scene

_APART = 0.1
"""Least distance between points of one photo, as a share of the diagonal."""
_LEAST = 3
"""Least number of lines between two photos."""


def matches_hint(scenes: Scenes, numbers: Numbers, allowed: Allowed, min_confidence: float) -> Hint:
    """Matches of each photo with the next one that is shown."""
    cues: list[Cue] = []
    pictures: list[Captioned] = []
    for a, b in pairwise(numbers):
        cues_of_pair = (_cue((a, *p), (b, *q), numbers) for p, q in _matches(scenes, (a, b), min_confidence))
        found = [cue for cue in cues_of_pair if allowed(cue)][:MOST]
        if len(found) < _LEAST:
            continue
        lines = tuple((cue.pixels[0][1:], cue.pixels[1][1:]) for cue in found)
        text = (
            f"photo {numbers[a]} on the left and photo {numbers[b]} on the right, with lines between pixels that "
            "show the same point of the scene"
        )
        pictures.append(Captioned(text=text, picture=MatchedPhotos(frames=(a, b), lines_px=lines)))
        cues += found[: max(2, MOST // (len(numbers) - 1))]
    return Hint(cues=cues[:MOST], pictures=pictures)


def _matches(scenes: Scenes, pair: tuple[int, int], min_confidence: float) -> list[tuple[XY, XY]]:
    """Pixels of the first photo that lie apart, in random order, and those of the second that match them."""
    return scenes[0].once(("matches of hints", pair, min_confidence), lambda: _measured(scenes, pair, min_confidence))


def _measured(scenes: Scenes, pair: tuple[int, int], min_confidence: float) -> list[tuple[XY, XY]]:
    scene = scenes[0]
    xy = _candidates_px(scene, pair)
    a, b = (np.full(len(xy), frame) for frame in pair)
    size = np.broadcast_to(np.array([scene.clip.width_px, scene.clip.height_px]), (len(xy), 2)).copy()
    facts = Correspondences(frame_a=a, a_px=xy, frame_b=b, size=size, decoy_px=np.full(xy.shape, np.nan))
    measured, sure = decided(SamePoint(), "point", facts, scenes, min_confidence)
    sure &= inside(scene.clip, measured.value)
    rows = np.random.default_rng(0).permutation(np.flatnonzero(sure))
    chosen = spaced(rows, xy, _APART * scene.diagonal_px, 2 * MOST)
    return [(_xy(xy[k]), _xy(measured.value[k])) for k in chosen]


def _xy(pixel: Float64[np.ndarray, "2"]) -> XY:
    x, y = pixel.round(1).tolist()
    return x, y


def _candidates_px(scene: Scene, pair: tuple[int, int]) -> Float64[np.ndarray, "k 2"]:
    """Pixels of the first photo that may be matched."""
    matches = scene.matches
    if scene.measured_depth is not None or scene.matched is not None or matches is None:
        xy = known_pixels(scene, pair[0])
    else:
        xy = matches.xy_a_px[(matches.pairs[matches.pair] == pair).all(axis=1)]
    return xy[inside(scene.clip, xy)].round(1)


def _cue(a: tuple[int, float, float], b: tuple[int, float, float], numbers: Numbers) -> Cue:
    return Cue(text=f"{place(a, numbers)} and {place(b, numbers)} are the same point of the scene.", pixels=(a, b))
