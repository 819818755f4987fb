"""Compares labels from simulated learned models with the renderer's exact truth, room by room.

    python -m benchmarks.labels_from_learned_signals [ROOMS] [SEED]

No model runs: `tests.experts.learned` simulates their output on rendered rooms, with correct σ. Then one output is made
wrong, with and without a second opinion (structure from motion, vanishing points). Prints every wrong answer, then the
verdicts per template and per fault.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from benchmarks.trust.rooms import PATHS
from experts.clip import Clip
from experts.comparing.cross_check import CrossCheckExpert
from experts.signals import Signal
from experts.tracking.fitted_path import FittedPathExpert
from spatial_engine.rendering import RenderedScene, as_clip, true_signals
from spatial_engine.rendering.rooms import random_room
from templates.asked import ClipQuestions
from templates.generate import ask_clip
from templates.media import Photo
from templates.registry import create_templates
from templates.scene.scenes import scenes_of
from templates.settings import AskSettings
from templates.truth import verdict
from tests.experts.learned import (
    FAULTS,
    Models,
    broken,
    second_gravity,
    second_reconstruction,
    simulated,
    with_joining_experts,
)

TEMPLATES = create_templates()
WORDS = {True: "right", False: "wrong", None: "undecidable"}


def room(seed: int) -> RenderedScene:
    """The room of a seed."""
    rng = np.random.default_rng(seed)
    path = PATHS[list(PATHS)[seed % len(PATHS)]](rng)
    return random_room(
        rng, frames=48, width_px=480, height_px=360, fps=12, path=path, moving_object=bool(seed % 3 != 2)
    )


def signals_of(
    scene: RenderedScene, clip: Clip, models: Models, checked: bool, rng: np.random.Generator
) -> Mapping[str, Signal]:
    """All signals of a run, with or without second opinions and their comparison."""
    signals = with_joining_experts(clip, models)
    if checked:
        signals |= second_reconstruction(scene, clip, models, rng) | second_gravity(models, scene, rng)
    signals |= dict(FittedPathExpert()(clip, signals)) | dict(CrossCheckExpert()(clip, signals))  # type: ignore[arg-type]
    return signals


def verdicts(scene: RenderedScene, clip: Clip, asked: ClipQuestions) -> Iterator[tuple[str, str]]:
    """(template, word) of every draft; wrong ones are printed."""
    drafts = [draft for part in asked.asked for draft in part.drafts()]
    media = [medium for draft in drafts for medium in draft.media]
    shown = sorted({medium.frame for medium in media if isinstance(medium, Photo)})
    if not shown:
        return
    (truth,) = scenes_of(clip, true_signals(scene, clip, shown))
    for d in drafts:
        right = verdict(TEMPLATES[d.template], d.format, dict(d.fact), d.answer, truth)
        if right is False:
            print("    WRONG", d.template, d.format, dict(d.fact), " ".join(repr(d.answer).split()))
        yield d.template, WORDS[right]


def main(rooms: int, first_seed: int) -> None:
    """Prints one line per room and fault, then the tables."""
    by_template: Counter[tuple[str, str]] = Counter()
    by_break: Counter[tuple[str, str]] = Counter()
    for seed in range(first_seed, first_seed + rooms):
        scene = room(seed)
        clip = as_clip(scene)
        models = simulated(scene, clip, np.random.default_rng(seed), metric=bool(seed % 2))
        for how in ("nothing", *FAULTS):
            for checked in (True, False):
                rng = np.random.default_rng(seed)
                signals = signals_of(scene, clip, broken(models, how), checked, rng)
                asked = ask_clip(clip, signals, list(TEMPLATES.values()), AskSettings(), seed)
                found = Counter(verdicts(scene, clip, asked))
                words: Counter[str] = Counter()
                for (template, word), count in found.items():
                    words[word] += count
                    by_break[f"{how}, {'' if checked else 'un'}checked", word] += count
                    if how == "nothing":
                        by_template[f"{template}, {'' if checked else 'un'}checked", word] += count
                refused = getattr(signals.get("agreement"), "refused", {})
                print(seed, list(PATHS)[seed % len(PATHS)], how, checked, dict(words), refused, flush=True)
    for table in (by_template, by_break):
        for name in sorted({name for name, _ in table}):
            print(f"{name:40}", {word: table[name, word] for word in WORDS.values()})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
