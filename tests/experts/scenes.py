"""Points, cameras and matches without error, for tests of geometry."""

import numpy as np
from scipy.spatial.transform import Rotation

from experts.intrinsics import Intrinsics
from experts.mapping.colmap_features import MatchedPair
from experts.mapping.colmap_mapping import SparseReconstruction

CAMERA = Intrinsics.centred(640, 480, 520.0)


def rotating(rotvecs_deg: list[tuple[float, float, float]]) -> np.ndarray:
    """cam_from_world of a camera at the origin with these rotation vectors."""
    poses = np.tile(np.eye(4), (len(rotvecs_deg), 1, 1))
    poses[:, :3, :3] = Rotation.from_rotvec(np.deg2rad(rotvecs_deg)).as_matrix()
    return poses


def translating(centres: list[tuple[float, float, float]], rotvecs_deg: list[tuple[float, float, float]]) -> np.ndarray:
    """cam_from_world of cameras at `centres` with these rotation vectors."""
    poses = rotating(rotvecs_deg)
    poses[:, :3, 3] = -np.einsum("nij,nj->ni", poses[:, :3, :3], np.array(centres))
    return poses


def cloud(rng: np.random.Generator, count: int = 400, near: float = 3.0, far: float = 9.0) -> np.ndarray:
    """Points in front of the origin; `near == far`: a wall."""
    z = rng.uniform(near, far, count)
    return np.stack([rng.uniform(-0.7, 0.7, count) * z, rng.uniform(-0.5, 0.5, count) * z, z], axis=1)


def projected(xyz: np.ndarray, cam_from_world: np.ndarray, camera: Intrinsics = CAMERA) -> np.ndarray:
    """(t, n, 2) pixels; NaN outside the picture."""
    in_cam = np.einsum("nij,tj->tni", cam_from_world[:, :3, :3], xyz) + cam_from_world[:, :3, 3]
    xy = camera.project(in_cam)
    return np.where(camera.contains(xy)[..., None], xy, np.nan)


def matches(xy: np.ndarray) -> list[MatchedPair]:
    """All pairs of frames of (t, n, 2) pixels."""
    pairs = []
    for a in range(xy.shape[1]):
        for b in range(a + 1, xy.shape[1]):
            both = np.isfinite(xy[:, a, 0]) & np.isfinite(xy[:, b, 0])
            pairs.append(MatchedPair(first=a, second=b, xy_first=xy[both, a], xy_second=xy[both, b]))
    return pairs


def exact_reconstruction(
    xyz: np.ndarray, cam_from_world: np.ndarray, camera: Intrinsics = CAMERA
) -> SparseReconstruction:
    """A reconstruction without error, of the points that at least three cameras see."""
    xy = projected(xyz, cam_from_world, camera)
    xyz = xyz[np.isfinite(xy[..., 0]).sum(axis=1) >= 3]
    xy = projected(xyz, cam_from_world, camera)
    point, place = np.nonzero(np.isfinite(xy[..., 0]))
    return SparseReconstruction(
        camera=camera,
        focal_formal_px=1.0,
        places=np.arange(len(cam_from_world)),
        cam_from_world=cam_from_world,
        xyz_world=xyz,
        error_px=np.full(len(xyz), 0.4),
        point=point,
        place=place,
        keypoint=point,
        xy_px=xy[point, place],
    )
