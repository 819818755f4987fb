"""The verdicts of one clip: makes labels from pixels, compares them with ground truth, and stores both in one file."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import spatial_engine as se
from benchmarks.trust.clips import AnyClip
from experts.clip import Clip
from spatial_engine.atomic_file import atomic_file
from spatial_engine.dataset.question_line import plain
from spatial_engine.sources import clip_from_json
from spatial_engine.trust.label_audit import compare_labels
from spatial_engine.trust.signal_errors import signal_errors
from spatial_engine.trust.signal_errors_record import SignalErrors
from spatial_engine.trust.verdict import Verdict
from spatial_engine.trust.yield_share import ClipYield, clip_yield
from templates.registry import create_templates
from templates.settings import AskSettings

ROOT = Path(__file__).parents[2]
_FILE = "verdicts.jsonl"
_CODE = (
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
    "benchmarks/trust/rooms.py",
    "benchmarks/trust/clips.py",
    "benchmarks/trust/verdicts.py",
    "benchmarks/trust/manifests/*.yaml",
)
"""Code that the verdicts depend on: if it changes, they are made again."""
_DRAWING = ("spatial_engine/rendering/*.py", "benchmarks/trust/rooms.py")
"""Code that rendered footage depends on."""


@dataclass(frozen=True, kw_only=True)
class ClipVerdicts:
    """The stored results of a clip."""

    about: dict[str, Any]
    """name, kind, moves, conditions, findings, frames, minutes, code."""
    yields: tuple[ClipYield, ...]
    signals: tuple[SignalErrors, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, kw_only=True)
class Judge:
    """The task of a worker."""

    out: Path
    code: str
    """`digest()` when the run began."""
    seed: int

    def __call__(self, clip: AnyClip) -> dict[str, int]:
        """Makes a clip's verdicts, and counts them. Signals in the store are not made again."""
        place = made_in(self.out / clip.name)
        footage, options = clip.footage(place)
        store = se.annotate(footage, place / "store", options=options)
        dataset = se.generate(store, place / "dataset", seed=self.seed)
        clips = [clip_from_json(store.record(id).clip) for id in store.clip_ids()]
        truths = clip.truths(clips)
        verdicts = list(compare_labels(dataset.questions, truths))
        templates = list(create_templates().values())
        yields = [
            part
            for each in clips
            for part in clip_yield(each, store.signals(each.id), templates, AskSettings(), self.seed)
        ]
        errors = [part for each in clips for part in signal_errors(each, store.signals(each.id), truths[each.id])]
        about = {
            "name": clip.name,
            "kind": clip.kind,
            **clip.conditions(),
            "frames": sum(len(each.frames) for each in clips),
            "minutes": _minutes(clips),
            "code": self.code,
            "seed": self.seed,
        }
        kept = ClipVerdicts(about=about, yields=tuple(yields), signals=tuple(errors), verdicts=tuple(verdicts))
        _write(self.out / clip.name / _FILE, kept)
        return count(verdicts)


def count(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Number of questions by verdict."""
    words = [verdict.word for verdict in verdicts]
    return {word: words.count(word) for word in ("right", "wrong", "undecidable")}  # type: ignore[arg-type]


def digest(patterns: Sequence[str] = _CODE) -> str:
    """Hash of the code in these files."""
    found = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        found.update(f"{path.relative_to(ROOT).as_posix()}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


def read(folder: Path, code: str | None = None, seed: int | None = None) -> ClipVerdicts | None:
    """The results in a clip's folder; None if there are none, or they are of other code or seed than stated."""
    if not (folder / _FILE).is_file():
        return None
    first, *rest = (folder / _FILE).read_text(encoding="utf-8").splitlines()
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
    """Folder of a clip's footage, store and data set. It depends on the drawing code, so that no old video is used."""
    return folder / f"of_{digest(_DRAWING)[:8]}"


def _minutes(clips: Sequence[Clip]) -> float | None:
    """Duration, last frames included; None where a clip has no time stamps."""
    total = 0.0
    for clip in clips:
        if clip.times_s is None or len(clip.times_s) < 2:
            return None
        total += float(clip.times_s[-1] - clip.times_s[0]) / 60 * len(clip.times_s) / (len(clip.times_s) - 1)
    return total
