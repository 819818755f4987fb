"""Pairs of objects that one photo shows."""

import numpy as np
from jaxtyping import Bool, Int64

from templates.scene.objects import SeenObjects


def random_pairs(
    seen: SeenObjects,
    rng: np.random.Generator,
    tries: int,
    first: Bool[np.ndarray, "n"] | None = None,
    *,
    may_overlap: bool = False,
) -> Int64[np.ndarray, "k 2"]:
    """Rows of different pairs of objects of one photo whose boxes do not overlap, from `tries` draws.

    `seen`: the objects photo by photo. `first`: which may be the first of a pair; by default all. `may_overlap`: boxes
    may.
    """
    able = np.arange(len(seen)) if first is None else np.flatnonzero(first)
    if not len(able):
        return np.empty((0, 2), dtype=np.int64)
    _, start, photo, count = np.unique(seen.frame, return_index=True, return_inverse=True, return_counts=True)
    a = rng.choice(able, tries)
    b = start[photo[a]] + (rng.random(tries) * count[photo[a]]).astype(np.int64)
    low = np.maximum(seen.box_px[a, 0], seen.box_px[b, 0])
    high = np.minimum(seen.box_px[a, 1], seen.box_px[b, 1])
    overlap = (high > low).all(axis=1)
    pairs = np.column_stack([a, b])[(may_overlap | ~overlap) & (a != b)]
    return np.asarray(pairs[np.sort(np.unique(pairs, axis=0, return_index=True)[1])], dtype=np.int64)
