"""Signals of a sequence with truth that are off by known amounts, under σ that say so or not."""

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from experts.signals import Matches, PointTracks, Signal, SparsePoints
from spatial_engine.sequences import Sequence
from templates.scene.scene import Scene
from tests.spatial_engine.trust.known_room import COUNT, EXPERT

PER_FRAME = 40
TURN, WAY, UP, RANGE, PIXEL = np.radians(0.7), 0.02, np.radians(2.0), 0.04, 0.8
"""σ as stated: radians, metres per axis, radians, relative, pixels."""


def noisy(sequence: Sequence, true_over_stated: float, seed: int = 0) -> dict[str, Signal]:
    """Camera path, points, matches, tracks and gravity with normal errors of the stated σ times a factor."""
    rng, off = np.random.default_rng(seed), true_over_stated
    true = sequence.scene(range(COUNT))
    return {
        "camera_path": _path(true, rng, off),
        "gravity": replace(
            true.gravity,
            up_cam=_turned(rng, off * UP, COUNT, true.gravity.up_cam[:, :, None])[:, :, 0],
            sigma_rad=np.full(COUNT, UP),
            provenance=EXPERT,
        ),
        "sparse_points": points(true, rng, off),
        "matches": _matches(true, rng, off),
        "tracks": tracks(true, rng, off),
    }


def exact_path(true: Scene) -> Signal:
    """The true path under σ as experts state them, in a world of its own: turned, moved, and of another unit."""
    other = np.eye(4)
    other[:3, :3] = Rotation.from_rotvec([0.3, -1.0, 0.4]).as_matrix()
    poses = other @ true.path.world_from_cam
    poses[:, :3, 3] = 2.5 * poses[:, :3, 3] + [1.0, 2.0, 3.0]
    return replace(
        true.path, world_from_cam=poses, provenance=EXPERT, rotation_sigma_rad=np.full(COUNT, TURN),
        direction_sigma_rad=0.01, position_sigma=np.full(COUNT, 2.5 * WAY), focal_relative_sigma=1e-6,
    )  # fmt: skip


def _path(true: Scene, rng: np.random.Generator, off: float) -> Signal:
    path = exact_path(true)
    poses = path.world_from_cam.copy()
    poses[:, :3, :3] = _turned(rng, off * TURN / np.sqrt(2), COUNT, poses[:, :3, :3], right=True)
    poses[:, :3, 3] += rng.normal(scale=off * 2.5 * WAY, size=(COUNT, 3))
    return replace(path, world_from_cam=poses)


def _turned(rng: np.random.Generator, sigma: float, count: int, what: np.ndarray, right: bool = False) -> np.ndarray:
    by = Rotation.from_rotvec(rng.normal(scale=sigma, size=(count, 3))).as_matrix()
    return what @ by if right else by @ what


def _seen(true: Scene, frame: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of a frame, and what is seen there in the world."""
    size = [true.clip.width_px, true.clip.height_px]
    xy = rng.uniform([5, 5], np.array(size) - 6.0, (PER_FRAME, 2)).round()
    (pose,) = true.world_from_cam([frame])
    return xy, true.surface(frame, xy).xyz_cam @ pose[:3, :3].T + pose[:3, 3]


def _in(true: Scene, frame: int, world: np.ndarray) -> np.ndarray:
    (pose,) = true.world_from_cam([frame])
    return true.path.intrinsics.project((world - pose[:3, 3]) @ pose[:3, :3])


def points(true: Scene, rng: np.random.Generator, off: float) -> SparsePoints:
    """Seen once each; in the world of the noiseless path, ranges 7 % too long in common."""
    path = exact_path(true)
    xyz, frames, pixels = [], [], []
    for frame in range(COUNT):
        xy, _ = _seen(true, frame, rng)
        cam = true.surface(frame, xy).xyz_cam * 2.5 * 1.07
        cam *= np.exp(rng.normal(scale=off * RANGE, size=(PER_FRAME, 1)))
        pose = path.world_from_cam[frame]
        xyz.append(cam @ pose[:3, :3].T + pose[:3, 3])
        frames.append(np.full(PER_FRAME, frame))
        pixels.append(xy)
    count = COUNT * PER_FRAME
    return SparsePoints(
        xyz_world=np.concatenate(xyz),
        range_relative_sigma=np.full(count, RANGE),
        triangulation_angle_rad=np.full(count, 0.1),
        outlier_probability=np.where(np.arange(count) % 2, 0.003, 0.05),
        observation_point=np.arange(count),
        observation_frame=np.concatenate(frames).astype(np.int64),
        observation_xy_px=np.concatenate(pixels),
        provenance=EXPERT,
    )


def _matches(true: Scene, rng: np.random.Generator, off: float) -> Matches:
    pairs = np.array([[0, 3], [2, 5], [4, 7], [6, 9]])
    seen = [_seen(true, a, rng) for a in pairs[:, 0].tolist()]
    there = [_in(true, b, world) for b, (_, world) in zip(pairs[:, 1].tolist(), seen, strict=True)]
    count = len(pairs) * PER_FRAME
    return Matches(
        pairs=pairs,
        pair=np.repeat(np.arange(len(pairs)), PER_FRAME),
        xy_a_px=np.concatenate([xy for xy, _ in seen]),
        xy_b_px=np.concatenate(there) + rng.normal(scale=off * PIXEL, size=(count, 2)),
        sigma_px=np.full(count, PIXEL),
        outlier_probability=np.full(count, 0.003),
        confirmed_by=np.ones(count, dtype=np.int32),
        provenance=EXPERT,
    )


def tracks(true: Scene, rng: np.random.Generator, off: float) -> PointTracks:
    """All begin in the first frame."""
    xy, world = _seen(true, 0, rng)
    path = np.stack([_in(true, frame, world) for frame in range(COUNT)], axis=1)
    path[:, 1:] += rng.normal(scale=off * PIXEL, size=(PER_FRAME, COUNT - 1, 2))
    path[:, 0] = xy
    sigma = np.full((PER_FRAME, COUNT), PIXEL)
    sigma[:, 0] = 1e-3
    return PointTracks(
        frames=true.clip.frames,
        xy_px=path,
        visible=np.isfinite(path).all(axis=2),
        sigma_px=sigma,
        outlier_probability=np.full(PER_FRAME, 0.05),
        motion=np.zeros(PER_FRAME, dtype=np.int32),
        residual_px=np.zeros(PER_FRAME),
        moving_pairs=np.zeros(PER_FRAME, dtype=np.int32),
        parallax_px=np.full(PER_FRAME, 9.0),
        provenance=EXPERT,
    )
