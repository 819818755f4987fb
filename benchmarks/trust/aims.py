"""The aims of the audit: for each a description, the measured value, and whether it is reached."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.trust.verdicts import ClipVerdicts
from spatial_engine.report import page
from spatial_engine.trust.metrics import AuditMetrics, Extent, LabelMetrics, audit_metrics

LEAST_PER_MINUTE = 10.0
"""Least number of facts of a leaf per minute of footage."""
_MOST_WRONG = 0.01
_LEAST_WITHIN_1, _LEAST_WITHIN_2 = 0.60, 0.92
_LEAST_YIELD = 0.30


@dataclass(frozen=True, kw_only=True)
class Aim:
    """One row of the table."""

    what: str
    measured: str
    reached: bool | None
    """None where nothing was measured."""


def percent(share: float | None, digits: int = 1) -> str:
    """A share with its sign; a dash for none."""
    return page.percent(share, digits) + ("" if share is None else " %")


def metrics_of(clips: Sequence[ClipVerdicts]) -> AuditMetrics:
    """Metrics of several clips together."""
    minutes = [clip.about["minutes"] for clip in clips]
    extent = Extent(
        clips=len(clips),
        frames=sum(clip.about["frames"] for clip in clips),
        minutes=None if None in minutes else sum(minutes),
    )
    verdicts = [verdict for clip in clips for verdict in clip.verdicts]
    return audit_metrics(verdicts, [part for clip in clips for part in clip.yields], extent)


def aims(kept: Sequence[ClipVerdicts]) -> list[Aim]:
    """All aims, in the order of the table."""
    rendered = [clip for clip in kept if clip.about["kind"] == "rendered"]
    real = [clip for clip in kept if clip.about["kind"] == "real"]
    rooms, sets = metrics_of(rendered), metrics_of(real)
    slow = [name for name, leaf in rooms.leaves.items() if (leaf.facts_per_minute or 0) < LEAST_PER_MINUTE]
    return [
        _bound(rooms.all),
        _none_wrong(sets.all),
        *_coverage("rooms", rooms.all),
        *_coverage("real footage", sets.all),
        *(
            _yield(where, metrics_of([clip for clip in clips if clip.about["moves"]]).all)
            for where, clips in (("rooms", rendered), ("real footage", real))
        ),
        Aim(
            what=f"rooms: at least {LEAST_PER_MINUTE:g} facts per minute for every covered ability",
            measured=f"{len(rooms.leaves) - len(slow)} of {len(rooms.leaves)} abilities",
            reached=None if not rooms.leaves else not slow,
        ),
    ]


def _bound(found: LabelMetrics) -> Aim:
    facts = found.facts
    return Aim(
        what="rooms: at most 1 % wrong, as a 95 % upper bound",
        measured=f"{facts.wrong} of {facts.right + facts.wrong} facts in {facts.clips} clips: {percent(facts.bound)}",
        reached=None if facts.bound is None else facts.bound <= _MOST_WRONG,
    )


def _none_wrong(found: LabelMetrics) -> Aim:
    facts, decided = found.facts, found.facts.right + found.facts.wrong
    return Aim(
        what="real footage: no wrong fact observed",
        measured=f"{facts.wrong} of {decided} facts in {facts.clips} clips (95 % upper bound {percent(facts.bound)})",
        reached=facts.wrong == 0 if decided else None,
    )


def _coverage(where: str, found: LabelMetrics) -> list[Aim]:
    within = found.coverage
    return [
        Aim(
            what=f"{where}: at least {percent(least, 0)} of errors within {sigmas} σ",
            measured=f"{percent(None if within is None else getattr(within, f'within_{sigmas}'))}"
            + ("" if within is None else f" of {within.numbers} numbers"),
            reached=None if within is None else getattr(within, f"within_{sigmas}") >= least,
        )
        for sigmas, least in ((1, _LEAST_WITHIN_1), (2, _LEAST_WITHIN_2))
    ]


def _yield(where: str, found: LabelMetrics) -> Aim:
    share = None if found.yielded is None else found.yielded.share
    return Aim(
        what=f"{where}: yield of at least {percent(_LEAST_YIELD, 0)} on clips whose camera translates",
        measured=percent(share) + ("" if found.yielded is None else f" of {found.yielded.drawn} facts drawn"),
        reached=None if share is None else share >= _LEAST_YIELD,
    )
