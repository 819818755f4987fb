"""Which frames see the same surfaces, from which angles and at which depths: what sparse points tell."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from experts.signals import CameraPath, SparsePoints


@dataclass(frozen=True, kw_only=True)
class NeighbourSettings:
    """Which frames match each other. Angles are those between the rays to a common point."""

    count: int = 4
    """Number of neighbours that a picture is matched with."""
    common: int = 15
    """Least number of common points."""
    angle_rad: float = float(np.deg2rad(5.0))
    """The best angle: less decides depth poorly, more changes the picture. As in MVSNet (ECCV 2018), ..."""
    narrower_rad: float = float(np.deg2rad(2.0))
    """... the weight falls with this σ below it ..."""
    wider_rad: float = float(np.deg2rad(10.0))
    """... and with this one above it."""
    least_rad: float = float(np.deg2rad(1.0))
    """Least angle."""
    max_outlier_probability: float = 0.02
    """Points with a larger outlier probability are ignored."""
    quantile: float = 0.02
    """The depths of a frame reach from this quantile of its points to the opposite one ..."""
    margin: float = 1.25
    """... and by this factor beyond."""


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """Frames that observe sparse points."""

    common: Int64[np.ndarray, "n n"]
    """Number of points that two frames both observe; 0 on the diagonal."""
    angle_rad: Float64[np.ndarray, "n n"]
    """Median angle of their rays; 0 where they have no point in common."""
    z_range: Float64[np.ndarray, "n 2"]
    """Least and largest depth of a frame's points, with a margin; NaN without points."""

    @classmethod
    def of(
        cls, frames: Int64[np.ndarray, "n"], path: CameraPath, points: SparsePoints, settings: NeighbourSettings
    ) -> "Overlap":
        """Of frames with a pose."""
        count, poses = len(frames), path.world_from_cam[np.searchsorted(path.frames, frames)]
        seen: Bool[np.ndarray, "n p"] = np.zeros((count, len(points.xyz_world)), dtype=bool)
        row = np.searchsorted(frames, points.observation_frame).clip(0, count - 1)
        known = frames[row] == points.observation_frame
        seen[row[known], points.observation_point[known]] = True
        seen &= points.outlier_probability <= settings.max_outlier_probability
        offsets = points.xyz_world - poses[:, None, :3, 3]
        rays = offsets / np.linalg.norm(offsets, axis=2, keepdims=True)
        angle, z_range = np.zeros((count, count)), np.full((count, 2), np.nan)
        common = seen.astype(np.int64) @ seen.T * ~np.eye(count, dtype=bool)
        for a, b in np.argwhere(np.triu(common)):
            both = seen[a] & seen[b]
            cosine = np.einsum("pi,pi->p", rays[a, both], rays[b, both])
            angle[a, b] = angle[b, a] = np.median(np.arccos(np.clip(cosine, -1, 1)))
        for k in range(count):
            z = offsets[k, seen[k]] @ poses[k, :3, 2]
            if len(z := z[z > 0]) >= settings.common:
                least, most = np.quantile(z, [settings.quantile, 1 - settings.quantile])
                z_range[k] = least / settings.margin, most * settings.margin
        return cls(common=common, angle_rad=angle, z_range=z_range)

    def neighbours(self, row: int, settings: NeighbourSettings) -> list[int]:
        """The frames to match a frame with, the best one first."""
        off = self.angle_rad[row] - settings.angle_rad
        weight = np.exp(-((off / np.where(off < 0, settings.narrower_rad, settings.wider_rad)) ** 2) / 2)
        able = (self.common[row] >= settings.common) & (self.angle_rad[row] >= settings.least_rad)
        score = np.where(able, weight * np.sqrt(self.common[row]), 0.0)
        return [int(k) for k in np.argsort(-score, kind="stable")[: settings.count] if score[k] > 0]
