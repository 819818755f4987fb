"""What `audit.json` says under "leaks"."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from jaxtyping import Int64

from spatial_engine.leaks import simple_baselines
from spatial_engine.leaks.between_splits import divided
from spatial_engine.leaks.blind_baseline import blind_baseline
from spatial_engine.leaks.duplicates import near_duplicates
from spatial_engine.leaks.fixed_number import concentration
from spatial_engine.leaks.gains import Limits, Standing, worst_first
from spatial_engine.leaks.guesses import Guesses
from spatial_engine.leaks.linked import folds_of
from templates.measured import Json
from templates.question import Question

BASELINES: Mapping[str, Callable[[Sequence[Question], Int64[np.ndarray, "n"]], Guesses]] = {
    "majority": simple_baselines.majority,
    "position": simple_baselines.position,
    "length": simple_baselines.length,
    "frame_order": simple_baselines.frame_order,
    "blind_baseline": blind_baseline,
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
    model: Guesses | None = None,
) -> dict[str, Json]:
    """All that needs no picture. `scenes`: of every clip; `splits`: clips by name; `model`: of a blind run.

    Equal questions, scenes, splits and seed give equal bytes.
    """
    folds, together = folds_of(questions, scenes)
    standing = Standing(questions, seed, limits)
    guesses = {name: baseline(questions, folds) for name, baseline in BASELINES.items()}
    if model is not None:
        guesses["model"] = model
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
