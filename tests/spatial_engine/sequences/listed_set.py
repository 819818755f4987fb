"""A rendered walk with everything that a manifest can state about objects, room, flow and up."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from experts.clip import Clip
from experts.signals import CameraPath, Depth, Objects, Parts, Room
from spatial_engine.rendering.clips import as_clip
from spatial_engine.rendering.truth import true_signals
from tests.spatial_engine.sequences.layouts import save, write
from tests.spatial_engine.sequences.rendered_set import FRAMES, manifest, walk, write_set


@cache
def true() -> dict[str, Any]:
    """The renderer's signals of all frames."""
    clip: Clip = as_clip(walk())
    return dict(true_signals(walk(), clip))


def listed() -> list[dict[str, Any]]:
    """The renderer's objects, as a user would list them."""
    objects, parts = true()["objects"], true()["parts"]
    assert isinstance(objects, Objects) and isinstance(parts, Parts) and objects.size is not None
    found = []
    for k, item in enumerate(walk().objects):
        one: dict[str, Any] = {"label": item.name, "size": objects.size[k].tolist()}
        one["world_from_object"] = objects.world_from_object[0, k].tolist()
        if item.fronts >= 0:
            one |= {"front": "-y" if item.fronts else None, "fronts": item.fronts}
        one["parts"] = [
            {"name": parts.names[p], "affords": list(parts.affords[p]), "mask": p + 1}
            for p in np.flatnonzero(parts.object == k).tolist()
        ]
        found.append(one)
    return found


def room() -> dict[str, Any]:
    """The renderer's room."""
    known = true()["room"]
    assert isinstance(known, Room)
    at = known.world_from_floor
    corners = np.column_stack([known.outline, np.zeros(len(known.outline))]) @ at[:3, :3].T + at[:3, 3]
    doors = [np.column_stack([door, np.zeros(2)]) @ at[:3, :3].T + at[:3, 3] for door in known.doorways]
    return {
        "floor": float(at[2, 3]),
        "outline": corners.tolist(),
        "height": known.height,
        "doors": [door.tolist() for door in doors],
    }


def flow(a: int, b: int) -> np.ndarray:
    """From depth and poses; NaN outside of the other image."""
    path, depth = true()["camera_path"], true()["depth"]
    assert isinstance(path, CameraPath) and isinstance(depth, Depth)
    z = depth.z[a].astype(float)
    xy = np.stack(np.meshgrid(np.arange(z.shape[1]), np.arange(z.shape[0])), axis=-1).astype(float)
    rays = path.intrinsics.rays(xy)
    b_from_a = np.linalg.inv(path.world_from_cam[b]) @ path.world_from_cam[a]
    seen = path.intrinsics.project(rays / rays[..., 2:] * z[..., None] @ b_from_a[:3, :3].T + b_from_a[:3, 3])
    return np.asarray(seen - xy)


def write_listed(folder: Path) -> Path:
    """Images, depth, poses, masks, and the files that `stated` names."""
    write_set(folder)
    objects, parts, path = true()["objects"], true()["parts"], true()["camera_path"]
    for frame in range(FRAMES):
        save(folder / f"ids/{frame:04d}.png", (objects.ids[frame] + 1).astype(np.uint8))
        save(folder / f"part_ids/{frame:04d}.png", (parts.ids[frame] + 1).astype(np.uint8))
        for name, other in (("forward", frame + 1), ("backward", frame - 1)):
            if 0 <= other < FRAMES:
                (folder / name).mkdir(exist_ok=True)
                np.save(folder / f"{name}/{frame:04d}.npy", flow(frame, other))
    write(folder / "objects.json", json.dumps(listed()))
    write(folder / "room.json", json.dumps(room()))
    write(folder / "up.txt", path.world_from_cam[:, 2, :3])
    write(folder / "rotations.txt", Rotation.from_matrix(path.world_from_cam[:, :3, :3]).as_quat())
    write(folder / "opening.txt", np.linspace(0, 1, FRAMES)[:, None])
    write(folder / "wide.txt", np.linspace(0, FRAMES, FRAMES)[:, None])
    return folder


def stated() -> dict[str, Any]:
    """The manifest of it."""
    objects = {"file": "objects.json", "masks": "ids/*.png", "part_masks": "part_ids/*.png", "complete": True}
    return manifest() | {
        "objects": objects,
        "room": {"file": "room.json", "sigma": 0.01},
        "flow": {"files": "forward/*.npy", "backward": "backward/*.npy"},
        "effector": {"file": "poses.txt", "opening": "opening.txt"},
    }
