"""Which objects hang on a wall of a room, stand on its floor against one, or stand clear of all walls."""

import numpy as np
from jaxtyping import Bool, Float64

from experts.objects.box_corners import box_corners
from experts.objects.object_names import folded
from experts.signals import Room
from templates.columns import Texts
from templates.scene.object_boxes import Number, Row, boxes_of
from templates.scene.object_gaps import gaps
from templates.scene.room_walls import inside
from templates.scene.scene import Scene
from templates.scene.stands import beneath, margins_of_support
from templates.scene.support import FLOOR, UNKNOWN

HANGS, AGAINST, CLEAR, UPON = "hangs", "against", "clear", "upon"
"""A wall alone holds it up; it stands on the floor and touches a wall; it stands on the floor away from all walls;
another object carries it."""
_TOUCH_M, _SIGMAS, _BORDER_M, _CLEAR_M = 0.02, 2.0, 0.15, 0.3
"""What touches a wall is within this distance and so many σ of it; what is clear of it is at least so far away. The
border between them."""
_LEAST_HEIGHT_M = 0.15
"""Of what stands against a wall: a mat does not."""
_HIGH_M, _ALONE_M = 0.3, 0.05
"""Least height above the floor of what hangs, and least distance from any other object."""
_OF_WALLS = ("door", "doorway", "gate")
"""They are a part of the wall."""
_GRID = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, 9)] * 2), axis=-1).reshape(-1, 2)
_CORNERS = np.abs(_GRID).min(axis=1) == 0.5


def at_wall(scene: Scene, frame: Row, object: Row) -> tuple[Texts, Number]:
    """One of the four words for each object, "" where it is not known; and the margin in σ."""
    word, margin = np.full(len(frame), "", dtype="<U8"), np.full(len(frame), np.nan)
    for each in np.unique(frame).tolist():
        rows = np.flatnonzero((frame == each) & (object >= 0))
        found = scene.once(("at wall", each), lambda each=each: _at_wall(scene, each))  # type: ignore[misc]
        word[rows], margin[rows] = (column[object[rows]] for column in found)
    return word, margin


def _at_wall(scene: Scene, frame: int) -> tuple[Texts, Number]:
    below, room = beneath(scene, frame), scene.room
    every, frames = np.arange(len(below)), np.full(len(below), frame)
    supported = margins_of_support(scene, frame)
    word = np.where(below >= 0, UPON, "").astype("<U8")
    margin = np.where(below >= 0, supported, np.nan)
    if scene.objects is None or room is None or not len(room.outline) or np.isnan(scene.metre_relative_sigma):
        return word, margin
    known, pose, size, centre_sigma, side_sigma = boxes_of(scene, frames, every)
    floor_from_object = np.linalg.inv(room.world_from_floor) @ pose
    gap, wall_sigma, bottom, height = _from_walls(room, floor_from_object, size)
    sigma = np.sqrt(centre_sigma**2 + (side_sigma.max(axis=1) / 2) ** 2 + wall_sigma**2)
    of_wall = np.isin([folded(label).rpartition(" ")[2] for label in scene.objects.labels], _OF_WALLS)
    with np.errstate(invalid="ignore", divide="ignore"):
        flush = known & ~of_wall & (gap[:, 1] <= _TOUCH_M + _SIGMAS * sigma) & (height >= _LEAST_HEIGHT_M)
        free = known & (gap[:, 0] >= _CLEAR_M) & ~_beside_something(scene, room, floor_from_object, size)
        apart = np.abs(gap[:, 0] - _BORDER_M) / sigma
        high = (bottom - _HIGH_M / 2) / np.hypot(sigma, room.floor_sigma)
    held = flush & (below == UNKNOWN) & (bottom >= _HIGH_M) & ("*" in scene.objects.complete)
    held[held] = [_alone(scene, frame, k) for k in np.flatnonzero(held).tolist()]
    cases = (held, flush & (below == FLOOR), free & (below == FLOOR))
    for which, name, by in zip(cases, (HANGS, AGAINST, CLEAR), (high, supported, supported), strict=True):
        word[which], margin[which] = name, np.fmin(apart, by)[which]
    return word, margin


def _from_walls(
    room: Room, floor_from_object: Float64[np.ndarray, "k 4 4"], size: Float64[np.ndarray, "k 3"]
) -> tuple[Float64[np.ndarray, "k 2"], Number, Number, Number]:
    """Distances of the nearest point of each footprint, and of the second corner of its nearest side, from the nearest
    wall; σ of that wall; height above the floor, and height."""
    corners = box_corners(floor_from_object, size)
    xy, start = _footprint(floor_from_object, size), room.outline
    along = np.roll(start, -1, axis=0) - start
    share = ((xy[:, :, None] - start) * along).sum(axis=-1) / (along**2).sum(axis=1)
    distance = np.linalg.norm(xy[:, :, None] - start - np.clip(share, 0, 1)[..., None] * along, axis=-1)
    wall = np.nan_to_num(distance, nan=np.inf).min(axis=1).argmin(axis=1)
    of_wall = np.take_along_axis(distance, wall[:, None, None], axis=2)[..., 0]
    second = np.sort(of_wall[:, _CORNERS], axis=1)[:, 1]
    bottom, top = corners[..., 2].min(axis=1), corners[..., 2].max(axis=1)
    return np.column_stack([of_wall.min(axis=1), second]), room.wall_sigma[wall], bottom, top - bottom


def _footprint(
    floor_from_object: Float64[np.ndarray, "k 4 4"], size: Float64[np.ndarray, "k 3"]
) -> Float64[np.ndarray, "k p 2"]:
    """Points on the plan that the boxes of objects cover, as upright as they are."""
    flat = np.argsort(np.abs(np.nan_to_num(floor_from_object[:, 2, :3])), axis=1)[:, :2]
    sides, axes = np.take_along_axis(size, flat, axis=1), np.take_along_axis(floor_from_object, flat[:, None], axis=2)
    return np.asarray(
        np.einsum("kij,kpj->kpi", axes[:, :2], _GRID * sides[:, None]) + floor_from_object[:, None, :2, 3]
    )


def _beside_something(
    scene: Scene, room: Room, floor_from_object: Float64[np.ndarray, "k 4 4"], size: Float64[np.ndarray, "k 3"]
) -> Bool[np.ndarray, "k"]:
    """Whether floor near an object is not seen to be free, and no object stands there: an inner wall may."""
    row, column = np.indices(room.cells.shape)
    xy = room.cells_from + (np.stack([column, row], axis=-1).reshape(-1, 2) + 0.5) * room.cell
    doubtful = xy[(room.cells.ravel() != 1) & inside(room.outline, xy)]
    near = np.stack([_from_box(each, s, doubtful) for each, s in zip(floor_from_object, size, strict=True)])
    unexplained = ~(near <= room.cell).any(axis=0)
    return np.asarray((near[:, unexplained] < _CLEAR_M).any(axis=1))


def _from_box(
    floor_from_object: Float64[np.ndarray, "4 4"], size: Float64[np.ndarray, "3"], xy: Float64[np.ndarray, "p 2"]
) -> Float64[np.ndarray, "p"]:
    """Distances of places on the plan from an upright box; NaN for an unknown one."""
    flat = np.argsort(np.abs(np.nan_to_num(floor_from_object[2, :3])))[:2]
    local = (xy - floor_from_object[:2, 3]) @ floor_from_object[:2, flat]
    return np.asarray(np.linalg.norm(np.maximum(np.abs(local) - size[flat] / 2, 0), axis=1))


def _alone(scene: Scene, frame: int, object: int) -> bool:
    """Whether nothing else may hold an object up: the boxes of all others are known, and clear of its own."""
    assert scene.objects is not None
    others = np.delete(np.arange(len(scene.objects.labels)), object)
    gap, sigma, _ = gaps(scene, np.full(len(others), frame), np.full(len(others), object), others)
    return bool((gap > _ALONE_M + _SIGMAS * sigma).all())
