"""Makes the questions of every clip of a store."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from experts.clip import Clip
from experts.sigma_calibration import SigmaCalibration, packaged_calibration, read_calibration, with_sigma_calibration
from experts.signals import Signals
from spatial_engine.annotation.executor import Crashed, run
from spatial_engine.annotation.plugin_errors import is_template_error, template_error
from spatial_engine.errors import UsageError
from spatial_engine.options import GenerateOptions, words
from spatial_engine.progress import Progress
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import Store
from templates.asked import ClipQuestions, Refusal
from templates.generate import ask_clip, ask_puzzles
from templates.registry import UnknownAbilityError, create_templates
from templates.scene.scene import Scene
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.template import Template
from templates.world import Procedural

_GOOD_CALIBRATION = (
    "give a JSON file with at least one factor, as `spatial-engine calibrate SEQUENCE... -o FILE` writes it; "
    "without the option the packaged calibration is used"
)
CRASHED = "the program failed on this clip"
"""Begins the refusal reason of a clip that failed because of a fault of the program."""


@dataclass(frozen=True, kw_only=True)
class AskClip:
    """The task of a worker: makes the questions of one clip."""

    store_path: Path | None
    """None: nothing is asked about clips."""
    templates: Sequence[Template]
    settings: AskSettings
    seed: int
    calibration: SigmaCalibration
    """Factors for σ, applied to the signals before anything is asked."""

    @classmethod
    def of(cls, store: Store | None, options: GenerateOptions) -> "AskClip":
        """The task that the options describe; without a store, of puzzles alone. Does not read the store. Raises
        `UsageError`."""
        if store is None and not options.puzzles:
            raise UsageError(
                "no STORE to ask about", "name one that annotate wrote, or give --puzzles N: puzzles need no footage"
            )
        templates = templates_for(options)
        if options.puzzles and not any(issubclass(template.world, Procedural) for template in templates):
            raise UsageError(
                f"--puzzles {options.puzzles}: no template asks without footage about these abilities",
                "install a package with such templates, or write one (docs/extend.md)",
            )
        return cls(
            store_path=None if store is None else store.path,
            templates=templates,
            settings=AskSettings(min_confidence=options.min_confidence, difficulty=options.conditions),
            seed=options.seed,
            calibration=_calibration(options),
        )

    def to_json(self) -> dict[str, Any]:
        """The settings for the audit of the data set."""
        calibration = replace(self.calibration, not_calibrated=()).to_json() | {"digest": self.calibration.digest}
        return {
            "ask": asdict(self.settings),
            "templates": [template.name for template in self.templates],
            "sigma_calibration": calibration,
        }

    def __call__(self, clip_id: str) -> ClipQuestions:
        """The drafts of a clip's questions, and the refusals."""
        return ask_clip(*self._measured(clip_id), self.templates, self.settings, self.seed, template_error)

    def scenes(self, clip_id: str) -> tuple[Scene, ...]:
        """What is asked about: the scenes of a clip."""
        return scenes_of(*self._measured(clip_id))

    def _measured(self, clip_id: str) -> tuple[Clip, Signals]:
        assert self.store_path is not None
        store = Store(self.store_path)
        signals = with_sigma_calibration(store.signals(clip_id), self.calibration)
        return clip_from_json(store.record(clip_id).clip), signals

    def puzzles(self, count: int, progress: Progress) -> ClipQuestions:
        """`count` puzzles of each template that needs no footage. Says where there are fewer, and why."""
        made = ask_puzzles(self.templates, count, self.seed, template_error)
        for name in sorted({each.template for each in made.refusals} | {each.template.name for each in made.asked}):
            facts = {fact for each in made.asked if each.template.name == name for fact in each.fact_ids.tolist()}
            why = max([(each.count, each.reason) for each in made.refusals if each.template == name], default=None)
            if len(facts) < count:
                progress.say(f"{name}: {len(facts)} of {count} puzzles: {why[1] if why else 'no more were proposed'}")
        return made


def ask_all(task: AskClip, store: Store, workers: int, progress: Progress) -> list[ClipQuestions]:
    """The questions of each clip of a store, in the order in which clips finish. A fault of a template affects only
    its questions about that clip."""
    asked = []
    clip_ids = store.clip_ids()
    progress.begin("asking", len(clip_ids))
    names = {clip_id: str(record.clip["name"]) for clip_id, record in store.readable_records().items()}
    for clip_id, result in run(task, clip_ids, workers):
        name = names.get(clip_id, clip_id)
        if isinstance(result, Crashed):
            asked.append(_none_because(clip_id, result))
            progress.step(name, f"failed: {result.error}")
            if result.remedy:
                progress.say(f"  try: {result.remedy}")
        else:
            asked.append(result)
            faults = [refusal.reason for refusal in result.refusals if is_template_error(refusal.reason)]
            progress.step(name, "; ".join(faults) or "done")
    return asked


def templates_for(options: GenerateOptions) -> list[Template]:
    """The templates that ask about the abilities of the options. Raises `UsageError` for an unknown ability."""
    try:
        return list(create_templates(words(options.abilities) or (), unanswerable=options.unanswerable).values())
    except UnknownAbilityError as error:
        raise UsageError(
            str(error), "name a level, a branch or a leaf, as in --abilities L1,Memory,L1/Motion"
        ) from error


def _calibration(options: GenerateOptions) -> SigmaCalibration:
    """The factors of the file that the options name, or those that come with the software. Raises `UsageError`."""
    path = options.sigma_calibration
    if path is None:
        return packaged_calibration()
    try:
        calibration = read_calibration(Path(path))
    except OSError as error:
        raise UsageError(f"--sigma-calibration {path}: {error.strerror}", _GOOD_CALIBRATION) from error
    except ValueError as error:
        raise UsageError(f"--sigma-calibration {path} cannot be read: {error}", _GOOD_CALIBRATION) from error
    if not calibration.factors:
        raise UsageError(f"--sigma-calibration {path} has no factor for any sigma", _GOOD_CALIBRATION)
    return calibration


def _none_because(clip_id: str, crash: Crashed) -> ClipQuestions:
    reason = f"{CRASHED}: {crash.error}"
    refusal = Refusal(clip_id=clip_id, template="", ability="", format=None, reason=reason, count=1)
    return ClipQuestions(clip_id=clip_id, asked=(), refusals=(refusal,))
