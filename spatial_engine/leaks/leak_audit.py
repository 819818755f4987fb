"""The leak audit: what `audit.json` says under "leaks"."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from jaxtyping import Int64

from spatial_engine.leaks import baselines
from spatial_engine.leaks.blind_baseline import blind_baseline
from spatial_engine.leaks.gains import Gains, Limits, frequent_numbers, largest_first
from spatial_engine.leaks.guesses import Guesses
from spatial_engine.leaks.near_duplicates import near_duplicates
from spatial_engine.leaks.question_table import QuestionTable
from spatial_engine.leaks.splits import across_splits, folds_of
from templates.columns import Json

BASELINES: Mapping[str, Callable[[QuestionTable, Int64[np.ndarray, "n"]], Guesses]] = {
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
    table: QuestionTable,
    *,
    scenes: Mapping[str, str],
    splits: Mapping[str, Sequence[str]],
    seed: int,
    limits: Limits = DEFAULTS,
    model: Guesses | None = None,
) -> dict[str, Json]:
    """Everything that can be audited without reading a picture.

    Args:
        table: all questions of the dataset.
        scenes: the scene of every clip, by clip id.
        splits: clip ids by name of the split.
        seed: of the bootstrap over clips.
        limits: gains above them are leaks.
        model: results of a model that received no images.

    Equal questions, scenes, splits and seed give equal bytes.
    """
    folds, grouped_by = folds_of(table, scenes)
    gains = Gains(table, seed, limits)
    guesses = {name: baseline(table, folds) for name, baseline in BASELINES.items()}
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
        "frequent_numbers": frequent_numbers(table, limits),
        "near_duplicates": _near_duplicates(table),
        "across_splits": across_splits(table, scenes, splits),
        "similar_photos": None,
    }


def _near_duplicates(table: QuestionTable) -> dict[str, Json]:
    """Near-duplicate questions found without decoding images: same photo file, or same frame of one clip."""
    pairs = near_duplicates(table)
    ids, counts = np.unique(table.id, return_counts=True)
    return {
        "pairs": len(pairs),
        "first": [[name.decode() for name in table.id[pair]] for pair in pairs[:_KEPT]],
        "repeated_ids": [name.decode() for name in ids[counts > 1][:_KEPT]],
    }
