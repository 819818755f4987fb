"""Small grey pictures of a clip without lens distortion, and the way back to the pixels of its frames."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jaxtyping import Bool, Float32

from experts.clip import Clip
from experts.depth.depth_reprojection import pixel_grid
from experts.depth.sweep import View
from experts.intrinsics import Intrinsics
from experts.signals import CameraPath


@dataclass(frozen=True, kw_only=True)
class PinholePictures:
    """Pictures of a clip at a smaller size, as a camera without distortion sees them."""

    clip: Clip
    path: CameraPath
    camera: Intrinsics
    """Without distortion, at the size of the pictures."""
    into_frame: Float32[np.ndarray, "h w 2"]
    """Pixel of the smaller frame that each pixel of a picture shows."""
    from_frame: Float32[np.ndarray, "h w 2"]
    """The inverse."""

    @classmethod
    def of(cls, clip: Clip, path: CameraPath, side_px: int) -> "PinholePictures":
        """Pictures whose longer side has at most `side_px` pixels."""
        full = path.intrinsics
        factor = min(1.0, side_px / max(full.width_px, full.height_px))
        lens = full.scaled(max(2, round(full.width_px * factor)), max(2, round(full.height_px * factor)))
        camera = Intrinsics(**{**vars(lens), "k1": 0.0})
        grid = pixel_grid(lens.height_px, lens.width_px, lens)
        shape = (lens.height_px, lens.width_px, 2)
        return cls(
            clip=clip,
            path=path,
            camera=camera,
            into_frame=lens.project(camera.rays(grid)).astype(np.float32).reshape(shape),
            from_frame=camera.project(lens.rays(grid)).astype(np.float32).reshape(shape),
        )

    def views(self, frames: Sequence[int]) -> Iterator[View]:
        """Views of ascending frames that have a pose."""
        rows = np.searchsorted(self.path.frames, frames)
        size = (self.camera.width_px, self.camera.height_px)
        for (_, grey), row in zip(self.clip.read_grey(frames), rows, strict=True):
            small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32)
            small = cv2.remap(small, self.into_frame, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            yield View(grey=small, cam_from_world=np.linalg.inv(self.path.world_from_cam[row]))

    def valid(self, area: Bool[np.ndarray, "a b"]) -> Bool[np.ndarray, "h w"]:
        """The valid area, given at working size, in the pixels of the pictures."""
        size = (self.camera.width_px, self.camera.height_px)
        small = cv2.resize(area.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        return cv2.remap(small, self.into_frame, None, cv2.INTER_LINEAR) >= 1

    def in_frame(self, values: Float32[np.ndarray, "h w"]) -> Float32[np.ndarray, "h w"]:
        """Values of the pictures' pixels at the pixels of the smaller frame; NaN outside the picture."""
        return cv2.remap(values, self.from_frame, None, cv2.INTER_NEAREST, borderValue=float("nan"))
