"""Draws maps, and sheets of plain shapes, as pictures of few colours."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise

import cv2
import numpy as np
from jaxtyping import Float64, UInt8
from PIL import Image

from experts.clip import Picture
from spatial_engine.dataset.canvas import ACCENT, BRIGHT, DARK, Canvas, Rgb
from spatial_engine.dataset.labels import Label, draw_labels
from templates.media import XY, Colour, Drawing, Grid, Line, Polygon, ScaleBar, Sheet

SIDE_PX = 640
"""Side of a map, which is square."""

_TONES: Mapping[Colour, Rgb] = {
    "white": BRIGHT,
    "light": (196, 202, 211),
    "grey": (120, 126, 135),
    "dark": DARK,
    "blue": (0, 98, 178),  # these four after Okabe and Ito, darkened for white paper
    "orange": (213, 94, 0),
    "green": (0, 128, 96),
    "purple": (170, 68, 136),
}
_TINTS: Mapping[Colour, Rgb] = {
    **_TONES,
    "light": (238, 240, 244),
    "grey": (196, 202, 211),
    "blue": (168, 206, 238),
    "orange": (250, 200, 158),
    "green": (160, 216, 196),
    "purple": (224, 184, 212),
}
_PATHS: tuple[Colour, ...] = ("blue", "orange", "green", "purple")
_SQUARES, _FRAME = (231, 234, 239), (196, 202, 211)
_SHEET_MARGIN, _EDGE = 28, 3
_LEGIBLE = 0.6  # texts shrink no further than to this share, however small the picture is


def drawn_map(drawing: Drawing, side_px: int = SIDE_PX) -> Picture:
    """Areas, walls, paths and labelled points, equal aspect, x right and y up: start dot, arrow head at the end."""
    unit = side_px / SIDE_PX
    view = _View(_map_box(drawing), (side_px, side_px), 72 * unit)
    picture = (_blank if drawing.grid or drawing.scale_bar else _squared)(side_px).copy()
    canvas = Canvas(picture)
    _fill(canvas, drawing.polygons, view)
    if drawing.grid:
        _draw_grid(canvas, drawing.grid, view, unit)
    _draw_edges(canvas, drawing.polygons, view, unit)
    ground = picture.copy()
    _draw_lines(canvas, drawing.lines, view, unit)
    for index, polyline in enumerate(drawing.polylines):
        _draw_path(canvas, view.place(polyline), _TONES[_PATHS[index % len(_PATHS)]], unit)
    spots = view.place([point.xy_px for point in drawing.points])
    for spot in spots:
        canvas.disc(spot, 7.5 * max(unit, _LEGIBLE), DARK)
        canvas.disc(spot, 4.5 * max(unit, _LEGIBLE), ACCENT)
    if drawing.scale_bar:
        _draw_scale_bar(canvas, drawing.scale_bar, view, unit)
    if labels := [Label(point.text, spot[None]) for point, spot in zip(drawing.points, spots, strict=True)]:
        draw_labels(canvas, labels, _drawn_over(ground, picture), 1.1 * max(unit, _LEGIBLE))
    _name_polygons(canvas, drawing.polygons, view, ground, unit)
    return picture


def drawn_sheet(sheet: Sheet) -> Picture:
    """Polygons, lines and texts on white, equal aspect, x right and y up."""
    unit = sheet.side_px / SIDE_PX
    view = _View(_sheet_box(sheet), sheet_size(sheet), _SHEET_MARGIN * unit)
    picture = np.full((view.size[1], view.size[0], 3), 255, dtype=np.uint8)
    canvas = Canvas(picture)
    ends = np.cumsum([len(polygon.corners) for polygon in sheet.polygons])
    corners = view.place([xy for polygon in sheet.polygons for xy in polygon.corners])
    inks = [
        (_TINTS[polygon.fill], None if polygon.edge is None else _TONES[polygon.edge]) for polygon in sheet.polygons
    ]
    canvas.areas(corners, ends.tolist(), inks, _EDGE * unit)
    ground = picture.copy() if any(polygon.text for polygon in sheet.polygons) else picture
    _draw_lines(canvas, sheet.lines, view, unit)
    _name_polygons(canvas, sheet.polygons, view, ground, unit)
    for words in sheet.texts:
        canvas.text(words.text, view.place([words.xy])[0], 26 * max(unit, _LEGIBLE))
    return picture


def sheet_size(sheet: Sheet) -> tuple[int, int]:
    """(width, height) of a sheet in pixels."""
    left, bottom, right, top = _sheet_box(sheet)
    margin = 2 * _SHEET_MARGIN * sheet.side_px / SIDE_PX
    inner = (sheet.side_px - margin) / (max(right - left, top - bottom) or 1.0)
    return round((right - left) * inner + margin), round((top - bottom) * inner + margin)


def with_palette(picture: Picture) -> Image.Image:
    """A drawing as an image of at most 256 colours: a small file, quickly written."""
    return Image.fromarray(picture).quantize(palette=_palette(), dither=Image.Dither.NONE)


class _View:
    """From units of a drawing (x right, y up) to pixels (y down)."""

    def __init__(self, box: Float64[np.ndarray, "4"], size: tuple[int, int], margin_px: float) -> None:
        self.size = size
        self._centre = (box[:2] + box[2:]) / 2
        inner = max(size) - 2 * margin_px
        self.px_per_unit = inner / (float(max(box[2:] - box[:2])) or 1.0)

    def place(self, points: Sequence[XY]) -> Float64[np.ndarray, "n 2"]:
        """Pixels of positions."""
        away = np.asarray(points, dtype=np.float64).reshape(-1, 2) - self._centre
        return (np.array(self.size) - 1) / 2 + away * [self.px_per_unit, -self.px_per_unit]


def _map_box(drawing: Drawing) -> Float64[np.ndarray, "4"]:
    points = [xy for path in drawing.polylines for xy in path] + [point.xy_px for point in drawing.points]
    box = _box([*points, *_corners(drawing.polygons, drawing.lines), *(_grid_corners(drawing.grid))])
    length = drawing.scale_bar.length if drawing.scale_bar else 0.0
    missing = max(0.0, length - float(max(box[2:] - box[:2]))) / 2
    return box + np.array([-missing, 0, missing, 0])  # the scale bar has room


def _sheet_box(sheet: Sheet) -> Float64[np.ndarray, "4"]:
    if sheet.extent:
        return np.array(sheet.extent, dtype=np.float64)
    return _box([*_corners(sheet.polygons, sheet.lines), *(words.xy for words in sheet.texts)])


def _box(points: Sequence[XY]) -> Float64[np.ndarray, "4"]:
    """Left, bottom, right, top."""
    xy = np.array(points or [(0.0, 0.0)], dtype=np.float64)
    return np.concatenate([xy.min(axis=0), xy.max(axis=0)])


def _corners(polygons: Iterable[Polygon], lines: Iterable[Line]) -> list[XY]:
    return [xy for polygon in polygons for xy in polygon.corners] + [xy for line in lines for xy in line.points]


def _grid_corners(grid: Grid | None) -> list[XY]:
    if grid is None:
        return []
    x, y = grid.left_top
    return [(x, y), (x + grid.columns * grid.cell, y - grid.rows * grid.cell)]


@lru_cache(maxsize=8)
def _blank(side_px: int) -> Picture:
    picture = np.full((side_px, side_px, 3), 255, dtype=np.uint8)
    _draw_frame(Canvas(picture), side_px)
    return picture


@lru_cache(maxsize=8)
def _squared(side_px: int) -> Picture:
    """Paper with squares. They help to compare places, and are no scale."""
    picture = np.full((side_px, side_px, 3), 255, dtype=np.uint8)
    canvas = Canvas(picture)
    for k in range(1, 8):
        canvas.line([(side_px * k / 8, 0), (side_px * k / 8, side_px)], _SQUARES, 1)
        canvas.line([(0, side_px * k / 8), (side_px, side_px * k / 8)], _SQUARES, 1)
    _draw_frame(canvas, side_px)
    return picture


def _draw_frame(canvas: Canvas, side_px: int) -> None:
    end = side_px - 1
    canvas.line([(0, 0), (end, 0), (end, end), (0, end)], _FRAME, 2.5 * side_px / SIDE_PX, closed=True)


def _fill(canvas: Canvas, polygons: Iterable[Polygon], view: _View) -> None:
    for polygon in polygons:
        canvas.polygon(view.place(polygon.corners), _TINTS[polygon.fill])


def _draw_edges(canvas: Canvas, polygons: Iterable[Polygon], view: _View, unit: float) -> None:
    for polygon in polygons:
        if polygon.edge:
            canvas.line(view.place(polygon.corners), _TONES[polygon.edge], _EDGE * unit, closed=True)


def _draw_lines(canvas: Canvas, lines: Iterable[Line], view: _View, unit: float) -> None:
    for (count, colour, dashed), group in groupby(lines, lambda line: (len(line.points), line.colour, line.dashed)):
        paths = view.place([xy for line in group for xy in line.points]).reshape(-1, count, 2)
        pieces = np.concatenate([_dashes(path, 18 * unit) for path in paths]) if dashed else paths
        canvas.lines(pieces, _TONES[colour], 4 * unit)


def _dashes(path: Float64[np.ndarray, "n 2"], period: float) -> Float64[np.ndarray, "k 2 2"]:
    """Dashes of half a period; each side of the path begins and ends with one."""
    dashes = []
    for start, end in pairwise(path):
        count = max(1, round(float(np.hypot(*(end - start))) / period))
        share = (np.arange(count + 1)[:, None] + np.array([-0.25, 0.25])).clip(0, count) / count
        dashes.append(start + share[..., None] * (end - start))
    return np.concatenate(dashes)


def _drawn_over(ground: Picture, picture: Picture) -> UInt8[np.ndarray, "h w"]:
    """How much each pixel has changed since the ground was drawn."""
    return np.asarray(cv2.cvtColor(cv2.absdiff(picture, ground), cv2.COLOR_RGB2GRAY))


def _draw_grid(canvas: Canvas, grid: Grid, view: _View, unit: float) -> None:
    """Lines of the cells; letters above the columns, numbers left of the rows."""
    (left, top), (right, bottom) = view.place(_grid_corners(grid))
    side = grid.cell * view.px_per_unit
    size = float(np.clip(0.6 * side, 9, 22 * max(unit, _LEGIBLE)))
    for column in range(grid.columns + 1):
        canvas.line([(left + column * side, top), (left + column * side, bottom)], _TONES["grey"], 1.5 * unit)
    for row in range(grid.rows + 1):
        canvas.line([(left, top + row * side), (right, top + row * side)], _TONES["grey"], 1.5 * unit)
    for column in range(grid.columns):
        canvas.text(chr(65 + column), (left + (column + 0.5) * side, top - 0.9 * size), size)
    for row in range(grid.rows):
        canvas.text(str(row + 1), (left - 1.0 * size, top + (row + 0.5) * side), size)


def _draw_path(canvas: Canvas, path: np.ndarray, ink: Rgb, unit: float) -> None:
    if len(path) > 1:
        tip, neck, left, right = _arrow_head(path, 36 * unit, 16 * unit)
        shaft = [xy for xy in path[:-1] if np.hypot(*(xy - tip)) > 26 * unit]
        canvas.line(np.array([*(shaft or path[:1]), neck]), ink, 7 * unit)
        canvas.polygon(np.array([tip, left, neck, right]), ink)
    canvas.disc(path[0], 12 * unit, ink)
    canvas.disc(path[0], 6.5 * unit, BRIGHT)


def _arrow_head(path: np.ndarray, length: float, half_width: float) -> tuple[np.ndarray, ...]:
    """Tip, neck and two barbs of the head at the end of a path, along where the path comes from."""
    tip = path[-1]
    behind = next((xy for xy in path[::-1] if np.hypot(*(xy - tip)) >= 0.6 * length), path[0])
    away = float(np.hypot(*(tip - behind)))
    ahead = (tip - behind) / away if away > 0 else np.array([1.0, 0.0])
    side = half_width * np.array([-ahead[1], ahead[0]])
    back = tip - length * ahead
    return tip, tip - 0.72 * length * ahead, back + side, back - side


def _draw_scale_bar(canvas: Canvas, bar: ScaleBar, view: _View, unit: float) -> None:
    """In the left lower corner, below everything that is mapped."""
    start, y = 24 * unit, view.size[1] - 1 - 20 * unit
    end = start + bar.length * view.px_per_unit
    canvas.line([(start, y), (end, y)], DARK, 4 * unit)
    for x in (start, end):
        canvas.line([(x, y - 7 * unit), (x, y + 7 * unit)], DARK, 3 * unit)
    canvas.text(bar.text, ((start + end) / 2, y - 19 * max(unit, _LEGIBLE)), 18 * max(unit, _LEGIBLE))


def _name_polygons(canvas: Canvas, polygons: Sequence[Polygon], view: _View, ground: Picture, unit: float) -> None:
    """Writes each name where its polygon is widest, off what was drawn over it since the ground was; on the middle of a
    polygon that is covered."""
    if not any(polygon.text for polygon in polygons):
        return
    free = cv2.compare(_drawn_over(ground, canvas.picture), 0, cv2.CMP_EQ)
    for polygon in reversed(polygons):
        corners = view.place(polygon.corners)
        box = _around(corners, free.shape)
        own, corner = np.zeros_like(free[box]), np.array([box[1].start, box[0].start])
        Canvas(own).polygon(corners - corner, 255, smooth=False)
        cv2.bitwise_and(own, free[box], own)
        free[box][own > 0] = 0
        if polygon.text:
            spot = corner + _widest(own) if own.any() else corners.mean(axis=0)
            canvas.text(polygon.text, spot, 19 * max(unit, _LEGIBLE))


def _around(corners: Float64[np.ndarray, "n 2"], shape: tuple[int, ...]) -> tuple[slice, slice]:
    """Rows and columns of a picture in which a polygon lies, and three more on each side."""
    low, high = np.floor(corners.min(axis=0)).astype(int) - 3, np.ceil(corners.max(axis=0)).astype(int) + 4
    (left, top), (right, bottom) = (np.clip(edge, 0, shape[::-1]).tolist() for edge in (low, high))
    return slice(top, bottom), slice(left, right)


def _widest(area: UInt8[np.ndarray, "h w"]) -> Float64[np.ndarray, "2"]:
    """The pixel with most room around it; of several, the one nearest to the middle of the area."""
    room = cv2.distanceTransform(area, cv2.DIST_L2, cv2.DIST_MASK_5)
    moments = cv2.moments(area, binaryImage=True)
    middle = np.array([moments["m10"], moments["m01"]]) / moments["m00"]
    wide = np.reshape(cv2.findNonZero((room >= 0.9 * room.max()).view(np.uint8)), (-1, 2)).astype(np.float64)
    return np.asarray(wide[np.argmin(np.hypot(*(wide - middle).T))])


@lru_cache(maxsize=1)
def _palette() -> Image.Image:
    """Each colour, and its steps to white and to near-black for smooth edges."""
    colours = list(dict.fromkeys([*_TONES.values(), *_TINTS.values(), ACCENT, _SQUARES, _FRAME]))
    steps = [_mixed(colour, ground, k / 6) for colour in colours for ground in (BRIGHT, DARK) for k in range(1, 6)]
    for step in steps:  # Pillow takes colours for equal that differ by less
        if min(max(abs(a - b) for a, b in zip(step, colour, strict=True)) for colour in colours) >= 8:
            colours.append(step)
    colours = [*colours, *[BRIGHT] * 256][:256]
    palette = Image.new("P", (1, 1))
    palette.putpalette([v for colour in colours for v in colour])
    return palette


def _mixed(colour: Rgb, ground: Rgb, share: float) -> Rgb:
    r, g, b = (round(c + share * (s - c)) for c, s in zip(colour, ground, strict=True))
    return r, g, b
