"""Results of one pass over footage: the hash of its bytes, which frames decode, the shots. Costly, so they are
cached."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experts.footage.decoding import DecodingError, ImageReader
from experts.footage.limits import DEFAULT, Limits
from experts.footage.shots import Shot, ShotDetector
from experts.footage.video import VideoIndex, index_video

SURVEY_VERSION = "1"
"""Changes whenever a survey of the same file can come out different."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A video, seen once from end to end."""

    sha256: str
    """SHA-256 of the file's bytes."""
    index: VideoIndex
    """Its frames."""
    shots: tuple[Shot, ...]
    """Its shots, before they are cut into windows."""

    def to_json(self) -> dict[str, Any]:
        """For a cache; numbers survive exactly."""
        index = {**vars(self.index), "pts": self.index.pts.tolist(), "keyframes": self.index.keyframes.tolist()}
        return {"sha256": self.sha256, "index": index, "shots": [dict(vars(shot)) for shot in self.shots]}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "Survey":
        """The inverse of `to_json`."""
        index, base = dict(record["index"]), record["index"]["time_base"]
        index["pts"] = np.array(index["pts"], dtype=np.int64)
        index["keyframes"] = np.array(index["keyframes"], dtype=np.int64).reshape(-1, 2)
        index["time_base"] = None if base is None else tuple(base)
        shots = tuple(Shot(**{**shot, "foreign": tuple(shot["foreign"])}) for shot in record["shots"])
        return cls(sha256=record["sha256"], index=VideoIndex(**index), shots=shots)


def survey_video(path: Path, limits: Limits = DEFAULT) -> Survey:
    """Decodes the video once. Raises `experts.footage.decoding.DecodingError`."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    detector = ShotDetector()
    index = index_video(path, detector.see, limits=limits)
    return Survey(sha256=sha256, index=index, shots=tuple(detector.shots()))


@dataclass(frozen=True, kw_only=True)
class ImageSurvey:
    """A folder of images, seen once."""

    sha256: str
    """SHA-256 of the bytes of all files in order."""
    damaged: tuple[int, ...]
    """Images that do not decode: no frames."""

    def to_json(self) -> dict[str, Any]:
        """For a cache."""
        return {"sha256": self.sha256, "damaged": list(self.damaged)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> "ImageSurvey":
        """The inverse of `to_json`."""
        return cls(sha256=record["sha256"], damaged=tuple(record["damaged"]))


def survey_images(reader: ImageReader) -> ImageSurvey:
    """Decodes each image once."""
    digest, damaged = hashlib.sha256(), []
    for frame, path in enumerate(reader.paths):
        digest.update(path.read_bytes())
        try:
            next(reader.read([frame]))
        except DecodingError:
            damaged.append(frame)
    return ImageSurvey(sha256=digest.hexdigest(), damaged=tuple(damaged))
