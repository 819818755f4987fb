"""The output of `actions`: plans as a table or as JSON, replays, notes and warnings."""

import json
import math
import sys
from dataclasses import replace

from action_mapping import Plan, Residual
from spatial_engine.actions.plan import ActionPlan, ActionSegment
from spatial_engine.actions.replay import Replayed
from spatial_engine.progress import counted, printable
from spatial_engine.sources.trajectories import Trajectory


def print_result(text: str) -> None:
    """Prints to standard output. Characters that the terminal cannot show become "?"."""
    coding = sys.stdout.encoding or "utf-8"
    print(text.encode(coding, "replace").decode(coding))


def print_beside(kind: str, text: str) -> None:
    """Prints one line, a note or a warning, to standard error."""
    print(f"{kind}: {printable(text)}", file=sys.stderr)


def notes_of(trajectory: Trajectory) -> list[str]:
    """What the user should know about how a path was read."""
    notes = list(trajectory.notes)
    if not trajectory.is_timed:
        notes.append("no times: thresholds take one pose a second, and t0_s and t1_s are null. Give --fps or --times")
    if trajectory.axes == "body":
        notes.append(
            "poses of a body: only rest has a name. Give --cam-from-body FILE, the pose of the body in the camera"
        )
    return notes


def plan_json(plan: ActionPlan) -> str:
    """JSON with one line for each segment."""
    value = plan.as_json()
    segments = value.pop("segments")
    assert isinstance(segments, list)
    head = json.dumps(value)[1:-1]
    lines = ",\n".join(json.dumps(segment, ensure_ascii=not _shows("→"), allow_nan=False) for segment in segments)
    return f'{{{head}, "segments": [\n{lines}\n]}}'


def plan_lines(trajectory: Trajectory, plan: ActionPlan) -> list[str]:
    """A heading, and one line for each segment."""
    rows = table_rows(plan)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return [*heading_lines(trajectory, plan), "", *table]


def heading_lines(trajectory: Trajectory, plan: ActionPlan) -> tuple[str, str]:
    """What was read; the number of segments and the size of a step."""
    named = [part.plan for part in plan.segments if part.plan]
    return (
        f"{trajectory.format}: {len(trajectory.times_s)} poses, axes {plan.axes}, scale {plan.scale}",
        f"{counted(len(plan.segments), 'segment')}{_step_text(plan, named[0]) if named else ''}",
    )


def table_rows(plan: ActionPlan) -> list[tuple[str, ...]]:
    """Column names, then the cells of each segment; columns without content are omitted."""
    rows: list[tuple[str, ...]] = [("poses", "seconds", "steps", "levelled", "residual")]
    rows += [_cells(plan, part) for part in plan.segments]
    shown = [row == 0 or any(cells[row] for cells in rows[1:]) for row in range(len(rows[0]))]
    return [tuple(cell for cell, show in zip(row, shown, strict=True) if show) for row in rows]


def replay_lines(plan: ActionPlan, replayed: Replayed) -> list[str]:
    """Where a plan ends, and its errors against the path."""
    lines = [f"{counted(len(plan.segments), 'segment')} replayed"]
    if replayed.residuals is None:
        x, y, z = replayed.world_from_cam[-1, :3, 3].tolist()
        end = f"from the identity the plan leads to x {x:.4g}, y {y:.4g}, z {z:.4g} {plan.unit}"
        return [*lines, end, "give a path to measure the error"]
    if plan.scale == "relative":
        lines.append(f"scale relative: one step is {replayed.step:.4g} path units, fitted to the path")
    size = 1.0 if plan.scale == "metric" else replayed.step or 1.0
    errors = [replace(residual, translation=residual.translation / size) for residual in replayed.residuals]
    largest = Residual(
        translation=max(error.translation for error in errors), rotation_rad=max(error.rotation_rad for error in errors)
    )
    return [*lines, f"residual at the end {_error(errors[-1], plan.unit)}; largest {_error(largest, plan.unit)}"]


def _step_text(plan: ActionPlan, first: Plan) -> str:
    degrees = f"{math.degrees(first.rotation_step_rad):g}°"
    if plan.scale == "metric":
        return f"; one step is {first.translation_step:g} m or {degrees}"
    return f"; one step is {degrees} or {first.translation_step:g} % of the distance to the farthest pose"


def _cells(plan: ActionPlan, part: ActionSegment) -> tuple[str, ...]:
    size = part.plan.translation_step if part.plan and plan.scale == "relative" else 1.0
    return (
        f"{part.first}-{part.last}",
        "" if part.t0_s is None or part.t1_s is None else f"{part.t0_s:.2f}-{part.t1_s:.2f}",
        part.words(),
        "" if part.levelled is None else ", ".join(part.levelled),
        _error(part.residual, plan.unit, size) if part.residual else "",
    )


def _error(residual: Residual, unit: str, size: float = 1.0) -> str:
    degrees = round(math.degrees(residual.rotation_rad), 4)  # not 3e-15°
    return f"{round(residual.translation / size, 9):.3g} {unit}, {degrees:.2g}°"


def _shows(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
