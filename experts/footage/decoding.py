"""Decodes the frames of image folders one at a time, and defines the errors of decoding (for videos see `video`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Picture


class DecodingError(Exception):
    """Footage cannot be decoded: names the file, the cause and the remedy."""

    def __init__(self, path: Path, cause: str, remedy: str = "check that the file plays in a video player") -> None:
        super().__init__(f"{str(path)!r}: {cause}; {remedy}")
        self.path, self.cause, self.remedy = path, cause, remedy

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.cause, self.remedy)  # lets the error be pickled


def check_unchanged(path: Path, file_bytes: int) -> None:
    """Raises `DecodingError` for a file that was removed or whose size has changed."""
    try:
        now = path.stat().st_size
    except OSError as error:
        raise DecodingError(path, f"the file is gone ({error.strerror})", "put it back, or annotate anew") from error
    if now != file_bytes:
        raise DecodingError(path, f"the file has changed: {file_bytes} bytes, now {now}", "annotate anew")


@dataclass(frozen=True, kw_only=True)
class ImageReader:
    """Frames of an image folder. A file is open only while one picture is read; the reader can be pickled."""

    paths: tuple[Path, ...]
    """The images, in frame order."""
    width_px: int
    """Required upright width."""
    height_px: int
    """Required upright height."""
    file_bytes: tuple[int, ...]
    """Size of each file; a changed size means a changed file."""

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """RGB pictures of ascending frame indices, upright, at full size. Raises `DecodingError`."""
        for frame in frames:
            check_unchanged(self.paths[frame], self.file_bytes[frame])
            yield self._picture(self.paths[frame])

    def _picture(self, path: Path) -> Picture:
        from PIL import Image, ImageOps

        try:
            with Image.open(path) as image:
                rgb = np.asarray(ImageOps.exif_transpose(image).convert("RGB"), dtype=np.uint8)
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
            raise DecodingError(path, f"the image cannot be decoded ({error})", "remove it or copy it anew") from error
        if rgb.shape[:2] != (self.height_px, self.width_px):
            raise DecodingError(path, f"the image has changed size to {rgb.shape[1]}x{rgb.shape[0]}", "annotate anew")
        return rgb
