"""How much of an object another one hides in a photo, by its box and by what another photo shows of it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from templates.columns import Columns
from templates.scene.object_boxes import Row, boxes_of
from templates.scene.past_edge import between_photos
from templates.scene.scene import Scene, find_rows
from templates.scene.seen_surface import seen_places

_GRID = np.stack(np.meshgrid(*[np.linspace(-0.45, 0.45, 5)] * 3), axis=-1).reshape(-1, 3)
"""Places in a box of side 1."""
_FARTHER, _SIGMAS = 0.04, 3.0
"""By so much what is hidden is farther away than what hides it: as a share of the depth, and in σ of both."""
_BORDER_PX = 1.5
"""How far inside the mask of what hides it the places lie, at 640 px width, beside their σ."""
_MOST_REACH = 0.05
"""Largest such distance, as a share of the width: with less sure places nothing is decided."""


@dataclass(frozen=True, kw_only=True)
class Behind(Columns):
    """Objects and what may hide them; NaN where that is not known."""

    least: Float64[np.ndarray, "n"]
    """Share of the object that is surely behind the mask of the other one: the smaller one of the shares of its box and
    of what another photo shows of it."""
    most: Float64[np.ndarray, "n"]
    """Share of its box that may be."""
    is_within: Bool[np.ndarray, "n"]
    """Whether the box of the other one holds a part of it."""


def behind(scene: Scene, frame: Row, occluder: Row, object: Row, shown_in: Row) -> Behind:
    """How much of each object its occluder hides in the photos `frame`; the photos `shown_in` show it."""
    shift, turn = between_photos(scene, frame, shown_in)
    rows = zip(frame.tolist(), occluder.tolist(), object.tolist(), shown_in.tolist(), shift, turn, strict=True)
    found = [scene.once(("behind", *row), lambda row=row: _behind(scene, *row)) for row in rows]  # type: ignore[misc]
    least, most, within = (np.array(column) for column in zip(*found, strict=True)) if found else ([], [], [])
    return Behind(
        least=np.array(least, dtype=float), most=np.array(most, dtype=float), is_within=np.array(within, dtype=bool)
    )


def _behind(
    scene: Scene, frame: int, occluder: int, object: int, shown_in: int, shift: float, turn: float
) -> tuple[float, float, bool]:
    objects, depth, path = scene.objects, scene.depth, scene.path
    unknown = np.nan, np.nan, False
    if objects is None or depth is None or path is None or min(occluder, object) < 0 or occluder == object:
        return unknown
    row, depth_row = int(find_rows(objects.frames, [frame])[0]), int(find_rows(depth.frames, [frame])[0])
    both = np.array([object, occluder])
    known, pose, size, centre_sigma, side_sigma = boxes_of(scene, np.full(2, frame), both)
    if row < 0 or depth_row < 0 or not known.all() or not np.isfinite(pose.sum() + size.sum() + shift + turn):
        return unknown
    box = (_GRID * size[0]) @ pose[0, :3, :3].T + pose[0, :3, 3]
    in_other = np.abs((box - pose[1, :3, 3]) @ pose[1, :3, :3]) <= size[1] / 2
    camera, sides = scene.world_from_cam(frame), np.where(np.isinf(side_sigma[0]), 0.0, side_sigma[0])
    away = float(np.linalg.norm(pose[0, :3, 3] - camera[:3, 3]))
    sigma = float(np.hypot(np.sqrt(centre_sigma[0] ** 2 + (sides.max() / 2) ** 2 + shift**2) / away, turn))
    ids = objects.ids[row]
    small = path.intrinsics.scaled(ids.shape[1], ids.shape[0])
    reach = int(np.ceil(_SIGMAS * sigma * small.fx_px + _BORDER_PX * ids.shape[1] / 640))
    if reach > _MOST_REACH * ids.shape[1]:
        return unknown
    mask = ids == occluder
    is_cut = bool(np.concatenate([mask[[0, -1]].ravel(), mask[:, [0, -1]].ravel()]).any())  # it may go on outside
    inner, outer = scene.once(("changed mask", frame, occluder, reach), lambda: _smaller_and_larger(mask, reach))
    z, z_sigma = (
        each[depth_row][np.ix_(*(_nearest(n, m) for n, m in zip(ids.shape, each.shape[1:], strict=True)))]
        for each in (depth.z, depth.relative_sigma)
    )
    farther = max(_FARTHER, _SIGMAS * float(np.hypot(np.median(z_sigma[mask]) if mask.any() else 0.0, sigma)))
    shares = []
    for world in (box, seen_places(scene, shown_in, object)):
        cam = (world - camera[:3, 3]) @ camera[:3, :3]
        xy = small.project(cam)
        shown = small.contains(xy)
        x, y = np.where(shown, np.rint(np.nan_to_num(xy)).T, 0).astype(np.int64)
        with np.errstate(invalid="ignore"):
            hidden = shown & inner[y, x] & (z[y, x] * (1 + farther) < cam[:, 2])
            maybe = np.where(shown, outer[y, x] & ~(z[y, x] > (1 + farther) * cam[:, 2]), is_cut)
        shares.append((hidden.mean() if len(world) else np.nan, maybe.mean() if len(world) else np.nan))
    return float(min(share for share, _ in shares)), float(shares[0][1]), bool(in_other.all(axis=1).any())


def _smaller_and_larger(
    mask: Bool[np.ndarray, "h w"], reach: int
) -> tuple[Bool[np.ndarray, "h w"], Bool[np.ndarray, "h w"]]:
    """The mask without and with all that is so many pixels from its border; outside the photo nothing is."""
    import cv2

    window, outside = np.ones((2 * reach + 1, 2 * reach + 1), dtype=np.uint8), cv2.BORDER_CONSTANT
    pixels = mask.astype(np.uint8)
    inner = cv2.erode(pixels, window, borderType=outside, borderValue=0)
    return inner > 0, cv2.dilate(pixels, window, borderType=outside, borderValue=0) > 0


def _nearest(count: int, of: int) -> np.ndarray:
    """The row or column of a map of another size for each of `count`."""
    return np.minimum(((np.arange(count) + 0.5) * of / count).astype(np.int64), of - 1)
