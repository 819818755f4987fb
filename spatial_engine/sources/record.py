"""A clip as JSON, so that the next run, or another process, opens it without looking for it again.

Paths are stored here only, relative to `base` if one is given: ids and keys do not depend on them.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from experts.clip import Clip, OpeningOptions
from experts.footage.decoding import ImageReader
from experts.footage.video import VideoReader
from experts.intrinsics import Intrinsics
from spatial_engine.sources.cropping import CroppedReader


def clip_to_json(clip: Clip, base: Path | None = None) -> dict[str, Any]:
    """Everything that `clip_from_json` needs; frames themselves stay where they are. Numbers survive exactly."""
    options = {**vars(clip.options)}
    if clip.options.intrinsics is not None:
        options["intrinsics"] = dict(vars(clip.options.intrinsics))
    options.pop("detections")  # read once, when clips are annotated
    return {
        "id": clip.id,
        "name": clip.name,
        "frames": clip.frames.tolist(),
        "times_s": None if clip.times_s is None else clip.times_s.tolist(),
        "width_px": clip.width_px,
        "height_px": clip.height_px,
        "rotation_deg": clip.rotation_deg,
        "licence": clip.licence,
        "options": options,
        "source": _source(clip.reader, base),
    }


def clip_from_json(record: dict[str, Any], base: Path | None = None) -> Clip:
    """The clip of a record; opens no file (reading frames raises `DecodingError` if one is gone)."""
    times, options = record["times_s"], dict(record["options"])
    if options["intrinsics"] is not None:
        options["intrinsics"] = Intrinsics(**options["intrinsics"])
    return Clip(
        id=record["id"],
        name=record["name"],
        frames=np.array(record["frames"], dtype=np.int64),
        times_s=None if times is None else np.array(times, dtype=np.float64),
        width_px=record["width_px"],
        height_px=record["height_px"],
        rotation_deg=record["rotation_deg"],
        licence=record["licence"],
        options=OpeningOptions(**options),
        reader=_reader(record, base),
    )


def _source(reader: Any, base: Path | None) -> dict[str, Any]:
    match reader:
        case CroppedReader():
            whole = reader.reader
            return {
                "kind": "crop",
                "crop": list(reader.crop),
                "width_px": getattr(whole, "width_px", None),
                "height_px": getattr(whole, "height_px", None),
                "source": _source(whole, base),
            }
        case VideoReader():
            return {
                "kind": "video",
                "path": _written(reader.path, base),
                "first": reader.first,
                "pts": reader.pts.tolist(),
                "keyframes": reader.keyframes.tolist(),
                "timed": reader.timed,
                "file_bytes": reader.file_bytes,
            }
        case ImageReader():
            paths = [_written(path, base) for path in reader.paths]
            return {"kind": "images", "paths": paths, "file_bytes": list(reader.file_bytes)}
    raise TypeError(f"no record for clips read by {type(reader).__name__}: VideoReader and ImageReader have one")


def _reader(record: dict[str, Any], base: Path | None) -> VideoReader | ImageReader | CroppedReader:
    source, width, height = record["source"], record["width_px"], record["height_px"]
    if source["kind"] == "crop":
        left, top, wide, high = source["crop"]
        return CroppedReader(reader=_reader({**record, **source}, base), crop=(left, top, wide, high))
    if source["kind"] == "images":
        paths = tuple(_found(path, base) for path in source["paths"])
        return ImageReader(paths=paths, width_px=width, height_px=height, file_bytes=tuple(source["file_bytes"]))
    return VideoReader(
        path=_found(source["path"], base),
        first=source["first"],
        pts=np.array(source["pts"], dtype=np.int64),
        keyframes=np.array(source["keyframes"], dtype=np.int64).reshape(-1, 2),
        timed=source["timed"],
        width_px=width,
        height_px=height,
        rotation_deg=record["rotation_deg"],
        file_bytes=source["file_bytes"],
    )


def _written(path: Path, base: Path | None) -> str:
    return str(path.absolute()) if base is None else os.path.relpath(path.absolute(), base.absolute())


def _found(path: str, base: Path | None) -> Path:
    return Path(path) if base is None else Path(os.path.normpath(base.absolute() / path))
