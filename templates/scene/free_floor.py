"""Free ways over the floor of a room: how far places on the plan are from what stands there, and shortest ways."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.ndimage import distance_transform_edt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from experts.signals import Room
from templates.scene.floor_plan import rectangles
from templates.scene.scene import Scene

CLEARANCE = 0.3
"""Least distance, in metres, of a way from what is not free."""
_STEP = 0.05
"""Largest side of a square of the grid on which ways are searched."""
_SAMPLE = 0.02
"""Distance between places along a way at which it is tested."""
_SLACK = 0.02
_AROUND_START = 0.4
"""A way may begin nearer to things, within this distance of its start."""


@dataclass(frozen=True, kw_only=True)
class FreeFloor:
    """The plan of a room in metres, in squares."""

    clear: Float64[np.ndarray, "h w"]
    """Distance from the nearest square that is not free; 0 where it is not."""
    deep: Float64[np.ndarray, "h w"]
    """Distance from the nearest free square; 0 where it is free."""
    step: float
    corner: Float64[np.ndarray, "2"]

    @classmethod
    def of(cls, room: Room) -> "FreeFloor":
        """Of a room in metres. Floor that was not seen is not free."""
        times = max(1, int(np.ceil(room.cell / _STEP - 1e-9)))
        free = np.pad((room.cells == 1).repeat(times, axis=0).repeat(times, axis=1), 1)
        step = room.cell / times
        deep = distance_transform_edt(~free) * step if free.any() else np.full(free.shape, np.inf)
        return cls(clear=distance_transform_edt(free) * step, deep=deep, step=step, corner=room.cells_from - step)

    def squares(self, xy: Float64[np.ndarray, "*n 2"]) -> Int64[np.ndarray, "*n 2"]:
        """Row and column of places; the nearest ones of the border for places beyond it."""
        cells = np.floor((xy - self.corner) / self.step).astype(np.int64)[..., ::-1]
        return np.clip(cells, 0, np.array(self.clear.shape) - 1)

    def along(self, route: Float64[np.ndarray, "k 2"]) -> tuple[Float64[np.ndarray, "s"], Float64[np.ndarray, "s"]]:
        """How clear and how deep in things the places along a way are."""
        at = self.squares(sampled(route))
        return self.clear[at[:, 0], at[:, 1]], self.deep[at[:, 0], at[:, 1]]

    def ways_from(
        self,
        start: Float64[np.ndarray, "2"],
        closed: Bool[np.ndarray, "h w"] | None = None,
        clearance: float = CLEARANCE,
    ) -> tuple[Float64[np.ndarray, "h w"], Int64[np.ndarray, "h w"]]:
        """Length of the shortest clear way to each square, inf where there is none, and the square before it."""
        rows, columns = np.indices(self.clear.shape)
        middle = self.corner + (np.stack([columns, rows], axis=-1) + 0.5) * self.step
        near = (np.linalg.norm(middle - start, axis=2) <= _AROUND_START) & (self.clear > 0)
        open_ = (self.clear >= clearance) | near
        open_ &= True if closed is None else ~closed
        number = np.arange(open_.size).reshape(open_.shape)
        edges = [_edges(open_, number, *way) for way in ((0, 1), (1, 0), (1, 1), (1, -1))]
        a, b, length = (np.concatenate(part) for part in zip(*edges, strict=True))
        graph = coo_array((length * self.step, (a, b)), shape=(open_.size, open_.size)).tocsr()
        row, column = self.squares(start)
        lengths, before = dijkstra(graph, directed=False, indices=number[row, column], return_predecessors=True)
        return lengths.reshape(open_.shape), before.reshape(open_.shape).astype(np.int64)

    def way(
        self, start: Float64[np.ndarray, "2"], end: Int64[np.ndarray, "2"], before: Int64[np.ndarray, "h w"]
    ) -> Float64[np.ndarray, "k 2"]:
        """The way to a square, with as few corners as leave it clear."""
        at, squares = int(np.ravel_multi_index((int(end[0]), int(end[1])), before.shape)), []
        while at >= 0:
            squares.append(at)
            at = int(before.flat[at])
        rows, columns = np.unravel_index(np.array(squares[::-1]), before.shape)
        points = self.corner + (np.column_stack([columns, rows]) + 0.5) * self.step
        points[0] = start
        kept = [0]
        while kept[-1] < len(points) - 1:
            k = len(points) - 1
            while k > kept[-1] + 1 and not self._is_clear(points[[kept[-1], k]], start):
                k -= 1
            kept.append(k)
        return np.asarray(points[kept])

    def _is_clear(self, leg: Float64[np.ndarray, "2 2"], start: Float64[np.ndarray, "2"]) -> bool:
        clear, _ = self.along(leg)
        near = np.linalg.norm(sampled(leg) - start, axis=1) <= _AROUND_START
        return bool(((clear >= CLEARANCE - _SLACK) | (near & (clear > 0))).all())


def _edges(
    open_: Bool[np.ndarray, "h w"], number: Int64[np.ndarray, "h w"], down: int, right: int
) -> tuple[np.ndarray, ...]:
    """Pairs of open neighbours, and their distance in squares."""
    height, width = open_.shape
    one = np.s_[: height - down, max(0, -right) : width - max(0, right)]
    other = np.s_[down:, max(0, right) : width - max(0, -right)]
    both = open_[one] & open_[other]
    return number[one][both], number[other][both], np.full(int(both.sum()), np.hypot(down, right))


def sampled(route: Float64[np.ndarray, "k 2"]) -> Float64[np.ndarray, "s 2"]:
    """Places along a way, its corners included."""
    parts = [
        a + np.linspace(0, 1, max(2, int(np.linalg.norm(b - a) / _SAMPLE) + 2))[:, None] * (b - a)
        for a, b in pairwise(route)
    ]
    return np.concatenate(parts)


def way_length(route: Float64[np.ndarray, "k 2"]) -> float:
    """Of a way through its corners."""
    return float(np.linalg.norm(np.diff(route, axis=0), axis=1).sum())


def free_floor(scene: Scene) -> FreeFloor | None:
    """Of the room of a scene, if it is known in metres; computed once."""
    room = scene.room
    if room is None or not np.isfinite(scene.metre_relative_sigma) or not room.cells.size:
        return None
    return scene.once("free floor", lambda: FreeFloor.of(room))


def around(room: Room, low: Float64[np.ndarray, "2"], high: Float64[np.ndarray, "2"]) -> Int64[np.ndarray, "2 2"]:
    """Column and row of the first cell between limits on the plan, and behind the last."""
    height, width = room.cells.shape
    first, last = (low - room.cells_from) / room.cell, (high - room.cells_from) / room.cell
    return np.clip(np.stack([np.floor(first), np.ceil(last)]), 0, [width, height]).astype(np.int64)


def outline_of(room: Room, cells: Int64[np.ndarray, "2 2"]) -> Float64[np.ndarray, "4 2"]:
    """Corners of a rectangle of cells on the plan."""
    (left, low), (right, high) = room.cells_from + room.cell * cells
    return np.array([[left, low], [right, low], [right, high], [left, high]])


def blocked(room: Room, cells: Int64[np.ndarray, "2 2"]) -> Iterator[Float64[np.ndarray, "4 2"]]:
    """Corners of rectangles that cover what is not free among cells."""
    first, last = cells
    mask = room.cells[first[1] : last[1], first[0] : last[0]] != 1
    for top, bottom, left, right in rectangles(mask):
        yield outline_of(room, first + np.array([[left, top], [right, bottom]]))
