"""The command `actions`: prints and draws the plan of a path, or replays a plan."""

import json
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.actions.plan import read_action_plan
from spatial_engine.actions.planning import plan_actions
from spatial_engine.actions.plot import PLOT_FORMATS, write_motion_plot
from spatial_engine.actions.replay import replay_plan
from spatial_engine.actions.text import notes_of, plan_json, plan_lines, print_beside, print_result, replay_lines
from spatial_engine.errors import UsageError
from spatial_engine.sources.trajectories import Trajectory


def show_actions(
    trajectory: Trajectory | None,
    *,
    up: str | None,
    min_duration_s: float | None,
    max_steps: int,
    seed: int,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Prints the plan of a path, and draws it into `plot`. Raises `UsageError`."""
    if trajectory is None:
        raise UsageError("no file of camera poses", "spatial-engine actions PATH; without PATH only --replay works")
    if plot is not None and plot.suffix.lower() not in PLOT_FORMATS:
        raise UsageError(f"--plot {plot}", f"name a file that ends in {', '.join(PLOT_FORMATS)}")
    plan = plan_actions(
        trajectory,
        up_world=_direction(up),
        max_steps=max_steps,
        rng=np.random.default_rng(seed),
        min_duration_s=min_duration_s,
    )
    if plot is not None:
        try:
            write_motion_plot(plot, trajectory, plan, up_world=_direction(up))
        except OSError as error:
            raise UsageError(f"--plot {plot} cannot be written: {error.strerror}", "name another file") from error
    for warning in plan.warnings:
        print_beside("warning", warning)
    for note in (*notes_of(trajectory), *plan.notes):
        print_beside("note", note)
    print_result(plan_json(plan) if as_json else "\n".join(plan_lines(trajectory, plan)))


def show_replay(
    file: Path, trajectory: Trajectory | None, *, max_steps: int, as_json: bool, plot: Path | None = None
) -> None:
    """Prints where a plan leads from the path's first pose, or from the identity. Raises `UsageError`."""
    if plot is not None:
        raise UsageError("--plot with --replay", "draw the path without --replay")
    plan = read_action_plan(file, max_steps)
    replayed = replay_plan(plan, trajectory)
    if as_json:
        print_result(json.dumps(replayed.as_json(is_metric=plan.scale == "metric"), allow_nan=False))
    else:
        print_result("\n".join(replay_lines(plan, replayed)))


def _direction(up: str | None) -> Float64[np.ndarray, "3"] | None:
    """The direction of the sky, parsed from "x,y,z"."""
    if up is None:
        return None
    try:
        direction = np.array([float(part) for part in up.split(",")])
    except ValueError:
        direction = np.empty(0)
    if len(direction) != 3 or not np.isfinite(direction).all() or not np.abs(direction).max() > 0:
        raise UsageError(f"--up {up}", "give the direction of the sky in the world: --up 0,0,1")
    return direction / np.abs(direction).max()
