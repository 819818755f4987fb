"""Draws a targeted set from all questions that could be asked: so many, few about one clip, evenly over bins.

It works on the small keys of questions, in the order of a random number that each has from its fact: the same set,
whoever asked about which clip, and when.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64

from spatial_engine.dataset.keys import Keys, groups
from spatial_engine.dataset.strata import Strata, by_answer, by_clip, strata
from templates.columns import Json

MOST_OF_MEDIAN = 2
"""No bin holds more than this many times the median bin of its group."""
_ABOVE_LEVEL = (1.0, 1.5, 2.0, 4.0, np.inf)
"""Bins are filled to the level at which all would be equal; where some cannot be filled, the others more."""
_ROUNDS = 8
"""Of cutting off what is above twice the median, and filling what is below."""
_AT_ONCE = 10_000
"""Rows that are listed at once."""
Kept = Bool[np.ndarray, "n"]
Limits = Sequence[tuple[Strata, Float64[np.ndarray, "b"]]]
"""Divisions, and the most questions in each of their bins."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a dataset is to hold."""

    count: int | None = None
    """None: all."""
    per_clip: int | None = None
    """Most questions about one clip; None: any number. Puzzles have no clip."""
    even: tuple[str, ...] = ()
    """Names of `spatial_engine.options.target.EVEN`."""
    scenes: Mapping[str, str]
    """By clip id the footage that it was cut from."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """By id of a clip that shows another one in other pictures: that one, which counts for `per_clip`."""

    def draw(self, keys: Keys) -> Kept:
        """Which questions are kept. Fewer than `count` where the limits allow no more."""
        most = len(keys) if self.count is None else min(self.count, len(keys))
        even = {name: strata(name, keys, self.scenes) for name in self.even}
        spread = {"answer": by_answer(keys), **even}
        fixed, order, kept = self._limits_of_clips(keys), _rare_first(keys, spread["answer"]), np.zeros(len(keys), bool)
        for factor in _ABOVE_LEVEL:
            levels = [(each, np.ceil(factor * _levels(each, most))) for each in spread.values()]
            whole = [(each, _even_limits(each, each.counts())) for each in even.values()]
            _fill(kept, order, [*fixed, *levels, *whole], most)
        for _ in range(_ROUNDS if even else 0):
            _cut_off(kept, keys, [*even.values()])
            before = kept.sum()
            twice = [(each, _even_limits(each, each.counts(kept))) for each in even.values()]
            _fill(kept, order, [*fixed, *twice], most)
            if kept.sum() == before:
                break
        return kept

    def record(self, keys: Keys, kept: Kept) -> dict[str, Json]:
        """What was wanted and drawn, for the audit; where it is less than wanted, what limits it."""
        drawn = int(kept.sum())
        short = self.count is None or drawn < self.count
        return {
            "count": self.count,
            "per_clip": self.per_clip,
            "even": list(self.even),
            "drawn": drawn,
            "decided": len(keys),
            "reach": self._reach(keys) if short else [],
            "bins": [row for by in ("answer", "difficulty", "scene") for row in self._bins(by, keys, kept)],
        }

    def _limits_of_clips(self, keys: Keys) -> Limits:
        clips = by_clip(keys, self.origins)
        most = np.inf if self.per_clip is None else self.per_clip
        return [(clips, np.where(clips.group == 0, most, np.inf))]

    def _reach(self, keys: Keys) -> list[Json]:
        """How many questions are left under the first limit, the first two, and so on, whatever the count."""
        limits = [] if self.per_clip is None else [(f"--per-clip {self.per_clip}", replace(self, count=None, even=()))]
        for k, name in enumerate(self.even, start=1):
            limits.append((f"--even {name}", replace(self, count=None, even=self.even[:k])))
        return [{"limit": name, "questions": int(one.draw(keys).sum())} for name, one in limits]

    def _bins(self, by: str, keys: Keys, kept: Kept) -> list[Json]:
        """The bins of a division; of scenes, which are many, the smallest, the middle one and the largest."""
        found = strata(by, keys, self.scenes)
        could, drawn = found.counts(), found.counts(kept)
        rows = [*range(len(drawn))]
        if by == "scene" and len(drawn):
            order = np.argsort(drawn, kind="stable")
            rows = sorted({int(order[0]), int(order[(len(order) - 1) // 2]), int(order[-1])}, key=lambda k: drawn[k])
        return [
            {
                "by": by,
                "of": found.names[k][0],
                "bin": found.names[k][1],
                "could": int(could[k]),
                "drawn": int(drawn[k]),
            }
            for k in rows
        ]


def _rare_first(keys: Keys, answers: Strata) -> Int64[np.ndarray, "n"]:
    """All rows, by how many have the answer, then by chance: so that frequent answers do not fill clips and scenes
    before rare ones come."""
    return np.lexsort((keys.draw, answers.counts()[answers.bin]))


def _levels(found: Strata, most: int) -> Float64[np.ndarray, "b"]:
    """The height of each bin at which `most` questions are spread evenly over groups, and those of each over its
    bins."""
    counts, levels = found.counts(), np.ones(len(found.group))
    of_group = groups(found.group)
    totals = np.array([counts[bins].sum() for bins in of_group])
    for bins, total in zip(of_group, totals.tolist(), strict=True):
        levels[bins] = _level(counts[bins], min(total, _level(totals, most)))
    return levels


def _level(counts: Int64[np.ndarray, "b"], most: int) -> int:
    """The least height at which bins that are cut off there hold `most` together."""
    low, high = 1, max(int(counts.max(initial=1)), 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if np.minimum(counts, middle).sum() >= most else (middle + 1, high)
    return low


def _even_limits(found: Strata, counts: Int64[np.ndarray, "b"]) -> Float64[np.ndarray, "b"]:
    return np.maximum(np.floor(MOST_OF_MEDIAN * found.medians(counts)), 1.0)


def _fill(kept: Kept, order: Int64[np.ndarray, "n"], limits: Limits, most: int) -> None:
    """Keeps the next rows for which every bin that they are in has room, until there are `most`."""
    left = most - int(kept.sum())
    rows = order[~kept[order]]
    room = [(limit - each.counts(kept)).tolist() for each, limit in limits]
    added: list[int] = []
    for row, *bins in _listed(rows, *(each.bin for each, _ in limits)):
        if left == len(added):
            break
        if all(free[bin] > 0 for free, bin in zip(room, bins, strict=True)):
            added.append(row)
            for free, bin in zip(room, bins, strict=True):
                free[bin] -= 1
    kept[added] = True


def _listed(rows: Int64[np.ndarray, "n"], *columns: np.ndarray) -> Iterator[tuple[int, ...]]:
    """Each row, and what the columns hold there; some rows at a time, as lists take much more memory than arrays."""
    for start in range(0, len(rows), _AT_ONCE):
        own = rows[start : start + _AT_ONCE]
        yield from zip(own.tolist(), *(column[own].tolist() for column in columns), strict=True)


def _cut_off(kept: Kept, keys: Keys, even: Sequence[Strata]) -> None:
    """Drops rows until no bin is above its limit."""
    while True:
        before = kept.sum()
        for each in even:
            surplus = each.counts(kept) - _even_limits(each, each.counts(kept))
            for bin in np.flatnonzero(surplus > 0).tolist():
                kept[keys.first_dropped(np.flatnonzero(kept & (each.bin == bin)), int(surplus[bin]))] = False
        if kept.sum() == before:
            break
