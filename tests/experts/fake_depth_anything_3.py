"""An exact fake of upstream's model: cameras and depth of a rendered scene in upstream's format, with another world and
unit in every call. Pictures encode their frame number instead of a view."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from scipy.spatial.transform import Rotation

from experts.clip import Clip, OpeningOptions, Picture
from spatial_engine.rendering import RenderedScene, as_clip

METRIC_FOCAL_PX = 300.0


class OutOfMemoryError(RuntimeError):
    """Named like torch's."""


@dataclass(kw_only=True)
class Prediction:
    """Upstream's fields."""

    depth: np.ndarray
    is_metric: Any
    sky: np.ndarray | None = None
    conf: np.ndarray | None = None
    extrinsics: np.ndarray | None = None
    intrinsics: np.ndarray | None = None


@dataclass(kw_only=True)
class FakeModel:
    """`kind`: the network of upstream that is imitated."""

    scene: RenderedScene
    kind: Literal["anyview", "nested", "metric"] = "nested"
    scales: Sequence[float] = (1.0,)
    """Unit of each call in metres; the last one repeats."""
    focal_factor: float = 1.0
    """Predicted focal length over the true one."""
    sky_rows: int = 0
    """Number of sky rows at the top of the picture."""
    max_frames: int = 10**9
    """Frames that fit into memory."""
    broken: frozenset[int] = frozenset()
    """Calls that return wrong values."""
    calls: list[list[int]] = field(default_factory=list)
    """Number of frames of each successful call."""

    def prepared(self, window: list[np.ndarray], *, padded: bool) -> list[np.ndarray]:
        return window

    def received(self, output: Prediction) -> Prediction:
        return output

    def infer(self, windows: Sequence[list[np.ndarray]]) -> list[Prediction]:
        return [self.one(window) for window in windows]

    def one(self, image: list[np.ndarray]) -> Prediction:
        assert isinstance(image, list) and all(p.dtype == np.uint8 and p.ndim == 3 for p in image)
        assert len({p.shape for p in image}) == 1 and all(side % 14 == 0 for side in image[0].shape[:2])
        if len(image) > self.max_frames:
            raise OutOfMemoryError("CUDA out of memory")
        frames = [int(p[0, 0, 0]) + 256 * int(p[0, 0, 1]) for p in image]
        call = len(self.calls)
        self.calls.append(frames)
        height, width = image[0].shape[:2]
        camera = self.scene.intrinsics.scaled(width, height)
        depth = np.stack([replace(self.scene, intrinsics=camera).depth(f) for f in frames])
        sky = np.zeros(depth.shape, dtype=bool)
        sky[:, : self.sky_rows * height // self.scene.intrinsics.height_px] = True
        if self.kind == "metric":  # raw depth, to be multiplied by focal / 300
            depth *= METRIC_FOCAL_PX / ((camera.fx_px + camera.fy_px) / 2)
            return Prediction(depth=filled(depth, sky), is_metric={}, sky=sky)
        if self.kind == "nested" and (~sky).sum() <= 10:
            raise AssertionError("Insufficient non-sky pixels for alignment")
        rng = np.random.default_rng(call)
        unit = self.scales[min(call, len(self.scales) - 1)] * (self.focal_factor if self.kind == "nested" else 1.0)
        world = np.eye(4)
        world[:3, :3], world[:3, 3] = Rotation.random(rng=rng).as_matrix(), rng.normal(size=3)
        pose = world @ self.scene.world_from_cam[frames]
        pose[:, :3, 3] *= unit
        depth *= np.float32(unit)
        conf = 2 + np.tile(np.linspace(0, 3, width, dtype=np.float32), (len(frames), height, 1))
        if call in self.broken:
            depth = rng.uniform(1, 5, depth.shape).astype(np.float32)
        if self.kind == "nested":
            depth, conf = filled(depth, sky), np.where(sky, np.float32(1), conf)
        k = np.array([[camera.fx_px, 0, width / 2], [0, camera.fy_px, height / 2], [0, 0, 1]])
        k[[0, 1], [0, 1]] *= self.focal_factor
        return Prediction(
            depth=depth.astype(np.float32),
            is_metric=1 if self.kind == "nested" else {},
            conf=conf,
            extrinsics=np.linalg.inv(pose)[:, :3].astype(np.float32),
            intrinsics=np.stack([k] * len(frames)).astype(np.float32),
        )


def filled(depth: np.ndarray, sky: np.ndarray) -> np.ndarray:
    """Sky at the 99th percentile of the rest, as upstream leaves it."""
    return np.where(sky, np.quantile(depth[~sky], 0.99) if (~sky).any() else depth, depth).astype(np.float32)


@dataclass(kw_only=True)
class NumberedReader:
    """Pictures that encode their frame number; records how far it was read."""

    width_px: int
    height_px: int
    odd: int = -1
    """A frame of another size."""
    read_to: int = -1

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        for frame in frames:
            self.read_to = int(frame)
            height = self.height_px + 14 * (frame == self.odd)
            picture = np.zeros((height, self.width_px, 3), dtype=np.uint8)
            picture[..., 0], picture[..., 1] = frame % 256, frame // 256
            yield picture


def numbered(scene: RenderedScene, options: OpeningOptions | None = None, odd: int = -1) -> Clip:
    """The scene as a clip for the fake."""
    camera = scene.intrinsics
    reader = NumberedReader(width_px=camera.width_px, height_px=camera.height_px, odd=odd)
    return replace(as_clip(scene, options=options), reader=reader)
