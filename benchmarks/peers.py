"""Questions per second beside three other engines: the stages of VQASynth, SpatialRGPT and OpenSpatial that make
questions, and our first twelve templates, undrawn. Their loops are written anew, after their descriptions and a look at
their code; what OpenSpatial asks about size and position is a guess from its paper. Same rendered rooms, one core.

    OMP_NUM_THREADS=1 python -m benchmarks.peers [--rooms 3] [--frames 60] [--facts 8 200]

A bare loop starts from the points of the objects in each photo, which earlier stages of its engine separate and thin
out, and ends with a question and its answer as text. It leaves out what the engine does besides: records, marks in
pictures, logs, batches. numpy and scipy stand for Open3D. A loop states no σ, refuses nothing, and sees single photos.
Ours starts from the signals of a clip, proposes, measures, gates, and ends with typed answers, σ, evidence and words.
"""

import argparse
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, cycle, islice, permutations
from typing import get_args

import numpy as np
from jaxtyping import Float64
from scipy.spatial import cKDTree

from benchmarks.end_to_end import exact_clip
from experts.clip import Clip
from experts.signals import CameraPath, Depth, Objects, Signal
from spatial_engine.dataset.finishing import collector_paused
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.furnished_paths import PathKind
from templates.generate import ask_clip
from templates.registry import create_templates
from templates.settings import AskSettings
from templates.template import Template

FIRST_TWELVE = (
    "range_ratio", "range_metres", "camera_tilt", "camera_turn", "camera_travel", "point_moves", "which_moves",
    "same_point", "place_direction", "path_map", "route_order", "navigate",
)  # fmt: skip
_VOXEL_M, _LEAST_POINTS, _PHOTO_STRIDE = 0.02, 20, 5
_NEIGHBOURS, _FAR_SIGMAS = 20, 2.0  # beyond which the neighbours of an outlier are

Clips = Sequence[tuple[Clip, Mapping[str, Signal]]]
Question = tuple[str, str]  # and its answer


@dataclass(frozen=True)
class Cloud:
    """The points of an object in one photo."""

    name: str
    xyz_cam: Float64[np.ndarray, "n 3"]
    """In metres: x right, y down, z ahead."""

    def centre(self) -> Float64[np.ndarray, "3"]:
        return self.xyz_cam.mean(axis=0)

    def size(self) -> Float64[np.ndarray, "3"]:
        return self.xyz_cam.max(axis=0) - self.xyz_cam.min(axis=0)


Measure = Callable[[Cloud], float]
Prompt = Callable[[Cloud, Cloud], Question]
Loop = Callable[[Sequence[Cloud]], Iterator[Question]]
_SIZES: Mapping[tuple[str, str], Measure] = {
    ("farther right", "farther left"): lambda cloud: cloud.centre()[0],
    ("lower", "higher"): lambda cloud: cloud.centre()[1],
    ("wider", "narrower"): lambda cloud: cloud.size()[0],
    ("taller", "shorter"): lambda cloud: cloud.size()[1],
    ("bigger", "smaller"): lambda cloud: float(np.prod(cloud.size())),
    ("farther away", "closer"): lambda cloud: cloud.xyz_cam[:, 2].min(),
}
_COMPARED = {words[k]: (measure, 1 - 2 * k) for words, measure in _SIZES.items() for k in (0, 1)}
_YES_NO = ("Is the {a} {more} than the {b}?", "Would you say that the {a} is {more} than the {b}?")
_WHICH = ("Which is {more}, the {a} or the {b}?", "Of the {a} and the {b}, which one is {more}?")
_HOW_MUCH = ("What is the {what}?", "Can you tell the {what}?")


def in_words(metres: float) -> str:
    """In a unit that people use, drawn at random."""
    units = {"centimetres": 100.0, "inches": 39.37} if metres < 1 else {"metres": 1.0, "feet": 3.281}
    unit = random.choice([*units])
    return f"{metres * units[unit]:.2f} {unit}"


def _compared(more: str, a: Cloud, b: Cloud) -> Question:
    names = {"a": a.name.lower(), "b": b.name.lower(), "more": more}
    answer = "Yes, the {a} is {more}." if _is_more(more, a, b) else "No, the {a} is not {more}."
    return random.choice(_YES_NO).format(**names), answer.format(**names)


def _chosen(more: str, a: Cloud, b: Cloud) -> Question:
    names = {"a": a.name.lower(), "b": b.name.lower(), "more": more}
    answer = "The {a}." if _is_more(more, a, b) else "The {b}."
    return random.choice(_WHICH).format(**names), answer.format(**names)


def _is_more(more: str, a: Cloud, b: Cloud) -> bool:
    measure, sign = _COMPARED[more]
    return bool(sign * measure(a) > sign * measure(b))


def _length(what: str, measure: Callable[[Cloud, Cloud], float], a: Cloud, b: Cloud) -> Question:
    text = random.choice(_HOW_MUCH).format(what=what.format(a=a.name.lower(), b=b.name.lower()))
    return text, f"About {in_words(measure(a, b))}."


def mean_distance(a: Cloud, b: Cloud) -> float:
    """Mean distance of the points of each from the nearest of the other, in metres."""
    return float(np.mean(np.concatenate([_nearest(a.xyz_cam, b.xyz_cam), _nearest(b.xyz_cam, a.xyz_cam)])))


def least_distance(a: Cloud, b: Cloud) -> float:
    """Distance of the two closest points, in metres."""
    return float(_nearest(a.xyz_cam, b.xyz_cam).min())


def _nearest(points: Float64[np.ndarray, "n 3"], of: Float64[np.ndarray, "m 3"]) -> Float64[np.ndarray, "n"]:
    return cKDTree(of).query(points)[0]


def cleaned(cloud: Cloud) -> Cloud:
    """Without the points that stand alone."""
    count = min(_NEIGHBOURS, len(cloud.xyz_cam))
    apart = cKDTree(cloud.xyz_cam).query(cloud.xyz_cam, k=count)[0].mean(axis=1)
    return Cloud(cloud.name, cloud.xyz_cam[apart <= apart.mean() + _FAR_SIGMAS * apart.std()])


def _clock(a: Cloud, b: Cloud) -> Question:
    right, _, ahead = b.centre() - a.centre()
    hour = round(np.degrees(np.arctan2(right, ahead)) / 30) % 12 or 12
    return f"Standing at the {a.name.lower()}, where is the {b.name.lower()}?", f"At {hour} o'clock."


_LENGTHS: Mapping[str, Prompt] = {
    what: partial(_length, what, measure)
    for what, measure in {
        "horizontal distance between the {a} and the {b}": lambda a, b: abs(a.centre()[0] - b.centre()[0]),
        "vertical distance between the {a} and the {b}": lambda a, b: abs(a.centre()[1] - b.centre()[1]),
        "width of the {a}": lambda a, _: a.size()[0],
        "height of the {a}": lambda a, _: a.size()[1],
    }.items()
}
_DISTANCE: Prompt = partial(_length, "distance between the {a} and the {b}", mean_distance)
_CHOSEN = ("farther left", "farther right", "higher", "lower", "taller", "shorter")
PROMPTS: Mapping[str, Prompt] = {
    **{more: partial(_compared, more) for more in _COMPARED},
    **{f"which is {more}": partial(_chosen, more) for more in _CHOSEN},
    **_LENGTHS,
}
"""What VQASynth and SpatialRGPT ask about a pair."""


def vqasynth(photo: Sequence[Cloud]) -> Iterator[Question]:
    """Five random pairs in order; of each ten prompts, lengths more often than comparisons, and the distance."""
    weights = [3 if name in _LENGTHS else 1 for name in PROMPTS]
    pairs = [*permutations(photo, 2)]
    random.shuffle(pairs)
    prompts = random.choices([*PROMPTS.values()], weights=weights, k=10)
    for a, b in pairs[:5]:
        yield from (prompt(a, b) for prompt in prompts)
        yield _DISTANCE(a, b)


def spatial_rgpt(photo: Sequence[Cloud]) -> Iterator[Question]:
    """Three random pairs; of each three prompts out of 24, distance and direction as on a clock among them."""
    pairs = [*combinations(photo, 2)]
    random.shuffle(pairs)
    every = [*PROMPTS.values(), _clock, _DISTANCE]
    for a, b in pairs[:3]:
        yield from (prompt(a, b) for prompt in random.sample(every, 3))


def open_spatial(photo: Sequence[Cloud]) -> Iterator[Question]:
    """Of two random objects the least distance, of three which one is closer to the third, openly and as a choice; a
    size and a position, as its paper lists them. Points are cleaned for each question about distances."""
    if len(photo) >= 3:
        a, b, c = (cleaned(cloud) for cloud in random.sample(photo, 3))
        yield _length("least distance of the {a} from the {b}", least_distance, a, b)
        a, b, c = (cleaned(cloud) for cloud in random.sample(photo, 3))
        first = least_distance(a, c) < least_distance(b, c)
        asked = f"Which is closer to the {c.name.lower()}: the {a.name.lower()} or the {b.name.lower()}?"
        yield asked, f"The {(a if first else b).name.lower()}."
        yield f"{asked}\nA. {a.name.lower()}  B. {b.name.lower()}", "AB"[not first]
        yield _length("longest side of the {a}", lambda a, _: a.size().max(), a, b)
        yield _compared(random.choice(["farther left", "higher", "closer"]), a, b)


LOOPS: Mapping[str, Loop] = {"VQASynth": vqasynth, "SpatialRGPT": spatial_rgpt, "OpenSpatial": open_spatial}


def photos_of(signals: Mapping[str, Signal]) -> Iterator[list[Cloud]]:
    """The objects of every fifth photo as points, thinned out; those with few points are left out."""
    path, depth, objects = (signals[name] for name in ("camera_path", "depth", "objects"))
    assert isinstance(path, CameraPath) and isinstance(depth, Depth) and isinstance(objects, Objects)
    height, width = depth.z.shape[1:]
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2).astype(float)
    rays = path.intrinsics.rays(pixels)
    for ids, z in zip(objects.ids[::_PHOTO_STRIDE], depth.z[::_PHOTO_STRIDE], strict=True):
        xyz_cam = rays * (z.reshape(-1) / rays[:, 2])[:, None]
        cell = np.column_stack([ids.ravel(), np.floor(xyz_cam / _VOXEL_M).astype(np.int64)])
        one = np.unique(cell, axis=0, return_index=True)[1]
        clouds = (Cloud(name, xyz_cam[one][cell[one, 0] == k]) for k, name in enumerate(objects.labels))
        yield [cloud for cloud in clouds if len(cloud.xyz_cam) >= _LEAST_POINTS]


def ours(clips: Clips, facts: int, templates: Sequence[Template]) -> int:
    """Questions in words, all that is derived from signals computed anew."""
    settings = AskSettings(facts_per_template=facts)
    made = (ask_clip(clip, signals, templates, settings, seed=0) for clip, signals in clips)
    return sum(1 for clip in made for table in clip.asked for _ in table.drafts())


def _asked(loop: Loop, photos: Sequence[list[Cloud]]) -> int:
    return sum(1 for photo in photos for _ in loop(photo))


def rate(work: Callable[[], int]) -> tuple[float, int]:
    """Questions per CPU second, the better of two rounds, and their number."""
    with collector_paused():  # as where a dataset is written
        rounds = [(time.process_time(), work(), time.process_time()) for _ in range(2)]
    return max(count / (end - start) for start, count, end in rounds), rounds[0][1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints a line for each loop, and one for ours with each number of facts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", type=int, default=3)
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--facts", type=int, nargs="+", default=[8, 200], help="per template and clip")
    options = parser.parse_args(arguments)
    kinds = enumerate(islice(cycle(get_args(PathKind)), options.rooms))
    drawn = (furnished_room(np.random.default_rng(k), frames=options.frames, path=p, movers=3) for k, p in kinds)
    clips = [exact_clip(room) for room in drawn]
    photos = [photo for _, signals in clips for photo in photos_of(signals)]
    known = create_templates()
    templates = [known[name] for name in FIRST_TWELVE]
    ours(clips, 1, templates)  # imports, wordings
    random.seed(0)
    peers = {}
    for name, loop in LOOPS.items():
        peers[name], count = rate(partial(_asked, loop, photos))
        print(f"{name}: {peers[name]:.0f} questions/s ({count}); 3-D, no sigma, no gate, single photos")
    for facts in options.facts:
        speed, count = rate(partial(ours, clips, facts, templates))
        said = f"ours, {facts} facts: {speed:.0f} questions/s ({count / len(clips):.0f} a clip)"
        ratios = ", ".join(f"{speed / theirs:.2f} x {name}" for name, theirs in peers.items())
        print(f"{said}; 3-D, sigma, gate, several photos: {ratios}")


if __name__ == "__main__":
    main()
