"""Writes docs/trust.md: verdicts on rendered rooms, real sets, sets that prove nothing, footage without truth, other
sources of signals, and what users state about their cameras."""

import platform
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

import numpy as np

from benchmarks.trust.aims import aims, metrics_of, of_pictures, percent, usual_facts
from benchmarks.trust.asked import FACTS, REAL_FACTS
from benchmarks.trust.verdicts import ClipVerdicts
from spatial_engine.trust.audit_summary import cells
from spatial_engine.trust.metrics import AuditMetrics, LabelMetrics, in_sigmas
from spatial_engine.trust.signal_errors_record import SignalErrors, joined_counts
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import total_yield

_PACKAGES = ("numpy", "scipy", "opencv-python-headless", "pycolmap", "pyceres", "av")
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
    "recordings",
    "wrong, 95 % bound (%)",
    "within 1 σ (%)",
    "within 2 σ (%)",
    "yield (%)",
    "facts per minute",
)
_STATED = (
    "statement",
    "clips",
    "believed",
    "outvoted",
    "refused",
    "correct",
    "wrong",
    "undecidable",
    "yield (%)",
)
_INTRO = f"""\
# How far labels can be trusted

Written by `make trust`. The default experts (no weights) make labels from the images alone, up to {FACTS} facts of a
template about a room and {REAL_FACTS} about a real clip; the labels are then compared with ground truth
([how](audit_labels.md)). All counts are numbers of facts; a fact is wrong if the answer in any of its formats is wrong.
A rendered room counts as a recording; the halves of a long recording, and their whole, count as one. Only recordings
with a decided fact are counted. The bound is a 95 % upper bound of the share of wrong facts: the larger of a bootstrap
over recordings and Clopper-Pearson with n_eff = n / (1 + 0.2 (facts per recording − 1)). If σ is correct, 68.3 % of
errors lie within 1 σ and 95.4 % within 2 σ. Yield is the share of randomly drawn candidate facts (drawn from the images
alone, before any signal is computed) that are asked; its targets were set when there were twelve templates."""


def table(kept: Sequence[ClipVerdicts], *, seed: int, date: str, code: str) -> str:
    """The whole document. Equal verdicts give equal bytes."""
    head = [_INTRO, "", *_header(kept, seed, date, code), "", *_aims(kept), *_wrong(kept)]
    rest = [*_sections(kept), *_plain(of_pictures(kept, "plain")), *_sources(kept), *_statements(kept)]
    return "\n".join([*head, *rest]).rstrip() + "\n"


def _header(kept: Sequence[ClipVerdicts], seed: int, date: str, code: str) -> Iterator[str]:
    packages = ", ".join(f"{name} {version(name)}" for name in ("spatial-engine", *_PACKAGES))
    rooms, posed = len(of_pictures(kept, "rendered")), len(of_pictures(kept, "real", "agreement"))
    plain = len(of_pictures(kept, "plain"))
    clips = f"{rooms} rooms, {posed} real clips with ground truth (long ones whole and in halves), {plain} without"
    yield f"- seed {seed}; {clips}" + (f"; {date}" if date else "")
    yield f"- Python {platform.python_version()}, {packages}; code {code}"


def _aims(kept: Sequence[ClipVerdicts]) -> Iterator[str]:
    words = {True: "reached", False: "**missed**", None: "not measured"}
    yield from ("| target | measured | result |", "|---|---|---|")
    found = aims(kept)
    yield from (f"| {aim.what} | {aim.measured} | {words[aim.reached]} |" for aim in found)
    missed = [f"- *{aim.what}*: {aim.missed}" for aim in found if aim.reached is False and aim.missed]
    if missed:
        yield from ("", "## What is missed, why, and what it would take", "", *missed)


def _wrong(kept: Sequence[ClipVerdicts]) -> Iterator[str]:
    """Every wrong label, whatever the source of its signals."""
    wrong = [f"- {clip.about['name']}: {label}" for clip in kept for label in clip.about.get("wrong", ())]
    if wrong:
        yield from ("", "## Wrong labels", "", *wrong)


def _sections(kept: Sequence[ClipVerdicts]) -> Iterator[str]:
    for kind, title in _TITLES.items():
        own = of_pictures(kept, kind)
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


def _plain(clips: Sequence[ClipVerdicts]) -> Iterator[str]:
    """Footage without truth: how much is asked."""
    if clips:
        yield from ("", "## Real footage without ground truth", "")
        yield from ("Facts as `generate` asks by default.", "", "| footage | facts | abilities | yield (%) |")
        yield "|---|--:|--:|--:|"
    for clip in clips:
        facts, share = usual_facts(clip), percent(total_yield(clip.yields).share, 0).removesuffix(" %")
        yield f"| {clip.about['name']} | {sum(facts.values())} | {len(facts)} | {share} |"
    if clips:
        yield from ("", *_refusals(clips))


_SOURCES = {
    "pictures": "default experts",
    "truth": "ground truth (`annotate --truth`)",
    "imitated": "imitated experts",
    "detections": "default experts and a user's masks",
}


def _sources(kept: Sequence[ClipVerdicts]) -> Iterator[str]:
    """One row for each source of signals and kind of footage."""
    groups = {
        f"{words}, {where}": [clip for clip in kept if clip.about["kind"] in kinds and clip.about["source"] == source]
        for source, words in _SOURCES.items()
        for where, kinds in (("rooms", ("rendered",)), ("real footage", ("real", "agreement")))
    }
    rows = [(name, metrics_of(clips).all) for name, clips in groups.items() if clips]
    if rows:
        yield from ("", "## By source of the signals", "", *_rows("source", rows))


def _statements(kept: Sequence[ClipVerdicts]) -> Iterator[str]:
    """What comes of true and false statements about the camera."""
    clips = [clip for clip in kept if clip.about["kind"] == "stated"]
    if not clips:
        return
    yield from ("", "## What users state about their cameras", "")
    yield "A false statement is believed if what the experts find follows it, outvoted if it follows the truth."
    yield from ("", f"| {' | '.join(_STATED)} |", "|---" + "|--:" * (len(_STATED) - 1) + "|")
    found = [one for clip in clips for one in clip.about["statements"]]
    for about, says in dict.fromkeys((one["about"], one["says"]) for one in found):
        own = [one for one in found if (one["about"], one["says"]) == (about, says)]
        false = says not in ("nothing", "true")
        outcomes = [str(sum(one["outcome"] == word for one in own)) if false else "–" for word in _STATED[2:5]]
        facts = [str(sum(one[word] for one in own)) if false else "–" for word in ("right", "wrong", "undecidable")]
        drawn, asked = (sum(one[word] for one in own) for word in ("drawn", "decided"))
        share = percent(asked / drawn if drawn else None, 0).removesuffix(" %")
        yield f"| --{about} {says} | {' | '.join([str(len(own)), *outcomes, *facts, share])} |"
    for about in ("intrinsics", "upright"):
        names = [
            f"{clip.about['name'].removesuffix('_stated')} ({one['says']})"
            for clip in clips
            for one in clip.about["statements"]
            if one["about"] == about and one["says"] not in ("nothing", "true") and one["outcome"] == "believed"
        ]
        if names:
            yield from ("", f"A false --{about} is believed of: {', '.join(names)}.")


def _verdicts(clips: Sequence[ClipVerdicts]) -> list[Verdict]:
    return [verdict for clip in clips for verdict in clip.verdicts]


def _sentence(clips: Sequence[ClipVerdicts]) -> str:
    """ "0 of 2110 decided facts in 150 recordings are wrong (bound 0.4 %)", with the share of large errors."""
    found = metrics_of(clips).all
    facts, decided = found.facts, found.facts.right + found.facts.wrong
    outliers, numbers = outlier_count(_verdicts(clips))
    wrong = f"**{facts.wrong} of {decided} decided facts in {facts.clips} recordings are wrong**"
    share = f" Errors above {_OUTLIER_SIGMAS:g} σ: {outliers} of {numbers} numbers, facts near depth edges included"
    return f"{wrong} (bound {percent(facts.bound)})." + (
        f"{share} ({percent(outliers / numbers, 2)})." if numbers else ""
    )


def outlier_count(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    """(count of numbers with an error above 5 σ, count of numbers with known truth)."""
    found = {(v.clip, v.fact_id, name): z for v in verdicts for name, z in in_sigmas(v).items()}
    return sum(z > _OUTLIER_SIGMAS for z in found.values()), len(found)


def _of_leaves(found: AuditMetrics) -> Iterator[str]:
    yield from _rows("ability", [*found.leaves.items(), ("**all**", found.all)])
    if reasons := found.all.reasons:
        yield ""
        yield f"Reasons for undecidable questions (a fact has one or more): {_counted(reasons.items())}."


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
