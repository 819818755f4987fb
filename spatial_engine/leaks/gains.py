"""Gains over chance by leaf, format, template and overall; a gain that is surely above its limit is a named leak."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.leaks.guesses import Guesses
from spatial_engine.scoring.statistics import clopper_pearson, resampled_clips
from templates.measured import Json
from templates.question import Question

_DRAWS = 1000
_MOST = 2000
"""Clips that are drawn; of more, bundles are drawn instead, which costs less and claims no more."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a gain is a leak. Written into `audit.json`."""

    gain: float = 0.05
    """Over chance, of labels and of bins of numbers."""
    fixed: float = 0.5
    """Of answers that are right within a tolerance and have no chance level: share that one fixed answer gets right."""
    level: float = 0.99
    """Of intervals. Some hundred are looked at, so 95 % would name leaks that are none."""


Cells = list[tuple[str, str, Int64[np.ndarray, "_"]]]
"""Kind of place, its name, indices of its questions."""


def cells_of(questions: Sequence[Question]) -> Cells:
    """Overall, per format, leaf, and template with format."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for n, question in enumerate(questions):
        found["overall", "overall"].append(n)
        found["formats", question.format].append(n)
        found["abilities", question.ability].append(n)
        found["templates", f"{question.template} ({question.format})"].append(n)
    return [(kind, name, np.array(members)) for (kind, name), members in sorted(found.items())]


class Standing:
    """Sums guesses by clip once, and draws clips once, for all cells and baselines."""

    def __init__(self, questions: Sequence[Question], seed: int, limits: Limits) -> None:
        self._cells, self._limits = cells_of(questions), limits
        clips, self._clip_of = np.unique([question.clip for question in questions] or ["none"], return_inverse=True)
        clips, self._clip_of = clips[:_MOST], self._clip_of % _MOST
        rng = np.random.default_rng(seed)
        self._drawn = resampled_clips(len(clips), _DRAWS, rng).astype(np.float64)

    def of(self, baseline: str, guesses: Guesses) -> tuple[dict[str, Json], list[Json]]:
        """What `audit.json` says of one baseline, and the leaks that it names."""
        spoken = np.isfinite(guesses.hits)
        parts = [(kind, name, members[spoken[members]]) for kind, name, members in self._cells]
        # a share within tolerance and a share over chance do not add up: wide cells hold labels alone
        parts = [(k, n, m[~guesses.fixed[m]] if k in ("overall", "abilities") else m) for k, n, m in parts]
        parts = [part for part in parts if len(part[2])]
        record: dict[str, Json] = defaultdict(dict)
        named: list[Json] = []
        for (kind, name, members), (low, high) in zip(
            parts, self._intervals([p[2] for p in parts], guesses), strict=True
        ):
            right, chance = float(guesses.hits[members].mean()), float(guesses.chance[members].mean())
            limit = self._limits.fixed if guesses.fixed[members].any() else self._limits.gain
            cell = {
                "questions": len(members),
                "clips": len(np.unique(self._clip_of[members])),
                "right": round(right, 4),
                "chance": round(chance, 4),
                "gain": round(right - chance, 4),
                "interval": [low, high],
            }
            record[kind][name] = cell
            if low > limit:
                named.append({"baseline": baseline, "kind": kind, "place": name, "limit": limit, **cell})
        overall = record.pop("overall", {}).get("overall")
        return {"overall": overall, **{k: record.get(k, {}) for k in ("formats", "abilities", "templates")}}, named

    def _intervals(self, parts: Sequence[Int64[np.ndarray, "_"]], guesses: Guesses) -> list[tuple[float, float]]:
        """Of each part's gain: the wider of a bootstrap over clips and of Clopper and Pearson's with fewer trials."""
        if not parts:
            return []
        gain = guesses.hits - guesses.chance
        clips = self._drawn.shape[1]
        sums, counts = (
            np.stack([np.bincount(self._clip_of[m], weights=w[m], minlength=clips) for m in parts], axis=1)
            for w in (gain, np.ones(len(gain)))
        )
        drawn_sums, drawn_counts = self._drawn @ sums, self._drawn @ counts
        tail = (1 - self._limits.level) / 2
        return [
            self._wider(drawn_sums[:, k], drawn_counts[:, k], members, guesses, int(np.sum(counts[:, k] > 0)), tail)
            for k, members in enumerate(parts)
        ]

    def _wider(
        self,
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


def worst_first(named: Sequence[Mapping[str, Json]]) -> list[Json]:
    """Leaks by how far they are above their limit."""
    return sorted(named, key=lambda leak: (leak["limit"] - leak["interval"][0], leak["baseline"], leak["place"]))
