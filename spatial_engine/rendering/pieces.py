"""Furniture drawn at random, with parts that afford something, and places in or on it for small objects."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64

from spatial_engine.rendering.boxes import Box, Piece, placed, standing
from spatial_engine.rendering.furniture import DRAWERS, WINDOW, cloth, crate, painting, plant, table
from spatial_engine.rendering.random_materials import random_colour, random_seed, random_wood
from spatial_engine.rendering.textures import Material

_BOARD_M = 0.025


@dataclass(frozen=True, kw_only=True)
class Place:
    """Room for one small object on a piece of furniture, or in it."""

    at_m: tuple[float, float, float]
    """Middle of the face that it stands on, in the frame of the piece."""
    size_m: tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Furniture:
    """A piece at the origin: its foot is centred there, its front looks along -y."""

    boxes: tuple[Box, ...]
    places: tuple[Place, ...] = ()

    @property
    def half_m(self) -> Float64[np.ndarray, "2"]:
        """Half the sides of a rectangle around the origin that contains its footprint."""
        corners = [
            np.abs(b.world_from_box[:2, 3]) + np.abs(b.world_from_box[:2, :2]) @ b.half_m[:2] for b in self.boxes
        ]
        return np.asarray(np.max(corners, axis=0))

    def moved(self, at_m: tuple[float, float, float], yaw_deg: float) -> list[Box]:
        """Its boxes with its foot at a place, turned anticlockwise."""
        pose = placed(at_m, yaw_deg)
        return [replace(box, world_from_box=pose @ box.world_from_box) for box in self.boxes]


def chair(rng: np.random.Generator) -> Furniture:
    """Seat, back and four legs."""
    wood, whole = random_wood(rng), Piece(name="chair")
    w, h, top = rng.uniform(0.42, 0.48), rng.uniform(0.43, 0.47), rng.uniform(0.82, 0.95)
    stuff = cloth(random_colour(rng), random_colour(rng), random_seed(rng))
    inset = w / 2 - 0.03
    feet = [(sx * inset, sy * inset, 0.0) for sx in (-1, 1) for sy in (-1, 1)]
    return Furniture(
        boxes=(
            standing("seat", (w, w, 0.05), (0, 0, h - 0.05), side=wood, top=stuff, of=whole, affords=("sit on",)),
            standing("back", (w, 0.04, top - h), (0, w / 2 - 0.02, h), side=stuff, of=whole, affords=("lean on",)),
            *(standing("leg", (0.05, 0.05, h - 0.05), foot, side=wood, of=whole) for foot in feet),
        )
    )


def stool(rng: np.random.Generator) -> Furniture:
    """A seat on four legs."""
    w, h = rng.uniform(0.3, 0.4), rng.uniform(0.45, 0.6)
    boxes = table("stool", (w, w, h), (0.0, 0.0), random_wood(rng))
    return Furniture(boxes=(replace(boxes[0], name="seat", affords=("sit on",)), *boxes[1:]))


def table_with(rng: np.random.Generator, name: str, size_m: tuple[float, float, float]) -> Furniture:
    """A table with room for objects on it."""
    return Furniture(
        boxes=tuple(table(name, size_m, (0.0, 0.0), random_wood(rng))),
        places=_row(size_m[0], size_m[1], size_m[2], 0.5),
    )


def sofa(rng: np.random.Generator) -> Furniture:
    """Seat, back and arms."""
    whole, w = Piece(name="sofa"), rng.uniform(1.4, 1.9)
    stuff = cloth(random_colour(rng), random_colour(rng), random_seed(rng))
    arms = [
        standing("arm", (0.16, 0.65, 0.6), (s * (w / 2 - 0.08), -0.1, 0), side=stuff, of=whole, affords=("lean on",))
        for s in (-1, 1)
    ]
    seat = standing("seat", (w - 0.32, 0.65, 0.42), (0, -0.1, 0), side=stuff, of=whole, affords=("sit on",))
    back = standing("back", (w, 0.2, 0.85), (0, 0.325, 0), side=stuff, of=whole, affords=("lean on",))
    return Furniture(boxes=(seat, back, *arms), places=_row(w - 0.4, 0.5, 0.42, 0.6))


def bed(rng: np.random.Generator) -> Furniture:
    """A mattress on a frame with a board at the head."""
    wood, whole, w = random_wood(rng), Piece(name="bed"), rng.uniform(0.9, 1.5)
    stuff = cloth(random_colour(rng, 120, 220), random_colour(rng), random_seed(rng))
    return Furniture(
        boxes=(
            standing("frame", (w, 1.98, 0.3), (0, 0, 0), side=wood, of=whole),
            standing("mattress", (w - 0.04, 1.9, 0.2), (0, -0.02, 0.3), side=stuff, of=whole, affords=("lie on",)),
            standing("head", (w, 0.05, 0.95), (0, 1.0, 0), side=wood, of=whole),
        ),
        places=(Place(at_m=(0, 0.65, 0.5), size_m=(w - 0.2, 0.5, 0.5)),),
    )


def shelf(rng: np.random.Generator, height_m: float) -> Furniture:
    """Compartments of boards, open to the front, with room for one object in each."""
    wood, whole, w, d = random_wood(rng), Piece(name="shelf"), rng.uniform(1.0, 1.4), 0.34
    rows = max(3, round(height_m / 0.38))
    step = (height_m - _BOARD_M) / rows
    boards = [
        standing("board", (w - 2 * _BOARD_M, d, _BOARD_M), (0, 0, k * step), side=wood, of=whole, affords=("put on",))
        for k in range(rows + 1)
    ]
    uprights = [
        standing("side", (_BOARD_M, d, height_m), (x * (w - _BOARD_M) / 2, 0, 0), side=wood, of=whole)
        for x in (-1, 0, 1)
    ]
    back = standing("back", (w, _BOARD_M, height_m), (0, (d + _BOARD_M) / 2, 0), side=wood, of=whole)
    free = (w / 2 - 2 * _BOARD_M, d - 0.04, step - _BOARD_M - 0.04)
    places = [
        Place(at_m=(x * w / 4, 0, k * step + _BOARD_M), size_m=free) for k in range(rows) for x in (-1, 1)
    ]  # fmt: skip
    return Furniture(boxes=(uprights[1], *boards, uprights[0], uprights[2], back), places=tuple(places))


def cupboard(rng: np.random.Generator) -> Furniture:
    """A body, two doors, a handle on each."""
    wood, whole = random_wood(rng), Piece(name="cupboard")
    w, d, h = rng.uniform(0.8, 1.2), 0.5, rng.uniform(1.6, 2.0)
    front = -d / 2
    doors = [
        standing("door", (w / 2 - 0.01, 0.02, h - 0.1), (s * w / 4, front - 0.01, 0.06), side=wood, of=whole)
        for s in (-1, 1)
    ]
    body = standing("body", (w, d, h), (0, 0, 0), side=random_wood(rng), of=whole)
    return Furniture(boxes=(body, *doors, *(_handle((s * 0.06, front, 0.5 * h), whole, tall=True) for s in (-1, 1))))


def chest(rng: np.random.Generator, name: str) -> Furniture:
    """A chest of drawers with a handle on each, and room on it."""
    wood, whole = random_wood(rng), Piece(name=name)
    w, d, h = rng.uniform(0.9, 1.5), 0.44, rng.uniform(0.7, 0.95)
    rows, front = int(rng.integers(2, 4)), -d / 2
    step = (h - 0.08) / rows
    lift = [0.05 + k * step for k in range(rows)]
    drawers = [
        standing(
            "drawer", (w - 0.06, 0.02, step - 0.02), (0, front - 0.01, z), side=wood, of=whole, affords=("pull out",)
        )
        for z in lift
    ]
    body = standing("body", (w, d, h), (0, 0, 0), side=random_wood(rng), of=whole)
    handles = [_handle((0, front, z + 0.6 * step), whole, tall=False) for z in lift]
    return Furniture(boxes=(body, *drawers, *handles), places=_row(w, d, h, 0.4))


def _handle(at_m: tuple[float, float, float], whole: Piece, *, tall: bool) -> Box:
    """A bar on a front that is 2 cm thick."""
    size = (0.025, 0.03, 0.16) if tall else (0.16, 0.03, 0.025)
    metal = Material(kind="plaster", colour=(64, 64, 70), seed=1)
    foot = (at_m[0], at_m[1] - 0.035, at_m[2])
    return standing("handle", size, foot, side=metal, of=whole, affords=("pull", "open"))


def screen(rng: np.random.Generator) -> Furniture:
    """A folding screen of three panels that hides what is behind it."""
    stuff, whole = cloth(random_colour(rng), random_colour(rng), random_seed(rng)), Piece(name="screen", fronts=2)
    w, h, fold = rng.uniform(0.5, 0.6), rng.uniform(1.5, 1.8), 15.0
    reach, rise = 0.5 * w * (1 + np.cos(np.deg2rad(fold))), 0.5 * w * np.sin(np.deg2rad(fold))
    wings = [
        standing("panel", (w, 0.03, h), (s * reach, rise, 0), side=stuff, yaw_deg=s * fold, of=whole) for s in (-1, 1)
    ]
    return Furniture(boxes=(standing("panel", (w, 0.03, h), (0, 0, 0), side=stuff, of=whole), *wings))


def open_box(rng: np.random.Generator, name: str) -> Furniture:
    """A bottom and four low walls, with room for two objects inside."""
    cover = crate(random_seed(rng), random_colour(rng), random_colour(rng))
    x, y, h = rng.uniform(0.55, 0.8), rng.uniform(0.4, 0.5), rng.uniform(0.22, 0.3)
    whole = Piece(name=name, fronts=2)
    walls = [standing("wall", (x, 0.02, h), (0, s * (y - 0.02) / 2, 0), side=cover, of=whole) for s in (-1, 1)]
    ends = [standing("wall", (0.02, y - 0.04, h), (s * (x - 0.02) / 2, 0, 0), side=cover, of=whole) for s in (-1, 1)]
    bottom = standing("bottom", (x - 0.04, y - 0.04, 0.02), (0, 0, 0), side=cover, of=whole, affords=("put in",))
    free = (x / 2 - 0.05, y - 0.08, h - 0.02)
    return Furniture(
        boxes=(bottom, *walls, *ends), places=tuple(Place(at_m=(s * x / 4, 0, 0.02), size_m=free) for s in (-1, 1))
    )


def floor_lamp(rng: np.random.Generator) -> Furniture:
    """Foot, pole and shade."""
    whole, h = Piece(name="lamp", fronts=0), rng.uniform(1.4, 1.7)
    metal = Material(kind="plaster", colour=(70, 66, 60), seed=2)
    shade = cloth(random_colour(rng, 180, 240), random_colour(rng), random_seed(rng))
    return Furniture(
        boxes=(
            standing("foot", (0.28, 0.28, 0.03), (0, 0, 0), side=metal, of=whole),
            standing("pole", (0.03, 0.03, h - 0.3), (0, 0, 0.03), side=metal, of=whole),
            standing("shade", (0.34, 0.34, 0.28), (0, 0, h - 0.28), side=shade, yaw_deg=45, of=whole),
        )
    )


def potted_plant(rng: np.random.Generator) -> Furniture:
    """A pot with a bush."""
    return Furniture(boxes=tuple(plant((0.0, 0.0), rng.uniform(0.8, 1.3))))


def door(rng: np.random.Generator) -> Furniture:
    """A closed door in a wall, with a handle."""
    whole = Piece(name="door")
    leaf = standing("leaf", (0.9, 0.05, 2.05), (0, 0, 0), side=random_wood(rng), of=whole)
    return Furniture(boxes=(leaf, _handle((0.36, -0.01, 1.0), whole, tall=False)))


def window(rng: np.random.Generator) -> Furniture:
    """Glass with a view, its sill at 0.9 m."""
    glass = replace(WINDOW, seed=random_seed(rng))
    size = (rng.uniform(0.9, 1.4), 0.05, 1.2)
    return Furniture(boxes=(standing("window", size, (0, 0, 0.9), side=random_wood(rng), front=glass),))


def mirror(rng: np.random.Generator) -> Furniture:
    """A tall frame on a wall; its glass does not reflect."""
    glass = Material(kind="plaster", colour=(196, 206, 214), seed=random_seed(rng))
    size = (rng.uniform(0.4, 0.6), 0.04, rng.uniform(1.1, 1.4))
    return Furniture(boxes=(standing("mirror", size, (0, 0, 0.6), side=random_wood(rng), front=glass),))


def picture(rng: np.random.Generator) -> Furniture:
    """A painting in a frame, hung at 1.35 m."""
    view = painting(random_seed(rng), random_colour(rng, 140, 210), random_colour(rng, 60, 120))
    size = (rng.uniform(0.5, 0.9), 0.04, rng.uniform(0.4, 0.6))
    return Furniture(boxes=(standing("picture", size, (0, 0, 1.35), side=random_wood(rng), front=view),))


_SMALL: dict[str, tuple[tuple[float, float, float], tuple[float, float, float]]] = {
    "book": ((0.16, 0.12, 0.16), (0.24, 0.18, 0.24)),
    "cup": ((0.09, 0.09, 0.10), (0.12, 0.12, 0.14)),
    "jar": ((0.10, 0.10, 0.16), (0.14, 0.14, 0.24)),
    "vase": ((0.10, 0.10, 0.20), (0.14, 0.14, 0.30)),
    "radio": ((0.24, 0.12, 0.16), (0.32, 0.16, 0.24)),
    "clock": ((0.16, 0.08, 0.18), (0.24, 0.11, 0.26)),
    "kettle": ((0.16, 0.14, 0.18), (0.20, 0.18, 0.26)),
    "toaster": ((0.24, 0.16, 0.17), (0.30, 0.19, 0.22)),
    "basket": ((0.24, 0.18, 0.14), (0.34, 0.24, 0.22)),
    "parcel": ((0.20, 0.16, 0.12), (0.32, 0.24, 0.20)),
    "camera": ((0.15, 0.11, 0.12), (0.20, 0.14, 0.16)),
    "teapot": ((0.17, 0.13, 0.14), (0.22, 0.17, 0.18)),
    "toy car": ((0.18, 0.11, 0.11), (0.26, 0.15, 0.14)),
    "printer": ((0.34, 0.24, 0.16), (0.40, 0.27, 0.24)),
    "cushion": ((0.34, 0.14, 0.28), (0.42, 0.18, 0.38)),
    "bucket": ((0.20, 0.20, 0.20), (0.26, 0.26, 0.26)),
    "helmet": ((0.22, 0.20, 0.16), (0.27, 0.23, 0.20)),
    "lantern": ((0.13, 0.13, 0.22), (0.17, 0.17, 0.30)),
    "pot": ((0.18, 0.18, 0.12), (0.25, 0.25, 0.18)),
    "bread": ((0.22, 0.12, 0.11), (0.30, 0.16, 0.15)),
    "bag": ((0.24, 0.14, 0.22), (0.32, 0.20, 0.30)),
    "game": ((0.24, 0.18, 0.08), (0.30, 0.26, 0.12)),
    "globe": ((0.20, 0.20, 0.26), (0.25, 0.25, 0.32)),
    "drill": ((0.20, 0.10, 0.18), (0.26, 0.13, 0.24)),
    "fan": ((0.22, 0.16, 0.26), (0.28, 0.20, 0.34)),
    "tin": ((0.10, 0.10, 0.11), (0.14, 0.14, 0.16)),
}
"""Least and greatest sides, metres."""
SMALL_NAMES = tuple(_SMALL)
"""Names of objects for places."""
REPEATED_NAMES = ("book", "jar", "cup")
"""Those of which a room may hold several."""
_ON_FLOOR = {"speaker": ((0.2, 0.2, 0.4), (0.28, 0.26, 0.7)), "suitcase": ((0.4, 0.2, 0.3), (0.6, 0.28, 0.5))}
_FACED = frozenset({"radio", "clock", "toaster", "camera", "printer", "speaker", "fan"})


def small_object(rng: np.random.Generator, name: str) -> Furniture:
    """A box of the size of what the name says; some have a front."""
    size = rng.uniform(*(_SMALL | _ON_FLOOR)[name]).tolist()
    kind = str(rng.choice(["fabric", "crate", "wood"]))
    cover = Material(kind=kind, colour=random_colour(rng), accent=random_colour(rng), seed=random_seed(rng))
    front = replace(DRAWERS, colour=random_colour(rng), seed=random_seed(rng)) if name in _FACED else None
    return Furniture(boxes=(standing(name, size, (0, 0, 0), side=cover, front=front),))


def _row(width_m: float, depth_m: float, height_m: float, step_m: float) -> tuple[Place, ...]:
    """Places side by side on a top."""
    count = max(1, int(width_m / step_m))
    free = (width_m / count - 0.06, depth_m - 0.06, 0.5)
    return tuple(
        Place(at_m=((k + 0.5) * width_m / count - width_m / 2, 0, height_m), size_m=free) for k in range(count)
    )
