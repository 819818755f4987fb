"""Decodes video files one frame at a time: upright, RGB, at full size.

A frame is identified by its rank in presentation order among the decodable frames, and found by its time stamp: seek to
the previous key frame, then decode up to the stamp. Counting frames after a seek, as OpenCV does, returns the wrong
frame at a variable frame rate.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from experts.clip import Picture
from experts.footage.decoding import DecodingError, check_unchanged
from experts.footage.limits import DEFAULT, Limits

MAX_SHARE_OUT_OF_ORDER = 0.01
"""Largest share of frames whose time stamps run backwards. A single one is common after edits; more make the stamps
useless."""


@dataclass(frozen=True, kw_only=True)
class VideoIndex:
    """Result of one pass over a video."""

    pts: Int64[np.ndarray, "n"]
    """Time stamp of every decodable frame, ascending, in `time_base`; without time stamps, the rank of the frame."""
    keyframes: Int64[np.ndarray, "k 2"]
    """(pts, dts) of every frame at which decoding can start, ascending."""
    time_base: tuple[int, int] | None
    """Seconds per tick as a fraction; None where the stream has no time stamps."""
    width_px: int
    """Upright width, in square pixels."""
    height_px: int
    """Upright height."""
    rotation_deg: int
    """Counter-clockwise rotation that makes the stored picture upright."""
    frames_indexed: int
    """Number of frames that the file announces."""
    frames_decoded: int
    """Number of frames that decode."""
    file_bytes: int
    """File size; a reader detects a changed file by it."""

    @property
    def truncated(self) -> bool:
        """Whether announced frames do not decode."""
        return self.frames_decoded < self.frames_indexed

    @property
    def times_s(self) -> Float64[np.ndarray, "n"] | None:
        """Seconds since the first frame; None without time stamps."""
        if self.time_base is None:
            return None
        numerator, denominator = self.time_base
        return np.asarray((self.pts - self.pts[0]) * numerator / denominator, dtype=np.float64)

    def reader(self, path: Path, start: int, stop: int) -> "VideoReader":
        """A reader of the frames `start` ≤ index < `stop`."""
        pts = self.pts[start:stop]
        first = max(0, int(np.searchsorted(self.keyframes[:, 0], pts[0], side="right")) - 1)
        last = int(np.searchsorted(self.keyframes[:, 0], pts[-1], side="right"))
        return VideoReader(
            path=path,
            first=start,
            pts=pts,
            keyframes=self.keyframes[first:last],
            timed=self.time_base is not None,
            width_px=self.width_px,
            height_px=self.height_px,
            rotation_deg=self.rotation_deg,
            file_bytes=self.file_bytes,
        )


def index_video(
    path: Path, see: Callable[[Picture], None], thumbnail_px: int = 64, limits: Limits = DEFAULT
) -> VideoIndex:
    """Decodes a video once from start to end, in constant memory.

    `see` receives a thumbnail of every frame in order (longer side `thumbnail_px`, as stored, not rotated). Raises
    `DecodingError` for a file without any frame, and for one beyond the limits, as soon as it is.
    """
    stamps: list[int] = []
    backwards, first = 0, None
    with _opened(path) as (container, stream):
        limits.check(path, pixels=stream.codec_context.width * stream.codec_context.height)
        stream.codec_context.options = {"max_pixels": str(limits.pixels)}  # sizes may change from frame to frame
        packets = _Packets(container, stream)
        for frame in packets.frames():
            if first is None:
                first, small = frame, _thumbnail_size(frame, thumbnail_px)
            stamp = len(stamps) if first.pts is None else frame.pts
            if stamp is None or (stamps and stamp <= stamps[-1]) or not _same_size(frame, first):
                backwards += 1
                continue
            stamps.append(stamp)
            past_s = 0.0 if frame.pts is None else float((stamp - stamps[0]) * (frame.time_base or 0))
            limits.check(path, frames=len(stamps), seconds=past_s)
            see(_rgb(frame, *small))
        aspect, base = float(stream.sample_aspect_ratio or 1), stream.time_base  # both end with the container
        announced = max(int(stream.frames) - packets.hidden, packets.shown)
    if first is None:
        raise DecodingError(path, "no frame can be decoded", "the file is damaged or not a video: copy it anew")
    if backwards > MAX_SHARE_OUT_OF_ORDER * len(stamps) + 1:
        cause = f"{backwards} of {backwards + len(stamps)} frames change size or have time stamps that run backwards"
        raise DecodingError(path, cause, "write the file anew (ffmpeg -i IN -c:v libx264 OUT.mp4)")
    width, height = _upright_size(first, aspect)
    return VideoIndex(
        pts=np.array(stamps, dtype=np.int64),
        keyframes=packets.starts(stamps[0]),
        time_base=None if first.pts is None else (base.numerator, base.denominator),
        width_px=width,
        height_px=height,
        rotation_deg=int(first.rotation),
        frames_indexed=announced,
        frames_decoded=len(stamps),
        file_bytes=path.stat().st_size,
    )


def probe_video(path: Path) -> None:
    """Raises `DecodingError` for a file that cannot be opened as a video. Decodes nothing."""
    with _opened(path):
        pass


@dataclass(frozen=True, kw_only=True)
class VideoReader:
    """Frames of one range of a video file. The file is open only during a `read`; the reader can be pickled."""

    path: Path
    """The video."""
    first: int
    """Index of the first frame of the range."""
    pts: Int64[np.ndarray, "n"]
    """Time stamp (or rank, see `timed`) of each frame of the range."""
    keyframes: Int64[np.ndarray, "k 2"]
    """(pts, dts) of the frames of the range at which decoding can start."""
    timed: bool
    """False: the stream has no time stamps; frames are counted from the start."""
    width_px: int
    """Upright width of the pictures from `read`."""
    height_px: int
    """Upright height."""
    rotation_deg: int
    """Counter-clockwise rotation that makes the stored picture upright."""
    file_bytes: int
    """File size; a changed size means a changed file."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """RGB pictures of ascending frame indices, upright, at full size. Raises `DecodingError`."""
        wanted = np.asarray(frames, dtype=np.int64) - self.first
        if wanted.size == 0:
            return
        if wanted[0] < 0 or wanted[-1] >= len(self.pts) or np.any(np.diff(wanted) <= 0):
            raise ValueError(f"frames must ascend within {self.first}..{self.first + len(self.pts) - 1}: {frames}")
        sideways = self.rotation_deg % 180 == 90
        size = (self.height_px, self.width_px) if sideways else (self.width_px, self.height_px)
        check_unchanged(self.path, self.file_bytes)
        with _opened(self.path) as (container, stream):
            for frame in self._frames(container, stream, [int(p) for p in self.pts[wanted]]):
                turns = round(self.rotation_deg / 90)
                yield np.ascontiguousarray(np.rot90(_rgb(frame, *size), turns))

    def _frames(self, container: Any, stream: Any, wanted: list[int]) -> Iterator[Any]:
        decoded: Iterator[tuple[int, Any]] = iter(())
        at: int | None = None
        for pts in wanted:
            start = self._start_before(pts)
            if at is None or start > at + 1:  # the next group of pictures is reached faster by decoding on
                decoded = self._decode_from(container, stream, start)
            at = start
            frame = _at(pts, decoded)
            while frame is None and start >= 0:  # the seek landed behind the frame: start earlier, finally at the top
                start -= 1
                decoded = self._decode_from(container, stream, start)
                frame = _at(pts, decoded)
            if frame is None:
                raise DecodingError(self.path, f"the frame with time stamp {pts} is gone", "was the file changed?")
            yield frame

    def _start_before(self, pts: int) -> int:
        """Row of `keyframes` to start from; -1 for the start of the file."""
        return int(np.searchsorted(self.keyframes[:, 0], pts, side="right")) - 1 if self.timed else -1

    def _decode_from(self, container: Any, stream: Any, start: int) -> Iterator[tuple[int, Any]]:
        if start >= 0:
            container.seek(int(self.keyframes[start, 1]), stream=stream, backward=True)
        elif self.timed:
            container.seek(stream.start_time or 0, stream=stream, backward=True)
        for rank, frame in enumerate(_Packets(container, stream).frames()):
            pts = frame.pts if self.timed else rank
            if pts is not None:
                yield pts, frame


def _at(pts: int, decoded: Iterator[tuple[int, Any]]) -> Any | None:
    """The frame with this time stamp; None once a later one appears."""
    stamp, frame = next(((stamp, frame) for stamp, frame in decoded if stamp >= pts), (None, None))
    return frame if stamp == pts else None


@dataclass
class _Packets:
    """Demultiplexes and decodes up to the end, or to the point where the file breaks off, and counts frames."""

    container: Any
    stream: Any
    shown: int = 0
    hidden: int = 0  # packets that an edit list removes
    keyframes: list[tuple[int, int]] = field(default_factory=list)

    def frames(self) -> Iterator[Any]:
        import av

        try:
            for packet in self.container.demux(self.stream):
                self._count(packet)
                try:
                    yield from packet.decode()
                except av.FFmpegError:
                    continue  # one damaged packet: the frames around it may still decode
        except av.FFmpegError:
            return  # the file breaks off here

    def _count(self, packet: Any) -> None:
        if packet.is_discard:
            self.hidden += 1
        elif packet.size:
            self.shown += 1
            if packet.is_keyframe and packet.pts is not None:
                self.keyframes.append((packet.pts, packet.pts if packet.dts is None else packet.dts))

    def starts(self, first_pts: int) -> Int64[np.ndarray, "k 2"]:
        """Key frames by time stamp; a stream without any starts at its first frame."""
        rows = sorted(set(self.keyframes)) or [(first_pts, first_pts)]
        return np.array(rows, dtype=np.int64)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Any, Any]]:
    import av

    try:
        container = av.open(str(path), metadata_errors="replace")
    except (av.FFmpegError, OSError) as error:
        empty = path.exists() and path.stat().st_size == 0
        cause = "the file is empty" if empty else f"no video can be read from it ({error.strerror})"
        raise DecodingError(path, cause, "copy or export it anew") from error
    with container:
        covers = av.stream.Disposition.attached_pic
        stream = next((s for s in container.streams.video if not s.disposition & covers), None)
        if stream is None:
            raise DecodingError(path, "it holds no video stream", "remove it")
        stream.thread_type = "NONE"  # one thread per worker: clips run in parallel
        yield container, stream


def _thumbnail_size(frame: Any, side_px: int) -> tuple[int, int]:
    factor = side_px / max(frame.width, frame.height)
    return max(2, round(frame.width * factor)), max(2, round(frame.height * factor))


def _same_size(frame: Any, first: Any) -> bool:
    return (frame.width, frame.height) == (first.width, first.height)


def _rgb(frame: Any, width: int, height: int) -> Picture:
    shrink = (width, height) != (frame.width, frame.height)
    picture = frame.reformat(
        width=width, height=height, format="rgb24", interpolation="AREA" if shrink else None, threads=1
    )
    return np.asarray(picture.to_ndarray(), dtype=np.uint8)


def _upright_size(frame: Any, pixel_aspect: float) -> tuple[int, int]:
    """Size in square pixels after rotation."""
    width = round(frame.width * pixel_aspect)
    return (frame.height, width) if frame.rotation % 180 == 90 else (width, frame.height)
