"""python -m examples.every_leaf [OUT]: ask about every leaf, on rooms and episodes that are rendered here, and puzzles.

Writes OUT/dataset and OUT/report; OUT is every_leaf/ by default. All signals are exact: the renderer knows them.
`--rounds 2 --facts 7 --puzzles 120` makes about 20 000 questions.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

import spatial_engine as se
from experts.clip import Clip
from experts.matching.reprojection import ReprojectionExpert
from experts.signals import NoEstimate, Signal
from spatial_engine.dataset.writing import write_dataset
from spatial_engine.rendering import Effects, RenderedScene, as_clip, true_signals
from spatial_engine.rendering.camera_paths import around, driving, static
from spatial_engine.rendering.episodes import pick_and_place, true_episode_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.furnished_paths import PathKind
from spatial_engine.rendering.push_and_pull import open_drawer, push
from spatial_engine.rendering.rooms import random_room
from spatial_engine.rendering.staged_rooms import busy_room, carrying_room, crossing_room, leaning, staged
from templates.ability import LEAVES
from templates.generate import ask_clip, ask_puzzles
from templates.registry import create_templates
from templates.settings import AskSettings

OUT = Path("every_leaf")
WIDTH_PX, HEIGHT_PX = 640, 480
ROOMS: Sequence[tuple[PathKind, int]] = (("orbit", 11), ("look_round", 7), ("through_the_door", 5), ("orbit", 23))
"""Path of the camera, and seed."""
EPISODES = (pick_and_place, pick_and_place, push, open_drawer, pick_and_place, pick_and_place)
FACTS, PUZZLES = 8, 8
"""Of each template, about each clip and in all."""
SEEDS_PER_ROUND = 100
Footage = tuple[Clip, Mapping[str, Signal | NoEstimate]]


def rooms(first: int) -> Iterator[RenderedScene]:
    """Furnished rooms; one with round objects, one whose small objects lean, some with sliding crates; one in which the
    camera turns all round, and one in which it goes straight on. `first` is added to their seeds."""
    for path, seed in ROOMS:
        rng = np.random.default_rng(first + seed)
        room = furnished_room(rng, frames=24, width_px=WIDTH_PX, height_px=HEIGHT_PX, path=path, movers=2)
        yield room
    yield leaning(room, first + 1)
    rng = np.random.default_rng(first + 31)
    yield furnished_room(rng, frames=24, width_px=WIDTH_PX, height_px=HEIGHT_PX, round_objects=True)
    yield from (busy_room(first + seed, width_px=WIDTH_PX) for seed in (1, 2, 3))
    yield staged(first + 4, width_px=WIDTH_PX)
    yield from (carrying_room(first + seed, width_px=WIDTH_PX) for seed in (1, 2))
    yield crossing_room(first, width_px=WIDTH_PX, racing=True)
    for path in (around, driving):
        yield random_room(
            np.random.default_rng(first + 1), frames=36, width_px=WIDTH_PX, height_px=HEIGHT_PX, path=path
        )


def zooming_room(seed: int) -> RenderedScene:
    """A camera on a tripod that zooms in."""
    rng, size = np.random.default_rng(seed), {"width_px": WIDTH_PX, "height_px": HEIGHT_PX}
    return random_room(rng, frames=24, **size, path=static, effects=Effects(zoom=1.8))


def footage(round: int = 0) -> Iterator[Footage]:
    """Clips with all that is known of them; of other rooms and episodes in each round."""
    first = SEEDS_PER_ROUND * round
    for scene in rooms(first):
        clip = as_clip(scene)
        signals = dict(true_signals(scene, clip, stride=2))
        yield clip, signals | dict(ReprojectionExpert()(clip, signals))
    zooming = zooming_room(first + 2)
    clip = as_clip(zooming)
    yield clip, true_signals(zooming, clip)
    for seed, kind in enumerate(EPISODES):
        episode = kind(np.random.default_rng(first + seed), width_px=WIDTH_PX, height_px=HEIGHT_PX, succeeds=seed != 1)
        clip = as_clip(episode.scene)
        yield clip, true_episode_signals(episode, clip, stride=4)


def main(arguments: Sequence[str]) -> int:
    """Exit code 1 if a leaf is not asked about."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", default=OUT)
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="make the rooms and episodes N times")
    parser.add_argument("--facts", type=int, default=FACTS, metavar="N", help="facts of a template about a clip")
    parser.add_argument("--puzzles", type=int, default=PUZZLES, metavar="N", help="puzzles of a template in all")
    given = parser.parse_args(arguments)
    out, templates = given.out, [*create_templates().values()]
    settings = AskSettings(facts_per_template=given.facts)
    clips, asked = {}, [ask_puzzles(templates, given.puzzles, 0)]
    for clip, signals in chain.from_iterable(map(footage, range(given.rounds))):
        clips[clip.id] = clip
        asked.append(ask_clip(clip, signals, templates, settings, 0))
        print(f"{len(clips)}: {sum(len(one) for one in asked[-1].asked)} questions", flush=True)
    dataset = write_dataset(out / "dataset", asked, clips.__getitem__, seed=0)
    page = se.report(dataset, out / "report")
    missing = show(dataset)
    print(f"dataset: {dataset.path}/   report: {page}")
    return int(bool(missing))


def show(dataset: se.Dataset) -> list[str]:
    """Prints questions, templates and formats of every leaf. Returns the leaves without a question."""
    counts: Counter[str] = Counter()
    templates, formats = defaultdict(set), defaultdict(set)
    for question in dataset.questions:
        counts[question.ability] += 1
        templates[question.ability].add(question.template)
        formats[question.ability].add(question.format)
    for leaf in LEAVES:
        print(f"{leaf:55} {counts[leaf]:5} questions {len(templates[leaf]):3} templates {len(formats[leaf]):2} formats")
    print(f"{len(counts)} of {len(LEAVES)} leaves, {sum(counts.values())} questions")
    return [leaf for leaf in LEAVES if not counts[leaf]]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
