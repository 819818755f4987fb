"""A picture of a path and its plan: the path seen from above, and how fast each component moves over time.

PNG and SVG are the picture alone. HTML is one file that loads nothing: the SVG, which names the segment under the
pointer, and the table of segments.
"""

import io
import math
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float64

from action_mapping.primitives import ROTATIONS, TRANSLATIONS, Component, primitive_of
from spatial_engine.actions.plan import ActionPlan, ActionSegment
from spatial_engine.actions.text import heading_lines, table_rows
from spatial_engine.atomic_file import atomic_file
from spatial_engine.sources.trajectories import Trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOT_FORMATS = (".png", ".svg", ".html")
"""Suffixes of the files that can be written."""

_TEXT, _FAINT, _GRID, _REST = "#1b1f24", "#6a737d", "#e7eaef", "#b3bac5"
_COLOURS: dict[Component, tuple[str, str]] = {  # + and -, after Okabe and Ito
    "truck": ("#b35900", "#f2a65a"),
    "pedestal": ("#00785a", "#63c7a8"),
    "dolly": ("#00508f", "#67a9dc"),
    "pan_rad": ("#a3182f", "#ea7a86"),
    "tilt_rad": ("#6a2c91", "#b98bd6"),
    "roll_rad": ("#6b5900", "#d1b732"),
    "zoom": ("#333a42", "#8d96a0"),
}
_MAX_POINTS = 6000
_ARROWS = 16


def write_motion_plot(
    path: Path, trajectory: Trajectory, plan: ActionPlan, *, up_world: Float64[np.ndarray, "3"] | None
) -> None:
    """Draws a path and its plan into `path` (.png, .svg or .html), whole or not at all; equal input, equal bytes."""
    import matplotlib

    suffix = path.suffix.lower()
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "spatial-engine", "svg.fonttype": "none"}):
        figure = _figure(trajectory, plan, up_world)
        if suffix == ".png":
            figure.savefig(drawn, format="png", dpi=120, metadata={"Software": None})
        else:
            figure.savefig(drawn, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    with atomic_file(path) as temporary:
        if suffix == ".html":
            temporary.write_text(_page(drawn.getvalue().decode(), trajectory, plan), encoding="utf-8")
        else:
            temporary.write_bytes(drawn.getvalue())


def _figure(trajectory: Trajectory, plan: ActionPlan, up_world: Float64[np.ndarray, "3"] | None) -> "Figure":
    from matplotlib.figure import Figure

    rows = _rows(plan)
    figure = Figure(figsize=(11.0, 7.6 + 0.75 * len(rows)), layout="constrained")
    panels = figure.add_gridspec(1 + len(rows), 1, height_ratios=[7.0, *[0.75] * len(rows)])
    top = figure.add_subplot(panels[0])
    _draw_path(top, trajectory, plan, up_world)
    bands = [figure.add_subplot(panels[1 + place]) for place in range(len(rows))]
    for band, name in zip(bands, rows, strict=True):
        _draw_band(band, trajectory, plan, name)
        band.label_outer()
    if bands:
        bands[-1].set_xlabel("seconds after the first pose" if trajectory.is_timed else "pose")
        figure.align_ylabels([top, *bands])
    return figure


def _rows(plan: ActionPlan) -> list[Component]:
    """The six components, and zoom if the plan has one; empty for a body."""
    used = {a.primitive.component for part in plan.segments if part.plan for a in part.plan.actions}
    if not used:
        return []
    six = (*TRANSLATIONS, *ROTATIONS)
    return [*six, "zoom"] if "zoom" in used else list(six)


def _draw_path(
    axes: "Axes", trajectory: Trajectory, plan: ActionPlan, up_world: Float64[np.ndarray, "3"] | None
) -> None:
    """The path from above, each segment in the colour of its largest action; arrows where the camera looks."""
    poses = trajectory.world_from_cam
    plane = _plane(poses, up_world)
    xy = (poses[:, :3, 3] - poses[0, :3, 3]) @ plane.T
    stride = max(1, len(xy) // _MAX_POINTS)
    for place, part in enumerate(plan.segments):
        rows = [*range(part.first, part.last, stride), part.last]
        label, colour = _largest_action(part)
        axes.plot(
            *xy[rows].T, color=colour, label=label, linestyle=":" if part.is_gap else "-", linewidth=2.6,
            solid_capstyle="round", gid=f"segment-{place}",
        )  # fmt: skip
    if trajectory.axes != "body":
        shown = np.linspace(0, len(xy) - 1, _ARROWS).round().astype(int)
        looks = poses[shown, :3, 2] @ plane.T
        axes.quiver(*xy[shown].T, *looks.T, color=_TEXT, width=0.0022, scale=26, headwidth=4, zorder=3)
    axes.plot(*xy[0], "o", markersize=9, markerfacecolor="white", markeredgecolor=_TEXT, label="start", zorder=4)
    axes.plot(*xy[-1], "s", markersize=7, color=_TEXT, label="end", zorder=4)
    first, second = heading_lines(trajectory, plan)
    axes.set_title(f"{first}\n{second}", loc="left", fontsize=11, color=_TEXT)
    axes.text(
        0.99, 0.015, _view_words(trajectory, up_world), transform=axes.transAxes, ha="right", fontsize=9, color=_FAINT
    )
    unit = "m" if plan.scale == "metric" else "units of the file, scale not known"
    axes.set_xlabel(f"to the right of the first pose ({unit})")
    axes.set_ylabel(f"ahead ({unit})")
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.grid(color=_GRID)
    axes.set_axisbelow(True)
    known = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    axes.legend(known.values(), known.keys(), loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9)


def _view_words(trajectory: Trajectory, up_world: Float64[np.ndarray, "3"] | None) -> str:
    if trajectory.axes == "body":
        above = "the body's -y; --up is not given" if up_world is None else "--up"
        return f"seen from above ({above})"
    up = "mean of the cameras' up" if up_world is None else "--up"
    return f"seen from above ({up}); arrows: where the camera looks"


def _plane(
    poses: Float64[np.ndarray, "n 4 4"], up_world: Float64[np.ndarray, "3"] | None
) -> Float64[np.ndarray, "2 3"]:
    """World directions that the picture shows to the right and upward: seen from the sky, the first camera looks
    upward in the picture."""
    up = -poses[:, :3, 1].mean(axis=0) if up_world is None else up_world
    up = up / np.linalg.norm(up) if np.linalg.norm(up) > 0.1 else -poses[0, :3, 1]
    ahead = max((poses[0, :3, 2], poses[0, :3, 0]), key=lambda axis: float(np.linalg.norm(np.cross(up, axis))))
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(up, right)])


def _draw_band(axes: "Axes", trajectory: Trajectory, plan: ActionPlan, name: Component) -> None:
    """The rate of one component over time, as its planned steps give it; grey across gaps."""
    clock = trajectory.times_s - trajectory.times_s[0]
    edges = clock[[plan.segments[0].first, *(part.last for part in plan.segments)]]
    amounts = np.array([0.0 if part.is_gap else _amount(plan, part, name) for part in plan.segments])
    rates = amounts / np.diff(edges)
    plus, minus = _COLOURS[name]
    axes.stairs(np.maximum(rates, 0.0), edges, fill=True, color=plus)
    axes.stairs(np.minimum(rates, 0.0), edges, fill=True, color=minus)
    for part in plan.segments:
        if part.is_gap:
            axes.axvspan(clock[part.first], clock[part.last], color=_GRID)
    axes.axhline(0.0, color=_REST, linewidth=0.8)
    largest = float(np.abs(rates).max())
    axes.set_ylim(-1.15 * (largest or 1.0), 1.15 * (largest or 1.0))
    if not largest:
        axes.set_yticks([0.0])
    axes.set_xlim(clock[0], clock[-1])
    axes.tick_params(labelsize=8)
    word, more = primitive_of(name, 1).name.split()
    less = primitive_of(name, -1).name.split()[1]
    unit = "°" if name in ROTATIONS else "m" if _has_metres(plan, name) else "steps"
    axes.set_ylabel(f"{word}\n{unit}/{'s' if trajectory.is_timed else 'pose'}", rotation=0, ha="right", va="center")
    for text, y, colour in ((more, 0.78, plus), (less, 0.22, minus)):
        axes.text(1.01, y, text, transform=axes.transAxes, va="center", fontsize=9, color=colour)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _amount(plan: ActionPlan, part: ActionSegment, name: Component) -> float:
    """Signed amount of one component: metres or degrees; steps where the size of a step is not known."""
    assert part.plan is not None
    steps = _steps(part, name)
    if name in ROTATIONS:
        return steps * math.degrees(part.plan.rotation_step_rad)
    return steps * (part.plan.translation_step if _has_metres(plan, name) else 1.0)


def _has_metres(plan: ActionPlan, name: Component) -> bool:
    return plan.scale == "metric" and name in TRANSLATIONS


def _steps(part: ActionSegment, name: Component) -> int:
    """Signed steps of one component."""
    actions = part.plan.actions if part.plan else ()
    return sum(action.primitive.sign * action.steps for action in actions if action.primitive.component == name)


def _largest_action(part: ActionSegment) -> tuple[str, str]:
    """Name and colour of the action with most steps."""
    if part.is_gap:
        return "gap", _FAINT
    if part.is_still:
        return "Stay", _REST
    if part.plan is None:
        return "moves", _FAINT
    steps = {name: _steps(part, name) for name in _COLOURS}
    name = max(steps, key=lambda key: abs(steps[key]))
    if not steps[name]:
        return "Stay", _REST
    return primitive_of(name, steps[name]).name, _COLOURS[name][steps[name] < 0]


def _page(svg: str, trajectory: Trajectory, plan: ActionPlan) -> str:
    titles = [escape(f"poses {part.first}-{part.last}: {part.words()}") for part in plan.segments]
    svg = re.sub(r'<g id="segment-(\d+)">', lambda found: f"{found[0]}<title>{titles[int(found[1])]}</title>", svg)
    heading = heading_lines(trajectory, plan)
    head, *body = table_rows(plan)
    table = "\n".join(_table_row(cells, "td") for cells in body)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{escape(heading[0])}</title>
<style>
body {{ margin: 2rem auto; max-width: 1160px; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: {_TEXT}; }}
svg {{ width: 100%; height: auto; }}
g[id^=segment]:hover {{ opacity: 0.5; }}
table {{ border-collapse: collapse; width: 100%; font-size: 13px; }}
th, td {{ text-align: left; padding: 3px 10px; border-bottom: 1px solid {_GRID}; font-variant-numeric: tabular-nums; }}
th {{ position: sticky; top: 0; background: #fff; }}
summary {{ cursor: pointer; margin: 1rem 0; }}
</style>
{svg[svg.index("<svg") :]}
<details><summary>{escape(heading[1])}</summary>
<table><thead>{_table_row(head, "th")}</thead><tbody>
{table}
</tbody></table></details>
</html>
"""


def _table_row(cells: Sequence[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
