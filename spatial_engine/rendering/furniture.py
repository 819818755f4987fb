"""Materials, and pieces made of boxes."""

from spatial_engine.rendering.boxes import Box, Piece, placed, standing
from spatial_engine.rendering.textures import Colour, Material

OAK = Material(kind="wood", colour=(176, 132, 88), seed=1)
WALNUT = Material(kind="wood", colour=(112, 78, 54), seed=2)
WHITE = Material(kind="wood", colour=(222, 218, 208), seed=3)
BOOKS = Material(kind="books", colour=(170, 126, 84), seed=4)
DRAWERS = Material(kind="drawers", colour=(150, 108, 72), accent=(214, 196, 150), seed=5)
WINDOW = Material(kind="window", colour=(140, 186, 226), accent=(84, 122, 66), seed=6)
DOOR = Material(kind="door", colour=(196, 182, 156), accent=(206, 176, 96), seed=7)
CEILING = Material(kind="plaster", colour=(250, 248, 242), seed=9)
TERRACOTTA = Material(kind="tiles", colour=(186, 96, 66), accent=(150, 74, 52), seed=10)
LEAVES = Material(kind="fabric", colour=(82, 124, 66), accent=(44, 78, 38), seed=11, contrast=3.0)
LAMPSHADE = Material(kind="fabric", colour=(250, 228, 178), accent=(236, 200, 140), seed=12)


def cloth(colour: Colour, accent: Colour, seed: int) -> Material:
    """Striped fabric."""
    return Material(kind="fabric", colour=colour, accent=accent, seed=seed)


def painting(seed: int, sky: Colour, land: Colour) -> Material:
    """A framed landscape."""
    return Material(kind="painting", colour=sky, accent=land, seed=seed)


def crate(seed: int, colour: Colour, accent: Colour) -> Material:
    """Boards with stencilled marks."""
    return Material(kind="crate", colour=colour, accent=accent, seed=seed)


def room(size_m: tuple[float, float, float], floor: Material, walls: tuple[Material, ...], ceiling: Material) -> Box:
    """An empty room: floor at z = 0, a corner at the origin; walls -x, +x, -y, +y."""
    x, y, z = size_m
    faces = (*walls, floor, ceiling)
    return Box(name="room", size_m=size_m, world_from_box=placed([x / 2, y / 2, z / 2]), materials=faces)


def table(name: str, size_m: tuple[float, float, float], foot_m: tuple[float, float], wood: Material) -> list[Box]:
    """A top and four legs."""
    x, y, z = size_m
    inset_x, inset_y, leg = x / 2 - 0.06, y / 2 - 0.06, (0.06, 0.06, z - 0.05)
    feet = [(foot_m[0] + sx * inset_x, foot_m[1] + sy * inset_y, 0.0) for sx in (-1, 1) for sy in (-1, 1)]
    whole = Piece(name=name, fronts=4 if x == y else 2)
    legs = [standing("leg", leg, foot, side=wood, of=whole) for foot in feet]
    return [standing("top", (x, y, 0.05), (*foot_m, z - 0.05), side=wood, of=whole, affords=("put on",)), *legs]


def plant(foot_m: tuple[float, float], height_m: float) -> list[Box]:
    """A pot with a bush of turned cubes."""
    x, y = foot_m
    bush, whole = height_m - 0.34, Piece(name="plant", fronts=0)
    leaves = (
        ((0.34, 0.34, 0.6 * bush), (x, y, 0.34), 20),
        ((0.40, 0.26, 0.4 * bush), (x + 0.03, y - 0.02, 0.34 + 0.3 * bush), 65),
        ((0.22, 0.22, 0.5 * bush), (x - 0.02, y, 0.34 + 0.5 * bush), -10),
    )
    return [
        standing("pot", (0.32, 0.32, 0.34), (x, y, 0), side=TERRACOTTA, of=whole),
        *(standing("leaves", size, foot, side=LEAVES, yaw_deg=yaw, of=whole) for size, foot, yaw in leaves),
    ]


def lamp(foot_m: tuple[float, float, float]) -> list[Box]:
    """A foot and a shade."""
    (x, y, z), whole = foot_m, Piece(name="lamp", fronts=0)
    return [
        standing("foot", (0.1, 0.1, 0.22), (x, y, z), side=TERRACOTTA, yaw_deg=45, of=whole),
        standing("shade", (0.3, 0.3, 0.24), (x, y, z + 0.22), side=LAMPSHADE, yaw_deg=15, of=whole),
    ]


def armchair(foot_m: tuple[float, float], colour: Colour, accent: Colour, seed: int) -> list[Box]:
    """Seat, back and arms, its back to +y; axis-aligned."""
    (x, y), whole = foot_m, Piece(name="armchair")
    stuff = cloth(colour, accent, seed)
    return [
        standing("seat", (0.7, 0.75, 0.42), (x, y, 0), side=stuff, of=whole, affords=("sit on",)),
        standing("back", (0.98, 0.2, 0.92), (x, y + 0.47, 0), side=stuff, of=whole, affords=("lean on",)),
        standing("arm", (0.14, 0.75, 0.6), (x - 0.42, y, 0), side=stuff, of=whole, affords=("lean on",)),
        standing("arm", (0.14, 0.75, 0.6), (x + 0.42, y, 0), side=stuff, of=whole, affords=("lean on",)),
    ]
