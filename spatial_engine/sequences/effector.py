"""The pose and opening of a gripper or hand that a manifest states."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from experts.provenance import Provenance
from experts.signals import EffectorPath, Scale, Task
from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import read_numbers
from spatial_engine.sequences.manifest import Effector, Poses
from spatial_engine.sequences.manifest import Task as StatedTask
from spatial_engine.sequences.poses import read_rows


def read_effector(folder: Path, stated: Effector, images: int, scale: Scale, provenance: Provenance) -> EffectorPath:
    """The path of all images. Raises `UsageError`."""
    poses, _ = read_rows(folder / stated.file, Poses(form=stated.form, axes=stated.axes))
    opening = np.full(images, np.nan) if not stated.opening else read_numbers(folder / stated.opening)[:, 0]
    for name, rows in ((stated.file, poses), (stated.opening, opening)):
        if len(rows) != images:
            raise UsageError(f"effector: {name} has {len(rows)} rows for {images} images", "one row per image")
    if (opening < 0).any() or (opening > 1).any():
        raise UsageError(
            f"effector.opening: from {np.nanmin(opening):g} to {np.nanmax(opening):g}", "0: closed, 1: open"
        )
    return EffectorPath(
        frames=np.arange(images),
        base_from_view=poses,
        opening=opening,
        rotation_sigma_rad=np.full(images, np.radians(stated.rotation_sigma_deg)),
        position_sigma=np.full(images, stated.position_sigma),
        effector=stated.kind,
        scale=scale,
        provenance=provenance,
    )


def seen_by(path: EffectorPath, world_from_cam: Float64[np.ndarray, "n 4 4"] | None) -> EffectorPath:
    """The path whose base is the world of the camera's poses. Raises `UsageError` where there are none."""
    if world_from_cam is None:
        raise UsageError("effector.base_is_world without poses of the camera", "state poses, or leave it out")
    return replace(path, cam_from_base=np.linalg.inv(world_from_cam))


def of_frames(path: EffectorPath, frames: Int64[np.ndarray, "n"]) -> EffectorPath | None:
    """The part of a clip; None where there is none."""
    rows = np.flatnonzero(np.isin(path.frames, frames))
    names = ("frames", "base_from_view", "opening", "rotation_sigma_rad", "position_sigma", "cam_from_base")
    own: dict[str, Any] = {name: getattr(path, name) for name in names}
    part: dict[str, Any] = {name: None if column is None else column[rows] for name, column in own.items()}
    return replace(path, **part) if len(rows) else None


def task_in(task: Task, path: EffectorPath | None, frames: Int64[np.ndarray, "n"]) -> Task:
    """The task in a clip. A part of an episode has no steps, and nobody knows whether it succeeds; the path of the
    effector says how long the episode is."""
    steps = task.step_frames
    whole = path is not None and bool(np.isin([path.frames[-1], *steps], frames).all())
    return task if whole else replace(task, step_texts=(), step_frames=steps[:0], success=None)


def read_task(stated: StatedTask, images: int, provenance: Provenance) -> Task:
    """The task of all images. Raises `UsageError`."""
    frames = np.array([step.frame for step in stated.steps], dtype=np.int64)
    if not stated.instruction.strip():
        raise UsageError("task.instruction is empty", "say what is done, or leave out task")
    if len(frames) and (frames[0] != 0 or (np.diff(frames) <= 0).any() or frames[-1] >= images):
        raise UsageError(f"task.steps begin with the images {frames.tolist()} of {images}", "0, then ascending")
    return Task(
        instruction=stated.instruction,
        step_texts=tuple(step.text for step in stated.steps),
        step_frames=frames,
        success=stated.success,
        provenance=provenance,
    )
