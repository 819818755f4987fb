"""A store with a rendered clip of which every signal that has a place is known exactly."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from experts.clip import Clip
from experts.footage.decoding import ImageReader
from experts.provenance import Provenance
from experts.signals import CameraPath, Depth, Objects, PointTracks, Room, Scale, Signal, SparsePoints
from spatial_engine.rendering import RenderedScene, as_clip, demo_scene, true_signals
from spatial_engine.sources import clip_to_json
from spatial_engine.store.store import ClipRecord, FootageRecord, Store, create_store

MADE = Provenance(expert="by hand", version="1")


def short_demo(frames: int = 24, width_px: int = 160) -> RenderedScene:
    """Evenly spread frames of the demo scene."""
    whole = demo_scene(width_px, width_px * 3 // 4)
    rows = np.linspace(0, len(whole) - 1, frames).round().astype(int)
    moving = tuple(replace(each, world_from_box=each.world_from_box[rows]) for each in whole.moving_boxes)
    return replace(whole, world_from_cam=whole.world_from_cam[rows], moving_boxes=moving)


def image_clip(scene: RenderedScene, folder: Path) -> Clip:
    folder.mkdir(parents=True)
    paths = tuple(folder / f"{index:03}.jpg" for index in range(len(scene)))
    for index, path in enumerate(paths):
        Image.fromarray(scene.picture(index)).save(path, quality=92)
    sizes = tuple(path.stat().st_size for path in paths)
    clip = as_clip(scene, name="room")
    reader = ImageReader(paths=paths, width_px=clip.width_px, height_px=clip.height_px, file_bytes=sizes)
    return replace(clip, reader=reader)


def rendered_store(folder: Path, scene: RenderedScene, stride: int = 4, **changes: Signal | None) -> tuple[Store, str]:
    """The store and the id of its clip. `changes`: signals that are others, or None for absent ones."""
    clip = image_clip(scene, folder / "room")
    found = {
        name: signal for name, signal in (all_signals(scene, clip, stride) | changes).items() if signal is not None
    }
    store = create_store(folder / "store")
    for name, signal in found.items():
        store.write(clip.id, name, "k" * 16, signal)
    store.write_record(clip.id, ClipRecord(clip=clip_to_json(clip), signals=dict.fromkeys(found, "k" * 16)))
    store.write_footage(FootageRecord(path=str(folder / "room"), name=clip.name, clips=(clip.id,)))
    return store, clip.id


def all_signals(scene: RenderedScene, clip: Clip, stride: int) -> dict[str, Signal]:
    """The true signals, and what follows from them. The room has a doorway, and a strip of floor that was not seen."""
    found = true_signals(scene, clip, stride=stride)
    path, depth, objects = found["camera_path"], found["depth"], found["objects"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth) and isinstance(objects, Objects)
    count = len(objects.labels)
    objects = replace(objects, outlier_probability=np.linspace(0, 0.5, count), centre_sigma=np.full(count, 0.02))
    room = found["room"]
    assert isinstance(room, Room)
    cells = room.cells.copy()
    cells[:4] = 0
    return found | {
        "objects": objects,
        "sparse_points": sparse_points(path, depth),
        "tracks": tracks(path, depth, objects),
        "camera_path_check": other_world(path),
        "room": replace(room, cells=cells, doorways=np.array([[[1.0, 0.0], [1.9, 0.0]]])),
    }


def unprojected(path: CameraPath, depth: Depth, row: int, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Pixels of a depth image of full size, and their points in the world."""
    z = depth.z[row]
    y, x = (each.ravel() for each in np.mgrid[step // 2 : z.shape[0] : step, step // 2 : z.shape[1] : step])
    xy = np.stack([x, y], axis=1).astype(float)
    rays = path.intrinsics.rays(xy)
    pose = path.world_from_cam[int(np.searchsorted(path.frames, depth.frames[row]))]
    return xy, rays / rays[:, 2:] * z[y, x, None] @ pose[:3, :3].T + pose[:3, 3]


def sparse_points(path: CameraPath, depth: Depth) -> SparsePoints:
    xy, xyz = unprojected(path, depth, 0, 8)
    count = len(xyz)
    return SparsePoints(
        xyz_world=xyz,
        range_relative_sigma=np.full(count, 0.01),
        triangulation_angle_rad=np.full(count, 0.2),
        outlier_probability=np.zeros(count),
        observation_point=np.arange(count),
        observation_frame=np.full(count, depth.frames[0]),
        observation_xy_px=xy,
        provenance=MADE,
    )


def tracks(path: CameraPath, depth: Depth, objects: Objects) -> PointTracks:
    """Static points, and last the centre of the object that moves."""
    _, still = unprojected(path, depth, 0, 16)
    mover = objects.world_from_object[:, -1, :3, 3]
    at = np.searchsorted(objects.frames, path.frames).clip(max=len(mover) - 1)
    xyz = np.concatenate([np.repeat(still[:, None], len(path.frames), axis=1), mover[None, at]])
    homogeneous = np.concatenate([xyz, np.ones((*xyz.shape[:2], 1))], axis=2)
    in_cam = np.einsum("nij,tnj->tni", np.linalg.inv(path.world_from_cam), homogeneous)[..., :3]
    xy, count = path.intrinsics.project(in_cam), len(xyz)
    return PointTracks(
        frames=path.frames,
        xy_px=xy,
        visible=path.intrinsics.contains(xy),
        sigma_px=np.full(xy.shape[:2], 0.5),
        outlier_probability=np.zeros(count),
        motion=np.array([0] * (count - 1) + [1], dtype=np.int32),
        residual_px=np.zeros(count),
        moving_pairs=np.zeros(count, dtype=np.int32),
        parallax_px=np.full(count, 9.0),
        provenance=MADE,
        xyz_world=xyz.astype(np.float32),
    )


def other_world(path: CameraPath) -> CameraPath:
    """The same path in the world of its first camera and in half metres."""
    poses = np.linalg.inv(path.world_from_cam[0]) @ path.world_from_cam
    poses[:, :3, 3] *= 2
    return replace(path, world_from_cam=poses, scale=Scale(kind="relative"), provenance=MADE)
