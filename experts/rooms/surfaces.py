"""What a clip sees of surfaces: points, their normals, and the cameras that see them."""

from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy.ndimage import uniform_filter

from experts.depth.depth_reprojection import pixel_grid
from experts.depth.depth_views import UnprojectionSettings, View, views_of
from experts.signals import CameraPath, Depth, SparsePoints


@dataclass(frozen=True, kw_only=True)
class SurfaceSettings:
    """Which pixels count."""

    frames: int = 24
    """Largest number of frames, evenly spaced."""
    rows: int = 96
    """Rows of the grid of pixels that is used of each frame."""
    window: int = 5
    """Side of the window, in grid pixels, to which a plane is fitted."""
    bend: float = 0.004
    """Largest root mean square of the residuals of that plane, relative to depth, ⊕ ..."""
    bend_sigmas: float = 0.7
    """... this many σ of depth. A step of one tenth in depth gives 0.05."""
    grazing_rad: float = float(np.deg2rad(83.0))
    """Largest angle between the surface's normal and the ray to it."""
    neighbours: int = 3
    """Where depth is not plane, a pixel counts if this many of its eight neighbours ..."""
    same_depth: float = 0.03
    """... differ from it by less than this share."""
    max_outlier_probability: float = 0.1
    """Of a sparse point."""


@dataclass(frozen=True, kw_only=True)
class Surfaces:
    """Surface points, each seen from a camera, in the world of the path."""

    xyz: Float64[np.ndarray, "p 3"]
    normal: Float64[np.ndarray, "p 3"]
    """Unit vector towards the camera; NaN where unknown."""
    camera: Float64[np.ndarray, "p 3"]
    """Position of the camera that sees the point."""
    view: Int64[np.ndarray, "p"]
    """Which view that is."""
    relative_sigma: Float64[np.ndarray, "p"]
    """σ of the distance from the camera, relative."""
    noise: Float64[np.ndarray, "p"]
    """The part of it that differs from pixel to pixel."""

    @classmethod
    def none(cls) -> "Surfaces":
        """No points."""
        xyz, one = np.zeros((0, 3)), np.zeros(0)
        return cls(xyz=xyz, normal=xyz, camera=xyz, view=np.zeros(0, np.int64), relative_sigma=one, noise=one)

    def __len__(self) -> int:
        return len(self.xyz)

    def of(self, rows: Bool[np.ndarray, "p"] | Int64[np.ndarray, "k"] | slice) -> "Surfaces":
        """Some of the points."""
        return Surfaces(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})

    @property
    def is_plane(self) -> Bool[np.ndarray, "p"]:
        """Whether the normal is known."""
        return np.isfinite(self.normal[:, 0])

    def moved(self, into: Float64[np.ndarray, "4 4"]) -> "Surfaces":
        """The points in other axes."""
        rotation, shift = into[:3, :3], into[:3, 3]
        xyz, camera = self.xyz @ rotation.T + shift, self.camera @ rotation.T + shift
        return replace(self, xyz=xyz, normal=self.normal @ rotation.T, camera=camera)

    def thinned(self, cell: float) -> "Surfaces":
        """One point of each cube of space: then the number of points is an area."""
        at = np.floor((self.xyz - self.xyz.min(axis=0)) / cell).astype(np.uint64)
        number = at @ np.array([1, 1_000_003, 1_000_003**2], dtype=np.uint64)
        return self.of(np.unique(number, return_index=True)[1])


def from_depth(depth: Depth, path: CameraPath, settings: SurfaceSettings) -> Surfaces:
    """Points of frames with depth and pose. They have a normal where the depth around them is plane."""
    frames = np.intersect1d(depth.frames, path.frames)
    frames = frames[np.unique(np.linspace(0, max(len(frames) - 1, 0), min(settings.frames, len(frames))).astype(int))]
    rows = min(settings.rows, depth.z.shape[1])
    size = rows, max(1, round(rows * depth.z.shape[2] / depth.z.shape[1]))
    views = views_of(frames, size, depth, path, UnprojectionSettings())
    parts = [_of_view(view, k, settings) for k, view in enumerate(views) if view is not None]
    return _joined(parts)


def from_points(points: SparsePoints, path: CameraPath, settings: SurfaceSettings) -> Surfaces:
    """The sparse points, once for each camera that sees them."""
    rows = np.searchsorted(path.frames, points.observation_frame).clip(0, len(path.frames) - 1)
    camera = path.world_from_cam[rows, :3, 3]
    p = points.observation_point
    good = (path.frames[rows] == points.observation_frame) & np.isfinite(camera).all(axis=1)
    good &= np.isfinite(points.xyz_world[p]).all(axis=1)
    good &= points.outlier_probability[p] <= settings.max_outlier_probability
    p = p[good]
    return Surfaces(
        xyz=points.xyz_world[p],
        normal=np.full((len(p), 3), np.nan),
        camera=camera[good],
        view=rows[good],
        relative_sigma=points.range_relative_sigma[p],
        noise=np.zeros(len(p)),
    )


def _joined(parts: list[Surfaces]) -> Surfaces:
    names = [each.name for each in fields(Surfaces)]
    together = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names if parts}
    return Surfaces(**together) if parts else Surfaces.none()


def _of_view(view: View, number: int, settings: SurfaceSettings) -> Surfaces:
    """1/z of a plane is linear in the ray's x/z and y/z: a, b and c of 1/z = a·x/z + b·y/z + c are its normal over its
    distance. They are fitted to a window around each pixel."""
    height, width = view.z.shape
    rays = view.camera.rays(pixel_grid(height, width, view.camera)).reshape(height, width, 3)
    x, y = np.moveaxis(rays[..., :2] / rays[..., 2:], -1, 0)
    with np.errstate(divide="ignore"):
        inverse = 1 / view.z.astype(np.float64)
    known = np.isfinite(inverse)
    inverse = np.where(known, inverse, 0.0)
    mean_x, mean_y, mean = (_mean(v, settings.window) for v in (x, y, inverse))
    xx, xy, yy = (
        _mean(p, settings.window) - q for p, q in ((x * x, mean_x**2), (x * y, mean_x * mean_y), (y * y, mean_y**2))
    )
    xi, yi, ii = (
        _mean(p, settings.window) - q
        for p, q in ((x * inverse, mean_x * mean), (y * inverse, mean_y * mean), (inverse**2, mean**2))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        determinant = xx * yy - xy * xy
        a, b = (xi * yy - yi * xy) / determinant, (yi * xx - xi * xy) / determinant
        fitted = mean + a * (x - mean_x) + b * (y - mean_y)
        residual = np.sqrt(np.maximum(ii - a * xi - b * yi, 0)) / fitted
        plane = np.stack([a, b, fitted - a * x - b * y], axis=-1)
        normal = -plane / np.linalg.norm(plane, axis=-1, keepdims=True)
        sigma = view.relative_sigma.astype(np.float64)
        good = (_mean(known.astype(float), settings.window) > 1 - 1e-9) & (fitted > 0)
        good &= residual <= np.hypot(settings.bend, settings.bend_sigmas * sigma)
        good &= -np.sum(normal * rays, axis=-1) >= np.cos(settings.grazing_rad)
    used = good | _supported(view.z, settings)
    z = np.where(good, 1 / np.where(good, fitted, 1.0), view.z)[used]
    rotation, position = view.world_from_cam[:3, :3], view.world_from_cam[:3, 3]
    return Surfaces(
        xyz=np.stack([x[used] * z, y[used] * z, z], axis=-1) @ rotation.T + position,
        normal=np.where(good[..., None], normal, np.nan)[used] @ rotation.T,
        camera=np.broadcast_to(position, (len(z), 3)),
        view=np.full(len(z), number, dtype=np.int64),
        relative_sigma=sigma[used],
        noise=np.where(good, residual, 0.0)[used],
    )


def _supported(z: Float32[np.ndarray, "h w"], settings: SurfaceSettings) -> Bool[np.ndarray, "h w"]:
    """Pixels that have neighbours at their depth: not between two surfaces."""
    padded, around = np.pad(z, 1, constant_values=np.nan), np.zeros(z.shape, dtype=np.int64)
    for row in range(3):
        for column in range(3):
            other = padded[row : row + z.shape[0], column : column + z.shape[1]]
            with np.errstate(invalid="ignore"):
                around += np.abs(other / z - 1) <= settings.same_depth
    return np.asarray(around - 1 >= settings.neighbours)


def _mean(values: Float64[np.ndarray, "h w"], window: int) -> Float64[np.ndarray, "h w"]:
    return np.asarray(uniform_filter(values, window, mode="constant"))
