"""A targeted set from many stills: time, memory, pictures, evenness, limits, bytes, splits, and how much of it can be
answered without its pictures. Stills are photos of rendered rooms with exact signals. Pictures are empty files unless
`--drawn`. Resumes: stills and sets that are in FOLDER are not made again.

    python -m benchmarks.targeted_sets FOLDER [--stills 2000] [--count 250000] [--per-clip 150] [--workers 2 1]
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.data_sets import Undrawn
from experts.footage.decoding import ImageReader
from spatial_engine import pipeline
from spatial_engine.dataset.dataset import Dataset
from spatial_engine.dataset.target import MOST_OF_MEDIAN
from spatial_engine.rendering import as_clip, true_signals
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.scene import RenderedScene
from spatial_engine.sources import clip_to_json
from spatial_engine.store.store import ClipRecord, FootageRecord, Store, create_store
from templates.columns import Json

_OF_ROOM = 8
"""Stills of one room: a scene."""
_KEY = "0" * 16
_COORDINATES = "depth_at"
"""Names its point by coordinates, so that all its questions about a still show one picture."""


def stills(folder: Path, count: int) -> Store:
    """A store of photos, each a clip, with their exact signals."""
    store = create_store(folder / "store")
    known = {footage.path for footage in store.footage()}
    for number in range(-(-count // _OF_ROOM)):
        place = folder / f"stills/{number:04}"
        if str(place) not in known:
            _add_room(store, place, number)
    return store


def _add_room(store: Store, place: Path, number: int) -> None:
    room = furnished_room(np.random.default_rng([19, number]), frames=_OF_ROOM)
    place.mkdir(parents=True, exist_ok=True)
    ids = []
    for k in range(_OF_ROOM):
        still = _still(room, k)
        clip, path = as_clip(still, name=f"room {number} photo {k}"), place / f"{k}.jpg"
        Image.fromarray(still.picture(0)).save(path, quality=92)
        size = (path.stat().st_size,)
        reader = ImageReader(paths=(path,), width_px=clip.width_px, height_px=clip.height_px, file_bytes=size)
        signals = true_signals(still, clip)
        for name, signal in signals.items():
            store.write(clip.id, name, _KEY, signal)
        record = clip_to_json(replace(clip, reader=reader))
        store.write_record(clip.id, ClipRecord(clip=record, signals=dict.fromkeys(signals, _KEY)))
        ids.append(clip.id)
    store.write_footage(FootageRecord(path=str(place), name=f"room {number}", clips=tuple(ids)))


def _still(room: RenderedScene, frame: int) -> RenderedScene:
    moving = tuple(replace(each, world_from_box=each.world_from_box[[frame]]) for each in room.moving_boxes)
    return replace(room, world_from_cam=room.world_from_cam[[frame]], moving_boxes=moving)


def one_set(store: str, out: str, count: str, per_clip: str, workers: str, drawn: str) -> None:
    """Writes a set in this process, and beside it what it cost."""
    if drawn != "True":
        pipeline.FinishClip = Undrawn  # type: ignore[attr-defined]
    start = time.monotonic()
    pipeline.generate(
        store,
        out,
        abilities="L1/Geometry/Distance",
        count=int(count),
        per_clip=int(per_clip),
        even=("answer", "difficulty", "scene"),
        workers=int(workers),
    )
    own = int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0])  # of Linux
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    cost = {
        "wall s": round(time.monotonic() - start, 1),
        "CPU s": round(usage.ru_utime + usage.ru_stime + children.ru_utime + children.ru_stime, 1),
        "own MB": own // 1000,
        "worker MB": children.ru_maxrss // 1000,
    }
    Path(f"{out}.cost.json").write_text(json.dumps(cost))


def looked_at(dataset: Dataset, per_clip: int) -> dict[str, object]:
    """What is promised of the set, counted from its questions."""
    facts, clips = set(), Counter[str]()
    coordinates: set[str] = set()
    for question in dataset.questions:
        facts.add((question.fact_id, question.format))
        clips[question.clip] += 1
        if question.template == _COORDINATES:
            coordinates.update(question.files)
    target, audit = dataset.audit["target"], dataset.audit
    largest = max(
        max(row["drawn"] for row in rows) / max(1.0, float(np.median([row["drawn"] for row in rows])))
        for rows in _grouped(target["bins"])
    )
    baselines = audit["leaks"]["baselines"]
    gains = {name: found["overall"]["gain"] for name, found in baselines.items() if found["overall"]}
    return {
        "questions": sum(clips.values()),
        "distinct": len(facts),
        "stills": len(clips),
        "pictures of coordinate forms, per still": round(len(coordinates) / max(1, len(clips)), 3),
        "most of one clip": max(clips.values()),
        "per-clip limit kept": max(clips.values()) <= per_clip,
        f"largest bin / median (at most {MOST_OF_MEDIAN})": round(largest, 2),
        "gain over chance without pictures": gains,
        "leaks found": audit["leaks"]["found"],
        "near-duplicates across splits": audit["leaks"]["across_splits"],
    }


def _grouped(bins: list[Json]) -> list[list[Json]]:
    found: dict[tuple[str, str], list[Json]] = defaultdict(list)
    for row in bins:
        found[row["by"], row["of"]].append(row)
    return [*found.values()]


def main() -> None:
    """Makes the stills and the sets, and prints what they are."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stills", type=int, default=2000)
    parser.add_argument("--count", type=int, default=250_000)
    parser.add_argument("--per-clip", type=int, default=150)
    parser.add_argument("--drawn", action="store_true", help="draw the pictures")
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 1])
    options = parser.parse_args()
    store = stills(options.folder, options.stills)
    for workers in options.workers:
        out = options.folder / f"set {options.count} by {workers}{' drawn' * options.drawn}"
        if not Path(f"{out}.cost.json").is_file():
            words = (store.path, out, options.count, options.per_clip, workers, options.drawn)
            subprocess.run([sys.executable, "-m", "benchmarks.targeted_sets", "--one", *map(str, words)], check=True)
        print(f"{workers} workers: {Path(f'{out}.cost.json').read_text()}", flush=True)
        print(json.dumps(looked_at(Dataset.open(out), options.per_clip), indent=1), flush=True)
        print("questions.jsonl:", sha256((out / "questions.jsonl").read_bytes()).hexdigest())


if __name__ == "__main__":
    one_set(*sys.argv[2:]) if sys.argv[1:2] == ["--one"] else main()
