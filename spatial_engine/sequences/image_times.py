"""When the images of a sequence were taken."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import read_numbers
from spatial_engine.sequences.manifest import Times

_SECONDS = {"seconds": 1.0, "milliseconds": 1e-3, "microseconds": 1e-6, "nanoseconds": 1e-9}
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def times_s(folder: Path, times: Times, images: Sequence[Path]) -> Float64[np.ndarray, "n"]:
    """Seconds. Raises `UsageError` where they are stated twice or not at all, or belong to other images."""
    counted = times.from_names == "frames" and times.fps
    if not counted and sum(map(bool, (times.fps, times.file, times.from_names))) != 1:
        raise UsageError(
            "times: state one of fps, file, from_names", "fps: 30, or file: times.txt, or from_names: seconds"
        )
    if times.from_names:
        return np.array([time_in(image, times) for image in images])
    if times.fps:
        return np.arange(len(images)) / times.fps
    stated = read_numbers(folder / times.file)[:, 0]
    if len(stated) != len(images):
        raise UsageError(f"{times.file} has {len(stated)} times for {len(images)} images", "one line an image")
    return stated


def time_in(image: Path, times: Times) -> float:
    """The last number in an image's name, in seconds."""
    numbers = _NUMBER.findall(image.name[: -len(image.suffix)] if image.suffix else image.name)
    if not numbers:
        raise UsageError(f"times: the name {image.name} holds no number", "state fps or file")
    if times.from_names == "frames":
        if not times.fps:
            raise UsageError("times: frames without their rate", "state fps too")
        return float(numbers[-1]) / times.fps
    return float(numbers[-1]) * _SECONDS[times.from_names]
