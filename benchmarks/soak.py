"""Runs everything over and over in one process, and says whether memory, open files or results change.

    python -m benchmarks.soak [MINUTES]      by default 60

A round annotates a rendered video and a damaged one with the default experts into a new store, generates a dataset,
exports it, lets a fake model answer it, and checks the store. Every round must give the bytes of the first one.
"""

import json
import sys
import tempfile
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

import spatial_engine as se
from spatial_engine.evaluation.fake_server import FakeServer
from spatial_engine.rendering import camera_paths, write_video
from spatial_engine.rendering.rooms import random_room

_WARM = 3
"""Rounds until caches and pools are full; growth counts from there."""
_MOST_GROWTH = 1.1


@dataclass(frozen=True, kw_only=True)
class Round:
    """What is left after a round."""

    results: str
    """Hash of the questions, the export and the scores."""
    memory_mb: float
    files: int
    """Open files and sockets."""
    threads: int


def footage(folder: Path) -> Path:
    """A walk through a room, and a file that ends too early."""
    folder.mkdir()
    room = random_room(np.random.default_rng(0), frames=24, width_px=320, height_px=240, path=camera_paths.walk)
    write_video(room, folder / "walk.mp4")
    (folder / "damaged.mp4").write_bytes((folder / "walk.mp4").read_bytes()[:4000])
    return folder


def played(videos: Path, place: Path) -> Round:
    """One round, in an empty folder."""
    store = se.annotate(videos, place / "store")
    assert not se.check_store(store).damage
    dataset = se.generate(store, place / "dataset")
    se.export(place / "dataset", place / "export", to="llava")
    with FakeServer(dataset, "oracle") as server:
        run = se.evaluate(
            dataset, place / "runs", se.RequestOptions(model="fake-oracle"), se.Server(base_url=server.base_url)
        )
    files = [place / "dataset" / "questions.jsonl", *sorted((place / "export").rglob("*.json"))]
    scores = [json.loads(line) | {"seconds": 0} for line in (run / "scores.jsonl").read_text().splitlines()]
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())  # of Linux
    return Round(
        results=sha256(b"".join([*(file.read_bytes() for file in files), json.dumps(scores).encode()])).hexdigest(),
        memory_mb=int(status["VmRSS"].split()[0]) / 1e3,
        files=sum(1 for _ in Path("/proc/self/fd").iterdir()),
        threads=int(status["Threads"]),
    )


def main(minutes: float = 60.0) -> list[Round]:
    """Prints a line per round; raises `AssertionError` if something changes."""
    rounds: list[Round] = []
    with tempfile.TemporaryDirectory() as folder:
        videos = footage(Path(folder) / "videos")
        until = time.monotonic() + 60 * minutes
        while time.monotonic() < until or len(rounds) <= _WARM:
            began = time.monotonic()
            with tempfile.TemporaryDirectory() as place:
                rounds.append(played(videos, Path(place)))
            now = rounds[-1]
            print(
                f"{len(rounds)}: {time.monotonic() - began:.0f} s, {now.memory_mb:.0f} MB, {now.files} open files, "
                f"{now.threads} threads, results {now.results[:12]}",
                flush=True,
            )
            assert now.results == rounds[0].results, "a round gives other results than the first"
    warm, last = rounds[_WARM - 1], rounds[-1]
    grown = f"memory grows: {warm.memory_mb:.0f} to {last.memory_mb:.0f} MB"
    assert last.memory_mb <= _MOST_GROWTH * warm.memory_mb, grown
    assert last.files <= warm.files and last.threads <= warm.threads, "open files or threads are left behind"
    return rounds


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
