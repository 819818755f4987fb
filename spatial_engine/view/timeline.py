"""The time lines of a recording: the frame, and the seconds of the clip where it has a clock."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import rerun as rr
from jaxtyping import Int64

from experts.clip import Clip


class Timeline:
    """Writes entities of a clip: for good, at one frame, or one value for each of many frames."""

    NAMES: ClassVar[tuple[str, str]] = ("frame", "seconds")

    def __init__(self, stream: rr.RecordingStream, clip: Clip) -> None:
        self._stream, self._clip = stream, clip

    def at(self, frame: int) -> None:
        """What is written by `log` from now on belongs to this frame."""
        self._stream.set_time("frame", sequence=frame)
        if (time_s := self._clip.time_s(frame)) is not None:
            self._stream.set_time("seconds", duration=time_s)

    def log(self, entity: str, *parts: Any) -> None:
        """Writes an entity at the present frame."""
        self._stream.log(entity, *parts)

    def fixed(self, entity: str, *parts: Any) -> None:
        """Writes an entity for the whole clip."""
        if parts:
            self._stream.log(entity, *parts, static=True)

    def columns(self, entity: str, frames: Int64[np.ndarray, "n"], columns: Iterable[Any]) -> None:
        """Writes one value of each column for each frame."""
        if not len(frames):
            return
        indexes = [rr.TimeColumn("frame", sequence=frames)]
        if self._clip.times_s is not None:
            times = self._clip.times_s[self._clip.frames.searchsorted(frames)]
            indexes.append(rr.TimeColumn("seconds", duration=times))
        self._stream.send_columns(entity, indexes=indexes, columns=columns)
