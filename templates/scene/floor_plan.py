"""The floor plan of a room as a map: free floor, walls, doorways, objects with their names, and the camera path."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial import ConvexHull

from experts.objects.box_corners import box_corners
from experts.signals import CameraPath, Objects, Room
from templates.media import XY, Colour, Drawing, Line, Polygon, ScaleBar

_ROUND = np.deg2rad(np.arange(0, 360, 22.5))


def floor_plan(room: Room, objects: Objects | None = None, path: CameraPath | None = None) -> Drawing:
    """The room from above, in the x and y of its floor.

    Free floor is light, floor on which something stands is grey, floor that was not seen is blank. A wall that was not
    seen is dashed. Objects without a known place or size are left out. All three signals must be of one world.
    """
    floor_from_world = np.linalg.inv(room.world_from_floor)
    return Drawing(
        polygons=(*_cells(room), *_footprints(objects, floor_from_world)),
        lines=(*_walls(room), *(Line(points=_points(ends), colour="white") for ends in room.doorways)),
        polylines=_camera_path(path, floor_from_world),
        scale_bar=ScaleBar(length=1.0, text="1 m") if path is not None and path.scale.kind == "metric" else None,
    )


def _cells(room: Room) -> Iterator[Polygon]:
    """Rectangles of equal cells."""
    fills: tuple[tuple[int, Colour], ...] = ((1, "light"), (2, "grey"))
    for kind, fill in fills:
        for top, bottom, left, right in rectangles(room.cells == kind):
            low, high = (room.cells_from + room.cell * np.array(at) for at in ((left, top), (right, bottom)))
            corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
            yield Polygon(corners=_points(corners), fill=fill, edge=None)


def rectangles(mask: Bool[np.ndarray, "h w"]) -> Iterator[tuple[int, int, int, int]]:
    """First and last row and column (the last ones excluded) of rectangles that cover the mask: equal runs of
    neighbouring rows."""
    started: dict[tuple[int, int], int] = {}
    for row in range(len(mask) + 1):
        ends = np.flatnonzero(np.diff(np.pad(mask[row].astype(np.int8), 1))) if row < len(mask) else np.zeros(0, int)
        runs = {(int(a), int(b)) for a, b in ends.reshape(-1, 2)}
        for run in [run for run in started if run not in runs]:
            yield started.pop(run), row, *run
        started |= {run: row for run in runs if run not in started}


def _walls(room: Room) -> Iterator[Line]:
    ends = np.stack([room.outline, np.roll(room.outline, -1, axis=0)], axis=1)
    for wall, sigma in zip(ends, room.wall_sigma, strict=True):
        yield Line(points=_points(wall), dashed=not np.isfinite(sigma))


def _footprints(objects: Objects | None, floor_from_world: Float64[np.ndarray, "4 4"]) -> list[Polygon]:
    """The largest first, so that what stands on a table lies over it."""
    found: list[tuple[float, Polygon]] = []
    for k, name in enumerate([] if objects is None or objects.size is None else objects.labels):
        assert objects is not None and objects.size is not None
        poses, size = objects.world_from_object[:, k], objects.size[k]
        placed = np.flatnonzero(np.isfinite(poses[:, :3, 3]).all(axis=1))
        if not len(placed) or not np.isfinite(size).all() or not (size > 0).all():
            continue
        xy = _seen_from_above(floor_from_world @ poses[placed[-1]], size)
        hull = ConvexHull(xy)
        found.append((hull.volume, Polygon(corners=_points(xy[hull.vertices]), text=name, fill="blue", edge="blue")))
    return [polygon for _, polygon in sorted(found, key=lambda each: -each[0])]


def _seen_from_above(
    floor_from_object: Float64[np.ndarray, "4 4"], size: Float64[np.ndarray, "3"]
) -> Float64[np.ndarray, "c 2"]:
    """Corners of a box on the plan; around its middle where its rotation is not known: it looks the same from all
    sides."""
    if np.isfinite(floor_from_object).all():
        return box_corners(floor_from_object, size)[:, :2]
    return floor_from_object[:2, 3] + np.median(size) / 2 * np.stack([np.cos(_ROUND), np.sin(_ROUND)], axis=1)


def _camera_path(path: CameraPath | None, floor_from_world: Float64[np.ndarray, "4 4"]) -> tuple[tuple[XY, ...], ...]:
    if path is None:
        return ()
    at = path.world_from_cam[path.registered, :3, 3]
    at = at[np.isfinite(at).all(axis=1)] @ floor_from_world[:3, :3].T + floor_from_world[:3, 3]
    return (_points(at[:, :2]),) if len(at) else ()


def _points(xy: Float64[np.ndarray, "n 2"]) -> tuple[XY, ...]:
    return tuple((float(x), float(y)) for x, y in xy)
