"""Makes drafts from scenes: propose, measure on every scene, gate, phrase. Counts every refusal."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from experts.clip import Clip
from experts.provenance import Provenance
from experts.signals import Signals
from templates.answers import Answer
from templates.draft import ClipQuestions, Draft, Refusal
from templates.fact import Fact
from templates.measured import Json, Measured, Undecided, joined
from templates.question import FormatName, Phrasing
from templates.scene.scene import Scene, scenes_of
from templates.settings import AskSettings
from templates.template import Template, TemplateError

Reasons = Counter[tuple[FormatName | None, str]]

_BATCH = 16
"""Facts measured at once."""


def ask_clip(
    clip: Clip,
    signals: Signals,
    templates: Sequence[Template],
    settings: AskSettings,
    seed: int,
    on_error: Callable[[Template, Exception], str] | None = None,
) -> ClipQuestions:
    """Drafts of all templates about one clip. Equal inputs and seed give equal results.

    `on_error`: words an error of a template, which becomes its refusal; the other templates still ask. None: raises
    `TemplateError`, whose cause is the original error.
    """
    scenes = scenes_of(clip, signals)
    drafts: list[Draft] = []
    refusals: list[Refusal] = []
    for template in templates:
        reasons: Reasons = Counter()
        try:
            drafts += ask(template, scenes, settings, seed, reasons)
        except Exception as error:  # a plug-in may raise anything
            if on_error is None:
                raise TemplateError(template) from error
            reasons = Counter({(None, on_error(template, error)): 1})
        refusals += [
            Refusal(clip_id=clip.id, template=template.name, ability=template.ability, format=f, reason=reason, count=n)
            for (f, reason), n in sorted(reasons.items(), key=str)
        ]
    return ClipQuestions(clip_id=clip.id, drafts=tuple(drafts), refusals=tuple(refusals))


def ask(
    template: Template, scenes: tuple[Scene, ...], settings: AskSettings, seed: int, reasons: Reasons
) -> list[Draft]:
    """Drafts of one template about one clip; `reasons` counts the refusals."""
    scene, clip = scenes[0], scenes[0].clip
    missing = sorted(template.needs - scene.signals.keys())
    if missing:
        reasons[None, why_missing(scene, missing[0])] += 1
        return []
    facts = template.propose(scene, _rng(seed, clip.id, template.name))
    if not facts:
        reasons[None, "nothing to ask about"] += 1
    return ask_about(template, facts, scenes, settings, seed, reasons)


def ask_about(
    template: Template,
    facts: Sequence[Fact],
    scenes: tuple[Scene, ...],
    settings: AskSettings,
    seed: int,
    reasons: Reasons,
) -> list[Draft]:
    """Drafts of given facts that pass the gate. Stops at `facts_per_template` facts."""
    drafts: list[Draft] = []
    asked, provenance = 0, provenance_of(template, scenes)
    origin = _Origin(provenance=provenance, licence=_licence(scenes[0].clip, provenance))
    for start in range(0, len(facts), _BATCH):
        batch = facts[start : start + _BATCH]
        if asked >= settings.facts_per_template:
            reasons[None, "enough facts of this kind about this clip"] += len(facts) - start
            break
        for fact, measured in zip(batch, measure_on_all(template, batch, scenes), strict=True):
            new = list(_drafts_of(template, fact, measured, scenes[0].clip, origin, settings, seed, reasons))
            asked += bool(new)
            drafts += new if asked <= settings.facts_per_template else []
    return drafts


def measure_on_all(template: Template, facts: Sequence[Fact], scenes: tuple[Scene, ...]) -> list[Measured | Undecided]:
    """Each fact measured on every scene and joined: σ includes the disagreement, and labels must be equal."""
    by_scene = [template.measure(facts, scene) for scene in scenes]
    independent = scenes[0].second is not None
    return [joined(*each, independent=independent) for each in zip(*by_scene, strict=True)]


def _drafts_of(
    template: Template,
    fact: Fact,
    measured: Measured | Undecided,
    clip: Clip,
    origin: "_Origin",
    settings: AskSettings,
    seed: int,
    reasons: Reasons,
) -> Iterator[Draft]:
    if isinstance(measured, Undecided):
        reasons[None, measured.reason] += 1
        return
    fact_id = fact.id(clip.id)
    for format in template.formats:
        answer = template.answer(format, fact, measured)
        if not isinstance(answer, Undecided):
            answer = gated(answer, settings.min_confidence)
        if isinstance(answer, Undecided):
            reasons[format, answer.reason] += 1
            continue
        phrasing = template.phrase(format, fact, answer, _rng(seed, fact_id, format))
        if isinstance(phrasing, Undecided):
            reasons[format, phrasing.reason] += 1
            continue
        if not isinstance(phrasing, Phrasing):
            raise TypeError(f"phrase returned {type(phrasing).__name__}; allowed: Phrasing, Undecided")
        if format == "choice" and len(phrasing.options) < 2:
            raise ValueError(f"phrase gave a choice {len(phrasing.options)} options; it needs 2 or more")
        yield Draft(
            clip_id=clip.id,
            template=template.name,
            ability=template.ability,
            format=format,
            fact=fact,
            fact_id=fact_id,
            answer=answer,
            phrasing=phrasing,
            evidence={**measured.evidence, "p_right": round(float(answer.p_right()), 4)},
            provenance=origin.provenance,
            licence=origin.licence,
            seed=seed,
        )


def gated(answer: Answer, min_confidence: float) -> Answer | Undecided:
    """The answer, if P(right) is at least `min_confidence`."""
    if answer.p_right() >= min_confidence:
        return answer
    if 1 - answer.outlier_probability < min_confidence:
        return Undecided(reason="not confirmed by an independent measurement")
    return Undecided(reason=answer.refusal)


@dataclass(frozen=True, kw_only=True)
class _Origin:
    """Provenance and licence of the drafts of one template about one clip."""

    provenance: tuple[Mapping[str, Json], ...]
    licence: Mapping[str, Json]


def provenance_of(template: Template, scenes: Sequence[Scene]) -> tuple[Mapping[str, Json], ...]:
    """Provenance of all signals that a template's answers depend on, in order of signal name.

    These are the signals that the template reads in every scene, and those that decided which signals count
    (`Scene.judged_by`). A signal of the check scene with another provenance is called `<name>_check`.
    """
    read = template.reads | {"agreement"}
    makers: dict[str, Provenance] = {}
    for scene in scenes:
        for name in sorted(read & scene.signals.keys()):
            provenance = scene.signals[name].provenance
            if makers.setdefault(name, provenance) != provenance:
                makers[f"{name}_check"] = provenance
    makers |= scenes[0].judged_by
    return tuple(asdict(makers[name]) | {"signal": name} for name in sorted(makers))


def _licence(clip: Clip, provenance: Sequence[Mapping[str, Json]]) -> Mapping[str, Json]:
    names = {p["code_licence"] for p in provenance} | {p["weights_licence"] for p in provenance} - {None}
    return {
        "footage": clip.licence,
        "signals": sorted(names),
        "commercial_ok": all(p["commercial_ok"] for p in provenance),
    }


def why_missing(scene: Scene, signal: str) -> str:
    """Why the scene lacks a signal."""
    if signal in scene.no_estimates:
        return scene.no_estimates[signal].reason
    return f"{signal.replace('_', ' ')} not measured"


def _rng(seed: int, *names: str) -> np.random.Generator:
    digest = hashlib.sha256("\0".join([str(seed), *names]).encode()).digest()
    return np.random.default_rng(np.frombuffer(digest, dtype=np.uint32))
