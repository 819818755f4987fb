"""Divides questions into bins of equal answer, difficulty or scene, so that a set can be drawn evenly from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.dataset.keys import Keys, groups
from templates.condition import MEASURES

NUMBER_BINS = 8
"""Bins of the numbers of one template."""
_OUTSIDE = 0.02
"""Share of the numbers below the first inner edge of bins, and above the last one: far outliers get no bin."""
_WIDE = 4.0
"""Ratio of the largest to the smallest number from which bins grow with the numbers."""
_RARE = 0.1
"""Share of a template's questions whose right words, the rarest ones, are one bin."""
_THIRDS = ("hard", "medium", "easy")
_HARDER = {
    "margin": -1, "photos": 1, "turn_deg": 1, "range_m": 1, "picture_share": -1, "objects": 1, "like_named": 1
}  # fmt: skip
"""By measure: 1 where a larger value makes a question harder, -1 where it makes it easier."""


@dataclass(frozen=True, kw_only=True)
class Strata:
    """A division of all questions."""

    by: str
    """answer, difficulty, scene, or clip."""
    bin: Int64[np.ndarray, "n"]
    """Of each question."""
    group: Int64[np.ndarray, "b"]
    """Of each bin: those of one group are compared with each other."""
    names: Sequence[tuple[str, str]]
    """Of each bin: that of its group, and its own."""

    def counts(self, rows: np.ndarray | slice = slice(None)) -> Int64[np.ndarray, "b"]:
        """Number of the given questions in each bin."""
        return np.bincount(self.bin[rows], minlength=len(self.group))

    def medians(self, counts: Int64[np.ndarray, "b"]) -> Float64[np.ndarray, "b"]:
        """For each bin, the median of the counts in its group."""
        found = np.zeros(len(counts))
        for bins in groups(self.group):
            found[bins] = np.median(counts[bins])
        return found


def strata(by: str, keys: Keys, scenes: Mapping[str, str]) -> Strata:
    """The division of a name of `spatial_engine.options.target.EVEN`. `scenes`: by clip id; puzzles have none."""
    return {"answer": by_answer, "difficulty": by_difficulty}[by](keys) if by != "scene" else by_scene(keys, scenes)


def by_answer(keys: Keys) -> Strata:
    """By template and format: words of the right answer, or ranges of the right number."""
    bin = np.zeros(len(keys), dtype=np.int64)
    group: list[int] = []
    names: list[tuple[str, str]] = []
    for number, rows in enumerate(groups(keys.template, keys.format)):
        kind = keys.kinds[keys.kind[rows[0]]]
        numbers = keys.numbers[rows]
        numeric = np.isfinite(numbers[:, 0]).all() and kind.options == 0
        own, called = _of_numbers(numbers) if numeric else _of_words(keys.words[rows], keys.word_texts)
        bin[rows] = own + len(group)
        group += [number] * len(called)
        names += [(f"{kind.template} {kind.format}", name) for name in called]
    return Strata(by="answer", bin=bin, group=np.array(group, dtype=np.int64), names=names)


def by_difficulty(keys: Keys) -> Strata:
    """The hardest, middle and easiest third of each template and format, by the mean of the ranks in all measures that
    are known (`templates.condition.MEASURES`)."""
    from scipy.stats import rankdata  # slow to import, and each worker process would

    bin = np.zeros(len(keys), dtype=np.int64)
    signs = np.array([_HARDER[name] for name in MEASURES])
    for rows in groups(keys.template, keys.format):
        hardness = np.zeros(len(rows))
        for column in (keys.difficulty[rows] * signs).T:
            known = np.isfinite(column)
            hardness[known] += rankdata(column[known]) / (known.sum() + 1) - 0.5
        place = np.lexsort((keys.draw[rows], -hardness)).argsort()
        bin[rows] = place * len(_THIRDS) // len(rows)
    return Strata(by="difficulty", bin=bin, group=np.zeros(3, np.int64), names=[("", name) for name in _THIRDS])


def by_scene(keys: Keys, scenes: Mapping[str, str]) -> Strata:
    """By footage; puzzles, which have none, are a group of their own."""
    return _by_footage("scene", keys, [scenes.get(id, id) for id in keys.clip_ids])


def by_clip(keys: Keys, origins: Mapping[str, str]) -> Strata:
    """By clip of the store. `origins`: those whose pictures other clips have, by clip id."""
    return _by_footage("clip", keys, [origins.get(id, id) for id in keys.clip_ids])


def _by_footage(by: str, keys: Keys, name_of_clip: Sequence[str]) -> Strata:
    names, of_clip = np.unique(np.array([*name_of_clip], dtype=np.str_), return_inverse=True)
    present, bin = np.unique(of_clip[keys.clip], return_inverse=True)
    called = names[present].tolist()
    group = np.array([name == "" for name in called], dtype=np.int64)
    return Strata(by=by, bin=bin, group=group, names=[("", name) for name in called])


def _of_words(words: np.ndarray, texts: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Bin of each row, and names of the bins."""
    found, row_of, counts = np.unique(words, return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    frequent = np.cumsum(counts[order]) - counts[order] < (1 - _RARE) * len(words)
    place = np.minimum(np.argsort(order), frequent.sum())
    names = [texts[word] or "any" for word in found[order[frequent]].tolist()]
    return place[row_of], [*names, *(["rarer ones"] if not frequent.all() else [])]


def _of_numbers(numbers: Float64[np.ndarray, "n 3"]) -> tuple[np.ndarray, list[str]]:
    value, _, period = numbers.T
    if np.isfinite(period).all():
        edges = np.linspace(value.min(), value.min() + period[0], NUMBER_BINS + 1)
    else:
        low, high = np.quantile(value, (_OUTSIDE, 1 - _OUTSIDE))
        spaced = np.geomspace if low > 0 and high / low > _WIDE else np.linspace
        edges = spaced(low, high, NUMBER_BINS + 1)
    found, bin = np.unique(np.digitize(value, edges[1:-1]), return_inverse=True)
    return bin, [f"{edges[k]:.4g} to {edges[k + 1]:.4g}" for k in found.tolist()]
