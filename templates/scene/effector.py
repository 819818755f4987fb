"""The gripper or hand of an episode: how it moves as the camera sees it, and when it is open or closed."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from action_mapping.effector_motion import EffectorSettings, closed_states
from action_mapping.pair_plan import amounts_of
from experts.signals import EffectorPath
from templates.columns import Texts
from templates.measured import first_reason
from templates.scene.episode import Episode
from templates.scene.scene import Frames, Scene, find_rows

OPEN, CLOSED, BETWEEN = 0, 1, -1
"""States; BETWEEN also stands for unknown."""
NO_EFFECTOR = "pose of the gripper or hand not known"
NO_CAMERA = "pose of the gripper or hand in the camera's axes not known"
OUT_OF_VIEW = "the gripper or hand is not in the picture"
HIDDEN = "the palm hides the fingers"
_BORDER = 0.03
"""Least distance of the wrist from the border of a picture that shows it, as a share of its width."""
_HIDES_RAD = np.radians(20.0)
"""Fingers that point away from the camera, nearer to its line of sight than this, are behind the palm."""
_LEAST_RANGE = 0.25
"""Least difference between the largest and the smallest opening that are two states: a gripper that holds something
does not close fully."""


@dataclass(frozen=True, kw_only=True)
class Motions:
    """Motions of the wrist from the first frame of each row to its others."""

    matrix: Float64[np.ndarray, "n k 4 4"]
    """In the axes of the first frame's camera, about the place of the wrist in it; NaN where unknown."""
    position_sigma: Float64[np.ndarray, "n k"]
    """Per axis, in the units of the path."""
    rotation_sigma_rad: Float64[np.ndarray, "n k"]
    distance: Float64[np.ndarray, "n"]
    """From the camera to the wrist in the first frame."""

    @property
    def amounts(self) -> Float64[np.ndarray, "n k 6"]:
        """Components of each motion, as `action_mapping` names them; NaN where unknown or not unique."""
        flat = self.matrix.reshape(-1, 4, 4)
        known, found = np.isfinite(flat).all(axis=(1, 2)), np.full((len(flat), 6), np.nan)
        found[known] = amounts_of(flat[known])
        return found.reshape(*self.matrix.shape[:2], 6)

    @property
    def sigma(self) -> Float64[np.ndarray, "n k 6"]:
        """σ of `amounts`."""
        return np.repeat(np.stack([self.rotation_sigma_rad, self.position_sigma], axis=-1), 3, axis=-1)


@dataclass(frozen=True, kw_only=True)
class Grip:
    """Whether the effector is open or closed."""

    frames: Int64[np.ndarray, "f"]
    """Frames with a known opening, ascending."""
    state: Int64[np.ndarray, "f"]
    """OPEN, CLOSED or BETWEEN."""
    since: Int64[np.ndarray, "e"]
    """For each change of state the last frame of the old state ..."""
    until: Int64[np.ndarray, "e"]
    """... the first frame of the new one ..."""
    to: Int64[np.ndarray, "e"]
    """... and the new state."""

    def at(self, frames: Frames) -> Int64[np.ndarray, "*k"]:
        """State in each frame."""
        rows = find_rows(self.frames, frames)
        return np.where(rows < 0, BETWEEN, self.state[rows] if len(self.state) else BETWEEN).astype(np.int64)


def effector_of(scene: Scene) -> EffectorPath | None:
    """The path of the gripper or hand, if the clip is an episode that has one."""
    return scene.effector if isinstance(scene, Episode) else None


def motions(scene: Scene, frames: Int64[np.ndarray, "n k"]) -> Motions:
    """Of the wrist between the frames of each row; the first motion of a row is none."""
    path = effector_of(scene)
    base_from_view, position, rotation = (
        _at(scene, frames, name, shape)
        for name, shape in (("base_from_view", (4, 4)), ("position_sigma", ()), ("rotation_sigma_rad", ()))
    )
    cam_from_base = _at(scene, frames[:, 0], "cam_from_base", (4, 4))[:, :3, :3]
    start = base_from_view[:, 0]
    matrix = np.zeros((*frames.shape, 4, 4))
    matrix[..., 3, 3] = 1.0
    turn = np.einsum("nkij,nlj->nkil", base_from_view[..., :3, :3], start[:, :3, :3])
    matrix[..., :3, :3] = cam_from_base[:, None] @ turn @ cam_from_base[:, None].swapaxes(-1, -2)
    moved = base_from_view[..., :3, 3] - start[:, None, :3, 3]
    matrix[..., :3, 3] = np.einsum("nij,nkj->nki", cam_from_base, moved)
    matrix[np.isnan(matrix).any(axis=(-2, -1))] = np.nan
    formal = np.hypot(position[:, :1], position)
    metre = 0.0 if path is None else path.scale.relative_sigma or 0.0
    relative = np.hypot(rotation[:, :1], metre)
    return Motions(
        matrix=matrix,
        position_sigma=np.hypot(formal, relative * np.linalg.norm(moved, axis=-1)),
        rotation_sigma_rad=np.hypot(rotation[:, :1], rotation),
        distance=np.linalg.norm(_wrist_in_camera(scene, frames[:, 0]), axis=-1),
    )


def in_view(scene: Scene, frames: Int64[np.ndarray, "*k"]) -> Bool[np.ndarray, "*k"]:
    """Whether the wrist lies inside the picture of each frame; False where that is not known."""
    camera, _ = scene.camera
    if camera is None:
        return np.zeros(frames.shape, dtype=bool)
    return camera.contains(camera.project(_wrist_in_camera(scene, frames)), _BORDER * camera.width_px)


def fingers_hidden(scene: Scene, frames: Int64[np.ndarray, "*k"]) -> Bool[np.ndarray, "*k"]:
    """Whether the camera of each frame looks along the fingers, from behind."""
    cam_from_view = _at(scene, frames, "cam_from_base", (4, 4)) @ _at(scene, frames, "base_from_view", (4, 4))
    away = np.einsum("...i,...i->...", cam_from_view[..., :3, 2], cam_from_view[..., :3, 3])
    with np.errstate(invalid="ignore"):
        return np.asarray(away > np.cos(_HIDES_RAD) * np.linalg.norm(cam_from_view[..., :3, 3], axis=-1))


def not_shown(scene: Scene, frames: Int64[np.ndarray, "n k"]) -> Texts:
    """Why the photos of a row are not known to show the fingers; "" where they are. Without the pose of the camera
    nobody knows: in many datasets the gripper enters the picture late."""
    unknown = np.isnan(_wrist_in_camera(scene, frames)).any(axis=(1, 2))
    cases = {
        NO_CAMERA: unknown,
        OUT_OF_VIEW: ~in_view(scene, frames).all(axis=1),
        HIDDEN: fingers_hidden(scene, frames).any(axis=1),
    }
    return first_reason(len(frames), cases)


def grip(scene: Scene) -> Grip:
    """When the effector is open and when closed, with hysteresis; BETWEEN while it opens or closes."""
    return scene.once("grip", lambda: _grip(scene))


def _grip(scene: Scene) -> Grip:
    path, none = effector_of(scene), np.empty(0, dtype=np.int64)
    known = none if path is None else np.flatnonzero(np.isfinite(path.opening))
    if path is None or not len(known):
        return Grip(frames=none, state=none, since=none, until=none, to=none)
    opening, limits = path.opening[known], EffectorSettings()
    if np.ptp(opening) >= _LEAST_RANGE:
        opening = (opening - opening.min()) / np.ptp(opening)
    opening = np.clip(opening, 0.0, 1.0)
    state = np.where(opening < limits.closed_below, CLOSED, np.where(opening > limits.open_above, OPEN, BETWEEN))
    clear = np.flatnonzero(state != BETWEEN)
    changes = np.flatnonzero(np.diff(closed_states(opening[clear], limits))) if len(clear) else none
    frames = path.frames[known]
    return Grip(
        frames=frames,
        state=state.astype(np.int64),
        since=frames[clear[changes]],
        until=frames[clear[changes + 1]],
        to=state[clear[changes + 1]].astype(np.int64),
    )


def _wrist_in_camera(scene: Scene, frames: Int64[np.ndarray, "*k"]) -> Float64[np.ndarray, "*k 3"]:
    cam_from_base = _at(scene, frames, "cam_from_base", (4, 4))
    return np.asarray((cam_from_base @ _at(scene, frames, "base_from_view", (4, 4)))[..., :3, 3])


def _at(scene: Scene, frames: Int64[np.ndarray, "*k"], name: str, shape: tuple[int, ...]) -> np.ndarray:
    """A column of the path in frames; NaN where unknown."""
    out, path = np.full((*frames.shape, *shape), np.nan), effector_of(scene)
    column = None if path is None else getattr(path, name)
    if path is not None and column is not None:
        rows = find_rows(path.frames, frames)
        out[rows >= 0] = column[rows[rows >= 0]]
    return out
