"""How labels stand: all of them, and those of one leaf, format, template or set of experts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spatial_engine.trust.coverage import Coverage, Spread, coverage, spread
from spatial_engine.trust.rates import WrongRate, wrong_rate
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import ClipYield, Yield, together

_SEED = 0
"""Of the bootstrap: the same verdicts give the same bound."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """How much footage was looked at."""

    clips: int
    frames: int
    minutes: float | None
    """None where a clip has no clock."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Of some labels."""

    facts: WrongRate
    questions: Mapping[str, int]
    """Counts of right, wrong, undecidable."""
    reasons: Mapping[str, int]
    """Why questions are undecidable, most frequent first."""
    coverage: Coverage | None
    """None where truth knows none of their numbers."""
    spread: Spread
    yielded: Yield | None
    """None without a store, and for formats and experts, which nothing can draw by itself."""
    facts_per_minute: float | None
    """Facts in the data set per minute of footage; None where a clip has no clock."""
    facts_per_1000_frames: float


@dataclass(frozen=True, kw_only=True)
class Standings:
    """Everything, and each kind by itself."""

    extent: Extent
    all: Standing
    leaves: Mapping[str, Standing]
    templates: Mapping[str, Standing]
    formats: Mapping[str, Standing]
    experts: Mapping[str, Standing]
    """By the experts that answers rest on, joined by "+"."""
    apart: Mapping[str, Standing]
    """By "leaf | format | experts"."""


def standings(verdicts: Sequence[Verdict], yields: Sequence[ClipYield] | None, extent: Extent) -> Standings:
    """Of verdicts about the clips of `extent`. `yields`: None without a store."""

    def by(name: Callable[[Verdict], str], of_yield: Callable[[ClipYield], str] | None = None) -> dict[str, Standing]:
        names = {name(verdict) for verdict in verdicts}
        if of_yield is not None:
            names |= {of_yield(part) for part in yields or ()}
        found = {}
        for each in sorted(names):
            own = None if yields is None or of_yield is None else [part for part in yields if of_yield(part) == each]
            found[each] = standing([verdict for verdict in verdicts if name(verdict) == each], own, extent)
        return found

    return Standings(
        extent=extent,
        all=standing(verdicts, yields, extent),
        leaves=by(lambda verdict: verdict.ability, lambda part: part.ability),
        templates=by(lambda verdict: verdict.template, lambda part: part.template),
        formats=by(lambda verdict: verdict.format),
        experts=by(lambda verdict: verdict.experts),
        apart=by(lambda verdict: f"{verdict.ability} | {verdict.format} | {verdict.experts}"),
    )


def standing(verdicts: Sequence[Verdict], yields: Sequence[ClipYield] | None, extent: Extent) -> Standing:
    """Of some of the verdicts about the clips of `extent`."""
    facts = wrong_rate(list(verdicts), np.random.default_rng(_SEED))
    asked = facts.right + facts.wrong + facts.undecidable
    words = Counter(verdict.word for verdict in verdicts)
    reasons = Counter(verdict.reason for verdict in verdicts if verdict.word == "undecidable")
    return Standing(
        facts=facts,
        questions={"right": words["right"], "wrong": words["wrong"], "undecidable": words["undecidable"]},
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        coverage=coverage(verdicts),
        spread=spread(verdicts),
        yielded=None if yields is None else together(yields),
        facts_per_minute=asked / extent.minutes if extent.minutes else None,
        facts_per_1000_frames=1000 * asked / extent.frames if extent.frames else 0.0,
    )
