"""The shortest distance between the oriented boxes of two objects, and the passage between them on the floor."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float64

from experts.objects.box_corners import box_corners
from templates.scene.object_boxes import Number, Row, boxes_of
from templates.scene.scene import Scene

Poses = Float64[np.ndarray, "n 4 4"]
Sizes = Float64[np.ndarray, "n 3"]

_TURNS = np.radians(np.arange(0, 360, 0.5))
_WAYS = np.stack([np.cos(_TURNS), np.sin(_TURNS)])
"""Directions across a passage; between two of them, its width changes by less than 0.01 %."""


def gaps(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Number, Number, Number]:
    """Distance between the boxes of two objects in each frame, its σ, and the distance between their centres, in path
    units; NaN where a box is unknown, 0 where they meet. σ is infinite where nobody saw an end of a side."""
    distance, sigma, apart = _once_each(_gaps, scene, frame, a, b)
    return distance, sigma, apart


def passages(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Number, Number, Number]:
    """Least and largest width of the widest straight passage between two objects of each frame, as seen from above, and
    their σ, in path units; negative where there is none, NaN where a box or the floor is unknown.

    The least one lies between the boxes. Objects need not fill the corners of their boxes: the largest one lies between
    the middles of the faces, which they reach.
    """
    least, largest, sigma = _once_each(_passages, scene, frame, a, b)
    return least, largest, sigma


def _once_each(
    measure: Callable[[Scene, Row, Row, Row], tuple[Number, ...]], scene: Scene, frame: Row, a: Row, b: Row
) -> tuple[Number, ...]:
    """What `measure` gives for every pair of objects; each pair of a photo is measured once."""
    pairs = np.column_stack([frame, np.minimum(a, b), np.maximum(a, b)])
    each, of_row = np.unique(pairs, axis=0, return_inverse=True)
    return tuple(column[of_row.reshape(-1)] for column in measure(scene, *each.T))


def _passages(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Number, Number, Number]:
    (pose_a, size_a, sigma_a), (pose_b, size_b, sigma_b) = (_over_floor(scene, frame, each) for each in (a, b))
    least = _apart(box_corners(pose_a, size_a), box_corners(pose_b, size_b))
    largest = _apart(_face_middles(pose_a, size_a), _face_middles(pose_b, size_b))
    return least, largest, np.where(np.isfinite(least), np.hypot(sigma_a, sigma_b), np.nan)


def _over_floor(scene: Scene, frame: Row, object: Row) -> tuple[Poses, Sizes, Number]:
    """Boxes in the frame of the floor, and σ of their sides."""
    known, pose, size, centre_sigma, side_sigma = boxes_of(scene, frame, object)
    floor = np.full((4, 4), np.nan) if scene.room is None else np.linalg.inv(scene.room.world_from_floor)
    pose = np.where(known[:, None, None], floor @ pose, np.nan)
    return pose, size, np.hypot(centre_sigma, side_sigma.max(axis=1) / 2)


def _apart(a: Float64[np.ndarray, "n p 3"], b: Float64[np.ndarray, "n p 3"]) -> Number:
    """Width of the widest strip of floor between points."""
    return np.asarray(((b[..., :2] @ _WAYS).min(axis=1) - (a[..., :2] @ _WAYS).max(axis=1)).max(axis=1))


def _face_middles(pose: Poses, size: Sizes) -> Float64[np.ndarray, "n 6 3"]:
    half = np.concatenate([np.eye(3), -np.eye(3)]) * size[:, None] / 2
    return np.asarray(half @ pose[:, :3, :3].swapaxes(1, 2) + pose[:, None, :3, 3])


def _gaps(scene: Scene, frame: Row, a: Row, b: Row) -> tuple[Number, Number, Number]:
    first, second = (boxes_of(scene, frame, each) for each in (a, b))
    (known_a, pose_a, size_a, centre_a, side_a), (known_b, pose_b, size_b, centre_b, side_b) = first, second
    known = known_a & known_b & np.isfinite(size_a + size_b).all(axis=1) & np.isfinite(pose_a + pose_b).all(axis=(1, 2))
    distance, apart = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    boxes = [each[known] for each in (pose_a, size_a, pose_b, size_b)]
    distance[known] = np.where(_meet(*boxes), 0.0, np.minimum(_by_corners(*boxes), _by_edges(*boxes)))
    apart[known] = np.linalg.norm(boxes[0][:, :3, 3] - boxes[2][:, :3, 3], axis=1)
    sides = np.hypot(side_a.max(axis=1), side_b.max(axis=1)) / 2
    return distance, np.where(known, np.sqrt(centre_a**2 + centre_b**2 + sides**2), np.nan), apart


def _meet(pose_a: Poses, size_a: Sizes, pose_b: Poses, size_b: Sizes) -> Bool[np.ndarray, "n"]:
    """Whether no plane separates the boxes: those along their faces and along pairs of their edges are tried
    (Gottschalk et al. 1996)."""
    axes_a, axes_b = (pose[:, :3, :3].swapaxes(1, 2) for pose in (pose_a, pose_b))
    crossed = np.cross(axes_a[:, :, None], axes_b[:, None]).reshape(-1, 9, 3)
    axes = np.concatenate([axes_a, axes_b, crossed], axis=1)
    reach = sum(
        np.einsum("nij,nj->ni", np.abs(np.einsum("nik,njk->nij", axes, own)), size / 2)
        for own, size in ((axes_a, size_a), (axes_b, size_b))
    )
    between = np.abs(np.einsum("nij,nj->ni", axes, pose_b[:, :3, 3] - pose_a[:, :3, 3]))
    return np.asarray((between <= reach + 1e-12).all(axis=1))


def _by_corners(pose_a: Poses, size_a: Sizes, pose_b: Poses, size_b: Sizes) -> Number:
    """From the corners of either box to the other box."""
    found = []
    for pose, size, other_pose, other_size in ((pose_a, size_a, pose_b, size_b), (pose_b, size_b, pose_a, size_a)):
        local = box_corners(np.linalg.inv(pose) @ other_pose, other_size)
        found.append(np.linalg.norm(np.maximum(np.abs(local) - size[:, None] / 2, 0), axis=2).min(axis=1))
    return np.minimum(*found)


def _by_edges(pose_a: Poses, size_a: Sizes, pose_b: Poses, size_b: Sizes) -> Number:
    """From the edges of one box to those of the other (Ericson 2005, 5.1.9)."""
    (p, d), (q, e) = (np.moveaxis(np.stack(_edges(*box)), -1, 1) for box in ((pose_a, size_a), (pose_b, size_b)))
    p, d, q, e = p[..., None], d[..., None], q[:, :, None], e[:, :, None]
    dd, ee, de = ((one * other).sum(axis=0) for one, other in ((d, d), (e, e), (d, e)))
    dr, er = (d * (p - q)).sum(axis=0), (e * (p - q)).sum(axis=0)
    cross = dd * ee - de**2
    tiny = np.finfo(float).tiny
    s = np.clip(np.where(cross > 1e-12 * dd * ee, (de * er - dr * ee) / np.maximum(cross, tiny), 0.0), 0, 1)
    t = np.clip((de * s + er) / np.maximum(ee, tiny), 0, 1)
    s = np.clip((de * t - dr) / np.maximum(dd, tiny), 0, 1)
    return np.linalg.norm(p + s * d - q - t * e, axis=0).min(axis=(1, 2))


_ENDS = np.array([(k, a, b) for k in range(3) for a in (-0.5, 0.5) for b in (-0.5, 0.5)])
_STARTS = np.array([np.insert([a, b], int(k), -0.5) for k, a, b in _ENDS])
_ALONG = np.eye(3)[_ENDS[:, 0].astype(int)]
"""Of a box of side 1: the axis of each edge and its place across, where it starts, and the way to its other end."""


def _edges(pose: Poses, size: Sizes) -> tuple[Float64[np.ndarray, "n 12 3"], Float64[np.ndarray, "n 12 3"]]:
    """One end of each edge, and the way to its other end."""
    turn = pose[:, :3, :3]
    return (
        np.einsum("nij,nkj->nki", turn, _STARTS * size[:, None]) + pose[:, None, :3, 3],
        np.einsum("nij,nkj->nki", turn, _ALONG * size[:, None]),
    )
