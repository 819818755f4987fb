"""Seconds that `annotate` takes on a store in which nothing is missing, and where they go.

    python -m benchmarks.resume [CLIPS]      by default 10 000

The clips are folders of two small pictures each.
"""

import sys
import tempfile
import time
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
        seconds = []
        for _ in range(2):
            started = time.perf_counter()
            annotate(root / "videos", root / "store", experts="valid_area")
            seconds.append(time.perf_counter() - started)
            print(f"{clips} clips: {seconds[-1]:.1f} s", flush=True)
        annotate(root / "videos", root / "store", experts="valid_area", profile="resume.prof")
    return seconds[-1]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
