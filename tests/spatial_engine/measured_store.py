"""A store with one clip of which everything is measured, and one of which nothing is."""

from pathlib import Path

import numpy as np
from PIL import Image
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.footage.decoding import ImageReader
from experts.intrinsics import Intrinsics
from experts.provenance import Provenance
from experts.signals import CameraPath, Gravity, Matches, NoEstimate, PointTracks, Scale, SparsePoints
from spatial_engine.sources import clip_to_json
from spatial_engine.store.store import ClipRecord, Failure, FootageRecord, Store, create_store
from tests.spatial_engine.drafts import NASTY, Painter

MADE = Provenance(expert="by hand", version="1")
COUNT = 24
WALK = np.linspace(0, 1.5 * np.pi, COUNT)
FRAMES = np.arange(COUNT, dtype=np.int64)
PITCH = np.radians(-8.0)


def image_clip(folder: Path, id: str, name: str) -> Clip:
    folder.mkdir(parents=True)
    paths = tuple(folder / f"{index:03}.png" for index in range(COUNT))
    for path, picture in zip(paths, Painter().read(range(COUNT)), strict=True):
        Image.fromarray(picture).save(path)
    sizes = tuple(path.stat().st_size for path in paths)
    reader = ImageReader(paths=paths, width_px=320, height_px=240, file_bytes=sizes)
    return Clip(id=id, name=name, frames=FRAMES, times_s=None, width_px=320, height_px=240, reader=reader)


def camera_path() -> CameraPath:
    """Three quarters of a circle around a pillar; level world: x right, y forward, z up."""
    position = np.stack([2 * np.sin(WALK), 2 - 2 * np.cos(WALK), 0.2 * np.sin(2 * WALK)], axis=1)
    world_from_level = Rotation.from_euler("z", -WALK[:, None]) * Rotation.from_matrix(
        [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    )
    poses = np.tile(np.eye(4), (COUNT, 1, 1))
    poses[:, :3, :3] = (world_from_level * Rotation.from_euler("x", PITCH)).as_matrix()
    poses[:, :3, 3] = position
    return CameraPath(
        frames=FRAMES,
        world_from_cam=poses,
        registered=np.ones(COUNT, dtype=bool),
        keyframe=FRAMES % 3 == 0,
        intrinsics=Intrinsics.centred(320, 240, 260.0),
        focal_relative_sigma=0.05,
        motion="general",
        rotation_sigma_rad=np.full(COUNT, 0.01),
        position_sigma=np.full(COUNT, 0.01),
        direction_sigma_rad=0.05,
        scale=Scale(kind="relative"),
        provenance=MADE,
    )


def signals() -> dict[str, object]:
    rng = np.random.default_rng(0)
    walk = np.stack([np.linspace(40, 200, COUNT), np.linspace(60, 80, COUNT)], axis=1)
    xy = np.stack([walk + rng.uniform(0, [100, 120]) for _ in range(12)])
    count = len(xy)
    return {
        "camera_path": camera_path(),
        "camera_path_check": camera_path(),
        "sparse_points": SparsePoints(
            xyz_world=rng.uniform([-4, -4, -1], [4, 6, 2], (300, 3)),
            range_relative_sigma=np.full(300, 0.04),
            triangulation_angle_rad=np.full(300, 0.2),
            outlier_probability=np.zeros(300),
            observation_point=np.arange(300),
            observation_frame=np.arange(300) % COUNT,
            observation_xy_px=rng.uniform([0, 0], [319, 239], (300, 2)),
            provenance=MADE,
        ),
        "tracks": PointTracks(
            frames=FRAMES,
            xy_px=xy,
            visible=np.ones((count, COUNT), dtype=bool),
            sigma_px=np.full((count, COUNT), 0.5),
            outlier_probability=np.zeros(count),
            motion=np.array([1, 0, -1] * 4, dtype=np.int32),
            residual_px=np.zeros(count),
            moving_pairs=np.zeros(count, dtype=np.int32),
            parallax_px=np.full(count, 9.0),
            provenance=MADE,
        ),
        "matches": Matches(
            pairs=np.array([[0, 3]]),
            pair=np.zeros(5, dtype=np.int64),
            xy_a_px=np.ones((5, 2)),
            xy_b_px=np.ones((5, 2)),
            sigma_px=np.ones(5),
            outlier_probability=np.zeros(5),
            confirmed_by=np.ones(5, dtype=np.int32),
            provenance=MADE,
        ),
        "gravity": Gravity(
            frames=FRAMES,
            up_cam=np.tile([0.0, -np.cos(PITCH), np.sin(PITCH)], (COUNT, 1)),
            sigma_rad=np.full(COUNT, np.radians(1.5)),
            decided_by="--upright",
            provenance=MADE,
        ),
    }


def measured_store(folder: Path, **changes: object) -> Store:
    """`changes`: signals of the first clip that are others."""
    store = create_store(folder / "store")
    fine = image_clip(folder / "fine", "a" * 16, NASTY)
    refusal = NoEstimate(
        reason="rotation only: <i>no</i> parallax", detail="0.3 px, 4 px needed", remedy="walk & record"
    )
    for clip, found in (
        (fine, signals() | changes),
        (image_clip(folder / "bare", "b" * 16, "影片 'bare'"), {"camera_path": refusal}),
    ):
        for name, value in found.items():
            store.write(clip.id, name, "k" * 16, value)
        store.write_record(clip.id, ClipRecord(clip=clip_to_json(clip), signals=dict.fromkeys(found, "k" * 16)))
        store.write_footage(FootageRecord(path=str(folder / clip.id), name=clip.name, clips=(clip.id,)))
    failure = Failure(expert="klt", signals=("gravity",), error="ValueError: <script>boom</script>")
    store.write_failures("b" * 16, {"k" * 16: failure})
    store.write_footage(FootageRecord(path=str(folder / "x"), name="<u>broken</u>.mp4", error="it is empty"))
    return store
