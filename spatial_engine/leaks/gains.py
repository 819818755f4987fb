"""Gains over chance by leaf, format, template and overall; a gain that is significantly above its limit is a leak."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.leaks.compact import grouped
from spatial_engine.leaks.guesses import Guesses
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.scoring.statistics import clopper_pearson, resampled_clips
from templates.columns import Json

_DRAWS = 1000
_MOST = 2000
"""Largest number of resampled clips; more are bundled, which is faster and widens the interval."""
_MOST_FREQUENT = 3
"""Numbers that `frequent_numbers` lists per template."""
_FEWEST = 20
"""Answers of a template below which the recurrence of numbers is not reported."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits above which a gain is a leak; written to `audit.json`."""

    gain: float = 0.05
    """Limit of the gain over chance, for closed lists of answers and for quartiles of numbers."""
    constant: float = 0.5
    """Limit of the accuracy of a constant answer, for answers within a tolerance, which have no chance level."""
    level: float = 0.99
    """Confidence of the intervals. Some hundred gains are tested, so 95 % would give false leaks."""


Groups = list[tuple[str, str, Int64[np.ndarray, "_"]]]
"""Kind of group ("templates"), its name, indices of its questions."""


class Gains:
    """Gains of all baselines in all groups of questions. Clips are resampled once, for every baseline alike."""

    def __init__(self, table: QuestionTable, seed: int, limits: Limits) -> None:
        self._groups, self._limits = _groups(table), limits
        self._clip_of = table.clip.ranks % _MOST
        clips = min(max(len(table.clip.texts), 1), _MOST)
        self._drawn = resampled_clips(clips, _DRAWS, np.random.default_rng(seed)).astype(np.float64)

    def of(self, baseline: str, guesses: Guesses) -> tuple[dict[str, Json], list[Json]]:
        """The entry of one baseline in `audit.json`, and its leaks."""
        guessed = np.isfinite(guesses.hits)
        groups = [(kind, name, members[guessed[members]]) for kind, name, members in self._groups]
        # accuracy within a tolerance and gain over chance do not add up: wide groups count closed formats alone
        groups = [(k, n, m[~guesses.by_tolerance[m]] if k in ("overall", "abilities") else m) for k, n, m in groups]
        groups = [group for group in groups if len(group[2])]
        record: dict[str, Json] = defaultdict(dict)
        leaks: list[Json] = []
        intervals = self._intervals([members for *_, members in groups], guesses)
        for (kind, name, members), (low, high) in zip(groups, intervals, strict=True):
            accuracy, chance = float(guesses.hits[members].mean()), float(guesses.chance[members].mean())
            limit = self._limits.constant if guesses.by_tolerance[members].any() else self._limits.gain
            cell = {
                "questions": len(members),
                "clips": len(np.unique(self._clip_of[members])),
                "accuracy": round(accuracy, 4),
                "chance": round(chance, 4),
                "gain": round(accuracy - chance, 4),
                "interval": [low, high],
            }
            record[kind][name] = cell
            if low > limit:
                leaks.append({"baseline": baseline, "kind": kind, "group": name, "limit": limit, **cell})
        overall = record.pop("overall", {}).get("overall")
        return {"overall": overall, **{k: record.get(k, {}) for k in ("formats", "abilities", "templates")}}, leaks

    def _intervals(self, groups: Sequence[Int64[np.ndarray, "_"]], guesses: Guesses) -> list[tuple[float, float]]:
        """Interval of each group's gain: the wider of the bootstrap over clips and of Clopper-Pearson with n_eff."""
        if not groups:
            return []
        gain = guesses.hits - guesses.chance
        clips = self._drawn.shape[1]
        sums, counts = (
            np.stack([np.bincount(self._clip_of[m], weights=w[m], minlength=clips) for m in groups], axis=1)
            for w in (gain, np.ones(len(gain)))
        )
        drawn_sums, drawn_counts = self._drawn @ sums, self._drawn @ counts
        tail = (1 - self._limits.level) / 2
        return [
            _wider(drawn_sums[:, k], drawn_counts[:, k], members, guesses, int(np.sum(counts[:, k] > 0)), tail)
            for k, members in enumerate(groups)
        ]


def largest_first(leaks: Sequence[Mapping[str, Json]]) -> list[Json]:
    """Leaks by how far they are above their limit."""
    return sorted(leaks, key=lambda leak: (leak["limit"] - leak["interval"][0], leak["baseline"], leak["group"]))


def frequent_numbers(table: QuestionTable, limits: Limits) -> dict[str, Json]:
    """Per template with numeric answers: how many answers there are, how many distinct ones, the three most frequent
    ones with their shares, and whether these three are significantly more than `limits.constant` of all answers."""
    rows = np.flatnonzero(~np.isnan(table.number))
    return {table.template.first(own): _frequent(table, own, limits) for own in grouped(rows, table.template.ranks)}


def _frequent(table: QuestionTable, rows: Int64[np.ndarray, "m"], limits: Limits) -> dict[str, Json]:
    values, counts = np.unique(table.number[rows], return_counts=True)
    top = np.lexsort((values, -counts))[:_MOST_FREQUENT]
    tail, clips = (1 - limits.level) / 2, len(np.unique(table.clip.index[rows]))
    low, _ = clopper_pearson(int(counts[top].sum()), len(rows), tail=tail, clips=clips)
    most = zip(values[top].tolist(), counts[top].tolist(), strict=True)
    return {
        "answers": len(rows),
        "distinct": len(values),
        "most_frequent": [{"answer": value, "share": round(count / len(rows), 4)} for value, count in most],
        "leak": len(rows) >= _FEWEST and low > limits.constant,
    }


def _groups(table: QuestionTable) -> Groups:
    """All questions; those of each format, of each leaf, of each template and format; by kind and name."""
    every = np.arange(len(table))
    found: Groups = [("overall", "overall", every)] if len(table) else []
    for kind, column in (("formats", table.format), ("abilities", table.ability)):
        found += [(kind, column.first(rows), rows) for rows in grouped(every, column.index)]
    found += [("templates", name, rows) for name, rows in table.by_template().items()]
    return sorted(found, key=lambda group: group[:2])


def _wider(
    sums: Float64[np.ndarray, "d"],
    counts: Float64[np.ndarray, "d"],
    members: Int64[np.ndarray, "m"],
    guesses: Guesses,
    clips: int,
    tail: float,
) -> tuple[float, float]:
    hits, chance = float(guesses.hits[members].sum()), float(guesses.chance[members].mean())
    low, high = clopper_pearson(hits, len(members), tail=tail, clips=clips)
    low, high = low - chance, high - chance
    if (counts > 0).any():
        quantiles = np.quantile(sums[counts > 0] / counts[counts > 0], [tail, 1 - tail])
        low, high = min(low, float(quantiles[0])), max(high, float(quantiles[1]))
    return round(low, 4), round(high, 4)
