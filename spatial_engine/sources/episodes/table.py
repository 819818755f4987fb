"""One episode: a row per picture, and why an episode cannot be used."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64
from scipy.spatial.transform import Rotation

from action_mapping.effector_motion import view_path
from action_mapping.rigid import PoseError
from spatial_engine.errors import UsageError
from spatial_engine.sources.episodes.stated import Episodes

_JUMP = 0.5
"""Largest motion between neighbouring rows, as a share of the diagonal of the box that the effector uses."""
_LEAST_GRIP = 0.05
_WIDTHS = {"rpy": 6, "axis-angle": 6, "quaternion": 7, "matrix": 16}


@dataclass(frozen=True, kw_only=True)
class EpisodeTable:
    """An episode, as read."""

    name: str
    pictures: tuple[Path, ...]
    """A video, or an image per row."""
    base_from_view: Float64[np.ndarray, "n 4 4"]
    """Pose of the wrist with OpenCV axes (forward along the fingers); NaN where a row has none."""
    opening: Float64[np.ndarray, "n"]
    """0: closed; 1: open; NaN where it is not known."""
    instruction: str
    step_texts: tuple[str, ...] = ()
    step_rows: Int64[np.ndarray, "s"]
    """First row of each step."""
    success: bool | None = None
    times_s: Float64[np.ndarray, "n"] | None = None
    """Of each row."""
    numbers: Int64[np.ndarray, "n"] | None = None
    """Number of each row's picture in the episode, if the dataset states it."""
    part_s: tuple[float, float] | None = None
    """Which part of a video with several episodes is this one."""


def why_unusable(table: EpisodeTable) -> str:
    """The reason, short and countable; "" for an episode that can be used."""
    rows, opening = len(table.opening), table.opening
    if not table.instruction.strip():
        return "no instruction"
    if rows < 2:
        return "one row only"
    if table.numbers is not None and (np.diff(table.numbers) != 1).any():
        return "frames are missing in the table"
    known = np.isfinite(table.base_from_view).all(axis=(1, 2))
    if not known.all():
        return "poses are missing"
    if np.isfinite(opening).any() and not np.isfinite(opening).all():
        return "openings are missing"
    if np.isfinite(opening).all() and not (opening.min() >= -0.01 and opening.max() <= 1.01):
        return "the opening is not between closed and open"
    if np.isfinite(opening).all() and np.ptp(opening) < _LEAST_GRIP:
        return "the gripper never moves"
    at = table.base_from_view[:, :3, 3]
    room, way = float(np.linalg.norm(np.ptp(at, axis=0))), np.linalg.norm(np.diff(at, axis=0), axis=1)
    if room == 0:
        return "the effector never moves"
    if rows > 2 and way.max() > _JUMP * room:
        return "the effector jumps"
    if table.times_s is not None and not (np.diff(table.times_s) > 0).all():
        return "the times do not rise"
    if len(table.step_texts) == 1:
        return "one step only"
    return ""


def base_from_view(numbers: Float64[np.ndarray, "n k"], stated: Episodes) -> Float64[np.ndarray, "n 4 4"]:
    """Poses in rows of numbers, with OpenCV axes; NaN for rows that are no pose. Raises `UsageError`."""
    if numbers.shape[1] != _WIDTHS[stated.form]:
        raise UsageError(
            f"episodes.pose names {numbers.shape[1]} columns", f"the form {stated.form} has {_WIDTHS[stated.form]}"
        )
    poses = np.tile(np.eye(4), (len(numbers), 1, 1))
    if stated.form == "matrix":
        poses = numbers.reshape(-1, 4, 4)
        turns = poses[:, :3, :3]
        right = np.asarray(np.isfinite(poses).all(axis=(1, 2)))
        right[right] = np.abs(turns[right] @ turns[right].swapaxes(1, 2) - np.eye(3)).max(axis=(1, 2)) < 1e-2
    else:
        right = np.isfinite(numbers).all(axis=1)
        if stated.form == "quaternion":
            right &= np.linalg.norm(np.nan_to_num(numbers[:, 3:]), axis=1) > 1e-6
        poses[right, :3, :3] = _turns(numbers[right, 3:], stated.form).as_matrix()
        poses[right, :3, 3] = numbers[right, :3]
    out = np.full((len(numbers), 4, 4), np.nan)
    try:
        out[right] = view_path(poses[right], axes=stated.axes) if right.any() else poses[right]
    except PoseError as error:
        raise UsageError(f"episodes: {error}", "see docs/sequences.md") from error
    return out


def share_open(numbers: Float64[np.ndarray, "n"], stated: Episodes) -> Float64[np.ndarray, "n"]:
    """0 closed to 1 open. Raises `UsageError`."""
    if stated.open == stated.closed:
        raise UsageError(f"episodes: open and closed are both {stated.open:g}", "state the values of both")
    share = (numbers - stated.closed) / (stated.open - stated.closed)
    return np.where((share > -0.01) & (share < 1.01), np.clip(share, 0, 1), share)


def _turns(numbers: Float64[np.ndarray, "n k"], form: str) -> Rotation:
    if form == "quaternion":
        return Rotation.from_quat(numbers)
    return Rotation.from_euler("xyz", numbers) if form == "rpy" else Rotation.from_rotvec(numbers)
