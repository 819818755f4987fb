"""Oriented boxes in space, asked for as nine numbers by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial.transform import Rotation

from templates.answers.answer import Answer, Errors, Recorded, Rows, by_name, listed, numbers_of
from templates.answers.box import LEAST_IOU
from templates.answers.sampling import normals, uniform
from templates.answers.score import UnscorableError
from templates.columns import Json
from templates.question import Question

NAMES = ("u", "v", "z", "x_size", "y_size", "z_size", "roll", "pitch", "yaw")
"""Centre in thousandths of the picture's width and height, its depth in m; sides in m; angles in degrees. The box has
the rotation Ry(yaw) · Rx(pitch) · Rz(roll) in camera axes (x right, y down, z ahead)."""
_UNITS = ("", "", "m", "m", "m", "m", "deg", "deg", "deg")
_DECIMALS = (0, 0, 2, 2, 2, 2, 0, 0, 0)
_SAMPLES = 256
_POINTS, _POINTS_OF_A_SAMPLE = 4096, 256


@dataclass(frozen=True, kw_only=True)
class Box3D(Answer):
    """An oriented box in space. Right: intersection over union (IoU) with the true one of at least a half."""

    name: ClassVar[str] = "box_3d"
    numbers: ClassVar[str] = "value"

    value: Float[np.ndarray, "*n 9"]
    """In the order of `NAMES`."""
    sigma: Float[np.ndarray, "*n 9"]
    camera: Float[np.ndarray, "*n 4"]
    """fx, fy, cx, cy in thousandths of width (x) and height (y)."""

    def p_within(self) -> Rows:
        """Share of samples of the nine numbers whose box overlaps enough with this one."""
        known = np.isfinite(self.sigma).all(axis=-1)
        enough = np.mean([overlap >= LEAST_IOU for overlap in self._ious_of_samples(self)], axis=0)
        return np.where(known, enough, 0.0)

    def _ious_of_samples(self, other: "Box3D") -> Iterator[Float[np.ndarray, "..."]]:
        """Overlaps with samples of another box."""
        sigma = np.nan_to_num(other.sigma, nan=0.0, posinf=0.0)
        points = _Placed(self.value, self.camera).points(_POINTS_OF_A_SAMPLE)
        return (self._iou(other.value + sigma * step, points) for step in normals(len(NAMES))[:_SAMPLES])

    def iou(self, other: Float[np.ndarray, "*m 9"]) -> Float[np.ndarray, "..."]:
        """Intersection over union with other boxes before the same camera."""
        return self._iou(other, _Placed(self.value, self.camera).points(_POINTS))

    def _iou(self, other: Float[np.ndarray, "*m 9"], points: Float[np.ndarray, "*n 3 k"]) -> Float[np.ndarray, "..."]:
        """By the share of points of this box that lie in the other one."""
        theirs, own_volume = _Placed(other, self.camera), self.value[..., 3:6].prod(axis=-1)
        common = own_volume * theirs.share(points)
        return np.asarray(common / (own_volume + theirs.volume - common))

    @property
    def limits(self) -> Float[np.ndarray, "*n 1"]:
        """The largest 1 - IoU."""
        return np.full((*self.value.shape[:-1], 1), 1 - LEAST_IOU)

    def error(self, truth: "Box3D") -> tuple[Float[np.ndarray, "*n 1"], Float[np.ndarray, "... 1"]]:
        """1 - IoU; its σ is that over samples of the true box."""
        known = np.isfinite(truth.sigma).all(axis=-1)
        spread = np.std(list(self._ious_of_samples(truth)), axis=0)
        return 1 - self.iou(truth.value)[..., None], np.where(known, spread, np.inf)[..., None]

    def difference(self, truth: "Box3D") -> Errors:
        """Differences of the nine numbers."""
        return by_name(NAMES, self.value - truth.value), by_name(NAMES, np.hypot(self.sigma, truth.sigma))

    def repeats(self, other: "Box3D") -> Bool[np.ndarray, "*n"]:
        """They overlap enough."""
        return np.asarray(self.iou(other.value) >= LEAST_IOU)

    def tolerance_in_words(self) -> str:
        """ "overlap (IoU) of at least 0.5"."""
        return f"overlap (IoU) of at least {LEAST_IOU}"

    def to_json(self) -> Recorded:
        """An object of nine numbers; their units and the camera are parameters of the score."""
        params = {"units": by_name(NAMES, _UNITS), "camera": self.camera.tolist()}
        rounded = [round(number, places) + 0.0 for number, places in zip(self.value.tolist(), _DECIMALS, strict=True)]
        return Recorded(
            value=by_name(NAMES, self.value),
            answer=by_name(NAMES, rounded),
            sigma=by_name(NAMES, listed(self.sigma)),
            tolerance=1 - LEAST_IOU,
            scorer_params=params,
        )

    @classmethod
    def from_json(cls, question: Question) -> "Box3D":
        """Raises `UnscorableError` where a number is missing."""
        value, camera = _numbers(question.value), np.array(question.scorer_params["camera"], dtype=float)
        if value is None or camera.shape != (4,):
            raise UnscorableError("no box of nine numbers with its camera")
        return cls(value=value, sigma=numbers_of(question.sigma, NAMES), camera=camera)

    def predicted(self, value: Json) -> "Box3D | None":
        """An object of nine numbers; depth and sides are positive."""
        found = _numbers(value)
        return None if found is None else replace(self, value=found)

    def detail(self, prediction: "Box3D") -> Mapping[str, Json]:
        """The IoU."""
        return {"iou": float(self.iou(prediction.value))}

    def guess(self, width_px: int, height_px: int, rng: np.random.Generator) -> Json:
        """A random box of a room."""
        low, high = [0, 0, 0.5, *[0.2] * 3, 0, 0, -180], [1000, 1000, 6, *[2] * 3, 0, 0, 180]
        return by_name(NAMES, rng.uniform(low, high).round(2))

    def near_misses(self) -> Iterator[Json]:
        """The box behind it; one that is too large."""
        yield by_name(NAMES, (self.value + 2 * self.value[3:6].max() * np.eye(9)[NAMES.index("z")]).round(2))
        yield by_name(NAMES, (self.value * [1, 1, 1, 2, 2, 2, 1, 1, 1]).round(2))


class _Placed:
    """Boxes in camera axes, with leading axes that broadcast."""

    def __init__(self, value: Float[np.ndarray, "*n 9"], camera: Float[np.ndarray, "*m 4"]) -> None:
        x, y = np.moveaxis((value[..., :2] - camera[..., 2:]) / camera[..., :2], -1, 0)
        self.centre = np.stack([x, y, np.ones_like(x)], axis=-1) * value[..., 2:3]
        self.size = np.maximum(value[..., 3:6], 0)
        self.volume = self.size.prod(axis=-1)
        angles = value[..., [8, 7, 6]].reshape(-1, 3)
        matrices = Rotation.from_euler("YXZ", angles, degrees=True).as_matrix()
        self.camera_from_box = matrices.reshape(*value.shape[:-1], 3, 3)

    def points(self, count: int) -> Float[np.ndarray, "*n 3 k"]:
        """Points that fill the box evenly."""
        inside = (uniform(3, count).T - 0.5) * self.size[..., None]
        return np.asarray(self.camera_from_box @ inside + self.centre[..., None])

    def share(self, xyz: Float[np.ndarray, "*m 3 k"]) -> Float[np.ndarray, "..."]:
        """Share of the points that lie in the box."""
        local = np.swapaxes(self.camera_from_box, -1, -2) @ (xyz - self.centre[..., None])
        return np.asarray((np.abs(local) <= self.size[..., None] / 2).all(axis=-2).mean(axis=-1))


def _numbers(value: Json) -> Float[np.ndarray, "9"] | None:
    """Nine numbers; None where one is missing, or depth or a side is not positive."""
    found = numbers_of(value, NAMES)
    return found if np.isfinite(found).all() and (found[2:6] > 0).all() else None
