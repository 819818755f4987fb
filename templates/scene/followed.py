"""Whether a camera goes along with an object that moves, and keeps it in the middle of its picture."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from templates.scene.scene import Scene
from templates.scene.sightings import one_identity, sightings

_KEPT_RAD, _BORDER_RAD, _NOT_KEPT_RAD = np.radians([5.0, 8.0, 14.0])
"""Largest angle of its direction in the camera from the mean one, the border, and the angle from which on it is
surely not kept at its place in the picture."""
_MIDDLE, _NOT_MIDDLE = 0.2, 0.4
"""Largest distance of its centre from that of the picture, in shares of its sides, and one at which it is aside."""
_WAY, _NO_WAY = 0.25, 0.05
"""Least way of what is followed, and the largest of what stands still, in shares of its distance."""
_AROUND_RAD, _ROUND_RAD = np.radians([10.0, 20.0])
"""Largest angle by which the camera goes round it, and the border."""
_SAME_RANGE = np.log(1.15)
_LEAST_FRAMES = 4


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Whether something is followed."""

    surely: bool
    maybe: bool
    """Whether somebody could say so."""
    gaps: tuple[tuple[float, float], ...] = ()
    """Differences from the borders and their σ, where something surely is."""


def followed(scene: Scene, first: int, last: int) -> Followed:
    """Of all objects between two frames; without known objects, nothing is."""
    objects = scene.objects
    if objects is None or not len(objects.labels) or scene.path is None:
        return Followed(surely=False, maybe=False)
    rows = np.flatnonzero((objects.frames >= first) & (objects.frames <= last))
    if len(rows) < _LEAST_FRAMES:
        return Followed(surely=False, maybe=False)
    frames, places = objects.frames[rows], objects.world_from_object[rows][..., :3, 3]
    poses = scene.world_from_cam(frames)
    offset = places - poses[:, None, :3, 3]
    distance = np.linalg.norm(offset, axis=2)
    ray_world = offset / distance[..., None]
    ray = np.einsum("fji,fkj->fki", poses[:, :3, :3], ray_world)
    with np.errstate(invalid="ignore", divide="ignore"):
        off = _angle(ray, ray.mean(axis=0, keepdims=True)).max(axis=0)
        way = np.linalg.norm(places - places[:1], axis=2).max(axis=0) / np.median(distance, axis=0)
        around = _angle(ray_world, ray_world[:1]).max(axis=0)
        nearer = np.ptp(np.log(distance), axis=0)
        size = np.array([scene.clip.width_px, scene.clip.height_px])
        xy = scene.path.intrinsics.project(ray.reshape(-1, 3)).reshape(*ray.shape[:2], 2) / size - 0.5
        aside = np.where(ray[..., 2] > 0, np.abs(xy).max(axis=2), np.inf).max(axis=0)
        seen = sightings(scene).of(frames)
        maybe = (off <= _NOT_KEPT_RAD) & (way > _NO_WAY) & (aside < _NOT_MIDDLE) & (seen.area != 0).any(axis=0)
        surely = (off <= _KEPT_RAD) & (way >= _WAY) & (aside <= _MIDDLE) & seen.clear.all(axis=0)
        surely &= (around <= _AROUND_RAD) & (nearer <= _SAME_RANGE)
    if not surely.any() or not one_identity(scene):
        return Followed(surely=False, maybe=bool(maybe.any()))
    k = int(np.flatnonzero(surely)[way[surely].argmax()])
    place_sigma = 0.0 if objects.centre_sigma is None else float(objects.centre_sigma[k])
    path_sigma, near = float(scene.position_sigma(frames).max()), float(distance[:, k].min())
    angle_sigma = float(np.hypot(scene.rotation_sigma_rad(frames).max(), np.hypot(place_sigma, path_sigma) / near))
    gaps = (
        (float(_BORDER_RAD - off[k]), angle_sigma),
        (float(_ROUND_RAD - around[k]), float(np.sqrt(2) * angle_sigma)),
        (float(way[k] - _WAY / 2), float(np.sqrt(2) * place_sigma / near)),
    )
    return Followed(surely=True, maybe=True, gaps=gaps)


def _angle(a: Float64[np.ndarray, "f k 3"], b: Float64[np.ndarray, "1 k 3"]) -> Float64[np.ndarray, "f k"]:
    """Between directions, the second of any length."""
    return np.arccos(np.clip((a * b).sum(axis=2) / np.linalg.norm(b, axis=2), -1, 1))
