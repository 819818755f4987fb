"""Pinhole camera with one radial distortion term, in pixels of the upright full-size frame."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

_UNDISTORT_STEPS = 20


@dataclass(frozen=True, kw_only=True)
class Intrinsics:
    """Projection of a camera. Pixel (0, 0) is the *centre* of the top-left pixel. Camera axes follow OpenCV (+x right,
    +y down, +z forward)."""

    width_px: int
    """Frame width."""
    height_px: int
    """Frame height."""
    fx_px: float
    """Focal length along x, > 0."""
    fy_px: float
    """Focal length along y, > 0."""
    cx_px: float
    """x of the principal point."""
    cy_px: float
    """y of the principal point."""
    k1: float = 0.0
    """First radial coefficient (COLMAP's SIMPLE_RADIAL): x_distorted = x · (1 + k1·r²)."""

    @classmethod
    def centred(cls, width_px: int, height_px: int, focal_px: float) -> "Intrinsics":
        """A camera without distortion. Its principal point is the centre of the frame."""
        return cls(
            width_px=width_px,
            height_px=height_px,
            fx_px=focal_px,
            fy_px=focal_px,
            cx_px=(width_px - 1) / 2,
            cy_px=(height_px - 1) / 2,
        )

    @property
    def vfov_rad(self) -> float:
        """Vertical field of view, 2·atan(h / 2f_y), in radians. Distortion is ignored."""
        return float(2 * np.arctan(self.height_px / (2 * self.fy_px)))

    @property
    def matrix(self) -> Float[np.ndarray, "3 3"]:
        """The calibration matrix K, without distortion."""
        return np.array([[self.fx_px, 0, self.cx_px], [0, self.fy_px, self.cy_px], [0, 0, 1.0]])

    def scaled(self, width_px: int, height_px: int) -> "Intrinsics":
        """The same camera for frames resampled to another size. Pixel centres stay at integers."""
        sx, sy = width_px / self.width_px, height_px / self.height_px
        return Intrinsics(
            width_px=width_px,
            height_px=height_px,
            fx_px=self.fx_px * sx,
            fy_px=self.fy_px * sy,
            cx_px=(self.cx_px + 0.5) * sx - 0.5,
            cy_px=(self.cy_px + 0.5) * sy - 0.5,
            k1=self.k1,
        )

    def project(self, xyz_cam: Float[np.ndarray, "*n 3"]) -> Float[np.ndarray, "*n 2"]:
        """Pixels of points given in camera axes; NaN for points behind the camera."""
        xyz = np.asarray(xyz_cam, dtype=float)
        z = np.where(xyz[..., 2] > 1e-9, xyz[..., 2], np.nan)
        u = xyz[..., :2] / z[..., None]
        if self.k1:
            u = u * (1 + self.k1 * np.sum(u**2, axis=-1, keepdims=True))
        return u * [self.fx_px, self.fy_px] + [self.cx_px, self.cy_px]

    def rays(self, xy_px: Float[np.ndarray, "*n 2"]) -> Float[np.ndarray, "*n 3"]:
        """Unit viewing directions of pixels, in camera axes."""
        distorted = (np.asarray(xy_px, dtype=float) - [self.cx_px, self.cy_px]) / [self.fx_px, self.fy_px]
        u = distorted
        for _ in range(_UNDISTORT_STEPS if self.k1 else 0):
            u = distorted / (1 + self.k1 * np.sum(u**2, axis=-1, keepdims=True))
        ray = np.concatenate([u, np.ones_like(u[..., :1])], axis=-1)
        return ray / np.linalg.norm(ray, axis=-1, keepdims=True)

    def contains(self, xy_px: Float[np.ndarray, "*n 2"], border_px: float = 0.0) -> np.ndarray:
        """Whether pixels are inside the frame, at least `border_px` from its border. False for NaN."""
        xy = np.asarray(xy_px, dtype=float)
        upper = np.array([self.width_px - 1, self.height_px - 1]) - border_px
        with np.errstate(invalid="ignore"):
            within = (xy >= border_px) & (xy <= upper)
        return np.asarray(within[..., 0] & within[..., 1])
