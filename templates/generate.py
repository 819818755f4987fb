"""Asks about worlds: propose, measure on every world, answer, gate, offer. Counts every refusal."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from experts.clip import Clip
from experts.provenance import Provenance
from experts.reframing import ReframedClip
from experts.signals import Signals
from templates.answers import Answer
from templates.answers.answers import Answers
from templates.asked import Asked, ClipQuestions, Draft, Origin, Refusal
from templates.chance import Chance
from templates.checked import check_kinds, checked_answers, checked_facts, checked_measured, checked_offer
from templates.columns import Json, Texts
from templates.condition import Condition
from templates.difficulty import difficulty, difficulty_of_answers
from templates.facts import Facts
from templates.measured import Measured, first_reason, joined
from templates.question import FormatName
from templates.registry import licence_of
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.template import Template, TemplateError
from templates.world import Procedural, World

Reasons = Counter[tuple[FormatName | None, str]]
Worlds = tuple[World, ...]
"""A world, and others of the same media that every fact is measured on too."""
OnError = Callable[[Template, Exception], str]
"""From a template and its error, the reason that is counted."""

SURPLUS = "more facts than asked about"
"""Not a refusal: the reason of proposed facts beyond the limit of facts per template and clip."""
_PORTION = 32
"""Least number of facts measured at once, and number of questions put in words at once."""


def ask_clip(
    clip: Clip,
    signals: Signals,
    templates: Sequence[Template],
    settings: AskSettings,
    seed: int,
    on_error: OnError | None = None,
) -> ClipQuestions:
    """What all templates ask about one clip. Equal inputs and seed give equal results.

    `on_error`: gives the reason that is counted where a template fails; the other templates still ask. None: raises
    `TemplateError`, whose cause is the original error.
    """
    worlds = scenes_of(clip, signals)
    about_clips = [template for template in templates if issubclass(template.world, Scene)]
    return _asked(clip.id, [(template, worlds) for template in about_clips], settings, seed, on_error)


def ask_puzzles(templates: Sequence[Template], count: int, seed: int, on_error: OnError | None = None) -> ClipQuestions:
    """About `count` puzzles of each template that needs no footage; as `ask_clip`."""
    makers = [template for template in templates if issubclass(template.world, Procedural)] if count else []
    worlds = [(t, (Procedural.of(t.name, t.version, seed, licence_of(t)),)) for t in makers]
    return _asked("", worlds, AskSettings(facts_per_template=count), seed, on_error)


def _asked(
    clip_id: str,
    templates: Sequence[tuple[Template, Worlds]],
    settings: AskSettings,
    seed: int,
    on_error: OnError | None,
) -> ClipQuestions:
    asked: list[Asked] = []
    refusals: list[Refusal] = []
    for template, worlds in templates:
        reasons: Reasons = Counter()
        try:
            asked += _tried(ask(template, worlds, settings, seed, reasons))
        except Exception as error:  # a plug-in may raise anything
            if on_error is None:
                raise TemplateError(template) from error
            reasons = Counter({(None, on_error(template, error)): 1})
        refusals += [
            Refusal(clip_id=clip_id, template=template.name, ability=template.ability, format=f, reason=reason, count=n)
            for (f, reason), n in sorted(reasons.items(), key=str)
        ]
    return ClipQuestions(clip_id=clip_id, asked=tuple(asked), refusals=tuple(refusals))


def _tried(asked: list[Asked]) -> list[Asked]:
    """The tables, with whether their options are pictures. Words come last, but where those of every question fail,
    the first error is raised here."""
    first = [_first_draft(one) for one in asked]
    if first and isinstance(first[0], Exception) and not any(isinstance(draft, Draft) for draft in first):
        raise first[0]
    return [
        replace(one, pictures=True) if isinstance(draft, Draft) and draft.has_pictures_as_options else one
        for one, draft in zip(asked, first, strict=True)
    ]


def _first_draft(asked: Asked) -> Draft | Exception:
    """The first question that can be put in words, or the error of the first one."""
    failed: list[Exception] = []
    for part in _portions(asked):
        for k in range(len(part)):
            try:
                draft = part.draft(k)
                draft.answer.to_json()
                return draft
            except Exception as error:  # a plug-in may raise anything
                failed.append(error)
    return failed[0]


def _portions(asked: Asked) -> Iterator[Asked]:
    """The questions a few at a time: the first words of a large table make plain values of all its rows."""
    if len(asked) <= _PORTION:
        yield asked
    else:
        rows = np.arange(len(asked))
        yield from (asked.take(rows[start : start + _PORTION]) for start in range(0, len(asked), _PORTION))


def ask(template: Template, worlds: Worlds, settings: AskSettings, seed: int, reasons: Reasons) -> list[Asked]:
    """What one template asks about one clip, or its puzzles, by format; `reasons` counts the refusals."""
    world = worlds[0]
    missing = template.lacks(world)
    if missing or not isinstance(world, template.world):
        reasons[None, why_missing(world, missing[0]) if missing else f"the clip is no {template.world.__name__}"] += 1
        return []
    if isinstance(world, Scene) and _has_bars(world.clip) and not template.with_bars:
        reasons[None, "the pictures have black bars"] += 1
        return []
    rng = _rng(seed, world.clip_id, template.name)
    facts = checked_facts(template.facts, template.propose(world, rng, template.spare * settings.facts_per_template))
    if not len(facts):
        reasons[None, "nothing to ask about"] += 1
        return []
    return ask_about(template, facts.rounded().distinct(), worlds, settings, seed, reasons)


def _has_bars(clip: Clip) -> bool:
    return isinstance(clip, ReframedClip) and any(clip.bars_px)


def ask_about(
    template: Template, facts: Facts, worlds: Worlds, settings: AskSettings, seed: int, reasons: Reasons
) -> list[Asked]:
    """Given facts that pass the gate, by format: of the first `facts_per_template` that are asked in any format. They
    are measured in portions until there are enough."""
    provenance = provenance_of(template, worlds)
    origin = Origin(provenance=provenance, licence=licence_of_answers(worlds[0], provenance))
    asked: list[Asked] = []
    left, portion = settings.facts_per_template, max(settings.facts_per_template, _PORTION)
    for start in range(0, len(facts), portion):
        if left <= 0:
            reasons[None, SURPLUS] += len(facts) - start
            break
        part = facts.take(slice(start, start + portion))
        first = _first(_certain(template, part, worlds, origin, settings, seed, reasons), left, reasons)
        left -= len({id for one in first for id in one.fact_ids.tolist()})
        asked += first
    return asked


def _certain(
    template: Template,
    facts: Facts,
    worlds: Worlds,
    origin: Origin,
    settings: AskSettings,
    seed: int,
    reasons: Reasons,
) -> list[tuple[Asked, np.ndarray]]:
    """By format: the measured facts, and which of them pass the gate."""
    clip_id = worlds[0].clip_id
    measured = measure_on_all(template, facts, worlds)
    _count(reasons, None, measured.why)
    known = np.flatnonzero(measured.why == "")
    if not len(known):
        return []
    facts, measured = facts.take(known), measured.take(known)
    of_facts = difficulty(facts, worlds[0])
    ids = np.array(facts.ids(clip_id, template.name))
    chance, found = Chance.of(ids, seed), []
    for format in template.formats:
        answers = answers_to(template, format, facts, measured)
        p_right, answers = answers.p_right, answers.gated(settings.min_confidence)
        offer = checked_offer(format, template.offer(format, facts, answers, chance), answers)
        answers = answers if offer is None else answers.refused(offer.why)
        check_kinds(format, answers, offer)
        measures = difficulty_of_answers(answers) | of_facts
        answers = answers.refused(_not_selected(settings.difficulty, measures, len(facts)))
        _count(reasons, format, answers.why)
        every = Asked(
            template=template,
            clip_id=clip_id,
            format=format,
            facts=facts,
            fact_ids=ids,
            answers=answers,
            offer=offer,
            evidence=measured.evidence,
            traps=measured.traps,
            difficulty=measures,
            p_right=p_right,
            origin=origin,
            seed=seed,
        )
        found.append((every, answers.why == ""))
    return found


def _not_selected(conditions: Sequence[Condition], measures: Mapping[str, np.ndarray], count: int) -> Texts:
    """Why facts are left out; "" where all conditions are met."""
    return first_reason(
        count, {f"not {condition}": np.logical_not(condition.met(measures)) for condition in conditions}
    )


def _first(found: list[tuple[Asked, np.ndarray]], most: int, reasons: Reasons) -> list[Asked]:
    """The rows of the first `most` facts that are asked in any format."""
    if not found:
        return []
    any_format = np.any([certain for _, certain in found], axis=0)
    kept = any_format & (np.cumsum(any_format) <= most)
    if surplus := int((any_format & ~kept).sum()):
        reasons[None, SURPLUS] += surplus
    chosen = [(asked, np.flatnonzero(certain & kept)) for asked, certain in found]
    return [asked.take(rows) for asked, rows in chosen if len(rows)]


def measure_on_all(template: Template, facts: Facts, worlds: Worlds) -> Measured:
    """Each fact measured on every world and joined: σ includes the disagreement, and labels must be equal."""
    by_world = [measured_by(template, facts, world) for world in worlds]
    return joined(*by_world, independent=worlds[0].second is not None)


def measured_by(template: Template, facts: Facts, world: World) -> Measured:
    """`Template.measure`, checked: a row per fact. Raises `TypeError` or `ValueError`."""
    return checked_measured(template.measure(facts, world), len(facts))


def answers_to(template: Template, format: FormatName, facts: Facts, measured: Measured) -> Answers:
    """`Template.answer` for the facts that were measured; the others have no answer."""
    known = np.flatnonzero(measured.why == "")
    if not len(known):
        return Answers(why=measured.why, stacks=())
    answers = template.answer(format, facts.take(known), measured.take(known))
    if isinstance(answers, Answer):
        answers = Answers.of(answers, measured.why[known])
    answers = checked_answers(answers, len(known))
    why = measured.why.astype(object)
    why[known] = answers.why
    return Answers(why=why.astype(np.str_), stacks=tuple((known[rows], stack) for rows, stack in answers.stacks))


def _count(reasons: Reasons, format: FormatName | None, why: Texts) -> None:
    for reason, count in zip(*np.unique(why[why != ""], return_counts=True), strict=True):
        reasons[format, str(reason)] += int(count)


def provenance_of(template: Template, worlds: Sequence[World]) -> tuple[Mapping[str, Json], ...]:
    """Provenance of all signals that a template's answers depend on, in order of signal name.

    These are the signals that the template reads in every world, and those that decided which signals count
    (`World.judged_by`). A signal of the second world with another provenance is called `<name>_check`.
    """
    read = template.reads | {"agreement"}
    makers: dict[str, Provenance] = {}
    for world in worlds:
        for name in sorted(read & world.signals.keys()):
            provenance = world.signals[name].provenance
            if makers.setdefault(name, provenance) != provenance:
                makers[f"{name}_check"] = provenance
    makers |= worlds[0].judged_by
    return tuple({**vars(makers[name]), "signal": name} for name in sorted(makers))


def licence_of_answers(world: World, provenance: Sequence[Mapping[str, Json]]) -> Mapping[str, Json]:
    """That of what is measured in a world: of the footage, and of all experts that provenance names."""
    experts = [each for signal in provenance for each in (signal, *signal["made_from"])]
    names = {each["code_licence"] for each in experts} | {each["weights_licence"] for each in experts} - {None}
    return {
        "footage": world.footage_licence,
        "signals": sorted(names),
        "commercial_ok": all(each["commercial_ok"] for each in experts),
    }


def why_missing(world: World, signal: str) -> str:
    """Why the world lacks a signal."""
    if signal in world.no_estimates:
        return world.no_estimates[signal].reason
    return f"{signal.replace('_', ' ')} not measured"


def _rng(seed: int, *names: str) -> np.random.Generator:
    digest = hashlib.sha256("\0".join([str(seed), *names]).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
