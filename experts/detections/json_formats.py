"""Detections in JSON: COCO (annotations and results), labelme, SAM and SAM 2, Grounding DINO and Grounded SAM.

The content decides which it is. Many pictures in one file: a mapping of their names, or a list.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from experts.detections.runs import run_lengths
from experts.detections.stated import Frame, NotDetections, RunLengths, StatedFile, StatedFrame

_UNKNOWN = "an entry is not understood"
_SEGMENT = "object"
"""Name of the masks of a segmenter, which names nothing."""


class _Runs(BaseModel):
    size: tuple[int, int]
    counts: list[int] | str


class _Corners(BaseModel):
    xmin: float
    ymin: float
    xmax: float
    ymax: float


class _Entry(BaseModel):
    """One detection of any of the formats but labelme."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)
    image_id: int | str | None = None
    category_id: int | None = None
    name: str | None = Field(None, validation_alias=AliasChoices("class_name", "category_name", "label", "name"))
    score: Any = Field(None, validation_alias=AliasChoices("score", "confidence", "logit", "predicted_iou"))
    bbox: tuple[float, float, float, float] | None = None
    box: tuple[float, float, float, float] | _Corners | None = None
    segmentation: list[list[float]] | _Runs | None = None
    iscrowd: int = 0


class _Image(BaseModel):
    """A picture of a COCO file."""

    model_config = ConfigDict(extra="ignore")
    id: int | str
    file_name: str = ""
    width: int | None = None
    height: int | None = None
    frame_index: int | None = Field(None, validation_alias=AliasChoices("frame_index", "frame_id", "frame"))


class _Shape(BaseModel):
    """A shape of labelme."""

    model_config = ConfigDict(extra="ignore")
    label: str
    points: list[tuple[float, float]]
    shape_type: str | None = "polygon"
    group_id: int | None = None
    score: Any = None


def read_json(content: Any, stem: str, names: Mapping[int, str]) -> StatedFile:
    """The detections of a JSON value.

    Args:
        content: the value.
        stem: name of the file without its ending, which names the picture where the content does not.
        names: of the categories, by number, where the content does not name them.

    Raises:
        NotDetections: it is of no known format.
    """
    match content:
        case {"images": list(images), "annotations": list(entries)}:
            return _coco(images, entries, _categories(content) or dict(names))
        case [{"image_id": _, **_entry}, *_]:
            return _coco([], content, dict(names))
        case dict() if one := _one_picture(content, Frame(name=stem), names):
            return one
        case list() if _is_entries(content):
            return _entries(content, StatedFrame(frame=Frame(name=stem)), names, "SAM")
        case list() | dict():
            return _several(content, names)
    raise NotDetections(f"it holds {str(content)[:60]!r}")


def _several(content: Sequence[Any] | Mapping[str, Any], names: Mapping[int, str]) -> StatedFile:
    """One value per picture: named by the mapping, or by itself."""
    named = content.items() if isinstance(content, Mapping) else (("", one) for one in content)
    whole: StatedFile | None = None
    for name, one in named:
        frame = Frame(name=str(name))
        part: StatedFile | None = None
        if isinstance(one, Mapping):
            part = _one_picture(one, frame, names)
        elif isinstance(one, list) and _is_entries(one):
            part = _entries(one, StatedFrame(frame=frame), names, "SAM")
        if part is None:
            raise NotDetections(f"of no known format: {str(one)[:60]}")
        whole = part if whole is None else merged(whole, part)
    if whole is None:
        raise NotDetections("it is empty")
    return whole


def merged(whole: StatedFile, part: StatedFile) -> StatedFile:
    """`whole`, with the frames and the losses of `part`."""
    whole.frames += part.frames
    whole.left_out += part.left_out
    whole.incomplete |= part.incomplete
    return whole


def _is_entries(content: Sequence[Any]) -> bool:
    """Whether a list holds the detections of one picture."""
    return all(isinstance(one, dict) and one.keys() & {"segmentation", "bbox", "box"} for one in content)


def _one_picture(content: Mapping[str, Any], frame: Frame, names: Mapping[int, str]) -> StatedFile | None:
    """The detections of one picture; None for another content."""
    match content:
        case {"shapes": list(shapes)}:
            return _labelme(content, shapes, frame)
        case {"boxes": list(boxes)}:
            return _grounding_dino(content, boxes, frame)
        case {"annotations": list(entries)}:
            image = content.get("image")
            stated = {**content, **image} if isinstance(image, dict) else content
            name = next((str(stated[key]) for key in ("image_path", "file_name", "image_name") if stated.get(key)), "")
            one = StatedFrame(frame=_named(frame, name), size_px=_size(stated))
            corners = content.get("box_format", "xywh") == "xyxy"
            return _entries(entries, one, names, "SAM", corners=corners)
    return None


def _named(frame: Frame, name: str) -> Frame:
    """The frame by the name that the content gives, else by its own."""
    return Frame(name=name, number=frame.number) if name else frame


def _size(content: Mapping[str, Any]) -> tuple[int, int] | None:
    for wide, high in (("width", "height"), ("img_width", "img_height"), ("imageWidth", "imageHeight")):
        size = content.get(wide), content.get(high)
        if all(isinstance(side, int) and side > 0 for side in size):
            return size  # type: ignore[return-value]
    return None


def _categories(content: Mapping[str, Any]) -> dict[int, str]:
    known = content.get("categories")
    named = (one for one in known if isinstance(one, dict)) if isinstance(known, list) else ()
    return {one["id"]: str(one.get("name", "")) for one in named if isinstance(one.get("id"), int | str)}


def _coco(images: Sequence[Any], entries: Sequence[Any], names: Mapping[int, str]) -> StatedFile:
    file, by_id = StatedFile(format="COCO"), dict[Any, StatedFrame]()
    for image in images:
        try:
            one = _Image.model_validate(image)
        except ValidationError:
            file.leave_out("a picture is not understood")
            continue
        size = None if one.width is None or one.height is None else (one.width, one.height)
        frame = Frame(name=one.file_name or str(one.id), number=one.frame_index)
        by_id[one.id] = StatedFrame(frame=frame, size_px=size)
    for entry in entries:
        key = entry.get("image_id") if isinstance(entry, dict) else None
        if not images and isinstance(key, int | str) and key not in by_id:
            by_id[key] = StatedFrame(frame=Frame(name=str(key)))
        if not isinstance(key, int | str) or key not in by_id:
            file.leave_out("its picture is not listed")
            continue
        _add(file, by_id[key], entry, names, corners=False, default=None)
    file.frames = list(by_id.values())
    return file


def _entries(
    entries: Sequence[Any], frame: StatedFrame, names: Mapping[int, str], format: str, corners: bool = False
) -> StatedFile:
    """Of one picture; masks without any name are segments."""
    file = StatedFile(format=format, frames=[frame])
    for entry in entries:
        segment = isinstance(entry, dict) and entry.keys() & {"stability_score", "predicted_iou"}
        _add(file, frame, entry, names, corners=corners, default=_SEGMENT if segment else None)
    return file


def _add(
    file: StatedFile, frame: StatedFrame, entry: Any, names: Mapping[int, str], *, corners: bool, default: str | None
) -> None:
    try:
        one = _Entry.model_validate(entry)
    except ValidationError:
        file.leave_out(_UNKNOWN)
        return
    name = one.name or names.get(one.category_id if one.category_id is not None else -1) or default
    if one.iscrowd:
        file.leave_out("a crowd, not one object", name or "*")
        return
    runs: RunLengths | None = None
    polygons: tuple[np.ndarray, ...] = ()
    if isinstance(one.segmentation, _Runs):
        runs = run_lengths(one.segmentation.size, one.segmentation.counts)
        if runs is None:
            file.leave_out("the runs of the mask do not fit its size", name or "*")
            return
    elif one.segmentation:
        polygons = tuple(np.array(p).reshape(-1, 2) for p in one.segmentation if len(p) >= 6 and len(p) % 2 == 0)
        if len(polygons) < len(one.segmentation) or not all(np.isfinite(p).all() for p in polygons):
            file.leave_out("the outline is no polygon", name or "*")
            return
    file.add(frame, name, one.score, box=_box(one, corners), polygons=polygons, runs=runs)


def _box(one: _Entry, corners: bool) -> tuple[float, float, float, float] | None:
    if isinstance(one.box, _Corners):
        return one.box.xmin, one.box.ymin, one.box.xmax, one.box.ymax
    if one.box is not None:
        return one.box
    if one.bbox is None or corners:
        return one.bbox
    x, y, wide, high = one.bbox
    return x, y, x + wide, y + high


def _grounding_dino(content: Mapping[str, Any], boxes: Sequence[Any], frame: Frame) -> StatedFile:
    """Parallel lists: boxes in pixels (left, top, right, bottom); of the demo, with the picture's "size" [height,
    width], as shares (centre, width, height), and scores in the labels."""
    labels: Any = next((content[key] for key in ("text_labels", "labels", "phrases") if key in content), [])
    scores: Any = next((content[key] for key in ("scores", "logits") if key in content), [None] * len(boxes))
    if not (isinstance(labels, list) and isinstance(scores, list) and len(labels) == len(scores) == len(boxes)):
        raise NotDetections(f"{len(boxes)} boxes, and not as many labels and scores")
    name = next((str(content[key]) for key in ("image_path", "file_name") if content.get(key)), "")
    demo = content.get("size")
    size = (demo[1], demo[0]) if isinstance(demo, list) and len(demo) == 2 else _size(content)
    one = StatedFrame(frame=_named(frame, name), size_px=size)
    file = StatedFile(format="Grounding DINO", frames=[one])
    for box, label, score in zip(boxes, labels, scores, strict=True):
        if not (isinstance(box, list) and len(box) == 4 and all(isinstance(x, int | float) for x in box)):
            file.leave_out(_UNKNOWN)
            continue
        text, value = _label_with_score(label)
        if demo is not None:
            x, y, wide, high = box
            box = [x - wide / 2, y - high / 2, x + wide / 2, y + high / 2]
        file.add(one, text, value if score is None else score, box=tuple(map(float, box)), relative=demo is not None)
    return file


def _label_with_score(label: Any) -> tuple[Any, float | None]:
    """ "cat(0.56)" is a cat with a score."""
    found = re.fullmatch(r"(.*?)\s*\(([01]?\.\d+|[01])\)", label) if isinstance(label, str) else None
    return (found[1], float(found[2])) if found else (label, None)


def _labelme(content: Mapping[str, Any], shapes: Sequence[Any], frame: Frame) -> StatedFile:
    """Shapes of one group are one object."""
    one = StatedFrame(frame=_named(frame, str(content.get("imagePath") or "")), size_px=_size(content))
    file, groups = StatedFile(format="labelme", frames=[one]), dict[Any, list[_Shape]]()
    for number, entry in enumerate(shapes):
        try:
            shape = _Shape.model_validate(entry)
        except ValidationError:
            file.leave_out(_UNKNOWN)
            continue
        key = ("alone", number) if shape.group_id is None else (shape.label, shape.group_id)
        groups.setdefault(key, []).append(shape)
    for group in groups.values():
        first = group[0]
        if len(group) == 1 and first.shape_type == "rectangle" and len(first.points) == 2:
            (a, b), (c, d) = first.points
            file.add(one, first.label, first.score, box=(min(a, c), min(b, d), max(a, c), max(b, d)))
            continue
        outlines = [_outline(shape) for shape in group]
        if any(outline is None for outline in outlines):
            file.leave_out("neither polygon, rectangle nor circle", first.label)
        else:
            file.add(one, first.label, first.score, polygons=tuple(outlines))
    return file


def _outline(shape: _Shape) -> np.ndarray | None:
    points = np.array(shape.points, dtype=np.float64).reshape(-1, 2)
    if not np.isfinite(points).all():
        return None
    match shape.shape_type or "polygon", len(points):
        case "polygon", count if count >= 3:
            return points
        case "rectangle", 2:
            (a, b), (c, d) = points
            return np.array([[a, b], [c, b], [c, d], [a, d]])
        case "circle", 2:
            angle = np.linspace(0, 2 * np.pi, 32, endpoint=False)
            return points[0] + np.linalg.norm(points[1] - points[0]) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return None
