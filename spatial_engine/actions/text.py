"""What `actions` prints: a plan as a table or as JSON, a replay, and what the user should know."""

import json
import math
import sys

from action_mapping import Plan, Residual
from spatial_engine.actions.plan import ActionPlan, ActionSegment
from spatial_engine.actions.replay import Replayed
from spatial_engine.progress import counted, printable
from spatial_engine.sources.trajectories import Trajectory


def say(text: str) -> None:
    """The result. What the terminal cannot show becomes "?"."""
    coding = sys.stdout.encoding or "utf-8"
    print(text.encode(coding, "replace").decode(coding))


def tell(kind: str, text: str) -> None:
    """One line beside the result, which stays clean."""
    print(f"{kind}: {printable(text)}", file=sys.stderr)


def notes_of(trajectory: Trajectory) -> list[str]:
    """How a path was read, where that is not plain."""
    notes = list(trajectory.notes)
    if not trajectory.is_timed:
        notes.append(
            "no times: a pose counts as a second for thresholds, t0_s and t1_s are null. Give --fps or --times"
        )
    if trajectory.axes == "body":
        notes.append("poses of a body: only rest has a name. Give --cam-from-body FILE, how the camera sits on it")
    return notes


def plan_json(plan: ActionPlan) -> str:
    """JSON with a line for each segment."""
    stated = plan.as_json()
    segments = stated.pop("segments")
    assert isinstance(segments, list)
    head = json.dumps(stated)[1:-1]
    lines = ",\n".join(json.dumps(segment, ensure_ascii=not _shows("→"), allow_nan=False) for segment in segments)
    return f'{{{head}, "segments": [\n{lines}\n]}}'


def plan_lines(trajectory: Trajectory, plan: ActionPlan) -> list[str]:
    """A heading and a line for each segment."""
    rows = table_rows(plan)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return [*heading_lines(trajectory, plan), "", *table]


def heading_lines(trajectory: Trajectory, plan: ActionPlan) -> tuple[str, str]:
    """What was read, and in which steps it is told."""
    named = [part.plan for part in plan.segments if part.plan]
    return (
        f"{trajectory.format}: {len(trajectory.times_s)} poses, axes {plan.axes}, scale {plan.scale}",
        f"{counted(len(plan.segments), 'segment')}{_step_text(plan, named[0]) if named else ''}",
    )


def table_rows(plan: ActionPlan) -> list[tuple[str, ...]]:
    """Column names, then the cells of each segment."""
    rows: list[tuple[str, ...]] = [("poses", "seconds", "steps", "levelled", "residual")]
    rows += [_cells(plan, part) for part in plan.segments]
    shown = [row == 0 or any(cells[row] for cells in rows[1:]) for row in range(len(rows[0]))]
    return [tuple(cell for cell, show in zip(row, shown, strict=True) if show) for row in rows]


def replay_lines(plan: ActionPlan, replayed: Replayed) -> list[str]:
    """Where a plan ends, and the residuals against the path."""
    lines = [f"{counted(len(plan.segments), 'segment')} replayed"]
    if replayed.residuals is None:
        x, y, z = replayed.world_from_cam[-1, :3, 3].tolist()
        end = f"from the identity they lead to x {x:.4g}, y {y:.4g}, z {z:.4g} {plan.unit}"
        return [*lines, end, "give a path to hold them against"]
    if plan.scale == "relative":
        lines.append(f"scale relative: one step is {replayed.step:.4g} path units, where it fits the path best")
    size = 1.0 if plan.scale == "metric" else replayed.step or 1.0
    off = [Residual(translation=part.translation / size, rotation_rad=part.rotation_rad) for part in replayed.residuals]
    worst = Residual(
        translation=max(part.translation for part in off), rotation_rad=max(part.rotation_rad for part in off)
    )
    return [*lines, f"residual at the end {_off(off[-1], plan.unit)}; largest {_off(worst, plan.unit)}"]


def _step_text(plan: ActionPlan, first: Plan) -> str:
    degrees = f"{math.degrees(first.rotation_step_rad):g}°"
    if plan.scale == "metric":
        return f"; one step is {first.translation_step:g} m or {degrees}"
    return f"; one step is {degrees} or {first.translation_step:g} % of the way to the farthest pose"


def _cells(plan: ActionPlan, part: ActionSegment) -> tuple[str, ...]:
    size = part.plan.translation_step if part.plan and plan.scale == "relative" else 1.0
    return (
        f"{part.first}-{part.last}",
        "" if part.t0_s is None or part.t1_s is None else f"{part.t0_s:.2f}-{part.t1_s:.2f}",
        part.words(),
        "" if part.levelled is None else ", ".join(part.levelled),
        _off(part.residual, plan.unit, size) if part.residual else "",
    )


def _off(residual: Residual, unit: str, size: float = 1.0) -> str:
    way, turn = round(residual.translation / size, 9), round(math.degrees(residual.rotation_rad), 9)  # no 3e-15°
    return f"{way:.3g} {unit}, {turn:.2g}°"


def _shows(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
