"""Draws smooth shapes and texts on pictures. Equal input gives equal pixels."""

from collections.abc import Sequence
from functools import lru_cache

import cv2
import numpy as np
from jaxtyping import Float, Float64, UInt8
from PIL import Image, ImageDraw, ImageFont

from templates.media import XY

Rgb = tuple[int, int, int]
Ink = Rgb | int
"""A colour; a number for a mask."""
Point = XY | Float64[np.ndarray, "2"]
Path = Sequence[XY] | Float64[np.ndarray, "_ 2"]
Rect = tuple[int, int, int, int]
"""Left, top, right, bottom."""

DARK, BRIGHT, ACCENT = (13, 17, 23), (255, 255, 255), (255, 196, 0)
"""Amber on near-black and white: distinct in lightness, so also without colour vision."""

_SHIFT = 4  # bits of a pixel that OpenCV's coordinates keep
_FAR = 1 << 15  # farther than this is off every picture
_OVERSAMPLE = 3


class Canvas:
    """Draws into a picture (or a mask), in place. Positions and widths are in pixels; pixel centres are at integers."""

    def __init__(self, picture: UInt8[np.ndarray, "h w *colours"]) -> None:
        self.picture = picture

    def line(self, path: Path, ink: Ink, width: float, *, closed: bool = False) -> None:
        """A polyline with round joints and ends."""
        spots = [_fixed(path)]
        cv2.polylines(self.picture, spots, closed, ink, max(1, round(width)), cv2.LINE_AA, _SHIFT)

    def lines(self, paths: Float64[np.ndarray, "k n 2"], ink: Ink, width: float) -> None:
        """Polylines with equally many points each, as `line` draws them."""
        spots = _fixed(paths)
        cv2.polylines(self.picture, [*spots], False, ink, max(1, round(width)), cv2.LINE_AA, _SHIFT)

    def polygon(self, corners: Path, ink: Ink, *, smooth: bool = True) -> None:
        """A filled polygon."""
        cv2.fillPoly(self.picture, [_fixed(corners)], ink, cv2.LINE_AA if smooth else cv2.LINE_8, _SHIFT)

    def areas(self, corners: Path, ends: Sequence[int], inks: Sequence[tuple[Ink, Ink | None]], width: float) -> None:
        """Filled polygons, one over the other, and their edges as `line` draws them. `ends`: where the corners of each
        one end; `inks`: its colour and that of its edge."""
        spots, start, px = _fixed(corners), 0, max(1, round(width))
        for end, (ink, edge) in zip(ends, inks, strict=True):
            one, start = [spots[start:end]], end
            cv2.fillPoly(self.picture, one, ink, cv2.LINE_AA, _SHIFT)
            if edge is not None:
                cv2.polylines(self.picture, one, True, edge, px, cv2.LINE_AA, _SHIFT)

    def disc(self, spot: Point, radius: float, ink: Ink) -> None:
        """A filled circle."""
        x, y = _fixed(np.array([spot], dtype=np.float64))[0].tolist()
        cv2.circle(self.picture, (x, y), round(radius * (1 << _SHIFT)), ink, cv2.FILLED, cv2.LINE_AA, _SHIFT)

    def ring(self, spot: Point, radius: float, ink: Rgb, width: float) -> None:
        """A circle; `radius` is that of the middle of its line."""
        reach = radius + width
        x, y = (np.arange(int(v - reach), int(v + reach) + 2) for v in spot)
        away = np.abs(np.hypot(x[None] - spot[0], y[:, None] - spot[1]) - radius)
        self.blend((int(x[0]), int(y[0])), np.clip((width + 1) / 2 - away, 0, 1), ink)

    def blend(self, corner: tuple[int, int], share: Float[np.ndarray, "h w"], ink: Rgb | np.ndarray) -> None:
        """Lays ink (one colour, or a colour for each pixel) over the picture; `share` is its opacity, 0 to 1."""
        height, width = self.picture.shape[:2]
        left, top = max(-corner[0], 0), max(-corner[1], 0)
        right, bottom = min(share.shape[1], width - corner[0]), min(share.shape[0], height - corner[1])
        if left >= right or top >= bottom:
            return
        opacity = share[top:bottom, left:right, None]
        colours = ink[top:bottom, left:right] if isinstance(ink, np.ndarray) else np.array(ink)
        below = self.picture[corner[1] + top : corner[1] + bottom, corner[0] + left : corner[0] + right]
        below[:] = np.rint(below + opacity * (colours - below.astype(np.float64)))

    def label(self, text: str, box: Rect, unit: float) -> None:
        """A text on a dark plate with an amber edge, as large as `label_size` says."""
        colours, share = _label(text, unit)
        self.blend(box[:2], share, colours)

    def text(self, text: str, spot: Point, size: float, ink: Rgb = DARK) -> None:
        """A text centred on a spot, with a white seam that sets it off from what lies below."""
        colours, share = _text(text, size, ink)
        height, width = share.shape
        self.blend((round(spot[0] - (width - 1) / 2), round(spot[1] - (height - 1) / 2)), share, colours)


def label_size(text: str, unit: float) -> tuple[int, int]:
    """Width and height in pixels of the plate of a label."""
    return round((8 + max(13.0, _font(15).getlength(text) + 5)) * unit), round(21 * unit)


@lru_cache(maxsize=256)
def _label(text: str, unit: float) -> tuple[np.ndarray, np.ndarray]:
    """Colours and opacity of a label."""
    width, height = label_size(text, unit)
    layer = Image.new("RGBA", (width * _OVERSAMPLE, height * _OVERSAMPLE))
    draw, edge = ImageDraw.Draw(layer), round(1.4 * unit * _OVERSAMPLE)
    rim = (0, 0, layer.width - 1, layer.height - 1)
    draw.rounded_rectangle(rim, 4.5 * unit * _OVERSAMPLE, (*DARK, 255), (*ACCENT, 255), max(1, edge))
    _write(draw, (layer.width / 2, layer.height / 2), text, 15 * unit, BRIGHT)
    return _reduced(layer)


@lru_cache(maxsize=256)
def _text(text: str, size: float, ink: Rgb) -> tuple[np.ndarray, np.ndarray]:
    seam = 0.16 * size
    width = _font(size).getlength(text) + 2 * seam + 2
    layer = Image.new("RGBA", (int(width) * _OVERSAMPLE, int(1.3 * size + 2 * seam) * _OVERSAMPLE))
    draw, middle = ImageDraw.Draw(layer), (layer.width / 2, layer.height / 2)
    _write(draw, middle, text, size, BRIGHT, seam)
    _write(draw, middle, text, size, ink)
    return _reduced(layer)


def _write(draw: ImageDraw.ImageDraw, spot: XY, text: str, size: float, ink: Rgb, seam: float = 0.0) -> None:
    """Bold text, its seam `seam` px wide."""
    bold = (0.035 * size + seam) * _OVERSAMPLE
    draw.text(spot, text, (*ink, 255), _font(size * _OVERSAMPLE), anchor="mm", stroke_width=bold)


@lru_cache(maxsize=64)
def _font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def _reduced(layer: Image.Image) -> tuple[np.ndarray, np.ndarray]:
    pixels = np.asarray(layer.reduce(_OVERSAMPLE))
    return pixels[..., :3], pixels[..., 3] / 255


def _fixed(path: Path | Float64[np.ndarray, "k n 2"]) -> np.ndarray:
    """Positions as OpenCV's fixed-point numbers, of the same shape."""
    spots = np.asarray(path, dtype=np.float64) * (1 << _SHIFT)
    limit = _FAR << _SHIFT
    return np.rint(np.minimum(np.maximum(spots, -limit), limit)).astype(np.int32)
