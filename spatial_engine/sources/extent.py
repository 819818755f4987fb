"""Amount of footage, from the metadata of files: nothing is decoded, so shots are unknown."""

import math
from dataclasses import dataclass

from experts.footage.shots import ShotSettings
from spatial_engine.options import OpenOptions
from spatial_engine.sources.footage import Footage, VideoFile


@dataclass(frozen=True, kw_only=True)
class Extent:
    """Expected size of one piece of footage after --start, --end and --fps."""

    frames: int
    seconds: float | None
    """None where nothing gives a clock."""

    @property
    def clips(self) -> int:
        """At least so many: a clip lasts a minute at most, and a cut begins another."""
        settings = ShotSettings()
        length = self.frames / settings.window_frames if self.seconds is None else self.seconds / settings.window_s
        return max(1, math.ceil(length))


def extent(footage: Footage, options: OpenOptions) -> Extent:
    """The expected size of footage; no frames where a video's header says nothing."""
    if isinstance(footage, VideoFile):
        frames, seconds = _announced(footage)
    else:
        frames = len(footage.paths)
        seconds = None if options.fps is None else frames / options.fps
    if seconds is None or not frames:
        return Extent(frames=frames, seconds=seconds)
    kept_s = max(0.0, min(options.end or seconds, seconds) - (options.start or 0.0))
    rate = frames / seconds if options.fps is None else min(frames / seconds, options.fps)
    return Extent(frames=round(kept_s * rate), seconds=kept_s)


def _announced(video: VideoFile) -> tuple[int, float | None]:
    """Frames and seconds as the header states them."""
    import av

    try:
        with av.open(str(video.path), metadata_errors="replace") as container:
            stream = container.streams.video[0]
            seconds = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else None
            if seconds is None and container.duration:
                seconds = container.duration / av.time_base
            rate = float(stream.average_rate) if stream.average_rate else 0.0
            return stream.frames or round((seconds or 0.0) * rate), seconds or None
    except (av.FFmpegError, OSError, IndexError):
        return 0, None
