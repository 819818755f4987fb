"""The pictures and videos of a benchmark's rows as files of a dataset."""

import io
import os
import re
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from experts.footage.decoding import DecodingError
from experts.footage.video import index_video
from spatial_engine.evaluation.benchmarks.fields import listed
from spatial_engine.evaluation.benchmarks.rows import BrokenRow
from templates.columns import Json

IMAGE, FRAME = "image", "video_frame"
"""Kinds of media."""
_KEPT = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp"}
_LONGEST_PATH = 1024
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]+=*\s*")
_QUALITY = 92


class Pictures:
    """Writes media/ of a dataset. Equal pictures are one file; the frames of a video are read once."""

    def __init__(self, folder: Path, roots: Sequence[Path]) -> None:
        self._media = folder / "media"
        self._media.mkdir()
        self._roots = roots
        self._of_videos: dict[tuple[Any, ...], list[dict[str, Json]]] = {}
        self._of_rows: dict[str, list[dict[str, Json]]] = {}

    def images(self, value: Any, row_id: str) -> list[dict[str, Json]]:
        """Entries of `Question.media` for the pictures of a row.

        `value`: one or several of: bytes, {"bytes", "path"} (a Hugging Face image), base64, a path below the benchmark;
        or, as in VLMEvalKit, the id of an earlier row that shows the same. Raises `BrokenRow`.
        """
        several = listed(value)
        if several is None and isinstance(value, str) and value in self._of_rows:
            return self._of_rows[value]
        found = [self._image(one) for one in (several if several is not None else [value])]
        self._of_rows[row_id] = found
        return found

    def frames(self, value: Any, count: int, at: Sequence[int] | None = None) -> list[dict[str, Json]]:
        """Entries for `count` frames of a video, evenly spaced from the first to the last one; all if it has fewer.
        `at`: the frames among which is chosen, by index. Raises `BrokenRow`."""
        file = self._file(str(value))
        key = (file, count, tuple(at or ()))
        if key not in self._of_videos:
            self._of_videos[key] = [self._write(data, FRAME) for data in _frames(file, count, at)]
        return self._of_videos[key]

    def _image(self, value: Any) -> dict[str, Json]:
        return self._write(self._bytes(value), IMAGE)

    def _bytes(self, value: Any) -> bytes:
        if isinstance(value, Mapping):
            value = value.get("bytes") or value.get("path")
        if isinstance(value, bytes | bytearray):
            return bytes(value)
        if not isinstance(value, str) or not value:
            raise BrokenRow("a picture is missing")
        if (data := _decoded(value)) is not None:
            return data
        try:
            return self._file(value).read_bytes()
        except OSError as error:
            raise BrokenRow("a picture file cannot be read") from error

    def _file(self, name: str) -> Path:
        """A file below the benchmark's folder; never one outside it."""
        inner = os.path.normpath(name.strip().replace("\\", "/").lstrip("/"))
        if len(name) <= _LONGEST_PATH and "\x00" not in inner and not inner.startswith(".."):
            for root in self._roots:
                if (root / inner).is_file():
                    return root / inner
        packed = any(next(root.glob("*.zip"), None) for root in self._roots)
        raise BrokenRow("a media file is missing" + (" (is a .zip still to be unpacked?)" if packed else ""))

    def _write(self, data: bytes, kind: str) -> dict[str, Json]:
        data, suffix, size = _checked(data)
        id = sha256(data).hexdigest()[:16]
        path = self._media / f"{id}{suffix}"
        if not path.exists():
            path.write_bytes(data)
        return {"id": id, "kind": kind, "path": f"media/{path.name}", "width": size[0], "height": size[1]}


def _decoded(text: str) -> bytes | None:
    """The bytes of base64, with or without "data:image/...;base64,"; None where the text is a path."""
    head, comma, _ = text[:64].partition(",")
    if comma and head.startswith("data:"):
        text = text[len(head) + 1 :]
    elif len(text) <= _LONGEST_PATH and re.search(r"\.\w{2,5}\s*$", text):
        return None
    if not _BASE64.fullmatch(text):
        return None
    try:
        return b64decode(text) or None
    except Base64Error:
        return None


def _checked(data: bytes) -> tuple[bytes, str, tuple[int, int]]:
    """A picture that decodes as a whole: its bytes (those of other kinds than JPEG, PNG and WebP as PNG), suffix and
    size in pixels. Raises `BrokenRow`."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            picture.load()
            kind, size = str(picture.format), picture.size
            if kind in _KEPT:
                return data, _KEPT[kind], size
            return _encoded(picture.convert("RGB"), "PNG"), ".png", size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise BrokenRow("a picture cannot be decoded") from error


def _frames(file: Path, count: int, at: Sequence[int] | None) -> Iterable[bytes]:
    """The chosen frames as JPEG."""
    from PIL import Image

    try:
        index = index_video(file, lambda thumbnail: None)
        among = np.arange(len(index.pts)) if at is None else np.clip(np.asarray(at), 0, len(index.pts) - 1)
        places = np.linspace(0, len(among) - 1, min(count, len(among)), dtype=int)
        chosen = sorted({int(frame) for frame in among[places]})
        pictures = list(index.reader(file, 0, len(index.pts)).read(chosen))
    except (DecodingError, OSError) as error:
        raise BrokenRow("a video cannot be decoded") from error
    return [_encoded(Image.fromarray(picture), "JPEG") for picture in pictures]


def _encoded(picture: Any, kind: str) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, quality=_QUALITY)
    return buffer.getvalue()
