"""Segments of symbolic actions executed one after the other, as lmms-eval's spatialtreebench does it.

A pose is [x, y, z, qx, qy, qz, qw], relative to the first frame. Translations are along the world's axes whatever the
heading; rotations are about the world's axes, permuted: pan about z, tilt about y, roll about x (R' = Rx Ry Rz R).
Plain floats, not arrays: scipy's rotations cost more than all the rest of a score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import atan2, cos, isfinite, sin, sqrt
from typing import Any

import numpy as np

Pose = Sequence[float]
"""[x, y, z, qx, qy, qz, qw]; the quaternion need not have length 1."""
Quaternion = tuple[float, float, float, float]
"""[x, y, z, w]."""

_COLUMNS = {"truck": 0, "pedestal": 1, "dolly": 2, "pan_rad": 3, "tilt_rad": 4, "roll_rad": 5}


@dataclass(frozen=True, slots=True)
class Executed:
    """Where a segment ends."""

    pose: Pose
    moved: bool
    """Whether an action was executed: a known one, Stay included, with a count other than 0."""
    finite: bool
    """Whether all amounts were finite."""


@cache
def _dialect() -> tuple[dict[str, tuple[int, int]], float, float]:
    """(column and sign by symbol, step in metres, step in radians). Imported here because action_mapping imports
    slowly."""
    from action_mapping.official_dialect import ROTATION_STEP_RAD, TRANSLATION_STEP_M
    from action_mapping.primitives import PRIMITIVES, STAY

    moves = {p.symbol: (_COLUMNS[p.component], p.sign) for p in PRIMITIVES if p.component in _COLUMNS}
    return {**moves, STAY.symbol: (0, 0)}, TRANSLATION_STEP_M, ROTATION_STEP_RAD


def truth_path(extra_info: Mapping[str, Any]) -> list[list[float]]:
    """`optimal_rel_pose`, n poses. Raises what indexing the reference's array would."""
    array = np.array(extra_info["optimal_rel_pose"])
    if array.ndim != 2:
        raise IndexError("too many indices for array")
    if array.dtype.kind == "U":
        raise TypeError("poses are text")
    if array.dtype.kind not in "biuf" or array.shape[1] != 7:
        raise ValueError("poses are not seven numbers")
    return array.tolist()


def segment_keys(extra_info: Mapping[str, Any]) -> list[str]:
    """The "i->j" keys by i. Raises ValueError where i is no integer."""
    return sorted((key for key in extra_info if "->" in key), key=lambda key: int(key.split("->")[0]))


def step_sizes(segment_info: Mapping[str, Any]) -> tuple[Any, Any]:
    """(metres, radians) of one step of a segment."""
    _, metres, radians = _dialect()
    return segment_info.get("translation_step_size", metres), segment_info.get("rotation_step_size", radians)


def execute(start: Pose, segment: Mapping[str, Any], sizes: tuple[Any, Any]) -> Executed:
    """One segment {"actions", "step_nums"}, all of it at once: the order of its actions changes nothing.

    Unknown symbols are skipped, a missing count is 1; counts may be negative, fractional, of any size. Raises
    TypeError, KeyError, OverflowError where one is no number, ValueError where a rotation is not finite.
    """
    table, *_ = _dialect()
    step_nums = segment.get("step_nums", [])
    amounts: list[Any] = [0.0] * 6
    moved = False
    for place, symbol in enumerate(segment.get("actions", [])):
        if (known := table.get(symbol)) is None:
            continue
        count = step_nums[place] if place < len(step_nums) else 1
        moved = moved or bool(count != 0)
        column, sign = known
        if sign:
            amounts[column] += sign * (sizes[column > 2] * count)
    dx, dy, dz, pan, tilt, roll = (amount.real for amount in amounts)  # a Python literal may hold a complex number
    x, y, z = start[:3]
    rotation = _composed(
        (sin(roll / 2), 0.0, 0.0, cos(roll / 2)),
        _composed((0.0, sin(tilt / 2), 0.0, cos(tilt / 2)), (0.0, 0.0, sin(pan / 2), cos(pan / 2))),
    )
    orientation = unit(_composed(rotation, unit(start[3:])))
    shorter = length(orientation) + 1e-12  # as in the reference
    pose = (x + dx, y + dy, z + dz, *(part / shorter for part in orientation))
    return Executed(pose, moved, isfinite(dx) and isfinite(dy) and isfinite(dz))


def length(vector: Sequence[float]) -> float:
    """By numpy, whose sum of squares may differ in the last bit; round numbers meet thresholds exactly."""
    squares = sum(part * part for part in vector)
    if not isfinite(squares):
        return sqrt(squares)  # numpy would warn
    array = np.array(vector)
    return sqrt(array.dot(array))


def unit(quaternion: Sequence[float]) -> Quaternion:
    """As in scipy. Raises ValueError for a quaternion of length zero."""
    x, y, z, w = quaternion
    norm = sqrt(x * x + y * y + z * z + w * w)
    if not 0 < norm < float("inf"):
        raise ValueError("a quaternion of length zero")
    return x / norm, y / norm, z / norm, w / norm


def _composed(a: Quaternion, b: Quaternion) -> Quaternion:
    """The rotation `b`, then `a`. Sums in scipy's order: a plan of exactly 2° is on the same side of 2°."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + bw * ax + (ay * bz - az * by),
        aw * by + bw * ay + (az * bx - ax * bz),
        aw * bz + bw * az + (ax * by - ay * bx),
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotation_between_rad(a: Pose, b: Pose) -> float:
    """The angle between the orientations of two poses, 0 to π. Raises ValueError."""
    x, y, z, w = unit(a[3:])
    x, y, z, w = unit(_composed((-x, -y, -z, w), unit(b[3:])))
    return 2 * atan2(sqrt(x * x + y * y + z * z), abs(w))
