"""A path seen from above, and below it what the camera does when: PNG, or an HTML page that needs nothing else."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from action_mapping.primitives import ROTATIONS, TRANSLATIONS, Component
from spatial_engine.actions.canvas import XY, Area, Label, Line, Shape, as_svg, box, write_png
from spatial_engine.actions.plan import ActionPlan, Stretch
from spatial_engine.actions.text import heading_lines, table_rows
from spatial_engine.atomic_file import atomic_file
from spatial_engine.sources.trajectories import Trajectory

WIDTH, MAP_TOP, MAP_SIDE, ROW = 1120, 84, 620, 56
_LEFT, _RIGHT = 150, 1080
_TEXT, _FAINT, _GRID, _REST = "#1b1f24", "#6a737d", "#e7eaef", "#c4cad3"
_INKS: dict[Component, tuple[str, str]] = {  # + and -, after Okabe and Ito
    "truck": ("#b35900", "#f2a65a"),
    "pedestal": ("#00785a", "#63c7a8"),
    "dolly": ("#00508f", "#67a9dc"),
    "pan_rad": ("#a3182f", "#ea7a86"),
    "tilt_rad": ("#6a2c91", "#b98bd6"),
    "roll_rad": ("#6b5900", "#d1b732"),
    "zoom": ("#333a42", "#8d96a0"),
}
_ENDS: dict[Component, tuple[str, str, str]] = {
    "truck": ("Truck", "Right", "Left"),
    "pedestal": ("Pedestal", "Down", "Up"),
    "dolly": ("Dolly", "In", "Out"),
    "pan_rad": ("Pan", "Right", "Left"),
    "tilt_rad": ("Tilt", "Up", "Down"),
    "roll_rad": ("Roll", "CW", "CCW"),
    "zoom": ("Zoom", "In", "Out"),
}
_MOST_POINTS = 6000


def write_motion_plot(
    path: Path, trajectory: Trajectory, plan: ActionPlan, *, up_world: Float64[np.ndarray, "3"] | None
) -> None:
    """Draws a path and its plan into `path` (.png or .html), whole or not at all."""
    rows = _rows(plan)
    height = MAP_TOP + MAP_SIDE + 60 + ROW * len(rows) + 50
    shapes = [*_heading(trajectory, plan), *_map(trajectory, plan, up_world), *_timeline(trajectory, plan, rows)]
    with atomic_file(path) as temporary:
        if path.suffix.lower() == ".png":
            write_png(temporary, shapes, WIDTH, height)
        else:
            page = _page(heading_lines(trajectory, plan), as_svg(shapes, WIDTH, height), table_rows(plan))
            temporary.write_text(page, encoding="utf-8")


def _heading(trajectory: Trajectory, plan: ActionPlan) -> Iterator[Shape]:
    first, second = heading_lines(trajectory, plan)
    yield Label(at=(40, 30), text=first, size=19, ink=_TEXT)
    yield Label(at=(40, 56), text=second, size=14, ink=_FAINT)


def _map(trajectory: Trajectory, plan: ActionPlan, up_world: Float64[np.ndarray, "3"] | None) -> Iterator[Shape]:
    """The path from above, each stretch in the colour of its largest action; wedges where the camera looks."""
    poses = trajectory.world_from_cam
    plane = _plane(poses, up_world)
    spots = (poses[:, :3, 3] - poses[:, :3, 3].mean(axis=0)) @ plane.T
    low, high = spots.min(axis=0), spots.max(axis=0)
    size = float(max(high - low)) or 1.0
    px = (MAP_SIDE - 90) / size
    middle = np.array([WIDTH / 2, MAP_TOP + MAP_SIDE / 2])
    xy = middle + (spots - (low + high) / 2) * px * [1.0, -1.0]
    yield from _grid()
    stride = max(1, len(xy) // _MOST_POINTS)
    for part in plan.stretches:
        rows = [*range(part.first, part.last, stride), part.last]
        yield Line(points=_pairs(xy[rows]), ink=_ink(part), width=3.2, title=_title(part))
    if trajectory.axes != "body":
        for row in np.linspace(0, len(xy) - 1, 14).round().astype(int):
            yield _wedge(xy[row], poses[row, :3, 2] @ plane.T)
    meet = float(np.linalg.norm(xy[-1] - xy[0])) < 30
    yield from _end(xy[0], "start, end" if meet else "start", "#ffffff")
    yield from _end(xy[-1], "" if meet else "end", _TEXT)
    yield from _scale_bar(size, px, plan)
    above = "the mean up of the cameras" if trajectory.axes != "body" else "the body's -y; --up is not given"
    above = above if up_world is None else "--up"
    yield Label(
        at=(1080, MAP_TOP + MAP_SIDE + 22), text=f"seen from above ({above})", size=13, ink=_FAINT, anchor="end"
    )


def _plane(
    poses: Float64[np.ndarray, "n 4 4"], up_world: Float64[np.ndarray, "3"] | None
) -> Float64[np.ndarray, "2 3"]:
    """Right and upward directions of the map: seen from the sky, the first camera looking upward."""
    up = -poses[:, :3, 1].mean(axis=0) if up_world is None else up_world
    up = up / np.linalg.norm(up) if np.linalg.norm(up) > 0.1 else -poses[0, :3, 1]
    ahead = max((poses[0, :3, 2], poses[0, :3, 0]), key=lambda axis: float(np.linalg.norm(np.cross(up, axis))))
    right = np.cross(ahead, up)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(up, right)])


def _grid() -> Iterator[Shape]:
    left, top = 40.0, float(MAP_TOP)
    right, bottom = WIDTH - 40.0, top + MAP_SIDE
    for k in range(1, 8):
        y = top + MAP_SIDE * k / 8
        yield Line(points=((left, y), (right, y)), ink=_GRID, width=1)
    for k in range(-6, 7):
        x = WIDTH / 2 + MAP_SIDE * k / 8
        yield Line(points=((x, top), (x, bottom)), ink=_GRID, width=1)
    yield Line(points=(*box(left, top, right, bottom), (left, top)), ink=_REST, width=1)


def _wedge(at: Float64[np.ndarray, "2"], look: Float64[np.ndarray, "2"]) -> Shape:
    """Where a camera looks, short where it looks up or down."""
    ahead = np.array([look[0], -look[1]]) * 24.0
    side = np.array([-ahead[1], ahead[0]]) * 0.45
    return Line(points=_pairs(np.stack([at + ahead + side, at, at + ahead - side])), ink=_TEXT, width=1.4)


def _end(at: Float64[np.ndarray, "2"], name: str, fill: str) -> Iterator[Shape]:
    ring = [(float(at[0] + 6 * math.cos(a)), float(at[1] + 6 * math.sin(a))) for a in np.linspace(0, 2 * math.pi, 25)]
    yield Area(points=ring, ink=fill)
    yield Line(points=ring, ink=_TEXT, width=1.6)
    yield Label(at=(float(at[0]) + 11, float(at[1]) - 11), text=name, size=14, ink=_TEXT)


def _scale_bar(size: float, px: float, plan: ActionPlan) -> Iterator[Shape]:
    """A round length; without known scale there is none."""
    if plan.scale == "relative":
        yield Label(at=(40, MAP_TOP + MAP_SIDE + 22), text="scale not known", size=13, ink=_FAINT)
        return
    power = 10.0 ** math.floor(math.log10(size / 4))
    length = max(digit * power for digit in (1, 2, 5) if digit * power <= size / 4)
    y = MAP_TOP + MAP_SIDE + 22
    yield Line(points=((40, y), (40 + length * px, y)), ink=_TEXT, width=3)
    yield Label(at=(50 + length * px, y), text=f"{length:g} m", size=13, ink=_TEXT)


def _rows(plan: ActionPlan) -> list[Component]:
    """The six components, and zoom where there is one; none for a body."""
    used = {a.primitive.component for part in plan.stretches if part.plan for a in part.plan.actions}
    if not used:
        return []
    six = (*TRANSLATIONS, *ROTATIONS)
    return [*six, "zoom"] if "zoom" in used else list(six)


def _timeline(trajectory: Trajectory, plan: ActionPlan, rows: Sequence[Component]) -> Iterator[Shape]:
    """A band for each component: steps a second (or a pose), + up and - down."""
    top = MAP_TOP + MAP_SIDE + 60
    clock = trajectory.times_s - trajectory.times_s[0]
    px = (_RIGHT - _LEFT) / float(clock[-1])
    for part in plan.stretches:
        if part.is_gap and rows:
            x0, x1 = _LEFT + px * clock[part.first], _LEFT + px * clock[part.last]
            yield Area(points=box(x0, top, max(x1, x0 + 1), top + ROW * len(rows)), ink=_GRID, title=_title(part))
    for place, name in enumerate(rows):
        y = top + ROW * (place + 0.5)
        word, plus, minus = _ENDS[name]
        yield Label(at=(40, y), text=word, size=14, ink=_TEXT)
        yield Label(at=(_LEFT - 10, y - 13), text=plus, size=12, ink=_INKS[name][0], anchor="end")
        yield Label(at=(_LEFT - 10, y + 13), text=minus, size=12, ink=_INKS[name][1], anchor="end")
        yield Line(points=((_LEFT, y), (_RIGHT, y)), ink=_REST, width=1)
        yield from _bars(plan, name, clock, px, y)
    if not rows:
        return
    unit = "s" if trajectory.is_timed else "poses"
    y = top + ROW * len(rows) + 16
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        text = f"{clock[-1] * share:.4g} {unit}"
        yield Label(at=(_LEFT + (_RIGHT - _LEFT) * share, y), text=text, size=12, ink=_FAINT, anchor="middle")


def _bars(plan: ActionPlan, name: Component, clock: Float64[np.ndarray, "n"], px: float, y: float) -> Iterator[Shape]:
    """Bars of one component, as high as it is fast."""
    found = []
    for part in plan.stretches:
        steps = _steps(part, name)
        if steps and not part.is_gap:
            found.append((part, steps / float(clock[part.last] - clock[part.first])))
    fastest = float(np.percentile([abs(rate) for _, rate in found], 98)) if found else 1.0
    for part, rate in found:
        tall = 24.0 * max(-1.0, min(1.0, rate / fastest))
        x0, x1 = _LEFT + px * float(clock[part.first]), _LEFT + px * float(clock[part.last])
        yield Area(points=box(x0, y, max(x1, x0 + 0.6), y - tall), ink=_INKS[name][rate < 0], title=_title(part))


def _steps(part: Stretch, name: Component) -> int:
    """Signed steps of one component."""
    actions = part.plan.actions if part.plan else ()
    return sum(action.primitive.sign * action.steps for action in actions if action.primitive.component == name)


def _ink(part: Stretch) -> str:
    """The colour of the largest action."""
    steps = {name: _steps(part, name) for name in _INKS}
    name = max(steps, key=lambda key: abs(steps[key]))
    if part.is_gap or (part.plan and not steps[name]) or part.is_still:
        return _REST
    return _INKS[name][steps[name] < 0] if part.plan else _FAINT


def _title(part: Stretch) -> str:
    return f"poses {part.first}-{part.last}: {part.words()}"


def _pairs(xy: Float64[np.ndarray, "n 2"]) -> tuple[XY, ...]:
    return tuple((float(x), float(y)) for x, y in xy)


def _page(heading: Sequence[str], svg: str, rows: Sequence[Sequence[str]]) -> str:
    head, *body = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
                   for tag, row in zip(("th", *["td"] * (len(rows) - 1)), rows, strict=True))  # fmt: skip
    table = "\n".join(f"<tr>{row}</tr>" for row in body)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{escape(heading[0])}</title>
<style>
body {{ margin: 2rem auto; max-width: 1160px; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; color: {_TEXT}; }}
svg {{ width: 100%; height: auto; border: 1px solid {_GRID}; border-radius: 8px; }}
polygon:hover, polyline:hover {{ opacity: 0.6; }}
table {{ border-collapse: collapse; width: 100%; font-size: 13px; }}
th, td {{ text-align: left; padding: 3px 10px; border-bottom: 1px solid {_GRID}; font-variant-numeric: tabular-nums; }}
th {{ position: sticky; top: 0; background: #fff; }}
summary {{ cursor: pointer; margin: 1rem 0; }}
</style>
{svg}
<details><summary>{heading[1]}</summary>
<table><thead><tr>{head}</tr></thead><tbody>
{table}
</tbody></table></details>
</html>
"""
