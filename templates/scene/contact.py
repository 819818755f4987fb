"""How two objects touch: one stands on the other, lies in its hollow, or does not touch it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from templates.columns import Columns, Texts
from templates.scene.object_boxes import Number, Row, boxes_of
from templates.scene.object_gaps import gaps
from templates.scene.scene import Scene
from templates.scene.support import FLOOR, UNKNOWN, supports

INSIDE, ON, UNDER, APART = "inside", "on top", "underneath", "apart"
_LEAST_GAP_M = 0.02
"""Between objects that do not touch, where metres are known, ..."""
_LEAST_GAP = 0.05
"""... and as a share of the distance from the camera."""
_HOLDS = "put in"
"""What a part is for if its object has a hollow."""
_CONTAINED = 0.8
"""Least share of an object's box in the box of what it is inside of."""
_GRID = np.stack(np.meshgrid(*[np.linspace(-0.45, 0.45, 6)] * 3), axis=-1).reshape(-1, 3)


@dataclass(frozen=True, kw_only=True)
class Contact(Columns):
    """How n objects lie relative to n others."""

    relation: Texts
    """One of the four words; "" where it is not known."""
    margin: Number
    """Distance from another relation, in σ."""
    gap: Number
    """Between the boxes, in path units."""


def contact(scene: Scene, frame: Row, a: Row, b: Row) -> Contact:
    """The relation of the objects a to the objects b.

    On top: `supports` says so. Inside: at least 80 % of the box lies in the box of an object with a part to put things
    in, and it does not stand on the floor, as under a desk with a drawer. Apart: the boxes, which contain the objects,
    are clearly apart. Objects whose boxes meet otherwise may or may not touch.
    """
    under_a, under_b = _beneath(scene, frame, a), _beneath(scene, frame, b)
    rests_on, carried_by = (under_a == b) & (b >= 0), (under_b == a) & (a >= 0)
    depth, sigma, height = _within(scene, frame, a, b)
    other_depth, other_sigma, other_height = _within(scene, frame, b, a)
    inside = with_hollow(scene, b) & (under_a != FLOOR)
    inside[inside] = _share(scene, frame[inside], a[inside], b[inside]) >= _CONTAINED
    gap, gap_sigma, _ = gaps(scene, frame, a, b)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = gap >= np.maximum(_LEAST_GAP * _range(scene, frame, a), _least_gap(scene))
        kinds = [rests_on, carried_by, inside, apart]
        margins = [
            np.minimum(depth, height / 2) / sigma,
            np.minimum(other_depth, other_height / 2) / other_sigma,
            np.minimum(depth, height / 2) / sigma,
            gap / gap_sigma,
        ]
    alone = np.sum(kinds, axis=0) == 1
    return Contact(
        relation=np.where(alone, np.select(kinds, [ON, UNDER, INSIDE, APART], ""), ""),
        margin=np.select(kinds, margins, np.nan),
        gap=gap,
    )


def _beneath(scene: Scene, frame: Row, object: Row) -> Row:
    """What each object stands on, as in `supports`."""
    found = np.full(len(frame), UNKNOWN)
    for each in np.unique(frame).tolist():
        beneath = scene.once(("supports", each), lambda each=each: supports(scene, each))  # type: ignore[misc]
        rows = np.flatnonzero((frame == each) & (object >= 0))
        found[rows] = beneath[object[rows]]
    return found


def _share(scene: Scene, frame: Row, a: Row, b: Row) -> Number:
    """The share of the box of a that lies in that of b; 0 where unknown."""
    (known_a, pose_a, size_a, *_), (known_b, pose_b, size_b, *_) = (boxes_of(scene, frame, each) for each in (a, b))
    with np.errstate(invalid="ignore"):
        points = pose_a[:, :3, :3] @ (_GRID.T * size_a[..., None]) + (pose_a - pose_b)[:, :3, 3:]
        local = pose_b[:, :3, :3].swapaxes(1, 2) @ points
        share = (np.abs(local) <= size_b[..., None] / 2).all(axis=1).mean(axis=1)
    return np.where(known_a & known_b, share, 0.0)


def _within(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Number, Number, Number]:
    """How deep the middle of a lies within the sides of b, seen from above; σ of their places; and the height of a. NaN
    where unknown."""
    (known_a, pose_a, size_a, centre_a, side_a), (known_b, pose_b, size_b, centre_b, side_b) = (
        boxes_of(scene, frame, each) for each in (a, b)
    )
    up, known = scene.up_world, known_a & known_b
    if up is None:
        nan = np.full(len(frame), np.nan)
        return nan, nan, nan
    turn_b = pose_b[:, :3, :3]
    middle = np.einsum("ni,nij->nj", pose_a[:, :3, 3] - pose_b[:, :3, 3], turn_b)
    free = size_b / 2 - np.abs(middle)
    vertical = np.abs(np.einsum("nji,j->ni", turn_b, up)) > np.sqrt(0.5)
    depth = np.where(vertical, np.inf, free).min(axis=1)
    height = (np.abs(np.einsum("nji,j->ni", pose_a[:, :3, :3], up)) * size_a).sum(axis=1)
    sides = np.hypot(side_a.max(axis=1), side_b.max(axis=1)) / 2
    sigma = np.sqrt(centre_a**2 + centre_b**2 + sides**2)
    return tuple(np.where(known, each, np.nan) for each in (depth, sigma, height))  # type: ignore[return-value]


def with_hollow(scene: Scene, object: Row) -> Bool[np.ndarray, "n"]:
    """Whether a part of each object is to put things in."""
    if scene.parts is None:
        return np.zeros(len(object), dtype=bool)
    hollow = [
        k for k, affords in zip(scene.parts.object.tolist(), scene.parts.affords, strict=True) if _HOLDS in affords
    ]
    return np.asarray(np.isin(object, hollow))


def _range(scene: Scene, frame: Row, object: Row) -> Number:
    """From the camera to the middle of each object."""
    _, pose, *_ = boxes_of(scene, frame, object)
    return np.asarray(np.linalg.norm(pose[:, :3, 3] - scene.world_from_cam(frame)[:, :3, 3], axis=1))


def _least_gap(scene: Scene) -> float:
    return 0.0 if np.isnan(scene.metre_relative_sigma) else _LEAST_GAP_M
