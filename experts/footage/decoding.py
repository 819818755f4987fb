"""Frames of image folders, decoded one at a time; and what can go wrong with decoding (videos: `video`)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Picture


class DecodingError(Exception):
    """Footage cannot be decoded: which file, why, and what to do."""

    def __init__(self, path: Path, cause: str, remedy: str = "check that the file plays in a video player") -> None:
        super().__init__(f"{str(path)!r}: {cause}; {remedy}")
        self.path, self.cause, self.remedy = path, cause, remedy

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.path, self.cause, self.remedy)  # crosses process borders whole


def check_unchanged(path: Path, file_bytes: int) -> None:
    """Raises `DecodingError` for a file that is gone or has another size."""
    try:
        now = path.stat().st_size
    except OSError as error:
        raise DecodingError(path, f"the file is gone ({error.strerror})", "put it back, or annotate anew") from error
    if now != file_bytes:
        raise DecodingError(path, f"the file has changed: {file_bytes} bytes, now {now}", "annotate anew")


@dataclass(frozen=True, kw_only=True)
class ImageReader:
    """Frames of an image folder. Opens a file for the length of one picture; can be pickled."""

    paths: tuple[Path, ...]
    """The images, in frame order."""
    width_px: int
    """Upright width that each must have."""
    height_px: int
    """Upright height that each must have."""
    file_bytes: tuple[int, ...]
    """Size of each file; another size is another file."""

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
