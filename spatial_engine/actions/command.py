"""The command `actions`: prints and draws the plan of a path, or replays such a plan."""

import json
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.actions.plan import read_action_plan
from spatial_engine.actions.planning import plan_actions
from spatial_engine.actions.plot import PLOT_FORMATS, write_motion_plot
from spatial_engine.actions.replay import replay_plan
from spatial_engine.actions.text import notes_of, plan_json, plan_lines, replay_lines, say, tell
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories import Trajectory


def show_actions(
    trajectory: Trajectory | None,
    *,
    up: str | None,
    min_duration_s: float | None,
    cap: int,
    seed: int,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Prints the plan of a path, and draws it. Raises `UsageError`."""
    if trajectory is None:
        raise UsageError("no file of camera poses", "spatial-engine actions PATH; without PATH only --replay works")
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise UsageError(f"--plot {plot}", f"name a file that ends in {', '.join(PLOT_FORMATS)}")
    plan = plan_actions(
        trajectory, up_world=_direction(up), cap=cap, rng=np.random.default_rng(seed), min_duration_s=min_duration_s
    )
    if plot is not None:
        try:
            write_motion_plot(plot, trajectory, plan, up_world=_direction(up))
        except OSError as error:
            raise UsageError(f"--plot {plot} cannot be written: {error.strerror}", "name another file") from error
    for warning in plan.warnings:
        tell("warning", warning)
    for note in (*notes_of(trajectory), *plan.notes):
        tell("note", note)
    say(plan_json(plan) if as_json else "\n".join(plan_lines(trajectory, plan)))


def show_replay(
    file: Path, trajectory: Trajectory | None, *, cap: int, as_json: bool, plot: Path | None = None
) -> None:
    """Prints where a plan leads, from the path's first pose or the identity. Raises `UsageError`."""
    if plot is not None:
        raise UsageError("--plot with --replay", "draw the path without --replay")
    plan = read_action_plan(file, cap)
    replayed = replay_plan(plan, trajectory)
    if as_json:
        say(json.dumps(replayed.as_json(is_metric=plan.scale == "metric"), allow_nan=False))
    else:
        say("\n".join(replay_lines(plan, replayed)))


def _direction(up: str | None) -> Float64[np.ndarray, "3"] | None:
    """The sky's direction out of "x,y,z"."""
    if up is None:
        return None
    try:
        direction = np.array([float(part) for part in up.split(",")])
    except ValueError:
        direction = np.empty(0)
    if len(direction) != 3 or not np.isfinite(direction).all() or not np.abs(direction).max() > 0:
        raise UsageError(f"--up {up}", "give the direction of the sky in the world: --up 0,0,1")
    return direction / np.abs(direction).max()
