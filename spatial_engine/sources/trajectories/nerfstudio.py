"""nerfstudio's transforms.json: camera to world, OpenGL axes; ordered by file name."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64

from spatial_engine.errors import UsageError
from spatial_engine.sources.image_groups import natural_key
from spatial_engine.sources.trajectories.text_rows import read_text
from spatial_engine.sources.trajectories.trajectory import TrajectoryFormat, WrittenPoses

_REMEDY = "give a transforms.json: frames, each with file_path and a transform_matrix of four rows of four numbers"


def read_nerfstudio(path: Path) -> WrittenPoses:
    """Raises `UsageError` that names the frame."""
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}", _REMEDY) from error
    frames = content.get("frames") if isinstance(content, dict) else None
    if not isinstance(frames, list) or not frames or not all(isinstance(frame, dict) for frame in frames):
        raise UsageError(f"{path} has no frames", _REMEDY)
    names = [str(frame.get("file_path", "")) for frame in frames]
    order = list(range(len(frames)))
    if all(names):
        order.sort(key=lambda row: natural_key(Path(names[row])))
    places = tuple(f"frame {row} ({names[row] or 'no file_path'})" for row in order)
    matrices = [_matrix(path, place, frames[row]) for place, row in zip(places, order, strict=True)]
    notes = () if order == sorted(order) else ("frames are ordered by name, not as in the file",)
    return WrittenPoses(
        matrices=np.stack(matrices),
        places=places,
        focal_px=_focal_px([frames[row] for row in order]),
        names=tuple(names[row] for row in order) if all(names) else (),
        notes=notes,
    )


def _matrix(path: Path, place: str, frame: dict[str, Any]) -> Float64[np.ndarray, "4 4"]:
    rows = frame.get("transform_matrix")
    rows = rows if isinstance(rows, list) else []
    if [len(row) if isinstance(row, list) and all(map(_is_number, row)) else 0 for row in rows] != [4] * 4:
        raise UsageError(f"{path}, {place}: no transform_matrix of four rows of four finite numbers", _REMEDY)
    return np.array(rows, dtype=np.float64)


def _focal_px(frames: list[dict[str, Any]]) -> Float64[np.ndarray, "n"] | None:
    """Focal length of each frame; None unless every frame has its own."""
    focals = [frame.get("fl_x") for frame in frames]
    return np.array(focals, dtype=np.float64) if all(map(_is_number, focals)) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15  # no NaN, no infinity


def matches(head: str) -> bool:
    """Whether the text is a JSON object."""
    return head.lstrip().startswith("{")


NERFSTUDIO = TrajectoryFormat(matches=matches, read=read_nerfstudio, poses="c2w", axes="opengl", scale="relative")
