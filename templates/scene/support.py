"""What objects stand on: another object, or the floor."""

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.signals import Objects
from templates.scene.scene import Scene, find_rows

FLOOR, UNKNOWN = -2, -1
"""Stand for an object's number in `supports`."""
_GAP_M, _SIGMAS = 0.02, 2.0
"""Largest distance of a bottom from the face beneath it: this many metres and this many σ."""
_GAP_SHARE = 0.02
"""The same as a share of the objects' heights, where the unit of the path is not known."""
_OVER = 0.5
"""Least share of the footprint that lies over the supporting object."""
_APART = 3.0
"""A face is certainly not the support from this many times the largest distance on."""
_GRID = np.stack(np.meshgrid(*[np.linspace(-0.45, 0.45, 7)] * 2), axis=-1).reshape(-1, 2)


def supports(scene: Scene, frame: int) -> Int64[np.ndarray, "k"]:
    """What each object of a frame stands on: the number of an object, `FLOOR`, or `UNKNOWN` where none, or more than
    one, may carry it.

    An object stands on the one whose top face is at the height of its bottom and under half of its footprint.
    """
    objects, up, count = scene.objects, scene.up_world, 0 if scene.objects is None else len(scene.objects.labels)
    found = np.full(count, UNKNOWN)
    if objects is None or objects.size is None or up is None or (row := int(find_rows(objects.frames, frame))) < 0:
        return found
    pose, size = objects.world_from_object[row], objects.size
    height = pose[:, :3, 3] @ up
    half = (np.abs(np.einsum("kji,j->ki", pose[:, :3, :3], up)) * size / 2).sum(axis=1)
    bottom, top = height - half, height + half
    allowed = _allowed(scene, objects, half)
    with np.errstate(invalid="ignore"):
        gap = np.abs(bottom[:, None] - top[None]) / np.hypot(allowed[:, None], allowed[None])
        over = _over(pose, size, up, gap <= _APART)
        carries, may_carry = (gap <= 1) & (over >= _OVER), (gap <= _APART) & (over > 0)
        on_floor, near_floor = _on_floor(scene, bottom, allowed, up)
    np.fill_diagonal(carries, val=False)
    np.fill_diagonal(may_carry, val=False)
    alone = may_carry.sum(axis=1) + near_floor == 1
    found = np.where(alone & carries.any(axis=1), carries.argmax(axis=1), found)
    return np.where(alone & on_floor, FLOOR, found)


def over_one_another(
    scene: Scene, frame: Int64[np.ndarray, "n"], a: Int64[np.ndarray, "n"], b: Int64[np.ndarray, "n"]
) -> tuple[Float64[np.ndarray, "n"], Float64[np.ndarray, "n"]]:
    """The larger share of the footprint of one of two objects that lies over or below that of the other one, and the
    shorter side of that footprint in path units; 0 where they are not known."""
    share, side = np.zeros(len(frame)), np.zeros(len(frame))
    objects, up = scene.objects, scene.up_world
    if objects is None or objects.size is None or up is None:
        return share, side
    for each in np.unique(frame).tolist():
        rows = np.flatnonzero((frame == each) & (a >= 0) & (b >= 0))
        pose = objects.world_from_object[find_rows(objects.frames, np.array([each]))[0]]
        over = scene.once(
            ("shares of footprints", each),
            lambda pose=pose: _over(pose, objects.size, up, np.ones((len(pose),) * 2, dtype=bool)),  # type: ignore[misc]
        )
        shares = np.column_stack([over[a[rows], b[rows]], over[b[rows], a[rows]]])
        share[rows] = shares.max(axis=1)
        smaller = np.where(shares.argmax(axis=1) == 0, a[rows], b[rows])
        side[rows] = objects.size[smaller].min(axis=1)
    return share, side


def _allowed(scene: Scene, objects: Objects, half: Float64[np.ndarray, "k"]) -> Float64[np.ndarray, "k"]:
    """Largest distance of the bottom or the top of each object from a face that it touches."""
    metric = scene.path is not None and scene.path.scale.kind == "metric"
    sigma = np.zeros(len(half)) if objects.centre_sigma is None else objects.centre_sigma
    sides = np.zeros(len(half)) if objects.size_sigma is None else objects.size_sigma.max(axis=1) / 2
    return (_GAP_M if metric else _GAP_SHARE * 2 * half) / np.sqrt(2) + _SIGMAS * np.hypot(sigma, sides)


def _on_floor(
    scene: Scene, bottom: Float64[np.ndarray, "k"], allowed: Float64[np.ndarray, "k"], up: Float64[np.ndarray, "3"]
) -> tuple[np.ndarray, np.ndarray]:
    """Whether each object stands on the floor, and whether it may."""
    if scene.room is None:
        return np.zeros(len(bottom), dtype=bool), np.zeros(len(bottom), dtype=bool)
    above = np.abs(bottom - scene.room.world_from_floor[:3, 3] @ up)
    reach = allowed + _SIGMAS * scene.room.floor_sigma
    return above <= reach, above <= _APART * reach


def _over(
    pose: Float64[np.ndarray, "k 4 4"],
    size: Float64[np.ndarray, "k 3"],
    up: Float64[np.ndarray, "3"],
    asked: Bool[np.ndarray, "k k"],
) -> Float64[np.ndarray, "k k"]:
    """Share of the footprint of each box that lies over each other; 0 where it is not asked for. Boxes are as upright
    as they are."""
    flat = np.argsort(np.abs(np.einsum("kji,j->ki", pose[:, :3, :3], up)), axis=1)[:, :2]
    sides = np.take_along_axis(size, flat, axis=1)
    axes = np.take_along_axis(pose[:, :3, :3], flat[:, None], axis=2)
    footprints = np.einsum("kij,kpj->kpi", axes, _GRID * sides[:, None]) + pose[:, None, :3, 3]
    a, b = np.nonzero(asked)
    in_b = np.einsum("npi,nij->npj", footprints[a] - pose[b, None, :3, 3], axes[b])
    over = np.zeros(asked.shape)
    over[a, b] = (np.abs(in_b) <= sides[b, None] / 2).all(axis=2).mean(axis=1)
    return over
