"""Seconds of the COLMAP expert beside those of bare calls that give the same two reconstructions, on rendered rooms.

    python -m benchmarks.colmap [ROOMS]

Bare: the same features and matches, and for each of two initial focal lengths COLMAP's geometric verification and
global mapper, with the same options. The rest of the expert are its checks: bundle adjustments with other cameras,
reconstructions with other focal lengths, σ. CPU seconds of one thread, without decoding.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from experts.clip import Clip, Picture
from experts.intrinsics import Intrinsics
from experts.mapping.colmap import ColmapExpert, ColmapSettings
from experts.mapping.colmap_features import build_database, verified_copy
from experts.mapping.colmap_mapping import mapped
from experts.mapping.keyframes import choose_keyframes
from experts.signals import CameraPath, ImageTracks, Signals
from experts.tracking.klt import KltExpert
from spatial_engine.rendering import as_clip, camera_paths
from spatial_engine.rendering.rooms import random_room

FRAMES, WIDTH_PX, HEIGHT_PX = 60, 640, 480


@dataclass(frozen=True)
class Drawn:
    """Pictures in memory."""

    pictures: Sequence[Picture]

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """By index."""
        yield from (self.pictures[frame] for frame in frames)


def walk(seed: int) -> Clip:
    """A walk through a rendered room."""
    rng = np.random.default_rng(seed)
    path = partial(camera_paths.walk, turn_rad=0.8)
    clip = as_clip(random_room(rng, frames=FRAMES, width_px=WIDTH_PX, height_px=HEIGHT_PX, path=path))
    return replace(clip, reader=Drawn([picture for _, picture in clip.read()]))


def expert_s(clip: Clip, signals: Signals) -> tuple[float, bool]:
    """CPU seconds of the expert, and whether it found a path."""
    began = time.process_time()
    found = ColmapExpert()(clip, signals)
    return time.process_time() - began, isinstance(found["camera_path"], CameraPath)


def bare_s(clip: Clip, tracks: ImageTracks) -> float:
    """CPU seconds of the calls alone."""
    settings, (width, height) = ColmapSettings(), clip.working_size
    xy_px = clip.working_from_full(tracks.xy_px.astype(np.float64)).astype(np.float32)
    keyframes = choose_keyframes(xy_px, float(np.hypot(width, height)), clip.options.max_keyframes, settings.keyframes)
    with tempfile.TemporaryDirectory() as folder:
        began, everywhere = time.process_time(), np.ones((height, width), dtype=bool)
        database = build_database(Path(folder), clip, clip.frames[keyframes], everywhere, settings.features)
        for seed, share in enumerate(settings.focal.start_shares):
            camera = Intrinsics.centred(width, height, share * max(width, height))
            verified = Path(folder) / f"{seed}.db"
            verified_copy(database, verified, camera, fixed=False, seed=seed)
            mapped(verified, Path(folder) / f"{seed}", fixed=False, seed=seed)
        return time.process_time() - began


def main() -> None:
    """A line per room, and the ratio of the sums."""
    rooms = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    expert = bare = 0.0
    for seed in range(rooms):
        clip = walk(seed)
        signals = KltExpert()(clip, {})
        tracks = signals["image_tracks"]
        assert isinstance(tracks, ImageTracks)
        ours, found = expert_s(clip, signals)
        theirs = bare_s(clip, tracks)
        expert, bare = expert + ours, bare + theirs
        outcome = "a path" if found else "no path"
        print(f"room {seed}, {outcome}: {ours:.1f} s, bare {theirs:.1f} s: {ours / theirs:.2f}", flush=True)
    print(f"{rooms * FRAMES} frames: {expert / rooms / FRAMES:.3f} s a frame, {expert / bare:.2f} times bare calls")


if __name__ == "__main__":
    main()
