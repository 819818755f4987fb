"""Whole objects of a rendered scene: the boxes of each, and the smallest box around them."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import Rotation

from experts.objects.box_corners import box_corners
from spatial_engine.rendering.boxes import Box

OBJECT_FROM_FRONT = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""Rotates axes (x front, y left, z up) into those of a box, whose front is -y."""


@dataclass(frozen=True, kw_only=True)
class WholeObject:
    """What a person calls by one name. Its boxes are fixed to each other."""

    name: str
    boxes: tuple[int, ...]
    """Ids of its boxes in the scene."""
    fronts: int
    """1: it faces along -y of its box; 2, 4: looks the same after a half or quarter rotation; 0: none; -1: unknown."""
    size_m: Float64[np.ndarray, "3"]
    """Sides of the smallest upright box around it; with a front, along the axes of its first box."""
    first_from_object: Float64[np.ndarray, "4 4"]
    """Pose of that box in the frame of the first."""

    def world_from_object(self, world_from_boxes: Float64[np.ndarray, "k 4 4"]) -> Float64[np.ndarray, "4 4"]:
        """Its pose in a frame, from the poses of the scene's boxes in it."""
        return world_from_boxes[self.boxes[0]] @ self.first_from_object


def grouped(boxes: Sequence[Box], world_from_boxes: Float64[np.ndarray, "k 4 4"]) -> tuple[WholeObject, ...]:
    """Objects in the order of their first boxes: those of one `Piece` make one, any other is one by itself."""
    rows: dict[object, list[int]] = {}
    for row, box in enumerate(boxes):
        rows.setdefault(row if box.of is None else box.of, []).append(row)
    return tuple(_whole(boxes, world_from_boxes, of) for of in rows.values())


def _whole(boxes: Sequence[Box], world_from_boxes: Float64[np.ndarray, "k 4 4"], rows: list[int]) -> WholeObject:
    first, first_from_world = boxes[rows[0]], np.linalg.inv(world_from_boxes[rows[0]])
    sizes = np.array([boxes[row].size_m for row in rows])
    corners = box_corners(first_from_world @ world_from_boxes[rows], sizes).reshape(-1, 3)
    pose = np.eye(4)
    if first.fronts == 0 and len(rows) > 1:
        angle_deg = cv2.minAreaRect(corners[:, :2].astype(np.float32))[2]
        pose[:3, :3] = Rotation.from_euler("z", angle_deg, degrees=True).as_matrix()
    low, high = (extreme(corners @ pose[:3, :3], axis=0) for extreme in (np.min, np.max))
    pose[:3, 3] = pose[:3, :3] @ (low + high) / 2
    name = first.name if first.of is None else first.of.name
    return WholeObject(name=name, boxes=tuple(rows), fronts=first.fronts, size_m=high - low, first_from_object=pose)
