"""How much footage may ask of the machine that opens it: a file of a few kilobytes can announce billions of pixels."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experts.footage.decoding import DecodingError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest footage that is opened."""

    pixels: int = 89_000_000
    """Of one frame: 267 MB as RGB, and where Pillow begins to warn. A frame of 8K video has 33 million."""
    frames: int = 1_000_000
    """Of one file or folder: nine hours at 30 a second."""
    seconds: float = 86_400.0
    """Between the first and the last time stamp."""

    def check(self, path: Path, *, pixels: int = 0, frames: int = 0, seconds: float = 0.0) -> None:
        """Raises `DecodingError` for footage beyond the limits."""
        if pixels > self.pixels:
            raise _beyond(path, f"{pixels} pixels a frame", self.pixels, "--max-pixels")
        if frames > self.frames:
            raise _beyond(path, f"more than {self.frames} frames", self.frames, "--max-frames")
        if seconds > self.seconds:
            raise _beyond(path, f"time stamps over {seconds:.0f} seconds", self.seconds, "--max-duration")


DEFAULT = Limits()


def _beyond(path: Path, what: str, limit: float, option: str) -> "DecodingError":
    from experts.footage.decoding import DecodingError  # heavier than the help of the command line

    return DecodingError(path, f"it has {what}; at most {limit} are opened", f"if you trust it, raise {option}")
