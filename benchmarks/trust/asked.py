"""The facts that are asked about a clip, and their verdicts: generates and audits without pictures."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from experts.clip import Clip
from experts.sigma_calibration import SigmaCalibration, packaged_calibration, with_sigma_calibration
from experts.signals import Signals
from spatial_engine.annotation.executor import one_line
from spatial_engine.dataset.asking import with_answer_sigma
from spatial_engine.dataset.question_line import plain, question_of, to_line
from spatial_engine.trust.candidates import pictures_of
from spatial_engine.trust.label_audit import compare_labels
from spatial_engine.trust.true_sequence import TrueClip
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import ClipYield, scene_yield
from templates.asked import Draft
from templates.columns import Json
from templates.generate import Reasons, ask
from templates.question import Question
from templates.registry import create_templates
from templates.scene.pictures import Pictures
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.scene.surface import OutlierSettings
from templates.settings import AskSettings
from templates.template import Template

FACTS = 40
"""Most facts of one template about one clip: five times the default, so that rare errors show."""
REAL_FACTS = 16
"""The same of real footage, whose ground truth takes longer to decide."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Everything that determines the questions beside the signals."""

    ask: AskSettings = field(default_factory=lambda: AskSettings(facts_per_template=FACTS))
    outliers: OutlierSettings = field(default_factory=OutlierSettings)
    templates: Mapping[str, Template] = field(default_factory=create_templates)
    seed: int = 0
    calibration: SigmaCalibration = field(default_factory=packaged_calibration)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Facts of one template about one clip."""

    facts: Mapping[str, str]
    """Verdict by fact id: "wrong" if any format is wrong, else "right" if any is right, else "undecidable"."""
    drawn: int
    """Facts drawn from the media alone."""
    decided: int
    """Drawn facts that are asked."""
    wrong: tuple[str, ...] = ()
    """For each wrong question: format, fact, prediction, target."""
    error: str = ""
    """Why the template failed; "" if it did not."""


@dataclass(frozen=True, kw_only=True)
class Known:
    """A clip, its ground truth, and the corners of its pictures."""

    clip: Clip
    truth: TrueClip
    pictures: Pictures
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    """By question: without a gate most questions stay the same."""

    @classmethod
    def of(cls, clip: Clip, truth: TrueClip) -> "Known":
        """Reads a few pictures for their corners."""
        return cls(clip=clip, truth=truth, pictures=pictures_of(clip))

    def judged(self, questions: Iterable[Question]) -> list[Verdict]:
        """A verdict for every question; each is judged once. It depends on neither evidence nor provenance."""
        by_key = {to_line(replace(one, evidence={}, provenance=[])): one for one in questions}
        new = {one.id: key for key, one in by_key.items() if key not in self.verdicts}
        found = compare_labels([by_key[key] for key in new.values()], {self.clip.id: self.truth})
        self.verdicts.update((new[verdict.id], verdict) for verdict in found)
        return [self.verdicts[key] for key in by_key]


def scenes_with(clip: Clip, signals: Signals, setup: Setup) -> tuple[Scene, ...]:
    """The scenes of a clip, with the σ calibration."""
    calibrated = with_sigma_calibration(signals, setup.calibration)
    return tuple(replace(scene, outliers=setup.outliers) for scene in scenes_of(clip, calibrated))


def questions_of(clip: Clip, scenes: tuple[Scene, ...], setup: Setup, templates: Iterable[str]) -> list[Question]:
    """What these templates ask."""
    parts = (
        part for name in templates for part in ask(setup.templates[name], scenes, setup.ask, setup.seed, Reasons())
    )
    scaled = (with_answer_sigma(part, setup.calibration) for part in parts)
    return [_question(draft, clip) for part in scaled for draft in part.drafts()]


def described(fact: Mapping[str, Json], verdict: Verdict) -> str:
    """A wrong label in one line."""
    target = verdict.target.get("value", verdict.target) if isinstance(verdict.target, Mapping) else verdict.target
    return (
        f"{verdict.template}, {verdict.format}, {json.dumps(plain(fact))}: {verdict.label or verdict.answer}, "
        f"truth {target}, error {json.dumps(plain(verdict.error))}, σ {json.dumps(plain(verdict.sigma))}"
    )


def asked(known: Known, signals: Signals, setup: Setup, templates: Iterable[str]) -> dict[str, Asked]:
    """Facts that are asked, by name of template."""
    scenes = scenes_with(known.clip, signals, setup)
    found = {name: _asked_of(name, known, scenes, setup) for name in templates}
    questions = {one.id: one for each in found.values() if not isinstance(each, str) for one in each.questions}
    verdicts: dict[str, list[Verdict]] = {name: [] for name in found}
    for verdict in known.judged(questions.values()):
        verdicts[verdict.template].append(verdict)
    return {name: _judged(each, verdicts[name], questions) for name, each in found.items()}


@dataclass(frozen=True, kw_only=True)
class _Unjudged:
    """What one template asks about one clip, and how much of what is drawn."""

    questions: Sequence[Question]
    yields: Sequence[ClipYield]


def _asked_of(name: str, known: Known, scenes: tuple[Scene, ...], setup: Setup) -> _Unjudged | str:
    """What a template asks; its error if it fails: without a gate it may meet what no expert lets pass."""
    try:
        questions = questions_of(known.clip, scenes, setup, [name])
        yields = scene_yield(known.pictures, scenes, [setup.templates[name]], setup.ask, setup.seed)
    except Exception as error:
        return one_line(error)
    return _Unjudged(questions=questions, yields=yields)


def _judged(found: _Unjudged | str, verdicts: Sequence[Verdict], questions: Mapping[str, Question]) -> Asked:
    if isinstance(found, str):
        return Asked(facts={}, drawn=0, decided=0, error=found)
    words: dict[str, set[str]] = {}
    for verdict in verdicts:
        words.setdefault(verdict.fact_id, set()).add(verdict.word)
    return Asked(
        facts={id: next(w for w in ("wrong", "right", "undecidable") if w in own) for id, own in words.items()},
        drawn=sum(part.drawn for part in found.yields),
        decided=sum(part.decided for part in found.yields),
        wrong=tuple(described(questions[v.id].fact, v) for v in verdicts if v.word == "wrong"),
    )


def _question(draft: Draft, clip: Clip) -> Question:
    """The question with options in the order of the draft; only a whole dataset is balanced over letters."""
    return question_of(draft, range(len(draft.options)), clip)


def count(found: Iterable[Asked]) -> Counter[str]:
    """Facts by verdict."""
    return Counter(word for one in found for word in one.facts.values())
