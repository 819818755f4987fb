"""The camera of the pictures that are shown: that of the clip, smaller, and without distortion, which the viewer does
not know."""

import cv2
import numpy as np
import rerun as rr
from jaxtyping import Float, Int32

from experts.clip import Clip, Picture
from experts.intrinsics import Intrinsics
from spatial_engine.dataset.photo_marks import scaled, stored_size
from spatial_engine.view.timeline import Timeline

PICTURE = "world/camera/picture"
_QUALITY = 80


class PictureCamera:
    """Converts pictures, masks and pixels of the clip to those of the pictures shown."""

    def __init__(self, clip: Clip, camera: Intrinsics | None, side_px: int) -> None:
        """`camera`: that of the clip at full size; None: pictures are only made smaller."""
        self.size = stored_size(clip.width_px, clip.height_px, side_px)
        """Width and height in pixels."""
        known = camera or Intrinsics.centred(clip.width_px, clip.height_px, float(clip.width_px))
        self._full, self._small = known, known.scaled(*self.size)

    def show(self, line: Timeline, reach: float) -> None:
        """Writes the camera itself; its picture is drawn at a tenth of `reach`."""
        pinhole = rr.Pinhole(
            image_from_camera=self._small.matrix, resolution=self.size, image_plane_distance=0.1 * reach,
            camera_xyz=rr.ViewCoordinates.RDF,
        )  # fmt: skip
        line.fixed(PICTURE, pinhole)

    def show_picture(self, line: Timeline, picture: Picture) -> None:
        """Writes a picture of the clip."""
        small = scaled(picture, self.size)
        if self._full.k1:
            x, y = np.moveaxis(self._sources(), -1, 0).astype(np.float32)
            small = np.asarray(cv2.remap(small, x, y, cv2.INTER_LINEAR), dtype=np.uint8)
        done, file = cv2.imencode(".jpg", small[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
        assert done
        line.log(PICTURE, rr.EncodedImage(contents=file.tobytes(), media_type="image/jpeg"))

    def mask(self, ids: Int32[np.ndarray, "a b"]) -> Int32[np.ndarray, "h w"]:
        """A mask of the clip as one of the picture shown; -1 outside."""
        scale = np.array(ids.shape[::-1]) / self.size
        xy = np.nan_to_num(np.round((self._sources() + 0.5) * scale - 0.5), nan=-1).astype(int)
        within = np.asarray(((xy >= 0) & (xy < ids.shape[::-1])).all(axis=-1))
        x, y = np.where(within[..., None], xy, 0).transpose(2, 0, 1)
        return np.where(within, ids[y, x], -1).astype(np.int32)

    def pixels(self, xy_px: Float[np.ndarray, "n 2"]) -> Float[np.ndarray, "n 2"]:
        """Pixels of the full-size frame as those of the picture shown."""
        flat = self._full.rays(xy_px)
        return flat[:, :2] / flat[:, 2:] @ np.diag(np.diag(self._small.matrix)[:2]) + self._small.matrix[:2, 2]

    def _sources(self) -> Float[np.ndarray, "h w 2"]:
        """For each pixel shown, where it lies in the distorted picture of the same size; NaN where no pixel is."""
        x, y = np.meshgrid(np.arange(self.size[0]), np.arange(self.size[1]))
        plane = np.stack([x, y], axis=-1) - self._small.matrix[:2, 2]
        plane = plane / np.diag(self._small.matrix)[:2]
        if self._full.k1 < 0:  # farther out, the distortion would fold the picture
            plane[np.sum(plane**2, axis=-1) > -1 / (3 * self._full.k1)] = np.nan
        return self._small.project(np.concatenate([plane, np.ones_like(plane[..., :1])], axis=-1))
