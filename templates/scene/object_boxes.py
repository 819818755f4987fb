"""What the oriented boxes of objects say: distance, sides, volume, and which way a front faces."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from experts.objects.box_corners import box_corners
from experts.signals import Objects
from templates.columns import Columns
from templates.scene.scene import Scene, find_rows

_LARGEST_TILT_RAD = np.radians(10)
"""Of an upright box."""
_UNFILLED = 0.25
"""Of a chair, the corner of its box that is nearest to the camera may be empty."""
Number = Float64[np.ndarray, "n"]
Row = Int64[np.ndarray, "n"]


def range_to_boxes(scene: Scene, frame: Row, object: Row) -> tuple[Number, Number]:
    """Distance from the camera of each photo to the nearest point of an object's box, and its σ; NaN where unknown.

    No object fills its box: σ includes a share of the way from the nearest point of the box to its centre. Sides whose
    far end nobody saw count as seen. An object with a place but no box reaches nearer by half of the σ of its place,
    which is a share of its extent.
    """
    known, pose, size, centre_sigma, size_sigma = boxes_of(scene, frame, object)
    offset = scene.world_from_cam(frame)[:, :3, 3] - pose[:, :3, 3]
    local = np.einsum("nji,nj->ni", pose[:, :3, :3], offset)
    distance = np.linalg.norm(np.maximum(np.abs(local) - size / 2, 0), axis=1)
    unfilled = _UNFILLED * (np.linalg.norm(offset, axis=1) - distance)
    side_sigma = np.where(np.isinf(size_sigma), 0.0, size_sigma).max(axis=1)
    sigma = np.sqrt(centre_sigma**2 + (side_sigma / 2) ** 2 + unfilled**2)
    without_box = np.isnan(size).any(axis=1)
    distance = np.where(without_box, np.linalg.norm(offset, axis=1) - centre_sigma / 2, distance)
    return np.where(known, distance, np.nan), np.where(known, np.where(without_box, centre_sigma, sigma), np.nan)


@dataclass(frozen=True, kw_only=True)
class UprightSides(Columns):
    """Sides of the boxes of n objects, in path units; NaN where they are not known or the box is not upright."""

    width: Number
    """The longer horizontal side."""
    width_sigma: Number
    """Both sides may be the longer one where they differ by less than their σ: σ includes that difference."""
    depth: Number
    """The shorter horizontal side."""
    depth_sigma: Number
    """As that of the width."""
    height: Number
    height_sigma: Number
    """Includes by how much the top leans."""


def upright_sides(scene: Scene, frame: Row, object: Row) -> UprightSides:
    """Width and height of objects by their boxes."""
    known, pose, size, _, size_sigma = boxes_of(scene, frame, object)
    up_cam, up_sigma = scene.up_cam(frame)
    up = np.einsum("nij,nj->ni", scene.world_from_cam(frame)[:, :3, :3], up_cam)
    along_up = np.abs(np.einsum("nji,nj->ni", pose[:, :3, :3], up))
    lean = np.arccos(np.clip(along_up.max(axis=1), -1, 1)) + up_sigma
    with np.errstate(invalid="ignore"):
        known &= lean < _LARGEST_TILT_RAD
    vertical = np.where(np.isnan(along_up), 0, along_up).argmax(axis=1)
    row, across = np.arange(len(frame)), np.array([[1, 2], [0, 2], [0, 1]])[vertical]
    sides, sigmas = (each[row[:, None], across] for each in (size, size_sigma))
    longer, shorter = sides.argmax(axis=1), sides.argmin(axis=1)
    width, depth = sides[row, longer], sides[row, shorter]
    columns = {
        "width": width,
        "width_sigma": np.fmax(sigmas[row, longer], _may_be_longer(sides, sigmas)),
        "depth": depth,
        "depth_sigma": np.fmax(sigmas[row, shorter], _may_be_shorter(sides, sigmas)),
        "height": size[row, vertical],
        "height_sigma": np.hypot(size_sigma[row, vertical], np.sin(lean) * width),
    }
    return UprightSides(**{name: np.where(known, column, np.nan) for name, column in columns.items()})


def volumes(scene: Scene, frame: Row, object: Row) -> tuple[Number, Number]:
    """ln of the volumes of the boxes of objects, in path units, and its σ; NaN where unknown."""
    known, _, size, _, size_sigma = boxes_of(scene, frame, object)
    with np.errstate(divide="ignore", invalid="ignore"):
        value, sigma = np.log(size).sum(axis=1), np.linalg.norm(size_sigma / size, axis=1)
    known = known & np.isfinite(value)
    return np.where(known, value, np.nan), np.where(known, sigma, np.nan)


def longest_sides(scene: Scene, frame: Row, object: Row) -> Number:
    """The longest side of the box of each object, in path units; NaN where unknown."""
    known, _, size, _, _ = boxes_of(scene, frame, object)
    return np.where(known, size.max(axis=1), np.nan)


def corners_cam(scene: Scene, frame: Row, object: Row) -> tuple[Float64[np.ndarray, "n 8 3"], Number]:
    """Corners of the box of each object in the camera axes of its photo, and the σ of their places; NaN where unknown.

    Sides whose far end nobody saw count as seen.
    """
    known, pose, size, centre_sigma, size_sigma = boxes_of(scene, frame, object)
    xyz_cam = box_corners(np.linalg.inv(_or_identity(scene.world_from_cam(frame))) @ pose, size)
    known = known & np.isfinite(scene.world_from_cam(frame)).all(axis=(1, 2)) & np.isfinite(xyz_cam).all(axis=(1, 2))
    side_sigma = np.where(np.isinf(size_sigma), 0.0, size_sigma).max(axis=1)
    sigma = np.hypot(centre_sigma, side_sigma / 2)
    return np.where(known[:, None, None], xyz_cam, np.nan), np.where(known, sigma, np.nan)


def _or_identity(poses: Float64[np.ndarray, "n 4 4"]) -> Float64[np.ndarray, "n 4 4"]:
    """The poses; the identity where one is unknown, so that all have an inverse."""
    return np.where(np.isfinite(poses).all(axis=(1, 2))[:, None, None], poses, np.eye(4))


def _may_be_longer(sides: Float64[np.ndarray, "n 2"], sigmas: Float64[np.ndarray, "n 2"]) -> Number:
    """How far beyond the longer side the other one reaches within its σ."""
    return np.max(sides + sigmas, axis=1) - sides.max(axis=1)


def _may_be_shorter(sides: Float64[np.ndarray, "n 2"], sigmas: Float64[np.ndarray, "n 2"]) -> Number:
    """How far below the shorter side the other one reaches within its σ. One whose far end nobody saw is not shorter
    than what is seen of it."""
    return sides.min(axis=1) - np.min(sides - np.where(np.isinf(sigmas), 0.0, sigmas), axis=1)


@dataclass(frozen=True, kw_only=True)
class Fronts(Columns):
    """The fronts of n objects, each in a photo; NaN and -1 where unknown."""

    azimuth_rad: Number
    """As in `ObjectOrientation`."""
    sigma_rad: Number
    fronts: Row
    outlier_probability: Number
    """That the front is really another side."""


def fronts_of(scene: Scene, frame: Row, object: Row) -> Fronts:
    """What the orientation of objects says of their fronts."""
    facing, nan = scene.orientation, np.full(len(frame), np.nan)
    if facing is None or not len(facing.frames):
        return Fronts(azimuth_rad=nan, sigma_rad=nan, fronts=np.full(len(frame), -1), outlier_probability=nan)
    rows = find_rows(facing.frames, frame)
    known = (rows >= 0) & (object >= 0)
    at = np.where(known, rows, 0), np.where(known, object, 0)
    wrong = facing.outlier_probability
    return Fronts(
        azimuth_rad=np.where(known, facing.azimuth_rad[at], np.nan),
        sigma_rad=np.where(known, facing.sigma_rad[at][:, 0], np.nan),
        fronts=np.where(known, facing.fronts[at], -1).astype(np.int64),
        outlier_probability=np.where(known, 0.0 if wrong is None else wrong[at], np.nan),
    )


def outliers(scene: Scene, *objects: Row) -> Number:
    """Probability that the place or the mask of any of the objects of each row is that of another one.

    Names count nothing: questions use only those that are sure.
    """
    known = None if scene.objects is None else scene.objects.outlier_probability
    if known is None:
        return np.zeros(len(objects[0]))
    return 1 - np.prod([1 - np.where(each < 0, 1.0, known[each]) for each in objects], axis=0)


def boxes_of(scene: Scene, frame: Row, object: Row) -> tuple[np.ndarray, ...]:
    """Whether each is known, and its pose, size, σ of its centre and σ of its sides, in path units."""
    objects = scene.objects
    if objects is None or objects.size is None or not objects.labels:
        nan = np.full((len(frame), 4, 4), np.nan)
        return np.zeros(len(frame), dtype=bool), nan, nan[:, 0, :3], nan[:, 0, 0], nan[:, 0, :3]
    rows = find_rows(objects.frames, frame)
    known = (rows >= 0) & (object >= 0)
    row, k = np.where(known, rows, 0), np.where(known, object, 0)
    return known, objects.world_from_object[row, k], objects.size[k], *(each[k] for each in _sigmas(objects))


def _sigmas(objects: Objects) -> tuple[Number, Float64[np.ndarray, "n 3"]]:
    """Of centres and sides; 0 for ground truth."""
    count = len(objects.labels)
    centre, size = objects.centre_sigma, objects.size_sigma
    return np.zeros(count) if centre is None else centre, np.zeros((count, 3)) if size is None else size
