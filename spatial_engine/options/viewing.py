"""The options of `view`."""

from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked


@dataclass(frozen=True, kw_only=True)
class ViewOptions(Checked):
    """How much of a clip its recording holds. Raises `UsageError`."""

    every: Annotated[
        int | None, Doc("Show the picture of every n-th frame; by default, n is chosen for at most 120 pictures.")
    ] = None
    picture_side: Annotated[int, Doc("Longest side of the pictures and masks, in pixels.")] = 640
    points: Annotated[int, Doc("Largest number of sparse points, and of depth points per frame.")] = 10_000
    tracks: Annotated[int, Doc("Largest number of tracks.")] = 500

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.every is not None and self.every < 1:
            raise UsageError(f"--every {self.every}", "give at least 1")
        if not 32 <= self.picture_side <= 8192:
            raise UsageError(f"--picture-side {self.picture_side}", "give 32 to 8192 pixels")
        for name in ("points", "tracks"):
            if getattr(self, name) < 0:
                raise UsageError(f"--{name} {getattr(self, name)}", "give at least 0")
