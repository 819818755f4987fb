"""Camera paths with smooth speed: the six primitives, what is made of them, and the demo's.

All return world_from_cam (n 4 4), OpenCV camera axes, world z up. At yaw 0 a level camera looks along +y.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64
from scipy.spatial.transform import RigidTransform, Rotation

PRIMITIVES = ("truck", "pedestal", "dolly", "tilt", "pan", "roll")
"""Right, down, in (metres, in the level frame of the heading); up, right, clockwise (radians)."""
_LEVEL = Rotation.from_matrix([[1, 0, 0], [0, 0, 1], [0, -1, 0]])

Poses = Float64[np.ndarray, "n 4 4"]


@dataclass(frozen=True, kw_only=True)
class Stance:
    """Where a camera stands and looks."""

    at_m: tuple[float, float, float] = (0.0, 0.0, 1.5)
    yaw_rad: float = 0.0
    """Heading, anticlockwise seen from above."""
    pitch_rad: float = 0.0
    """Up."""
    roll_rad: float = 0.0
    """Clockwise, seen from behind the camera."""


def poses(
    at_m: Float64[np.ndarray, "n 3"],
    yaw_rad: Float64[np.ndarray, "n"],
    pitch_rad: Float64[np.ndarray, "n"],
    roll_rad: Float64[np.ndarray, "n"],
) -> Poses:
    """world_from_cam of positions and heading, pitch, roll."""
    turns = (
        Rotation.from_rotvec(np.outer(yaw_rad, [0, 0, 1]))
        * _LEVEL
        * Rotation.from_rotvec(np.outer(pitch_rad, [1, 0, 0]))
        * Rotation.from_rotvec(np.outer(roll_rad, [0, 0, 1]))
    )
    return RigidTransform.from_components(at_m, turns).as_matrix()


def static(n: int, start: Stance) -> Poses:
    """A camera on a tripod."""
    return performed([(n, {})], start)


def primitive(name: str, amount: float, n: int, start: Stance) -> Poses:
    """One of `PRIMITIVES`, eased in and out; `amount` in metres or radians, signed."""
    return performed([(n, {name: amount})], start)


def pure_rotation(n: int, start: Stance) -> Poses:
    """Pan, tilt and roll about the centre of projection."""
    return performed([(n, {"pan": 0.7, "tilt": -0.2, "roll": 0.15})], start)


def forward_drive(n: int, start: Stance, length_m: float = 1.3) -> Poses:
    """Steady travel along the viewing axis with a slight bend."""
    return _integrated(np.tile([0, 0, length_m, 0, 0.15, 0], (n - 1, 1)) / (n - 1), start)


def walk(n: int, start: Stance, length_m: float = 1.6, turn_rad: float = 0.6) -> Poses:
    """A hand-held walk: forward and sideways with a turn, and the sway of steps."""
    t = np.linspace(0, 1, n)
    swing = np.stack(
        [
            0.35 * length_m * t + 0.015 * np.sin(14 * t),
            0.020 * np.sin(28 * t),
            length_m * t,
            -0.08 * np.sin(4 * t) + 0.01 * np.sin(25 * t),
            turn_rad * t + 0.02 * np.sin(9 * t),
            0.04 * np.sin(11 * t),
        ],
        axis=1,
    )
    return _integrated(np.diff(swing, axis=0), start)


def orbit(n: int, centre_m: Sequence[float], radius_m: float, from_rad: float, to_rad: float) -> Poses:
    """Around a point, looking at it; angles about the vertical, 0 at +x of the centre; height as in `centre_m`."""
    angle = from_rad + (to_rad - from_rad) * _eased(n)
    at = np.array(centre_m) + radius_m * np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], axis=1)
    level = np.zeros(n)
    return poses(at, angle + np.pi / 2, level, level)


def performed(moves: Sequence[tuple[int, dict[str, float]]], start: Stance) -> Poses:
    """Moves one after another, each eased: (number of frames, amounts by primitive). Frames sum up to n."""
    steps = []
    for k, (frames, amounts) in enumerate(moves):
        amount = np.array([amounts.get(name, 0.0) for name in PRIMITIVES])
        progress = _eased(frames + (k > 0))
        steps.append(np.diff(progress)[:, None] * amount)
    return _integrated(np.concatenate(steps), start)


DEMO_MOVES: tuple[tuple[int, dict[str, float]], ...] = (
    (26, {"tilt": np.deg2rad(19)}),
    (30, {"pedestal": 0.5}),
    (36, {"truck": 1.0}),
    (28, {"pan": np.deg2rad(-28)}),
    (34, {"dolly": 0.8}),
    (26, {"roll": np.deg2rad(17)}),
)
"""The demo path: frames and amounts, at 20 frames a second."""


def demo(start: Stance) -> Poses:
    """All six primitives, one after another: seen from above, a hook."""
    return performed(DEMO_MOVES, start)


def _eased(n: int) -> Float64[np.ndarray, "n"]:
    """0 to 1 with speed rising over the first fifth, constant, falling over the last."""
    t = (np.arange(n - 1) + 0.5) / max(1, n - 1)
    speed = np.sin(np.pi / 2 * np.clip(np.minimum(t, 1 - t) / 0.2, 0, 1)) ** 2
    return np.concatenate([[0.0], np.cumsum(speed) / np.sum(speed)]) if n > 1 else np.zeros(n)


def _integrated(steps: Float64[np.ndarray, "m 6"], start: Stance) -> Poses:
    """Poses after each step (`PRIMITIVES`), the start first."""
    sums = np.concatenate([np.zeros((1, 6)), np.cumsum(steps, axis=0)])
    yaw = start.yaw_rad - sums[:, 4]
    heading = Rotation.from_rotvec(np.outer((yaw[1:] + yaw[:-1]) / 2, [0, 0, 1]))
    travelled = heading.apply(np.stack([steps[:, 0], steps[:, 2], -steps[:, 1]], axis=1))
    at = np.array(start.at_m) + np.concatenate([np.zeros((1, 3)), np.cumsum(travelled, axis=0)])
    return poses(at, yaw, start.pitch_rad + sums[:, 3], start.roll_rad + sums[:, 5])


def driving(n: int, start: Stance) -> Poses:
    """A camera that goes ahead at one speed, a little aside and down; at last it goes to the right."""
    part, aside = 3 * n // 4, 0.2 * np.sign(start.yaw_rad)
    steps, level = np.arange(n)[:, None] / part, np.zeros(n)
    ahead = np.array([-np.sin(start.yaw_rad), np.cos(start.yaw_rad), 0.0])
    right = np.array([ahead[1], -ahead[0], 0.0])
    way = np.minimum(steps, 1) * (ahead - aside * right - [0, 0, 0.1]) + np.maximum(steps - 1, 0) * right
    return poses(np.array(start.at_m) + way, level + start.yaw_rad, level, level)


def around(n: int, start: Stance) -> Poses:
    """A camera that goes in a small circle and looks outwards."""
    angle = np.linspace(0, 2.3 * np.pi, n)
    at = np.array(start.at_m) + 0.35 * np.stack([np.sin(angle), 1 - np.cos(angle), 0.1 * np.sin(3 * angle)], axis=1)
    return poses(at, start.yaw_rad - angle, np.full(n, -0.1), np.zeros(n))
