"""The axes of static objects from the views that agree on them: they hold in every frame, in flipped views too."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.objects.front_agreement import FrontSettings, front_outliers, rotations_of
from experts.objects.object_angles import angles_of, look_along
from experts.objects.object_crops import whole_views
from experts.signals import CameraPath, ObjectOrientation, Objects

_SHARED = 0.5
"""Share of σ that all views of an object have in common (amplitude; chosen): more views do not reduce it."""


@dataclass(frozen=True, kw_only=True)
class _Axes:
    """Of one object, in the world."""

    rotation: Float64[np.ndarray, "3 3"]
    sigma_rad: Float64[np.ndarray, "3"]
    """Of azimuth, polar angle and rotation."""
    fronts: int


def joined(
    clip: Clip, objects: Objects, path: CameraPath, seen: ObjectOrientation, settings: FrontSettings
) -> ObjectOrientation:
    """The orientation with confirmed axes of static objects in all frames that show them whole. What views say of
    objects whose front they do not confirm stays as it is."""
    known = {k: axes for k in range(len(objects.labels)) if (axes := _axes(seen, objects, path, k, settings))}
    views = [view for view in whole_views(clip, objects) if view.item in known]
    if not views:
        return seen
    out = _spread(seen, np.union1d(seen.frames, [view.frame for view in views]))
    assert out.outlier_probability is not None
    cam_from_world = rotations_of(path, out.frames).swapaxes(1, 2)
    for view in views:
        axes, at = known[view.item], (int(np.searchsorted(out.frames, view.frame)), view.item)
        cam_from_object = cam_from_world[at[0]] @ axes.rotation
        if not np.isfinite(cam_from_object).all():
            continue
        along = look_along(path.intrinsics.rays(view.middle_px(clip, objects)))
        out.azimuth_rad[at], out.polar_rad[at], out.rotation_rad[at] = angles_of(along.T @ cam_from_object)
        out.sigma_rad[at], out.fronts[at], out.cam_from_object[at] = axes.sigma_rad, axes.fronts, cam_from_object
        out.outlier_probability[at] = settings.confirmed
    return out


def _axes(seen: ObjectOrientation, objects: Objects, path: CameraPath, k: int, settings: FrontSettings) -> _Axes | None:
    """None for an object that may move, or whose front no views confirm."""
    places = objects.world_from_object[:, k, :3, 3]
    rotation = rotations_of(path, seen.frames) @ seen.cam_from_object[:, k]
    rows = np.flatnonzero((seen.fronts[:, k] > 0) & np.isfinite(rotation).all(axis=(1, 2)))
    if not len(rows) or not np.isfinite(places).all() or np.ptp(places, axis=0).any():
        return None
    counts = np.bincount(seen.fronts[rows, k])
    fronts = int(counts.argmax())
    rows = rows[seen.fronts[rows, k] == fronts]
    if len(rows) < settings.share * counts.sum():
        return None
    own, sigma = _alike(rotation[rows], fronts), seen.sigma_rad[rows, k]
    agree = _agreeing(own, places[0] - _eyes(path, seen.frames[rows]), sigma[:, 0], settings)
    if not agree.any():
        return None
    each, stated = Rotation.from_matrix(own[agree]), np.median(sigma[agree], axis=0)
    mean = each.mean()
    wider = max(1.0, float(np.sqrt(np.mean((each * mean.inv()).magnitude() ** 2) / (stated**2).sum())))
    narrower = float(np.sqrt(_SHARED**2 + (1 - _SHARED**2) / len(each)))
    return _Axes(rotation=mean.as_matrix(), sigma_rad=wider * narrower * stated, fronts=fronts)


def _alike(rotation: Float64[np.ndarray, "n 3 3"], fronts: int) -> Float64[np.ndarray, "n 3 3"]:
    """Of the equivalent axes of each view, those nearest to the first view's."""
    turns = Rotation.from_euler("z", 2 * np.pi / fronts * np.arange(fronts)[:, None]).as_matrix()
    every = np.einsum("nij,fjk->nfik", rotation, turns)
    nearest = np.einsum("nfij,ij->nf", every, rotation[0]).argmax(axis=1)
    return np.asarray(every[np.arange(len(rotation)), nearest])


def _agreeing(
    rotation: Float64[np.ndarray, "n 3 3"],
    ray: Float64[np.ndarray, "n 3"],
    sigma_rad: Float64[np.ndarray, "n"],
    settings: FrontSettings,
) -> Bool[np.ndarray, "n"]:
    """Views whose front others confirm."""
    unit = ray / np.linalg.norm(ray, axis=1, keepdims=True)
    outliers = front_outliers(rotation[:, None, :, 0], unit[:, None], sigma_rad[:, None], settings)
    return np.asarray(outliers[:, 0] == settings.confirmed)


def _eyes(path: CameraPath, frames: Int64[np.ndarray, "n"]) -> Float64[np.ndarray, "n 3"]:
    """Positions of the cameras, which are registered."""
    return path.world_from_cam[np.searchsorted(path.frames, frames), :3, 3]


def _spread(seen: ObjectOrientation, frames: Int64[np.ndarray, "n"]) -> ObjectOrientation:
    """The same in more frames, of which nothing is known yet."""
    rows, shape = np.searchsorted(frames, seen.frames), (len(frames), seen.fronts.shape[1])
    empty: dict[str, Any] = {
        "azimuth_rad": np.full(shape, np.nan),
        "polar_rad": np.full(shape, np.nan),
        "rotation_rad": np.full(shape, np.nan),
        "sigma_rad": np.full((*shape, 3), np.inf),
        "cam_from_object": np.full((*shape, 3, 3), np.nan),
        "fronts": np.full(shape, -1, dtype=np.int32),
        "outlier_probability": np.full(shape, np.nan),
    }
    for name, column in empty.items():
        column[rows] = getattr(seen, name)
    return replace(seen, frames=frames, **empty)
