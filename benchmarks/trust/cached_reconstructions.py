"""A cache of reconstructions and of what is derived from them: most gates do not change them, and they take most of the
time."""

import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from experts.clip import Clip
from experts.mapping import colmap, reconstruction_checks
from experts.mapping import two_reconstructions as two_reconstructions
from experts.mapping.colmap_features import FeatureSettings
from experts.mapping.colmap_mapping import SparseReconstruction

_DERIVED: tuple[tuple[ModuleType, str], ...] = (
    (colmap, "pair_geometries"),
    (colmap, "register_frames"),
    (colmap, "observations_between"),
    (colmap, "camera_effect"),
    (reconstruction_checks, "focal_change"),
    (two_reconstructions, "focal_spread"),
)
"""Functions of reconstructions and matches that take seconds, and where they are called."""


@dataclass(frozen=True)
class Cache:
    """Databases, reconstructions and what is derived from them, by their inputs."""

    databases: dict[object, bytes] = field(default_factory=dict)
    """Files with the features and matches of keyframes."""
    reconstructions: dict[object, SparseReconstruction | None] = field(default_factory=dict)
    derived: dict[object, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Start:
    """How the database of a reconstruction is written from another one."""

    write: Callable[..., None]
    source: Path
    how: tuple[Any, ...]


@contextmanager
def cached_reconstructions(cache: Cache) -> Iterator[None]:
    """Within this context the COLMAP expert takes from `cache` what it contains, and adds the rest."""
    describe, make = colmap.build_database, two_reconstructions.reconstruct
    starts: dict[Path, _Start] = {}

    def described(folder: Path, clip: Clip, frames: np.ndarray, valid: np.ndarray, how: FeatureSettings) -> Path:
        key = (clip.id, clip.working_size, frames.tobytes(), valid.tobytes(), how)
        path = folder / "matches.db"
        if key in cache.databases:
            path.write_bytes(cache.databases[key])
        else:
            path = describe(folder, clip, frames, valid, how)
            cache.databases[key] = path.read_bytes()
        return path

    def later(write: Callable[..., None]) -> Callable[..., None]:
        def keep(source: Path, target: Path, *how: Any) -> None:
            starts[target] = _Start(write=write, source=source, how=how)

        return keep

    def key_of(database: Path) -> object:
        start = starts.get(database)
        if start is None:
            return hashlib.sha256(database.read_bytes()).hexdigest()
        return (key_of(start.source), start.write.__name__, start.how)

    def written(database: Path) -> Path:
        if (start := starts.get(database)) is not None and not database.exists():
            start.write(written(start.source), database, *start.how)
        return database

    def once(verified: Path, folder: Path, fixed: bool, seed: int) -> SparseReconstruction | None:
        key = (key_of(verified), fixed, seed)
        if key not in cache.reconstructions:
            cache.reconstructions[key] = make(written(verified), folder, fixed, seed)
        return cache.reconstructions[key]

    verify, copy = (later(write) for write in (two_reconstructions.verified_copy, two_reconstructions.copy_with_camera))
    with (
        patch.object(colmap, "build_database", described),
        patch.multiple(two_reconstructions, verified_copy=verify, copy_with_camera=copy, reconstruct=once),
        ExitStack() as derived,
    ):
        for module, name in _DERIVED:
            derived.enter_context(patch.object(module, name, _once(getattr(module, name), cache.derived)))
        yield


def _once(function: Callable[..., Any], results: dict[object, Any]) -> Callable[..., Any]:
    """The function, which is called once with the same arguments."""

    def once(*given: Any, **named: Any) -> Any:
        parts = [each.id if isinstance(each, Clip) else pickle.dumps(each) for each in (*given, *named.items())]
        key = (function.__name__, *parts)
        if key not in results:
            results[key] = function(*given, **named)
        return results[key]

    return once
