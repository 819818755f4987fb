"""Overlap of decoding, inference and writing in the runtime, with experts that only sleep.

    python -m benchmarks.runtime_overlap [CLIPS] [PICTURES] [RUNS]

A picture takes 10 ms to decode, 20 ms to infer and 10 ms to write. Prints the wall time of a worker's task as a share
of the sum of the three, and of the inference time alone, which is the lower bound: medians over the runs. Picture by
picture: several clips share batches of 8. Clip by clip: the expert receives a whole clip and decodes ahead itself.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import ClassVar

import numpy as np
from PIL import Image

from experts.clip import Clip, Picture
from experts.provenance import Provenance
from experts.runtime.batching import ahead
from experts.runtime.per_image import call_one
from experts.signals import Gravity, NoEstimate, Signal, Signals
from spatial_engine.annotation.annotation import AnnotateClips
from spatial_engine.annotation.opening import find, open_all
from spatial_engine.options import AnnotateOptions, Shard
from spatial_engine.progress import Silent
from spatial_engine.store.store import Store, create_store

DECODE_S, INFER_S, WRITE_S = 0.01, 0.02, 0.01


class OneCall:
    """Receives a whole clip; "model" and decoding are sleep."""

    name: ClassVar[str] = "one_call"
    version: ClassVar[str] = "1"
    provides: ClassVar[frozenset[str]] = frozenset({"gravity"})
    needs: ClassVar[frozenset[str]] = frozenset()
    options: ClassVar[frozenset[str]] = frozenset()
    settings = None

    def load(self, weights: str | None = None, device: str = "auto", dtype: str | None = None) -> None:
        """Nothing to load."""

    def close(self) -> None:
        """Nothing to free."""

    def pictures(self, clip: Clip, signals: Signals) -> Iterator[tuple[int, Picture]]:
        """The frames, at the speed of a decoder."""
        for frame in clip.frames:
            time.sleep(DECODE_S)
            yield int(frame), np.zeros((8, 8, 3), dtype=np.uint8)

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        for _ in ahead(self.pictures(clip, signals), depth=4):
            time.sleep(INFER_S)
        return self.finish(clip, signals, {})

    def finish(self, clip: Clip, signals: Signals, raw: Mapping[int, int]) -> Mapping[str, Signal | NoEstimate]:
        """Up, for every frame."""
        n = len(clip.frames)
        up = np.tile([0.0, -1.0, 0.0], (n, 1))
        own = Provenance(expert=self.name, version=self.version)
        return {
            "gravity": Gravity(
                frames=clip.frames, up_cam=up, sigma_rad=np.ones(n), decided_by=self.name, provenance=own
            )
        }


class PerImage(OneCall):
    """The same picture by picture, in batches."""

    name: ClassVar[str] = "per_image"
    batch_size = 8

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        return call_one(self, clip, signals)

    def infer(self, pictures: Sequence[Picture]) -> list[int]:
        """A batch takes as long as its pictures."""
        time.sleep(INFER_S * len(pictures))
        return [0] * len(pictures)


class SlowStore(Store):
    """Writes at the speed of the benchmark."""

    real_write = Store.write

    def write(self, clip_id: str, name: str, key: str, value: Signal | NoEstimate) -> None:
        """Files a signal."""
        if isinstance(value, Gravity):
            time.sleep(WRITE_S * len(value.frames))
        SlowStore.real_write(self, clip_id, name, key, value)


def wall_s(expert: OneCall, at_once: int, clips: int, pictures: int) -> float:
    """Seconds of a worker's task on fresh footage, without opening it."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        videos = Path(folder) / "videos"
        for clip in range(clips):
            (videos / f"{clip}").mkdir(parents=True)
            for picture in range(pictures):
                noise = rng.integers(0, 256, (36, 48, 3), dtype=np.uint8)
                Image.fromarray(noise).save(videos / f"{clip}" / f"{picture:03}.png")
        store = create_store(Path(folder) / "store")
        options = AnnotateOptions()
        opened = open_all(find(videos, options, Silent()), videos, store, options, Shard(), Silent())
        task = AnnotateClips(store_path=store.path, experts=[expert])
        started = time.perf_counter()
        for first in range(0, clips, at_once):
            outcomes = {clip.outcome for clip in task(opened[first : first + at_once])}
            assert outcomes == {"done"}, outcomes
        return time.perf_counter() - started


def main() -> None:
    """Prints one line per kind of expert and number of clips at once."""
    clips, pictures, runs = [*(int(word) for word in sys.argv[1:]), *(16, 24, 5)[len(sys.argv) - 1 :]]
    Store.write = SlowStore.write  # type: ignore[method-assign]
    units = clips * pictures
    all_s, model_s = (DECODE_S + INFER_S + WRITE_S) * units, INFER_S * units
    print(
        f"{clips} clips of {pictures} pictures: one step after the other {all_s:.2f} s, the model alone {model_s:.2f} s"
    )
    for words, expert in (("picture by picture", PerImage()), ("clip by clip", OneCall())):
        for at_once in (8, 1):
            seconds = median(wall_s(expert, at_once, clips, pictures) for _ in range(runs))
            ratios = f"{seconds / all_s:.2f} of one after the other, {seconds / model_s:.2f} of the model alone"
            print(f"{words}, {at_once} at once: {seconds:.2f} s, {ratios}", flush=True)


if __name__ == "__main__":
    main()
