"""The room that a manifest states: outline, height and doorways from its file, free floor from the listed objects."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int32

from experts.objects.box_corners import box_corners
from experts.provenance import Provenance
from experts.signals import Room
from spatial_engine.errors import UsageError
from spatial_engine.sequences import manifest
from spatial_engine.sequences.known_objects import KnownObjects
from spatial_engine.sequences.manifest import ListedRoom

_CELLS = 100
"""Cells along the longer side of the plan."""
_LEAST_CORNERS = 3
_SIGMAS = 3.0


def read_room(
    path: Path,
    stated: manifest.Room,
    up_world: tuple[float, float, float] | None,
    objects: KnownObjects | None,
    provenance: Provenance,
) -> Room:
    """The room in a file. Raises `UsageError`."""
    if up_world is None:
        raise UsageError("room: without gravity.up_world nobody knows which way its floor lies", "state up_world")
    listed = manifest.read_json_as(ListedRoom, path)
    if 0 < len(listed.outline) < _LEAST_CORNERS:
        raise UsageError(f"{path}: outline: {len(listed.outline)} corners", "three or more, or none")
    if listed.height is not None and not listed.height > 0:
        raise UsageError(f"{path}: height: {listed.height:g}", "a height above 0; leave it out where it is not known")
    world_from_floor = _level(np.array(up_world, dtype=np.float64), listed.floor)
    outline = _anticlockwise(_on_plan(world_from_floor, np.array(listed.outline, dtype=np.float64).reshape(-1, 3)))
    doors = _on_plan(world_from_floor, np.array(listed.doors, dtype=np.float64).reshape(-1, 3)).reshape(-1, 2, 2)
    if not (np.isfinite(outline).all() and np.isfinite(doors).all() and np.isfinite(listed.floor)):
        raise UsageError(f"{path}: a number is not finite", "write null for what is not known, or leave it out")
    cell = float(np.ptp(outline, axis=0).max()) / _CELLS if len(outline) else 1.0
    return Room(
        world_from_floor=world_from_floor,
        floor_sigma=stated.sigma,
        outline=outline,
        wall_sigma=np.full(len(outline), stated.sigma),
        height=np.nan if listed.height is None else listed.height,
        height_sigma=np.nan if listed.height is None else stated.sigma,
        doorways=doors,
        cells=_cells(outline, cell, world_from_floor, objects, stated.sigma),
        cell=cell,
        cells_from=outline.min(axis=0) if len(outline) else np.zeros(2),
        provenance=provenance,
    )


def _level(up: Float64[np.ndarray, "3"], floor: float) -> Float64[np.ndarray, "4 4"]:
    """A frame on the floor below the world's origin, with z up."""
    z = up / np.linalg.norm(up)
    x = np.eye(3)[int(np.abs(z).argmin())]
    x = (x - z * (z @ x)) / np.linalg.norm(x - z * (z @ x))
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = np.stack([x, np.cross(z, x), z], axis=1), z * floor
    return pose


def _on_plan(
    world_from_floor: Float64[np.ndarray, "4 4"], places: Float64[np.ndarray, "n 3"]
) -> Float64[np.ndarray, "n 2"]:
    return ((places - world_from_floor[:3, 3]) @ world_from_floor[:3, :3])[:, :2]


def _anticlockwise(outline: Float64[np.ndarray, "m 2"]) -> Float64[np.ndarray, "m 2"]:
    after = np.roll(outline, -1, axis=0)
    area = np.sum(outline[:, 0] * after[:, 1] - outline[:, 1] * after[:, 0])
    return outline if area >= 0 else outline[::-1].copy()


def _cells(
    outline: Float64[np.ndarray, "m 2"],
    cell: float,
    world_from_floor: Float64[np.ndarray, "4 4"],
    objects: KnownObjects | None,
    sigma: float,
) -> Int32[np.ndarray, "h w"]:
    """Free floor is known where every object is listed with its box; what hangs above the floor leaves it unknown."""
    import cv2

    if not len(outline):
        return np.zeros((0, 0), dtype=np.int32)
    start = outline.min(axis=0)
    width, height = np.ceil(np.ptp(outline, axis=0) / cell).astype(int)
    drawn = np.zeros((height, width), dtype=np.uint8)
    listed = objects is not None and "*" in objects.complete and bool(np.isfinite(objects.size).all())
    places = np.round((outline - start) / cell - 0.5).astype(np.int32)
    cv2.fillPoly(drawn, [places], 1 if listed else 0)
    for stands, footprint in sorted(_footprints(world_from_floor, objects, sigma), key=lambda each: each[0]):
        cv2.fillPoly(drawn, [np.round((footprint - start) / cell - 0.5).astype(np.int32)], 2 if stands else 0)
    return drawn.astype(np.int32)


def _footprints(
    world_from_floor: Float64[np.ndarray, "4 4"], objects: KnownObjects | None, sigma: float
) -> Iterator[tuple[bool, Float64[np.ndarray, "c 2"]]]:
    """Whether a box reaches down to the floor, and the outline of what lies below it, for each place of each object."""
    from scipy.spatial import ConvexHull

    if objects is None:
        return
    for poses, size in zip(objects.world_from_object.swapaxes(0, 1), objects.size, strict=True):
        for pose in np.unique(poses[np.isfinite(poses).all(axis=(1, 2))], axis=0) if np.isfinite(size).all() else ():
            world = box_corners(pose, size)
            lowest = float(((world - world_from_floor[:3, 3]) @ world_from_floor[:3, 2]).min())
            below = _on_plan(world_from_floor, world)
            yield lowest <= _SIGMAS * max(sigma, objects.sigma), below[ConvexHull(below).vertices]
