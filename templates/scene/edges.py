"""Straight edges of objects, from the borders of their masks, and how far drawn lines lie from these borders."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns
from templates.scene.objects import seen_objects
from templates.scene.scene import Scene, find_rows

_LEAST_LENGTH, _MOST_LENGTH = 0.1, 0.2
"""Of an edge, as shares of the diagonal of the photo."""
_CORNER = 0.08
"""Share of a straight side that is left out at each of its corners."""
_STRAIGHT_PX = 1.0
"""Largest distance of a straight border from its chord, in pixels of the mask."""
_SAMPLES = np.linspace(0, 1, 9)
"""Places on a line, as shares of its length."""
_BESIDE_PX = 3.0
"""How far from the border of a mask the depth of either side is read, in pixels of the mask."""
_FARTHER = 1.04
"""Least ratio of the depth behind the edge of an object to the depth of the object."""

Lines = Float64[np.ndarray, "n k 2 2"]
"""Both ends of k lines, in full-size pixels."""
Row = Int64[np.ndarray, "n"]


@dataclass(frozen=True, kw_only=True)
class Edges(Columns):
    """Straight stretches of the borders of masks."""

    frame: Row
    seen: Row
    """Row of `seen_objects`."""
    ends_px: Float64[np.ndarray, "n 2 2"]
    outward: Float64[np.ndarray, "n 2"]
    """Unit vector across the edge, away from the object."""


def straight_edges(scene: Scene) -> Edges:
    """All straight edges of objects with masks; computed once per scene."""
    return scene.once("straight edges", lambda: _straight_edges(scene))


def _straight_edges(scene: Scene) -> Edges:
    seen, objects, found = seen_objects(scene), scene.objects, []
    for row in np.flatnonzero(np.isfinite(seen.depth_px)) if objects is not None else ():
        assert objects is not None
        mask = objects.ids[int(find_rows(objects.frames, seen.frame[row]))] == seen.object[row]
        found += [(seen.frame[row], row, *side) for side in _sides(mask, scene)]
    if not found:
        return Edges.concatenated([])
    frame, at, ends, outward = (np.array(column) for column in zip(*found, strict=True))
    return Edges(frame=frame, seen=at, ends_px=ends, outward=outward)


def _sides(mask: Bool[np.ndarray, "h w"], scene: Scene) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Ends and outward vector of each straight side of a mask that lies inside the photo."""
    import cv2

    scale = np.array([scene.clip.width_px, scene.clip.height_px]) / mask.shape[::-1]
    for contour in cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0]:
        corners = cv2.approxPolyDP(contour, _STRAIGHT_PX, closed=True)[:, 0].astype(float)
        for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            length = float(np.hypot(*((end - start) * scale))) / scene.diagonal_px
            if length * (1 - 2 * _CORNER) < _LEAST_LENGTH:
                continue
            share = max(_CORNER, 0.5 - _MOST_LENGTH / length / 2)
            outward = np.array([end[1] - start[1], start[0] - end[0]]) / np.hypot(*(end - start))
            ends = np.array([start + share * (end - start), end + share * (start - end)])
            points = ends[0] + _SAMPLES[:, None] * (ends[1] - ends[0])
            sides = [_inside(mask, points + way * 2 * outward) for way in (1, -1)]
            if sides[0].all() and not sides[1].any():
                sides, outward = sides[::-1], -outward
            at_border = (points < 2).any() or (points > np.array(mask.shape[::-1]) - 3).any()
            if sides[1].all() and not sides[0].any() and not at_border:
                # A border runs half a pixel outside the centres of its pixels.
                yield (ends + 0.5 * outward + 0.5) * scale - 0.5, outward


def _inside(mask: Bool[np.ndarray, "h w"], points: Float64[np.ndarray, "k 2"]) -> Bool[np.ndarray, "k"]:
    column, row = np.clip(np.rint(points).astype(int), 0, np.array(mask.shape[::-1]) - 1).T
    return np.asarray(mask[row, column])


def mask_pixel_px(scene: Scene) -> float:
    """Side of a pixel of the masks in full-size pixels; NaN without masks."""
    return np.nan if scene.objects is None else scene.clip.width_px / scene.objects.ids.shape[2]


def border_distance_px(
    scene: Scene, frame: Row, object: Row, lines_px: Lines, most_px: float
) -> Float64[np.ndarray, "n k"]:
    """Mean distance of each line from the border of its object's mask, across the line, in full-size pixels. Where the
    border is farther than `most_px`, or leaves the photo, that distance counts."""
    objects, pixel = scene.objects, mask_pixel_px(scene)
    assert objects is not None
    offsets = np.arange(-most_px, most_px + pixel, pixel)
    points, across = _sampled(lines_px)
    profile = points[..., None, :] + offsets[:, None] * across[..., None, None, :]
    ids = _at(objects.ids, objects.frames, scene, frame, profile, -2)
    own = ids == object[:, None, None, None]
    crossed = (own[..., 1:] != own[..., :-1]) & (ids[..., 1:] != -2) & (ids[..., :-1] != -2)
    middles = np.abs(offsets[1:] + offsets[:-1]) / 2
    return np.where(crossed, middles, most_px).min(axis=-1).mean(axis=-1)


@dataclass(frozen=True, kw_only=True)
class Sides(Columns):
    """The two sides of n lines along borders of masks."""

    is_own: Bool[np.ndarray, "n"]
    """Whether the object lies on one side all along, and something farther away on the other."""
    depth_off_px: Float64[np.ndarray, "n"]
    """How far the step in depth lies from the line, in full-size pixels; NaN where depth is unknown."""


def sides_of(scene: Scene, frame: Row, object: Row, line_px: Float64[np.ndarray, "n 2 2"], most_px: float) -> Sides:
    """What lies beside each line, in mask and depth. A scene without any depth objects to none."""
    objects, depth, pixel = scene.objects, scene.depth, mask_pixel_px(scene)
    if objects is None or depth is None:
        return Sides(is_own=np.ones(len(frame), dtype=bool), depth_off_px=np.zeros(len(frame)))
    points, across = _sampled(line_px[:, None])
    points, across = points[:, 0], across[:, 0]
    steps = pixel * _BESIDE_PX * np.array([[-1, -2], [1, 2]])
    beside = points[:, None, None] + steps[..., None, None] * across[:, None, None, None]
    own = _at(objects.ids, objects.frames, scene, frame, beside[:, :, 0], -2) == object[:, None, None]
    near, far = np.moveaxis(_at(depth.z, depth.frames, scene, frame, beside, np.nan), 2, 0)
    at_border = 2 * near - far  # a slanted surface continues to the border
    z_most, z_least = np.maximum(near, at_border), np.minimum(near, at_border)
    with np.errstate(invalid="ignore"):
        is_own = np.any(
            [(own[:, k] & ~own[:, 1 - k] & (z_least[:, 1 - k] > _FARTHER * z_most[:, k])).all(axis=1) for k in (0, 1)],
            axis=0,
        )
    offsets = np.arange(-most_px, most_px + pixel, pixel)
    profile = points[:, :, None] + offsets[:, None] * across[:, None, None, :]
    with np.errstate(invalid="ignore"):
        step = np.abs(np.diff(np.log(_at(depth.z, depth.frames, scene, frame, profile, np.nan)), axis=-1))
    known = np.isfinite(step).all(axis=(1, 2))
    at = np.abs((offsets[1:] + offsets[:-1])[np.nan_to_num(step).argmax(axis=-1)] / 2).mean(axis=-1)
    return Sides(is_own=is_own, depth_off_px=np.where(known, at, np.nan))


def _sampled(lines_px: Lines) -> tuple[Float64[np.ndarray, "n k s 2"], Float64[np.ndarray, "n k 2"]]:
    """Points along lines, and unit vectors across them."""
    start, along = lines_px[..., 0, :], lines_px[..., 1, :] - lines_px[..., 0, :]
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1) / np.linalg.norm(along, axis=-1, keepdims=True)
    return start[..., None, :] + _SAMPLES[:, None] * along[..., None, :], across


def _at(
    maps: np.ndarray,
    frames: Int64[np.ndarray, "f"],
    scene: Scene,
    frame: Row,
    xy_px: Float64[np.ndarray, "n *k 2"],
    none: float,
) -> np.ndarray:
    """The value of maps of some frames at pixels, each row of its frame; `none` outside and in other frames."""
    rows = find_rows(frames, frame).reshape(-1, *[1] * (xy_px.ndim - 2))
    scale = np.array(maps.shape[:0:-1]) / [scene.clip.width_px, scene.clip.height_px]
    column, line = np.moveaxis(np.rint((xy_px + 0.5) * scale - 0.5).astype(int), -1, 0)
    known = (rows >= 0) & (column >= 0) & (line >= 0) & (column < maps.shape[2]) & (line < maps.shape[1])
    return np.where(known, maps[np.where(known, rows, 0), np.where(known, line, 0), np.where(known, column, 0)], none)
