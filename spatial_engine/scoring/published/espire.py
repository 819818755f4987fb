"""ESPIRE (espire-eval): how well a robot's tasks were localised and executed, from what its client logged.

The logged number of a trial counts whatever came before it: a task is right if any of its tries was.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One call of a tool."""

    kind: Literal["localize", "move"]
    success: bool
    """localize: the point lies in the goal's mask; move: the pose was accepted and reached."""
    distance_px: float | None = None
    """Of a localised point from the goal, as logged; NaN or None where the log holds no number."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One episode."""

    kind: Literal["pick", "place"]
    trials: tuple[Trial, ...]
    """In order of time."""
    finish_goal: bool
    """What `end_task` reported."""
    stopped_normally: bool = True
    """The log ends with "Client stopped normally"."""


@dataclass(frozen=True, kw_only=True)
class Espire:
    """Shares of tasks, from 0 to 1; None where there is no task (the repository: NaN)."""

    count: int
    """Tasks in the denominator."""
    left_out: int
    """Tasks that ended in disorder, which the repository does not count."""
    localization: float | None
    """Any `localize` succeeded."""
    acceptance: float | None
    """Any `move` succeeded."""
    combined: float | None
    """Both."""
    goal: float | None
    """Both, and the goal was reached."""
    localize_trials: float | None
    """Mean number of calls of tasks that succeeded in it; None if none did."""
    move_trials: float | None


def espire(
    tasks: Sequence[Task], kind: Literal["pick", "place"], *, variant: Literal["repository", "strict"] = "repository"
) -> Espire:
    """Scores of one kind of task; both are reported, never their mean.

    repository: tasks that did not stop normally, or with a localisation whose distance is no number, leave the
    denominator. strict: they stay, as failures, and only the first call of each kind counts.
    """
    own = [task for task in tasks if task.kind == kind]
    counted = [task for task in own if _orderly(task)]
    rows = [_success(task, first_only=variant == "strict") for task in counted]
    count = len(own) if variant == "strict" else len(counted)
    return Espire(
        count=count,
        left_out=len(own) - count,
        localization=_share([localized for localized, _ in rows], count),
        acceptance=_share([moved for _, moved in rows], count),
        combined=_share([all(row) for row in rows], count),
        goal=_share([all(row) and task.finish_goal for row, task in zip(rows, counted, strict=True)], count),
        localize_trials=_mean_trials(counted, "localize"),
        move_trials=_mean_trials(counted, "move"),
    )


def _orderly(task: Task) -> bool:
    distances = [trial.distance_px for trial in task.trials if trial.kind == "localize"]
    return task.stopped_normally and all(d is not None and math.isfinite(d) for d in distances)


def _success(task: Task, *, first_only: bool) -> tuple[bool, bool]:
    """(localised, moved)."""
    localized, moved = (
        any([trial.success for trial in task.trials if trial.kind == kind][: 1 if first_only else None])
        for kind in ("localize", "move")
    )
    return localized, moved


def _mean_trials(tasks: Sequence[Task], kind: str) -> float | None:
    outcomes = [[trial.success for trial in task.trials if trial.kind == kind] for task in tasks]
    counts = [len(calls) for calls in outcomes if any(calls)]
    return sum(counts) / len(counts) if counts else None


def _share(hits: Sequence[bool], count: int) -> float | None:
    return sum(hits) / count if count else None
