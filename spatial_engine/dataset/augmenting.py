"""Other pictures of a clip: cropped, smaller, or between black bars. Drawn from the seed and the clip's id alone.

Crops and bars are symmetric about the centre of the picture: roll, pitch, and what lies ahead are seen relative to it.
"""

from collections.abc import Callable, Mapping
from hashlib import sha256

import numpy as np

from experts.clip import Clip
from experts.reframing import Reframing
from spatial_engine.options import MIN_SIDE_PX

_CROPPED = (0.6, 0.9)
"""Least and largest share of each side that a crop keeps."""
_SCALED = (0.4, 0.8)
"""Least and largest size of a smaller picture, relative."""
_RATIOS = (1.0, 4 / 3, 16 / 9, 9 / 16)
"""Width over height of pictures with bars: square, television, wide screen, telephone."""
_OTHER_RATIO = 1.1
"""Least factor between the ratios of a picture with and without bars."""


def reframings(words: tuple[str, ...], clip: Clip, seed: int) -> dict[str, Reframing]:
    """Those of a clip, by word of `--augment`; a picture that would have a side below `MIN_SIDE_PX` is left out."""
    found = {word: _MAKERS[word](clip, _rng(seed, clip.id, word)) for word in words}
    return {word: one for word, one in found.items() if min(one.size_px) >= MIN_SIDE_PX}


def _cropped(clip: Clip, rng: np.random.Generator) -> Reframing:
    left, top = (round(side * (1 - rng.uniform(*_CROPPED)) / 2) for side in (clip.width_px, clip.height_px))
    size = clip.width_px - 2 * left, clip.height_px - 2 * top
    return Reframing(crop_px=(left, top, *size), size_px=size)


def _scaled(clip: Clip, rng: np.random.Generator) -> Reframing:
    factor = rng.uniform(*_SCALED)
    size = round(clip.width_px * factor), round(clip.height_px * factor)
    return Reframing(crop_px=(0, 0, clip.width_px, clip.height_px), size_px=size)


def _letterboxed(clip: Clip, rng: np.random.Generator) -> Reframing:
    width, height = clip.width_px, clip.height_px
    others = [ratio for ratio in _RATIOS if abs(np.log(ratio * height / width)) >= np.log(_OTHER_RATIO)]
    ratio = others[rng.integers(len(others))]
    bars = max(0, round((height * ratio - width) / 2)), max(0, round((width / ratio - height) / 2))
    return Reframing(crop_px=(0, 0, width, height), size_px=(width, height), bars_px=bars)


_MAKERS: Mapping[str, Callable[[Clip, np.random.Generator], Reframing]] = {
    "crops": _cropped,
    "scales": _scaled,
    "letterbox": _letterboxed,
}


def _rng(seed: int, *names: str) -> np.random.Generator:
    return np.random.default_rng(np.frombuffer(sha256("\0".join([str(seed), *names]).encode()).digest(), np.uint32))
