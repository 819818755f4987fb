"""Ground truth of the objects of a rendered scene: whole objects, their fronts, their parts."""

import numpy as np
from jaxtyping import Int32, Int64

from experts.objects.box_orientation import BoxFront, box_orientation
from experts.provenance import Provenance
from experts.signals import CameraPath, ObjectOrientation, Objects, Parts
from spatial_engine.rendering.scene import RenderedScene


def true_objects(
    scene: RenderedScene, frames: Int64[np.ndarray, "n"], box_ids: Int32[np.ndarray, "n h w"], source: Provenance
) -> Objects:
    """Every object, seen or not. `box_ids`: the scene's ids in `frames`."""
    return Objects(
        frames=frames,
        labels=tuple(item.name for item in scene.objects),
        ids=scene.object_of_boxes[box_ids],
        world_from_object=np.stack([scene.world_from_objects(int(f)) for f in frames]),
        provenance=source,
        size=np.array([item.size_m for item in scene.objects]).reshape(-1, 3),
        complete=("*",),
    )


def true_parts(
    scene: RenderedScene, frames: Int64[np.ndarray, "n"], box_ids: Int32[np.ndarray, "n h w"], source: Provenance
) -> Parts:
    """Every box of an object of several boxes."""
    several = [(k, row) for k, item in enumerate(scene.objects) for row in item.boxes if len(item.boxes) > 1]
    part_of_boxes = np.full(len(scene.labels) + 1, -1, dtype=np.int32)  # the last is for id -1
    part_of_boxes[[row for _, row in several]] = np.arange(len(several))
    return Parts(
        frames=frames,
        names=tuple(scene.labels[row] for _, row in several),
        object=np.array([k for k, _ in several], dtype=np.int64),
        affords=tuple(scene.furniture[row].affords for _, row in several),
        ids=part_of_boxes[box_ids],
        provenance=source,
    )


def true_orientation(scene: RenderedScene, objects: Objects, path: CameraPath, sigma_rad: float) -> ObjectOrientation:
    """Fronts of every object ahead of the camera, seen or not."""
    fronts = [BoxFront(front="-y" if item.fronts > 0 else None, fronts=item.fronts) for item in scene.objects]
    return box_orientation(objects, path, fronts, sigma_rad, objects.provenance)
