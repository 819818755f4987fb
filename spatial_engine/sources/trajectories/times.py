"""Times of poses: from the file itself, from a file of times, or from a rate."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64

from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories.text_rows import read_rows
from spatial_engine.sources.trajectories.trajectory import WrittenPoses


def with_times(
    path: Path, written: WrittenPoses, *, fps: float | None, times: Path | None, drop_duplicates: bool
) -> tuple[WrittenPoses, bool]:
    """The poses of `path`, each with a time, and whether these times are known. Raises `UsageError`."""
    options = [option for option, value in (("--fps", fps), ("--times", times)) if value is not None]
    if written.times_s is not None and options:
        raise UsageError(f"{' and '.join(options)}: {path} has its own time stamps", f"leave out {options[0]}")
    if len(options) > 1:
        raise UsageError("both --fps and --times", "give one of them")
    count = len(written.places)
    file, places, times_s = path, written.places, written.times_s
    if times is not None:
        rows = read_rows(times, "a file of times", range(1, 2))
        if len(rows.lines) != count:
            raise UsageError(f"{times} has {len(rows.lines)} times for {count} poses", "give one time for each pose")
        file, places, times_s = times, rows.places, rows.values[:, 0]
    if times_s is None:
        if fps is not None and not 0 < fps < 1e6:
            raise UsageError(f"--fps {fps:g}", "give poses per second, above 0")
        return replace(written, times_s=np.arange(count) / (fps or 1.0)), fps is not None
    _check_times(file, times_s, places, allow_duplicates=drop_duplicates)
    return _first_of_each_time(replace(written, times_s=times_s), places), True


def _check_times(file: Path, times_s: Float64[np.ndarray, "n"], places: Sequence[str], allow_duplicates: bool) -> None:
    """Raises `UsageError` if a time decreases, or repeats although `allow_duplicates` is off."""
    steps_s = np.diff(times_s)
    earlier, equal = np.flatnonzero(steps_s < 0), np.flatnonzero(steps_s == 0)
    if len(earlier):
        row = int(earlier[0])
        raise UsageError(
            f"{file}, {places[row + 1]}: {times_s[row + 1]} s, earlier than {places[row]} with {times_s[row]} s"
            f"{_in_all(earlier)}",
            "sort the poses by time; if the camera started anew there, split the file into two paths",
        )
    if len(equal) and not allow_duplicates:
        row = int(equal[0])
        raise UsageError(
            f"{file}, {places[row + 1]}: the same time as {places[row]}, {times_s[row]} s{_in_all(equal)}",
            "spatial-engine actions --drop-duplicates keeps the first pose of each time",
        )


def _in_all(rows: Int64[np.ndarray, "k"]) -> str:
    return f" ({len(rows)} such lines)" if len(rows) > 1 else ""


def _first_of_each_time(written: WrittenPoses, places: Sequence[str]) -> WrittenPoses:
    """The poses without those that repeat the time of the pose before; a note counts these."""
    assert written.times_s is not None
    kept = np.append(True, np.diff(written.times_s) > 0)
    dropped = len(kept) - int(kept.sum())
    if not dropped:
        return written
    first = places[int(np.argmin(kept))]
    note = (
        f"{dropped} of {len(kept)} poses are dropped, the first at {first}: they repeat the time of the pose before. "
        "Pose numbers count the remaining poses"
    )
    return WrittenPoses(
        matrices=written.matrices[kept],
        places=tuple(compress(written.places, kept)),
        times_s=written.times_s[kept],
        focal_px=None if written.focal_px is None else written.focal_px[kept],
        names=tuple(compress(written.names, kept)) if written.names else (),
        notes=(*written.notes, note),
    )
