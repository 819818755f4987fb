"""The camera of a sequence: read from files, reduced to one radial term; the fisheye lens of Aria."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Int64

from experts.intrinsics import Intrinsics
from spatial_engine.errors import UsageError
from spatial_engine.sequences.manifest import Camera, CameraFiles, matching


def read_numbers(path: Path) -> Float64[np.ndarray, "r c"]:
    """Rows of a text; "#" begins a comment. Raises `UsageError` for anything else, and for a text without numbers."""
    try:
        lines = [line.partition("#")[0].split() for line in path.read_text(encoding="utf-8").splitlines()]
        rows = np.array([line for line in lines if line], dtype=np.float64)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read as numbers: {error}", "rows of numbers, with blanks between"
        ) from error
    if rows.ndim != 2:
        raise UsageError(f"{path} holds no numbers", "rows of numbers, with blanks between")
    return rows


_AGREE = 0.02
"""Cameras that differ by more are several cameras."""
_BENT = 0.01
"""Largest error of a lens model with one radial term, as a share of the diagonal."""
_MOST = 0.95
"""Part of the picture over which that error is measured. TUM's first Kinect is missed by 0.5 % (its first term alone
would by 4 %)."""
_HALF = 0.5
"""COLMAP and nerfstudio put the corner of the first pixel at (0, 0); here its centre is."""
_COLMAP = {
    "SIMPLE_PINHOLE": ("f", "cx", "cy"),
    "PINHOLE": ("fx", "fy", "cx", "cy"),
    "SIMPLE_RADIAL": ("f", "cx", "cy", "k1"),
    "RADIAL": ("f", "cx", "cy", "k1", "k2"),
    "OPENCV": ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2"),
}
_UNDISTORT = "undistort the images first, with the dataset's own tools"


def read_camera(folder: Path, stated: CameraFiles) -> Camera:
    """The camera that files state. Raises `UsageError`, also where they state several."""
    paths = matching(folder, stated.files)
    if not paths:
        raise UsageError(f"cameras: no file matches {stated.files!r} in {folder}", "correct the pattern")
    cameras = [camera for path in paths for camera in _cameras_in(path, stated.form)]
    return replace(one_camera(cameras, stated.files), focal_relative_sigma=_sigma(cameras, stated.focal_relative_sigma))


def one_camera(cameras: Sequence[Camera], source: str) -> Camera:
    """The median of cameras that agree within 2 %; where they differ, σ covers the difference. Raises `UsageError`."""
    focal = np.array([camera.fx for camera in cameras])
    if np.ptp(focal) > _AGREE * np.median(focal):
        raise UsageError(
            f"{source}: focal lengths from {focal.min():g} to {focal.max():g} px, and a clip has one camera",
            "name the images of one camera, or state stills: true",
        )
    median = {
        field.name: float(np.median([getattr(camera, field.name) for camera in cameras])) for field in fields(Camera)
    }
    return replace(Camera(**median), focal_relative_sigma=_sigma(cameras, median["focal_relative_sigma"]))


def intrinsics_of(camera: Camera, width_px: int, height_px: int) -> tuple[Intrinsics, float]:
    """The camera with the one radial term that fits best, and by how many pixels that misses (95 % of the picture).

    Raises `UsageError` where that is more than 1 % of the diagonal: such a lens cannot be held.
    """
    k1, missed_px = camera.k1, 0.0
    if any((camera.k2, camera.p1, camera.p2, camera.k3)):
        k1, missed_px = _one_term(camera, width_px, height_px)
    if missed_px > _BENT * np.hypot(width_px, height_px):
        raise UsageError(f"no single radial term comes nearer to this lens than {missed_px:.0f} px", _UNDISTORT)
    held = Intrinsics(
        width_px=width_px,
        height_px=height_px,
        fx_px=camera.fx,
        fy_px=camera.fy,
        cx_px=camera.cx,
        cy_px=camera.cy,
        k1=k1,
    )
    return held, missed_px


def _one_term(camera: Camera, width_px: int, height_px: int) -> tuple[float, float]:
    """Least squares over the picture: x_distorted - x = k1·r²·x."""
    x, y = np.meshgrid(
        (np.linspace(0, width_px, 33) - camera.cx) / camera.fx, (np.linspace(0, height_px, 25) - camera.cy) / camera.fy
    )
    square = x**2 + y**2
    radial = camera.k1 * square + camera.k2 * square**2 + camera.k3 * square**3
    off_x = x * radial + 2 * camera.p1 * x * y + camera.p2 * (square + 2 * x**2)
    off_y = y * radial + 2 * camera.p2 * x * y + camera.p1 * (square + 2 * y**2)
    k1 = float(np.sum(square * (x * off_x + y * off_y)) / np.sum(square**3))
    missed = np.hypot(camera.fx * (off_x - k1 * square * x), camera.fy * (off_y - k1 * square * y))
    return k1, float(np.quantile(missed, _MOST))


def _sigma(cameras: Sequence[Camera], least: float) -> float:
    focal = np.array([camera.fx for camera in cameras])
    return max(least, float(np.std(focal) / np.median(focal)))


def _cameras_in(path: Path, form: str) -> Iterator[Camera]:
    try:
        if form == "colmap":
            yield from _colmap(path)
        elif form == "nerfstudio":
            yield nerfstudio_camera(json.loads(path.read_text(encoding="utf-8")), path)
        else:
            yield _numbers(read_numbers(path).ravel(), form)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{path} is no camera as {form}: {error}", "matrix, pincam, colmap or nerfstudio") from error


def _numbers(values: np.ndarray, form: str) -> Camera:
    if form == "pincam":
        _, _, fx, fy, cx, cy = values
        return Camera(fx=float(fx), fy=float(fy), cx=float(cx), cy=float(cy))
    return of_matrix(values.reshape(*{9: (3, 3), 12: (3, 4), 16: (4, 4)}[len(values)]))


def of_matrix(matrix: np.ndarray, corner: bool = False) -> Camera:
    """The camera of a K or a projection matrix. `corner`: its (0, 0) is the corner of the first pixel, not its
    centre."""
    half = _HALF if corner else 0.0
    return Camera(
        fx=float(matrix[0, 0]), fy=float(matrix[1, 1]), cx=float(matrix[0, 2]) - half, cy=float(matrix[1, 2]) - half
    )


def _colmap(path: Path) -> Iterator[Camera]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        _, model, _, _, *values = line.split()
        if model not in _COLMAP:
            raise UsageError(f"{path}: a camera of COLMAP's model {model}", _UNDISTORT)
        named = dict(zip(_COLMAP[model], map(float, values), strict=True))
        focal = named.pop("f", None)
        named |= {"fx": focal, "fy": focal} if focal is not None else {}
        yield Camera(**named | {"cx": named["cx"] - _HALF, "cy": named["cy"] - _HALF})


def nerfstudio_camera(stated: dict, path: Path) -> Camera:  # type: ignore[type-arg]
    """The camera of a transforms.json. Raises `UsageError` for a fisheye."""
    model = str(stated.get("camera_model", "OPENCV"))
    if model not in ("OPENCV", "PINHOLE", "SIMPLE_PINHOLE") or stated.get("is_fisheye"):
        raise UsageError(f"{path}: a camera of the model {model}", _UNDISTORT)
    terms = {name: float(stated.get(name, 0.0)) for name in ("k1", "k2", "p1", "p2", "k3")}
    fx, fy = float(stated["fl_x"]), float(stated.get("fl_y", stated["fl_x"]))
    return Camera(fx=fx, fy=fy, cx=float(stated["cx"]) - _HALF, cy=float(stated["cy"]) - _HALF, **terms)


@dataclass(frozen=True, kw_only=True)
class Fisheye624:
    """f, cx, cy, six radial, two tangential, four thin-prism terms (projectaria_tools' FISHEYE624)."""

    params: tuple[float, ...]

    def project(self, rays: Float64[np.ndarray, "*n 3"]) -> Float64[np.ndarray, "*n 2"]:
        """Pixels of directions ahead of the camera."""
        focal, cx, cy = self.params[:3]
        radial, tangential, prism = self.params[3:9], self.params[9:11], self.params[11:15]
        flat = rays[..., :2] / rays[..., 2:]
        r = np.linalg.norm(flat, axis=-1, keepdims=True)
        angle = np.arctan(r)
        bent = angle * (1 + sum(k * angle ** (2 * power) for power, k in enumerate(radial, start=1)))
        uv = flat * np.where(r > 1e-12, bent / np.maximum(r, 1e-12), 1.0)
        square = np.sum(uv**2, axis=-1, keepdims=True)
        across = 2 * np.sum(uv * tangential, axis=-1, keepdims=True)
        tilted = uv + across * uv + square * np.array(tangential)
        thin = np.concatenate(
            [prism[0] * square + prism[1] * square**2, prism[2] * square + prism[3] * square**2], axis=-1
        )
        return focal * (tilted + thin) + [cx, cy]

    def undistorted(
        self, camera: Camera, width_px: int, height_px: int, read: Callable[[Path], np.ndarray]
    ) -> Callable[[Path], np.ndarray]:
        """Reads a map of this lens as a pinhole camera at the same place sees it: the nearest pixel of each."""
        x, y = np.meshgrid(np.arange(width_px), np.arange(height_px))
        rays = np.stack([(x - camera.cx) / camera.fx, (y - camera.cy) / camera.fy, np.ones(x.shape)], axis=-1)
        column, row = np.moveaxis(np.rint(self.project(rays)).astype(int), -1, 0)

        return partial(_looked_up, read, row, column)


def _looked_up(
    read: Callable[[Path], np.ndarray], row: Int64[np.ndarray, "h w"], column: Int64[np.ndarray, "h w"], path: Path
) -> np.ndarray:
    """The values of a map at these places; 0 outside of it."""
    seen = read(path)
    inside = (row >= 0) & (row < seen.shape[0]) & (column >= 0) & (column < seen.shape[1])
    found = seen[np.clip(row, 0, seen.shape[0] - 1), np.clip(column, 0, seen.shape[1] - 1)]
    return np.where(inside, found, 0)
