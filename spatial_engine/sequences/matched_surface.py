"""Distances of single pixels where their frame has no depth, in a world that stands still.

They are those of other frames' depth, if two frames agree and show the same patch. Without these, a patch around the
pixel is placed at many distances, projected into other images by the true poses, and correlated with them. A distance
counts if several images show the patch there, if none elsewhere fits nearly as well, and if two halves of the images
agree.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from scipy.ndimage import maximum_filter1d

from experts.clip import Clip
from experts.signals import CameraPath
from spatial_engine.sequences.depth_elsewhere import DepthElsewhere
from spatial_engine.sequences.matched_pixels import Pair, epipolar_errors_px, parallax_px, pose
from spatial_engine.sequences.patches import RADIUS_PX, STEP_PX, Patch, Sweep
from templates.scene.scene import angle_between_rad
from templates.scene.surface import Surface

_PARALLAX_PX, _PARALLAX_FACTOR = 40.0, 6.0
"""Best parallax of a usual point between two images, in working pixels, and the factor by which it may differ."""
_NEAREST = 5.0
"""Largest inverse depth that is tried, over the usual one."""
_VIEWS, _LEAST_VIEWS = 6, 2
_SHOWN_BY = 3
"""So many of four views or more must show the patch; of fewer views two."""
_MOST_ROTATION_RAD = np.radians(30.0)
_LEAST_SCORE, _CLEARLY = 0.75, 0.12
"""Least correlation, and by how much that of any other distance is lower."""
_VISIBLE = 0.7
"""Correlation at which an image shows a point whose distance is known."""
_BACK = 0.05
"""Largest relative difference of the depth that another image gives the point; 3 σ if that is more. In rooms this
leaves out 12 of 13 depths that are off by more than 15 %, and a fifth of the others."""
_MATCH_PX = 0.5
"""σ of a match, in working pixels."""
_MOST_POSE_PX = 20.0
"""Poses that miss matches by more full-size pixels place no patch: along a wide band something always fits, and the
search takes hours (fox_ngp's first half, where a pair of photos shows nothing in common: 1 271 px; other sets up to
9)."""
_SIGMA_FACTOR = 1.5
"""Systematic errors of poses: in 7-Scenes, whose poses are another camera's, errors are 1.6 of what chance explains."""
_LEAST_SIGMA = 0.01
"""Smallest relative σ of a distance."""
_UNKNOWN = (np.nan, np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchedSurface:
    """Surface points of a still world, by its images and the true camera path."""

    clip: Clip
    path: CameraPath
    pose_sigma_px: float
    """How far matches lie from where the poses bring them, in full-size pixels."""
    inverse_depth: float
    """The usual one."""
    elsewhere: DepthElsewhere | None = None
    """The depth of other frames."""
    _grey: dict[int, Float32[np.ndarray, "h w"]] = field(default_factory=dict)
    _found: dict[tuple[int, float, float], tuple[float, float]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, clip: Clip, path: CameraPath, seen: Iterable[Pair], elsewhere: DepthElsewhere | None = None
    ) -> "MatchedSurface | None":
        """With the accuracy of the poses and the usual depth that matches between frames show. None without any, or
        where the poses do not fit them.

        σ of the poses is the 90th percentile over the pairs of the median distance from the epipolar lines.
        """
        moved = [pair for pair in seen if _baseline(path, pair) > 0]
        if not moved:
            return None
        parallax_rad = np.array([parallax_px(path, pair) / path.intrinsics.fx_px for pair in moved])
        inverse = parallax_rad / [_baseline(path, pair) for pair in moved]
        usual = np.abs(np.log(parallax_rad * path.intrinsics.fx_px / moved[0].grain_px / _PARALLAX_PX))
        clear = usual <= max(np.log(_PARALLAX_FACTOR), np.median(usual))
        pose_sigma_px = float(np.quantile([np.median(epipolar_errors_px(path, pair)) for pair in moved], 0.9))
        if pose_sigma_px > _MOST_POSE_PX:
            return None
        return cls(
            clip=clip,
            path=path,
            pose_sigma_px=pose_sigma_px,
            inverse_depth=float(np.median(inverse[clear])),
            elsewhere=elsewhere,
        )

    def at(self, frames: Int64[np.ndarray, "k"], xy_px: Float64[np.ndarray, "k 2"]) -> Surface:
        """The points at pixels, each of its frame; NaN where the images do not decide."""
        found = [self._once(frame, x, y) for frame, (x, y) in zip(frames.tolist(), xy_px.tolist(), strict=True)]
        z, sigma = np.array(found, dtype=np.float64).reshape(-1, 2).T
        rays = self.path.intrinsics.rays(xy_px)
        return Surface(
            xyz_cam=rays / rays[:, 2:] * z[:, None],
            range_relative_sigma=sigma,
            outlier_probability=np.where(np.isfinite(z), 0.0, np.nan),
        )

    def shows(
        self, frames: Int64[np.ndarray, "k 2"], xy_px: Float64[np.ndarray, "k 2"], z: Float64[np.ndarray, "k"]
    ) -> Bool[np.ndarray, "k"]:
        """Whether the second frame of each row looks like the first one's pixel of depth z where the poses bring it."""
        return np.array(
            [self._shows(a, b, xy, depth) for (a, b), xy, depth in zip(frames.tolist(), xy_px, z, strict=True)],
            dtype=bool,
        )

    def _shows(self, frame: int, view: int, xy_px: Float64[np.ndarray, "2"], z: float) -> bool:
        patch = self._patch(frame, xy_px) if np.isfinite(z) else None
        if patch is None:
            return False
        reach = np.linspace(-2, 2, 9) * self._sigma_px / max(self._focal_px * self._moved(frame, view), 1e-9)
        inverse = np.maximum(1 / z + reach, 0.0) if self._moved(frame, view) > 0 else np.full(1, 1 / z)
        return bool(self._sweep(frame, view, patch, inverse).score.max() >= _VISIBLE)

    def _once(self, frame: int, x: float, y: float) -> tuple[float, float]:
        key = (frame, round(x, 2), round(y, 2))
        if key not in self._found:
            self._found[key] = self._distance(frame, np.array([x, y])) if np.isfinite([x, y]).all() else _UNKNOWN
        return self._found[key]

    def _distance(self, frame: int, xy_px: Float64[np.ndarray, "2"]) -> tuple[float, float]:
        """z and its relative σ, from depth before matching."""
        if self.elsewhere is not None:
            found = self.elsewhere.at(frame, xy_px, lambda view, z: self._shows(frame, view, xy_px, z))
            if found is not None:
                return found
        return self._confirmed(frame, xy_px)

    def _confirmed(self, frame: int, xy_px: Float64[np.ndarray, "2"]) -> tuple[float, float]:
        """z and its relative σ, if the depth around the pixel is the same; where none is known, if the first other
        image that shows the point gives the same one."""
        views = self._views(frame)
        z, sigma = self._measured(frame, views, xy_px)
        around = self.elsewhere.around(frame, xy_px) if self.elsewhere is not None and np.isfinite(z) else None
        if around is not None:
            return (z, sigma) if _agree(z, sigma, *around) else _UNKNOWN
        ray = self.path.intrinsics.rays(xy_px)
        point = (pose(self.path, frame) @ [*(ray / ray[2] * z), 1.0])[:3]
        for view in views if np.isfinite(z) else []:
            there = pose(self.path, view)
            expected = (point - there[:3, 3]) @ there[:3, :3]
            xy = self.path.intrinsics.project(expected)
            if np.isfinite(xy).all() and self.path.intrinsics.contains(xy):
                back, back_sigma = self._measured(view, self._views(view), xy)
                return (z, sigma) if _agree(float(expected[2]), sigma, back, back_sigma) else _UNKNOWN
        return _UNKNOWN

    def _measured(self, frame: int, views: Sequence[int], xy_px: Float64[np.ndarray, "2"]) -> tuple[float, float]:
        """z and its relative σ."""
        patch = self._patch(frame, xy_px) if len(views) >= _LEAST_VIEWS else None
        if patch is None:
            return _UNKNOWN
        step = STEP_PX / (self._focal_px * max(self._moved(frame, view) for view in views))
        inverse = np.arange(0.0, _NEAREST * self.inverse_depth, step)
        return _decided(inverse, [self._sweep(frame, view, patch, inverse) for view in views], self._sigma_px)

    @property
    def _focal_px(self) -> float:
        return self.path.intrinsics.fx_px * self.clip.working_size[0] / self.clip.width_px

    @property
    def _sigma_px(self) -> float:
        """Of a match, in working pixels: across and along its line."""
        return float(np.hypot(_MATCH_PX, self.pose_sigma_px * self.clip.working_size[0] / self.clip.width_px))

    def _moved(self, frame: int, view: int) -> float:
        return float(np.linalg.norm(pose(self.path, view)[:3, 3] - pose(self.path, frame)[:3, 3]))

    def _views(self, frame: int) -> list[int]:
        """Frames that look in a similar direction, with the most suitable parallax."""
        frames, poses = self.path.frames[self.path.registered], self.path.world_from_cam[self.path.registered]
        if frame not in frames:
            return []
        own = pose(self.path, frame)
        parallax = np.linalg.norm(poses[:, :3, 3] - own[:3, 3], axis=1) * self._focal_px * self.inverse_depth
        with np.errstate(divide="ignore"):
            off = np.abs(np.log(parallax / _PARALLAX_PX))
        turned = angle_between_rad(own[:3, :3], poses[:, :3, :3])
        useful = np.flatnonzero((turned <= _MOST_ROTATION_RAD) & (off <= np.log(_PARALLAX_FACTOR)))
        return [int(frames[k]) for k in useful[np.argsort(off[useful], kind="stable")][:_VIEWS]]

    def _patch(self, frame: int, xy_px: Float64[np.ndarray, "2"]) -> Patch | None:
        return Patch.around(xy_px, self._image(frame), self.clip, self.path.intrinsics)

    def _sweep(self, frame: int, view: int, patch: Patch, inverse: Float64[np.ndarray, "h"]) -> Sweep:
        view_from_own = np.linalg.inv(pose(self.path, view)) @ pose(self.path, frame)
        affine = patch.placed(view_from_own, inverse, self.clip, self.path.intrinsics)
        return patch.swept(affine, self._image(view), 2 * self._sigma_px)

    def _image(self, frame: int) -> Float32[np.ndarray, "h w"]:
        if frame not in self._grey:
            ((_, grey),) = self.clip.read_grey([frame])
            self._grey[frame] = grey.astype(np.float32)
        return self._grey[frame]


def _agree(z: float, sigma: float, other: float, other_sigma: float) -> bool:
    return abs(other / z - 1) <= max(_BACK, 3 * float(np.hypot(sigma, other_sigma)))


def _decided(inverse: Float64[np.ndarray, "h"], sweeps: Sequence[Sweep], sigma_px: float) -> tuple[float, float]:
    """z and its relative σ, if one place alone is shown by several views, and the views agree on it."""
    total = _agreed(sweeps, sigma_px)
    highest = np.flatnonzero(total >= total.max() - 1e-9)
    best = int(highest[len(highest) // 2])
    first, last = _run(total > total[best] - _CLEARLY, best)
    elsewhere = np.concatenate([total[:first], total[last + 1 :]]).max(initial=-np.inf)
    widths_px = sorted(abs(float(sweep.shift_px[last] - sweep.shift_px[first])) for sweep in sweeps)
    if total[best] < _LEAST_SCORE or elsewhere > total[best] - _CLEARLY:
        return _UNKNOWN
    if widths_px[len(widths_px) // 2] > 6 * sigma_px + 2 * RADIUS_PX:
        return _UNKNOWN
    peaks, slopes = _peaks(inverse, sweeps, best, sigma_px)
    if len(peaks) < _LEAST_VIEWS:
        return _UNKNOWN
    weights = slopes**2
    value = float(np.average(peaks, weights=weights))
    sigma = sigma_px / np.sqrt(min(weights.sum(), 2 * weights.max()))  # the pose of the first image is common to all
    halves = [(np.average(peaks[k::2], weights=weights[k::2]), sigma_px**2 / weights[k::2].sum()) for k in (0, 1)]
    apart = abs(halves[0][0] - halves[1][0]) / np.sqrt(halves[0][1] + halves[1][1])
    if apart > 3 or value <= 3 * sigma:
        return _UNKNOWN
    return 1 / value, float(np.hypot(_SIGMA_FACTOR * sigma / value, _LEAST_SIGMA))


def _agreed(sweeps: Sequence[Sweep], sigma_px: float) -> Float64[np.ndarray, "h"]:
    """For every inverse depth the score of the last view that is needed, each view the best within 2 σ of its line."""
    wide = []
    for sweep in sweeps:
        near = np.searchsorted(sweep.shift_px, sweep.shift_px + 2 * sigma_px, side="right") - np.arange(
            len(sweep.score)
        )
        wide.append(maximum_filter1d(sweep.score, 2 * int(np.median(near)) - 1))
    return np.sort(wide, axis=0)[-(_SHOWN_BY if len(wide) > _SHOWN_BY else _LEAST_VIEWS)]


def _peaks(
    inverse: Float64[np.ndarray, "h"], sweeps: Sequence[Sweep], best: int, sigma_px: float
) -> tuple[Float64[np.ndarray, "v"], Float64[np.ndarray, "v"]]:
    """Inverse depth of the peak of each view that shows the patch near `best`, and its pixels per inverse depth."""
    found = []
    for sweep in sweeps:
        near = np.flatnonzero(np.abs(sweep.shift_px - sweep.shift_px[best]) <= 3 * sigma_px)
        peak = int(near[sweep.score[near].argmax()])
        slope = float(np.gradient(sweep.shift_px, inverse)[best])
        if sweep.score[peak] >= _LEAST_SCORE and slope > 0:
            found.append((_refined(inverse, sweep.score, peak), slope))
    peaks, slopes = np.array(found).reshape(-1, 2).T
    return peaks, slopes


def _refined(inverse: Float64[np.ndarray, "h"], score: Float64[np.ndarray, "h"], peak: int) -> float:
    """The top of the parabola through a peak and its neighbours."""
    if not 0 < peak < len(score) - 1:
        return float(inverse[peak])
    before, at, after = score[peak - 1 : peak + 2]
    bend = before - 2 * at + after
    part = 0.5 * (before - after) / bend if bend < 0 else 0.0
    return float(inverse[peak] + np.clip(part, -0.5, 0.5) * (inverse[1] - inverse[0]))


def _run(holds: Bool[np.ndarray, "h"], at: int) -> tuple[int, int]:
    """First and last index of the unbroken run of true values around `at`."""
    edges = [-1, *np.flatnonzero(~holds).tolist(), len(holds)]
    return next((low + 1, high - 1) for low, high in pairwise(edges) if low < at < high)


def _baseline(path: CameraPath, pair: Pair) -> float:
    return float(np.linalg.norm(pose(path, pair.b)[:3, 3] - pose(path, pair.a)[:3, 3]))
