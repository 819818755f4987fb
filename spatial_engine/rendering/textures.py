"""Procedural textures: blurred, so that they do not alias, with the straight lines that real rooms have."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import cv2
import numpy as np
from jaxtyping import Float32, UInt8

Colour = tuple[float, float, float]
"""RGB, 0 to 255."""


@dataclass(frozen=True, kw_only=True)
class Material:
    """What a surface looks like: a painter, its colours, and the seed of whatever is random in it."""

    kind: str
    """Name of a painter in `PAINTERS`."""
    colour: Colour
    accent: Colour = (60.0, 50.0, 45.0)
    seed: int = 0
    contrast: float = 1.0
    """Strength of the random part."""


@dataclass(frozen=True, kw_only=True)
class Canvas:
    """A surface while it is painted."""

    width_px: int
    height_px: int
    px_per_m: float
    rng: np.random.Generator

    def plain(self, colour: Colour) -> Float32[np.ndarray, "h w 3"]:
        """One colour all over."""
        return np.tile(np.asarray(colour, dtype=np.float32), (self.height_px, self.width_px, 1))

    def px(self, metres: float) -> int:
        """Texels, at least one."""
        return max(1, round(metres * self.px_per_m))

    def grain(self, across_m: float, down_m: float) -> Float32[np.ndarray, "h w"]:
        """Smooth noise of unit σ with spots of the given size."""
        cells_x = max(2, round(self.width_px / self.px_per_m / across_m) + 1)
        cells_y = max(2, round(self.height_px / self.px_per_m / down_m) + 1)
        cells = self.rng.standard_normal((cells_y, cells_x), dtype=np.float32)
        return cv2.resize(cells, (self.width_px, self.height_px), interpolation=cv2.INTER_CUBIC)

    def mottled(self, colour: Colour, strength: float) -> Float32[np.ndarray, "h w 3"]:
        """A colour with spots of several sizes."""
        spots = 0.8 * self.grain(0.02, 0.02) + self.grain(0.06, 0.06) + self.grain(0.25, 0.25)
        return self.plain(colour) + np.float32(strength) * spots[..., None]

    def cuts(self, length_px: int, low_m: float, high_m: float) -> list[int]:
        """Positions that split a length into parts of random size; first 0, last `length_px`."""
        at = [0]
        while at[-1] < length_px:
            at.append(at[-1] + self.px(self.rng.uniform(low_m, high_m)))
        return [*at[:-1], length_px]


def _plaster(canvas: Canvas, m: Material) -> np.ndarray:
    return canvas.mottled(m.colour, 5 * m.contrast)


def _wallpaper(canvas: Canvas, m: Material) -> np.ndarray:
    picture = canvas.mottled(m.colour, 4 * m.contrast)
    leaf = np.array(m.accent) - m.colour
    for _ in range(int(28 * canvas.width_px * canvas.height_px / canvas.px_per_m**2)):
        centre = canvas.rng.uniform(0, [canvas.width_px, canvas.height_px]).astype(int).tolist()
        axes = [canvas.px(canvas.rng.uniform(0.015, 0.045)), canvas.px(canvas.rng.uniform(0.006, 0.014))]
        shade = np.array(m.colour) + leaf * canvas.rng.uniform(0.25, 0.7) * m.contrast
        cv2.ellipse(picture, centre, axes, canvas.rng.uniform(0, 360), 0, 360, shade.tolist(), -1)
    skirting = canvas.px(0.10)
    picture[-skirting:] = m.accent
    picture[-skirting - canvas.px(0.012) : -skirting] = np.array(m.accent) * 0.55
    return picture


def _planks(canvas: Canvas, m: Material) -> np.ndarray:
    picture = canvas.plain(m.colour)
    streaks = 4 * canvas.grain(0.5, 0.012) + 3 * canvas.grain(0.08, 0.02)
    picture += np.float32(m.contrast) * streaks[..., None]
    row = canvas.px(0.16)
    for top in range(0, canvas.height_px, row):
        for left, right in _pairs(canvas.cuts(canvas.width_px, 0.6, 1.6)):
            picture[top : top + row, left:right] *= np.float32(canvas.rng.uniform(0.84, 1.14))
            picture[top : top + row, left : left + canvas.px(0.007)] *= 0.5
        picture[top : top + canvas.px(0.007)] *= 0.5
    return picture


def _tiles(canvas: Canvas, m: Material) -> np.ndarray:
    picture = canvas.mottled(m.colour, 6 * m.contrast)
    side, joint = canvas.px(0.3), canvas.px(0.012)
    for top in range(0, canvas.height_px, side):
        for left in range(0, canvas.width_px, side):
            picture[top : top + side, left : left + side] *= np.float32(canvas.rng.uniform(0.86, 1.1))
            picture[top : top + side, left : left + joint] = m.accent
        picture[top : top + joint] = m.accent
    return picture


def _wood(canvas: Canvas, m: Material) -> np.ndarray:
    rings = 6 * canvas.grain(0.4, 0.015) + 5 * canvas.grain(0.15, 0.05) + 3 * canvas.grain(0.02, 0.02)
    return _framed(canvas, canvas.plain(m.colour) + np.float32(m.contrast) * rings[..., None], 0.010)


def _fabric(canvas: Canvas, m: Material) -> np.ndarray:
    picture = canvas.mottled(m.colour, 7 * m.contrast)
    stripe = canvas.px(0.09)
    for left in range(stripe // 2, canvas.width_px, stripe):
        blend = canvas.rng.uniform(0.0, 0.35) * m.contrast
        band = picture[:, left : left + stripe // 2]
        band += np.float32(blend) * (np.asarray(m.accent, dtype=np.float32) - band)
    return _framed(canvas, picture, 0.012)


def _books(canvas: Canvas, m: Material) -> np.ndarray:
    picture = canvas.plain(tuple(np.array(m.colour) * 0.28))
    board = canvas.px(0.025)
    shelves = max(1, round(canvas.height_px / canvas.px_per_m / 0.33))
    for top, bottom in _pairs(np.linspace(0, canvas.height_px, shelves + 1).astype(int)):
        for left, right in _pairs(canvas.cuts(canvas.width_px, 0.022, 0.06)):
            if canvas.rng.random() < 0.08:
                continue  # a gap between books
            tall = int((bottom - top - board) * canvas.rng.uniform(0.66, 0.94))
            spine = picture[max(0, bottom - tall) : bottom, left + 1 : right]
            spine[:] = _muted(canvas, 0.45)
            label = int(tall * canvas.rng.uniform(0.15, 0.6))
            spine[label : label + canvas.px(0.03)] = _muted(canvas, 0.25)
        picture[top : top + board] = m.colour
    picture[-board:] = m.colour
    picture[:, :board] = picture[:, -board:] = m.colour
    return picture


def _drawers(canvas: Canvas, m: Material) -> np.ndarray:
    picture = _wood(canvas, m)
    rows = max(1, round(canvas.height_px / canvas.px_per_m / 0.28))
    columns = max(1, round(canvas.width_px / canvas.px_per_m / 0.6))
    for top, bottom in _pairs(np.linspace(0, canvas.height_px, rows + 1).astype(int)):
        for left, right in _pairs(np.linspace(0, canvas.width_px, columns + 1).astype(int)):
            picture[top:bottom, left:right] *= np.float32(canvas.rng.uniform(0.93, 1.06))
            corner, far = (left + 2, top + 2), (right - 3, bottom - 3)
            cv2.rectangle(picture, corner, far, (np.array(m.colour) * 0.45).tolist(), canvas.px(0.008))
            knob = ((left + right) // 2, (top + bottom) // 2)
            cv2.circle(picture, knob, canvas.px(0.022), list(m.accent), -1)
    return picture


def _painting(canvas: Canvas, m: Material) -> np.ndarray:
    """A framed landscape: sky, hills, houses."""
    w, h = canvas.width_px, canvas.height_px
    fade = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
    picture = canvas.plain(m.colour) * (0.75 + 0.45 * fade) + 6 * canvas.grain(0.05, 0.03)[..., None]
    for level in np.linspace(0.45, 0.85, 4):
        ridge = h * (level + 0.07 * canvas.grain(0.2, 9.0)[0])
        shade = np.array(m.accent) * canvas.rng.uniform(0.5, 1.5) + canvas.rng.uniform(-25, 25, 3)
        picture[np.arange(h)[:, None] > ridge] = shade
        for _ in range(5):
            x, size = int(canvas.rng.uniform(0, w)), canvas.px(canvas.rng.uniform(0.02, 0.06))
            y = int(ridge[min(x, w - 1)]) + size // 2
            cv2.rectangle(picture, (x, y - size), (x + size, y), _muted(canvas, 0.4).tolist(), -1)
    edge = canvas.px(0.035)
    cv2.rectangle(picture, (0, 0), (w - 1, h - 1), (245, 240, 228), 4 * edge)
    cv2.rectangle(picture, (0, 0), (w - 1, h - 1), (62, 44, 32), 2 * edge)
    return picture


def _rug(canvas: Canvas, m: Material) -> np.ndarray:
    """Bands around a field of diamonds."""
    w, h = canvas.width_px, canvas.height_px
    picture = canvas.mottled(m.colour, 7 * m.contrast)
    step = canvas.px(0.24)
    for y in range(step, h, step):
        for x in range(step, w, step):
            r = int(step * canvas.rng.uniform(0.22, 0.46))
            diamond = np.array([[x - r, y], [x, y - r], [x + r, y], [x, y + r]])
            blend = canvas.rng.uniform(0.2, 0.9)
            shade = np.array(m.colour) * (1 - blend) + np.array(m.accent) * blend
            cv2.fillPoly(picture, [diamond], (shade + canvas.rng.uniform(-18, 18, 3)).tolist())
    for inset, colour in ((0.0, m.accent), (0.06, (226, 214, 190)), (0.09, m.colour)):
        k = canvas.px(inset) if inset else 0
        cv2.rectangle(picture, (k, k), (w - 1 - k, h - 1 - k), list(colour), canvas.px(0.05))
    return picture


def _window(canvas: Canvas, m: Material) -> np.ndarray:
    """Sky and trees behind a frame with bars."""
    w, h = canvas.width_px, canvas.height_px
    fade = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
    picture = canvas.plain(m.colour) * (1 - fade) + canvas.plain((244, 246, 242)) * fade
    picture += np.maximum(0, 16 * canvas.grain(0.35, 0.15))[..., None]
    for _ in range(60):
        centre = (int(canvas.rng.uniform(0, w)), int(h * canvas.rng.uniform(0.62, 1.05)))
        shade = np.array(m.accent) * canvas.rng.uniform(0.7, 1.35)
        cv2.circle(picture, centre, canvas.px(canvas.rng.uniform(0.04, 0.13)), shade.tolist(), -1)
    frame = canvas.px(0.05)
    for x in (0, w // 2 - frame // 2, w - frame):
        picture[:, x : x + frame] = (240, 238, 232)
        picture[:, [x, min(w - 1, x + frame)]] = (120, 116, 110)
    for y in (0, int(h * 0.36), h - frame):
        picture[y : y + frame] = (240, 238, 232)
        picture[[y, min(h - 1, y + frame)]] = (120, 116, 110)
    return picture


def _door(canvas: Canvas, m: Material) -> np.ndarray:
    picture = _wood(canvas, m)
    w, h = canvas.width_px, canvas.height_px
    for top, bottom in ((0.07, 0.45), (0.52, 0.94)):
        for left, right in ((0.12, 0.46), (0.54, 0.88)):
            a, b = (int(w * left), int(h * top)), (int(w * right), int(h * bottom))
            cv2.rectangle(picture, a, b, (np.array(m.colour) * 0.6).tolist(), canvas.px(0.012))
            cv2.rectangle(picture, a, (b[0], a[1] + canvas.px(0.015)), (np.array(m.colour) * 1.12).tolist(), -1)
    cv2.circle(picture, (int(w * 0.93), int(h * 0.5)), canvas.px(0.03), list(m.accent), -1)
    return picture


def _crate(canvas: Canvas, m: Material) -> np.ndarray:
    """Slats, a frame of boards with nails, and stencilled marks."""
    w, h = canvas.width_px, canvas.height_px
    picture = canvas.plain(m.colour) + 8 * canvas.grain(0.2, 0.012)[..., None] + 5 * canvas.grain(0.03, 0.03)[..., None]
    for top, bottom in _pairs(canvas.cuts(h, 0.07, 0.10)):
        picture[top:bottom] *= np.float32(canvas.rng.uniform(0.78, 1.12))
        picture[top : top + canvas.px(0.009)] *= 0.4
    for _ in range(9):
        corner = canvas.rng.uniform([0.18 * w, 0.18 * h], [0.7 * w, 0.7 * h]).astype(int)
        size = (canvas.rng.uniform(0.02, 0.09, 2) * canvas.px_per_m).astype(int) + 1
        shade = np.array(m.accent) * canvas.rng.uniform(0.5, 1.4)
        cv2.rectangle(picture, corner.tolist(), (corner + size).tolist(), shade.tolist(), -1)
    board = canvas.px(0.055)
    cv2.rectangle(picture, (0, 0), (w - 1, h - 1), (np.array(m.colour) * 1.15).tolist(), 2 * board)
    groove = (np.array(m.colour) * 0.4).tolist()
    cv2.rectangle(picture, (board, board), (w - board, h - board), groove, canvas.px(0.006))
    for x in (board // 2, w // 2, w - board // 2):
        for y in (board // 2, h // 2, h - board // 2):
            cv2.circle(picture, (x, y), canvas.px(0.008), (45, 40, 38), -1)
    return _framed(canvas, picture, 0.008)


def _framed(canvas: Canvas, picture: np.ndarray, edge_m: float) -> np.ndarray:
    """Darker along the border, so that a box shows its edges."""
    edge = canvas.px(edge_m)
    for border in (picture[:edge], picture[-edge:], picture[:, :edge], picture[:, -edge:]):
        border *= 0.72
    return picture


def _muted(canvas: Canvas, saturation: float) -> np.ndarray:
    """A random colour between grey and full."""
    hue = canvas.rng.uniform(0, 1, 3) * [1.0, 0.85, 0.75]
    return 235 * canvas.rng.uniform(0.35, 1.0) * (1 - saturation + saturation * hue / hue.max())


def _pairs(at: list[int] | np.ndarray) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in pairwise(at) if b > a]


PAINTERS: dict[str, Callable[[Canvas, Material], np.ndarray]] = {
    "plaster": _plaster,
    "wallpaper": _wallpaper,
    "planks": _planks,
    "tiles": _tiles,
    "wood": _wood,
    "fabric": _fabric,
    "books": _books,
    "drawers": _drawers,
    "painting": _painting,
    "rug": _rug,
    "window": _window,
    "door": _door,
    "crate": _crate,
}


@lru_cache(maxsize=512)
def painted(material: Material, width_m: float, height_m: float, texel_m: float) -> UInt8[np.ndarray, "h w 3"]:
    """A surface's picture, blurred by one texel."""
    w, h = max(4, round(width_m / texel_m)), max(4, round(height_m / texel_m))
    rng = np.random.default_rng([material.seed, w, h])
    canvas = Canvas(width_px=w, height_px=h, px_per_m=1 / texel_m, rng=rng)
    picture = PAINTERS[material.kind](canvas, material)
    return np.clip(cv2.GaussianBlur(picture, (0, 0), 1.0), 0, 255).astype(np.uint8)
