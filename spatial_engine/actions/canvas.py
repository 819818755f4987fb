"""Shapes on a white page, written as SVG or as PNG alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Literal

XY = tuple[float, float]

_OVERSAMPLE = 2


@dataclass(frozen=True, kw_only=True)
class Line:
    """A polyline with round ends."""

    points: Sequence[XY]
    ink: str
    width: float
    title: str = ""
    """Shown where the pointer rests (SVG)."""


@dataclass(frozen=True, kw_only=True)
class Area:
    """A filled polygon."""

    points: Sequence[XY]
    ink: str
    title: str = ""
    """Shown where the pointer rests (SVG)."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """Text; `at` is its left, middle or right end, at half its height."""

    at: XY
    text: str
    size: float
    ink: str
    anchor: Literal["start", "middle", "end"] = "start"


Shape = Line | Area | Label


def box(x0: float, y0: float, x1: float, y1: float) -> tuple[XY, XY, XY, XY]:
    """Corners of a rectangle."""
    return (x0, y0), (x1, y0), (x1, y1), (x0, y1)


def as_svg(shapes: Sequence[Shape], width: int, height: int) -> str:
    """An inline SVG image; nothing is loaded from elsewhere."""
    parts = "\n".join(map(_svg, shapes))
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" font-family="system-ui, sans-serif">\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n{parts}\n</svg>'
    )


def _svg(shape: Shape) -> str:
    if isinstance(shape, Label):
        x, y = shape.at
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{shape.size:g}" fill="{shape.ink}" '
            f'text-anchor="{shape.anchor}" dominant-baseline="central">{escape(shape.text)}</text>'
        )
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
    title = f"<title>{escape(shape.title)}</title>" if shape.title else ""
    if isinstance(shape, Area):
        return f'<polygon points="{points}" fill="{shape.ink}">{title}</polygon>'
    return (
        f'<polyline points="{points}" fill="none" stroke="{shape.ink}" stroke-width="{shape.width:g}" '
        f'stroke-linecap="round" stroke-linejoin="round">{title}</polyline>'
    )


def write_png(path: Path, shapes: Sequence[Shape], width: int, height: int) -> None:
    """The same picture in pixels."""
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (width * _OVERSAMPLE, height * _OVERSAMPLE), "#fff")
    draw = ImageDraw.Draw(image)
    for shape in shapes:
        if isinstance(shape, Label):
            font = ImageFont.load_default(shape.size * _OVERSAMPLE)
            anchor = {"start": "lm", "middle": "mm", "end": "rm"}[shape.anchor]
            draw.text(_scaled(shape.at), shape.text, shape.ink, font, anchor)
            continue
        points = [_scaled(point) for point in shape.points]
        if isinstance(shape, Area):
            draw.polygon(points, shape.ink)
            continue
        radius = shape.width * _OVERSAMPLE / 2
        for start, end in pairwise(points):
            draw.line([start, end], shape.ink, max(1, round(2 * radius)))
        for x, y in points if radius > 1 else ():
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), shape.ink)
    image.reduce(_OVERSAMPLE).save(path, format="PNG")


def _scaled(point: XY) -> XY:
    return point[0] * _OVERSAMPLE, point[1] * _OVERSAMPLE
