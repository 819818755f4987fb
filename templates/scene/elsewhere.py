"""Places that one photo shows, seen from another photo that does not show them: azimuths, and proof of being out of
view."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.intrinsics import Intrinsics
from templates.columns import Columns
from templates.scene.level_axes import level_axes
from templates.scene.offsets import offsets
from templates.scene.scene import Scene, find_rows

_MOVING_SHARE = 0.02
"""An object moves if its places differ by more than this share of their distance from the camera."""


@dataclass(frozen=True, kw_only=True)
class Elsewhere(Columns):
    """n places that one photo shows, in the axes of another one."""

    azimuth_rad: Float64[np.ndarray, "n"]
    """Clockwise from ahead, seen from above; NaN where unknown."""
    sigma_rad: Float64[np.ndarray, "n"]
    elevation_rad: Float64[np.ndarray, "n"]
    from_axis_rad: Float64[np.ndarray, "n"]
    """Angle to the optical axis of that photo."""
    from_axis_sigma_rad: Float64[np.ndarray, "n"]
    ground: Float64[np.ndarray, "n"]
    """Horizontal distance, in path units."""
    own_sigma_rad: Float64[np.ndarray, "n"]
    """The part of σ of the azimuth that differs between places of one photo: of ranges, and of the focal length."""
    shift_sigma: Float64[np.ndarray, "n"]
    """σ per axis of the camera's place among all places of the other photo, in path units."""
    place_sigma: Float64[np.ndarray, "n"]
    """σ per axis of the place on the floor plan around that photo, in path units."""

    def apart_sigma_rad(self, other: "Elsewhere") -> Float64[np.ndarray, "n"]:
        """σ of the difference between the azimuths of two places of one photo, seen from one camera: turning the camera
        changes both alike, and moving it changes them according to their distances."""
        with np.errstate(invalid="ignore", divide="ignore"):
            aside = [np.exp(1j * each.azimuth_rad) / each.ground for each in (self, other)]
        moved = np.maximum(self.shift_sigma, other.shift_sigma) * np.abs(aside[1] - aside[0])
        return np.asarray(np.sqrt(moved**2 + self.own_sigma_rad**2 + other.own_sigma_rad**2))


def elsewhere(
    scene: Scene,
    frame: Int64[np.ndarray, "n"],
    seen_from: Int64[np.ndarray, "n"],
    xyz_cam: Float64[np.ndarray, "n 3"],
    sigma: Float64[np.ndarray, "n"],
    range_sigma: Float64[np.ndarray, "n"],
    *,
    level: bool,
) -> Elsewhere:
    """Places `xyz_cam`, in the camera axes of `frame`, as seen from the photos `seen_from`.

    Azimuths are those in the axes of that photo's camera; `level`: in its levelled axes, unknown where it is rolled or
    pitched far. `sigma`: of each place, in any direction; `range_sigma`: along the line of sight of `frame`.
    First-order σ adds the offset between the photos, their rotations, the focal length, which bends lines of sight,
    and gravity.
    """
    here, there = scene.world_from_cam(frame), scene.world_from_cam(seen_from)
    ray_world = np.einsum("nij,nj->ni", here[:, :3, :3], xyz_cam)
    seen = np.einsum("nji,nj->ni", there[:, :3, :3], ray_world + here[:, :3, 3] - there[:, :3, 3])
    right, ahead, up, up_sigma = _axes(scene, seen_from, level)
    x, y, z = (np.einsum("ni,ni->n", seen, axis) for axis in (right, up, ahead))
    with np.errstate(invalid="ignore", divide="ignore"):
        ground, distance, own_range = np.hypot(x, z), np.linalg.norm(seen, axis=1), np.linalg.norm(xyz_cam, axis=1)
        azimuth, elevation = np.arctan2(x, z), np.arctan2(y, ground)
        turned = scene.relative_rotation_sigma_rad(np.column_stack([seen_from, frame]))
        bent = scene.focal_relative_sigma * np.hypot(*xyz_cam.T[:2]) * np.abs(xyz_cam[:, 2]) / own_range**2
        offset_sigma = _offset_sigma(scene, frame, seen_from)
        moved = np.sqrt(sigma**2 + offset_sigma**2 + (np.hypot(turned, bent) * own_range) ** 2)
        along = np.einsum("nji,nj->ni", there[:, :3, :3], ray_world) / own_range[:, None]  # of the line of sight
        aside = np.einsum("ni,ni->n", along, (right * z[:, None] - ahead * x[:, None]) / ground[:, None])
        across = np.linalg.norm(np.cross(along, seen), axis=1) / distance
        tilted = up_sigma * np.hypot(np.tan(elevation), _slope(ahead))
        azimuth_sigma = np.sqrt((moved / ground) ** 2 + (range_sigma * aside / ground) ** 2 + turned**2 + tilted**2)
        own_sigma = np.sqrt((range_sigma * aside) ** 2 + (bent * own_range) ** 2 + sigma**2) / ground
        baseline = np.linalg.norm(there[:, :3, 3] - here[:, :3, 3], axis=1)
        axis_sigma = np.sqrt((moved / distance) ** 2 + (range_sigma * across / distance) ** 2 + turned**2)
        from_axis = np.arccos(np.clip(seen[:, 2] / distance, -1, 1))
    return Elsewhere(
        azimuth_rad=azimuth,
        sigma_rad=azimuth_sigma,
        elevation_rad=elevation,
        from_axis_rad=from_axis,
        from_axis_sigma_rad=axis_sigma,
        ground=ground,
        own_sigma_rad=own_sigma,
        shift_sigma=np.hypot(offset_sigma, turned * baseline),
        place_sigma=np.sqrt(moved**2 + range_sigma**2 + (tilted * ground) ** 2),
    )


def cone_rad(camera: Intrinsics) -> float:
    """Angle between the optical axis and the corner of the picture that is farthest from it."""
    right, bottom = camera.width_px - 0.5, camera.height_px - 0.5
    corners = camera.rays(np.array([[-0.5, -0.5], [right, -0.5], [-0.5, bottom], [right, bottom]]))
    return float(np.arccos(corners[:, 2].min()))


def movers(scene: Scene) -> Bool[np.ndarray, "k"]:
    """Which of the scene's objects move; computed once per scene."""
    return scene.once("movers", lambda: _movers(scene))


def any_moves(scene: Scene, *objects: Int64[np.ndarray, "n"]) -> Bool[np.ndarray, "n"]:
    """Whether any of the objects of each row moves; -1 for an unknown one."""
    moves = np.append(movers(scene), False)
    return np.asarray(np.any([moves[each] for each in objects], axis=0))


def on_mover(scene: Scene, frame: Int64[np.ndarray, "n"], xy_px: Float64[np.ndarray, "n 2"]) -> Bool[np.ndarray, "n"]:
    """Whether pixels show an object that moves."""
    objects, moves = scene.objects, movers(scene)
    if objects is None or not moves.any():
        return np.zeros(len(frame), dtype=bool)
    rows = find_rows(objects.frames, frame)
    height, width = objects.ids.shape[1:]
    scale = np.array([width / scene.clip.width_px, height / scene.clip.height_px])
    x, y = np.round((np.nan_to_num(xy_px) + 0.5) * scale - 0.5).astype(int).T
    ids = objects.ids[rows, np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)]
    return np.asarray((rows >= 0) & (ids >= 0) & moves[np.maximum(ids, 0)])


def _movers(scene: Scene) -> Bool[np.ndarray, "k"]:
    objects = scene.objects
    if objects is None:
        return np.zeros(0, dtype=bool)
    centre, camera = objects.world_from_object[:, :, :3, 3], scene.world_from_cam(objects.frames)[:, None, :3, 3]
    reach = np.fmax.reduce(centre, axis=0, initial=-np.inf) - np.fmin.reduce(centre, axis=0, initial=np.inf)
    distance = np.fmin.reduce(np.linalg.norm(centre - camera, axis=2), axis=0, initial=np.inf)
    return np.asarray(np.linalg.norm(np.maximum(reach, 0), axis=1) > _MOVING_SHARE * distance)


def _axes(scene: Scene, frames: Int64[np.ndarray, "n"], level: bool) -> tuple[np.ndarray, ...]:
    """Right, ahead, up and σ of up, in camera axes."""
    if level:
        known = level_axes(scene, frames)
        axes = (np.where(known.upright[:, None], axis, np.nan) for axis in (known.right, known.ahead, known.up))
        return *axes, known.sigma_rad
    right, ahead, up = (np.tile(axis, (len(frames), 1)) for axis in ([1.0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]))
    return right, ahead, up, np.zeros(len(frames))


def _offset_sigma(
    scene: Scene, frame: Int64[np.ndarray, "n"], seen_from: Int64[np.ndarray, "n"]
) -> Float64[np.ndarray, "n"]:
    """σ of the translation between two photos, in path units: systematic ⊕ positions."""
    return offsets(scene, np.column_stack([seen_from, frame])).shift_sigma


def _slope(ahead: Float64[np.ndarray, "n 3"]) -> Float64[np.ndarray, "n"]:
    """Tangent of the angle between the optical axis and the ground."""
    return np.sqrt(1 / ahead[:, 2] ** 2 - 1)
