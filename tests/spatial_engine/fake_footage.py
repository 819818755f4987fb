"""Tiny folders of noise that open as clips."""

from pathlib import Path

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 48, 36


def write_images(folder: Path, seed: int, count: int = 3) -> Path:
    """A folder of `count` images that no other seed gives."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for index in range(count):
        Image.fromarray(rng.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)).save(folder / f"{index:03}.png")
    return folder


def write_folders(root: Path, count: int) -> Path:
    """`count` such folders below `root`."""
    for seed in range(count):
        write_images(root / f"clip {seed}", seed)
    return root
