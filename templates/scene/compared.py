"""How two objects or two points of a photo lie as compared with each other: sideways, in height, in distance."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from templates.columns import Columns
from templates.scene.object_boxes import Number, Row, corners_cam, range_to_boxes
from templates.scene.scene import Scene
from templates.scene.surface import Surface

AXES = (("to the left", "to the right"), ("higher", "lower"), ("nearer", "farther"))
"""What may be said of the first one: in the photo, along gravity, and from the camera."""
SIDEWAYS, HEIGHT, DISTANCE = range(len(AXES))
_APART = 0.05
"""Least gap sideways, between boxes or points, as a share of the photo's diagonal."""
_BORDER_PX = 2.0
"""σ of the left and right ends of an object in the photo (at 640 px width)."""
_LARGEST_ROLL_RAD = np.radians(20)
"""Of a camera in whose photos left and right are words of everyday."""
VISIBLE_RISE = 0.05
"""Least difference of heights that people can see, as a share of the larger distance from the camera."""
_RANGE, _LOG_RANGE = 0.1, np.log(1.25)
"""Least differences of distance: of boxes as a share of the smaller one, and |ln| of the ratio of those of points."""
Boxes = Float64[np.ndarray, "n 2 2"]


@dataclass(frozen=True, kw_only=True)
class Compared(Columns):
    """How the first of each of n pairs differs from the second one, along each of `AXES`."""

    value: Float64[np.ndarray, "n 3"]
    """> 0: the second of the two words holds; NaN where unknown. Sideways as a share of the diagonal, heights and
    distances as shares of distances; those of points as ln of their ratio."""
    sigma: Float64[np.ndarray, "n 3"]
    clear: Bool[np.ndarray, "n 3"]
    """Whether people see the difference."""
    pictured: Bool[np.ndarray, "n 3"]
    """Whether the picture alone suggests the second word: what is higher there is higher, what is larger or lower there
    is nearer."""
    level: Bool[np.ndarray, "n"]
    """Whether the camera is held nearly upright."""

    @property
    def true(self) -> np.ndarray:
        """The true words: (n, 3)."""
        return in_words(self.value > 0)

    @property
    def false(self) -> np.ndarray:
        """The opposite ones."""
        return in_words(~(self.value > 0))


def in_words(second: Bool[np.ndarray, "n 3"]) -> np.ndarray:
    """The second word of each axis, or else the first: (n, 3)."""
    first_words, second_words = np.array(AXES).T
    return np.where(second, second_words, first_words)


def compared_objects(scene: Scene, frame: Row, a: Row, b: Row, a_box_px: Boxes, b_box_px: Boxes) -> Compared:
    """Compares the objects a and b, which the photos show in these boxes."""
    up, up_sigma = scene.up_cam(frame)
    (a_corners, a_sigma), (b_corners, b_sigma) = (corners_cam(scene, frame, object) for object in (a, b))
    (a_range, a_range_sigma), (b_range, b_range_sigma) = (range_to_boxes(scene, frame, object) for object in (a, b))
    apart, smaller = _apart(a_box_px, b_box_px), np.fmin(a_range, b_range)
    ends = _ends(a_corners, up) - _ends(b_corners, up)
    between = a_corners.mean(axis=1) - b_corners.mean(axis=1)
    further = np.linalg.norm(a_corners.mean(axis=1), axis=1) - np.linalg.norm(b_corners.mean(axis=1), axis=1)
    larger = np.fmax(*(np.linalg.norm(corners.mean(axis=1), axis=1) for corners in (a_corners, b_corners)))
    lower = -ends.mean(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        across = np.sqrt(np.maximum(np.einsum("ni,ni->n", between, between) - lower**2, 0))
        value = np.column_stack([apart / scene.diagonal_px, lower / larger, (a_range - b_range) / smaller])
        sigma = np.column_stack(
            [
                np.full(len(frame), np.sqrt(2) * _border(scene)),
                np.sqrt(a_sigma**2 + b_sigma**2 + (across * up_sigma) ** 2) / larger,
                np.hypot(a_range_sigma, b_range_sigma) / smaller,
            ]
        )
        agree = np.column_stack(
            [np.ones(len(frame), dtype=bool), ends.prod(axis=1) > 0, further * (a_range - b_range) > 0]
        )
        clear = agree & (np.abs(value) >= [_APART, VISIBLE_RISE, _RANGE])
    middle = (a_box_px - b_box_px).mean(axis=1)
    return Compared(
        value=value,
        sigma=sigma,
        clear=clear,
        pictured=np.column_stack([middle[:, 0] > 0, middle[:, 1] > 0, _area(a_box_px) < _area(b_box_px)]),
        level=_level(up),
    )


def compared_points(
    scene: Scene, frame: Row, a_px: Float64[np.ndarray, "n 2"], b_px: Float64[np.ndarray, "n 2"]
) -> Compared:
    """Compares what the photos show at pixels a and b. They are nearer or farther only if their depths say so, too."""
    a, b = scene.surface(frame, a_px), scene.surface(frame, b_px)
    (up, _), (drop, drop_sigma) = scene.up_cam(frame), rise(scene, frame, a, b)
    offset = (a_px - b_px) / scene.diagonal_px
    with np.errstate(invalid="ignore", divide="ignore"):
        farther, deeper = np.log(a.range / b.range), a.xyz_cam[:, 2] - b.xyz_cam[:, 2]
        value = np.column_stack([offset[:, 0], drop, farther])
        range_sigma = np.hypot(a.range_relative_sigma, b.range_relative_sigma)
        clear = np.abs(value) >= [_APART, VISIBLE_RISE, _LOG_RANGE]
        clear[:, DISTANCE] &= farther * deeper > 0
    return Compared(
        value=value,
        sigma=np.column_stack([np.full(len(frame), _border(scene)), drop_sigma, range_sigma]),
        clear=clear,
        pictured=np.column_stack([offset[:, 0] > 0, offset[:, 1] > 0, offset[:, 1] < 0]),
        level=_level(up),
    )


def rise(scene: Scene, frame: Row, a: Surface, b: Surface) -> tuple[Number, Number]:
    """How much higher b lies than a, and its σ, both as shares of the larger range; NaN where unknown.

    σ: both ranges ⊕ the direction of up, which moves points by their horizontal distance ⊕ the focal length, which
    widens or narrows both directions alike.
    """
    up, up_sigma = scene.up_cam(frame)
    with np.errstate(invalid="ignore", divide="ignore"):
        heights = [np.einsum("ni,ni->n", each.xyz_cam, up) for each in (a, b)]
        between = b.xyz_cam - a.xyz_cam
        difference, larger = heights[1] - heights[0], np.fmax(a.range, b.range)
        level = np.linalg.norm(between - difference[:, None] * up, axis=1)
        sigma = np.sqrt(
            (heights[0] * a.range_relative_sigma) ** 2
            + (heights[1] * b.range_relative_sigma) ** 2
            + (level * up_sigma) ** 2
            + (np.einsum("ni,ni->n", between[:, :2], up[:, :2]) * scene.focal_relative_sigma) ** 2
        )
        return difference / larger, sigma / larger


def _border(scene: Scene) -> float:
    return _BORDER_PX * scene.pixel_scale / scene.diagonal_px


def _level(up: Float64[np.ndarray, "n 3"]) -> Bool[np.ndarray, "n"]:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(np.arctan2(up[:, 0], -up[:, 1])) <= _LARGEST_ROLL_RAD)


def _apart(a_px: Boxes, b_px: Boxes) -> Number:
    """Gap between two boxes along x; > 0 if a is on the right, 0 if they overlap."""
    return np.maximum(a_px[:, 0, 0] - b_px[:, 1, 0], 0) - np.maximum(b_px[:, 0, 0] - a_px[:, 1, 0], 0)


def _area(box_px: Boxes) -> Number:
    return np.prod(box_px[:, 1] - box_px[:, 0], axis=1)


def _ends(corners: Float64[np.ndarray, "n 8 3"], up: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n 2"]:
    """Heights of the lowest and the highest corner."""
    heights = np.einsum("nki,ni->nk", corners, up)
    return np.column_stack([heights.min(axis=1), heights.max(axis=1)])
