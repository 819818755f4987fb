"""How the camera and other things move in a furnished room."""

from itertools import pairwise
from typing import Literal

import numpy as np
from jaxtyping import Float64

from spatial_engine.rendering import camera_paths, pieces
from spatial_engine.rendering.boxes import MovingBox, sliding, standing
from spatial_engine.rendering.camera_paths import Poses
from spatial_engine.rendering.floor_plan import FloorPlan, Rectangle, axes_of
from spatial_engine.rendering.furniture import crate
from spatial_engine.rendering.random_materials import random_colour, random_seed

PathKind = Literal["look_round", "orbit", "through_the_door"]
_TRIES = 200
_HALF_WAY_M = 0.22
"""Half the width of the way of a moving object."""
_REST = 0.06
"""Share of the time that it rests before and after its bend."""


def camera_path(rng: np.random.Generator, plan: FloorPlan, kind: PathKind, frames: int) -> Poses:
    """Looks round by 200 to 330°, orbits the table by 140 to 220°, or walks through the doorway and looks round."""
    t, side = (1 - np.cos(np.pi * np.linspace(0, 1, frames))) / 2, rng.choice([-1.0, 1.0])
    if kind == "orbit":
        angle = rng.uniform(0, 2 * np.pi) + side * np.deg2rad(rng.uniform(140, 220)) * t
        room = np.minimum(plan.table_m, [plan.wall_x_m, plan.size_m[1]] - plan.table_m).min()
        at, yaw = plan.table_m + (room - 0.75) * _direction(angle), angle + np.pi / 2
    elif kind == "look_round":
        yaw = rng.uniform(0, 2 * np.pi) + side * np.deg2rad(rng.uniform(200, 330)) * t
        middle = np.array([plan.wall_x_m, plan.size_m[1]]) / 2
        at = middle + 0.5 * (middle - plan.table_m) - 0.7 * _direction(yaw + np.pi / 2)
    else:
        walked = np.clip((t - 0.3) / 0.35, 0, 1)[:, None]
        doorway = np.array([plan.wall_x_m, plan.door_y_m])
        at = doorway + [-2.4, rng.uniform(-0.2, 0.2)] * (1 - walked) + [0.5, 0] * walked
        yaw = -np.pi / 2 + side * np.deg2rad(rng.uniform(90, 130)) * (1 - np.clip(t / 0.35, 0, 1))
        looks = np.sin(1.2 * np.pi * np.clip((t - 0.6) / 0.4, 0, 1))
        yaw = yaw + rng.choice([-1, 1]) * np.deg2rad(rng.uniform(60, 90)) * looks
    height, pitch = rng.uniform(1.4, 1.65), -np.deg2rad(rng.uniform(10, 18))
    return camera_paths.poses(np.c_[at, np.full(frames, height)], yaw, np.full(frames, pitch), np.zeros(frames))


def moving_boxes(
    rng: np.random.Generator, plan: FloorPlan, eye_m: Float64[np.ndarray, "2"], frames: int, count: int
) -> list[MovingBox]:
    """Puts a screen on the plan. Of what moves, the first goes behind it and back, the others go round a corner."""
    found = [_behind_screen(rng, plan, eye_m), *(_round_corner(rng, plan) for _ in range(count - 1))]
    return [
        _moving(rng, way, frames, name) for way, name in zip(found[:count], _NAMES, strict=False) if way is not None
    ]


_NAMES = ("robot", "cart", "crate")


def _behind_screen(
    rng: np.random.Generator, plan: FloorPlan, eye_m: Float64[np.ndarray, "2"]
) -> Float64[np.ndarray, "3 2"] | None:
    """The screen faces the camera. The way begins beside it, leads behind it, and back."""
    item = pieces.screen(rng)
    for _ in range(_TRIES):
        middle = rng.uniform(*plan.larger_room(0.6))
        away = middle - eye_m
        yaw = _yaw_deg(away) - 90
        along, back = axes_of(yaw).T
        reach = rng.choice([-1.0, 1.0]) * (item.half_m[0] + 0.45)
        way = middle + 0.45 * back + np.array([[reach], [0.0], [reach]]) * along
        free = np.linalg.norm(away) > 1.3 and plan.is_free(_leg(way[0], way[1]))
        if free and plan.put(item, middle, yaw):
            plan.taken.append(_leg(way[0], way[1]))
            return way
    return None


def _round_corner(rng: np.random.Generator, plan: FloorPlan) -> Float64[np.ndarray, "3 2"] | None:
    """Two legs with a bend of 50 to 130 degrees."""
    for _ in range(_TRIES):
        heading = rng.uniform(0, 2 * np.pi)
        bend = rng.choice([-1, 1]) * np.deg2rad(rng.uniform(50, 130))
        steps = rng.uniform(0.7, 1.3, 2)[:, None] * _direction(np.array([heading, heading + bend]))
        way = rng.uniform(*plan.larger_room(0.4)) + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
        legs = [_leg(a, b) for a, b in pairwise(way)]
        if all(plan.is_free(leg) for leg in legs):
            plan.taken.extend(legs)
            return way
    return None


def _leg(a: Float64[np.ndarray, "2"], b: Float64[np.ndarray, "2"]) -> Rectangle:
    half = np.array([np.linalg.norm(b - a) / 2 + _HALF_WAY_M, _HALF_WAY_M])
    return Rectangle(middle_m=(a + b) / 2, half_m=half, yaw_deg=_yaw_deg(b - a))


def _moving(rng: np.random.Generator, way: Float64[np.ndarray, "3 2"], frames: int, name: str) -> MovingBox:
    """A box that slides along a way at even speed, with a rest at the bend."""
    lengths = np.linalg.norm(np.diff(way, axis=0), axis=1)
    t, bend = np.linspace(0, 1, frames), lengths[0] / lengths.sum()
    first = np.clip(t / (bend - _REST), 0, 1)[:, None]
    second = np.clip((t - bend - _REST) / (1 - bend - _REST), 0, 1)[:, None]
    at = way[0] + first * (way[1] - way[0]) + second * (way[2] - way[1])
    size = rng.uniform([0.24, 0.24, 0.3], [0.3, 0.3, 0.55]).tolist()
    box = standing(name, size, (0, 0, 0), side=crate(random_seed(rng), random_colour(rng), random_colour(rng)))
    return sliding(box, np.c_[at, np.zeros(frames)], np.full(frames, _yaw_deg(way[1] - way[0])))


def _direction(angle_rad: Float64[np.ndarray, "n"]) -> Float64[np.ndarray, "n 2"]:
    return np.stack([np.cos(angle_rad), np.sin(angle_rad)], axis=1)


def _yaw_deg(direction: Float64[np.ndarray, "2"]) -> float:
    return float(np.rad2deg(np.arctan2(direction[1], direction[0])))
