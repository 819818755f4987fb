"""A cache of reconstructions: most gates do not change them, and they take most of the time."""

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
class Cache:
    """Databases and reconstructions, by their inputs."""

    databases: dict[object, bytes] = field(default_factory=dict)
    """Files with the features and matches of keyframes."""
    reconstructions: dict[object, SparseReconstruction | None] = field(default_factory=dict)


@contextmanager
def cached_reconstructions(cache: Cache) -> Iterator[None]:
    """Within this context the COLMAP expert takes from `cache` what it contains, and adds the rest."""
    describe, verify, make = colmap.build_database, two_reconstructions.verified_copy, two_reconstructions.reconstruct
    starts: dict[Path, tuple[Path, Intrinsics, bool, int]] = {}

    def described(folder: Path, clip: Clip, frames: np.ndarray, valid: np.ndarray, how: FeatureSettings) -> Path:
        key = (clip.id, clip.working_size, frames.tobytes(), valid.tobytes(), how)
        path = folder / "matches.db"
        if key in cache.databases:
            path.write_bytes(cache.databases[key])
        else:
            path = describe(folder, clip, frames, valid, how)
            cache.databases[key] = path.read_bytes()
        return path

    def later(database: Path, target: Path, camera: Intrinsics, fixed: bool, seed: int) -> None:
        starts[target] = (database, camera, fixed, seed)

    def once(verified: Path, folder: Path, fixed: bool, seed: int) -> SparseReconstruction | None:
        database, camera, *rest = starts[verified]
        key = (hashlib.sha256(database.read_bytes()).hexdigest(), camera, *rest)
        if key not in cache.reconstructions:
            verify(database, verified, camera, *rest)
            cache.reconstructions[key] = make(verified, folder, fixed, seed)
        return cache.reconstructions[key]

    with (
        patch.object(colmap, "build_database", described),
        patch.multiple(two_reconstructions, verified_copy=later, reconstruct=once),
    ):
        yield
