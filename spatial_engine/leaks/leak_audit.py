"""What `audit.json` says under "leaks"."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from spatial_engine.atomic_file import write_json
from spatial_engine.leaks import habits
from spatial_engine.leaks.between_splits import divided, look_alikes
from spatial_engine.leaks.blind_run import blind_run
from spatial_engine.leaks.concentration import concentration
from spatial_engine.leaks.duplicates import near_duplicates
from spatial_engine.leaks.gains import Limits, Standing, worst_first
from spatial_engine.leaks.guesses import Guesses
from spatial_engine.leaks.linked import folds_of
from spatial_engine.leaks.text_only import text_only
from templates.measured import Json
from templates.question import Question

BASELINES: Mapping[str, Callable[[Sequence[Question], Int64[np.ndarray, "n"]], Guesses]] = {
    "majority": habits.majority,
    "position": habits.position,
    "length": habits.length,
    "frame_order": habits.frame_order,
    "text_only": text_only,
}
"""Guessers that read no picture, each learnt on other scenes than those that it is tried on."""
_KEPT = 50
DEFAULTS = Limits()


def leak_audit(
    questions: Sequence[Question],
    *,
    scenes: Mapping[str, str],
    splits: Mapping[str, Sequence[str]],
    seed: int,
    limits: Limits = DEFAULTS,
    model: str | Path | None = None,
) -> dict[str, Json]:
    """All that needs no picture. `scenes`: of every clip; `splits`: clips by name; `model`: folder of a blind run.

    Equal questions, scenes, splits and seed give equal bytes. Raises `UsageError` for a folder that is no blind run.
    """
    folds, together = folds_of(questions, scenes)
    standing = Standing(questions, seed, limits)
    guesses = {name: baseline(questions, folds) for name, baseline in BASELINES.items()}
    if model is not None:
        guesses["model"] = blind_run(questions, model)
    baselines: dict[str, Json] = {}
    named: list[Json] = []
    for name, found in guesses.items():
        baselines[name], leaks = standing.of(name, found)
        named += leaks
    return {
        "limits": asdict(limits),
        "folds": {"count": int(folds.max()) + 1 if len(folds) else 0, "kept_together": together},
        "named": worst_first(named),
        "baselines": baselines,
        "numbers": concentration(questions, limits),
        "repeated": _repeated(questions),
        "divided": divided(questions, scenes, splits),
        "look_alikes": None,
    }


def audit_leaks(path: str | Path, *, model: str | Path | None = None, pictures: bool = True) -> dict[str, Json]:
    """Writes "leaks" of a data set anew, with near-duplicate pictures, to its `audit.json`; returns what it wrote.

    Raises `UsageError` if `path` is no data set, or `model` no blind run on it.
    """
    from spatial_engine.dataset import Dataset

    dataset = Dataset.open(path)
    record, questions = dataset.audit, list(dataset.questions)
    scenes, splits = scenes_of(record, questions), record.get("splits") or {}
    found = leak_audit(questions, scenes=scenes, splits=splits, seed=int(record.get("seed") or 0), model=model)
    if pictures:
        found["look_alikes"], _ = look_alikes(dataset.path, questions, scenes, splits)
    write_json(dataset.path / "audit.json", {**record, "scenes": scenes, "leaks": found})
    return found


def scenes_of(record: Mapping[str, Json], questions: Sequence[Question]) -> dict[str, str]:
    """The scene of every clip that the splits or questions name. A clip of which `audit.json` does not say so (it is
    older, or foreign) is a scene of its own."""
    clips = {question.clip for question in questions}
    clips.update(clip for names in (record.get("splits") or {}).values() for clip in names)
    known = record.get("scenes") or {}
    return {clip: str(known.get(clip, clip)) for clip in sorted(clips)}


def _repeated(questions: Sequence[Question]) -> dict[str, Json]:
    """Near-duplicates that show without a look at pictures: the same photo file, or the same frame of one clip."""
    frames: dict[str, tuple[str, ...]] = {}
    files: dict[tuple[str, ...], set[str]] = {}
    for question in questions:
        for medium in question.media:
            if medium.get("kind") == "frames" and medium.get("path"):
                frame = (question.clip, *map(str, medium.get("frames") or (medium["path"],)))
                frames[str(medium["path"])] = frame
                files.setdefault(frame, set()).add(str(medium["path"]))
    pairs = near_duplicates(questions, lambda path: files[frames[path]])
    ids = Counter(question.id for question in questions)
    return {
        "pairs": len(pairs),
        "first": [[questions[n].id, questions[m].id] for n, m in pairs[:_KEPT]],
        "ids_given_twice": sorted(id for id, count in ids.items() if count > 1)[:_KEPT],
    }
