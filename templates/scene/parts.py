"""Parts of objects as photos show them, and what a person can do with them."""

from functools import partial

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped
from scipy import ndimage

from experts.signals import Parts
from templates.columns import Texts
from templates.scene.marks import Frame, Pixel
from templates.scene.outlines import VERTICES, outline_of, shrunk
from templates.scene.scene import Scene, find_rows

DEEDS = {
    "sit on": "sit down",
    "lie on": "lie down",
    "lean on": "lean",
    "put on": "put something down",
    "put in": "put something in",
    "pull": "pull to open it",
}
"""What a part is for, in words."""
_TRIED = 12
"""Pixels of a part that are tried."""
_INSIDE_PX = 4.0
"""Least distance of a mark from the border of its part (at 640 px width)."""
_INWARDS_PX = 2.0
"""How far the outlines of parts lie inside of their masks, at 640 px width, and at least a pixel of the mask."""
_LEAST_LEFT = 0.4
"""Least share of a part that lies in its outline: of a narrower one, right pixels would be called wrong."""
_AROUND = np.array([(0, 0), *((np.cos(a), np.sin(a)) for a in np.linspace(0, 2 * np.pi, 12, endpoint=False))])


def pixel_of_part(
    scene: Scene, parts: Parts, frame: int, part: int, rng: np.random.Generator
) -> Float64[np.ndarray, "2"] | None:
    """A random pixel well inside of what a photo shows of a part; None if there is none."""
    ids = parts.ids[int(find_rows(parts.frames, frame))]
    scale = np.array([scene.clip.width_px, scene.clip.height_px]) / ids.shape[::-1]
    depth = ndimage.distance_transform_edt(np.pad(ids == part, 1))[1:-1, 1:-1]
    y, x = np.nonzero(depth * scale.min() > _INSIDE_PX * scene.pixel_scale)
    if not len(x):
        return None
    rows = rng.integers(len(x), size=_TRIED)
    xy = np.round((np.column_stack([x, y])[rows] + 0.5) * scale - 0.5, 1)
    inside = np.flatnonzero(parts_at(scene, parts, np.full(_TRIED, frame), xy) == part)
    return np.asarray(xy[inside[0]]) if len(inside) else None


def purposes(parts: Parts, part: Int64[np.ndarray, "n k"]) -> Shaped[np.ndarray, "n k"]:
    """What each part is for, in words; "" where there is no part."""
    words = [" or ".join(affords) or "something else" for affords in parts.affords]
    return np.array([*words, ""], dtype=np.str_)[part]  # part -1: none


def parts_at(scene: Scene, parts: Parts, frame: Frame, xy_px: Pixel) -> Int64[np.ndarray, "n"]:
    """The part that each pixel lies well inside of; -1 for none."""
    row = find_rows(parts.frames, frame)
    height, width = parts.ids.shape[1:]
    scale = np.array([width, height]) / [scene.clip.width_px, scene.clip.height_px]
    around = xy_px[:, None] + _INSIDE_PX * scene.pixel_scale * _AROUND
    x, y = np.moveaxis(np.round((around + 0.5) * scale - 0.5).astype(np.int64), 2, 0)
    inside = ((x >= 0) & (x < width) & (y >= 0) & (y < height)).all(axis=1) & (row >= 0)
    found = parts.ids[row[:, None], np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    return np.where(inside & (found == found[:, :1]).all(axis=1), found[:, 0], -1).astype(np.int64)


def serving(
    scene: Scene, frame: Frame, object: Int64[np.ndarray, "n"], deed: Texts
) -> tuple[Float64[np.ndarray, "n v 2"], Float64[np.ndarray, "n 2"], Float64[np.ndarray, "n"]]:
    """Outlines of all parts of each object that are for a deed, as those of `templates.scene.outlines`, the pixel
    deepest inside, and their area in pixels of the photo; NaN where nothing of them is known, or they are narrow."""
    n = len(frame)
    outline, inside, area = np.full((n, VERTICES, 2), np.nan), np.full((n, 2), np.nan), np.full(n, np.nan)
    for row, key in enumerate(zip(frame.tolist(), object.tolist(), deed.tolist(), strict=True)):
        polygons, inside[row], area[row] = scene.once(("serving", *key), partial(_serving, scene, *key))
        outline[row, : len(polygons)] = polygons
    return outline, inside, area


def deeds_of(parts: Parts, object: int) -> tuple[str, ...]:
    """What the parts of an object are for."""
    mine = np.flatnonzero(parts.object == object).tolist()
    return tuple(dict.fromkeys(deed for part in mine for deed in parts.affords[part]))


def _serving(scene: Scene, frame: int, object: int, deed: str) -> tuple[np.ndarray, np.ndarray, float]:
    parts, nothing = scene.parts, (np.empty((0, 2)), np.full(2, np.nan), np.nan)
    if parts is None or object < 0 or (row := int(find_rows(parts.frames, frame))) < 0:
        return nothing
    mine = [k for k in np.flatnonzero(parts.object == object).tolist() if deed in parts.affords[k]]
    mask: Bool[np.ndarray, "h w"] = np.isin(parts.ids[row], mine)
    inner = shrunk(scene, mask, _INWARDS_PX)
    if inner.sum() <= _LEAST_LEFT * mask.sum():
        return nothing
    scale = np.array([scene.clip.width_px, scene.clip.height_px]) / mask.shape[::-1]
    depth = ndimage.distance_transform_edt(np.pad(inner, 1))[1:-1, 1:-1]
    deepest = np.array(np.unravel_index(depth.argmax(), depth.shape))[::-1]
    return outline_of(scene, inner), (deepest + 0.5) * scale - 0.5, float(inner.sum() * scale.prod())
