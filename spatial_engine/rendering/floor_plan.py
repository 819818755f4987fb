"""Where objects stand in a furnished room: rectangles on the floor that do not overlap."""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float64

from spatial_engine.rendering.boxes import Box
from spatial_engine.rendering.pieces import Furniture

WALL_M, DOORWAY_M = 0.1, 1.0
"""Thickness of the partition, width of the doorway."""
_TRIES = 200


@dataclass(frozen=True, kw_only=True)
class Rectangle:
    """On the plan, at any angle."""

    middle_m: Float64[np.ndarray, "2"]
    half_m: Float64[np.ndarray, "2"]
    yaw_deg: float = 0.0

    @property
    def axes(self) -> Float64[np.ndarray, "2 2"]:
        """Directions of its sides, as columns."""
        return axes_of(self.yaw_deg)

    @property
    def reach_m(self) -> Float64[np.ndarray, "2"]:
        """Half the sides of the upright rectangle around it."""
        return np.abs(self.axes) @ self.half_m

    def overlaps(self, other: "Rectangle") -> bool:
        """Whether no side's direction separates the two."""
        directions = np.concatenate([self.axes.T, other.axes.T])
        reach = np.abs(directions @ self.axes) @ self.half_m + np.abs(directions @ other.axes) @ other.half_m
        return bool((np.abs(directions @ (self.middle_m - other.middle_m)) < reach).all())


@dataclass(frozen=True, kw_only=True)
class Standing:
    """A piece on the floor."""

    item: Furniture
    foot_m: Float64[np.ndarray, "2"]
    yaw_deg: float


@dataclass(frozen=True, kw_only=True)
class FloorPlan:
    """Two rooms side by side along x, a partition with a doorway between them, and what stands there so far."""

    size_m: tuple[float, float, float]
    wall_x_m: float
    """The partition; the larger room is on its left."""
    door_y_m: float
    """Middle of the doorway."""
    table_m: Float64[np.ndarray, "2"]
    """Middle of the table."""
    standing: list[Standing] = field(default_factory=list)
    taken: list[Rectangle] = field(default_factory=list)

    @property
    def doorway_m(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Its ends."""
        return (self.wall_x_m, self.door_y_m - DOORWAY_M / 2), (self.wall_x_m, self.door_y_m + DOORWAY_M / 2)

    @property
    def boxes(self) -> list[Box]:
        """Of all that stands there."""
        return [box for own in self.standing for box in own.item.moved((*own.foot_m.tolist(), 0.0), own.yaw_deg)]

    def larger_room(self, from_walls_m: float) -> Float64[np.ndarray, "2 2"]:
        """Least and greatest x, y that keep a distance from the walls."""
        return np.array([[0, 0], [self.wall_x_m, self.size_m[1]]]) + np.array([[from_walls_m], [-from_walls_m]])

    def smaller_room(self, from_walls_m: float) -> Float64[np.ndarray, "2 2"]:
        """Least and greatest x, y that keep a distance from the walls."""
        return np.array([[self.wall_x_m, 0], self.size_m[:2]]) + np.array([[from_walls_m], [-from_walls_m]])

    def is_free(self, area: Rectangle) -> bool:
        """Whether it lies between walls and overlaps nothing."""
        low, high = area.middle_m - area.reach_m, area.middle_m + area.reach_m
        inside = (low >= -1e-9).all() and (high <= np.array(self.size_m[:2]) + 1e-9).all()
        beside = high[0] <= self.wall_x_m - WALL_M / 2 or low[0] >= self.wall_x_m + WALL_M / 2
        return bool(inside and beside and not any(area.overlaps(other) for other in self.taken))

    def put(self, item: Furniture, foot_m: Float64[np.ndarray, "2"], yaw_deg: float) -> bool:
        """Puts a piece on the floor if that is free."""
        area = Rectangle(middle_m=foot_m, half_m=item.half_m, yaw_deg=yaw_deg)
        if not self.is_free(area):
            return False
        self.taken.append(area)
        self.standing.append(Standing(item=item, foot_m=foot_m, yaw_deg=yaw_deg))
        return True

    def scatter(self, rng: np.random.Generator, item: Furniture, *within: Float64[np.ndarray, "2 2"]) -> bool:
        """Puts a piece anywhere, turned at random, in the first of several areas that has room for it."""
        yaw = rng.uniform(0, 360)
        return any(self.put(item, rng.uniform(*area), yaw) for area in within for _ in range(_TRIES))


def axes_of(yaw_deg: float) -> Float64[np.ndarray, "2 2"]:
    """Directions of the sides of a rectangle, as columns."""
    c, s = np.cos(np.deg2rad(yaw_deg)), np.sin(np.deg2rad(yaw_deg))
    return np.array([[c, -s], [s, c]])
