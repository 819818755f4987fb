"""The moments at which one step of a task is done and the next one begins."""

import numpy as np
from jaxtyping import Int64

from templates.columns import Texts
from templates.measured import first_reason
from templates.scene.episode import task_of
from templates.scene.scene import Scene, find_rows
from templates.scene.task_states import TaskStates
from templates.scene.task_words import NOT_SUCCEEDED, NOT_THIS_TASK, instruction_of, joined_words, same_words, steps_of

NO_START = "no step begins at that moment, or that moment looks like another one"


def clear_starts(scene: Scene, states: TaskStates) -> Int64[np.ndarray, "s"]:
    """First frame of each step; -1 where the effector is then as at the beginning of another step, or goes back."""
    task = task_of(scene)
    if task is None or not steps_of(scene):
        return np.empty(0, dtype=np.int64)
    frames = task.step_frames
    rows = states.rows(frames)
    safe = np.maximum(rows, 0)
    change = states.change(safe[:, None], safe[None]) + np.diag(np.full(len(rows), np.inf))
    clear = (rows >= 0) & (change >= 1).all(axis=1) & ~states.back[safe]
    return np.where(clear, frames, -1)


def begun(scene: Scene, states: TaskStates, frames: Int64[np.ndarray, "*n"]) -> Int64[np.ndarray, "*n"]:
    """The step that begins at each frame; -1 where none does that can be told."""
    starts = clear_starts(scene, states)
    known = np.flatnonzero(starts >= 0)
    if not len(known):
        return np.full(frames.shape, -1)
    row = find_rows(starts[known], frames)
    return np.where(row >= 0, known[row], -1)


def margin_of_starts(scene: Scene, states: TaskStates, step: Int64[np.ndarray, "*n"]) -> "np.ndarray":
    """How far the moment at which a step begins is from that of any other, in σ."""
    task = task_of(scene)
    if task is None or not len(task.step_frames):
        return np.zeros(step.shape)
    rows = np.maximum(states.rows(task.step_frames), 0)
    margin = states.margin(rows[:, None], rows[None]) + np.diag(np.full(len(rows), np.inf))
    return np.asarray(np.nan_to_num(margin, nan=np.inf).min(axis=1)[np.maximum(step, 0)])


def why_not_this_task(scene: Scene, task: Texts, steps: Texts) -> Texts:
    """Why facts with these words are not about an episode whose steps were all done."""
    own = same_words(task, instruction_of(scene)) & same_words(steps, joined_words(steps_of(scene)))
    done = task_of(scene)
    succeeds = done is not None and done.success is True
    return first_reason(len(task), {NOT_THIS_TASK: ~own, NOT_SUCCEEDED: not succeeds})
