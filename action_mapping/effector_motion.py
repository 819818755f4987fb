"""Grippers and hands: the same primitives for the wrist, and what the fingers do.

A wrist has no agreed axes. Say which way it looks (`view_path`), and its motion has the names of a camera's.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from action_mapping.pair_plan import amounts_of
from action_mapping.primitives import PRIMITIVE, Primitive
from action_mapping.rigid import PoseError, checked_poses

Effector = Literal["gripper", "hand"]
ActionFrame = Literal["base delta", "effector delta", "base target"]


@dataclass(frozen=True, kw_only=True)
class EffectorSettings:
    """When fingers and objects count as moved. First values."""

    closed_below: float = 0.3
    """Share of the opening below which an open effector has closed."""
    open_above: float = 0.7
    """Share of the opening above which a closed effector has opened; between both it stays as it was."""
    travel: float = 0.02
    """Way along the forward axis, in path units, that a closed effector must go to push or pull: two fingers' width."""
    agreement: float = 0.6
    """Least correlation of commanded and observed motion to say in which frame actions are."""
    log_odds: float = 10.0
    """By how much log likelihood the best frame must beat the second; steps are correlated, so far above log 100."""


@dataclass(frozen=True, kw_only=True)
class EffectorEvent:
    """Something the effector did, at one pose."""

    primitive: Primitive
    """Gripper Open / Close, Grab / Release, Push / Pull."""
    index: int
    """Pose at which it was complete."""


def view_path(
    world_from_effector: Float64[np.ndarray, "n 4 4"],
    *,
    cam_from_effector: Float64[np.ndarray, "4 4"] | None = None,
    axes: str | None = None,
) -> Float64[np.ndarray, "n 4 4"]:
    """Effector poses with OpenCV axes, so that camera names hold: by the pose of a camera fixed to it, or by `axes`.

    `axes`: which of its own axes point right, down and forward, as "-y,-z,+x". Raises PoseError without either.
    """
    checked_poses(world_from_effector)
    if (cam_from_effector is None) == (axes is None):
        raise PoseError("give either cam_from_effector or axes (which point right, down, forward, as '-y,-z,+x')")
    if cam_from_effector is not None:
        checked_poses(cam_from_effector[None])
        return world_from_effector @ np.linalg.inv(cam_from_effector)
    effector_from_view = np.eye(4)
    effector_from_view[:3, :3] = _axes(axes or "").T
    return world_from_effector @ effector_from_view


def effector_events(
    world_from_view: Float64[np.ndarray, "n 4 4"],
    opening: Float64[np.ndarray, "n"],
    *,
    effector: Effector,
    settings: EffectorSettings | None = None,
) -> list[EffectorEvent]:
    """Opening, closing, pushing and pulling, in order. `opening`: 0 closed to 1 open. Needs no time stamps.

    A push is a way forward of a closed effector, a pull a way back; whether something is held is not known.
    """
    settings = settings or EffectorSettings()
    closed = closed_states(opening, settings)
    forward = np.append(0.0, np.cumsum(np.einsum("ni,ni->n", world_from_view[:-1, :3, 2], _ways(world_from_view))))
    shut, opened = ("Gripper Close", "Gripper Open") if effector == "gripper" else ("Grab", "Release")
    events = [
        EffectorEvent(primitive=PRIMITIVE[shut if closed[index] else opened], index=index)
        for index in (np.flatnonzero(closed[1:] != closed[:-1]) + 1).tolist()
    ]
    return sorted(events + _pushes(forward, closed, settings.travel), key=lambda event: event.index)


def closed_states(opening: Float64[np.ndarray, "n"], settings: EffectorSettings | None = None) -> Bool[np.ndarray, "n"]:
    """Whether the effector is closed at each pose, with hysteresis. Raises PoseError outside 0..1."""
    settings = settings or EffectorSettings()
    if not ((opening >= -0.05) & (opening <= 1.05)).all():
        raise PoseError("opening must lie between 0 (closed) and 1 (open); scale it, and leave no NaN")
    state = np.where(opening < settings.closed_below, 1, np.where(opening > settings.open_above, 0, -1))
    state[0] = int(opening[0] < 0.5) if state[0] < 0 else state[0]
    last_known = np.maximum.accumulate(np.where(state >= 0, np.arange(len(state)), 0))
    return state[last_known] == 1


def effector_actions(
    world_from_view: Float64[np.ndarray, "n 4 4"], opening: Float64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n-1 7"]:
    """The published 7-D action of each step: dx, dy, dz, d_roll (about z), d_pitch (about x), d_yaw (about y) in the
    view's own axes, as a pair plan has them; then 0 open or 1 closed at its end."""
    checked_poses(world_from_view)
    closed = closed_states(opening)
    actions = []
    for motion, shut in zip(np.linalg.solve(world_from_view[:-1], world_from_view[1:]), closed[1:], strict=True):
        by = amounts_of(motion)
        way = [by["truck"], by["pedestal"], by["dolly"]]
        actions.append([*way, by["roll_rad"], by["tilt_rad"], by["pan_rad"], float(shut)])
    return np.array(actions).reshape(-1, 7)


def effector_pose(
    world_from_view: Float64[np.ndarray, "4 4"], action: Float64[np.ndarray, "7"]
) -> Float64[np.ndarray, "4 4"]:
    """The pose after a 7-D action."""
    motion = np.eye(4)
    motion[:3, :3] = Rotation.from_euler("YXZ", action[[5, 4, 3]]).as_matrix()
    motion[:3, 3] = action[:3]
    return world_from_view @ motion


@dataclass(frozen=True, kw_only=True)
class ActionFrameReading:
    """In which frame a robot data set writes its actions."""

    frame: ActionFrame | None
    """The frame; None where the data cannot tell (the effector hardly turned, or follows none of them)."""
    correlation: dict[ActionFrame, float]
    """Of commanded and observed ways, for each frame."""


def action_frame(
    base_from_start: Float64[np.ndarray, "n 4 4"],
    base_from_end: Float64[np.ndarray, "n 4 4"],
    commanded: Float64[np.ndarray, "n 3"],
    *,
    settings: EffectorSettings | None = None,
) -> ActionFrameReading:
    """Tell from the data whether commanded translations are steps in the base's axes, in the effector's, or targets.

    One row for each step: the pose before, the pose after, the command. Rows of many episodes may be pooled.
    """
    settings = settings or EffectorSettings()
    checked_poses(base_from_start)
    ways = base_from_end[:, :3, 3] - base_from_start[:, :3, 3]
    correlation: dict[ActionFrame, float] = {
        "base delta": _correlation(commanded, ways),
        "effector delta": _correlation(np.einsum("nij,nj->ni", base_from_start[:, :3, :3], commanded), ways),
        "base target": _correlation(commanded - base_from_start[:, :3, 3], ways),
    }
    best, second, *_ = sorted(correlation, key=lambda frame: -correlation[frame])
    unexplained = {frame: max(1e-12, 1.0 - max(0.0, correlation[frame]) ** 2) for frame in correlation}
    log_odds = 1.5 * len(ways) * math.log(unexplained[second] / unexplained[best])
    clear = correlation[best] >= settings.agreement and log_odds >= settings.log_odds
    return ActionFrameReading(frame=best if clear else None, correlation=correlation)


def _ways(world_from_body: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n-1 3"]:
    return np.diff(world_from_body[:, :3, 3], axis=0)


def _correlation(left: Float64[np.ndarray, "m 3"], right: Float64[np.ndarray, "m 3"]) -> float:
    norm = math.sqrt(float((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / norm if norm > 0 else 0.0


def _pushes(forward: Float64[np.ndarray, "n"], closed: Bool[np.ndarray, "n"], travel: float) -> list[EffectorEvent]:
    """One event for each way of a closed effector beyond `travel` in one direction, from turning point to next."""
    events: list[EffectorEvent] = []
    low = high = forward[0]
    direction = 0
    for index in range(1, len(forward)):
        if not (closed[index] and closed[index - 1]):
            low = high = forward[index]
            direction = 0
            continue
        low, high = min(low, forward[index]), max(high, forward[index])
        for sign, gone in ((1, forward[index] - low), (-1, high - forward[index])):
            if gone < travel:
                continue
            if direction != sign:
                events.append(EffectorEvent(primitive=PRIMITIVE["Push" if sign > 0 else "Pull"], index=index))
                direction = sign
            low = high = forward[index]
    return events


def _axes(axes: str) -> Float64[np.ndarray, "3 3"]:
    """Rows: right, down and forward in the effector's axes."""
    rows = np.zeros((3, 3))
    names = [name.strip() for name in axes.split(",")]
    for row, name in zip(rows, names, strict=False):
        if len(name) == 2 and name[0] in "+-" and name[1] in "xyz":
            row["xyz".index(name[1])] = 1.0 if name[0] == "+" else -1.0
    if len(names) != 3 or not math.isclose(float(np.linalg.det(rows)), 1.0):
        raise PoseError(f"axes must be three different signed axes, right-handed, as '-y,-z,+x', not {axes!r}")
    return rows
