"""Draws the pictures of questions: photos with lettered points, and maps. Equal input gives equal pictures."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from experts.clip import Picture
from templates.question import Drawing, Mark

MAX_SIDE_PX = 1280
"""Longest side of a stored photo: large enough for legible marks, small enough for a small data set."""
MAP_SIDE_PX = 640
"""Side of a map, which is square."""

_OVERSAMPLE = 3
_DARK = (13, 17, 23)
_BRIGHT = (255, 255, 255)
_ACCENT = (255, 196, 0)  # amber on near-black and white: distinct in lightness, so also without colour vision
_INKS = ((0, 98, 178), (213, 94, 0), (0, 128, 96), (170, 68, 136))  # after Okabe and Ito, darkened for white paper
_GRID, _FRAME = (231, 234, 239), (196, 202, 211)

XY = tuple[float, float]
Box = tuple[float, float, float, float]


def stored_size(width_px: int, height_px: int, max_side_px: int = MAX_SIDE_PX) -> tuple[int, int]:
    """(width, height) of the file of a frame of this size: longer side at most `max_side_px`."""
    factor = min(1.0, max_side_px / max(width_px, height_px))
    return max(1, round(width_px * factor)), max(1, round(height_px * factor))


def plain_photo(picture: Picture, max_side_px: int = MAX_SIDE_PX) -> Image.Image:
    """A frame whose longer side is at most `max_side_px`."""
    size = stored_size(picture.shape[1], picture.shape[0], max_side_px)
    image = Image.fromarray(picture)
    return image if size == image.size else image.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def photo(picture: Picture, marks: Sequence[Mark]) -> Image.Image:
    """A frame at stored size with its lettered points. `marks` are in pixels of the full-size `picture`."""
    height, width = picture.shape[:2]
    image = plain_photo(picture)
    size = image.size
    scale = np.array(size) / [width, height]
    spots = [tuple(((np.array(mark.xy_px) + 0.5) * scale - 0.5).tolist()) for mark in marks]
    unit = max(1.0, max(size) / 640)
    for spot in spots:
        _stamp_ring(image, spot, unit)
    for label, mark in zip(_label_boxes(marks, spots, size, unit), marks, strict=True):
        _stamp_label(image, mark.text, label, unit)
    return image


def _stamp_ring(image: Image.Image, spot: XY, unit: float) -> None:
    """A ring with a free centre: dark, amber, dark, so that it is visible on any background."""
    reach = 12 * unit
    box = _around(spot, reach)
    with _Patch(image, box) as patch:
        patch.circle(spot, 9.6 * unit, fill=None, outline=(*_DARK, 225), width=4.6 * unit)
        patch.circle(spot, 8.5 * unit, fill=None, outline=(*_ACCENT, 255), width=2.4 * unit)
        patch.circle(spot, 2.0 * unit, fill=(*_DARK, 225))
        patch.circle(spot, 1.15 * unit, fill=(*_BRIGHT, 255))


def _stamp_label(image: Image.Image, text: str, box: Box, unit: float) -> None:
    with _Patch(image, box) as patch:
        patch.rounded(_inset(box, 0.5), 4.5 * unit, fill=(*_DARK, 235), outline=(*_ACCENT, 255), width=1.4 * unit)
        patch.text(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2), text, 15 * unit, (*_BRIGHT, 255))


def _label_boxes(marks: Sequence[Mark], spots: Sequence[XY], size: tuple[int, int], unit: float) -> list[Box]:
    """Boxes of the labels: beside their rings, inside the picture, away from other rings and labels if there is
    room."""
    rings = [_around(spot, 10 * unit) for spot in spots]
    placed: list[Box] = []
    for index, (mark, spot) in enumerate(zip(marks, spots, strict=True)):
        taken = rings[:index] + rings[index + 1 :] + placed
        boxes = _places(mark.text, spot, size, unit)
        placed.append(min(boxes, key=lambda box: sum(_overlap(box, other) for other in (*taken, rings[index]))))
    return placed


def _places(text: str, spot: XY, size: tuple[int, int], unit: float) -> list[Box]:
    """Label boxes around a spot, best first, moved inside the picture."""
    width, height = (13 + 8 * len(text)) * unit, 21 * unit
    places = []
    for distance in (6, 14, 26):
        for right, down in ((1, -1), (1, 1), (-1, -1), (-1, 1), (1, 0), (-1, 0), (0, -1), (0, 1)):
            x = spot[0] + right * (distance * unit + width / 2) - width / 2
            y = spot[1] + down * (distance * unit + height / 2) - height / 2
            x, y = min(max(x, 0), max(size[0] - width, 0)), min(max(y, 0), max(size[1] - height, 0))
            places.append((x, y, x + width, y + height))
    return places


def _overlap(a: Box, b: Box) -> float:
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def drawn_map(drawing: Drawing) -> Image.Image:
    """Paths and labelled points on a light grid, equal aspect, x right and y up: start dot, arrow head at the end."""
    image = Image.new("RGB", (MAP_SIDE_PX, MAP_SIDE_PX), _BRIGHT)
    view = _View.of(drawing)
    with _Patch(image, (0, 0, MAP_SIDE_PX, MAP_SIDE_PX)) as patch:
        for position in view.grid():
            patch.line([(position, 0), (position, MAP_SIDE_PX)], (*_GRID, 255), 1.2)
            patch.line([(0, position), (MAP_SIDE_PX, position)], (*_GRID, 255), 1.2)
        patch.line([(0, 0), (639, 0), (639, 639), (0, 639), (0, 0)], (*_FRAME, 255), 2.5)
        for index, polyline in enumerate(drawing.polylines):
            _draw_path(patch, [view.place(xy) for xy in polyline], _INKS[index % len(_INKS)])
        for point in drawing.points:
            _draw_landmark(patch, view.place(point.xy_px))
    marks = [Mark(text=point.text, xy_px=view.place(point.xy_px)) for point in drawing.points]
    for box, mark in zip(_label_boxes(marks, [m.xy_px for m in marks], image.size, 1.1), marks, strict=True):
        _stamp_label(image, mark.text, box, 1.1)
    return image


def _draw_path(patch: "_Patch", path: Sequence[XY], ink: tuple[int, int, int]) -> None:
    if len(path) > 1:
        tip, neck, left, right = _arrow(path)
        shaft = [xy for xy in path[:-1] if np.hypot(xy[0] - tip[0], xy[1] - tip[1]) > 26]
        patch.line([*(shaft or path[:1]), neck], (*ink, 255), 7)
        patch.polygon([tip, left, neck, right], (*ink, 255))
    patch.circle(path[0], 12, fill=(*ink, 255))
    patch.circle(path[0], 6.5, fill=(*_BRIGHT, 255))


def _arrow(path: Sequence[XY], length: float = 36.0, half_width: float = 16.0) -> tuple[XY, XY, XY, XY]:
    """Tip, neck and two barbs of the head at the end of a path, along where the path comes from."""
    tip = np.array(path[-1])
    behind = next((np.array(xy) for xy in reversed(path) if np.hypot(*(np.array(xy) - tip)) >= 0.6 * length), None)
    ahead = tip - (np.array(path[0]) if behind is None else behind)
    ahead = ahead / np.hypot(*ahead) if np.hypot(*ahead) > 0 else np.array([1.0, 0.0])
    side = np.array([-ahead[1], ahead[0]])
    corners = (tip, tip - 0.72 * length * ahead, *(tip - length * ahead + s * half_width * side for s in (1, -1)))
    tip_xy, neck, left, right = ((float(x), float(y)) for x, y in corners)
    return tip_xy, neck, left, right


def _draw_landmark(patch: "_Patch", spot: XY) -> None:
    patch.circle(spot, 7.5, fill=(*_DARK, 255))
    patch.circle(spot, 4.5, fill=(*_ACCENT, 255))


class _View:
    """From map units to pixels of the square drawing."""

    def __init__(self, centre: XY, px_per_unit: float) -> None:
        self.centre, self.px_per_unit = centre, px_per_unit

    @classmethod
    def of(cls, drawing: Drawing, margin_px: float = 72.0) -> "_View":
        """The view that shows everything with a margin."""
        every = [xy for polyline in drawing.polylines for xy in polyline] + [p.xy_px for p in drawing.points]
        xy = np.array(every or [(0.0, 0.0)])
        low, high = xy.min(axis=0), xy.max(axis=0)
        extent = float(max(high - low))
        centre = (low + high) / 2
        return cls((float(centre[0]), float(centre[1])), (MAP_SIDE_PX - 2 * margin_px) / (extent or 1.0))

    def place(self, xy: XY) -> XY:
        """Pixel of a map position; y turns over, for rows grow downwards."""
        middle = (MAP_SIDE_PX - 1) / 2
        right, up = (xy[0] - self.centre[0]) * self.px_per_unit, (xy[1] - self.centre[1]) * self.px_per_unit
        return middle + right, middle - up

    def grid(self) -> list[float]:
        """Pixels of grid lines, the same in both directions: squares, not a scale."""
        step = MAP_SIDE_PX / 8
        return [step * k for k in range(1, 8)]


class _Patch:
    """Draws smoothly: a transparent, oversampled cut-out that is laid over the image on leaving the `with` block."""

    def __init__(self, image: Image.Image, box: Box) -> None:
        self._image = image
        self._left, self._top = int(np.floor(box[0])) - 1, int(np.floor(box[1])) - 1
        size = (int(np.ceil(box[2])) + 1 - self._left, int(np.ceil(box[3])) + 1 - self._top)
        self._layer = Image.new("RGBA", (size[0] * _OVERSAMPLE, size[1] * _OVERSAMPLE))
        self._draw = ImageDraw.Draw(self._layer)

    def __enter__(self) -> "_Patch":
        return self

    def __exit__(self, *_: object) -> None:
        layer = self._layer.reduce(_OVERSAMPLE)
        self._image.paste(layer.convert("RGB"), (self._left, self._top), layer.getchannel("A"))

    def circle(
        self, spot: XY, radius: float, *, fill: tuple[int, ...] | None, outline: tuple[int, ...] | None = None,
        width: float = 0.0,
    ) -> None:  # fmt: skip
        """A disc, or a ring whose outer radius is `radius`."""
        self._draw.ellipse(self._box(_around(spot, radius)), fill, outline, round(width * _OVERSAMPLE))

    def rounded(
        self, box: Box, radius: float, *, fill: tuple[int, ...], outline: tuple[int, ...], width: float
    ) -> None:
        """A box with round corners."""
        self._draw.rounded_rectangle(
            self._box(box), radius * _OVERSAMPLE, fill, outline, max(1, round(width * _OVERSAMPLE))
        )

    def line(self, path: Sequence[XY], ink: tuple[int, ...], width: float) -> None:
        """A polyline with round joints and ends."""
        spots = [self._spot(xy) for xy in path]
        for start, end in pairwise(spots):
            self._draw.line([start, end], ink, round(width * _OVERSAMPLE))
        radius = width * _OVERSAMPLE / 2
        for spot in spots:
            self._draw.ellipse(_around(spot, radius), ink)

    def polygon(self, corners: Sequence[XY], ink: tuple[int, ...]) -> None:
        """A filled polygon."""
        self._draw.polygon([self._spot(xy) for xy in corners], ink)

    def text(self, spot: XY, text: str, size: float, ink: tuple[int, ...]) -> None:
        """Bold text centred on a spot."""
        font = ImageFont.load_default(size * _OVERSAMPLE)
        self._draw.text(self._spot(spot), text, ink, font, anchor="mm", stroke_width=0.035 * size * _OVERSAMPLE)

    def _spot(self, xy: XY) -> XY:
        return (xy[0] + 0.5 - self._left) * _OVERSAMPLE, (xy[1] + 0.5 - self._top) * _OVERSAMPLE

    def _box(self, box: Box) -> Box:
        return (*self._spot(box[:2]), *self._spot(box[2:]))


def _around(spot: XY, reach: float) -> Box:
    return spot[0] - reach, spot[1] - reach, spot[0] + reach, spot[1] + reach


def _inset(box: Box, by: float) -> Box:
    return box[0] + by, box[1] + by, box[2] - by, box[3] - by
