"""L1/Motion/Allo: whether an object turns, and which way, whatever the camera does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial.transform import Rotation

from templates.measured import Measured, first_reason
from templates.perception.allo_motion import alternating
from templates.perception.comes_or_goes import InTwoPhotos
from templates.question import FormatName
from templates.scene.moving_objects import NOT_FOUND, NOT_PLACED, MovedObject, followed, moved_objects
from templates.scene.object_boxes import fronts_of, outliers
from templates.scene.scene import Scene, find_rows

_CW, _CCW, _NOT = _TURNS = ("clockwise", "counterclockwise", "not")
_LEAST_TURN_DEG, _LARGEST_TURN_DEG, _NO_TURN_DEG = 20.0, 120.0, 3.0
"""A turn that is seen, one that could be taken for the other way round, and none."""
_BACK_DEG = 10.0
"""Between the photos, an object that turns one way turns back by at most this angle."""
_LARGEST_STEP_DEG = 60.0
"""Between neighbouring known poses: how an object turns more cannot be told from the other way round."""
_LARGEST_SWING_DEG = 10.0
"""Of the up axis of an object that turns on the floor."""
_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class ObjectTurns(InTwoPhotos):
    """Whether an object turns about the vertical, and which way, seen from above. Measures the angle in degrees,
    counterclockwise."""

    name: str = "object_turns"
    labels: ClassVar[Mapping[FormatName, tuple[str, ...]]] = {"choice": _TURNS}
    needs: frozenset[str] = frozenset({"camera_path", "objects", "gravity"})
    reads: frozenset[str] = frozenset({"camera_path", "objects", "object_orientation", "gravity"})

    def propose(self, scene: Scene, rng: np.random.Generator, count: int) -> MovedObject:
        """Random objects that move or turn, in two photos; by turns such that turn and such that do not."""
        drawn = moved_objects(scene, rng, _TRIES * count)
        found = self.measure(drawn, scene)
        assert found.label is not None
        rank = np.where(found.why != "", 2, np.where(found.label == _NOT, 1, 0))
        turned, still, rest = (np.flatnonzero(rank == k) for k in range(3))
        return drawn.take(np.array([*alternating(turned, still), *rest.tolist()], dtype=np.int64)[:count])

    def measure(self, facts: MovedObject, scene: Scene) -> Measured:
        """The label; σ of the angle: that of the sides of the box over their length, and the relative rotation."""
        object, frames = followed(scene, (facts.first, facts.second)), facts.frames
        turns = _turns(scene, object, frames)
        sigma = np.degrees(np.hypot(_sigma_rad(scene, object), scene.relative_rotation_sigma_rad(frames)))
        size = np.abs(turns.angle_deg)
        front = fronts_of(scene, frames[:, 0], object).fronts
        with np.errstate(invalid="ignore", divide="ignore"):
            cases = {
                NOT_FOUND: object < 0,
                NOT_PLACED: np.isnan(turns.angle_deg + sigma),
                "the object looks the same after a turn": (front >= 0) & (front != 1),
                "the object tips over": turns.swing_deg > _LARGEST_SWING_DEG,
                "the object turns to and fro, or round": ~turns.steady | (size > _LARGEST_TURN_DEG),
                "the object turns too little to see": (size > _NO_TURN_DEG) & (size < _LEAST_TURN_DEG),
            }
            margin = np.abs(size - (_NO_TURN_DEG + _LEAST_TURN_DEG) / 2) / sigma
        return Measured(
            why=first_reason(len(facts), cases),
            value=turns.angle_deg[:, None],
            sigma=sigma[:, None],
            label=_turned(turns.angle_deg),
            margin=margin,
            outlier_probability=outliers(scene, object),
            evidence={"tilt_deg": turns.swing_deg.round(1), "turned_deg": turns.angle_deg.round(1)},
            traps={
                "the camera's own turn": np.where(np.isnan(turns.seen_deg), "", _turned(turns.seen_deg)),
                "seen from below": np.where(size <= _NO_TURN_DEG, "", _turned(-turns.angle_deg)),
            },
        )


def _turned(angle_deg: Float64[np.ndarray, "n"]) -> np.ndarray:
    border = (_NO_TURN_DEG + _LEAST_TURN_DEG) / 2
    return np.where(np.abs(angle_deg) <= border, _NOT, np.where(angle_deg > 0, _CCW, _CW))


@dataclass(frozen=True, kw_only=True)
class _Turns:
    """Of n objects between two photos; NaN where unknown."""

    angle_deg: Float64[np.ndarray, "n"]
    """About the vertical, counterclockwise seen from above, -180 to 180."""
    swing_deg: Float64[np.ndarray, "n"]
    """Change of the direction of the object's own vertical."""
    steady: Bool[np.ndarray, "n"]
    """Whether the object turns one way alone between the photos, and its poses are known closely enough to tell."""
    seen_deg: Float64[np.ndarray, "n"]
    """The angle as someone sees it who takes both cameras for one."""


def _turns(scene: Scene, object: Int64[np.ndarray, "n"], frames: Int64[np.ndarray, "n 2"]) -> _Turns:
    objects, nan = scene.objects, np.full(len(object), np.nan)
    if objects is None or not objects.labels or not len(objects.frames):
        return _Turns(angle_deg=nan, swing_deg=nan, steady=np.isnan(nan), seen_deg=nan)
    k, rows = np.maximum(object, 0), find_rows(objects.frames, frames)
    known = (object >= 0) & (rows >= 0).all(axis=1)
    axes = objects.world_from_object[..., :3, :3][:, k].swapaxes(0, 1)
    camera = scene.world_from_cam(frames)[..., :3, :3]
    up_cam, _ = scene.up_cam(frames[:, 0])
    up = np.einsum("nij,nj->ni", camera[:, 0], up_cam)
    row = np.arange(len(object))
    first, last = (np.where(known[:, None, None], axes[row, rows[:, column]], np.nan) for column in (0, 1))
    angle, swing = _about(up, first, last)
    between = (objects.frames > frames[:, :1]) & (objects.frames < frames[:, 1:])
    each, of_row = np.full(between.shape, np.nan), np.nonzero(between)[0]
    each[between], _ = _about(up[of_row], first[of_row], axes[between])
    low, high = np.fmin(angle, 0)[:, None] - _BACK_DEG, np.fmax(angle, 0)[:, None] + _BACK_DEG
    seen, _ = _about(up, first, camera[:, 0] @ camera[:, 1].swapaxes(1, 2) @ last)
    with np.errstate(invalid="ignore"):
        steady = ~((each < low) | (each > high)).any(axis=1)
    steady &= _largest_step_deg(np.column_stack([0 * angle, each, angle])) < _LARGEST_STEP_DEG
    return _Turns(angle_deg=angle, swing_deg=swing, steady=steady, seen_deg=seen)


def _largest_step_deg(angles_deg: Float64[np.ndarray, "n f"]) -> Float64[np.ndarray, "n"]:
    """The largest difference of neighbours in each row, without the unknown ones (NaN)."""
    steps = [(np.diff(row[np.isfinite(row)]) + 180) % 360 - 180 for row in angles_deg]
    return np.array([np.abs(step).max(initial=0.0) for step in steps])


def _about(
    up: Float64[np.ndarray, "n 3"], first: Float64[np.ndarray, "n 3 3"], last: Float64[np.ndarray, "n 3 3"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """Angle about up of the rotation from the first to the last axes, and how far it tilts up, in degrees."""
    change = last @ first.swapaxes(1, 2)
    known = np.isfinite(change).all(axis=(1, 2)) & np.isfinite(up).all(axis=1)
    angle, swing = np.full(len(up), np.nan), np.full(len(up), np.nan)
    quaternion = Rotation.from_matrix(change[known]).as_quat()
    along = np.einsum("ni,ni->n", quaternion[:, :3], up[known])
    turned = np.degrees(2 * np.arctan2(along, quaternion[:, 3]))
    angle[known] = (turned + 180) % 360 - 180
    raised = np.einsum("ni,nij,nj->n", up[known], change[known], up[known])
    swing[known] = np.degrees(np.arccos(np.clip(raised, -1, 1)))
    return angle, swing


def _sigma_rad(scene: Scene, object: Int64[np.ndarray, "n"]) -> Float64[np.ndarray, "n"]:
    """σ of the change of a box's direction: the σ of its longest side over that side, at both times."""
    objects = scene.objects
    if objects is None or not objects.labels or objects.size is None:
        return np.zeros(len(object)) if scene.exact_objects is not None else np.full(len(object), np.nan)
    k = np.maximum(object, 0)
    if objects.size_sigma is None:
        return np.zeros(len(object))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(2) * (objects.size_sigma[k] / objects.size[k]).max(axis=1)
