"""Pieces of footage on the user's disk, before they are opened."""

from dataclasses import dataclass, field
from pathlib import Path

from spatial_engine.errors import SpatialEngineError


class ClipError(SpatialEngineError):
    """This footage gives no clip. A batch continues with other footage."""


@dataclass(frozen=True, kw_only=True)
class VideoFile:
    """A video; it may hold several shots."""

    path: Path
    """The file."""
    name: str
    """Path below the folder that the user named, with forward slashes."""
    state: str = field(default="", compare=False)
    """`state_of` its file when it was found."""

    @property
    def place(self) -> str:
        """Where it lies: absolute, and different for every piece of footage."""
        return str(self.path.absolute())


@dataclass(frozen=True, kw_only=True)
class ImageFolder:
    """Images of one folder that belong together: one size, one mode, one name pattern."""

    paths: tuple[Path, ...]
    """At least two files, in natural order of their names: the frame order."""
    name: str
    """Path of the folder below the one that the user named; with the pattern where the folder holds several."""
    width_px: int
    """Upright width of every image."""
    height_px: int
    """Upright height of every image."""
    state: str = field(default="", compare=False)
    """`state_of` its files when they were found."""

    @property
    def place(self) -> str:
        """Where it lies: absolute, and different for every piece of footage (it names the first image)."""
        return str(self.paths[0].absolute())


Footage = VideoFile | ImageFolder


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """Something that was not taken, and why."""

    path: Path
    """File or folder."""
    reason: str
    """Short and countable."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """What lies below a path."""

    taken: tuple[Footage, ...]
    """Footage to open, in natural order."""
    skipped: tuple[Skipped, ...]
    """Every other file and unreadable folder."""
