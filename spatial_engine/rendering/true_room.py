"""Ground truth of the room of a rendered scene: floor, walls, doorways, and where something stands."""

import numpy as np
from jaxtyping import Float64, Int32

from experts.provenance import Provenance
from experts.signals import Room
from spatial_engine.rendering.boxes import Box
from spatial_engine.rendering.scene import RenderedScene

CELL_M = 0.1
_STEP_M, _HEAD_M = 0.05, 1.8
"""What ends below the one (a rug) or begins above the other (a lamp) leaves the floor free."""


def true_room(scene: RenderedScene, source: Provenance, sigma_m: float) -> Room:
    """The outer walls as outline. Moving objects leave the floor free; every cell is known, seen or not."""
    x, y, height = scene.room.size_m
    world_from_floor = scene.room.world_from_box.copy()
    world_from_floor[:3, 3] -= world_from_floor[:3, :3] @ scene.room.half_m
    return Room(
        world_from_floor=world_from_floor,
        floor_sigma=sigma_m,
        outline=np.array([[0, 0], [x, 0], [x, y], [0, y]]),
        wall_sigma=np.full(4, sigma_m),
        height=height,
        height_sigma=sigma_m,
        doorways=np.array(scene.doorways_m, dtype=float).reshape(-1, 2, 2),
        cells=_cells(scene, np.linalg.inv(world_from_floor)),
        cell=CELL_M,
        cells_from=np.zeros(2),
        provenance=source,
    )


def _cells(scene: RenderedScene, floor_from_world: Float64[np.ndarray, "4 4"]) -> Int32[np.ndarray, "h w"]:
    columns, rows = (int(np.ceil(side / CELL_M - 1e-9)) for side in scene.room.size_m[:2])
    middles = (np.stack(np.meshgrid(np.arange(columns), np.arange(rows)), axis=-1) + 0.5) * CELL_M
    cells = np.ones((rows, columns), dtype=np.int32)
    for box in (*scene.boxes, *scene.partitions):
        pose = floor_from_world @ box.world_from_box
        reach = float(np.abs(pose[2, :3]) @ box.half_m)
        if pose[2, 3] + reach > _STEP_M and pose[2, 3] - reach < _HEAD_M:
            cells[_touched(middles, pose, box)] = 2
    return cells


def _touched(middles: Float64[np.ndarray, "h w 2"], pose: Float64[np.ndarray, "4 4"], box: Box) -> np.ndarray:
    """Cells that the footprint of an upright box overlaps: no axis of either rectangle separates them."""
    axes, offset = pose[:2, :2], middles - pose[:2, 3]
    reach = np.abs(axes)
    along_plan = np.abs(offset) < CELL_M / 2 + reach @ box.half_m[:2]
    along_box = np.abs(offset @ axes) < CELL_M / 2 * reach.sum(axis=0) + box.half_m[:2]
    return np.asarray((along_plan & along_box).all(axis=-1))
