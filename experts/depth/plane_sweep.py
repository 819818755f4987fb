"""Dense depth without a model, in the patches where it can be trusted: plane sweep on the camera path.

Keyframes are swept against their neighbours; a pixel counts where several keyframes agree. Other frames see the patches
of the keyframes. Patches give ranges. They end where depth is doubtful, which says nothing of edges or extents.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float32, Int64
from scipy.spatial import cKDTree

from experts.clip import Clip
from experts.depth.consistent_patches import Patches, PatchSettings, consistent_patches
from experts.depth.depth_on_points import log_ratio
from experts.depth.neighbours import NeighbourSettings, Overlap
from experts.depth.pinhole_pictures import PinholePictures
from experts.depth.second_path import Cameras, on_second_path
from experts.depth.sweep import DepthView, SweepSettings, rendered, swept
from experts.expert import WeightFreeExpert
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, NoEstimate, Signal, Signals, SparsePoints, ValidArea

_NAMES = ("depth_patches", "depth_patches_check")


@dataclass(frozen=True, kw_only=True)
class PlaneSweepSettings:
    """Chosen; docs/experts.md has the measured errors."""

    side_px: int = 256
    """Longer side of the pictures that are swept, and of the depth maps. 320 px take twice as long and keep less of
    noisy pictures."""
    max_frames: int = 60
    """Largest number of frames with depth, the keyframes among them."""
    sources: int = 4
    """Number of keyframes whose patches another frame sees."""
    judges: int = 8
    """Number of keyframes whose depth a frame's depth is held against."""
    first_keyframes: int = 6
    """After so many keyframes, ..."""
    least_share: float = 0.05
    """... footage of which no picture keeps this share is given up."""
    wrong: float = 0.15
    """A sparse point whose ln of depth differs by more than this contradicts."""
    max_outlier_probability: float = 0.009
    """Largest one of use: marked points need less than 0.01."""
    sweep: SweepSettings = field(default_factory=SweepSettings)
    neighbours: NeighbourSettings = field(default_factory=NeighbourSettings)
    patches: PatchSettings = field(default_factory=PatchSettings)


class PlaneSweepExpert(WeightFreeExpert):
    """Expert "plane_sweep": provides trusted patches of dense depth, in the units of both reconstructions."""

    name: ClassVar[str] = "plane_sweep"
    version: ClassVar[str] = "3"
    provides: ClassVar[frozenset[str]] = frozenset(_NAMES)
    needs: ClassVar[frozenset[str]] = frozenset({"camera_path", "sparse_points"})
    may_use: ClassVar[frozenset[str]] = frozenset({"camera_path_check", "valid_area"})
    options: ClassVar[frozenset[str]] = frozenset({"max_side_px"})

    def __init__(self, settings: PlaneSweepSettings | None = None) -> None:
        self.settings = settings or PlaneSweepSettings()

    def __call__(self, clip: Clip, signals: Signals) -> Mapping[str, Signal | NoEstimate]:
        """Depth in the unit of each path; `NoEstimate` where the camera does not translate, where too little is
        consistent, and where sparse points contradict."""
        path, points, second = (signals.get(name) for name in ("camera_path", "sparse_points", "camera_path_check"))
        if not isinstance(path, CameraPath) or path.motion != "general" or not isinstance(points, SparsePoints):
            return dict.fromkeys(_NAMES, NoEstimate(reason="no camera path with sparse points"))
        depth = self._depth(clip, path, points, signals.get("valid_area"))
        if isinstance(depth, NoEstimate):
            return dict.fromkeys(_NAMES, depth)
        if not isinstance(second, CameraPath) or second.motion != "general":
            check: Depth | NoEstimate = NoEstimate(reason="no second reconstruction")
        else:
            check = self._on_second_path(depth, path, second)
        return {name: _rounded(each) for name, each in zip(_NAMES, (depth, check), strict=True)}

    def _depth(
        self, clip: Clip, path: CameraPath, points: SparsePoints, area: Signal | NoEstimate | None
    ) -> Depth | NoEstimate:
        pictures = PinholePictures.of(clip, path, self.settings.side_px)
        keyframes = self._keyframes(pictures, points)
        if isinstance(keyframes, NoEstimate):
            return keyframes
        frames = self._frames(path)
        valid = pictures.valid(area.valid) if isinstance(area, ValidArea) else None
        patches = [each.within(valid) for each in self._patches(pictures, frames, keyframes)]
        depth = Depth(
            frames=frames,
            z=np.stack([pictures.in_frame(each.z) for each in patches]),
            relative_sigma=np.stack([pictures.in_frame(each.relative_sigma) for each in patches]),
            scale=path.scale,
            provenance=Provenance(expert=self.name, version=self.version, settings=asdict(self.settings), seed=0),
        )
        sigma = np.hypot(depth.relative_sigma, _camera_sigma(depth, points, clip))
        return self._held_against(replace(depth, relative_sigma=sigma), points, path)

    def _keyframes(self, pictures: PinholePictures, points: SparsePoints) -> "_Keyframes | NoEstimate":
        """Keyframes that have neighbours, swept; `NoEstimate` where the first ones keep too little."""
        s, path = self.settings, pictures.path
        frames = path.frames[path.registered & path.keyframe]
        overlap, views = Overlap.of(frames, path, points, s.neighbours), list(pictures.views(frames.tolist()))
        known = np.flatnonzero(np.isfinite(overlap.z_range).all(axis=1)).tolist()
        able = [row for row in known if overlap.neighbours(row, s.neighbours)]
        found: list[DepthView] = []
        for row in able:
            neighbours = [views[k] for k in overlap.neighbours(row, s.neighbours)]
            found.append(swept(views[row], neighbours, pictures.camera, tuple(overlap.z_range[row]), s.sweep))
            if len(found) == s.first_keyframes:
                shares = [
                    consistent_patches(each, _without(found, each), pictures.camera, s.patches).share for each in found
                ]
                if max(shares) < s.least_share:
                    detail = f"{100 * max(shares):.0f} % of a picture, {100 * s.least_share:.0f} % are needed"
                    return NoEstimate(reason="too little of the pictures has consistent depth", detail=detail)
        if len(found) <= s.patches.views:
            detail = f"{len(found)} keyframes, {s.patches.views + 1} are needed"
            return NoEstimate(reason="few keyframes see the same surfaces", detail=detail)
        common = overlap.common[np.ix_(able, able)]
        return _Keyframes(frames=frames[able], depth=found, common=common)

    def _frames(self, path: CameraPath) -> Int64[np.ndarray, "n"]:
        """The keyframes, and others evenly spread."""
        keyframes, others = (path.frames[path.registered & which] for which in (path.keyframe, ~path.keyframe))
        count = min(len(others), max(0, self.settings.max_frames - len(keyframes)))
        spread = np.linspace(0, len(others) - 1, count).round().astype(int)
        return np.union1d(keyframes, others[spread])

    def _patches(
        self, pictures: PinholePictures, frames: Int64[np.ndarray, "n"], keyframes: "_Keyframes"
    ) -> Iterator[Patches]:
        s, camera = self.settings, pictures.camera
        own = [
            consistent_patches(each, keyframes.most_common(row, s.judges), camera, s.patches)
            for row, each in enumerate(keyframes.depth)
        ]
        for frame, view in zip(frames.tolist(), pictures.views(frames.tolist()), strict=True):
            near = np.argsort(np.abs(keyframes.frames - frame), kind="stable")
            if keyframes.frames[near[0]] == frame:
                yield own[near[0]]
            else:
                depth = rendered(view, [keyframes.depth[k] for k in near[: s.sources]], camera, s.sweep)
                yield consistent_patches(depth, [keyframes.depth[k] for k in near[: s.judges]], camera, s.patches)

    def _held_against(self, depth: Depth, points: SparsePoints, path: CameraPath) -> Depth | NoEstimate:
        """The depth with its outlier probability: the share of sparse points that contradict it, less those that are
        expected to be outliers themselves."""
        error = np.abs(log_ratio(depth, points, path))
        sure = points.outlier_probability <= self.settings.neighbours.max_outlier_probability
        of_point = points.observation_point
        compared = np.intersect1d(of_point[np.isfinite(error)], np.flatnonzero(sure))
        wrong = np.intersect1d(of_point[error > self.settings.wrong], compared)
        unexpected = max(0.0, len(wrong) - points.outlier_probability[compared].sum())
        probability = float((unexpected + 0.5) / (len(compared) + 1))
        if probability > self.settings.max_outlier_probability:
            detail = f"{len(wrong)} of {len(compared)} sparse points differ by more than {self.settings.wrong:.0%}"
            return NoEstimate(reason="sparse points do not confirm the depth", detail=detail)
        return replace(depth, outlier_probability=probability)

    def _on_second_path(self, depth: Depth, path: CameraPath, second: CameraPath) -> Depth | NoEstimate:
        """The depth in the unit of the second path, of the frames that both paths register."""
        joint = np.intersect1d(path.frames[path.registered], second.frames[second.registered])
        rows = np.flatnonzero(np.isin(depth.frames, joint))
        keyframes = np.intersect1d(path.frames[path.keyframe], joint)
        if not len(rows) or len(keyframes) < 2:
            return NoEstimate(reason="the second reconstruction has other frames")
        z = depth.z[rows]
        for k, frame in enumerate(depth.frames[rows]):
            near = keyframes[np.argsort(np.abs(keyframes - frame), kind="stable")]
            matched = near[near != frame][: self.settings.sources]
            cameras = (Cameras.of(each, int(frame), matched) for each in (path, second))
            z[k] = on_second_path(z[k], *cameras)
        sigma = np.where(np.isnan(z), z, depth.relative_sigma[rows])
        return replace(depth, frames=depth.frames[rows], z=z, relative_sigma=sigma, scale=second.scale)


@dataclass(frozen=True, kw_only=True)
class _Keyframes:
    frames: Int64[np.ndarray, "n"]
    depth: list[DepthView]
    """Right or wrong."""
    common: Int64[np.ndarray, "n n"]
    """Number of sparse points that two keyframes both observe; 0 on the diagonal."""

    def most_common(self, row: int, count: int) -> list[DepthView]:
        """The other keyframes that see most of what a keyframe sees."""
        order = np.argsort(-self.common[row], kind="stable")
        return [self.depth[k] for k in order[:count] if self.common[row, k]]


def _camera_sigma(depth: Depth, points: SparsePoints, clip: Clip) -> Float32[np.ndarray, "d h w"]:
    """What an error of the camera contributes to the relative σ of depth that is made on the same path: that of the
    nearest observed point of each picture; in a picture without points, the largest of any point."""
    of_point = points.camera_relative_sigma
    count, height, width = depth.z.shape
    if of_point is None or not len(of_point):
        return np.zeros((count, height, width), dtype=np.float32)
    y, x = (np.indices((height, width)) + 0.5) * np.reshape([clip.height_px / height, clip.width_px / width], (2, 1, 1))
    pixels = np.stack([x, y], axis=-1) - 0.5
    found = np.full((count, height, width), of_point.max(), dtype=np.float32)
    for row, frame in enumerate(depth.frames):
        seen = np.flatnonzero(points.observation_frame == frame)
        if len(seen):
            _, nearest = cKDTree(points.observation_xy_px[seen]).query(pixels)
            found[row] = of_point[points.observation_point[seen[nearest]]]
    return found


def _without(views: Sequence[DepthView], one: DepthView) -> list[DepthView]:
    return [each for each in views if each is not one]


def _rounded(depth: Depth | NoEstimate) -> Depth | NoEstimate:
    """Depth to 1e-4 and σ to 3 % of their values: files are a quarter as large."""
    if isinstance(depth, NoEstimate):
        return depth
    return replace(depth, z=_to_bits(depth.z, 13), relative_sigma=_to_bits(depth.relative_sigma, 5))


def _to_bits(values: Float32[np.ndarray, "*n"], bits: int) -> Float32[np.ndarray, "*n"]:
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2**bits) / 2**bits, exponent).astype(np.float32)
