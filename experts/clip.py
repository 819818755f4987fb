"""One shot of a video: its metadata, and its frames on demand. `experts.footage` decodes them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float64, Int64, UInt8

from experts.intrinsics import Intrinsics

Picture = UInt8[np.ndarray, "h w 3"]
GreyPicture = UInt8[np.ndarray, "h w"]


@dataclass(frozen=True, kw_only=True)
class StatedDetections:
    """A file of the user's own detections, and the source whose frames it describes."""

    path: str = field(compare=False)
    """A file, or a folder with a file per picture. Not part of any key."""
    sha256: str
    """Of its contents."""
    frames: int
    """Number of frames of the source."""
    width_px: int
    """Upright width of the source's frames, before any crop."""
    height_px: int
    crop: tuple[int, int, int, int]
    """Left, top, width, height of the clip's frames in those of the source."""
    pictures: tuple[str, ...] = ()
    """Name of each picture; none for a video."""
    video: str = ""
    """Name of the video without its ending."""
    complete: tuple[str, ...] = ()
    """Names of which every object in these frames is listed; "*": every name."""


@dataclass(frozen=True, kw_only=True)
class OpeningOptions:
    """What the user states about a clip, and sizes of processing. An expert's cache key holds only options that it
    declares."""

    max_side_px: int = 960
    """Longest side of the working frames that experts analyse."""
    max_keyframes: int = 60
    """Largest number of frames in the joint camera estimate (bundle adjustment)."""
    intrinsics: Intrinsics | None = None
    """The user's calibration, kept fixed. None: the focal length is estimated where the footage allows it."""
    upright: bool = False
    """The user states that roll and pitch of most frames are within 45°. This decides which vertical direction is
    up."""
    detections: StatedDetections | None = None
    """The user's own detections of objects."""


@runtime_checkable
class FrameReader(Protocol):
    """Decodes frames of one source in presentation order. It is lazy: memory is constant in the length of the clip."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """RGB pictures of ascending frame indices at full size, after the file's rotation flag. Raises
        `DecodingError`."""
        ...


@dataclass(frozen=True, kw_only=True)
class Clip:
    """One shot: no cut inside, one camera, at most one minute."""

    id: str
    """First 16 hex digits of the sha256 of the source's bytes (in frame order) and of the frame range."""
    name: str
    """The name that the user sees: file or folder name of the source, plus the shot where there are several."""
    frames: Int64[np.ndarray, "n"]
    """Frame indices in presentation order of the source, ascending."""
    times_s: Float64[np.ndarray, "n"] | None
    """Time stamps. None where no clock is known (an image folder without `--fps`)."""
    width_px: int
    """Upright width at full size."""
    height_px: int
    """Upright height at full size."""
    rotation_deg: int = 0
    """Rotation that the decoder applied: the rotation flag of the file."""
    licence: str = "unknown"
    """Licence of the footage as stated by the user, else "unknown"."""
    options: OpeningOptions = field(default_factory=OpeningOptions)
    reader: FrameReader = field(repr=False, compare=False)

    def read(self, frames: Sequence[int] | None = None) -> Iterator[tuple[int, Picture]]:
        """(frame index, RGB upright full-size picture) for `frames`, default all, ascending."""
        wanted = [int(f) for f in (self.frames if frames is None else frames)]
        yield from zip(wanted, self.reader.read(wanted), strict=True)

    @property
    def working_size(self) -> tuple[int, int]:
        """(width, height) in pixels of the working frames: longer side ≤ `options.max_side_px`."""
        factor = min(1.0, self.options.max_side_px / max(self.width_px, self.height_px))
        return max(2, round(self.width_px * factor)), max(2, round(self.height_px * factor))

    def read_grey(self, frames: Sequence[int] | None = None) -> Iterator[tuple[int, GreyPicture]]:
        """(frame index, grey picture at working size), ascending."""
        import cv2

        for frame, rgb in self.read(frames):
            grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
            if (grey.shape[1], grey.shape[0]) != self.working_size:
                grey = cv2.resize(grey, self.working_size, interpolation=cv2.INTER_AREA)
            yield frame, np.asarray(grey, dtype=np.uint8)

    def full_from_working(self, xy: Float64[np.ndarray, "*n 2"]) -> Float64[np.ndarray, "*n 2"]:
        """Converts working-size pixels to full-size pixels. Pixel centres are at integers in both."""
        w, h = self.working_size
        return (np.asarray(xy, dtype=np.float64) + 0.5) * [self.width_px / w, self.height_px / h] - 0.5

    def working_from_full(self, xy: Float64[np.ndarray, "*n 2"]) -> Float64[np.ndarray, "*n 2"]:
        """The inverse of `full_from_working`."""
        w, h = self.working_size
        return (np.asarray(xy, dtype=np.float64) + 0.5) * [w / self.width_px, h / self.height_px] - 0.5

    def time_s(self, frame: int) -> float | None:
        """Time stamp of a frame of this clip; None without a clock."""
        if self.times_s is None:
            return None
        return float(self.times_s[self.frames.searchsorted(frame)])

    def with_options(self, **changes: object) -> "Clip":
        """The same clip with other opening options."""
        return replace(self, options=replace(self.options, **changes))  # type: ignore[arg-type]
