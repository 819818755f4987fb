"""A furnished room in which a camera stands, and is moved in whole steps along the floor."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import cv2
import numpy as np
from jaxtyping import Bool, Float64, Int64, UInt8
from scipy.ndimage import distance_transform_edt

from experts.objects.box_corners import box_corners
from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.camera_paths import Stance
from spatial_engine.rendering.furnished import furnished_room
from spatial_engine.rendering.scene import RenderedScene

STEP_M, TURN_DEG = 0.25, 15
MOVES = ("Dolly In", "Dolly Out", "Truck Left", "Truck Right", "Pan Left", "Pan Right")
"""One step each, level; the names of `action_mapping.primitives`."""
_AHEAD = np.array([1, -1, 0, 0, 0, 0]) * STEP_M
_RIGHT = np.array([0, 0, -1, 1, 0, 0]) * STEP_M
_TURNS = np.array([0, 0, 0, 0, 1, -1])
HEADINGS = 360 // TURN_DEG
_EYE_M, _PITCH_RAD, _VFOV_DEG = 1.5, np.radians(-10), 68.0
_RADIUS_M = 0.2
"""The camera keeps this far from walls and objects."""
_CELL_M = 0.05
_FLAT_M = 0.02
"""What is lower does not stand in the way."""

Stands = Float64[np.ndarray, "n 3"]
"""x, y in metres; heading in steps of `TURN_DEG`, anticlockwise from +y, 0 to 23."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """A room and its free floor. World: metres, z up, a corner of the room at the origin."""

    scene: RenderedScene
    size_px: ClassVar[tuple[int, int]] = (448, 336)

    @classmethod
    def of(cls, seed: int) -> "Room":
        """The furnished room of a seed, in which nothing moves."""
        width, height = cls.size_px
        rng = np.random.default_rng(seed)
        scene = furnished_room(rng, frames=2, width_px=width, height_px=height, vfov_deg=_VFOV_DEG, movers=0)
        return cls(scene=scene)

    def moved(self, stands: Stands, moves: Int64[np.ndarray, "n"]) -> tuple[Stands, Bool[np.ndarray, "n"]]:
        """Where one step of each (rows of `MOVES`) leads, and whether the way is free; a blocked step leads nowhere."""
        yaw = np.radians(TURN_DEG * stands[:, 2])
        ahead, right = _AHEAD[moves], _RIGHT[moves]
        x, y = right * np.cos(yaw) - ahead * np.sin(yaw), right * np.sin(yaw) + ahead * np.cos(yaw)
        way = np.column_stack([x, y])
        free = self.free(stands[:, :2] + way) & self.free(stands[:, :2] + way / 2)
        heading = (stands[:, 2] + _TURNS[moves]) % HEADINGS
        return np.where(free[:, None], np.column_stack([stands[:, :2] + way, heading]), stands), free

    def free(self, xy_m: Float64[np.ndarray, "n 2"]) -> Bool[np.ndarray, "n"]:
        """Whether the camera may be at a place."""
        cell = np.floor(xy_m / _CELL_M).astype(np.int64)
        inside = np.asarray(((cell >= 0) & (cell < self._distance_m.T.shape)).all(axis=1))
        column, row = np.where(inside[:, None], cell, 0).T
        return inside & (self._distance_m[row, column] >= _RADIUS_M)

    def photo(self, stand: Float64[np.ndarray, "3"]) -> UInt8[np.ndarray, "h w 3"]:
        """What the camera shows there."""
        return self._seen_from(stand).picture(0)

    def object_ids(self, stand: Float64[np.ndarray, "3"]) -> np.ndarray:
        """Row of `scene.objects` at each pixel of the photo; -1 for the room itself."""
        return self._seen_from(stand).object_ids(0)

    def distance_m(self, stands: Stands, row: int) -> Float64[np.ndarray, "n"]:
        """Horizontal distances to the rectangle around an object, 0 inside of it."""
        corners, xy = self.corners_m(row)[:, :2], stands[:, :2]
        beside = np.maximum(corners.min(axis=0) - xy, xy - corners.max(axis=0))
        return np.asarray(np.linalg.norm(np.maximum(0, beside), axis=1))

    def corners_m(self, row: int) -> Float64[np.ndarray, "8 3"]:
        """Of the box around an object."""
        size = self.scene.objects[row].size_m
        return box_corners(self.scene.world_from_objects(0)[row][None], np.array([size]))[0]

    def _seen_from(self, stand: Float64[np.ndarray, "3"]) -> RenderedScene:
        at = Stance(
            at_m=(float(stand[0]), float(stand[1]), _EYE_M),
            yaw_rad=float(np.radians(TURN_DEG * stand[2])),
            pitch_rad=float(_PITCH_RAD),
        )
        return replace(self.scene, world_from_cam=camera_paths.static(1, at))

    @cached_property
    def _distance_m(self) -> Float64[np.ndarray, "h w"]:
        """From the middle of each cell of the floor to the next wall or object that is not above the camera."""
        width, height = (int(side / _CELL_M) for side in self.scene.room.size_m[:2])
        free = np.zeros((height + 2, width + 2), dtype=np.uint8)
        free[1:-1, 1:-1] = 1
        for box in (*self.scene.boxes, *self.scene.partitions):
            corners = box_corners(box.world_from_box[None], np.array([box.size_m]))[0]
            if corners[:, 2].max() > _FLAT_M and corners[:, 2].min() < _EYE_M + _RADIUS_M:
                cells = np.floor(corners[:, :2] / _CELL_M).astype(np.int32) + 1
                cv2.fillConvexPoly(free, cv2.convexHull(cells), 0)
        return np.asarray(distance_transform_edt(free)[1:-1, 1:-1] * _CELL_M)
