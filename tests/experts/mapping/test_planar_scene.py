"""A camera that moves above a plane: its path is told only with its focal length given."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

from experts.clip import Clip, OpeningOptions, Picture
from experts.intrinsics import Intrinsics
from experts.mapping.colmap import ColmapExpert
from experts.signals import CameraPath, NoEstimate, Signal
from experts.tracking.klt import KltExpert

FRAMES, CAMERA = 14, Intrinsics.centred(400, 300, 340.0)
TEXTURE_PX, METRES = 1200, 6.0


@dataclass(frozen=True)
class Drawn:
    """Pictures of z = 0 from cameras above it, at negative z."""

    world_from_cam: np.ndarray
    zoom: float

    def read(self, frames: Sequence[int]) -> Iterator[Picture]:
        texture = _texture()
        for frame in frames:
            cam_from_world = np.linalg.inv(self.world_from_cam[frame])
            zoomed = np.diag([self.zoom ** (frame / FRAMES)] * 2 + [1.0])
            cam_from_plane = CAMERA.matrix @ zoomed @ cam_from_world[:3, [0, 1, 3]]
            plane_from_texture = np.diag([METRES / TEXTURE_PX] * 2 + [1.0])
            plane_from_texture[:2, 2] = -METRES / 2
            grey = cv2.warpPerspective(texture, cam_from_plane @ plane_from_texture, (400, 300), flags=cv2.INTER_AREA)
            yield np.repeat(grey[..., None], 3, axis=2)


@cache
def _texture() -> np.ndarray:
    """Spots of many sizes."""
    rng = np.random.default_rng(0)
    size = (TEXTURE_PX, TEXTURE_PX)
    sides = [TEXTURE_PX // step for step in (2, 4, 8, 16, 32, 64)]
    layers = [cv2.resize(rng.normal(size=(side, side)), size, interpolation=cv2.INTER_CUBIC) for side in sides]
    return np.clip(127 + 30 * np.sum(layers, axis=0), 0, 255).astype(np.uint8)


def flight() -> np.ndarray:
    """World-from-camera of a drone that looks down at an angle, flies sideways and turns."""
    share = np.linspace(0, 1, FRAMES)
    turned = Rotation.from_euler("xz", np.stack([0.5 + 0.2 * share, 0.5 * share], axis=1))
    poses = np.tile(np.eye(4), (FRAMES, 1, 1))
    poses[:, :3, :3] = turned.as_matrix()
    poses[:, :3, 3] = np.stack([share - 0.5, 0.6 + 0.1 * np.sin(4 * share), -1 - 0.2 * share], axis=1)
    return poses


def path_of(zoom: float = 1.0, given: float | None = None, frames: int = FRAMES) -> Signal | NoEstimate:
    """The camera path, with a multiple of the true focal length given or none."""
    camera = None if given is None else Intrinsics.centred(400, 300, given * CAMERA.fx_px)
    clip = Clip(
        id="plane", name="plane", frames=np.arange(frames), times_s=None, width_px=400, height_px=300,
        reader=Drawn(flight(), zoom), options=OpeningOptions(intrinsics=camera, max_keyframes=8),
    )  # fmt: skip
    return ColmapExpert()(clip, KltExpert()(clip, {}))["camera_path"]


def test_with_its_focal_length_the_camera_has_a_path() -> None:
    path = path_of(given=1.0)
    assert isinstance(path, CameraPath) and path.motion == "general" and path.registered.all()
    found, true = (np.linalg.inv(poses[0]) @ poses for poses in (path.world_from_cam, flight()))
    turn_error = Rotation.from_matrix(found[:, :3, :3].mT @ true[:, :3, :3]).magnitude()
    assert turn_error.max() < np.deg2rad(0.5)
    way = [poses[-1, :3, 3] / np.linalg.norm(poses[-1, :3, 3]) for poses in (found, true)]
    assert np.arccos(way[0] @ way[1]) < np.deg2rad(1)


def test_without_it_the_camera_may_zoom() -> None:
    """Reconstructions of some flights with a zoom pass all checks and are wrong (docs/experts.md)."""
    refused = path_of()
    assert isinstance(refused, NoEstimate) and refused.reason == "planar scene" and "--intrinsics" in refused.remedy


def test_a_false_focal_length_is_refused() -> None:
    refused = path_of(given=1.15)
    assert isinstance(refused, NoEstimate) and refused.reason == "the footage contradicts --intrinsics"


def test_a_zoom_is_refused() -> None:
    refused = path_of(zoom=1.3, given=1.0)
    assert isinstance(refused, NoEstimate) and "give --intrinsics" not in refused.remedy, refused


def test_who_gave_the_focal_length_is_not_asked_for_it() -> None:
    refused = path_of(given=1.0, frames=2)
    assert isinstance(refused, NoEstimate) and refused.reason == "planar scene"
    assert "--intrinsics" not in refused.remedy
