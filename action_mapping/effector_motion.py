"""Motion of robot grippers and hands: the camera primitives for the wrist, and opening, closing, pushing, pulling.

There is no standard for the axes of a wrist. `view_path` converts them to OpenCV axes, in which the names of camera
motion apply.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64
from scipy.spatial.transform import Rotation

from action_mapping.pair_plan import checked_amounts
from action_mapping.primitives import PRIMITIVE, Primitive
from action_mapping.rigid import PoseError, checked_poses

Effector = Literal["gripper", "hand"]
ActionFrame = Literal["base delta", "effector delta", "base target"]


@dataclass(frozen=True, kw_only=True)
class EffectorSettings:
    """Thresholds for events of an effector."""

    closed_below: float = 0.3
    """An open effector has closed when its opening falls below this fraction."""
    open_above: float = 0.7
    """A closed effector has opened when its opening rises above this fraction; in between its state does not change."""
    travel: float = 0.02
    """Least translation of a closed effector along its forward axis that is a push or a pull, in path units (about two
    finger widths)."""
    agreement: float = 0.6
    """Least correlation of commanded and observed motion with which the frame of actions is decided."""
    log_odds: float = 10.0
    """Least difference of log likelihood between the best and the second-best frame. Steps are correlated, so the value
    is far above log 100."""


@dataclass(frozen=True, kw_only=True)
class EffectorEvent:
    """An event of the effector."""

    primitive: Primitive
    """Gripper Open / Close, Grab / Release, Push / Pull."""
    index: int
    """Pose at which the event is complete."""


def view_path(
    world_from_effector: Float64[np.ndarray, "n 4 4"],
    *,
    cam_from_effector: Float64[np.ndarray, "4 4"] | None = None,
    axes: str | None = None,
) -> Float64[np.ndarray, "n 4 4"]:
    """Effector poses converted to OpenCV axes, so that the names of camera motion apply.

    Give the pose of a camera on the effector, or `axes`: which axes of the effector point right, down and forward, such
    as "-y,-z,+x". Raises PoseError unless exactly one is given.
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

    A push is a forward translation of a closed effector, a pull a backward one; whether it holds an object is unknown.
    """
    settings = settings or EffectorSettings()
    closed = closed_states(opening, settings)
    translations = np.diff(world_from_view[:, :3, 3], axis=0)
    forward = np.append(0.0, np.cumsum(np.einsum("ni,ni->n", world_from_view[:-1, :3, 2], translations)))
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
    """The published 7-D action between neighbouring poses: dx, dy, dz, d_roll (about z), d_pitch (about x), d_yaw
    (about y) in the effector's OpenCV axes, with the angles of a plan; then 0 (open) or 1 (closed) at the end."""
    checked_poses(world_from_view)
    closed = closed_states(opening)
    amounts = checked_amounts(np.linalg.solve(world_from_view[:-1], world_from_view[1:]))
    pan, tilt, roll, *translation = amounts.T
    return np.column_stack([*translation, roll, tilt, pan, closed[1:]])


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
    """The frame in which a robot dataset expresses its actions."""

    frame: ActionFrame | None
    """The frame; None if the data do not decide (the effector hardly rotates, or follows none of the frames)."""
    correlation: dict[ActionFrame, float]
    """Correlation of commanded and observed translations, for each frame."""


def action_frame(
    base_from_start: Float64[np.ndarray, "n 4 4"],
    base_from_end: Float64[np.ndarray, "n 4 4"],
    commanded: Float64[np.ndarray, "n 3"],
    *,
    settings: EffectorSettings | None = None,
) -> ActionFrameReading:
    """Decide whether commanded translations are steps in base axes, steps in effector axes, or target positions.

    Each row is one step: the pose before, the pose after, and the command. Rows of several episodes may be pooled.
    """
    settings = settings or EffectorSettings()
    checked_poses(base_from_start)
    observed = base_from_end[:, :3, 3] - base_from_start[:, :3, 3]
    correlation: dict[ActionFrame, float] = {
        "base delta": _correlation(commanded, observed),
        "effector delta": _correlation(np.einsum("nij,nj->ni", base_from_start[:, :3, :3], commanded), observed),
        "base target": _correlation(commanded - base_from_start[:, :3, 3], observed),
    }
    best, second, *_ = sorted(correlation, key=lambda frame: -correlation[frame])
    unexplained = {frame: max(1e-12, 1.0 - max(0.0, correlation[frame]) ** 2) for frame in correlation}
    log_odds = 1.5 * len(observed) * math.log(unexplained[second] / unexplained[best])
    clear = correlation[best] >= settings.agreement and log_odds >= settings.log_odds
    return ActionFrameReading(frame=best if clear else None, correlation=correlation)


def _correlation(left: Float64[np.ndarray, "m 3"], right: Float64[np.ndarray, "m 3"]) -> float:
    norm = math.sqrt(float((left**2).sum() * (right**2).sum()))
    return float((left * right).sum()) / norm if norm > 0 else 0.0


def _pushes(forward: Float64[np.ndarray, "n"], closed: Bool[np.ndarray, "n"], travel: float) -> list[EffectorEvent]:
    """One event for each translation of a closed effector by more than `travel` between two reversals."""
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
    """Rows: the right, down and forward directions in the effector's axes."""
    rows = np.zeros((3, 3))
    names = [name.strip() for name in axes.split(",")]
    for row, name in zip(rows, names, strict=False):
        if len(name) == 2 and name[0] in "+-" and name[1] in "xyz":
            row["xyz".index(name[1])] = 1.0 if name[0] == "+" else -1.0
    if len(names) != 3 or not math.isclose(float(np.linalg.det(rows)), 1.0):
        raise PoseError(f"axes must be three different signed axes, right-handed, such as '-y,-z,+x', not {axes!r}")
    return rows
