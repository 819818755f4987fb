"""The leak audit: what `audit.json` says under "leaks"."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from jaxtyping import Int64

from spatial_engine.leaks import baselines
from spatial_engine.leaks.blind_baseline import blind_baseline
from spatial_engine.leaks.gains import Gains, Limits, frequent_numbers, largest_first
from spatial_engine.leaks.guesses import Guesses
from spatial_engine.leaks.near_duplicates import FOOTAGE, near_duplicates
from spatial_engine.leaks.splits import across_splits, folds_of
from templates.columns import Json
from templates.question import Question

BASELINES: Mapping[str, Callable[[Sequence[Question], Int64[np.ndarray, "n"]], Guesses]] = {
    "majority": baselines.majority,
    "position": baselines.position,
    "length": baselines.length,
    "frame_order": baselines.frame_order,
    "blind_baseline": blind_baseline,
}
"""Text-only baselines. Each is trained on other scenes than those on which it is tested."""
_KEPT = 50
DEFAULTS = Limits()


def leak_audit(
    questions: Sequence[Question],
    *,
    scenes: Mapping[str, str],
    splits: Mapping[str, Sequence[str]],
    seed: int,
    limits: Limits = DEFAULTS,
    model: Guesses | None = None,
) -> dict[str, Json]:
    """Everything that can be audited without reading a picture.

    Args:
        questions: all questions of the data set.
        scenes: the scene of every clip, by clip id.
        splits: clip ids by name of the split.
        seed: of the bootstrap over clips.
        limits: gains above them are leaks.
        model: results of a model that received no images.

    Equal questions, scenes, splits and seed give equal bytes.
    """
    folds, grouped_by = folds_of(questions, scenes)
    gains = Gains(questions, seed, limits)
    guesses = {name: baseline(questions, folds) for name, baseline in BASELINES.items()}
    if model is not None:
        guesses["model"] = model
    by_baseline: dict[str, Json] = {}
    found: list[Json] = []
    for name, guessed in guesses.items():
        by_baseline[name], leaks = gains.of(name, guessed)
        found += leaks
    return {
        "limits": asdict(limits),
        "folds": {"count": int(folds.max()) + 1 if len(folds) else 0, "grouped_by": grouped_by},
        "found": largest_first(found),
        "baselines": by_baseline,
        "frequent_numbers": frequent_numbers(questions, limits),
        "near_duplicates": _near_duplicates(questions),
        "across_splits": across_splits(questions, scenes, splits),
        "similar_photos": None,
    }


def _near_duplicates(questions: Sequence[Question]) -> dict[str, Json]:
    """Near-duplicate questions found without decoding images: same photo file, or same frame of one clip."""
    frames: dict[str, tuple[str, ...]] = {}
    files: dict[tuple[str, ...], set[str]] = {}
    for question in questions:
        for medium in question.media:
            if medium.get("kind") in FOOTAGE and medium.get("path"):
                frame = (question.clip, *map(str, medium.get("frames") or (medium["path"],)))
                frames[str(medium["path"])] = frame
                files.setdefault(frame, set()).add(str(medium["path"]))
    pairs = near_duplicates(questions, lambda path: files[frames[path]])
    ids = Counter(question.id for question in questions)
    return {
        "pairs": len(pairs),
        "first": [[questions[n].id, questions[m].id] for n, m in pairs[:_KEPT]],
        "repeated_ids": sorted(id for id, count in ids.items() if count > 1)[:_KEPT],
    }
