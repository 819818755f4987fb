"""Frames whose truth does not go with that of the others: a drift, one shifted block, one wrong depth image.

Pairs all over the clip are held against the pictures, within what the truth's own σ allows. Frames are taken out
until no two that are left contradict each other; of what then falls apart the largest part counts.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Int64

from experts.signals import CameraPath
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.epipolar import NEAR_PX, off_lines_px, parallax_px
from spatial_engine.sequences.seen_twice import Pair
from spatial_engine.sequences.unprojected import offsets_px, unprojected

Pair2 = tuple[int, int]
"""Frames."""

_SAMPLES = 48
_GAPS = {1: 1, 2: 1, 4: 1, 8: 1, 16: 2}
"""Samples between the frames of a pair, and of how many pairs one is looked at."""
_SIGMAS = 3.0
_LEAST = 0.6
"""Share of the matched pixels of a pair that must lie within the tolerance. Sound truth of HoloLens, MobileBrick and
Strecha's fountain shows at least 0.73, and at the median 0.97."""
_LEAST_POINTS = 40
"""Pairs with fewer matched pixels witness nothing: what looks alike is matched too (fox_ngp has such pairs)."""
_WITNESSES = 3
"""So many pairs that agree outweigh a single one that does not."""


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """How far off pixels may be by the σ that are stated."""

    rotation_rad: float
    direction_rad: float
    depth_relative: float = 0.0

    def px(self, path: CameraPath, pair: Pair) -> float:
        """Three σ, and the precision of a match."""
        turned = self.rotation_rad * path.intrinsics.fx_px
        moved = np.hypot(self.direction_rad, self.depth_relative) * parallax_px(path, pair)
        return float(np.hypot(NEAR_PX * pair.grain_px, _SIGMAS * np.hypot(turned, moved)))


def samples(path: CameraPath) -> Int64[np.ndarray, "s"]:
    """Registered frames all over the clip, evenly."""
    frames = path.frames[path.registered]
    return frames[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _SAMPLES)).astype(int))]


def sampled_pairs(frames: Int64[np.ndarray, "s"]) -> list[tuple[int, int]]:
    """Near and far pairs of samples."""
    return [
        (int(frames[k]), int(frames[k + gap])) for gap, step in _GAPS.items() for k in range(0, len(frames) - gap, step)
    ]


def off_their_lines(path: CameraPath, seen: Sequence[Pair], allowed: Allowed) -> tuple[set[Pair2], set[Pair2]]:
    """Pairs most of whose pixels lie off the lines of the poses, and the other pairs."""
    shares = {
        pair: float(np.mean(off_lines_px(path, pair) < allowed.px(path, pair)))
        for pair in seen
        if len(pair.xy_a_px) >= _LEAST_POINTS
    }
    return _divided(shares)


def off_their_places(
    path: CameraPath, depth: DepthSource, seen: Sequence[Pair], allowed: Allowed
) -> tuple[set[Pair2], set[Pair2]]:
    """Pairs most of whose pixels the first frame's depth brings elsewhere, and the other pairs."""
    points = [one for pair in seen if (one := unprojected(path, depth, pair)) is not None]
    shares = {
        one.pair: float(np.mean(offsets_px(path, one) < allowed.px(path, one.pair)))
        for one in points
        if len(one.xy_b_px) >= _LEAST_POINTS
    }
    return _divided(shares)


def _divided(shares: Mapping[Pair, float]) -> tuple[set[Pair2], set[Pair2]]:
    bad = {(pair.a, pair.b) for pair, share in shares.items() if share < _LEAST}
    return bad, {(pair.a, pair.b) for pair in shares} - bad


def apart(frames: Int64[np.ndarray, "s"], bad: set[Pair2], good: set[Pair2]) -> set[int]:
    """Samples outside of the largest part in which no two contradict each other."""
    every = {int(frame) for frame in frames}
    left, disputed = set(every), set(bad)
    agreeing = Counter(frame for pair in good for frame in pair)
    while disputed:
        counts = Counter(frame for pair in disputed for frame in pair)
        worst = max(counts, key=lambda frame: (counts[frame], -agreeing[frame], frame))
        if counts[worst] == 1:  # what is left are single pairs: matches go wrong too
            disputed = {pair for pair in disputed if min(agreeing[frame] for frame in pair) < _WITNESSES}
            if not disputed:
                break
            worst = min((frame for pair in disputed for frame in pair), key=lambda frame: (agreeing[frame], frame))
        left.discard(worst)
        disputed = {pair for pair in disputed if worst not in pair}
    return every - max(_parts(frames, left, good), key=len, default=set())


def to_blame(bad: set[Pair2]) -> set[int]:
    """Few frames that take part in every bad pair; of the two of a pair rather the first, whose depth was used."""
    blamed, left = set[int](), set(bad)
    while left:
        first, counts = Counter(a for a, _ in left), Counter(frame for pair in left for frame in pair)
        blamed.add(max(counts, key=lambda frame: (counts[frame], first[frame], frame)))
        left = {pair for pair in left if not set(pair) & blamed}
    return blamed


def _parts(frames: Int64[np.ndarray, "s"], left: set[int], good: set[Pair2]) -> list[set[int]]:
    """Frames that hang together: neighbours that are both left, and pairs that agree."""
    links = [pair for pair in good if set(pair) <= left]
    links += [(int(a), int(b)) for a, b in pairwise(frames) if int(a) in left and int(b) in left]
    part_of = {frame: {frame} for frame in left}
    for a, b in links:
        if part_of[a] is not part_of[b]:
            joined = part_of[a] | part_of[b]
            for frame in joined:
                part_of[frame] = joined
    return list({id(part): part for part in part_of.values()}.values())


def between(path: CameraPath, frames: Int64[np.ndarray, "s"], unsound: set[int]) -> tuple[int, ...]:
    """All frames of the path next to an unsound sample, up to the sound ones."""
    wrong = np.array([int(frame) in unsound for frame in frames])
    after = np.minimum(np.searchsorted(frames, path.frames), len(frames) - 1)
    exact = frames[after] == path.frames
    before = np.where(exact, after, np.maximum(after - 1, 0))
    return tuple(int(frame) for frame in path.frames[wrong[before] | wrong[after]])
