"""Objects on the page of a clip: outlined and named on frames, listed, and on the floor plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial import ConvexHull, QhullError

from experts.clip import Picture
from experts.objects.box_corners import box_corners
from experts.objects.object_names import kind_of
from experts.signals import Objects
from spatial_engine.dataset.drawing import drawn_map
from templates.media import Box, Drawing, Mark, Outline, PhotoMark
from templates.scene.floor_plan import floor_plan
from templates.scene.marks import spread_frames
from templates.scene.objects import seen_objects
from templates.scene.scene import Scene, find_rows

_FRAMES = 4
_ON_A_FRAME = 12
"""Largest number of objects outlined on a frame: those that cover most of it."""
_LISTED = 60
_LETTER, _LINE = 0.021, 0.05
"""Width of a letter and height of a name on the plan, as shares of the plan's side."""


@dataclass(frozen=True, kw_only=True)
class ObjectRow:
    """One object in the list."""

    name: str
    label: str
    """The name that the source gave."""
    frames: int
    """Number of frames that show it."""
    size: str
    centre_sigma: str
    outlier_probability: str


@dataclass(frozen=True, kw_only=True)
class MarkedFrame:
    """The objects of a frame."""

    outlines: tuple[PhotoMark, ...]
    names: tuple[Mark, ...]
    """On a pixel of each outlined object."""
    count: int
    """Number of objects in the frame, those without a mark included."""


def marked_frames(scene: Scene) -> Mapping[int, MarkedFrame]:
    """Frames spread over those that show objects, with the largest objects outlined."""
    objects, seen = scene.objects, seen_objects(scene)
    if objects is None or not len(seen):
        return {}
    frames = spread_frames(np.unique(seen.frame), _FRAMES)
    found = {}
    for frame in map(int, frames):
        here = seen.take(seen.frame == frame)
        sides = here.box_px[:, 1] - here.box_px[:, 0]
        area = np.where(np.isfinite(here.area_px), here.area_px, np.prod(sides, axis=1))
        largest = here.take(np.argsort(-area, kind="stable")[:_ON_A_FRAME])
        rows = list(zip(largest.object.tolist(), largest.inside_px, largest.box_px, strict=True))
        found[frame] = MarkedFrame(
            outlines=tuple(_outline(scene, frame, k, box) for k, _, box in rows),
            names=tuple(Mark(text=_text(objects, k), xy_px=(x, y)) for k, (x, y), _ in rows),
            count=len(here),
        )
    return found


def _outline(scene: Scene, frame: int, k: int, box: Float64[np.ndarray, "2 2"]) -> PhotoMark:
    """Around the mask, else the detected box, else around the projected oriented box."""
    objects = scene.objects
    assert objects is not None
    row = int(find_rows(objects.frames, frame))
    mask = objects.ids[row] == k
    if mask.any():
        outline = _around(mask, np.array([scene.clip.width_px, scene.clip.height_px]))
    else:
        outline = None if objects.box_px is not None else _silhouette(scene, objects, row, k)
    return Box(points_px=_points(box)) if outline is None else Outline(points_px=_points(outline))


def _text(objects: Objects, k: int) -> str:
    """The name, and the outlier probability where one is known."""
    return f"{kind_of(objects.labels[k])} {_outlier_probability(objects, k)}".rstrip()


def _outlier_probability(objects: Objects, k: int) -> str:
    p = objects.outlier_probability
    return f"{p[k]:.2f}" if p is not None and np.isfinite(p[k]) else ""


def _around(mask: Bool[np.ndarray, "h w"], size: np.ndarray) -> np.ndarray | None:
    """Corners of the outline of the largest part of a mask, in full-size pixels; None if it is too thin for any."""
    parts, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = max(parts, key=cv2.contourArea)
    corners = cv2.approxPolyDP(largest, 1.0, True)[:, 0]
    return (corners + 0.5) * size / mask.shape[::-1] - 0.5 if len(corners) > 2 else None


def _silhouette(scene: Scene, objects: Objects, row: int, k: int) -> np.ndarray | None:
    """Corners of the outline of an oriented box in a frame; None if not all of it lies ahead."""
    assert scene.path is not None and objects.size is not None
    cam_from_world = np.linalg.inv(scene.world_from_cam(int(objects.frames[row])))
    xy = scene.path.intrinsics.project(box_corners(cam_from_world @ objects.world_from_object[row, k], objects.size[k]))
    try:
        return np.asarray(xy[ConvexHull(xy).vertices]) if np.isfinite(xy).all() else None
    except QhullError:
        return None  # it is seen edge on


def _points(xy: np.ndarray) -> tuple[tuple[float, float], ...]:
    return tuple((float(x), float(y)) for x, y in xy)


def object_rows(scene: Scene) -> Sequence[ObjectRow]:
    """Objects by the number of frames that show them, at most `_LISTED`."""
    objects = scene.objects
    if objects is None:
        return ()
    counts = np.bincount(seen_objects(scene).object, minlength=len(objects.labels))
    unit = " m" if scene.path is not None and scene.path.scale.kind == "metric" else ""
    return [_row(objects, int(k), int(counts[k]), unit) for k in np.argsort(-counts, kind="stable")[:_LISTED]]


def _row(objects: Objects, k: int, frames: int, unit: str) -> ObjectRow:
    size = None if objects.size is None else objects.size[k]
    sigma = objects.centre_sigma
    return ObjectRow(
        name=kind_of(objects.labels[k]),
        label=objects.labels[k],
        frames=frames,
        size=" × ".join(f"{side:.2f}" for side in size) + unit if size is not None and np.isfinite(size).all() else "",
        centre_sigma=f"{sigma[k]:.2f}{unit}" if sigma is not None and np.isfinite(sigma[k]) else "",
        outlier_probability=_outlier_probability(objects, k),
    )


def plan_picture(scene: Scene, side_px: int) -> Picture | None:
    """The floor plan with objects under their folded names and the camera path; None without a room."""
    if scene.room is None:
        return None
    objects = scene.objects
    if objects is not None:
        objects = replace(objects, labels=tuple(kind_of(objects.labels[k]) for k in range(len(objects.labels))))
    return drawn_map(_legible(floor_plan(scene.room, objects, scene.path)), side_px)


def _legible(plan: Drawing) -> Drawing:
    """The plan without the names that would cover a name of a larger object."""
    middles = [np.mean(polygon.corners, axis=0) for polygon in plan.polygons]
    span = float(np.ptp(np.concatenate([polygon.corners for polygon in plan.polygons]), axis=0).max()) if middles else 0
    half = [np.array([_LETTER * max(len(polygon.text), 1), _LINE]) * span / 2 for polygon in plan.polygons]
    kept: list[int] = []
    for k, polygon in enumerate(plan.polygons):
        free = all((np.abs(middles[k] - middles[other]) > half[k] + half[other]).any() for other in kept)
        kept += [k] if polygon.text and free else []
    polygons = tuple(
        replace(polygon, text=polygon.text if k in kept else "") for k, polygon in enumerate(plan.polygons)
    )
    return replace(plan, polygons=polygons)
