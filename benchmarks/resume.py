"""Seconds that `annotate` takes on a store in which nothing is missing.

    python -m benchmarks.resume [CLIPS]      by default 10 000

The clips are folders of two small pictures each. The second time, the table of finished footage is gone: every clip is
looked at. Set TMPDIR to a folder in memory where writing the store takes long.
"""

import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np
from PIL import Image

from spatial_engine.pipeline import annotate


def main(clips: int = 10_000) -> float:
    """Prints and returns the seconds."""
    with tempfile.TemporaryDirectory() as place:
        root, noise = Path(place), np.random.default_rng(0)
        for clip in range(clips):
            folder = root / "videos" / f"{clip:06d}"
            folder.mkdir(parents=True)
            for frame in range(2):
                picture = noise.integers(0, 256, (64, 64, 3), dtype=np.uint8)
                Image.fromarray(picture).save(folder / f"{frame}.png")
        parts = [("new", ""), ("looked at one by one", "DROP TABLE finished"), ("finished", "")]
        for name, before in parts:
            if before:
                with closing(sqlite3.connect(root / "store" / "ledger.sqlite")) as ledger, ledger:
                    ledger.execute(before)
            started, cpu = time.perf_counter(), time.process_time()
            annotate(root / "videos", root / "store", experts="valid_area")
            seconds, cpu_s = time.perf_counter() - started, time.process_time() - cpu
            print(f"{clips} clips, {name}: {seconds:.1f} s, {cpu_s:.1f} s of CPU time", flush=True)
    return seconds


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
