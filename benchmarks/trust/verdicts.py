"""The verdicts of one clip: makes labels from pixels, compares them with ground truth, and stores both in one file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.trust.asked import REAL_FACTS, Setup, described, questions_of, scenes_with
from benchmarks.trust.clips import AnyClip, ClipSignals
from benchmarks.trust.code_hash import digest
from benchmarks.trust.stated_cameras import StatedCamera
from experts.clip import Clip
from experts.sigma_calibration import SigmaCalibration, packaged_calibration
from spatial_engine.atomic_file import atomic_file
from spatial_engine.dataset.question_line import plain
from spatial_engine.trust.candidates import pictures_of
from spatial_engine.trust.label_audit import compare_labels
from spatial_engine.trust.signal_errors import signal_errors
from spatial_engine.trust.signal_errors_record import SignalErrors
from spatial_engine.trust.true_sequence import TrueClip
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import ClipYield, scene_yield
from templates.question import Question
from templates.settings import AskSettings

_FILE = "verdicts.jsonl"
_OWN = ("asked", "clips", "creatures", "layouts", "rooms", "sources", "stated_cameras", "verdicts")
CODE = (
    "experts/**/*.py",
    "experts/sigma_calibration/*.json",
    "action_mapping/**/*.py",
    "templates/**/*.py",
    *(
        f"spatial_engine/{part}/**/*.py"
        for part in (
            "annotation",
            "dataset",
            "rendering",
            "sequences",
            "sources",
            "store",
            "trust",
        )
    ),
    *(f"benchmarks/trust/{name}.py" for name in _OWN),
    "benchmarks/trust/manifests/*.yaml",
)
"""Code that the verdicts depend on: if it changes, they are made again."""
_DRAWING = ("spatial_engine/rendering/*.py", "benchmarks/trust/rooms.py", "benchmarks/trust/creatures.py")
"""Code that rendered footage depends on."""


@dataclass(frozen=True, kw_only=True)
class ClipVerdicts:
    """The stored results of a clip."""

    about: dict[str, Any]
    """name, kind, source, moves, conditions, findings, wrong labels in words, frames, minutes, code."""
    yields: tuple[ClipYield, ...]
    signals: tuple[SignalErrors, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, kw_only=True)
class AskedClip:
    """A clip with its questions, their yield and their ground truth."""

    clip: AnyClip
    signalled: ClipSignals
    questions: dict[str, Question]
    """By id."""
    yields: tuple[ClipYield, ...]
    truths: Mapping[str, TrueClip]
    """By clip id."""


@dataclass(frozen=True, kw_only=True)
class Judge:
    """The task of a worker."""

    out: Path
    code: str
    """`digest(CODE)` when the run began."""
    seed: int
    calibration: SigmaCalibration = field(default_factory=packaged_calibration)
    file: str = _FILE
    """Name of the file in the folder of each clip."""

    def __call__(self, clip: AnyClip | StatedCamera) -> dict[str, int]:
        """Makes a clip's verdicts, and counts them. Signals in the store are not made again."""
        if isinstance(clip, StatedCamera):
            stated = self._stated(clip)
            _write(self.out / clip.name / self.file, stated)
            return _stated_count(stated)
        return count(self.judged(self.asked(clip)).verdicts)

    def kept(self, clip: AnyClip | StatedCamera) -> ClipVerdicts | None:
        """The verdicts of this code and seed."""
        return read(self.out / clip.name, self.code, self.seed, self.file)

    def asked(self, clip: AnyClip) -> AskedClip:
        """All that is asked about a clip."""
        setup = replace(setup_of(clip, self.seed), calibration=self.calibration)
        signalled = clip.signals(made_in(self.out / clip.name))
        questions: dict[str, Question] = {}
        yields: list[ClipYield] = []
        for each, signals in signalled:
            scenes = scenes_with(each, signals, setup)
            questions |= {one.id: one for one in questions_of(each, scenes, setup, setup.templates)}
            yields += scene_yield(pictures_of(each), scenes, list(setup.templates.values()), setup.ask, self.seed)
        truths = clip.truths([each for each, _ in signalled])
        return AskedClip(clip=clip, signalled=signalled, questions=questions, yields=tuple(yields), truths=truths)

    def judged(self, asked: AskedClip) -> ClipVerdicts:
        """The verdicts on all questions, which are stored."""
        clip, questions, truths = asked.clip, asked.questions, asked.truths
        verdicts = list(compare_labels(questions.values(), truths))
        compared = clip.source == "pictures" and truths
        errors = [
            part for each, own in asked.signalled if compared for part in signal_errors(each, own, truths[each.id])
        ]
        about = {
            "name": clip.name,
            "kind": clip.kind,
            "source": clip.source,
            "wrong": [described(questions[one.id].fact, one) for one in verdicts if one.word == "wrong"],
            **clip.conditions(),
            "frames": sum(len(each.frames) for each, _ in asked.signalled),
            "minutes": _minutes([each for each, _ in asked.signalled]),
        }
        kept = ClipVerdicts(
            about=self._signed(about), yields=asked.yields, signals=tuple(errors), verdicts=tuple(verdicts)
        )
        _write(self.out / clip.name / self.file, kept)
        return kept

    def _stated(self, clip: StatedCamera) -> ClipVerdicts:
        found, wrong = clip.statements(made_in(self.out / clip.name), self.seed)
        statements = [asdict(each) for each in found]
        about = {"name": clip.name, "kind": "stated", "source": "pictures", "statements": statements, "wrong": wrong}
        return ClipVerdicts(about=self._signed(about), yields=(), signals=(), verdicts=())

    def _signed(self, about: dict[str, Any]) -> dict[str, Any]:
        return {**about, "code": self.code, "seed": self.seed}


def setup_of(clip: AnyClip, seed: int) -> Setup:
    """How a clip is asked about."""
    if clip.kind == "rendered":
        return Setup(seed=seed)
    return Setup(seed=seed, ask=AskSettings(facts_per_template=REAL_FACTS))


def count(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Number of questions by verdict."""
    words = [verdict.word for verdict in verdicts]
    return {word: words.count(word) for word in ("right", "wrong", "undecidable")}  # type: ignore[arg-type]


def _stated_count(kept: ClipVerdicts) -> dict[str, int]:
    each = kept.about["statements"]
    return {word: sum(one[word] for one in each) for word in ("right", "wrong", "undecidable")}


def read(folder: Path, code: str | None = None, seed: int | None = None, file: str = _FILE) -> ClipVerdicts | None:
    """The results in a clip's folder; None if there are none, or they are of other code or seed than stated."""
    if not (folder / file).is_file():
        return None
    first, *rest = (folder / file).read_text(encoding="utf-8").splitlines()
    head = json.loads(first)
    if code not in (None, head["about"]["code"]) or seed not in (None, head["about"]["seed"]):
        return None
    return ClipVerdicts(
        about=head["about"],
        yields=tuple(ClipYield(**part) for part in head["yields"]),
        signals=tuple(SignalErrors.from_json(part) for part in head["signals"]),
        verdicts=tuple(Verdict(**json.loads(line)) for line in rest),
    )


def _write(path: Path, kept: ClipVerdicts) -> None:
    head = {
        "about": kept.about,
        "yields": [asdict(part) for part in kept.yields],
        "signals": [part.to_json() for part in kept.signals],
    }
    lines = [head, *(asdict(verdict) for verdict in kept.verdicts)]
    with atomic_file(path) as temporary:
        temporary.write_text("".join(json.dumps(plain(line)) + "\n" for line in lines), encoding="utf-8")


def made_in(folder: Path) -> Path:
    """Folder of a clip's footage and store. It depends on the drawing code, so that no old video is used."""
    return folder / f"of_{digest(_DRAWING)[:8]}"


def _minutes(clips: Sequence[Clip]) -> float | None:
    """Duration, last frames included; None where a clip has no time stamps."""
    total = 0.0
    for clip in clips:
        if clip.times_s is None or len(clip.times_s) < 2:
            return None
        total += float(clip.times_s[-1] - clip.times_s[0]) / 60 * len(clip.times_s) / (len(clip.times_s) - 1)
    return total
