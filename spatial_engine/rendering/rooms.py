"""As many different furnished rooms as a seed gives."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.rendering import camera_paths
from spatial_engine.rendering.boxes import Box, MovingBox, Piece, sliding, standing
from spatial_engine.rendering.camera_paths import Poses, Stance
from spatial_engine.rendering.furniture import (
    BOOKS,
    CEILING,
    DOOR,
    DRAWERS,
    WINDOW,
    cloth,
    crate,
    painting,
    plant,
    room,
    table,
)
from spatial_engine.rendering.random_materials import (
    random_colour,
    random_floor,
    random_seed,
    random_wall,
    random_wood,
)
from spatial_engine.rendering.scene import Effects, RenderedScene, camera
from spatial_engine.rendering.textures import Material

_HANGING_M = 1.3
"""Height of the lower edge of pictures."""


def random_room(
    rng: np.random.Generator,
    *,
    frames: int = 40,
    width_px: int = 320,
    height_px: int = 240,
    fps: float = 10.0,
    vfov_deg: float | None = None,
    path: Callable[[int, Stance], Poses] | None = None,
    moving_object: bool = False,
    effects: Effects | None = None,
) -> RenderedScene:
    """A room with furniture along three walls and a camera at the fourth that looks at them.

    `path(n, start)` is any of `camera_paths`; by default a short walk. The start is level, ± 20° from straight ahead;
    there is room for 1.3 m of travel. Nothing stands in the camera's way, nor in the middle if an object moves there.
    """
    size = (rng.uniform(4.2, 6.0), rng.uniform(4.2, 5.2), rng.uniform(2.4, 2.9))
    boxes = [
        *_along_wall(rng, size[2], (0.0, size[1]), 0.0, size[0]),
        *_along_wall(rng, size[2], (0.0, 1.6), 90.0, size[1] - 2.2),
        *_along_wall(rng, size[2], (size[0], size[1] - 0.6), -90.0, size[1] - 2.2),
        *([] if moving_object else _middle(rng, size)),
    ]
    at = (size[0] * rng.uniform(0.35, 0.6), 0.5, rng.uniform(1.1, 1.6))
    start = Stance(at_m=at, yaw_rad=rng.uniform(-0.35, 0.35))
    world_from_cam = (path or _short_walk)(frames, start)
    return RenderedScene(
        intrinsics=camera(width_px, height_px, vfov_deg=vfov_deg or rng.uniform(38, 60)),
        room=room(size, random_floor(rng), tuple(random_wall(rng) for _ in range(4)), CEILING),
        boxes=tuple(b for b in boxes if not _reached(b, world_from_cam)),
        moving_boxes=(_moving_box(rng, size, start, frames),) if moving_object else (),
        world_from_cam=world_from_cam,
        fps=fps,
        effects=effects or Effects(),
        seed=int(rng.integers(1 << 31)),
        texel_m=0.004 * max(1.0, 640 / width_px),
    )


def _short_walk(frames: int, start: Stance) -> Poses:
    return camera_paths.walk(frames, start, length_m=0.9, turn_rad=0.35)


def _reached(box: Box, world_from_cam: Poses) -> bool:
    """Whether the camera comes within 0.3 m."""
    in_box = np.linalg.inv(box.world_from_box) @ world_from_cam[:, :, 3:]
    return bool(np.any(np.all(np.abs(in_box[:, :3, 0]) < box.half_m + 0.3, axis=1)))


def _along_wall(
    rng: np.random.Generator, ceiling_m: float, corner: tuple[float, float], yaw_deg: float, length: float
) -> list[Box]:
    """Pieces side by side, backs to a wall that runs from `corner` along `yaw_deg`; the room lies to its right."""
    along, inward = Rotation.from_euler("z", yaw_deg, degrees=True).apply([[1, 0, 0], [0, -1, 0]])[:, :2]
    boxes: list[Box] = []
    used = rng.uniform(0.5, 0.8)
    while True:
        piece = _piece(rng, ceiling_m)
        width = max(part.extent[0] for part in piece)
        if used + width > length - 0.1:
            return boxes
        for part in piece:
            x, y = np.array(corner) + along * (used + width / 2) + inward * (part.extent[1] / 2 + 0.01)
            boxes.append(
                standing(
                    part.name,
                    part.extent,
                    (x, y, part.height),
                    side=part.side,
                    front=part.front,
                    yaw_deg=yaw_deg,
                    of=part.of,
                )
            )
        used += width + rng.uniform(0.08, 0.5)


class Part(NamedTuple):
    """A box of a piece of furniture, its back to the wall."""

    name: str
    extent: tuple[float, float, float]
    height: float
    """Of its foot."""
    side: Material
    front: Material | None = None
    of: Piece | None = None


def _piece(rng: np.random.Generator, ceiling_m: float) -> list[Part]:
    """A piece of furniture to put at a wall, perhaps with objects on it."""
    wood, seed = random_wood(rng), random_seed(rng)
    match str(rng.choice(["shelf", "sideboard", "cupboard", "sofa", "window", "door"])):
        case "shelf":
            books = Material(kind=BOOKS.kind, colour=wood.colour, seed=seed)
            return [Part("shelf", (rng.uniform(0.8, 1.4), 0.34, rng.uniform(1.2, ceiling_m - 0.4)), 0, wood, books)]
        case "sideboard":
            front = Material(kind=DRAWERS.kind, colour=wood.colour, accent=(215, 200, 160), seed=seed)
            width, height = rng.uniform(1.0, 1.6), rng.uniform(0.6, 0.95)
            radio = crate(seed, random_colour(rng), random_colour(rng))
            on_it = Part("radio", (rng.uniform(0.25, 0.5), 0.22, rng.uniform(0.2, 0.35)), height, radio)
            return [Part("sideboard", (width, 0.44, height), 0, wood, front), on_it, _picture(rng, width)]
        case "cupboard":
            doors = Material(kind=DOOR.kind, colour=wood.colour, accent=(60, 60, 60), seed=seed)
            return [Part("cupboard", (rng.uniform(0.7, 1.2), 0.55, rng.uniform(1.5, 2.1)), 0, wood, doors)]
        case "sofa":
            stuff, width = cloth(random_colour(rng), random_colour(rng), seed), rng.uniform(1.2, 1.8)
            sofa = Piece(name="sofa")
            seat = Part("seat", (width, 0.8, 0.42), 0, stuff, of=sofa)
            return [seat, Part("back", (width, 0.2, 0.85), 0, stuff, of=sofa), _picture(rng, width)]
        case "window":
            return [Part("window", (rng.uniform(0.9, 1.5), 0.05, 1.2), 0.9, wood, replace(WINDOW, seed=seed))]
        case _:
            return [
                Part("door", (0.9, 0.06, 2.05), 0, wood, Material(kind="door", colour=random_colour(rng), seed=seed))
            ]


def _picture(rng: np.random.Generator, width: float) -> Part:
    extent = (width * rng.uniform(0.4, 0.8), 0.04, rng.uniform(0.45, 0.75))
    view = painting(random_seed(rng), random_colour(rng, 140, 210), random_colour(rng, 60, 120))
    return Part("picture", extent, _HANGING_M, random_wood(rng), view)


def _middle(rng: np.random.Generator, size: tuple[float, float, float]) -> list[Box]:
    """A rug, a table with something on it, loose boxes, a plant."""
    x, y = size[0] * rng.uniform(0.4, 0.6), rng.uniform(2.4, 2.9)
    rug = Material(
        kind="rug", colour=random_colour(rng, 60, 140), accent=random_colour(rng, 150, 220), seed=random_seed(rng)
    )
    height, parcel = rng.uniform(0.4, 0.75), crate(random_seed(rng), random_colour(rng), random_colour(rng))
    boxes = [
        standing(
            "rug", (rng.uniform(1.4, 2.4), rng.uniform(1.0, 1.6), 0.012), (x, y, 0), side=random_wood(rng), top=rug
        ),
        *table("table", (rng.uniform(0.7, 1.2), rng.uniform(0.5, 0.8), height), (x, y), random_wood(rng)),
        standing("parcel", (0.3, 0.22, 0.18), (x, y, height), side=parcel, yaw_deg=rng.uniform(0, 90)),
    ]
    for side in (-1, 1):
        foot = (x + side * rng.uniform(1.0, 1.4), y + rng.uniform(-0.3, 0.4))
        if rng.random() < 0.5:
            boxes += plant(foot, rng.uniform(0.8, 1.3))
        else:
            edge = rng.uniform(0.3, 0.5, 3).tolist()
            box = crate(random_seed(rng), random_colour(rng), random_colour(rng))
            boxes.append(standing("box", edge, (*foot, 0), side=box, yaw_deg=rng.uniform(0, 90)))
    return boxes


def _moving_box(rng: np.random.Generator, size: tuple[float, float, float], start: Stance, frames: int) -> MovingBox:
    """A tall crate that slides from one side of the first view to the other, about 2.5 m ahead."""
    side = rng.choice([-1.0, 1.0])
    ahead = start.yaw_rad + np.pi / 2 + side * rng.uniform([0.18, -0.26], [0.26, -0.18])
    reach = rng.uniform([2.2, 2.5], [2.5, 2.9])
    feet = np.array(start.at_m)[:2] + reach[:, None] * np.stack([np.cos(ahead), np.sin(ahead)], axis=1)
    feet = np.clip(feet, 0.5, np.array(size)[:2] - [0.5, 1.2])
    t = np.linspace(0, 1, frames)[:, None]
    along = np.c_[feet[0] * (1 - t) + feet[1] * t, np.full(frames, 0.012)]
    edges = (rng.uniform(0.4, 0.55), rng.uniform(0.4, 0.55), start.at_m[2] - rng.uniform(0.2, 0.4))
    box = standing("crate", edges, (0, 0, 0), side=crate(random_seed(rng), random_colour(rng), random_colour(rng)))
    return sliding(box, along, rng.uniform(-40, 40) + np.linspace(0, rng.uniform(-60, 60), frames))
