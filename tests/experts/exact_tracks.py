"""A tracker without error: it tracks points of a rendered scene by its geometry. Tests convert its tracks to the format
of each upstream."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import cv2
import numpy as np
from jaxtyping import Bool, Float32, Float64, UInt8

from experts.clip import Clip, Picture
from experts.tracking.learned_tracks import RawTracks
from experts.tracking.tracker_network import QueriedWindow
from spatial_engine.rendering import RenderedScene, as_clip


@dataclass
class RenderedOnce:
    """A rendered scene whose pictures, depths and ids stay in memory; rendered when first asked for."""

    scene: RenderedScene

    @cached_property
    def pictures(self) -> list[Picture]:
        return [self.scene.picture(frame) for frame in range(len(self.scene))]

    @cached_property
    def depths(self) -> list[np.ndarray]:
        return [self.scene.depth(frame) for frame in range(len(self.scene))]

    @cached_property
    def ids(self) -> list[np.ndarray]:
        return [self.scene.ids(frame) for frame in range(len(self.scene))]

    @cached_property
    def clip(self) -> Clip:
        return replace(as_clip(self.scene), reader=self)

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        """Reads frames of the clip."""
        yield from (self.pictures[frame] for frame in frames)


@dataclass
class HostNetwork:
    """A network that is a function of (video, queries), without a device."""

    network: Callable[..., RawTracks]
    windows: list[tuple[int, int]] = field(default_factory=list)
    """Numbers of frames and queries of the windows that it got."""

    def prepared(self, window: QueriedWindow, *, padded: bool) -> QueriedWindow:
        return window

    def infer(self, inputs: Sequence[QueriedWindow]) -> list[RawTracks]:
        self.windows += [(len(window), len(window.queries)) for window in inputs]
        return [self.network(window.video, window.queries) for window in inputs]

    def received(self, output: RawTracks) -> RawTracks:
        return output


@dataclass
class ExactTracker:
    """Identifies the frames of a window by their pictures (RGB at network size)."""

    world: RenderedOnce
    size_px: tuple[int, int]
    """Width and height of the network's pictures."""
    frame_of: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for frame, picture in enumerate(self.world.pictures):
            small = cv2.resize(picture, self.size_px, interpolation=cv2.INTER_AREA)
            self.frame_of[small.tobytes()] = frame

    def frames(self, video: UInt8[np.ndarray, "n h w 3"]) -> list[int]:
        """The frame indices of pictures. Raises KeyError for a picture that is not of the scene."""
        return [self.frame_of[picture.tobytes()] for picture in video]

    def follow(
        self, video: UInt8[np.ndarray, "n h w 3"], queries: Float32[np.ndarray, "m 3"]
    ) -> tuple[Float64[np.ndarray, "m n 2"], Bool[np.ndarray, "m n"], Float64[np.ndarray, "m n"]]:
        """Network pixels (centres at integers), visibility and depth of tracks from queries (frame of the window, x,
        y)."""
        frames, camera = self.frames(video), self.world.scene.intrinsics
        factor = np.array([camera.width_px / self.size_px[0], camera.height_px / self.size_px[1]])
        xy = np.zeros((len(queries), len(frames), 2))
        seen, z = np.zeros(xy.shape[:2], dtype=bool), np.zeros(xy.shape[:2])
        for row in np.unique(queries[:, 0].astype(int)):
            these = np.flatnonzero(queries[:, 0].astype(int) == row)
            full = (queries[these, 1:].astype(np.float64) + 0.5) * factor - 0.5
            found = truth(self.world, frames[row], full, frames)
            xy[these], seen[these], z[these] = (found[0] + 0.5) / factor - 0.5, found[1], found[2]
        return xy, seen, z


def truth(
    world: RenderedOnce, start: int, xy_px: Float64[np.ndarray, "m 2"], frames: list[int]
) -> tuple[Float64[np.ndarray, "m n 2"], Bool[np.ndarray, "m n"], Float64[np.ndarray, "m n"]]:
    """Pixels, visibility and depth, in `frames`, of the points at pixels of frame `start`."""
    scene, camera = world.scene, world.scene.intrinsics
    at = np.clip(np.round(xy_px).astype(int), 0, [camera.width_px - 1, camera.height_px - 1])
    z, item = world.depths[start][at[:, 1], at[:, 0]], world.ids[start][at[:, 1], at[:, 0]]
    rays = camera.rays(xy_px)
    xyz_start = _transformed(scene.world_from_cam[start], rays * (z / rays[:, 2])[:, None])
    out, seen = np.zeros((len(at), len(frames), 2)), np.zeros((len(at), len(frames)), dtype=bool)
    depth = np.zeros(seen.shape)
    for n, frame in enumerate(frames):
        there = xyz_start.copy()
        world_from_start = scene.world_from_boxes(frame) @ np.linalg.inv(scene.world_from_boxes(start))
        for k in np.unique(item[item >= 0]):
            there[item == k] = _transformed(world_from_start[k], xyz_start[item == k])
        cam = _transformed(np.linalg.inv(scene.world_from_cam[frame]), there)
        out[:, n], depth[:, n] = np.nan_to_num(camera.project(cam), nan=-99.0), cam[:, 2]
        seen[:, n] = _is_seen(world, frame, cam)
    return out, seen, depth


def object_at(world: RenderedOnce, xy_px: Float64[np.ndarray, "t n 2"], frames: Sequence[int]) -> list[int]:
    """Id of the object at each track's first pixel; -1: the room."""
    first = np.argmax(np.isfinite(xy_px[..., 0]), axis=1)
    at = np.round(xy_px[np.arange(len(xy_px)), first]).astype(int)
    return [int(world.ids[int(frames[f])][y, x]) for f, (x, y) in zip(first, at, strict=True)]


def _transformed(to_from: Float64[np.ndarray, "4 4"], xyz: Float64[np.ndarray, "t 3"]) -> Float64[np.ndarray, "t 3"]:
    return np.asarray(xyz @ to_from[:3, :3].T + to_from[:3, 3])


def _is_seen(world: RenderedOnce, frame: int, cam: Float64[np.ndarray, "t 3"]) -> Bool[np.ndarray, "t"]:
    camera = world.scene.intrinsics
    xy = camera.project(cam)
    inside = camera.contains(xy)
    at = np.round(np.where(inside[:, None], xy, 0)).astype(int)
    return np.asarray(inside & (np.abs(world.depths[frame][at[:, 1], at[:, 0]] / cam[:, 2] - 1) < 0.02))
