"""The states that an episode goes through on its way to the end of its task: steps and grips divide it into stages.

In a stage the effector comes ever closer to where the stage ends. Frames in which it goes back, or grips a second time,
are no progress.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from action_mapping.effector_motion import closed_states
from experts.signals import EffectorPath, Task
from templates.columns import Texts
from templates.measured import first_reason
from templates.scene.episode import effector_of, task_of
from templates.scene.scene import Scene, find_rows

SIGMAS = 3.0
"""Least change between two states, and least distance that counts as going back, in σ."""
_LEAST_WAY, _LEAST_TURN_RAD, _LEAST_OPENING = 0.1, np.radians(25), 0.8
"""Changes that a person sees: of the effector's place, as a share of the room it uses in the episode; of its direction;
of its opening, as a share of the range it uses."""
_BACK = 0.05
"""Distance of the effector from where it was closest to the end of its stage, beyond its σ, that is no progress."""
_OPENING_SIGMA = 0.03
_LEAST_GRIP = 0.2
"""Range of the opening below which the effector does not grip."""
_JUMP = 0.5
"""Largest motion between neighbouring frames, as a share of the room it uses."""


@dataclass(frozen=True, kw_only=True)
class TaskStates:
    """Of the frames in which the effector is known."""

    frames: Int64[np.ndarray, "n"]
    room: float
    """Diagonal of the box that the effector uses in the episode, in the units of its path."""
    at: Float64[np.ndarray, "n 3"]
    """Its place, in units of that room."""
    turned: Float64[np.ndarray, "n 3 3"]
    opening: Float64[np.ndarray, "n"]
    """0 to 1: the range that it uses; 0 where it never grips."""
    sigma: Float64[np.ndarray, "n 3"]
    """Of place (per axis), angle (rad) and opening."""
    stage: Int64[np.ndarray, "n"]
    back: Bool[np.ndarray, "n"]
    """Whether the effector goes back, or does again what it has done."""
    finish: int
    """Row from which on the task may be done: its last step begins, or what was gripped is let go for the last time,
    whichever is earlier; without both the last grip; the middle, where there is none either."""
    settled: int
    """Row from which on nothing changes any more."""

    def rows(self, frames: Int64[np.ndarray, "*n"]) -> Int64[np.ndarray, "*n"]:
        """The row of each frame; -1 where the effector is not known."""
        return find_rows(self.frames, frames)

    def change(self, a: Int64[np.ndarray, "..."], b: Int64[np.ndarray, "..."]) -> Float64[np.ndarray, "..."]:
        """How much the states of two rows differ: from 1 on a person sees it, and it is more than `SIGMAS` σ."""
        differences = self._differences(a, b)
        spread = SIGMAS * np.hypot(self.sigma[a], self.sigma[b])
        least = np.maximum(spread, [_LEAST_WAY, _LEAST_TURN_RAD, _LEAST_OPENING])
        return np.asarray((differences / least).max(axis=-1))

    def margin(self, a: Int64[np.ndarray, "..."], b: Int64[np.ndarray, "..."]) -> Float64[np.ndarray, "..."]:
        """The same difference in its σ."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nanmax(self._differences(a, b) / np.hypot(self.sigma[a], self.sigma[b]), axis=-1))

    def goes_back(self, a: Int64[np.ndarray, "..."], b: Int64[np.ndarray, "..."]) -> Bool[np.ndarray, "..."]:
        """Whether there is no progress somewhere between two rows, a before b."""
        before = np.concatenate([[0], np.cumsum(self.back)])
        return np.asarray(before[b + 1] > before[a])

    def way_done_percent(self, frames: Int64[np.ndarray, "*n"]) -> Float64[np.ndarray, "*n"]:
        """How much of its whole way in the episode the effector has gone, in whole percent."""
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.at, axis=0), axis=1))])
        return np.asarray((100 * way[np.maximum(self.rows(frames), 0)] / way[-1]).round())

    def far_from_finish(self) -> Bool[np.ndarray, "n"]:
        """Whether the effector is visibly elsewhere than where the last stage begins: of an object that it moves, much
        of the way is left."""
        way = np.linalg.norm(self.at - self.at[self.finish], axis=1)
        return np.asarray(way >= np.maximum(_LEAST_WAY, SIGMAS * np.sqrt(2) * self.sigma[:, 0]))

    def _differences(self, a: Int64[np.ndarray, "..."], b: Int64[np.ndarray, "..."]) -> Float64[np.ndarray, "... 3"]:
        way = np.linalg.norm(self.at[a] - self.at[b], axis=-1)
        cosine = (np.einsum("...ij,...ij->...", self.turned[a], self.turned[b]) - 1) / 2
        return np.stack([way, np.arccos(np.clip(cosine, -1, 1)), np.abs(self.opening[a] - self.opening[b])], axis=-1)


def task_states(scene: Scene) -> TaskStates | str:
    """Computed once per episode; or why there are none."""
    return scene.once("task states", lambda: _task_states(effector_of(scene), task_of(scene)))


def why_no_progress(states: TaskStates, frames: Int64[np.ndarray, "n k"]) -> Texts:
    """Why frames in ascending order show no steady progress; "" where they do, and only the last may show the end."""
    rows = states.rows(frames)
    a, b = np.triu_indices(frames.shape[1], 1)
    safe = np.maximum(rows, 0)
    cases = {
        "the state of the effector is not known in a photo": (rows < 0).any(axis=1),
        "two photos show nearly the same state": (states.change(safe[:, a], safe[:, b]) < 1).any(axis=1),
        "the effector goes back or grips again in between": states.goes_back(safe[:, 0], safe[:, -1]),
        "the task may be finished in two photos": safe[:, -2] >= states.finish,
    }
    return first_reason(len(frames), cases)


def _task_states(path: EffectorPath | None, task: Task | None) -> TaskStates | str:
    if path is None or task is None:
        return "the effector or its task is not known"
    known = np.isfinite(path.base_from_view).all(axis=(1, 2))
    if known.sum() < 2:
        return "the effector is not known"
    poses, frames = path.base_from_view[known], path.frames[known]
    room = float(np.linalg.norm(np.ptp(poses[:, :3, 3], axis=0)))
    spread = path.position_sigma[known]
    if not room > SIGMAS * 3 * spread.max():
        return "the effector hardly moves"
    at = poses[:, :3, 3] / room
    if (np.linalg.norm(np.diff(at, axis=0), axis=1) > _JUMP).any():
        return "the effector jumps"
    opening = _relative(path.opening[known])
    closed = closed_states(opening) if np.ptp(opening) > 0 else np.zeros(len(opening), dtype=bool)
    grips = np.flatnonzero(np.diff(closed.astype(int))) + 1
    steps = np.searchsorted(frames, task.step_frames[1:])
    borders = np.unique(np.concatenate([steps, grips]))
    stage = np.searchsorted(borders, np.arange(len(frames)), side="right")
    sigma = np.column_stack([spread / room, path.rotation_sigma_rad[known], np.full(len(at), _OPENING_SIGMA)])
    states = TaskStates(
        frames=frames, room=room, at=at, turned=poses[:, :3, :3], opening=opening, sigma=sigma, stage=stage,
        back=np.zeros(len(at), dtype=bool), finish=0, settled=0,
    )  # fmt: skip
    back = _going_back(states) | _gripping_again(closed, np.searchsorted(steps, np.arange(len(frames)), side="right"))
    released = grips[1:][~closed[grips[1:]]]  # what opens first has gripped nothing
    last = [int(rows[-1]) for rows in (steps, released) if len(rows)]
    last = last or [int(grips[-1]) if len(grips) else len(at) // 2]
    moving = np.flatnonzero(states.change(np.arange(len(at)), np.full(len(at), len(at) - 1)) >= 0.5)
    settled = int(max(moving[-1] + 1 if len(moving) else 0, min(max(last), len(at) - 1)))
    return TaskStates(
        frames=frames, room=room, at=at, turned=states.turned, opening=opening, sigma=sigma, stage=stage, back=back,
        finish=min(*last, settled), settled=settled,
    )  # fmt: skip


def _relative(opening: Float64[np.ndarray, "n"]) -> Float64[np.ndarray, "n"]:
    """As a share of the range it uses; 0 where it is not known, or never changes much."""
    if not np.isfinite(opening).all() or np.ptp(opening) < _LEAST_GRIP:
        return np.zeros(len(opening))
    return (opening - opening.min()) / np.ptp(opening)


def _going_back(states: TaskStates) -> Bool[np.ndarray, "n"]:
    """Where the effector is farther from the end of its stage than it was before in the stage."""
    back = np.zeros(len(states.frames), dtype=bool)
    for stage in np.unique(states.stage):
        rows = np.flatnonzero(states.stage == stage)
        # a stage ends where the next one begins
        end = min(rows[-1] + 1, len(states.frames) - 1)
        left = np.linalg.norm(states.at[rows] - states.at[end], axis=1)
        noise = SIGMAS * np.sqrt(2) * states.sigma[rows, 0]
        back[rows] = left > np.minimum.accumulate(left) + _BACK + noise
    return back


def _gripping_again(closed: Bool[np.ndarray, "n"], step: Int64[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
    """From the first closing to the last one of a step in which it closes several times, and likewise of opening."""
    again = np.zeros(len(closed), dtype=bool)
    for sign in (1, -1):
        rows = np.flatnonzero(np.diff(closed.astype(int)) == sign) + 1
        for one in np.unique(step[rows]):
            same = rows[step[rows] == one]
            if len(same) > 1:
                again[same[0] : same[-1] + 1] = True
    return again
