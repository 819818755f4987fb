"""What a dataset costs, from the signals of many clips to its audit: time a question, memory, and whether workers and
shards pay. Clips are rendered rooms with exact signals, hard-linked under other ids. There are no pictures unless
`--drawn`: drawing is measured by `benchmarks.end_to_end`.

    python -m benchmarks.data_sets [--clips 20 80] [--facts 200] [--abilities L1/Geometry/Distance] [--drawn]

A line for each number of clips, measured in a process of its own: questions, CPU seconds of asking and of writing,
microseconds a question, the largest memory of the process and of a worker, and the share of the CPU time that workers
can divide. Then, for the smallest number, whether two workers, and two shards, write the same bytes.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from PIL import Image

from experts.clip import Clip
from experts.footage.decoding import ImageReader
from spatial_engine.dataset.asking import AskClip, ask_all
from spatial_engine.dataset.balance import Selection
from spatial_engine.dataset.finishing import FinishClip, Finished, Part
from spatial_engine.dataset.writing import write_drafts
from spatial_engine.options import GenerateOptions, Shard
from spatial_engine.output_folder import place_file
from spatial_engine.progress import Silent
from spatial_engine.sources import clip_to_json
from spatial_engine.store.store import ClipRecord, FootageRecord, Store, create_store
from templates.media import Medium

_ROOMS = 4
_KEY = "0" * 16


@dataclass(frozen=True)
class _Unseen(Part):
    """Questions whose pictures are not there."""

    def files(self) -> list[str]:
        """None: nothing is to be placed."""
        return []


@dataclass(frozen=True, kw_only=True)
class Undrawn(FinishClip):
    """The questions in words, without pictures."""

    def __call__(self, selection: Selection) -> Finished:
        """Puts in words."""
        finished = super().__call__(selection)
        return finished if finished.part is None else replace(finished, part=_Unseen(finished.part.lines))

    def draw(self, clip: Clip | None, shown: Iterable[Medium]) -> None:
        """Draws nothing."""


def rooms(folder: Path) -> Store:
    """A store with the exact signals of rendered rooms, and their footage."""
    from benchmarks.end_to_end import exact_clip, walk  # not above: the workers that are timed import this module

    store = create_store(folder / "rooms")
    for seed in range(_ROOMS):
        room = walk(seed)
        clip, signals = exact_clip(room)
        place = folder / f"room {seed}"
        place.mkdir()
        paths = tuple(place / f"{k:03}.jpg" for k in range(len(room)))
        for k, path in enumerate(paths):
            Image.fromarray(room.picture(k)).save(path, quality=92)
        sizes = tuple(path.stat().st_size for path in paths)
        reader = ImageReader(paths=paths, width_px=clip.width_px, height_px=clip.height_px, file_bytes=sizes)
        for name, signal in signals.items():
            store.write(clip.id, name, _KEY, signal)
        record = ClipRecord(clip=clip_to_json(replace(clip, reader=reader)), signals=dict.fromkeys(signals, _KEY))
        store.write_record(clip.id, record)
        store.write_footage(FootageRecord(path=str(place), name=clip.name, clips=(clip.id,)))
    return store


def copies(of: Store, path: Path, count: int, signals: Sequence[str] = ()) -> Store:
    """A store with that many clips, whose signals are hard links: these, or all."""
    store, known = create_store(path), of.clip_ids()
    ids = [sha256(str(k).encode()).hexdigest()[:16] for k in range(count)]
    for k, id in enumerate(ids):
        source = of.path / "clips" / known[k % len(known)]
        record = of.record(source.name)
        keys = {name: key for name, key in record.signals.items() if name in signals or not signals}
        store.write_record(id, replace(record, clip=record.clip | {"id": id}, signals=keys))
        for name, key in keys.items():
            place_file(source / f"{name}.{key}.zarr.zip", path / "clips" / id / f"{name}.{key}.zarr.zip")
    store.write_footage(FootageRecord(path="rooms", name="rooms", clips=tuple(ids)))
    return store


def write(
    store: Path, out: Path, abilities: str, facts: int, drawn: bool, workers: int, shards: int = 1
) -> list[float]:
    """Writes a dataset; CPU seconds of this process and of the workers, for asking and for writing."""
    options = GenerateOptions(abilities=abilities, workers=workers)
    task = AskClip.of(Store(store), options, out.with_name(f".{out.name}.drafts"))
    task = replace(task, settings=replace(task.settings, facts_per_template=facts))
    marks = [_cpu_s()]
    for number in range(1, shards):
        ask_all(task, workers, Silent(), Shard(number=number, count=shards))
    asked = ask_all(task, workers, Silent(), Shard())
    marks.append(_cpu_s())
    kind = FinishClip if drawn else Undrawn
    finish = kind(drafts=task.drafts, keys=asked.keys, open_clip=task.clip, folder=task.drafts.folder)
    write_drafts(out, finish, asked.crashed, seed=0, workers=workers)
    marks.append(_cpu_s())
    return [part for first, then in pairwise(marks) for part in (then[0] - first[0], then[1] - first[1])]


def _cpu_s() -> tuple[float, float]:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), children.ru_utime + children.ru_stime


def _measured(store: Path, out: Path, *words: object) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.data_sets", "--one", str(store), str(out), *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _one(arguments: list[str]) -> None:
    store, out, abilities, facts, drawn, workers, shards = arguments
    start = time.monotonic()
    seconds = write(Path(store), Path(out), abilities, int(facts), drawn == "True", int(workers), int(shards))
    own = int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) / 1e3  # of Linux
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3
    with (Path(out) / "questions.jsonl").open("rb") as lines:
        count, size = 0, 0
        for line in lines:
            count, size = count + 1, size + len(line)
    audit = json.loads((Path(out) / "audit.json").read_bytes())
    asked = audit["questions"] + sum(sum(reasons.values()) for reasons in audit["dropped"].values())
    found = dict(zip(("asking", "asking in workers", "writing", "writing in workers"), seconds, strict=True))
    print(json.dumps({
        **found, "wall": time.monotonic() - start, "asked": asked, "written": count, "bytes": size / max(1, count),
        "own MB": own, "worker MB": worker,
    }))  # fmt: skip


def _bytes(out: Path) -> dict[str, str]:
    names = ("questions.jsonl", "provenance.jsonl", "audit.json")
    return {name: sha256((out / name).read_bytes()).hexdigest() for name in names}


def main() -> None:
    """Prints the lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, nargs="+", default=[20, 80])
    parser.add_argument("--facts", type=int, default=200, help="per template and clip")
    parser.add_argument("--abilities", default="L1/Geometry/Distance")
    parser.add_argument("--drawn", action="store_true", help="draw the pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = rooms(folder)
        stores = {count: copies(known, folder / f"store {count}", count).path for count in options.clips}
        words = (options.abilities, options.facts, options.drawn)
        for count, store in stores.items():
            one = _measured(store, folder / f"set {count}", *words, 1, 1)
            total = sum(seconds for part, seconds in one.items() if part.startswith(("asking", "writing")))
            shared = (one["asking in workers"] + one["writing in workers"]) / total
            print(
                f"{count} clips: {one['asked']:.0f} questions asked, {one['written']:.0f} written, "
                f"{one['bytes']:.0f} B a record; CPU seconds: asking {one['asking'] + one['asking in workers']:.1f}, "
                f"writing {one['writing'] + one['writing in workers']:.1f}; "
                f"{1e6 * total / one['asked']:.0f} us a question; {one['own MB']:.0f} MB, a worker "
                f"{one['worker MB']:.0f} MB; {shared:.0%} of the time is the workers'",
                flush=True,
            )
        least = min(options.clips)
        two = _measured(stores[least], folder / "two", *words, 2, 1)
        one = _measured(stores[least], folder / "alone", *words, 1, 1)
        _measured(stores[least], folder / "shards", *words, 0, 2)
        same = {str(_bytes(folder / name)) for name in (f"set {least}", "two", "alone", "shards")}
        print(f"{least} clips: two workers are {one['wall'] / two['wall']:.2f} times as fast as one")
        kept = "the same" if len(same) == 1 else "OTHER"
        print(f"{least} clips: one worker, two workers and two shards write {kept} bytes")


if __name__ == "__main__":
    _one(sys.argv[2:]) if sys.argv[1:2] == ["--one"] else main()
