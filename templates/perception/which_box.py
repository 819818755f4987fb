"""L1/Localization/3D Grounding: which of four boxes drawn in perspective encloses an object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.objects.box_corners import box_corners
from templates.answers import Answer
from templates.columns import Json
from templates.facts import Facts, ObjectRefs
from templates.measured import Measured, first_reason
from templates.media import Mark, Outline, Photo
from templates.offer import Offer
from templates.perception.nearest_option import MARKS, margin, named, nearest, right_and_others
from templates.question import FormatName, Phrasing
from templates.scene.object_boxes import boxes_of, outliers
from templates.scene.objects import boxed, found_again, seen_objects
from templates.scene.scene import Scene
from templates.template import Template

_POINT = "P"
_TURN_RAD = np.radians(35)
_NEARER, _FARTHER = 0.75, 1.25
"""Factors of the distance of mistaken boxes, ..."""
_SMALLER, _LARGER = 0.75, 1.3
"""... and of their sides."""
_TRIES, _CHOICE = 8, 3
"""Objects drawn for each one that is asked for, and how many of them may be asked about: not all boxes are large enough
and differ enough."""
_MOST_IOU = 0.6
"""Largest overlap of two boxes in space."""
_ERROR, _STEP = 0.025, 0.07
"""Largest error of the right box, and least difference between its error and that of any other one, as shares of its
diagonal in the photo."""
_LARGEST_TILT_RAD = np.radians(10)
_LEAST_DIAGONAL = 0.12
"""Of a box in the photo, as a share of the photo's."""
_BORDER = 0.02
"""Least distance of drawn boxes from the edges of the photo, as a share of its sides."""
_GRID = np.stack(np.meshgrid(*[np.linspace(-0.4, 0.4, 5)] * 3), axis=-1).reshape(-1, 3)
_FACES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
"""Corners of each face of a box, in the order of `box_corners`: clockwise as the box is seen from outside."""
Poses = Float64[np.ndarray, "*n 4 4"]
Sizes = Float64[np.ndarray, "*n 3"]


@dataclass(frozen=True, kw_only=True)
class DrawnBoxes(Facts):
    """An object of a photo, and four boxes drawn in perspective."""

    object: ObjectRefs
    corners_px: Float64[np.ndarray, "n 4 8 2"]
    """Of each box, in the order of `box_corners`."""


@dataclass(frozen=True, kw_only=True)
class WhichBox(Template):
    """Which of four boxes drawn in perspective is the smallest upright box around an object. Measures how far the
    corners of each lie from those of the measured box, as a share of its diagonal in the photo."""

    name: str = "which_box"
    version: str = "1"
    ability: str = "L1/Localization/3D Grounding"
    formats: tuple[FormatName, ...] = ("choice",)
    facts: ClassVar[type[Facts]] = DrawnBoxes
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": MARKS}
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> DrawnBoxes:
        """Whole objects with their boxes and three mistaken ones, in random order."""
        seen = boxed(seen_objects(scene), scene)
        if scene.path is None or not len(seen):
            return DrawnBoxes.none()
        seen = seen.take(rng.choice(len(seen), _TRIES * count))
        pose, size, _ = _upright_boxes(scene, seen.frame, seen.object)
        poses, sizes = _with_mistakes(pose, size)
        corners = _corners_px(scene.path.intrinsics, poses, sizes)
        drawable = _drawable(scene, corners)
        known = np.flatnonzero(drawable[:, 0])[: _CHOICE * count]
        seen, poses, sizes, corners = seen.take(known), poses[known], sizes[known], corners[known]
        apart = (_error(corners[:, None], corners[:, :, None]) >= _STEP) & (_iou(poses, sizes) <= _MOST_IOU)
        apart &= apart.swapaxes(1, 2)
        m = range(apart.shape[1])
        apart[:, m, m] = drawable[known]
        rows, chosen = right_and_others(apart, rng)
        rows, chosen = rows[:count], chosen[:count]
        return DrawnBoxes(object=seen.take(rows).refs(), corners_px=corners[rows[:, None], chosen])

    def measure(self, facts: DrawnBoxes, scene: Scene) -> Measured:
        """The box with the smallest error."""
        found = found_again(scene, facts.object)
        pose, size, sigma = _upright_boxes(scene, facts.object.frame, found)
        if scene.path is None:
            return Measured.none(len(facts), "no camera path", len(MARKS))
        poses, sizes = _with_mistakes(pose, size)
        corners = _corners_px(scene.path.intrinsics, poses, sizes)
        error = _error(facts.corners_px, corners[:, :1])
        label, cases = nearest(error, _ERROR, 0.9 * _STEP)
        spread = np.repeat((sigma / np.linalg.norm(size, axis=1))[:, None], len(MARKS), axis=1)
        traps = {
            name: named(_error(facts.corners_px, corners[:, k][:, None]), _ERROR)
            for k, name in enumerate(_MISTAKES, start=1)
        }
        return Measured(
            why=first_reason(
                len(facts),
                {
                    "an object is not found again": found < 0,
                    "the box of an object is not known": ~np.isfinite(error + spread).all(axis=1),
                    **cases,
                },
            ),
            value=error,
            sigma=spread,
            label=label,
            margin=margin(error, spread),
            outlier_probability=outliers(scene, found),
            evidence={"box_off_by": error.min(axis=1).round(4), "boxes_off_percent": (100 * error).round(1)},
            traps=traps,
        )

    def answer(self, format: FormatName, facts: Facts, measured: Measured) -> Answer:
        """The number of the photo."""
        return measured.as_label()

    def phrase(self, format: FormatName, fact: Mapping[str, Json], answer: Answer, offer: Offer | None) -> Phrasing:
        """The same photo four times, each with the object marked and a box drawn in perspective."""
        point = Mark(text=_POINT, xy_px=tuple(fact["object"]["inside_px"]))
        photos = (Photo(frame=fact["object"]["frame"], marks=(point, *_drawn(np.array(c)))) for c in fact["corners_px"])
        return Phrasing(media=tuple(photos))


_MISTAKES = (
    "sides exchanged",
    "turned to the left",
    "turned to the right",
    "placed too near",
    "placed too far",
    "taken for smaller",
    "taken for larger",
)


def _upright_boxes(
    scene: Scene, frame: Int64[np.ndarray, "n"], object: Int64[np.ndarray, "n"]
) -> tuple[Poses, Sizes, Float64[np.ndarray, "n"]]:
    """Boxes of objects in camera axes, their last axis up, and the σ of their corners; NaN where unknown or not
    upright."""
    known, pose, size, centre_sigma, size_sigma = boxes_of(scene, frame, object)
    with np.errstate(invalid="ignore"):
        cam_from_box = np.linalg.inv(np.where(known[:, None, None], scene.world_from_cam(frame), np.eye(4))) @ pose
    up, up_sigma = scene.up_cam(frame)
    along = np.einsum("nji,nj->ni", cam_from_box[:, :3, :3], up)
    vertical = np.abs(np.nan_to_num(along)).argmax(axis=1)
    with np.errstate(invalid="ignore"):
        lean = np.arccos(np.clip(np.abs(along).max(axis=1), -1, 1)) + up_sigma
        known = known & (lean < _LARGEST_TILT_RAD) & (cam_from_box[:, 2, 3] > 0)
    order = np.array([[1, 2, 0], [2, 0, 1], [0, 1, 2]])[vertical]  # cyclic: a rotation remains one
    axes = np.take_along_axis(cam_from_box[:, :3, :3], order[:, None], axis=2)
    turned = np.concatenate([np.concatenate([axes, cam_from_box[:, :3, 3:]], axis=2), cam_from_box[:, 3:]], axis=1)
    sigma = np.hypot(centre_sigma, np.linalg.norm(size_sigma, axis=1) / 2)
    turned, size = (
        np.where(known.reshape(-1, *[1] * (each.ndim - 1)), each, np.nan)
        for each in (turned, np.take_along_axis(size, order, axis=1))
    )
    return turned, size, sigma


def _with_mistakes(pose: Float64[np.ndarray, "n 4 4"], size: Float64[np.ndarray, "n 3"]) -> tuple[Poses, Sizes]:
    """The boxes, and those of `_MISTAKES`, in this order."""
    count = 1 + len(_MISTAKES)
    poses, sizes = (np.repeat(each[:, None], count, axis=1) for each in (pose, size))
    sizes[:, 1] = size[:, [1, 0, 2]]
    for k, angle in ((2, _TURN_RAD), (3, -_TURN_RAD)):
        poses[:, k, :3, :3] = pose[:, :3, :3] @ Rotation.from_euler("z", angle).as_matrix()
    for k, factor in ((4, _NEARER), (5, _FARTHER)):
        poses[:, k, :3, 3] *= factor
    for k, factor in ((6, _SMALLER), (7, _LARGER)):
        sizes[:, k] *= factor
    return poses, sizes


def _corners_px(camera: Intrinsics, poses: Poses, sizes: Sizes) -> Float64[np.ndarray, "n m 8 2"]:
    """NaN where a corner is not ahead of the camera."""
    xyz = box_corners(poses, sizes)
    with np.errstate(invalid="ignore", divide="ignore"):
        xy = camera.project(xyz.reshape(-1, 3)).reshape(*xyz.shape[:-1], 2)
        return np.where(xyz[..., 2].min(axis=-1)[..., None, None] > 0, xy, np.nan)


def _error(
    drawn_px: Float64[np.ndarray, "*n 8 2"], right_px: Float64[np.ndarray, "*m 8 2"]
) -> Float64[np.ndarray, "*k"]:
    """Mean distance of the corners of boxes from the nearest corner of others and the other way round, whichever is
    larger, as a share of the diagonal of the others."""
    away = np.linalg.norm(drawn_px[..., :, None, :] - right_px[..., None, :, :], axis=-1)
    diagonal = np.linalg.norm(np.ptp(right_px, axis=-2), axis=-1)
    return np.asarray(np.maximum(away.min(axis=-1).mean(axis=-1), away.min(axis=-2).mean(axis=-1)) / diagonal)


def _iou(poses: Poses, sizes: Sizes) -> Float64[np.ndarray, "n m m"]:
    """Overlap in space of each two boxes, by points that fill the first one."""
    turn, centre = poses[..., :3, :3], poses[..., :3, 3:]
    xyz = turn @ (_GRID.T * sizes[..., None]) + centre
    local = turn[:, :, None].swapaxes(-1, -2) @ (xyz[:, None] - centre[:, :, None])
    inside = (np.abs(local) <= sizes[:, :, None, :, None] / 2).all(axis=-2).mean(axis=-1)
    volume = sizes.prod(axis=-1)
    common = inside * volume[:, None, :]
    return np.asarray(common / (volume[:, None, :] + volume[:, :, None] - common))


def _drawable(scene: Scene, corners_px: Float64[np.ndarray, "n m 8 2"]) -> Bool[np.ndarray, "n m"]:
    """Whether boxes lie within the photo and are large enough for people to tell them apart."""
    size = np.array([scene.clip.width_px, scene.clip.height_px])
    with np.errstate(invalid="ignore"):
        inside = ((corners_px >= _BORDER * size) & (corners_px <= (1 - _BORDER) * size)).all(axis=(2, 3))
        large = np.linalg.norm(np.ptp(corners_px, axis=2), axis=2) >= _LEAST_DIAGONAL * scene.diagonal_px
    return np.asarray(inside & large)


def _drawn(corners_px: Float64[np.ndarray, "8 2"]) -> list[Outline]:
    """The faces of a box that look at the camera."""
    found = []
    for face in corners_px[_FACES]:
        (ax, ay), (bx, by) = face[1] - face[0], face[2] - face[0]
        if ax * by - ay * bx > 0:  # y is down: clockwise faces have a positive area
            found.append(Outline(points_px=tuple((float(x), float(y)) for x, y in face)))
    return found
