"""Writes docs/trust.md: all verdicts, in sections for rendered rooms, real sets, and sets that prove nothing."""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

import numpy as np

from benchmarks.trust.aims import LEAST_PER_MINUTE, aims, metrics_of, percent
from benchmarks.trust.verdicts import ClipVerdicts
from spatial_engine.trust.audit_summary import cells
from spatial_engine.trust.metrics import AuditMetrics, LabelMetrics, in_sigmas
from spatial_engine.trust.signal_errors_record import SignalErrors, joined_counts
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import total_yield

_PACKAGES = ("numpy", "scipy", "opencv-python-headless", "pycolmap", "av")
_OUTLIER_SIGMAS = 5.0
_REASONS = 5
_TITLES = {
    "rendered": "Rendered rooms (exact truth)",
    "real": "Real footage with ground truth",
    "agreement": "Agreement only (poses computed from the same images: not independent ground truth)",
}
_HEAD = (
    "correct",
    "wrong",
    "undecidable",
    "clips",
    "wrong, 95 % bound (%)",
    "within 1 σ (%)",
    "within 2 σ (%)",
    "yield (%)",
    "facts per minute",
)
_INTRO = """\
# How far labels can be trusted

Written by `make trust`. The default experts (no weights) make labels from the images alone; the labels are then
compared with ground truth (docs/audit_labels.md). All counts are numbers of facts; a fact is wrong if the answer in any
of its formats is wrong. The bound is a 95 % upper bound of the share of wrong facts: the larger of a bootstrap over
clips and Clopper-Pearson with n_eff = n / (1 + 0.2 (facts per clip − 1)). If σ is correct, 68.3 % of errors lie within
1 σ and 95.4 % within 2 σ. Yield is the share of randomly drawn candidate facts (drawn from the images alone, before any
signal is computed) that are asked."""


def table(kept: Sequence[ClipVerdicts], *, seed: int, rooms: int, date: str, code: str) -> str:
    """The whole document. Equal verdicts give equal bytes."""
    head = [_INTRO, "", *_header(kept, seed, rooms, date, code), "", *_aims(kept)]
    return "\n".join([*head, *_sections(kept)]).rstrip() + "\n"


def _header(kept: Sequence[ClipVerdicts], seed: int, rooms: int, date: str, code: str) -> Iterator[str]:
    packages = ", ".join(f"{name} {version(name)}" for name in ("spatial-engine", *_PACKAGES))
    yield f"- seed {seed}; {rooms} rooms, {len(kept) - rooms} real sequences" + (f"; {date}" if date else "")
    yield f"- Python {platform.python_version()}, {packages}; code {code}"


def _aims(kept: Sequence[ClipVerdicts]) -> Iterator[str]:
    words = {True: "reached", False: "**missed**", None: "not measured"}
    yield from ("| target | measured | result |", "|---|---|---|")
    for aim in aims(kept):
        yield f"| {aim.what} | {aim.measured} | {words[aim.reached]} |"


def _sections(kept: Sequence[ClipVerdicts]) -> Iterator[str]:
    for kind, title in _TITLES.items():
        own = [clip for clip in kept if clip.about["kind"] == kind]
        if not own:
            continue
        yield from ("", f"## {title}", "", _sentence(own), "")
        yield from (*_of_leaves(metrics_of(own)), "")
        if kind == "rendered":
            moving = [clip for clip in own if clip.about["moves"]]
            yield from ("### By condition", "", *_of_groups(own, "condition"), "")
            if moving:
                yield from ("### Clips whose camera translates", "", *_of_leaves(metrics_of(moving)))
        else:
            yield from ("### By sequence", "", *_of_groups(own, "sequence"), *_findings(own), "", *_refusals(own))
        yield from _signal_rows([each for clip in own for each in clip.signals])


def _verdicts(clips: Sequence[ClipVerdicts]) -> list[Verdict]:
    return [verdict for clip in clips for verdict in clip.verdicts]


def _sentence(clips: Sequence[ClipVerdicts]) -> str:
    """ "0 of 2110 decided facts in 150 clips are wrong (bound 0.4 %)", with the share of large errors."""
    found = metrics_of(clips).all
    facts, decided = found.facts, found.facts.right + found.facts.wrong
    outliers, numbers = outlier_count(_verdicts(clips))
    wrong = f"**{facts.wrong} of {decided} decided facts in {facts.clips} clips are wrong**"
    share = f" Errors above {_OUTLIER_SIGMAS:g} σ: {outliers} of {numbers} numbers, facts near depth edges included"
    return f"{wrong} (bound {percent(facts.bound)})." + (
        f"{share} ({percent(outliers / numbers, 2)})." if numbers else ""
    )


def outlier_count(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """(count of numbers with an error above 5 σ, count of numbers with known truth)."""
    found = {(v.clip, v.fact_id, name): z for v in verdicts for name, z in in_sigmas(v).items()}
    return sum(z > _OUTLIER_SIGMAS for z in found.values()), len(found)


def _of_leaves(found: AuditMetrics) -> Iterator[str]:
    yield from _rows(
        "ability", [*((_leaf(name, each), each) for name, each in found.leaves.items()), ("**all**", found.all)]
    )
    if any(_leaf(*row).endswith("*") for row in found.leaves.items()):
        yield from ("", f"\\*: fewer than {LEAST_PER_MINUTE:g} facts per minute, which misses the target.")
    if reasons := found.all.reasons:
        yield ""
        yield f"Reasons for undecidable questions (a fact has one or more): {_counted(reasons.items())}."


def _leaf(name: str, found: LabelMetrics) -> str:
    rate = found.facts_per_minute
    return name + ("*" if rate is not None and rate < LEAST_PER_MINUTE else "")


def _of_groups(clips: Sequence[ClipVerdicts], first: str) -> Iterator[str]:
    """One row for each value of each condition."""
    values = Counter((name, value) for clip in clips for name, value in clip.about["conditions"].items())

    def group(name: str, value: str) -> LabelMetrics:
        return metrics_of([clip for clip in clips if clip.about["conditions"].get(name) == value]).all

    yield from _rows(
        first, [(value if name == "set" else f"{name}: {value}", group(name, value)) for name, value in sorted(values)]
    )


def _refusals(clips: Sequence[ClipVerdicts]) -> Iterator[str]:
    """For each set the reasons of facts that are not asked, and of those that the truth does not decide."""
    for clip in clips:
        asked = total_yield(clip.yields)
        undecidable = Counter(verdict.reason for verdict in clip.verdicts if verdict.word == "undecidable")
        parts = [f"not asked: {_counted(asked.reasons.items())}"] if asked.reasons else []
        parts += [f"undecidable: {_counted(undecidable.most_common())}"] if undecidable else []
        yield f"- {clip.about['name']}: {'; '.join(parts) or 'every fact was asked and decided'}"


def _counted(reasons: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{reason} ({n})" for reason, n in list(reasons)[:_REASONS])


def _rows(first: str, rows: Sequence[tuple[str, LabelMetrics]]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(_HEAD)} |"
    yield "|---" + "|--:" * len(_HEAD) + "|"
    for name, found in rows:
        yield f"| {name} | {' | '.join(cells(found))} |"


def _findings(clips: Sequence[ClipVerdicts]) -> Iterator[str]:
    """Findings about the ground truth itself."""
    if any(clip.about["findings"] for clip in clips):
        yield ""
    for clip in clips:
        for finding in clip.about["findings"]:
            word = f"excluded frames: {clip.about['unsound']}" if finding["severe"] else "note"
            yield f"- {clip.about['name']}: {word}: {finding['what']}: {finding['number']}"


def _signal_rows(errors: Sequence[SignalErrors]) -> Iterator[str]:
    """Tables of errors in σ and of outliers, each if measured. Clips weigh by their number of errors."""
    kinds = sorted({(each.expert, each.signal, each.quantity) for each in errors})
    of = {kind: [each for each in errors if (each.expert, each.signal, each.quantity) == kind] for kind in kinds}
    known = {kind: own for kind, own in of.items() if sum(len(each.off) for each in own)}
    if known:
        yield from ("", "### Signals: errors relative to the stated σ", "")
        yield from (
            "| expert | signal | quantity | clips | samples | within 1 σ (68 % expected) | within 2 σ (95 %) |",
            "|---|---|---" + "|--:" * 4 + "|",
        )
        for kind, own in known.items():
            reach = np.concatenate([each.off / np.hypot(1, each.other) for each in own])
            within = [f"{100 * np.mean(reach <= sigmas):.0f}" for sigmas in (1, 2)]
            yield f"| {' | '.join(kind)} | {len(own)} | {len(reach)} | {' | '.join(within)} |"
    outliers = {kind: counts for kind, own in of.items() if (counts := joined_counts(each.gross for each in own))}
    if outliers:
        yield from (
            "",
            "### Signals: outliers (a measured rate above the stated probability means that it is too low)",
            "",
        )
        yield from (
            "| expert | signal | quantity | stated probability | measured rate | samples |",
            "|---|---|---" + "|--:" * 3 + "|",
        )
        for kind, counts in outliers.items():
            for each in counts:
                measured = percent(each.gross / each.samples, 2)
                yield f"| {' | '.join(kind)} | {percent(each.claimed, 2)} | {measured} | {each.samples} |"
