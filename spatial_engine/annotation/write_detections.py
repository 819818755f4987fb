"""Detections made in Python, as a file that `annotate` reads: those of the package `supervision`, or alike."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experts.detections.runs import encoded
from spatial_engine.atomic_file import atomic_file
from spatial_engine.errors import UsageError
from spatial_engine.options import StrPath


def write_detections(
    detections: Mapping[int | str, Any], path: StrPath, *, names: Mapping[int, str] | None = None
) -> Path:
    """Writes detections of several frames as COCO JSON, for `annotate(..., detections=path)`; returns the path.

    Args:
        detections: by index of the frame, or by file name of the picture; each has `xyxy` (n, 4) in pixels, edges, and
            may have `mask` (n, height, width), `confidence` (n), `class_id` (n) and `data["class_name"]` (n), as
            `supervision.Detections` has.
        path: the file to write.
        names: of the classes, by `class_id`, where the detections do not name them.

    Raises:
        UsageError: a detection has no name, or its arrays do not fit each other.
    """
    images, entries = [], []
    for number, (frame, found) in enumerate(detections.items()):
        index = {"frame_index": frame} if isinstance(frame, int) else {}
        images.append({"id": number, "file_name": "" if index else str(frame), **index})
        entries += [{"image_id": number, **entry} for entry in _entries(frame, found, names or {})]
    with atomic_file(Path(path)) as temporary:
        temporary.write_text(json.dumps({"images": images, "annotations": entries, "categories": []}), encoding="utf-8")
    return Path(path)


def _entries(frame: int | str, found: Any, names: Mapping[int, str]) -> list[dict[str, Any]]:
    boxes = np.asarray(found.xyxy, dtype=float).reshape(-1, 4)
    count, stated = len(boxes), getattr(found, "data", None) or {}
    labels: Any = stated.get("class_name")
    if labels is None and getattr(found, "class_id", None) is not None:
        labels = [names.get(int(number), "") for number in found.class_id]
    masks, scores = getattr(found, "mask", None), getattr(found, "confidence", None)
    columns = {"names": labels, "masks": masks, "scores": scores}
    for name, column in columns.items():
        if column is not None and len(column) != count:
            raise UsageError(f"frame {frame}: {count} boxes and {len(column)} {name}", "give one for each box")
    if count and (labels is None or not all(map(str, labels))):
        raise UsageError(f"frame {frame}: a detection has no name", "give data['class_name'], or names by class_id")
    out: list[dict[str, Any]] = []
    for k, (left, top, right, bottom) in enumerate(boxes.tolist()):
        out.append({"category_name": str(labels[k]), "bbox": [left, top, right - left, bottom - top]})
        if scores is not None:
            out[k]["score"] = float(scores[k])
        if masks is not None:
            out[k]["segmentation"] = encoded(np.asarray(masks[k], dtype=bool))
    return out
