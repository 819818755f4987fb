"""Ground truth of the objects of a rendered scene: whole objects, their fronts, their parts."""

import numpy as np
from jaxtyping import Float64, Int32, Int64

from experts.objects.object_angles import angles_of, look_along
from experts.provenance import Provenance
from experts.signals import ObjectOrientation, Objects, Parts
from spatial_engine.rendering.objects import OBJECT_FROM_FRONT
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


def true_orientation(
    scene: RenderedScene, frames: Int64[np.ndarray, "n"], source: Provenance, sigma_rad: float
) -> ObjectOrientation:
    """Fronts of every object, seen or not. Without a front, the azimuth and the rotation into the camera are NaN."""
    fronts = np.array([item.fronts for item in scene.objects], dtype=np.int32)
    shape = len(frames), len(fronts)
    angles, cam_from_object = np.empty((*shape, 3)), np.empty((*shape, 3, 3))
    for n, frame in enumerate(frames):
        cam_from_box = np.linalg.inv(scene.world_from_cam[frame]) @ scene.world_from_objects(int(frame))
        for k, pose in enumerate(cam_from_box):
            cam_from_object[n, k] = pose[:3, :3] @ OBJECT_FROM_FRONT
            angles[n, k] = angles_along_ray(cam_from_object[n, k], pose[:3, 3])
    angles[:, fronts < 1, 0] = np.nan
    angles[:, fronts < 0] = np.nan
    cam_from_object[:, fronts < 1] = np.nan
    return ObjectOrientation(
        frames=frames,
        azimuth_rad=angles[..., 0],
        polar_rad=angles[..., 1],
        rotation_rad=angles[..., 2],
        sigma_rad=np.where(np.isfinite(angles), sigma_rad, np.inf),
        cam_from_object=cam_from_object,
        fronts=np.tile(fronts, (len(frames), 1)),
        provenance=source,
    )


def angles_along_ray(
    cam_from_object: Float64[np.ndarray, "3 3"], centre_cam: Float64[np.ndarray, "3"]
) -> tuple[float, float, float]:
    """Azimuth, polar and rotation of an object, relative to the ray to its centre."""
    return angles_of(look_along(centre_cam / np.linalg.norm(centre_cam)).T @ cam_from_object)
