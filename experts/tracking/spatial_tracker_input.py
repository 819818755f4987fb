"""Converts inputs of SpatialTracker V2 to its sizes and units, and its predictions back to ours."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Float64, UInt8

from experts.clip import Clip
from experts.intrinsics import Intrinsics
from experts.signals import ValidArea
from experts.tracking.learned_tracks import FollowSettings, new_points
from experts.tracking.world_tracks import PosedDepth

_PATCH_PX = 14


@dataclass(frozen=True, kw_only=True)
class TrackerInput:
    """One window of frames."""

    known: PosedDepth
    """Its frames."""
    video: UInt8[np.ndarray, "n h w 3"]
    """At the network's size."""
    z: Float32[np.ndarray, "n h w"]
    """Depth in the network's unit; 0 unknown."""
    valid: Bool[np.ndarray, "h w"]
    unit: float
    """Path units per unit of the network."""

    @classmethod
    def of(
        cls, clip: Clip, known: PosedDepth, area: ValidArea | None, short_side_px: int, median_depth: float
    ) -> "TrackerInput":
        """Reads the frames. `median_depth` is the median depth in the network's unit."""
        import cv2

        size = network_size(clip.width_px, clip.height_px, short_side_px)
        pictures = (cv2.resize(rgb, size, interpolation=cv2.INTER_AREA) for _, rgb in clip.read(known.frames.tolist()))
        valid = np.ones(size[::-1], dtype=bool)
        if area is not None:
            valid = cv2.resize(area.valid.astype(np.float32), size, interpolation=cv2.INTER_AREA) > 0.999
        z = np.stack([nearest(known.z(n), size) for n in range(len(known.frames))])
        unit = float(np.nanmedian(z)) / median_depth if np.isfinite(z).any() else 1.0
        z = np.nan_to_num(z / np.float32(unit), nan=0.0, posinf=0.0, neginf=0.0).astype(np.float32)
        return cls(known=known, video=np.stack(list(pictures)), z=z, valid=valid, unit=unit)

    @property
    def known_share(self) -> float:
        """Share of pixels with depth."""
        return float((self.z > 0).mean())

    @property
    def camera(self) -> Intrinsics:
        """Intrinsics at the network's size."""
        return self.known.path.intrinsics.scaled(self.video.shape[2], self.video.shape[1])

    def queries(self, following: FollowSettings) -> Float32[np.ndarray, "m 3"]:
        """(frame, x, y): points with texture, inside the valid area, whose depth the network accepts."""
        import cv2

        far = 10 * float(np.quantile(self.z[self.z > 0], 0.25))
        found = []
        for at in np.unique(np.round(np.linspace(0, len(self.z) - 1, following.starts + 1)[:-1]).astype(int)):
            grey = np.asarray(cv2.cvtColor(self.video[at], cv2.COLOR_RGB2GRAY), dtype=np.uint8)
            usable = self.valid & (self.z[at] > 0.1) & (self.z[at] < far)
            xy = new_points(grey, usable, np.zeros((0, 2)), following)
            found.append(np.column_stack([np.full(len(xy), at), xy]))
        return np.concatenate(found).astype(np.float32)

    def arrays(self, queries: Float32[np.ndarray, "m 3"]) -> dict[str, np.ndarray]:
        """Arrays for `experts.runtime.workers.spatial_tracker_v2.run`."""
        poses = self.known.world_from_cam
        poses = np.linalg.inv(poses[0]) @ poses
        poses[:, :3, 3] /= self.unit
        k = np.repeat(self.camera.matrix[None], len(poses), axis=0)
        return {
            "video": self.video,
            "z": self.z,
            "k": k.astype(np.float32),
            "world_from_cam": poses.astype(np.float32),
            "queries": queries,
        }

    def decoded(
        self,
        prediction: Mapping[str, np.ndarray],
        queries: Float32[np.ndarray, "m 3"],
        min_confidence: float,
        start_px: float,
    ) -> tuple[Float64[np.ndarray, "m n 2"], Float64[np.ndarray, "m n"], Float64[np.ndarray, "m"]]:
        """Full-size pixels and depth in path units, NaN where not tracked; and the median confidence of each track."""
        height, width = self.valid.shape
        intrinsics = self.known.path.intrinsics
        factor = np.array([intrinsics.width_px / width, intrinsics.height_px / height])
        xyz = prediction["xyz"].astype(np.float64).swapaxes(0, 1)
        confidence = (prediction["visibility"] * prediction["confidence"]).T.astype(np.float64)
        xy, z = (xyz[..., :2] + 0.5) * factor - 0.5, xyz[..., 2] * self.unit
        row, start = np.arange(len(queries)), queries[:, 0].astype(np.int64)
        start_error = np.linalg.norm(xy[row, start] - ((queries[:, 1:] + 0.5) * factor - 0.5), axis=1)
        with np.errstate(invalid="ignore"):
            good = np.isfinite(xyz).all(axis=-1) & (z > 0) & (confidence >= min_confidence)
            good &= intrinsics.contains(xy) & (start_error <= start_px)[:, None]
        good &= np.arange(z.shape[1])[None] >= start[:, None]  # the network does not track backwards
        sure = np.array([np.median(c[g]) if g.any() else 0.0 for c, g in zip(confidence, good, strict=True)])
        return np.where(good[..., None], xy, np.nan), np.where(good, z, np.nan), np.clip(sure, 0.0, 1.0)


def network_size(width_px: int, height_px: int, short_side_px: int) -> tuple[int, int]:
    """(width, height) that upstream does not resize: its short side, in multiples of its patch size."""
    factor = short_side_px / min(width_px, height_px)
    width, height = (max(1, round(side * factor / _PATCH_PX)) * _PATCH_PX for side in (width_px, height_px))
    return width, height


def nearest(z: Float32[np.ndarray, "h w"], size: tuple[int, int]) -> Float32[np.ndarray, "net_h net_w"]:
    """Nearest-neighbour resampling of a depth map to (width, height): interpolation would mix surfaces."""
    rows = np.floor((np.arange(size[1]) + 0.5) * z.shape[0] / size[1]).astype(int)
    columns = np.floor((np.arange(size[0]) + 0.5) * z.shape[1] / size[0]).astype(int)
    return z[np.ix_(rows, columns)]
