"""What every worker is doing right now: which expert, on which clip, how many frames it has read."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.context import get_spawning_popen
from typing import Any, NamedTuple

from experts.clip import Clip, FrameReader, Picture
from spatial_engine.annotation.executor import worker_number

_FIELDS = 3


class Stage(NamedTuple):
    """An expert at work on a clip."""

    clip_id: str
    expert: int
    """Its place among the experts of the run."""
    frames_read: int
    """Frames read since it began; more than the clip has if frames are read twice."""


class Stages:
    """A row of numbers per worker in memory that all processes share. There is no lock: a worker that is killed cannot
    hold one, and a row that is read half-written shows a wrong frame for a moment."""

    def __init__(self, workers: int = 0, watch: Callable[[], None] | None = None) -> None:
        """`watch` is called at every change, in the process that changes it: for runs without workers."""
        self._rows = multiprocessing.get_context("spawn").RawArray("Q", _FIELDS * max(1, workers))
        self._watch = watch

    def begin(self, clip_id: str, expert: int) -> None:
        """This process starts an expert on a clip."""
        self._write(int(clip_id, 16), expert + 1, 0)

    def end(self) -> None:
        """This process has finished its current clips."""
        self._write(0, 0, 0)

    def now(self) -> list[Stage]:
        """What is being done."""
        rows = [self._rows[k : k + _FIELDS] for k in range(0, len(self._rows), _FIELDS)]
        return [Stage(f"{clip:016x}", expert - 1, frames) for clip, expert, frames in rows if expert]

    def counted(self, clip: Clip, expert: int) -> Clip:
        """The clip, whose frames are counted as they are read."""
        return replace(clip, reader=_CountingReader(clip.reader, self, int(clip.id, 16), expert + 1))

    def read_one(self, clip: int, expert: int) -> None:
        """This process has read one more frame."""
        first = self._first()
        same = tuple(self._rows[first : first + 2]) == (clip, expert)
        self._write(clip, expert, self._rows[first + 2] + 1 if same else 1)

    def _first(self) -> int:
        return _FIELDS * worker_number() % len(self._rows)

    def _write(self, *row: int) -> None:
        first = self._first()
        self._rows[first : first + _FIELDS] = list(row)
        if self._watch is not None:
            self._watch()

    def __getstate__(self) -> dict[str, Any]:
        shared = get_spawning_popen() is not None  # else it goes to another machine, where nobody reads the rows
        return {"_rows": self._rows if shared else list(self._rows), "_watch": None}  # who made it watches


@dataclass(frozen=True)
class _CountingReader:
    reader: FrameReader
    stages: Stages
    clip: int
    expert: int

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for picture in self.reader.read(frames):
            self.stages.read_one(self.clip, self.expert)
            yield picture
