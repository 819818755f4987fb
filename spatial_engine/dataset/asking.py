"""Asks about every clip of a store, and files the drafts of its questions."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import spatial_engine
from experts.clip import Clip
from experts.reframing import Reframing, reframed_clip, reframed_id, reframed_signals
from experts.sigma_calibration import SigmaCalibration, packaged_calibration, read_calibration, with_sigma_calibration
from experts.signals import Signals
from spatial_engine.annotation.executor import Crashed, run
from spatial_engine.annotation.plugin_errors import is_template_error, template_error
from spatial_engine.dataset.augmenting import reframings
from spatial_engine.dataset.balance import DEFAULTS
from spatial_engine.dataset.clip_keys import ClipKeys
from spatial_engine.dataset.drafts import PUZZLES, Drafts
from spatial_engine.errors import StoreError, UsageError
from spatial_engine.options import GenerateOptions, Shard, words
from spatial_engine.progress import Progress
from spatial_engine.sources import clip_from_json
from spatial_engine.store.store import Store
from templates.asked import Asked
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
_SPARE_FACTS = 2
"""Facts a question that a clip is to give: not every template has something to ask about a clip."""


@dataclass(frozen=True, kw_only=True)
class Reframed:
    """A clip of the store in other pictures."""

    clip_id: str
    word: str
    """Of `--augment`."""
    reframing: Reframing

    def to_json(self) -> dict[str, Any]:
        """For the audit of the dataset."""
        return {"clip": self.clip_id, "augment": self.word, **asdict(self.reframing)}


@dataclass(frozen=True, kw_only=True)
class AskClip:
    """The task of a worker: files what is asked about one clip."""

    store_path: Path | None
    """None: nothing is asked about clips."""
    drafts: Drafts
    puzzles: int
    """Number of puzzles of each template that needs no footage."""
    settings: AskSettings
    seed: int
    calibration: SigmaCalibration
    """Factors for σ, applied to the signals before anything is asked."""
    augment: tuple[str, ...] = ()
    """In which other pictures of it each clip is asked about, too."""

    @classmethod
    def of(cls, store: Store | None, options: GenerateOptions, folder: Path) -> "AskClip":
        """The task that the options describe; without a store, of puzzles alone. Reads no signals. `folder`: of the
        drafts. Raises `UsageError`."""
        if store is None and not options.puzzles:
            raise UsageError(
                "no STORE to ask about", "name one that annotate wrote, or give --puzzles N: puzzles need no footage"
            )
        known = {template.name: template for template in templates_for(options)}
        if options.puzzles and not any(issubclass(template.world, Procedural) for template in known.values()):
            raise UsageError(
                f"--puzzles {options.puzzles}: no template asks without footage about these abilities",
                "install a package with such templates, or write one (docs/extend.md)",
            )
        return cls(
            store_path=None if store is None else store.path,
            drafts=Drafts(folder=folder, templates=known, near=DEFAULTS.near, seed=options.seed),
            puzzles=options.puzzles,
            settings=_ask_settings(options, store, len(known)),
            seed=options.seed,
            calibration=_calibration(options),
            augment=options.augment,
        )

    def to_json(self) -> dict[str, Any]:
        """The settings for the audit of the dataset."""
        calibration = replace(self.calibration, not_calibrated=()).to_json() | {"digest": self.calibration.digest}
        return {
            "ask": asdict(self.settings),
            "templates": [template.name for template in self.templates],
            "sigma_calibration": calibration,
        } | ({"reframed": {id: one.to_json() for id, one in self.reframed.items()}} if self.augment else {})

    @property
    def templates(self) -> list[Template]:
        """Those that ask."""
        return [*self.drafts.templates.values()]

    def items(self) -> list[str]:
        """Ids of all clips, those in other pictures included; "" for puzzles."""
        clip_ids = [] if self.store_path is None else self._store.clip_ids()
        return [*([""] if self.puzzles else []), *clip_ids, *self.reframed]

    @cached_property
    def reframed(self) -> dict[str, "Reframed"]:
        """Clips in other pictures, by id."""
        if self.store_path is None or not self.augment:
            return {}
        clips = [clip_from_json(record.clip) for record in self._store.readable_records().values()]
        found = [
            Reframed(clip_id=clip.id, word=word, reframing=reframing)
            for clip in clips
            for word, reframing in reframings(self.augment, clip, self.seed).items()
        ]
        return {reframed_id(one.clip_id, one.reframing): one for one in found}

    def origin(self, clip_id: str) -> str:
        """The clip of the store whose pictures a clip has."""
        return self.reframed[clip_id].clip_id if clip_id in self.reframed else clip_id

    def scenes_by_clip(self) -> dict[str, str]:
        """By clip id, those in other pictures included: the footage that it was cut from."""
        scenes = {} if self.store_path is None else self._store.scenes()
        origins = {clip_id: self.origin(clip_id) for clip_id in self.items() if clip_id}
        return {clip_id: scenes.get(origin, origin) for clip_id, origin in origins.items()}

    def name(self, clip_id: str) -> str:
        """What the user calls a clip; its id where it is damaged."""
        with suppress(StoreError):
            return self.clip(clip_id).name if clip_id else PUZZLES
        return clip_id

    @cached_property
    def digest(self) -> str:
        """16 hex digits of all that drafts depend on beside the clip."""
        templates = [(template.version, sorted(template.reads)) for template in self.templates]
        settings = [spatial_engine.__version__, self.to_json(), templates, self.seed, self.drafts.near, self.puzzles]
        return _digest(settings)

    def key(self, clip_id: str) -> str:
        """16 hex digits of all that the drafts of a clip depend on; "" stands for puzzles."""
        about: list[Any] = []
        if clip_id:
            with suppress(StoreError):  # asking about a damaged clip fails, and says why
                origin = self.origin(clip_id)
                failures = {key: failure.error for key, failure in self._store.failures(origin).items()}
                about = [vars(self._store.record(origin)), failures]
        return _digest([self.digest, clip_id, *about])

    def __call__(self, item: tuple[str, str]) -> None:
        """Files the drafts of a clip's questions under a key, with the reasons why others are not asked."""
        clip_id, key = item
        if clip_id:
            clip, signals = self._measured(clip_id)
            made = ask_clip(clip, signals, self.templates, self.settings, self.seed, template_error)
            made = replace(made, asked=tuple(with_answer_sigma(part, self.calibration) for part in made.asked))
            diagonal_px = float(np.hypot(clip.width_px, clip.height_px))
        else:
            made, diagonal_px = ask_puzzles(self.templates, self.puzzles, self.seed, template_error), 1.0
        self.drafts.add(made, key, diagonal_px)

    def faults(self, clip_id: str, key: str) -> str:
        """How templates failed on a clip, by its drafts; empty if none did."""
        refusals = self.drafts.keys(clip_id, key).refusals
        return "; ".join(refusal.reason for refusal in refusals if is_template_error(refusal.reason))

    def scenes(self, clip_id: str) -> tuple[Scene, ...]:
        """What is asked about: the scenes of a clip."""
        return scenes_of(*self._measured(clip_id))

    def clip(self, clip_id: str) -> Clip:
        """A clip of the store, or one in other pictures, opened."""
        clip = clip_from_json(self._store.record(self.origin(clip_id)).clip)
        other = self.reframed.get(clip_id)
        return clip if other is None else reframed_clip(clip, other.reframing, f"{clip.name} ({other.word})")

    def _measured(self, clip_id: str) -> tuple[Clip, Signals]:
        origin = self.origin(clip_id)
        signals = with_sigma_calibration(self._store.signals(origin), self.calibration)
        if other := self.reframed.get(clip_id):
            signals = reframed_signals(signals, self.clip(origin), other.reframing)
        return self.clip(clip_id), signals

    @property
    def _store(self) -> Store:
        assert self.store_path is not None  # puzzles show no clip
        return Store(self.store_path)


def with_answer_sigma(asked: Asked, calibration: SigmaCalibration) -> Asked:
    """The same questions, with the factor of the calibration for σ of their answers."""
    factor = calibration.of_answers(asked.template.name, asked.template.version, asked.origin.provenance)
    return asked if factor == 1 else replace(asked, origin=replace(asked.origin, sigma_factor=factor))


def _ask_settings(options: GenerateOptions, store: Store | None, templates: int) -> AskSettings:
    """How many facts each template is asked for follows from how many questions a clip is to give."""
    settings = AskSettings(min_confidence=options.min_confidence, difficulty=options.conditions)
    wanted = None if store is None else options.questions_per_clip(len(store.clip_ids()))
    facts = -(-_SPARE_FACTS * (wanted or 0) // (templates * (1 + len(options.augment))))
    return replace(settings, facts_per_template=max(facts, settings.facts_per_template))


def _digest(what: Any) -> str:
    return sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, kw_only=True)
class Filed:
    """What is asked, on disk."""

    keys: Mapping[str, str]
    """Key of the drafts of each clip; "" stands for puzzles."""
    crashed: Mapping[str, str]
    """By clip without drafts, the error."""


def ask_all(task: AskClip, workers: int, progress: Progress, shard: Shard) -> Filed:
    """Files the drafts of each clip of a shard, where they are not there yet. A fault of a template affects only its
    questions about that clip."""
    keys = {clip_id: task.key(clip_id) for clip_id in task.items() if shard.holds(clip_id or PUZZLES)}
    crashed = {}
    missing = [(clip_id, key) for clip_id, key in keys.items() if not task.drafts.is_whole(clip_id, key)]
    progress.begin("asking", len(missing))
    for (clip_id, key), result in run(task, missing, workers):
        name = task.name(clip_id)
        if isinstance(result, Crashed):
            crashed[clip_id] = result.error
            progress.step(name, f"failed: {result.error}")
            if result.remedy:
                progress.say(f"  try: {result.remedy}")
        else:
            progress.step(name, task.faults(clip_id, key) or "done")
    if "" in keys and "" not in crashed:
        _say_shortage(task.drafts.keys("", keys[""]), task.puzzles, progress)
    return Filed(keys={id: key for id, key in keys.items() if id not in crashed}, crashed=crashed)


def _say_shortage(made: ClipKeys, wanted: int, progress: Progress) -> None:
    """Says of which template there are fewer puzzles than wanted, and why."""
    templates = np.array([kind.template for kind in made.kinds] or [""])[made.table] if len(made) else np.empty(0)
    for name in sorted({refusal.template for refusal in made.refusals} | {*templates.tolist()}):
        facts = len(np.unique(made.fact[templates == name]))
        why = max([(each.count, each.reason) for each in made.refusals if each.template == name], default=None)
        if facts < wanted:
            progress.say(f"{name}: {facts} of {wanted} puzzles: {why[1] if why else 'no more were proposed'}")


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
