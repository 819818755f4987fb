"""Square pictures of single objects, cut out along the mask, from frames that show the object whole and large
enough."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, UInt8
from scipy.ndimage import find_objects

from experts.clip import Clip, Picture
from experts.signals import Objects

Square = UInt8[np.ndarray, "side side 3"]


@dataclass(frozen=True, kw_only=True)
class CropSettings:
    """Which views of an object are used."""

    views: int = 6
    """Frames per object: the largest mask in each of this many segments of the frames that show it whole."""
    min_side_px: int = 56
    """Smallest longer side of the object, in full-size pixels: below it the model's 224 px are magnified more than four
    times (chosen)."""
    fill: float = 0.85
    """The object's longer side as a share of the crop's (upstream's `resize_foreground`)."""


@dataclass(frozen=True, kw_only=True)
class ObjectView:
    """One object in one frame."""

    frame: int
    """Frame index."""
    item: int
    """Row k of `Objects`."""
    x_px: tuple[int, int]
    """Columns of the mask, end exclusive, in pixels of `Objects.ids`."""
    y_px: tuple[int, int]
    """Rows."""

    def middle_px(self, clip: Clip, objects: Objects) -> Float64[np.ndarray, "2"]:
        """Centre of the mask's bounding box, in full-size pixels (centres at integers)."""
        height, width = objects.ids.shape[1:]
        middle = np.array([sum(self.x_px), sum(self.y_px)]) / 2
        return np.asarray(middle * [clip.width_px / width, clip.height_px / height] - 0.5)


def whole_views(clip: Clip, objects: Objects, min_side_px: float = 0.0) -> list[ObjectView]:
    """All views that show an object whole, and its longer side at least so long in full-size pixels; by frame."""
    height, width = objects.ids.shape[1:]
    scale = np.array([clip.width_px / width, clip.height_px / height])
    found = []
    for frame, ids in zip(objects.frames, objects.ids, strict=True):
        for item, place in enumerate(find_objects(ids + 1, max_label=len(objects.labels))):
            if place is None:
                continue
            (y0, y1), (x0, x1) = ((edge.start, edge.stop) for edge in place)
            whole = min(y0, x0) > 0 and y1 < height and x1 < width
            if whole and max([x1 - x0, y1 - y0] * scale) >= min_side_px:
                found.append(ObjectView(frame=int(frame), item=item, x_px=(x0, x1), y_px=(y0, y1)))
    return found


def object_views(clip: Clip, objects: Objects, settings: CropSettings) -> list[ObjectView]:
    """The views to use, by frame and object."""
    area = {
        frame: np.bincount(ids[ids >= 0].ravel(), minlength=len(objects.labels))
        for frame, ids in zip(objects.frames.tolist(), objects.ids, strict=True)
    }
    seen: dict[int, list[ObjectView]] = {}
    for view in whole_views(clip, objects, settings.min_side_px):
        seen.setdefault(view.item, []).append(view)
    best = [
        max((own[i] for i in segment), key=lambda view: int(area[view.frame][view.item]))
        for own in seen.values()
        for segment in np.array_split(np.arange(len(own)), min(settings.views, len(own)))
    ]
    return sorted(best, key=lambda view: (view.frame, view.item))


def crops(
    clip: Clip, objects: Objects, chosen: Sequence[ObjectView], settings: CropSettings, background: int
) -> Iterator[tuple[ObjectView, Square]]:
    """(view, square picture), in order of frames: the object alone, centred, on a background of that grey value."""
    frames = sorted({view.frame for view in chosen})
    row = {int(frame): row for row, frame in enumerate(objects.frames)}
    for frame, rgb in clip.read(frames):
        for view in chosen:
            if view.frame == frame:
                mask = objects.ids[row[frame]] == view.item
                yield view, _cut(rgb, mask, view, settings.fill, background)


def _cut(rgb: Picture, mask: np.ndarray, view: ObjectView, fill: float, background: int) -> Square:
    """The pixels of the mask in a square with side = longer side / `fill`."""
    rows = _span(view.y_px, mask.shape[0], rgb.shape[0])
    columns = _span(view.x_px, mask.shape[1], rgb.shape[1])
    inside = mask[_nearest(rows, mask.shape[0], rgb.shape[0])][:, _nearest(columns, mask.shape[1], rgb.shape[1])]
    side = round(max(len(rows), len(columns)) / fill)
    square = np.full((side, side, 3), background, dtype=np.uint8)
    top, left = (side - len(rows)) // 2, (side - len(columns)) // 2
    window = square[top : top + len(rows), left : left + len(columns)]
    window[inside] = rgb[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1][inside]
    return square


def _span(edges: tuple[int, int], small: int, full: int) -> np.ndarray:
    """Full-size pixels that a range of mask pixels covers, at least in part."""
    return np.arange(edges[0] * full // small, -(-edges[1] * full // small))


def _nearest(pixels: np.ndarray, small: int, full: int) -> np.ndarray:
    """The mask pixel at the centre of each full-size pixel."""
    return ((pixels + 0.5) * small / full).astype(int)
