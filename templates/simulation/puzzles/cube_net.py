"""L3/Causal Reasoning/Geometry Puzzles: which cube can be folded from a net whose faces carry arrows?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import ClassVar

import numpy as np
from jaxtyping import Int64

from templates.facts import Facts
from templates.media import XY, Colour, Polygon, Sheet
from templates.simulation.puzzles.puzzle import DrawnChoice, Row
from templates.simulation.puzzles.solid import HOLDS, SEEN, Turn, Vector, projected

NETS = (
    "X.../XXXX/X...", "X.../XXXX/.X..", "X.../XXXX/..X.", "X.../XXXX/...X", ".X../XXXX/.X..", ".X../XXXX/..X.",
    "XXX../..XXX", "XX../.XXX/.X..", "XX../.XXX/..X.", "XX../.XXX/...X", "XX../.XX./..XX",
)  # fmt: skip
"""The eleven nets of a cube; rows from above."""
_COLOURS: tuple[Colour, ...] = ("blue", "orange", "green", "purple", "white", "grey")
_WORDS = "BOGPWK"
"""A letter for each colour."""
_TURNS = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Directions of arrows on the net: up, right, down, left."""
_SQUARE = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
_ARROW = ((-0.12, -0.32), (0.12, -0.32), (0.12, 0.02), (0.28, 0.02), (0.0, 0.36), (-0.28, 0.02), (-0.12, 0.02))
"""Corners of an arrow on a face of side 1, that points along y."""


@dataclass(frozen=True, kw_only=True)
class Nets(Facts):
    """Nets of cubes with a colour and an arrow on each square, and how the folded cubes are held."""

    net: Int64[np.ndarray, "n"]
    """Index in `NETS`."""
    colours: Int64[np.ndarray, "n 6"]
    """Of each square, in reading order."""
    arrows: Int64[np.ndarray, "n 6"]
    """Direction on each square: 0 up, 1 right, 2 down, 3 left."""
    hold: Int64[np.ndarray, "n"]
    """Which of the 24 ways to hold the cube the right option shows."""


@dataclass(frozen=True, kw_only=True)
class CubeNet(DrawnChoice):
    """The cube that a net folds to, printed side outside."""

    name: str = "cube_net"
    version: str = "1"
    facts: ClassVar[type[Facts]] = Nets

    def drawn(self, rng: np.random.Generator) -> Row | None:
        """A random net, colours, arrows and way to hold the cube."""
        return {
            "net": int(rng.integers(len(NETS))),
            "colours": rng.permutation(6).tolist(),
            "arrows": rng.integers(4, size=6).tolist(),
            "hold": int(rng.integers(24)),
        }

    def key(self, row: Row) -> object:
        """The net, and the three faces that the right option shows."""
        return row["net"], tuple(row["colours"]), tuple(row["arrows"]), self.solution(row)

    def solution(self, row: Row) -> str:
        """Colour and arrow of the top, right and front face."""
        return views(row)[int(row["hold"])]

    def working(self, row: Row) -> str:
        """Colours that end up opposite each other."""
        faces = {normal: _COLOURS[_WORDS.index(letter)] for normal, (letter, _) in _faces(row).items()}
        return ", ".join(f"{faces[normal]} and {faces[_minus(normal)]}" for normal in SEEN)

    def mistakes(self, row: Row) -> Sequence[tuple[str, str]]:
        """Cubes that no way to hold the folded one shows: mirrored, an arrow turned, or with a face from the
        other side."""
        possible = set(views(row))
        return [*islice(((view, name) for view, name in _mistakes(row) if view not in possible), 60)]

    def shown(self, row: Row) -> tuple[Sheet, ...]:
        """The net."""
        faces = zip(cells(int(row["net"])), row["colours"], row["arrows"], strict=True)
        shapes = [shape for cell, colour, turn in faces for shape in _on_net(cell, colour, turn)]
        return (Sheet(polygons=tuple(shapes)),)

    def option(self, row: Row, solution: str) -> Sheet:
        """The cube from the front, the right and above."""
        shapes: list[Polygon] = []
        for normal, face in zip(SEEN, solution.split(" "), strict=True):
            turn = _directions(normal)[int(face[1])]
            shapes += _on_cube(normal, turn, _COLOURS[_WORDS.index(face[0])])
        return Sheet(polygons=tuple(shapes))


@cache
def cells(net: int) -> tuple[tuple[int, int], ...]:
    """Squares of a net in reading order: column, and row counted from below."""
    rows = NETS[net].split("/")
    return tuple((x, len(rows) - 1 - y) for y, row in enumerate(rows) for x, cell in enumerate(row) if cell == "X")


@cache
def folded(net: int) -> tuple[tuple[Vector, Vector, Vector], ...]:
    """Of each square of a net: outward normal, and where right and up of the net point, on the folded cube."""
    squares = cells(net)
    found = {squares[0]: ((0, 0, 1), (1, 0, 0), (0, 1, 0))}
    while len(found) < len(squares):
        for (x, y), (normal, right, up) in [*found.items()]:
            for beside, placed in (
                ((x + 1, y), (right, _minus(normal), up)),
                ((x - 1, y), (_minus(right), normal, up)),
                ((x, y + 1), (up, right, _minus(normal))),
                ((x, y - 1), (_minus(up), right, normal)),
            ):
                if beside in squares:
                    found.setdefault(beside, placed)
    return tuple(found[square] for square in squares)


def views(row: Row) -> list[str]:
    """What the 24 ways to hold the folded cube show: colour and arrow of the top, right and front face."""
    faces = _faces(row)
    return [_view({turn(normal): (colour, turn(arrow)) for normal, (colour, arrow) in faces.items()}) for turn in HOLDS]


_MIRROR = Turn((0, 1, 2), (-1, 1, 1))


def _faces(row: Row) -> dict[Vector, tuple[str, Vector]]:
    """By normal of the folded cube: colour, and where the arrow points."""
    found = {}
    for (normal, right, up), colour, turn in zip(folded(int(row["net"])), row["colours"], row["arrows"], strict=True):
        found[normal] = _WORDS[colour], (up, right, _minus(up), _minus(right))[turn]
    return found


def _view(faces: dict[Vector, tuple[str, Vector]]) -> str:
    return " ".join(f"{faces[n][0]}{_directions(n).index(faces[n][1])}" for n in SEEN)


def _mistakes(row: Row) -> Iterator[tuple[str, str]]:
    faces, hold = _faces(row), HOLDS[int(row["hold"])]
    held = {hold(normal): (colour, hold(arrow)) for normal, (colour, arrow) in faces.items()}
    mirrored = {_MIRROR(normal): (colour, _MIRROR(arrow)) for normal, (colour, arrow) in faces.items()}
    for turn in HOLDS[::3]:
        yield _view({turn(normal): (colour, turn(arrow)) for normal, (colour, arrow) in mirrored.items()}), "mirrored"
    right = _view(held).split(" ")
    for k, normal in enumerate(SEEN):
        turned = [right[k][0] + str((int(right[k][1]) + quarter) % 4) for quarter in (1, 2, 3)]
        opposite = held[_minus(normal)][0] + right[k][1]
        for face, name in (*((face, "an arrow turned") for face in turned), (opposite, "a face from the other side")):
            yield " ".join([*right[:k], face, *right[k + 1 :]]), name


@cache
def _directions(normal: Vector) -> tuple[Vector, ...]:
    """The four directions of arrows on a visible face: for the top to the back, right, front, left; for the others
    up, to the side that is right as drawn, down, left."""
    up = (0, 1, 0) if normal[2] else (0, 0, 1)
    right = _cross(up, normal)
    return up, right, _minus(up), _minus(right)


def _on_net(cell: tuple[int, int], colour: int, turn: int) -> Iterator[Polygon]:
    x, y = cell
    yield Polygon(corners=((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)), fill=_COLOURS[colour])
    (ux, uy), (rx, ry) = _TURNS[turn], _TURNS[(turn + 1) % 4]
    corners = tuple((x + 0.5 + a * rx + b * ux, y + 0.5 + a * ry + b * uy) for a, b in _ARROW)
    yield Polygon(corners=corners, fill="dark")


def _on_cube(normal: Vector, arrow: Vector, colour: Colour) -> Iterator[Polygon]:
    n, u = np.array(normal), np.array(arrow)
    r = np.cross(u, n)
    shapes: list[tuple[Sequence[XY], Colour]] = [(_SQUARE, colour), (_ARROW, "dark")]
    for corners, fill in shapes:
        yield Polygon(corners=projected([0.5 * n + a * r + b * u for a, b in corners]), fill=fill)


def _cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _minus(a: Vector) -> Vector:
    return -a[0], -a[1], -a[2]
