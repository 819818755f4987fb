"""One reconstruction of the keyframes by COLMAP, as plain arrays in our conventions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float64, Int64

from experts.intrinsics import Intrinsics
from experts.mapping.colmap_features import quiet
from experts.mapping.largest_surface import on_largest_surface
from experts.signals import CENTRE_RELATIVE_SIGMA

_TRACKS_PER_VIEW = 60
"""Tracks per keyframe in the first, global solution; retriangulation restores the others (measured on 7-Scenes: the
same camera, and 1.6 s instead of 5.3)."""

_MIN_NOISE_PX = 0.3
"""Smallest σ of a SIFT point, at working size."""

_DEPENDENT_ERRORS = 3.0
"""Errors of observations are not independent: relative to the prior of the principal point, observations are weighted
as if their σ were this many times larger."""

_CENTRE_FLOOR = 0.006
"""Smallest σ of a measured principal point over the focal length: what else is wrong with the lens shifts it, too."""

_ANY = 1e6
"""σ of a parameter without a prior, in its own unit."""

_SAME_RANGE = 0.08
"""Neighbours in a keyframe with a larger |ln| of the ratio of their ranges are not joined (measured on 24 clips with
large movers)."""

_LARGEST_SHARE = 0.5
"""In a keyframe with a smaller share of its points on the largest surface, it is unknown which part moves: its points
stay."""


@dataclass(frozen=True, kw_only=True)
class SparseReconstruction:
    """Keyframe poses and points. Pixels at working size, centres at integers; lengths in the reconstruction's own
    unit."""

    camera: Intrinsics
    """At working size."""
    focal_formal_px: float
    """Formal σ of the focal length for 1 px of noise: large where the footage hardly determines it (a straight drive).
    0 if it was fixed."""
    places: Int64[np.ndarray, "k"]
    """Places (in the list of keyframes) of the registered keyframes, ascending."""
    cam_from_world: Float64[np.ndarray, "k 4 4"]
    """Per registered keyframe."""
    xyz_world: Float64[np.ndarray, "p 3"]
    """Points."""
    error_px: Float64[np.ndarray, "p"]
    """Mean reprojection error of each point."""
    point: Int64[np.ndarray, "o"]
    """Row of `xyz_world` of each observation."""
    place: Int64[np.ndarray, "o"]
    """Keyframe of each observation (as in `places`)."""
    keypoint: Int64[np.ndarray, "o"]
    """Keypoint of that keyframe: the same number in every reconstruction from one database."""
    xy_px: Float64[np.ndarray, "o 2"]
    """Observed pixel."""
    focal_spread: float = 0.0
    """Standard deviation of ln focal length over camera models, where it was measured."""
    centre_relative_sigma: tuple[float, float] = (CENTRE_RELATIVE_SIGMA, CENTRE_RELATIVE_SIGMA)
    """σ of either coordinate of the principal point over the focal length."""
    left_out: int = 0
    """Number of observations of points off the largest surface: `point` and the like do not contain them."""

    @property
    def observations_mapped(self) -> int:
        """Number of observations that COLMAP mapped with this focal length, on the largest surface or not."""
        return len(self.point) + self.left_out

    @property
    def noise_px(self) -> float:
        """σ of the observed pixels per axis."""
        return max(_MIN_NOISE_PX, 0.8 * float(self.error_px.mean()))  # of a mean distance

    @property
    def focal_formal_sigma(self) -> float:
        """Formal σ_f/f of the focal length. 0 if it was fixed."""
        return self.focal_formal_px * self.noise_px / self.camera.fx_px

    def row(self, place: Int64[np.ndarray, "*n"]) -> Int64[np.ndarray, "*n"]:
        """Rows of `cam_from_world` of registered places."""
        return np.searchsorted(self.places, place)

    def without(self, place: int) -> "SparseReconstruction":
        """The reconstruction without one keyframe and its observations."""
        kept, seen = self.places != place, self.place != place
        return replace(
            self,
            places=self.places[kept],
            cam_from_world=self.cam_from_world[kept],
            point=self.point[seen],
            place=self.place[seen],
            keypoint=self.keypoint[seen],
            xy_px=self.xy_px[seen],
        )

    def centred(self) -> "SparseReconstruction":
        """The reconstruction in the camera axes of its first registered keyframe."""
        first = self.cam_from_world[0]
        world_from_first = np.linalg.inv(first)
        xyz = self.xyz_world @ first[:3, :3].T + first[:3, 3]
        return replace(self, cam_from_world=self.cam_from_world @ world_from_first, xyz_world=xyz)


def reconstruct(database: Path, folder: Path, fixed: bool, seed: int) -> SparseReconstruction | None:
    """The largest reconstruction of GLOMAP's mapper, of its largest surface. None if it finds none."""
    found = mapped(database, folder, fixed, seed)
    if found is None:
        return None
    left_out = keep_largest_surface(found, fixed, seed)
    sparse = _as_arrays(found) if fixed else _with_principal_point(found)
    return replace(sparse, left_out=left_out).centred()


def keep_largest_surface(reconstruction: Any, fixed: bool, seed: int) -> int:
    """Deletes points that nothing joins to the largest surface, and adjusts the rest anew. Returns the number of
    observations of the deleted points.

    They may move, and then pull the camera along: a crate that moved evenly made a focal length 65 % too long.
    """
    images, ids = _registered(reconstruction), sorted(reconstruction.point3D_ids())
    seen, poses = _observations(images, ids), _cam_from_world(images)
    row = np.searchsorted([int(image.name) for image in images], seen.place)
    xyz_world, rotation = _xyz_world(reconstruction, ids)[seen.point], poses[row, :3, :3]
    ranges = np.linalg.norm(np.einsum("oij,oj->oi", rotation, xyz_world) + poses[row, :3, 3], axis=1)
    kept = on_largest_surface(seen.point, seen.place, seen.xy_px, ranges, len(ids), _SAME_RANGE)
    share = np.bincount(row, kept[seen.point]) / np.maximum(np.bincount(row), 1)
    kept[seen.point[share[row] < _LARGEST_SHARE]] = True
    if kept.all():
        return 0
    for point in np.array(ids)[~kept].tolist():
        reconstruction.delete_point3D(point)
    with quiet():
        gauge_fixed_adjuster(reconstruction, _mapper_options(fixed, seed).mapper.bundle_adjustment).solve()
    reconstruction.update_point_3d_errors()
    return int((~kept[seen.point]).sum())


def mapped(database: Path, folder: Path, fixed: bool, seed: int) -> Any | None:
    """The same as COLMAP's own object, with all its points."""
    import pycolmap

    folder.mkdir()
    with quiet():
        all_found = pycolmap.global_mapping(database, folder, folder, _mapper_options(fixed, seed))
    usable = [r for _, r in sorted(all_found.items()) if r.num_reg_images() >= 2 and r.num_points3D()]
    return max(usable, key=lambda r: (r.num_reg_images(), r.num_points3D()), default=None)


def _mapper_options(fixed: bool, seed: int) -> Any:
    import pycolmap

    options = pycolmap.GlobalPipelineOptions(num_threads=1, random_seed=seed)
    mapper = options.mapper
    mapper.num_threads, mapper.random_seed = 1, seed
    mapper.track_required_tracks_per_view = _TRACKS_PER_VIEW
    mapper.global_positioning.use_gpu = mapper.bundle_adjustment.ceres.use_gpu = False
    mapper.global_positioning.random_seed = mapper.rotation_averaging.random_seed = seed
    mapper.retriangulation.random_seed = seed
    mapper.bundle_adjustment.ceres.solver_options.num_threads = 1
    mapper.bundle_adjustment.refine_focal_length = not fixed
    mapper.bundle_adjustment.refine_extra_params = not fixed
    return options


def gauge_fixed_adjuster(reconstruction: Any, options: Any) -> Any:
    """A bundle adjustment of all registered images, with the first camera and one length fixed. One thread."""
    import pycolmap

    config = pycolmap.BundleAdjustmentConfig()
    options.ceres.use_gpu = False
    options.ceres.solver_options.num_threads = 1
    for image in sorted(reconstruction.reg_image_ids()):
        config.add_image(image)
    config.fix_gauge(pycolmap.BundleAdjustmentGauge.TWO_CAMS_FROM_WORLD)
    return pycolmap.create_default_ceres_bundle_adjuster(options, config, reconstruction)


def focal_formal_px(reconstruction: Any, adjuster: Any) -> Float64[np.ndarray, "c"]:
    """Formal σ of the focal length of each camera, by the covariance of the bundle adjustment; infinity if unknown."""
    blocks = _lens_covariance(reconstruction, adjuster)
    return np.array([np.inf if block is None else np.sqrt(max(0.0, block[0, 0])) for block in blocks])


def _lens_covariance(reconstruction: Any, adjuster: Any) -> list[np.ndarray | None]:
    """Of the parameters of each camera that were adjusted, for 1 px of noise."""
    import pycolmap

    with quiet():
        covariance = pycolmap.estimate_ba_covariance(pycolmap.BACovarianceOptions(), reconstruction, adjuster)
    cameras = [camera for _, camera in sorted(reconstruction.cameras.items())]
    return [None if covariance is None else covariance.get_other_params_cov(camera.params) for camera in cameras]


def _with_principal_point(reconstruction: Any) -> SparseReconstruction:
    """The reconstruction, adjusted once more with a free principal point.

    A wrong one bends the reconstruction of a camera that turns much: in three rooms where somebody looks around, focal
    lengths are 12 to 18 % too long with the principal point in the middle of the picture, and within 2 % with this one.
    Where the footage does not determine it (its height, of a level camera that turns), it stays near the middle: the
    adjustment has a Gaussian prior of `CENTRE_RELATIVE_SIGMA`.
    """
    import pyceres
    import pycolmap

    noise_px = _as_arrays(reconstruction).noise_px * _DEPENDENT_ERRORS
    [camera] = reconstruction.cameras.values()
    options = pycolmap.BundleAdjustmentOptions(refine_principal_point=True, print_summary=False)
    options.ceres.loss_function_type = pycolmap.LossFunctionType.SOFT_L1
    adjuster = gauge_fixed_adjuster(reconstruction, options)
    middle = np.array([0.0, camera.width / 2, camera.height / 2, 0.0])
    sigma_px = CENTRE_RELATIVE_SIGMA * camera.focal_length_x
    prior = pyceres.factors.NormalPrior(middle, np.diag([_ANY, sigma_px, sigma_px, _ANY]) ** 2 / noise_px**2)
    adjuster.problem.add_residual_block(prior, None, [camera.params])
    with quiet():
        adjuster.solve()
    reconstruction.update_point_3d_errors()
    covariance = _lens_covariance(reconstruction, adjuster)[0]
    sigmas = np.full(3, np.inf) if covariance is None else np.sqrt(np.maximum(np.diag(covariance)[:3], 0.0))
    centre = np.fmin(CENTRE_RELATIVE_SIGMA, np.hypot(_CENTRE_FLOOR, noise_px * sigmas[1:] / camera.focal_length_x))
    return replace(
        _as_arrays(reconstruction),
        focal_formal_px=float(sigmas[0]),
        centre_relative_sigma=(float(centre[0]), float(centre[1])),
    )


def _as_arrays(reconstruction: Any) -> SparseReconstruction:
    [camera] = reconstruction.cameras.values()
    images, ids = _registered(reconstruction), sorted(reconstruction.point3D_ids())
    seen = _observations(images, ids)
    return SparseReconstruction(
        camera=_intrinsics(camera),
        focal_formal_px=0.0,
        places=np.array([int(image.name) for image in images], dtype=np.int64),
        cam_from_world=_cam_from_world(images),
        xyz_world=_xyz_world(reconstruction, ids),
        error_px=np.array([reconstruction.point3D(i).error for i in ids], dtype=np.float64),
        point=seen.point,
        place=seen.place,
        keypoint=seen.keypoint,
        xy_px=seen.xy_px,
    )


class _Observations(NamedTuple):
    """As in `SparseReconstruction`."""

    point: Int64[np.ndarray, "o"]
    place: Int64[np.ndarray, "o"]
    keypoint: Int64[np.ndarray, "o"]
    xy_px: Float64[np.ndarray, "o 2"]


def _registered(reconstruction: Any) -> list[Any]:
    """COLMAP's images that have a pose, by their place."""
    return sorted((i for i in reconstruction.images.values() if i.has_pose), key=lambda image: image.name)


def _observations(images: Sequence[Any], ids: Sequence[int]) -> _Observations:
    """Of points with these ids."""
    row = {point: number for number, point in enumerate(ids)}
    observed = [
        (row[p.point3D_id], int(image.name), k, p.xy[0], p.xy[1])
        for image in images
        for k, p in enumerate(image.points2D)
        if p.has_point3D()
    ]
    table = np.array(observed, dtype=np.float64).reshape(-1, 5)
    point, place, keypoint = table[:, :3].T.astype(np.int64)
    return _Observations(point=point, place=place, keypoint=keypoint, xy_px=table[:, 3:] - 0.5)


def _cam_from_world(images: Sequence[Any]) -> Float64[np.ndarray, "k 4 4"]:
    poses = np.tile(np.eye(4), (len(images), 1, 1))
    poses[:, :3] = [image.cam_from_world().matrix() for image in images]
    return poses


def _xyz_world(reconstruction: Any, ids: Sequence[int]) -> Float64[np.ndarray, "p 3"]:
    return np.array([reconstruction.point3D(i).xyz for i in ids]).reshape(-1, 3)


def _intrinsics(camera: Any) -> Intrinsics:
    extra = camera.extra_params_idxs()
    return Intrinsics(
        width_px=int(camera.width),
        height_px=int(camera.height),
        fx_px=float(camera.focal_length_x),
        fy_px=float(camera.focal_length_y),
        cx_px=float(camera.principal_point_x) - 0.5,
        cy_px=float(camera.principal_point_y) - 0.5,
        k1=float(camera.params[extra[0]]) if len(extra) else 0.0,
    )
