"""Objects: their oriented boxes, fronts, and masks."""

from typing import Any

import numpy as np
import rerun as rr
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from experts.signals import Objects
from spatial_engine.progress import printable
from spatial_engine.view.picture_camera import PICTURE, PictureCamera
from spatial_engine.view.timeline import Timeline
from templates.scene.scene import Scene, find_rows

_MASKS = f"{PICTURE}/masks"
LABELLED = 60
"""With more objects, names show when the pointer is on them."""
_STILL = 1e-9
"""A pose that differs by no more is that of a static object, in radians and in path units."""


def entity_of(objects: Objects, k: int) -> str:
    """The entity of an object: names may repeat, so that its number follows."""
    return str(rr.new_entity_path(["world", "objects", f"{printable(objects.labels[k]) or 'object'} {k}"]))


def show_boxes(line: Timeline, scene: Scene) -> None:
    """The box of each object over time, with its name, σ and outlier probability; a ball where its size or rotation is
    not known."""
    objects = scene.objects
    for k in range(0 if objects is None else len(objects.labels)):
        assert objects is not None
        pose = objects.world_from_object[:, k]
        known = np.isfinite(pose[:, :3, 3]).all(axis=1)
        if not known.any():
            continue
        entity, (kind, places) = entity_of(objects, k), _places(objects, k, pose[known])
        look = {"fill_mode": "majorwireframe"} if kind is rr.Boxes3D else {}
        few, name = len(objects.labels) <= LABELLED, printable(objects.labels[k])
        line.fixed(entity, kind.from_fields(labels=[name], class_ids=[k + 1], show_labels=few, **look))
        line.fixed(entity, *_values(objects, k))
        if max(np.ptp(column, axis=0).max() for column in places.values()) <= _STILL:
            line.fixed(entity, kind.from_fields(**{name: column[:1] for name, column in places.items()}))
        else:
            line.columns(entity, objects.frames, kind.columns(**places).partition(known.astype(int)))


def _places(
    objects: Objects, k: int, poses: Float64[np.ndarray, "n 4 4"]
) -> tuple[type[rr.Boxes3D | rr.Points3D], dict[str, Any]]:
    """What an object is drawn as, and its columns: one row for each pose."""
    centres = poses[:, :3, 3]
    if objects.size is None or not np.isfinite(objects.size[k]).all():
        return rr.Points3D, {"positions": centres}
    if not np.isfinite(poses).all():
        return rr.Points3D, {"positions": centres, "radii": np.full(len(poses), np.median(objects.size[k]) / 2)}
    rotations = Rotation.from_matrix(poses[:, :3, :3]).as_quat(canonical=True)
    half_sizes = np.tile(objects.size[k] / 2, (len(poses), 1))
    return rr.Boxes3D, {"half_sizes": half_sizes, "centers": centres, "quaternions": rotations}


def _values(objects: Objects, k: int) -> list[rr.AnyValues]:
    """What else is known of an object: the viewer shows it when the object is selected."""
    columns = {name: getattr(objects, name) for name in ("centre_sigma", "size_sigma", "outlier_probability")}
    known = {name: np.atleast_1d(column[k]) for name, column in columns.items() if column is not None}
    return [rr.AnyValues(**known)] if known else []


def show_fronts(line: Timeline, scene: Scene) -> None:
    """An arrow for each front of an object, from the middle of its box to beyond it."""
    objects, orientation = scene.objects, scene.orientation
    if objects is None or orientation is None:
        return
    for row, frame in enumerate(orientation.frames.tolist()):
        place = int(find_rows(objects.frames, frame))
        world_from_cam = scene.world_from_cam(frame)[:3, :3]
        line.at(frame)
        for k in range(len(objects.labels)):
            axes = world_from_cam @ orientation.cam_from_object[row, k]
            centre = objects.world_from_object[place, k, :3, 3] if place >= 0 else np.full(3, np.nan)
            count = int(orientation.fronts[row, k])
            if count and np.isfinite(axes).all() and np.isfinite(centre).all():
                turns = 2 * np.pi * np.arange(max(count, 1)) / max(count, 1)
                fronts = np.cos(turns)[:, None] * axes[:, 0] + np.sin(turns)[:, None] * axes[:, 1]
                arrows = 0.7 * _length(objects, k) * fronts
                ids, origins = [k + 1] * len(arrows), [centre] * len(arrows)
                line.log(
                    f"{entity_of(objects, k)}/front",
                    rr.Arrows3D(vectors=arrows, origins=origins, class_ids=ids, show_labels=False),
                )


def _length(objects: Objects, k: int) -> float:
    """The longest side of a box; 1 where its size is unknown."""
    size = None if objects.size is None else objects.size[k]
    return float(size.max()) if size is not None and np.isfinite(size).all() else 1.0


def name_masks(line: Timeline, scene: Scene) -> None:
    """Gives boxes and masks of an object the same colour, and masks their names."""
    if scene.objects is not None:
        names = [(k + 1, printable(label)) for k, label in enumerate(scene.objects.labels)]
        line.fixed("/", rr.AnnotationContext([(0, "", (0, 0, 0, 0)), *names]))


def show_masks(line: Timeline, scene: Scene, camera: PictureCamera, frame: int) -> None:
    """The masks of a frame, or the boxes that a detector gave; none where the frame has none."""
    objects = scene.objects
    if objects is None:
        return
    row = int(find_rows(objects.frames, frame))
    ids = objects.ids[row] if row >= 0 else np.full((1, 1), -1, dtype=np.int32)
    if objects.box_px is not None:
        _show_detected(line, objects, camera, row)
    if (objects.ids < 0).all():
        return
    numbers = (camera.mask(ids) + 1).astype(np.uint16 if len(objects.labels) < 1 << 16 else np.uint32)
    line.log(_MASKS, rr.SegmentationImage(numbers, opacity=0.4))


def _show_detected(line: Timeline, objects: Objects, camera: PictureCamera, row: int) -> None:
    assert objects.box_px is not None
    boxes = objects.box_px[row] if row >= 0 else np.full_like(objects.box_px[0], np.nan)
    here: Bool[np.ndarray, "k"] = np.isfinite(boxes).all(axis=(1, 2))
    rows = np.flatnonzero(here)
    corners = camera.pixels(boxes[rows].reshape(-1, 2)).reshape(-1, 2, 2)
    line.log(
        f"{PICTURE}/boxes",
        rr.Boxes2D(
            mins=corners[:, 0],
            sizes=corners[:, 1] - corners[:, 0],
            labels=[printable(objects.labels[k]) for k in rows],
            class_ids=rows + 1,
        ),
    )
