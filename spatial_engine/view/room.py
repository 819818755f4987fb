"""The room: its outline on the floor and at the ceiling, its doorways, and the cells of its plan."""

import numpy as np
import rerun as rr
from jaxtyping import Float64

from experts.signals import Room
from spatial_engine.view.timeline import Timeline

ROOM = "world/room"
_WALL, _DOOR = (240, 240, 240), (255, 196, 0)
_CELLS = np.array([(0, 0, 0, 0), (80, 200, 120, 90), (200, 80, 80, 120)], dtype=np.uint8)
"""Colours of cells that were not seen, are free, and hold something."""


def show_room(line: Timeline, room: Room) -> None:
    """Writes the room in the frame of its floor."""
    pose = room.world_from_floor
    line.fixed(ROOM, rr.Transform3D(translation=pose[:3, 3], mat3x3=pose[:3, :3]))
    if len(room.outline) > 1:
        closed = np.concatenate([room.outline, room.outline[:1]])
        strips = [_at_height(closed, 0.0)]
        if np.isfinite(room.height):
            strips += [_at_height(closed, room.height)]
            strips += [np.array([[x, y, 0.0], [x, y, room.height]]) for x, y in room.outline]
        line.fixed(f"{ROOM}/walls", rr.LineStrips3D(strips, colors=[_WALL] * len(strips)))
    if len(room.doorways):
        doors = [_at_height(ends, 0.0) for ends in room.doorways]
        line.fixed(
            f"{ROOM}/doorways", rr.LineStrips3D(doors, colors=[_DOOR] * len(doors), labels=["doorway"] * len(doors))
        )
    if room.cells.size:
        height, width = room.cells.shape
        line.fixed(
            f"{ROOM}/floor",
            rr.GridMap(
                data=np.ascontiguousarray(_CELLS[room.cells[::-1]]).tobytes(),  # its first row is the farthest along y
                format=rr.components.ImageFormat(width=width, height=height, color_model="RGBA", channel_datatype="U8"),
                cell_size=room.cell,
                translation=[*room.cells_from, 0.0],
            ),
        )


def _at_height(xy: Float64[np.ndarray, "n 2"], height: float) -> Float64[np.ndarray, "n 3"]:
    return np.column_stack([xy, np.full(len(xy), height)])
