"""Metrics of audited labels, for all and by group: share of wrong facts with its bound, errors over σ, yield."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from experts.sigma_calibration.fitting import MEDIAN_OF_CHI_SQUARE
from spatial_engine.scoring.statistics import clip_bootstrap_bound, clopper_pearson
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import ClipYield, Yield, total_yield

LEVEL = 0.95
"""Confidence of the one-sided upper bounds."""


@dataclass(frozen=True, kw_only=True)
class WrongRate:
    """Wrong facts among those that the truth decides: a fact is wrong if any of its formats is."""

    right: int
    wrong: int
    undecidable: int
    """Facts that the truth decides in no format."""
    clips: int
    """Clips with a decided fact."""
    bound: float | None
    """95 % upper bound of the rate: the larger of Clopper-Pearson with n_eff and the bootstrap over clips; None if
    nothing is decided."""

    @property
    def rate(self) -> float | None:
        """wrong / (right + wrong)."""
        decided = self.right + self.wrong
        return self.wrong / decided if decided else None


def wrong_rate(verdicts: list[Verdict], rng: np.random.Generator) -> WrongRate:
    """The rate over some verdicts."""
    words: dict[tuple[str, str], set[str]] = {}
    for verdict in verdicts:
        words.setdefault((verdict.clip, verdict.fact_id), set()).add(verdict.word)
    decided: dict[str, list[bool]] = {}
    for (clip, _), found in words.items():
        if found & {"right", "wrong"}:
            decided.setdefault(clip, []).append("wrong" in found)
    n, wrong = sum(map(len, decided.values())), sum(map(sum, decided.values()))
    return WrongRate(
        right=n - wrong,
        wrong=wrong,
        undecidable=len(words) - n,
        clips=len(decided),
        bound=_upper_bound(decided, rng) if n else None,
    )


def _upper_bound(wrong_by_clip: Mapping[str, list[bool]], rng: np.random.Generator) -> float:
    """The larger of both 95 % upper bounds."""
    facts = [wrong for _, wrong in sorted(wrong_by_clip.items())]
    wrong, trials = list(map(sum, facts)), list(map(len, facts))
    _, exact = clopper_pearson(sum(wrong), sum(trials), tail=1 - LEVEL, clips=len(facts))
    return max(exact, clip_bootstrap_bound(wrong, trials, rng, level=LEVEL))


_WORDS = 8


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """Distribution of the answers that the truth decides."""

    margins: tuple[float, float, float] | None
    """5 %, 50 %, 95 % of the margins of labels, in σ; None without labels."""
    words: dict[str, int]
    """Answers that are words, by template and answer, most frequent first."""
    numbers: dict[str, tuple[float, float, float]]
    """5 %, 50 %, 95 % of answers that are one number, by template."""


def distribution(verdicts: Sequence[Verdict]) -> Distribution:
    """Over some verdicts."""
    decided = [verdict for verdict in verdicts if verdict.word != "undecidable"]
    margins = [verdict.margin for verdict in decided if verdict.margin is not None]
    words: Counter[str] = Counter()
    numbers: dict[str, list[float]] = {}
    for verdict in decided:
        if verdict.label:
            words[f"{verdict.template}: {verdict.label}"] += 1
        elif isinstance(verdict.answer, int | float):
            numbers.setdefault(verdict.template, []).append(float(verdict.answer))
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    return Distribution(
        margins=_quantiles(margins) if margins else None,
        words=dict(ranked[:_WORDS]),
        numbers={name: _quantiles(values) for name, values in sorted(numbers.items())},
    )


def _quantiles(values: Sequence[float]) -> tuple[float, float, float]:
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95]).tolist()
    return low, middle, high


NOMINAL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.6827, 0.8, 0.9, 0.9545, 0.99)
"""Nominal probabilities of the reliability curve; 1 σ and 2 σ are among them."""


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """One point of the reliability curve."""

    nominal: float
    """Expected share of errors within `sigmas`, if errors are normal."""
    sigmas: float
    observed: float
    """Observed share."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Errors over σ. Every number of a fact counts once, in however many formats it is asked."""

    numbers: int
    facts: int
    clips: int
    within_1: float
    """Share of |error| ≤ 1 σ; 0.683 is expected."""
    within_2: float
    """Share of |error| ≤ 2 σ; 0.954 is expected."""
    scale_factor: float
    """√(median of (error / σ)² / 0.455): 1 is expected; 2 means that the true σ are twice the stated ones."""
    largest: float
    """Largest |error| / σ."""
    curve: tuple[Reliability, ...]


def coverage(verdicts: Iterable[Verdict]) -> Coverage | None:
    """Over the numbers of some verdicts; None if the truth has none of them."""
    found = errors_in_sigmas(verdicts)
    if not found:
        return None
    z = np.array(list(found.values()))
    return Coverage(
        numbers=len(z),
        facts=len({(clip, fact) for _, clip, fact, _ in found}),
        clips=len({clip for _, clip, _, _ in found}),
        within_1=float(np.mean(z <= 1)),
        within_2=float(np.mean(z <= 2)),
        scale_factor=float(np.sqrt(np.median(z**2) / MEDIAN_OF_CHI_SQUARE)),
        largest=float(z.max()),
        curve=tuple(
            Reliability(nominal=p, sigmas=reach, observed=float(np.mean(z <= reach)))
            for p, reach in zip(NOMINAL, (-ndtri((1 - np.array(NOMINAL)) / 2)).tolist(), strict=True)
        ),
    )


def errors_in_sigmas(verdicts: Iterable[Verdict]) -> dict[tuple[str, str, str, str], float]:
    """|error| / σ by template, clip, fact and name of the number, in however many formats a fact is asked. Facts whose
    truth changes within a few pixels do not count."""
    return {
        (verdict.template, verdict.clip, verdict.fact_id, name): z
        for verdict in verdicts
        if not (verdict.word == "undecidable" and verdict.target is not None and "a few pixels" in verdict.reason)
        for name, z in in_sigmas(verdict).items()
    }


def in_sigmas(verdict: Verdict) -> dict[str, float]:
    """|error| / σ of each number whose σ is finite and above 0."""
    shares = {name: abs(error) / verdict.sigma[name] for name, error in verdict.error.items() if verdict.sigma[name]}
    return {name: z for name, z in shares.items() if math.isfinite(z)}


_SEED = 0
"""Seed of the bootstrap: the same verdicts give the same bound."""


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Amount of footage with ground truth."""

    clips: int
    frames: int
    minutes: float | None
    """None if a clip has no time stamps."""


@dataclass(frozen=True, kw_only=True)
class LabelMetrics:
    """Metrics of some labels."""

    facts: WrongRate
    questions: Mapping[str, int]
    """Counts of right, wrong, undecidable."""
    reasons: Mapping[str, int]
    """Why questions are undecidable, most frequent first."""
    coverage: Coverage | None
    """None if the truth has none of their numbers."""
    distribution: Distribution
    yielded: Yield | None
    """None without a store, and for formats and experts: facts are drawn by template."""
    facts_per_minute: float | None
    """Facts in the dataset per minute of footage; None if a clip has no time stamps."""
    facts_per_1000_frames: float


@dataclass(frozen=True, kw_only=True)
class AuditMetrics:
    """Metrics of all labels, and by group."""

    extent: Extent
    all: LabelMetrics
    leaves: Mapping[str, LabelMetrics]
    templates: Mapping[str, LabelMetrics]
    formats: Mapping[str, LabelMetrics]
    experts: Mapping[str, LabelMetrics]
    """By the experts whose signals answers are derived from, joined by "+"."""
    by_leaf_format_experts: Mapping[str, LabelMetrics]
    """By "leaf | format | experts"."""


def audit_metrics(verdicts: Sequence[Verdict], yields: Sequence[ClipYield] | None, extent: Extent) -> AuditMetrics:
    """Metrics of verdicts about the clips of `extent`. `yields`: None without a store."""

    def by(
        name: Callable[[Verdict], str], of_yield: Callable[[ClipYield], str] | None = None
    ) -> dict[str, LabelMetrics]:
        names = {name(verdict) for verdict in verdicts}
        if of_yield is not None:
            names |= {of_yield(part) for part in yields or ()}
        found = {}
        for each in sorted(names):
            own = None if yields is None or of_yield is None else [part for part in yields if of_yield(part) == each]
            found[each] = label_metrics([verdict for verdict in verdicts if name(verdict) == each], own, extent)
        return found

    return AuditMetrics(
        extent=extent,
        all=label_metrics(verdicts, yields, extent),
        leaves=by(lambda verdict: verdict.ability, lambda part: part.ability),
        templates=by(lambda verdict: verdict.template, lambda part: part.template),
        formats=by(lambda verdict: verdict.format),
        experts=by(lambda verdict: verdict.experts),
        by_leaf_format_experts=by(lambda verdict: f"{verdict.ability} | {verdict.format} | {verdict.experts}"),
    )


def label_metrics(verdicts: Sequence[Verdict], yields: Sequence[ClipYield] | None, extent: Extent) -> LabelMetrics:
    """Metrics of some of these verdicts."""
    facts = wrong_rate(list(verdicts), np.random.default_rng(_SEED))
    asked = facts.right + facts.wrong + facts.undecidable
    words = Counter(verdict.word for verdict in verdicts)
    reasons = Counter(verdict.reason for verdict in verdicts if verdict.word == "undecidable")
    return LabelMetrics(
        facts=facts,
        questions={"right": words["right"], "wrong": words["wrong"], "undecidable": words["undecidable"]},
        reasons=dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0]))),
        coverage=coverage(verdicts),
        distribution=distribution(verdicts),
        yielded=None if yields is None else total_yield(yields),
        facts_per_minute=asked / extent.minutes if extent.minutes else None,
        facts_per_1000_frames=1000 * asked / extent.frames if extent.frames else 0.0,
    )
