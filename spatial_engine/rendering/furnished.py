"""Rooms with many objects: names that repeat, objects in and on others, a screen that hides, a doorway, movers."""

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np

from spatial_engine.rendering import pieces
from spatial_engine.rendering.boxes import Box, placed, standing
from spatial_engine.rendering.floor_plan import DOORWAY_M, WALL_M, FloorPlan, Rectangle, Standing, axes_of
from spatial_engine.rendering.furnished_paths import PathKind, camera_path, moving_boxes
from spatial_engine.rendering.furniture import CEILING, room
from spatial_engine.rendering.pieces import Furniture, Place
from spatial_engine.rendering.random_materials import random_floor, random_seed, random_wall
from spatial_engine.rendering.round_pieces import LARGE_BODIES, rounded
from spatial_engine.rendering.scene import Effects, RenderedScene, camera

_LINTEL_M = 2.1
_BESIDE_PATH_M = 0.3
"""Half of what stays free of objects where the camera goes."""
_FILLED = 0.75
"""Share of the places in and on furniture that hold a small object."""


def furnished_room(
    rng: np.random.Generator,
    *,
    frames: int = 60,
    width_px: int = 320,
    height_px: int = 240,
    fps: float = 10.0,
    vfov_deg: float | None = None,
    path: PathKind | None = None,
    movers: int | None = None,
    round_objects: bool = False,
    effects: Effects | None = None,
) -> RenderedScene:
    """Two rooms with a doorway between them, about 50 objects of about 35 names, 3 to 6 chairs, all with exact truth.

    `path`: look round by 200 to 330°, orbit the table, or walk through the doorway. `movers`: up to 3 objects that move
    along two legs; the first goes behind the screen and back. Both are drawn by default. Raises ValueError for others.
    `round_objects`: jars, cups and the like of the same room are round, and balls, bins, cones and boards are added.
    """
    kind: PathKind = path or get_args(PathKind)[rng.integers(3)]
    count = int(rng.integers(4)) if movers is None else movers
    if kind not in get_args(PathKind) or not 0 <= count <= 3:
        raise ValueError(f"path is {kind!r}, movers {count}: allowed are {get_args(PathKind)} and 0 to 3")
    plan = _empty_plan(rng, kind)
    world_from_cam = camera_path(rng, plan, kind, frames)
    eyes = world_from_cam[:, :2, 3]
    plan.taken.extend(Rectangle(middle_m=eye, half_m=np.full(2, _BESIDE_PATH_M)) for eye in eyes)
    size = rng.uniform([1.1, 0.7, 0.68], [1.5, 0.9, 0.76]).tolist()
    plan.put(pieces.table_with(rng, "table", tuple(size)), plan.table_m, rng.uniform(-20, 20))
    _put_along_walls(rng, plan)
    moving = moving_boxes(rng, plan, eyes.mean(axis=0), frames, count)
    _put_loose(rng, plan)
    if round_objects:
        _put_round(rng.spawn(1)[0], plan)
    return RenderedScene(
        intrinsics=camera(width_px, height_px, vfov_deg=vfov_deg or rng.uniform(64, 76)),
        room=room(plan.size_m, random_floor(rng), tuple(random_wall(rng) for _ in range(4)), CEILING),
        boxes=(
            *plan.boxes,
            *(rounded(box) if round_objects else box for box in _small_objects(rng, plan.standing)),
        ),
        moving_boxes=tuple(moving),
        partitions=_partition(rng, plan),
        doorways_m=(plan.doorway_m,),
        world_from_cam=world_from_cam,
        fps=fps,
        effects=effects or Effects(),
        seed=random_seed(rng),
        texel_m=0.004 * max(1.0, 640 / width_px),
    )


def _empty_plan(rng: np.random.Generator, kind: PathKind) -> FloorPlan:
    """The table stands in the middle, or aside where the camera looks round from the middle."""
    wall, y = rng.uniform(5.4, 6.0), rng.uniform(5.2, 5.8)
    aside = rng.choice([-1, 1], 2) * [1.0, 0.7] if kind == "look_round" else np.zeros(2)
    plan = FloorPlan(
        size_m=(wall + rng.uniform(2.8, 3.4), y, rng.uniform(2.4, 2.8)),
        wall_x_m=wall,
        door_y_m=rng.uniform(0.35, 0.65) * y,
        table_m=np.array([wall, y]) / 2 + aside + rng.uniform(-0.2, 0.2, 2),
    )
    before = Rectangle(middle_m=np.array([wall, plan.door_y_m]), half_m=np.array([0.6, DOORWAY_M / 2]))
    plan.taken.append(before)
    return plan


def _partition(rng: np.random.Generator, plan: FloorPlan) -> tuple[Box, ...]:
    """Two walls and what is above the doorway."""
    (x, low), (_, high) = plan.doorway_m
    cover, (_, y, z) = random_wall(rng), plan.size_m
    return (
        standing("wall", (WALL_M, low, z), (x, low / 2, 0), side=cover),
        standing("wall", (WALL_M, y - high, z), (x, (y + high) / 2, 0), side=cover),
        standing("lintel", (WALL_M, DOORWAY_M, z - _LINTEL_M), (x, plan.door_y_m, _LINTEL_M), side=cover),
    )


_Wall = tuple[tuple[float, float], tuple[float, float], float]
"""Start and end of a wall on the plan, and the yaw of pieces with their backs to it."""


def _put_along_walls(rng: np.random.Generator, plan: FloorPlan) -> None:
    x, y, z = plan.size_m
    wall = plan.wall_x_m
    larger: list[Furniture] = [
        pieces.shelf(rng, rng.uniform(1.4, min(2.0, z - 0.4))),
        pieces.chest(rng, "sideboard"),
        pieces.cupboard(rng),
        pieces.sofa(rng),
        pieces.door(rng),
        pieces.window(rng),
        pieces.picture(rng),
        pieces.mirror(rng),
        pieces.picture(rng),
    ]
    smaller = [
        pieces.bed(rng),
        pieces.shelf(rng, rng.uniform(1.2, 1.8)),
        pieces.chest(rng, "dresser"),
        pieces.table_with(rng, "desk", (rng.uniform(1.0, 1.3), 0.6, 0.74)),
        pieces.picture(rng),
        pieces.window(rng),
    ]
    north, south = ((0.1, y), (wall - 0.1, y), 0.0), ((wall - 0.1, 0.0), (0.1, 0.0), 180.0)
    _side_by_side(rng, plan, [north, ((0.0, 0.9), (0.0, y - 0.9), 90.0), south], larger)
    north, south = ((wall + 0.2, y), (x - 0.7, y), 0.0), ((x - 0.7, 0.0), (wall + 0.2, 0.0), 180.0)
    _side_by_side(rng, plan, [((x, y - 0.1), (x, 0.1), -90.0), north, south], smaller)


def _side_by_side(
    rng: np.random.Generator, plan: FloorPlan, walls: Sequence[_Wall], items: Sequence[Furniture]
) -> None:
    """Pieces in random order, each at the first of the walls, in random order, that has room for it."""
    used = [rng.uniform(0.1, 0.5) for _ in walls]
    for k in rng.permutation(len(items)):
        for w in rng.permutation(len(walls)):
            step = _at_wall(plan, items[k], walls[w], used[w])
            if step is not None:
                used[w] = step + rng.uniform(0.15, 0.4)
                break


def _at_wall(plan: FloorPlan, item: Furniture, wall: _Wall, used_m: float) -> float | None:
    """Puts a piece at a wall behind what stands there, and gives the length that is used then; None without room."""
    start, end, yaw = wall
    along, back = axes_of(yaw).T
    half = item.half_m
    length = float(np.linalg.norm(np.subtract(end, start)))
    for at in np.arange(used_m + half[0], length - half[0], 0.15):
        if plan.put(item, np.array(start) + along * at - back * (half[1] + 0.01), yaw):
            return float(at + half[0])
    return None


def _put_loose(rng: np.random.Generator, plan: FloorPlan) -> None:
    """What stands freely: chairs, most of them near the table, and one of each other piece in either room."""
    larger, smaller = plan.larger_room(0.4), plan.smaller_room(0.4)
    near = plan.table_m + np.array([[-1.3, -1.1], [1.3, 1.1]])
    for k in range(int(rng.integers(3, 7))):
        areas = (near, larger, smaller) if k < 4 else (smaller, larger)
        plan.scatter(rng, pieces.chair(rng), *areas)
    make: tuple[tuple[Callable[[np.random.Generator], Furniture], np.ndarray], ...] = (
        (lambda rng: pieces.open_box(rng, "box"), larger),
        (lambda rng: pieces.open_box(rng, "tub"), smaller),
        (pieces.floor_lamp, larger),
        (pieces.potted_plant, larger),
        (pieces.stool, larger),
        (pieces.potted_plant, smaller),
        (pieces.stool, smaller),
        (lambda rng: pieces.small_object(rng, "suitcase"), larger),
        (lambda rng: pieces.small_object(rng, "speaker"), larger),
        (lambda rng: pieces.small_object(rng, "speaker"), smaller),
    )
    for item, area in make:
        plan.scatter(rng, item(rng), area)


def _put_round(rng: np.random.Generator, plan: FloorPlan) -> None:
    """Bodies on the floor of either room, most of them in the larger one; drawn apart from everything else."""
    larger, smaller = plan.larger_room(0.4), plan.smaller_room(0.4)
    for make in (*LARGE_BODIES, *LARGE_BODIES):
        plan.scatter(rng, make(rng), larger, smaller)


def _small_objects(rng: np.random.Generator, hosts: Sequence[Standing]) -> list[Box]:
    """Objects in and on pieces: every name once, in random order, then names that repeat."""
    names, boxes = [str(name) for name in rng.permutation(pieces.SMALL_NAMES)], []
    for host in hosts:
        pose = placed((*host.foot_m.tolist(), 0.0), host.yaw_deg)
        for place in host.item.places:
            fitting = _fitting(rng, [*names, *pieces.REPEATED_NAMES], place) if rng.random() < _FILLED else None
            if fitting is not None:
                name, item, turn = fitting
                x, y, z = (pose @ [*place.at_m, 1.0])[:3].tolist()
                boxes += item.moved((x, y, z), host.yaw_deg + turn)
                names = [other for other in names if other != name]
    return boxes


def _fitting(rng: np.random.Generator, names: Sequence[str], place: Place) -> tuple[str, Furniture, float] | None:
    """The first of several objects that fits into a place, and how it is turned there in degrees."""
    turn = float(rng.uniform(-25, 25))
    for name in names:
        item = pieces.small_object(rng, name)
        size = np.append(2 * np.abs(axes_of(turn)) @ item.half_m, item.boxes[0].size_m[2])
        if (size <= place.size_m).all():
            return name, item, turn
    return None
