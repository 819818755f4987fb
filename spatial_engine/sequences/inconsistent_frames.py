"""Frames whose ground truth is inconsistent with that of the others: a drift, a shifted block, one wrong depth image.

Pairs of frames over the whole clip are compared with matched pixels, within the tolerance that the σ of the truth
allows. Frames are removed until no two of the rest contradict each other. The largest connected part of the rest
counts as consistent.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Int64

from experts.signals import CameraPath
from spatial_engine.sequences.depth_images import DepthSource
from spatial_engine.sequences.matched_pixels import (
    NEAR_PX,
    Pair,
    epipolar_errors_px,
    parallax_px,
    reprojection_errors_px,
    unprojected,
)

FramePair = tuple[int, int]
"""Two frame numbers."""

_SAMPLES = 48
_GAPS = {1: 1, 2: 1, 4: 1, 8: 1, 16: 2}
"""Distance of the frames of a pair, in samples, and of how many such pairs one is used."""
_SIGMAS = 3.0
_LEAST = 0.6
"""Share of the matched pixels of a pair that must lie within the tolerance. Sound truth of HoloLens, MobileBrick and
Strecha's fountain shows at least 0.73, and at the median 0.97."""
_LEAST_POINTS = 40
"""Pairs with fewer matched pixels are ignored: repeated structure gives wrong matches (fox_ngp has such pairs)."""
_AGREEING = 2
"""A frame is kept although pairs contradict it if at least so many times as many agree: matches go wrong too. In
7-Scenes three pairs contradict a frame, by up to 64 px, of which six agree to a pixel or two."""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """The pixel error that the stated σ explain."""

    rotation_rad: float = 0.0
    direction_rad: float = 0.0
    depth_relative: float = 0.0

    def px(self, path: CameraPath, pair: Pair, sigmas: float = _SIGMAS) -> float:
        """So many σ of the truth, combined with the precision of a match."""
        rotation_px = self.rotation_rad * path.intrinsics.fx_px
        translation_px = np.hypot(self.direction_rad, self.depth_relative) * parallax_px(path, pair)
        return float(np.hypot(NEAR_PX * pair.grain_px, sigmas * np.hypot(rotation_px, translation_px)))


def samples(path: CameraPath) -> Int64[np.ndarray, "s"]:
    """At most 48 registered frames, evenly over the clip."""
    frames = path.frames[path.registered]
    return frames[np.unique(np.linspace(0, len(frames) - 1, min(len(frames), _SAMPLES)).astype(int))]


def sampled_pairs(frames: Int64[np.ndarray, "s"]) -> list[tuple[int, int]]:
    """Pairs of samples at several distances."""
    return [
        (int(frames[k]), int(frames[k + gap])) for gap, step in _GAPS.items() for k in range(0, len(frames) - gap, step)
    ]


def contradicting_poses(
    path: CameraPath, seen: Sequence[Pair], allowed: Tolerance
) -> tuple[set[FramePair], set[FramePair]]:
    """Pairs whose matched pixels lie too far from the epipolar lines of the poses, and the other pairs."""
    shares = {
        pair: float(np.mean(epipolar_errors_px(path, pair) < allowed.px(path, pair)))
        for pair in seen
        if len(pair.xy_a_px) >= _LEAST_POINTS
    }
    return _divided(shares)


def contradicting_depth(
    path: CameraPath, depth: DepthSource, seen: Sequence[Pair], allowed: Tolerance
) -> tuple[set[FramePair], set[FramePair]]:
    """Pairs whose pixels, unprojected by the first frame's depth, miss their matches, and the other pairs."""
    points = [one for pair in seen if (one := unprojected(path, depth, pair)) is not None]
    shares = {
        one.pair: float(np.mean(reprojection_errors_px(path, one) < allowed.px(path, one.pair)))
        for one in points
        if len(one.xy_b_px) >= _LEAST_POINTS
    }
    return _divided(shares)


def _divided(shares: Mapping[Pair, float]) -> tuple[set[FramePair], set[FramePair]]:
    bad = {(pair.a, pair.b) for pair, share in shares.items() if share < _LEAST}
    return bad, {(pair.a, pair.b) for pair in shares} - bad


def inconsistent(frames: Int64[np.ndarray, "s"], bad: set[FramePair], good: set[FramePair]) -> set[int]:
    """Samples outside the largest connected part in which no two contradict each other."""
    every = {int(frame) for frame in frames}
    left, disputed = set(every), set(bad)
    agreeing = Counter(frame for pair in good for frame in pair)
    while disputed:
        counts = Counter(frame for pair in disputed for frame in pair)
        weak = [frame for frame in counts if agreeing[frame] < _AGREEING * counts[frame]]
        if not weak:
            break
        worst = max(weak, key=lambda frame: (counts[frame], -agreeing[frame], frame))
        left.discard(worst)
        disputed = {pair for pair in disputed if worst not in pair}
    return every - max(_parts(frames, left, good), key=len, default=set())


def smallest_cover(bad: set[FramePair]) -> set[int]:
    """Few frames that cover all bad pairs (greedy). The first frame of a pair is preferred: its depth was used."""
    blamed, left = set[int](), set(bad)
    while left:
        first, counts = Counter(a for a, _ in left), Counter(frame for pair in left for frame in pair)
        blamed.add(max(counts, key=lambda frame: (counts[frame], first[frame], frame)))
        left = {pair for pair in left if not set(pair) & blamed}
    return blamed


def _parts(frames: Int64[np.ndarray, "s"], left: set[int], good: set[FramePair]) -> list[set[int]]:
    """Connected parts: links are neighbours that both remain, and pairs that agree."""
    links = [pair for pair in good if set(pair) <= left]
    links += [(int(a), int(b)) for a, b in pairwise(frames) if int(a) in left and int(b) in left]
    part_of = {frame: {frame} for frame in left}
    for a, b in links:
        if part_of[a] is not part_of[b]:
            joined = part_of[a] | part_of[b]
            for frame in joined:
                part_of[frame] = joined
    return list({id(part): part for part in part_of.values()}.values())


def frames_beside(path: CameraPath, frames: Int64[np.ndarray, "s"], unsound: set[int]) -> tuple[int, ...]:
    """All frames of the path between an unsound sample and the next sound ones."""
    wrong = np.array([int(frame) in unsound for frame in frames])
    after = np.minimum(np.searchsorted(frames, path.frames), len(frames) - 1)
    exact = frames[after] == path.frames
    before = np.where(exact, after, np.maximum(after - 1, 0))
    return tuple(int(frame) for frame in path.frames[wrong[before] | wrong[after]])
