"""Where the time of a run goes, function by function, in its process and its workers."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from cProfile import Profile
from functools import cache
from pathlib import Path
from pstats import Stats
from tempfile import TemporaryDirectory

from spatial_engine.atomic_file import atomic_file

_FOLDER = "SPATIAL_ENGINE_PROFILES"
"""Environment variable: where the workers of this run write their profiles."""


@contextmanager
def profiled(path: Path | None) -> Iterator[None]:
    """Writes the profile of the block to a file, joined with those of the workers that it starts; None: does nothing.
    What runs in other threads and on other machines is not seen."""
    if path is None:
        yield
        return
    profile = Profile()
    with TemporaryDirectory() as folder:
        os.environ[_FOLDER] = folder
        try:
            with profile:
                yield
        finally:
            del os.environ[_FOLDER]
            with atomic_file(path) as temporary:
                Stats(profile, *map(str, Path(folder).iterdir())).dump_stats(temporary)


@contextmanager
def profiled_in_worker() -> Iterator[None]:
    """Adds the block to the profile of this worker process, if the run is profiled."""
    folder = os.environ.get(_FOLDER)
    if folder is None:
        yield
        return
    profile = _of_this_process()
    with profile:
        yield
    profile.dump_stats(Path(folder) / f"{os.getpid()}.prof")


@cache
def _of_this_process() -> Profile:
    return Profile()
