"""Surfaces at pixels: which way they face, how high above the floor they are, and whether they are level."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from templates.columns import Columns
from templates.scene.marks import Frame, Pixel
from templates.scene.scene import Scene
from templates.scene.surface import Surface

_AROUND = 0.006
"""How far from a pixel its surface is looked at for its slope, as a share of the diagonal."""
_MARK = 0.012
"""Radius of what a mark covers, as a share of the diagonal."""
_LEVEL = np.tan(np.radians(10))
"""Largest slope of a level surface."""
_SHIFT = 0.2
"""How far beside its place on the circle a surface may lie, in its radii: that before an edge lies nearer."""
_UPRIGHT = np.cos(np.radians(60))
"""Largest part along up of the normal of an upright surface."""
_LEAST_VIEW = np.sin(np.radians(10))
"""Sine of the least angle between a line of sight and a level surface that it meets: a mark on it covers no more."""


def _ring(points: int) -> Float64[np.ndarray, "k 2"]:
    turns = np.exp(2j * np.pi * np.arange(points) / points)
    return np.column_stack([turns.real, turns.imag])


_RING = _ring(8)
_DISC = np.concatenate([_RING / 2, _ring(24)])
"""Where a level surface is looked at, in its radii."""


@dataclass(frozen=True, kw_only=True)
class OverFloor(Columns):
    """Surfaces at n pixels above the floor, in path units; NaN where unknown."""

    height: Float64[np.ndarray, "n"]
    sigma: Float64[np.ndarray, "n"]
    """Of the range, the camera's pose and the floor; without that of the unit."""
    range: Float64[np.ndarray, "n"]
    """Distance from the camera."""
    outlier_probability: Float64[np.ndarray, "n"]


def over_floor(scene: Scene, frame: Frame, xy_px: Pixel) -> OverFloor:
    """How high surfaces are above the floor of the room."""
    surface, xyz, floor_from_cam = _on_floor(scene, frame, xy_px)
    eye = floor_from_cam[:, :3, 3]
    with np.errstate(invalid="ignore", divide="ignore"):
        along = (xyz - eye)[:, 2] * surface.range_relative_sigma
        tilted = np.linalg.norm((xyz - eye)[:, :2], axis=1) * scene.rotation_sigma_rad(frame)
    floor_sigma = np.nan if scene.room is None else scene.room.floor_sigma
    position = np.nan_to_num(scene.position_sigma(frame))
    return OverFloor(
        height=xyz[:, 2],
        sigma=np.sqrt(along**2 + tilted**2 + position**2 + floor_sigma**2),
        range=surface.range,
        outlier_probability=surface.outlier_probability,
    )


def is_level(scene: Scene, frame: Frame, xy_px: Pixel, radius: float) -> Bool[np.ndarray, "n"]:
    """Whether the surface at each pixel is level all over a circle of that radius (path units), as far as 10°, and all
    that a mark covers lies on it.

    Depth is looked up where a level circle would show: there, the surface must be about as high, and at that
    place.
    """
    _, middle, floor_from_cam = _on_floor(scene, frame, xy_px)
    camera = None if scene.path is None else scene.path.intrinsics
    known = np.isfinite(middle).all(axis=1)
    found = np.zeros(len(frame), dtype=bool)
    if camera is None or not known.any():
        return found
    frame, xy_px, middle, floor_from_cam = (each[known] for each in (frame, xy_px, middle, floor_from_cam))
    circle = middle[:, None] + radius * np.column_stack([_DISC, np.zeros(len(_DISC))])
    cam = np.einsum("nji,nkj->nki", floor_from_cam[:, :3, :3], circle - floor_from_cam[:, None, :3, 3])
    shown = np.concatenate([camera.project(cam.reshape(-1, 3)).reshape(*cam.shape[:2], 2), _covered(scene, xy_px)], 1)
    flat = shown.reshape(-1, 2)
    flat = np.where(camera.contains(flat)[:, None], flat, np.nan)
    places = _on_floor(scene, frame.repeat(shown.shape[1]), flat)[1].reshape(*shown.shape[:2], 3)
    to_eye = floor_from_cam[:, :3, 3] - middle
    with np.errstate(invalid="ignore"):
        level = (np.abs(places[..., 2] - middle[:, 2:]) <= _LEVEL * radius).all(axis=1)
        level &= (np.linalg.norm((places[:, : len(_DISC)] - circle)[..., :2], axis=2) <= _SHIFT * radius).all(axis=1)
        away = np.linalg.norm(to_eye, axis=1)
        found[known] = level & (to_eye[:, 2] >= _LEAST_VIEW * away)
        found[known] &= away**2 / to_eye[:, 2] <= _SHIFT * radius * camera.fy_px  # the length that a pixel shows of it
    return found


def is_upright(scene: Scene, frame: Frame, xy_px: Pixel, most: float) -> Bool[np.ndarray, "n"]:
    """Whether the surface at each pixel is at least 60° steep, and plane within `most` (path units) as far as a mark
    covers it."""
    _, middle, floor_from_cam = _on_floor(scene, frame, xy_px)
    normal = np.einsum("nij,nj->ni", floor_from_cam[:, :3, :3], normals(scene, frame, xy_px))
    around = _covered(scene, xy_px)
    _, places, _ = _on_floor(scene, frame.repeat(len(_RING)), around.reshape(-1, 2))
    off = np.einsum("nki,ni->nk", places.reshape(-1, len(_RING), 3) - middle[:, None], normal)
    with np.errstate(invalid="ignore"):
        return np.asarray((np.abs(normal[:, 2]) <= _UPRIGHT) & (np.abs(off) <= most).all(axis=1))


def normals(
    scene: Scene, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"]
) -> Float64[np.ndarray, "n 3"]:
    """Normals of the surfaces at pixels, towards the camera, in its axes."""
    step = _AROUND * scene.diagonal_px * np.eye(2)
    left, right, above, below = (
        scene.surface(frame, xy_px + way).xyz_cam for way in (-step[0], step[0], -step[1], step[1])
    )
    normal = np.cross(right - left, above - below)
    towards = -np.sign(np.einsum("ni,ni->n", normal, right + left))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(towards[:, None] * normal / np.linalg.norm(normal, axis=1, keepdims=True))


def _covered(scene: Scene, xy_px: Pixel) -> Float64[np.ndarray, "n 8 2"]:
    return np.asarray(xy_px[:, None] + _MARK * scene.diagonal_px * _RING)


def _on_floor(
    scene: Scene, frame: Frame, xy_px: Pixel
) -> tuple[Surface, Float64[np.ndarray, "n 3"], Float64[np.ndarray, "n 4 4"]]:
    """Surfaces, their places in the frame of the floor, and the cameras there; NaN where unknown."""
    surface = scene.surface(frame, xy_px)
    floor = np.full((4, 4), np.nan) if scene.room is None else np.linalg.inv(scene.room.world_from_floor)
    pose = floor @ scene.world_from_cam(frame)
    return surface, np.einsum("nij,nj->ni", pose[:, :3, :3], surface.xyz_cam) + pose[:, :3, 3], pose
