"""How probable it is that place or mask of an object are those of another: low only where two ways agree.

The first way: several frames, from different positions of the camera, see it at one place. The second: its box in the
world covers its mask in the picture; of an object without sizes, its place lies in its outline in nearly all frames.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Float64, Int64

from experts.depth.depth_views import View
from experts.objects.box_corners import box_corners
from experts.objects.detections import SegmentedFrame
from experts.objects.mask_points import MaskPoints
from experts.objects.object_boxes import ObjectBox
from experts.objects.object_following import Track
from experts.objects.rough_places import PlaceInFrame, places_of, pose_of
from experts.signals import CameraPath


@dataclass(frozen=True, kw_only=True)
class ConfirmationSettings:
    """Chosen, not measured."""

    floor: float = 0.002
    """Smallest outlier probability: scores of detectors are not calibrated, and people err."""
    missing: float = 0.05
    """Added for each of the two ways that does not confirm the object."""
    baseline: float = 0.02
    """Two frames see a place independently if their cameras are apart by this share of its distance."""
    frames: float = 0.6
    """Share of the frames that another frame must confirm."""
    covered: float = 0.8
    """Smallest share of the mask that the projected box covers, in the median frame."""


def outlier_probability(
    track: Track,
    frames: Int64[np.ndarray, "n"],
    found: Sequence[SegmentedFrame],
    parts: Sequence[Sequence[MaskPoints | None]],
    views: Sequence[View | None],
    path: CameraPath | None,
    box: ObjectBox | None,
    place: Float64[np.ndarray, "3"],
    settings: ConfirmationSettings,
    *,
    checked: bool,
) -> float:
    """Of one object: the floor, and the penalty of each missing confirmation.

    An object without a `place` (NaN) has none to confirm: what a person says of its mask (`checked`) holds.
    """
    if checked and not np.isfinite(place).all():
        return settings.floor
    places = [] if track.moved or path is None else places_of(track, frames, found, parts, path)
    measurable = any(views[n] is not None and not found[n].is_box(d) for n, d in track.seen.items())
    if box is not None:
        covered = share_covered(track, found, views, box)
    elif path is None or measurable:  # depth and masks, but no box fits them
        covered = 0.0
    else:
        covered = share_inside(track, frames, found, path, place)
    missing = (not agree_on_place(places, settings)) + (not covered >= settings.covered)
    return float(settings.floor + settings.missing * missing)


def name_outlier_probability(score: Float32[np.ndarray, "n"], settings: ConfirmationSettings) -> float:
    """1 - the best score of the object; the floor where none is stated."""
    stated = score[np.isfinite(score)]
    return float(max(settings.floor, 1 - stated.max())) if len(stated) else settings.floor


def agree_on_place(places: Sequence[PlaceInFrame], settings: ConfirmationSettings) -> bool:
    """Whether most frames see the object where a frame from another position sees it, within half of its longer
    side."""
    if len(places) < 2:
        return False
    xyz, camera = np.array([place.xyz for place in places]), np.array([place.camera for place in places])
    side = float(np.median([place.side for place in places]))
    distance = np.linalg.norm(xyz - camera, axis=1)
    independent = _between(camera) >= settings.baseline * distance[:, None]
    confirmed = (independent & (_between(xyz) <= side / 2)).any(axis=1)
    return bool(confirmed.mean() >= settings.frames)


def share_covered(track: Track, found: Sequence[SegmentedFrame], views: Sequence[View | None], box: ObjectBox) -> float:
    """Share of the mask that the outline of the projected box covers, in the median frame; 0 if none decides."""
    import cv2

    pose = box.world_from_object.copy()
    pose[:3, :3] = box.axes  # known even if the object looks the same from all sides
    corners = box_corners(pose, box.size)
    shares = []
    for n, d in track.seen.items():
        view = views[n]
        if view is None or found[n].is_box(d):
            continue
        cam = (corners - view.world_from_cam[:3, 3]) @ view.world_from_cam[:3, :3]
        mask = found[n].ids == d
        if (cam[:, 2] <= 0).any() or not mask.any():
            continue
        xy = np.clip(np.round(view.camera.project(cam)), -10_000, 10_000).astype(np.int32)
        outline = np.zeros(mask.shape, dtype=np.uint8)
        cv2.fillConvexPoly(outline, cv2.convexHull(xy), 1)
        shares.append(float(outline[mask].mean()))
    return float(np.median(shares)) if shares else 0.0


def share_inside(
    track: Track,
    frames: Int64[np.ndarray, "n"],
    found: Sequence[SegmentedFrame],
    path: CameraPath,
    place: Float64[np.ndarray, "3"],
) -> float:
    """Share of the frames that show the object in which its projected place lies in its outline; 0 without a place."""
    inside = []
    for n, d in track.seen.items():
        pose = pose_of(path, int(frames[n]))
        if pose is None:
            continue
        mask, cam = found[n].ids == d, (place - pose[:3, 3]) @ pose[:3, :3]
        camera = path.intrinsics.scaled(mask.shape[1], mask.shape[0])
        xy = camera.project(cam[None])[0]
        at = np.round(xy).astype(int) if np.isfinite(xy).all() and cam[2] > 0 and camera.contains(xy) else None
        inside.append(at is not None and bool(mask[at[1], at[0]]))
    return float(np.mean(inside)) if inside else 0.0


def _between(points: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n n"]:
    """Distances of all pairs."""
    return np.asarray(np.linalg.norm(points[:, None] - points[None], axis=2))
