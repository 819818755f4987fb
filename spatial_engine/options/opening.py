"""How footage becomes clips."""

import math
from dataclasses import dataclass
from typing import Annotated

from annotated_doc import Doc

from experts.footage.limits import DEFAULT
from spatial_engine.errors import UsageError
from spatial_engine.options.checked import Checked, StrPath

MIN_SIDE_PX = 32
"""Below this nothing can be measured: the smallest window of a tracker is 21 px."""


@dataclass(frozen=True, kw_only=True)
class OpenOptions(Checked):
    """How footage becomes clips. Raises `UsageError` for values that no footage can have."""

    images: Annotated[
        str | None, Doc("Which images of a folder are its frames: a pattern of names, such as *.jpg or cam0/*.")
    ] = None
    fps: Annotated[
        float | None,
        Doc("Frames per second of image folders, which have no timestamps; videos are subsampled to this rate."),
    ] = None
    start: Annotated[float | None, Doc("Leave out the footage before this time, in seconds.")] = None
    end: Annotated[float | None, Doc("Leave out the footage from this time on, in seconds.")] = None
    clips: Annotated[
        StrPath | None,
        Doc("YAML file with options per clip (docs/clips.md); by default clips.yaml beside the footage."),
    ] = None
    crop: Annotated[
        tuple[int, int, int, int] | None,
        Doc(
            "Keep this rectangle of every frame: left, top, width and height in pixels of the upright full-size frame. "
            "Intrinsics are those of the whole frame: they are shifted with the crop."
        ),
    ] = None
    intrinsics: Annotated[
        tuple[float, float, float, float] | None,
        Doc(
            "Known camera: focal lengths and principal point in pixels of the upright full-size frame; "
            "(0, 0) is the centre of the top-left pixel. It overrides an intrinsics.json beside the footage."
        ),
    ] = None
    upright: Annotated[
        bool,
        Doc(
            "The camera was held upright: roll and pitch of most frames are below 45 degrees. Decides which way is up."
        ),
    ] = False
    licence: Annotated[str, Doc("Licence of the footage; every question states it.")] = "unknown"
    max_side: Annotated[int, Doc("Experts work on frames whose longer side has at most this many pixels.")] = 960
    max_keyframes: Annotated[int, Doc("Largest number of frames in the joint estimate of camera and scene.")] = 60
    max_pixels: Annotated[int, Doc("Footage with more pixels per frame is not opened.")] = DEFAULT.pixels
    max_frames: Annotated[int, Doc("Files and folders with more frames are not opened.")] = DEFAULT.frames
    max_duration: Annotated[float, Doc("Files and folders that last more seconds are not opened.")] = DEFAULT.seconds

    def __post_init__(self) -> None:
        super().__post_init__()
        start, end = self.start or 0.0, self.end
        if not (0 <= start < math.inf and (end is None or end > start)):
            given = f"--start {start:g}" + ("" if end is None else f" --end {end:g}")
            raise UsageError(given, "give seconds, 0 ≤ start < end")
        if self.fps is not None and not 0 < self.fps < 10_000:
            raise UsageError(f"--fps {self.fps:g}", "give frames per second, above 0")
        if self.crop is not None and not (
            len(self.crop) == 4 and min(self.crop[:2]) >= 0 and min(self.crop[2:]) >= MIN_SIDE_PX
        ):
            given = ",".join(map(str, self.crop))
            raise UsageError(
                f"--crop {given}", f"give LEFT,TOP,WIDTH,HEIGHT in pixels; each side needs {MIN_SIDE_PX} at least"
            )
        if self.intrinsics is not None and not (
            len(self.intrinsics) == 4 and all(0 < number < math.inf for number in self.intrinsics)
        ):
            given = ",".join(f"{number:g}" for number in self.intrinsics)
            raise UsageError(f"--intrinsics {given}", "give four numbers of pixels above 0: FX,FY,CX,CY")
        if self.max_side < MIN_SIDE_PX:
            raise UsageError(f"--max-side {self.max_side}", f"give at least {MIN_SIDE_PX} pixels")
        for name in ("max_pixels", "max_frames", "max_duration"):
            if not 0 < getattr(self, name) < math.inf:
                raise UsageError(f"--{name.replace('_', '-')} {getattr(self, name)}", "give a number above 0")
        if self.max_keyframes < 2:
            raise UsageError(f"--max-keyframes {self.max_keyframes}", "give at least 2")
