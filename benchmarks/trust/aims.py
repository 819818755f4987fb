"""The aims of the audit: for each a description, the measured value, and whether it is reached."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.trust.verdicts import ClipVerdicts
from spatial_engine.report import page
from spatial_engine.trust.metrics import AuditMetrics, Extent, LabelMetrics, WrongRate, audit_metrics
from spatial_engine.trust.yield_share import Yield, total_yield
from templates.settings import AskSettings

LEAST_PER_MINUTE = 10.0
"""Least number of facts of a leaf per minute of footage."""
_MOST_WRONG = 0.005
_LEAST_SCENES, _LEAST_FACTS = 150, 7000
_WITHIN = {1: (0.60, 0.80), 2: (0.92, 0.98)}
_LEAST_YIELD = {"rooms": 0.30, "real footage": 0.40}
_FIRST_TEMPLATES = frozenset({
    "camera_tilt", "camera_travel", "camera_turn", "navigate", "path_map", "place_direction", "point_moves",
    "range_metres", "range_ratio", "route_order", "same_point", "which_moves",
})  # fmt: skip
"""Those for which the aims of the yield were set. Later ones draw more facts that hardly ever hold, such as two photos
that were taken at the same tilt."""
_MANY, _LEAST_WITH_MANY = 20, 0.75
_MOST_UNDECIDED = 0.15
_ORDINARY_FACTS, _ORDINARY_LEAVES = 25, 4
_LEAST_REFUSED, _LEAST_KEPT = 0.95, 0.95
_PHOTO_PAIRS = "scannet_pairs"
_TOO_FAR_APART = (
    "each pair of ScanNet photos was taken from directions up to 172 degrees apart: SIFT finds hardly a match between "
    "them, and nothing is asked. It would take an expert for matches with learned weights, which does not exist yet."
)
_LITTLE_IS_MEASURED = (
    "candidates are drawn at random before anything is measured. Without weights, the scale is not metric, and only "
    "part of the pixels has a distance, a track or a match; a clip whose reconstruction is refused gives hardly any "
    "fact. Experts with weights measure more (see the imitated ones below). What ground truth is asked is the most "
    "that can be reached: the other candidates are facts that nobody can decide, such as a path without a bend."
)
_ONE_FACTOR = (
    "σ has one factor per template, and clips differ: long drives have nearly all errors within 1 σ, handheld RGB-D "
    "footage little more than half. A smaller factor would be too small where σ is already too small; it would take "
    "a σ that knows which kind of clip it is about."
)
_POOR_TRUTH = (
    "most of them are of apc_shelf, where a robot arm states poses to 0.5 degrees and directions to 2.2: too coarse "
    "for many of its questions. It would take better ground truth."
)
_NO_OBJECTS = (
    "the other abilities ask about objects, which the default experts do not detect. It takes detections of the user "
    "(`--detections`) or an expert with weights; puzzles need no footage, and are not counted here."
)


@dataclass(frozen=True, kw_only=True)
class Aim:
    """One row of the table."""

    what: str
    measured: str
    reached: bool | None
    """None where nothing was measured."""
    missed: str = ""
    """Why it may be missed, and what it would take."""


def percent(share: float | None, digits: int = 1) -> str:
    """A share with its sign; a dash for none."""
    return page.percent(share, digits) + ("" if share is None else " %")


def metrics_of(clips: Sequence[ClipVerdicts]) -> AuditMetrics:
    """Metrics of several clips together. In counts and bounds a clip is a whole recording or room."""
    minutes = [clip.about["minutes"] for clip in clips]
    extent = Extent(
        clips=len(clips),
        frames=sum(clip.about["frames"] for clip in clips),
        minutes=None if None in minutes else sum(minutes),
    )
    verdicts = [replace(verdict, clip=recording(clip)) for clip in clips for verdict in clip.verdicts]
    return audit_metrics(verdicts, [part for clip in clips for part in clip.yields], extent)


def recording(clip: ClipVerdicts) -> str:
    """The recording or room of a clip: parts of one are no independent samples."""
    return str(clip.about.get("recording", clip.about["name"]))


def of_pictures(kept: Sequence[ClipVerdicts], *kinds: str) -> list[ClipVerdicts]:
    """Clips of these kinds whose labels the default experts made."""
    return [clip for clip in kept if clip.about["kind"] in kinds and clip.about["source"] == "pictures"]


def usual_facts(clip: ClipVerdicts) -> dict[str, int]:
    """Facts by leaf, as many as `generate` asks by default."""
    by_template: dict[tuple[str, str], set[str]] = defaultdict(set)
    for verdict in clip.verdicts:
        by_template[verdict.ability, verdict.template].add(verdict.fact_id)
    found: dict[str, int] = defaultdict(int)
    for (leaf, _), facts in by_template.items():
        found[leaf] += min(len(facts), AskSettings().facts_per_template)
    return dict(found)


def aims(kept: Sequence[ClipVerdicts]) -> list[Aim]:
    """All aims, in the order of the table."""
    rendered, real = of_pictures(kept, "rendered"), of_pictures(kept, "real")
    posed = of_pictures(kept, "real", "agreement")
    rooms, sets = metrics_of(rendered), metrics_of(real)
    moving = {where: [clip for clip in clips if clip.about["moves"]]
              for where, clips in (("rooms", rendered), ("real footage", posed))}  # fmt: skip
    truths = {clip.about["name"]: clip for clip in kept if clip.about["source"] == "truth"}
    return [
        _bound(rooms.all),
        _many_facts(rooms.all, len(rendered)),
        _none_wrong(sets.all),
        _with_facts(moving["real footage"]),
        *(_yield(where, clips, truths) for where, clips in moving.items()),
        *_coverage("rooms", rooms.all),
        *_coverage("real footage", sets.all),
        _undecided([clip for clip in posed if clip.about.get("dense")]),
        _ordinary([clip for clip in of_pictures(kept, "rendered", "plain") if clip.about.get("ordinary")]),
        *_statements([clip for clip in kept if clip.about["kind"] == "stated"]),
        _per_minute(rendered),
    ]


def _bound(found: LabelMetrics) -> Aim:
    facts = found.facts
    return Aim(
        what=f"rooms: at most {percent(_MOST_WRONG)} wrong, as a 95 % upper bound",
        measured=f"{_wrong(facts)}: {percent(facts.bound)}",
        reached=None if facts.bound is None else facts.bound <= _MOST_WRONG,
    )


def _wrong(facts: WrongRate) -> str:
    return f"{facts.wrong} of {facts.right + facts.wrong} facts in {facts.clips} recordings"


def _many_facts(found: LabelMetrics, scenes: int) -> Aim:
    decided = found.facts.right + found.facts.wrong
    return Aim(
        what=f"rooms: at least {_LEAST_FACTS} decided facts, at least {_LEAST_SCENES} scenes",
        measured=f"{decided} facts, {scenes} scenes",
        reached=decided >= _LEAST_FACTS and scenes >= _LEAST_SCENES if scenes else None,
    )


def _none_wrong(found: LabelMetrics) -> Aim:
    facts = found.facts
    return Aim(
        what="real footage: no wrong fact observed",
        measured=f"{_wrong(facts)} (95 % upper bound {percent(facts.bound)})",
        reached=facts.wrong == 0 if facts.right + facts.wrong else None,
    )


def _with_facts(clips: Sequence[ClipVerdicts]) -> Aim:
    counts = {clip.about["name"]: sum(usual_facts(clip).values()) for clip in clips}
    videos = [n for name, n in counts.items() if not name.startswith(_PHOTO_PAIRS)]
    many = sum(n >= _MANY for n in counts.values())
    return Aim(
        what=f"real clips whose camera translates: at least {percent(_LEAST_WITH_MANY, 0)} give {_MANY} facts or more",
        measured=f"{many} of {len(counts)} ({sum(n > 0 for n in counts.values())} give any fact); without the pairs of "
        f"photos {sum(n >= _MANY for n in videos)} of {len(videos)} ({sum(n > 0 for n in videos)})",
        reached=many >= _LEAST_WITH_MANY * len(counts) if counts else None,
        missed=_TOO_FAR_APART,
    )


def _coverage(where: str, found: LabelMetrics) -> list[Aim]:
    within = found.coverage
    return [
        Aim(
            what=f"{where}: {percent(least, 0)} to {percent(most, 0)} of errors within {sigmas} σ",
            measured=f"{percent(None if within is None else getattr(within, f'within_{sigmas}'))}"
            + ("" if within is None else f" of {within.numbers} numbers"),
            reached=None if within is None else least <= getattr(within, f"within_{sigmas}") <= most,
            missed=_ONE_FACTOR,
        )
        for sigmas, (least, most) in _WITHIN.items()
    ]


def _yield(where: str, clips: Sequence[ClipVerdicts], truths: Mapping[str, ClipVerdicts]) -> Aim:
    """`truths`: clips whose signals are ground truth, by name. What they are asked is the most that can be reached."""
    found = _share_asked(clips)
    both = [(clip, truths[name]) for clip in clips if (name := f"{clip.about['name']}_truth") in truths]
    own, most = _share_asked([clip for clip, _ in both]), _share_asked([true for _, true in both])
    beside = f"on the {len(both)} of them that were also measured with ground truth in place of the experts, "
    beside += f"{_shares(own)} with the experts and {_shares(most)} with ground truth"
    return Aim(
        what=f"{where}: yield of at least {percent(_LEAST_YIELD[where], 0)} on clips whose camera translates",
        measured=f"{_shares(found)} of {found[0].drawn} facts drawn" + (f"; {beside}" if both else ""),
        reached=None if found[0].share is None else found[0].share >= _LEAST_YIELD[where],
        missed=_LITTLE_IS_MEASURED,
    )


def _share_asked(clips: Sequence[ClipVerdicts]) -> tuple[Yield, Yield]:
    """The yield of all templates, and of the first twelve."""
    parts = [part for clip in clips for part in clip.yields]
    return total_yield(parts), total_yield(part for part in parts if part.template in _FIRST_TEMPLATES)


def _shares(found: tuple[Yield, Yield]) -> str:
    return f"{percent(found[0].share)} (first twelve templates: {percent(found[1].share)})"


def _undecided(clips: Sequence[ClipVerdicts]) -> Aim:
    facts = metrics_of(clips).all.facts
    asked = facts.right + facts.wrong + facts.undecidable
    return Aim(
        what=f"real clips with poses and depth: at most {percent(_MOST_UNDECIDED, 0)} of facts undecidable",
        measured=f"{facts.undecidable} of {asked} in {len(clips)} clips"
        + (f": {percent(facts.undecidable / asked)}" if asked else ""),
        reached=facts.undecidable <= _MOST_UNDECIDED * asked if asked else None,
        missed=_POOR_TRUTH,
    )


def _ordinary(clips: Sequence[ClipVerdicts]) -> Aim:
    found = [usual_facts(clip) for clip in clips]
    good = sum(sum(one.values()) >= _ORDINARY_FACTS and len(one) >= _ORDINARY_LEAVES for one in found)
    middle = sorted(sum(one.values()) for one in found)[len(found) // 2] if found else 0
    return Aim(
        what=f"at least half of ordinary videos, real and rendered, give {_ORDINARY_FACTS} facts of {_ORDINARY_LEAVES} "
        "abilities or more",
        measured=f"{good} of {len(found)} videos (median {middle} facts)",
        reached=2 * good >= len(found) if found else None,
    )


def _statements(clips: Sequence[ClipVerdicts]) -> Iterator[Aim]:
    """Of `--intrinsics` and `--upright`."""
    for about in ("intrinsics", "upright"):
        own = [one for clip in clips for one in clip.about["statements"] if one["about"] == about]
        false = [one for one in own if one["says"] not in ("nothing", "true")]
        refused = sum(one["outcome"] != "believed" for one in false)
        right, wrong = (sum(one[word] for one in false) for word in ("right", "wrong"))
        yield Aim(
            what=f"false --{about}: at least {percent(_LEAST_REFUSED, 0)} refused or outvoted",
            measured=f"{refused} of {len(false)}",
            reached=refused >= _LEAST_REFUSED * len(false) if false else None,
        )
        yield Aim(
            what=f"false --{about}: no wrong fact",
            measured=f"{wrong} of {right + wrong} facts",
            reached=wrong == 0 if false else None,
        )
        kept = kept_facts(clips, about)
        yield Aim(
            what=f"true --{about}: at least {percent(_LEAST_KEPT, 0)} as many facts as without",
            measured=percent(kept),
            reached=None if kept is None else kept >= _LEAST_KEPT,
        )


def kept_facts(clips: Sequence[ClipVerdicts], about: str) -> float | None:
    """Random facts that are asked with a true statement, as a share of those that are asked without."""
    counts = {"true": 0, "nothing": 0}
    for clip in clips:
        decided = {one["says"]: one["decided"] for one in clip.about["statements"] if one["about"] == about}
        if counts.keys() <= decided.keys():
            counts = {says: n + decided[says] for says, n in counts.items()}
    return counts["true"] / counts["nothing"] if counts["nothing"] else None


def _per_minute(clips: Sequence[ClipVerdicts]) -> Aim:
    minutes, counts = sum(clip.about["minutes"] for clip in clips), dict[str, int]()
    for clip in clips:
        counts |= {part.ability: counts.get(part.ability, 0) for part in clip.yields}
        counts |= {leaf: counts.get(leaf, 0) + n for leaf, n in usual_facts(clip).items()}
    enough = sum(n >= LEAST_PER_MINUTE * minutes for n in counts.values())
    return Aim(
        what=f"rooms: at least {LEAST_PER_MINUTE:g} facts per minute for every covered ability",
        measured=f"{enough} of {len(counts)} abilities",
        reached=enough == len(counts) if counts else None,
        missed=_NO_OBJECTS,
    )
