"""Draws docs/motion.svg: plans replayed by geometry and by the benchmark's scorer.

python docs/motion_figure.py
"""

import math
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from action_mapping import Plan, read_plan, replay

CENTRE, SCALE = 130.0, 70.0
COLOURS = {"geometry": "#0b6e4f", "spatialtree-official": "#b3261e"}


def top_view(xyz: np.ndarray) -> str:
    return f"{CENTRE + SCALE * xyz[0]:.1f},{CENTRE + 30 - SCALE * xyz[2]:.1f}"


def camera(world_from_cam: np.ndarray, colour: str) -> str:
    """A camera from above: its position and its field of view (short where it looks up or down)."""
    origin, right, forward = world_from_cam[:3, 3], world_from_cam[:3, 0], world_from_cam[:3, 2]
    left, mid = origin + 0.45 * forward - 0.2 * right, origin + 0.45 * forward + 0.2 * right
    points = " ".join(top_view(point) for point in (origin, left, mid))
    return f'<polygon points="{points}" fill="{colour}" fill-opacity="0.25" stroke="{colour}" stroke-width="2"/>'


def panel(place: int, title: str, start: np.ndarray, plan: Plan) -> str:
    shapes = [f'<text x="10" y="22" font-weight="bold">{title}</text>', camera(start, "#444")]
    for row, (dialect, colour) in enumerate(COLOURS.items()):
        end = replay(start, plan, dialect=dialect)
        if np.linalg.norm(end[:3, 3] - start[:3, 3]) > 0:
            x1, y1 = top_view(start[:3, 3]).split(",")
            x2, y2 = top_view(end[:3, 3]).split(",")
            shapes.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{colour}" stroke-dasharray="5 4"/>')
        shapes.append(camera(end, colour))
        shapes.append(f'<text x="10" y="{236 + 18 * row}" fill="{colour}">{dialect}</text>')
    return f'<g transform="translate({place * 270} 0)">' + "".join(shapes) + "</g>"


def draw() -> str:
    turned = np.eye(4)
    turned[:3, :3] = Rotation.from_euler("y", 60, degrees=True).as_matrix()
    steps = {"translation_step": 0.2, "rotation_step_rad": math.radians(10)}
    panels = [
        panel(0, "W × 5, camera turned by 60°", turned, read_plan(["W"], [5], **steps)),
        panel(1, "→ × 5 (Pan Right by 50°)", np.eye(4), read_plan(["→"], [5], **steps)),
        panel(2, "↑ × 5 (Tilt Up by 50°)", np.eye(4), read_plan(["↑"], [5], **steps)),
    ]
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 810 270" font-family="sans-serif" font-size="14">'
    return head + '<rect width="810" height="270" fill="white"/>' + "".join(panels) + "</svg>\n"


if __name__ == "__main__":
    Path(__file__).with_name("motion.svg").write_text(draw(), encoding="utf-8")
