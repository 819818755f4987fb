"""The lens of Aria's cameras, for looking up in a fisheye picture what a picture without distortion shows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64

from spatial_engine.sequences.manifest import Camera


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

        def look_up(path: Path) -> np.ndarray:
            seen = read(path)
            inside = (row >= 0) & (row < seen.shape[0]) & (column >= 0) & (column < seen.shape[1])
            found = seen[np.clip(row, 0, seen.shape[0] - 1), np.clip(column, 0, seen.shape[1] - 1)]
            return np.where(inside, found, 0)

        return look_up
