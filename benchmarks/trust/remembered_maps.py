"""Maps that are made once: a gate after mapping does not change the map, and mapping is what takes the time."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.mapping import colmap
from experts.mapping import two_reconstructions as two_reconstructions
from experts.mapping.colmap_features import FeatureSettings
from experts.mapping.colmap_mapping import SparseReconstruction


@dataclass(frozen=True)
class Memory:
    """What was made, by all that it was made of."""

    databases: dict[object, bytes] = field(default_factory=dict)
    """Described and matched keyframes."""
    maps: dict[object, SparseReconstruction | None] = field(default_factory=dict)


@contextmanager
def remembered(memory: Memory) -> Iterator[None]:
    """While inside, what `memory` holds is not made again."""
    describe, verify, make = colmap.build_database, two_reconstructions.verified_copy, two_reconstructions.map_globally
    starts: dict[Path, tuple[Path, Intrinsics, bool, int]] = {}

    def described(folder: Path, clip: Clip, frames: np.ndarray, valid: np.ndarray | None, how: FeatureSettings) -> Path:
        key = (clip.id, clip.working_size, frames.tobytes(), None if valid is None else valid.tobytes(), how)
        path = folder / "matches.db"
        if key in memory.databases:
            path.write_bytes(memory.databases[key])
        else:
            path = describe(folder, clip, frames, valid, how)
            memory.databases[key] = path.read_bytes()
        return path

    def later(database: Path, target: Path, camera: Intrinsics, fixed: bool, seed: int) -> None:
        starts[target] = (database, camera, fixed, seed)

    def once(verified: Path, folder: Path, fixed: bool, seed: int) -> SparseReconstruction | None:
        database, camera, *rest = starts[verified]
        key = (hashlib.sha256(database.read_bytes()).hexdigest(), camera, *rest)
        if key not in memory.maps:
            verify(database, verified, camera, *rest)
            memory.maps[key] = make(verified, folder, fixed, seed)
        return memory.maps[key]

    with (
        patch.object(colmap, "build_database", described),
        patch.multiple(two_reconstructions, verified_copy=later, map_globally=once),
    ):
        yield
