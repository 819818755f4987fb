"""One rectangle of every frame: later steps see frames of that size, and a camera that is shifted with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from experts.clip import FrameReader, Picture
from spatial_engine.sources.footage import ClipError

Crop = tuple[int, int, int, int]
"""Left, top, width, height in pixels of the upright full-size frame."""

_OFF_CENTRE = 0.01
"""Largest distance between the centres of frame and crop, as a share of the frame's longer side, where no camera is
stated: experts take the centre of the frame for the principal point."""


@dataclass(frozen=True, kw_only=True)
class CroppedReader:
    """Reads a rectangle of the frames of another reader."""

    reader: FrameReader
    """Gives the whole frames."""
    crop: Crop

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """RGB pictures of ascending frame indices, upright, of the crop's size. Raises `DecodingError`."""
        left, top, width, height = self.crop
        for picture in self.reader.read(frames):
            yield np.ascontiguousarray(picture[top : top + height, left : left + width])


def check_crop(crop: Crop, width_px: int, height_px: int, *, camera_is_stated: bool) -> None:
    """Raises `ClipError` for a crop that frames of this size do not hold, and for one beside their centre where nothing
    states the camera."""
    left, top, width, height = crop
    given = f"crop {left},{top},{width},{height}"
    if left + width > width_px or top + height > height_px:
        raise ClipError(
            f"{given} does not lie in frames of {width_px}x{height_px}", "give left, top, width and height in pixels"
        )
    off_px = np.hypot(left + width / 2 - width_px / 2, top + height / 2 - height_px / 2)
    if not camera_is_stated and off_px > _OFF_CENTRE * max(width_px, height_px):
        raise ClipError(
            f"{given} is {off_px:.0f} pixels off-centre, and the principal point is not known",
            "give the intrinsics of the whole frame, or crop symmetrically",
        )
