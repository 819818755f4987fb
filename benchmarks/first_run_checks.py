"""Checks that show whether a model's conventions are those that its adapter assumes.

Each compares signals with the truth of a rendered room. It is tested with exact signals, which hold, and with the
mistakes that it looks for, which do not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

from experts.depth.depth_reprojection import sampled, unprojected
from experts.signals import (
    Calibration,
    CameraPath,
    Depth,
    Gravity,
    ImageTracks,
    NoEstimate,
    ObjectOrientation,
    Objects,
    PointTracks,
    Signal,
)
from spatial_engine.rendering import RenderedScene

Results = Mapping[str, Signal | NoEstimate]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table."""

    check: str
    expected: str
    measured: str
    holds: bool | None = None
    """None: a number without a limit, or not run."""


def judge_up(scene: RenderedScene, roll_deg: float, pitch_deg: float, results: Results) -> list[Row]:
    """Roll and pitch of the up vector within 5°, the focal length within 15 %."""
    check, expected = f"up, roll {roll_deg:+g}°, pitch {pitch_deg:+g}°", "each within 5°"
    gravity, calibration = results["gravity"], results["calibration"]
    rows = []
    if isinstance(gravity, Gravity):
        x, y, z = np.median(gravity.up_cam, axis=0)
        found = np.rad2deg([np.arctan2(-x, -y), np.arcsin(np.clip(z, -1, 1))])
        holds = bool(np.abs(found - [roll_deg, pitch_deg]).max() <= 5)
        rows.append(Row(check=check, expected=expected, measured=f"{found[0]:+.1f}°, {found[1]:+.1f}°", holds=holds))
    else:
        rows.append(_none(check, expected, gravity))
    if isinstance(calibration, Calibration):
        return [*rows, _focal(calibration.intrinsics.fy_px, scene)]
    return [*rows, _none("focal length", "within 15 %", calibration)]


def _focal(fy_px: float, scene: RenderedScene) -> Row:
    ratio = fy_px / scene.intrinsics.fy_px
    return Row(
        check="focal length", expected="within 15 %", measured=f"{ratio - 1:+.1%}", holds=abs(np.log(ratio)) <= 0.15
    )


def judge_path_and_depth(scene: RenderedScene, results: Results) -> list[Row]:
    """Rotation and direction of the camera's motion, focal length, and depth."""
    path, limits = results["camera_path"], {"rotation": 3.0, "direction": 10.0}
    if not isinstance(path, CameraPath):
        expected = {check: f"within {limit:g}°" for check, limit in limits.items()} | {"focal length": "within 15 %"}
        return [*(_none(check, limit, path) for check, limit in expected.items()), *judge_depth(scene, results)]
    ends = path.frames[[0, -1]]
    true, found = scene.world_from_cam[ends], path.world_from_cam[[0, -1]]
    moved = [np.linalg.inv(pose[0]) @ pose[1] for pose in (true, found)]
    off = (
        Rotation.from_matrix(moved[0][:3, :3].T @ moved[1][:3, :3]).magnitude() if np.isfinite(found).all() else np.nan
    )
    angles = {"rotation": np.rad2deg(off), "direction": _angle_deg(moved[0][:3, 3], moved[1][:3, 3])}
    rows = [
        Row(
            check=check,
            expected=f"within {limit:g}°",
            measured=f"{angles[check]:.1f}°",
            holds=bool(angles[check] <= limit),
        )
        for check, limit in limits.items()
    ]
    return [*rows, _focal(path.intrinsics.fy_px, scene), *judge_depth(scene, results)]


def judge_depth(scene: RenderedScene, results: Results) -> list[Row]:
    """Scale, shape and raster of the depth."""
    depth = results["depth"]
    expected = {"scale": "within 25 %", "depth after scale": "σ of 10 %", "raster of depth": "within 0.25 px"}
    if not isinstance(depth, Depth):
        return [_none(check, limit, depth) for check, limit in expected.items()]
    small = replace(scene, intrinsics=scene.intrinsics.scaled(depth.z.shape[2], depth.z.shape[1]))
    true = np.stack([small.depth(int(frame)) for frame in depth.frames])
    ratio = np.log(depth.z / true)
    ratio, found = ratio[np.isfinite(ratio)], {}
    scale, spread = float(np.median(ratio)), 1.4826 * float(np.median(np.abs(ratio - np.median(ratio))))
    shift = np.median([shift_px(a, b) for a, b in zip(depth.z, true, strict=True)], axis=0)
    metric = depth.scale.kind == "metric"
    found["scale"] = f"{np.expm1(scale):+.1%}" if metric else "no metres", abs(scale) <= 0.25 if metric else None
    found["depth after scale"] = f"{spread:.1%}", spread <= 0.10
    found["raster of depth"] = f"{shift[0]:+.2f}, {shift[1]:+.2f} px", bool(np.abs(shift).max() <= 0.25)
    return [
        Row(check=check, expected=expected[check], measured=measured, holds=holds)
        for check, (measured, holds) in found.items()
    ]


def shift_px(measured: np.ndarray, true: np.ndarray) -> np.ndarray:
    """(x, y) that moves the true map onto the measured one, to a fraction of a pixel: least squares along the edges of
    the blurred inverse depth, up to scale and offset."""
    whole = [np.where(np.isfinite(z), z, np.nanmedian(z)).astype(np.float64) for z in (measured, true)]
    found, wanted = (cv2.GaussianBlur(1 / z, (0, 0), 1.5) for z in whole)
    along_y, along_x = np.gradient(wanted)
    steep = np.hypot(along_x, along_y)
    edge = steep >= np.quantile(steep, 0.8)
    columns = np.stack([wanted, np.ones_like(wanted), along_x, along_y], axis=-1)[edge]
    scale, _, x, y = np.linalg.lstsq(columns, found[edge], rcond=None)[0]
    return np.asarray(-np.array([x, y]) / scale)


def judge_boxes(scene: RenderedScene, aspect: str, results: Results) -> list[Row]:
    """IoU of found boxes with the part or the whole piece of furniture that each fits best, whatever its name, and the
    offset of their centres."""
    check, expected, objects = f"boxes at {aspect}", "median IoU ≥ 0.5, centres within 2 px", results["objects"]
    if not isinstance(objects, Objects):
        return [_none(check, expected, objects)]
    height, width = scene.intrinsics.height_px, scene.intrinsics.width_px
    true = np.concatenate([_boxes(ids, (height, width), smallest=0.0) for ids in (scene.ids(0), scene.object_ids(0))])
    found = _boxes(objects.ids[0], (height, width), smallest=0.005)
    if not len(true) or not len(found):
        return [Row(check=check, expected=expected, measured="nothing found in the first frame", holds=False)]
    overlaps = _ious(found, true)
    best = overlaps.argmax(axis=1)
    iou, fitting = overlaps.max(axis=1), overlaps.max(axis=1) >= 0.5
    shift = (found - true[best])[fitting].reshape(-1, 2, 2).mean(axis=(0, 1)) if fitting.any() else np.full(2, np.nan)
    return [
        Row(
            check=check,
            expected=expected,
            measured=f"IoU {np.median(iou):.2f} of {len(found)}, centres {shift[0]:+.1f}, {shift[1]:+.1f} px",
            holds=bool(np.median(iou) >= 0.5 and np.abs(shift).max() <= 2),
        )
    ]


def _boxes(ids: np.ndarray, size: tuple[int, int], smallest: float) -> np.ndarray:
    """Edges (left, top, right, bottom) in full-size pixels of every id that fills the share `smallest`."""
    scale = np.tile(np.array(size[::-1]) / ids.shape[::-1], 2)
    boxes = []
    for k in np.unique(ids[ids >= 0]):
        row, column = np.nonzero(ids == k)
        if len(row) >= smallest * ids.size:
            boxes.append([column.min(), row.min(), column.max() + 1, row.max() + 1])
    return np.array(boxes, dtype=float).reshape(-1, 4) * scale - 0.5


def _ious(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    low, high = np.maximum(a[:, None, :2], b[None, :, :2]), np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=-1)
    area_a, area_b = (np.prod(each[:, 2:] - each[:, :2], axis=-1) for each in (a, b))
    return np.asarray(shared / (area_a[:, None] + area_b[None] - shared))


def judge_front(front_cam: np.ndarray, check: str, limit_deg: float, results: Results) -> list[Row]:
    """The direction of the front in camera axes."""
    found, expected = results["object_orientation"], f"front within {limit_deg:g}°"
    if not isinstance(found, ObjectOrientation):
        return [_none(check, expected, found)]
    fronts = found.cam_from_object[:, 0, :, 0]
    fronts = fronts[np.isfinite(fronts).all(axis=1)]
    if not len(fronts):
        return [Row(check=check, expected=expected, measured="no front", holds=False)]
    off = _angle_deg(fronts.mean(axis=0), front_cam)
    azimuth = np.rad2deg(np.nanmedian(found.azimuth_rad))
    return [
        Row(check=check, expected=expected, measured=f"{off:.0f}° off, azimuth {azimuth:.0f}°", holds=off <= limit_deg)
    ]


def judge_tracks(scene: RenderedScene, results: Results) -> list[Row]:
    """Where tracks end, against the point of their start in the room."""
    check, expected = "tracks", "median error ≤ 2 px, its mean within 0.5 px"
    tracks = next((s for s in results.values() if isinstance(s, ImageTracks | PointTracks)), None)
    if tracks is None:
        return [_none(check, expected, next(iter(results.values())))]
    error = []
    for track in tracks.xy_px.astype(np.float64):
        seen = np.flatnonzero(np.isfinite(track[:, 0]))
        if len(seen) > 1:
            first, last = (int(tracks.frames[k]) for k in seen[[0, -1]])
            z = sampled(scene.depth(first), scene.intrinsics, track[seen[:1]])
            into = np.linalg.inv(scene.world_from_cam[last]) @ scene.world_from_cam[first]
            xyz = unprojected(track[seen[:1]], z, scene.intrinsics) @ into[:3, :3].T + into[:3, 3]
            error.append(track[seen[-1]] - scene.intrinsics.project(xyz)[0])
    known = np.array(error).reshape(-1, 2)
    known = known[np.isfinite(known).all(axis=1)]
    if not len(known):
        return [Row(check=check, expected=expected, measured="no track", holds=False)]
    median, mean = float(np.median(np.linalg.norm(known, axis=1))), np.median(known, axis=0)
    measured = f"{median:.2f} px of {len(known)}, mean {mean[0]:+.2f}, {mean[1]:+.2f} px"
    return [
        Row(check=check, expected=expected, measured=measured, holds=bool(median <= 2 and np.abs(mean).max() <= 0.5))
    ]


def difference(a: Results, b: Results) -> str:
    """How much two results of one expert differ, in words: float32 against a smaller precision."""
    parts = []
    for name in sorted(a):
        one, other = (_numbers(each[name]) for each in (a, b))
        if one is None or other is None:
            parts.append(f"{name}: {'both' if one is other is None else 'one'} without estimate")
        elif one.shape != other.shape:
            parts.append(f"{name}: {len(one)} against {len(other)}")
        else:
            off = np.abs(one - other)
            parts.append(f"{name}: median {np.nanmedian(off):.2g}" if np.isfinite(off).any() else f"{name}: unknown")
    return "; ".join(parts)


def _numbers(signal: Signal | NoEstimate) -> np.ndarray | None:
    """What is compared: ln of depth, pixels, radians, metres, scores."""
    match signal:
        case Depth():
            return np.log(signal.z)
        case CameraPath():
            return signal.world_from_cam
        case Gravity():
            return signal.up_cam
        case Calibration():
            return np.log([signal.intrinsics.fy_px])
        case ImageTracks() | PointTracks():
            return signal.xy_px
        case Objects():
            return signal.score
        case ObjectOrientation():
            return signal.azimuth_rad
    return None


def _angle_deg(a: Sequence[float] | np.ndarray, b: Sequence[float] | np.ndarray) -> float:
    return float(np.rad2deg(np.arctan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b))))


def _none(check: str, expected: str, signal: Signal | NoEstimate) -> Row:
    assert isinstance(signal, NoEstimate)
    return Row(check=check, expected=expected, measured=f"no estimate: {signal.reason}", holds=False)
