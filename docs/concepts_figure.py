"""Draws docs/concepts.png: how a clip becomes questions. Everything on it comes from the rendered demo scene.

python docs/concepts_figure.py
"""

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from spatial_engine.rendering import RenderedScene, demo_scene

FRAMES = (7, 102, 149)
INK, SOFT, ACCENT = "#1c2733", "#5d6b7a", "#0b6e4f"
STEPS = (
    ("1  Clip", "one shot of a video,\nor a folder of images"),
    ("2  Signals", "experts measure depth, camera\npath, tracks, gravity – with σ"),
    ("3  Scene", "all signals of the clip\nin one world"),
    ("4  Facts", "what may be asked, in frames\nand pixels; the gate decides"),
    ("5  Questions", "words, options, media, answer,\nσ, evidence, licence"),
)
FACTS = (  # of the demo's dataset, as `make demo` measures them
    ("rotation of the camera, 7 → 149", "31.5° ± 1.7°", True),
    ("its main direction, 7 → 149", "pan left, decided by 7.9 σ", True),
    ("the crate moves, 73 → 179", "yes, decided by 93 σ", True),
    ("which point is nearer, frame 0", "less than 2.3 σ: too close to call", False),
    ("distance of a point in metres", "scale is not metric", False),
)


def clip(axes: list[Axes], scene: RenderedScene) -> None:
    for axis, frame in zip(axes, FRAMES, strict=True):
        axis.imshow(scene.picture(frame))
        axis.set_title(f"frame {frame}", fontsize=8, color=SOFT, pad=2)


def signals(axes: list[Axes], scene: RenderedScene) -> None:
    depth, path = scene.depth(FRAMES[1]), scene.world_from_cam
    axes[0].imshow(1 / depth, cmap="viridis")
    axes[0].set_title("depth", fontsize=8, color=SOFT, pad=2)
    axes[1].plot(path[:, 0, 3], path[:, 1, 3], color=ACCENT, lw=2)
    axes[1].set_title("camera path", fontsize=8, color=SOFT, pad=2)
    axes[1].set_aspect("equal", adjustable="datalim")
    up_cam = path[:, 2, :3]
    axes[2].plot(np.degrees(np.arcsin(up_cam[:, 2])), color=ACCENT, lw=1.8, label="pitch")
    axes[2].plot(np.degrees(np.arctan2(-up_cam[:, 0], -up_cam[:, 1])), color=INK, lw=1.2, label="roll")
    axes[2].legend(fontsize=6, frameon=False, ncols=2, loc="upper right", borderaxespad=0.1)
    axes[2].margins(y=0.5)
    axes[2].set_title("gravity", fontsize=8, color=SOFT, pad=2)


def world(axis: Axes, scene: RenderedScene) -> None:
    """From above: boxes of the room, the camera path, three viewing directions."""
    axis.set_facecolor("#f4f6f8")
    for box in scene.boxes:
        corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]]) * box.half_m[:2]
        at = corners @ box.world_from_box[:2, :2].T + box.world_from_box[:2, 3]
        axis.plot(at[:, 0], at[:, 1], color=SOFT, lw=0.8)
    path = scene.world_from_cam
    axis.plot(path[:, 0, 3], path[:, 1, 3], color=ACCENT, lw=2)
    for number, frame in enumerate(FRAMES, start=1):
        (x, y), (dx, dy) = path[frame, :2, 3], 0.8 * path[frame, :2, 2]
        axis.annotate("", (x + dx, y + dy), (x, y), arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.4})
        axis.text(x - 0.15, y - 0.25, str(number), fontsize=9, color=INK, weight="bold")
    axis.set_aspect("equal")
    axis.set_title("from above", fontsize=8, color=SOFT, pad=2)


def facts(axis: Axes) -> None:
    for row, (what, measured, asked) in enumerate(FACTS):
        y, mark = 0.9 - 0.19 * row, "✓ asked: " if asked else "✗ not asked: "
        axis.text(0.02, y, what, fontsize=8.5, color=INK)
        axis.text(0.02, y - 0.075, mark + measured, fontsize=8, color=ACCENT if asked else "#b3261e")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)


def question(axis: Axes) -> None:
    lines = (
        ("Comparing the last photo with the first:", INK, "bold"),
        ("how did the camera mainly rotate?", INK, "bold"),
        ("A  to the right (pan right)", INK, "normal"),
        ("B  to the left (pan left)", ACCENT, "bold"),
        ("C  it rolled counter-clockwise", INK, "normal"),
        ("D  downwards (tilt down)", INK, "normal"),
        ("answer B · margin 7.9 σ · P(right) > 0.99", SOFT, "normal"),
        ("from colmap (BSD-3-Clause); footage Apache-2.0", SOFT, "normal"),
    )
    for row, (text, colour, weight) in enumerate(lines):
        axis.text(0.03, 0.92 - 0.115 * row, text, fontsize=8.3, color=colour, weight=weight)
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)


def main() -> None:
    matplotlib.rcParams["font.family"] = "DejaVu Sans"
    scene = demo_scene(320, 240)
    figure = Figure(figsize=(14, 4.3), facecolor="white")
    FigureCanvasAgg(figure)
    columns = figure.subfigures(1, 5, width_ratios=[0.8, 0.8, 1.05, 1.2, 1.35], wspace=0.02)
    for column, (title, below) in zip(columns, STEPS, strict=True):
        column.text(0.5, 0.93, title, ha="center", fontsize=14, weight="bold", color=INK)
        column.text(0.5, 0.04, below, ha="center", fontsize=8.5, color=SOFT)
    place = {"top": 0.84, "bottom": 0.19, "left": 0.08, "right": 0.92, "hspace": 0.3}
    stacks = [list(column.subplots(3, 1, gridspec_kw=place)) for column in columns[:2]]
    clip(stacks[0], scene)
    signals(stacks[1], scene)
    single = [column.subplots(gridspec_kw=place | {"left": 0.05, "right": 0.95}) for column in columns[2:]]
    world(single[0], scene)
    facts(single[1])
    question(single[2])
    for axis in [*stacks[0], *stacks[1], *single]:
        axis.set_xticks([])
        axis.set_yticks([])
        for spine in axis.spines.values():
            spine.set_color("#d4dae0")
    for x in (0.155, 0.31, 0.51, 0.742):
        figure.text(x, 0.935, "→", ha="center", va="center", fontsize=18, color=ACCENT)
    figure.savefig(Path(__file__).with_name("concepts.png"), dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
