"""How well the footage determines the focal length: bundle adjustments of a reconstruction with other cameras.

A reconstruction with one focal length mistakes a zoom for a translation; with one per group of keyframes, the zoom
shows. Another camera model (distortion) gives another focal length where the footage does not determine it, by far
more than the formal σ says.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.mapping.colmap_features import quiet
from experts.mapping.colmap_mapping import SparseReconstruction, focal_formal_px, gauge_fixed_adjuster

_MODELS = ("SIMPLE_PINHOLE", "RADIAL", "OPENCV")
"""COLMAP's camera models other than that of the reconstruction."""

_ITERATIONS = 25
"""Bundle adjustments start at a solution: further iterations change nothing (measured on two sets)."""
_TOLERANCE = 1e-6
"""They end when the cost changes by less than this share: ln focal length is then within 1e-5 of where 25 iterations
take it (measured on a rendered room), in a third of the time."""


@dataclass(frozen=True, kw_only=True)
class FocalChange:
    """Change of the focal length over a clip."""

    range: float
    """Largest minus smallest ln focal length of the groups of keyframes."""
    sigma: float
    """Formal σ of it."""


def focal_change(sparse: SparseReconstruction, groups: int) -> FocalChange:
    """Fits a focal length to each of `groups` runs of consecutive keyframes."""
    count = len(sparse.places)
    number = min(groups, count)
    ln_factor, sigma = _focal(sparse, *adjusted(sparse, np.arange(count) * number // count, "SIMPLE_RADIAL"))
    largest, smallest = int(ln_factor.argmax()), int(ln_factor.argmin())
    return FocalChange(
        range=float(ln_factor[largest] - ln_factor[smallest]), sigma=float(np.hypot(sigma[largest], sigma[smallest]))
    )


def refitted_focal(sparse: SparseReconstruction) -> tuple[float, float]:
    """(ln of the focal length that fits best over that of the reconstruction, formal σ), distortion unchanged."""
    ln_factor, sigma = _focal(sparse, *adjusted(sparse, one_group(sparse), "SIMPLE_RADIAL"))
    return float(ln_factor[0]), float(sigma[0])


def focal_spread(sparse: SparseReconstruction) -> float:
    """Standard deviation of the ln focal lengths of four camera models: the reconstruction's, without distortion, with
    more of it."""
    others = [
        _ln_factors(sparse, adjusted(sparse, one_group(sparse), model, free_lens=True)[0])[0] for model in _MODELS
    ]
    return float(np.std([0.0, *others]))


def one_group(sparse: SparseReconstruction) -> Int64[np.ndarray, "k"]:
    """All keyframes with one camera."""
    return np.zeros(len(sparse.places), dtype=np.int64)


def adjusted(
    sparse: SparseReconstruction,
    group: Int64[np.ndarray, "k"],
    model: str,
    *,
    free_focal: bool = True,
    free_lens: bool = False,
) -> tuple[Any, Any]:
    """(COLMAP's reconstruction with a camera for each group of keyframes, its solved bundle adjuster). Poses and
    points are free, focal lengths unless told otherwise, the distortion if asked for."""
    import pycolmap

    reconstruction = _as_colmap(sparse, group, model)
    options = pycolmap.BundleAdjustmentOptions(
        refine_focal_length=free_focal,
        refine_extra_params=free_lens,
        print_summary=False,
    )
    options.ceres.loss_function_type = pycolmap.LossFunctionType.SOFT_L1
    options.ceres.solver_options.max_num_iterations = _ITERATIONS
    options.ceres.solver_options.function_tolerance = _TOLERANCE
    adjuster = gauge_fixed_adjuster(reconstruction, options)
    with quiet():
        adjuster.solve()
    return reconstruction, adjuster


def _focal(
    sparse: SparseReconstruction, reconstruction: Any, adjuster: Any
) -> tuple[Float64[np.ndarray, "g"], Float64[np.ndarray, "g"]]:
    """(ln of each camera's focal length over that of `sparse`, formal σ or infinity)."""
    ln_factor = _ln_factors(sparse, reconstruction)
    sigma_px = sparse.noise_px * focal_formal_px(reconstruction, adjuster)
    return ln_factor, sigma_px / (sparse.camera.fx_px * np.exp(ln_factor))


def _ln_factors(sparse: SparseReconstruction, reconstruction: Any) -> Float64[np.ndarray, "g"]:
    found = [camera.mean_focal_length() for _, camera in sorted(reconstruction.cameras.items())]
    return np.log(np.maximum(found, 1e-6) / sparse.camera.fx_px)


def _as_colmap(sparse: SparseReconstruction, group: Int64[np.ndarray, "k"], model: str) -> Any:
    """A COLMAP reconstruction with one camera per group. Rows of pixels are stretched to make pixels square."""
    import pycolmap

    camera = sparse.camera
    stretch = np.array([1.0, camera.fx_px / camera.fy_px])
    centre = np.array([camera.cx_px, camera.cy_px])
    reconstruction = pycolmap.Reconstruction()
    for number in np.unique(group):
        one = pycolmap.Camera.create_from_model_name(
            int(number) + 1, model, camera.fx_px, camera.width_px, camera.height_px
        )
        one.principal_point_x, one.principal_point_y = centre + 0.5
        if len(extra := list(one.extra_params_idxs())):
            one.params = [camera.k1 if k == extra[0] else value for k, value in enumerate(one.params)]
        reconstruction.add_camera_with_trivial_rig(one)
    tracks = [pycolmap.Track() for _ in sparse.xyz_world]
    for row, place in enumerate(sparse.places):
        seen = np.flatnonzero(sparse.place == place)
        image = pycolmap.Image(name=f"{place:06d}", camera_id=int(group[row]) + 1, image_id=row + 1)
        square = (sparse.xy_px[seen] - centre) * stretch + centre + 0.5
        image.points2D = pycolmap.Point2DList([pycolmap.Point2D(xy) for xy in square])
        reconstruction.add_image_with_trivial_frame(image, pycolmap.Rigid3d(sparse.cam_from_world[row, :3]))
        for number, observation in enumerate(seen):
            tracks[sparse.point[observation]].add_element(row + 1, number)
    for point in np.flatnonzero(seen_twice(sparse)).tolist():
        reconstruction.add_point3D(sparse.xyz_world[point], tracks[point])
    return reconstruction


def seen_twice(sparse: SparseReconstruction) -> Bool[np.ndarray, "p"]:
    """Points that at least two keyframes see."""
    return np.bincount(sparse.point, minlength=len(sparse.xyz_world)) >= 2
