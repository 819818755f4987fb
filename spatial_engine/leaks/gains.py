"""Gains over chance by leaf, format, template and overall; a gain that is significantly above its limit is a leak."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.leaks.guesses import Guesses
from spatial_engine.scoring.statistics import clopper_pearson, resampled_clips
from templates.columns import Json
from templates.question import Question

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

    def __init__(self, questions: Sequence[Question], seed: int, limits: Limits) -> None:
        self._groups, self._limits = _groups(questions), limits
        clips, self._clip_of = np.unique([question.clip for question in questions] or ["none"], return_inverse=True)
        clips, self._clip_of = clips[:_MOST], self._clip_of % _MOST
        self._drawn = resampled_clips(len(clips), _DRAWS, np.random.default_rng(seed)).astype(np.float64)

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


def frequent_numbers(questions: Sequence[Question], limits: Limits) -> dict[str, Json]:
    """Per template with numeric answers: how many answers there are, how many distinct ones, the three most frequent
    ones with their shares, and whether these three are significantly more than `limits.constant` of all answers."""
    found: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if isinstance(question.answer, int | float):
            found[question.template].append(question)
    return {template: _frequent(found[template], limits) for template in sorted(found)}


def _frequent(asked: Sequence[Question], limits: Limits) -> dict[str, Json]:
    counts = Counter(float(question.answer) for question in asked)
    top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST_FREQUENT]
    tail, clips = (1 - limits.level) / 2, len({question.clip for question in asked})
    low, _ = clopper_pearson(sum(count for _, count in top), len(asked), tail=tail, clips=clips)
    return {
        "answers": len(asked),
        "distinct": len(counts),
        "most_frequent": [{"answer": value, "share": round(count / len(asked), 4)} for value, count in top],
        "leak": len(asked) >= _FEWEST and low > limits.constant,
    }


def _groups(questions: Sequence[Question]) -> Groups:
    """All questions; those of each format, of each leaf, of each template and format."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for n, question in enumerate(questions):
        found["overall", "overall"].append(n)
        found["formats", question.format].append(n)
        found["abilities", question.ability].append(n)
        found["templates", f"{question.template} ({question.format})"].append(n)
    return [(kind, name, np.array(members)) for (kind, name), members in sorted(found.items())]


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
