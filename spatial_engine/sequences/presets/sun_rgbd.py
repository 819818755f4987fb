"""SUN RGB-D: a folder a photo: image/*.jpg, depth_bfx/*.png, intrinsics.txt, extrinsics/*.txt, annotation3Dfinal.

`extrinsics` levels the camera: world axes x right, y down, z forward.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import of_matrix, read_numbers
from spatial_engine.sequences.known_objects import KnownObjects, box
from spatial_engine.sequences.manifest import DepthImages, Gravity, Manifest, Scale
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset

_BOXES = "annotation3Dfinal/index.json"
_FARTHEST_M = 8.0


def _fits(folder: Path) -> bool:
    return (folder / "intrinsics.txt").is_file() and (folder / "extrinsics").is_dir() and (folder / "image").is_dir()


def _layouts(folder: Path) -> tuple[Layout, ...]:
    depth = "depth_bfx" if (folder / "depth_bfx").is_dir() else "depth"
    manifest = Manifest(
        name=folder.resolve().name,
        images="image/*.jpg",
        stills=True,
        licence="SUN RGB-D (research)",
        upright=True,
        camera=of_matrix(read_numbers(folder / "intrinsics.txt").ravel()[:9].reshape(3, 3)),
        depth=DepthImages(images=f"{depth}/*.png", unit_m=0.001, bits="rotated", relative_sigma=0.02),
        gravity=Gravity(up_world=(0.0, -1.0, 0.0), sigma_deg=2.0),
        scale=Scale(kind="metric", relative_sigma=0.02, source="depth camera"),
        notes=(f"what lies beyond {_FARTHEST_M:g} m is cut by the dataset's own tools, not here",),
    )
    return (Layout(manifest=manifest, overrides=lambda images: _overrides(folder, images)),)


def _overrides(folder: Path, images: Images) -> Overrides:
    levels = sorted((folder / "extrinsics").glob("*.txt"))
    if not levels or len(images) != 1:
        raise UsageError(f"{folder} has {len(images)} images and {len(levels)} extrinsics", "one folder a photo")
    pose = np.eye(4)
    pose[:3, :3] = read_numbers(levels[-1])[:3, :3]
    return Overrides(world_from_cam=pose[None], objects=_objects(folder / _BOXES))


def _objects(path: Path) -> KnownObjects | None:
    """Upright boxes: a rectangle of x and z, between two heights."""
    if not path.is_file():
        return None
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))["objects"]
        found = [one for one in listed if one and one.get("polygon") and one["polygon"][0].get("rectangle", True)]
        boxes = [_box(one["polygon"][0]) for one in found]
        labels = tuple(str(one["name"]).split(":")[0].strip(" _") for one in found)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise UsageError(f"{path} holds no boxes: {error!r}", "objects[*].polygon[0].{X, Z, Ymin, Ymax}") from error
    poses = np.array([pose for pose, _ in boxes]).reshape(1, -1, 4, 4)
    size = np.array([size for _, size in boxes]).reshape(-1, 3)
    return KnownObjects(labels=labels, world_from_object=poses, size=size, sigma=0.1)


def _box(polygon: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    corners = np.column_stack([polygon["X"], polygon["Z"]]).astype(np.float64)
    along, across = corners[1] - corners[0], corners[2] - corners[1]
    low, high = float(polygon["Ymin"]), float(polygon["Ymax"])
    a, c = along / np.linalg.norm(along), across / np.linalg.norm(across)
    axes = np.array([[a[0], 0, c[0]], [0, 1, 0], [a[1], 0, c[1]]])
    middle = (corners[0] + corners[2]) / 2
    size = np.array([np.linalg.norm(along), abs(high - low), np.linalg.norm(across)])
    return box(axes, np.array([middle[0], (low + high) / 2, middle[1]])), size


SUN_RGBD = Preset(
    fits=_fits,
    layouts=_layouts,
    source="Song et al., SUN RGB-D, CVPR 2015, and its toolbox (read3dPoints, readframeSUNRGBD)",
    checked=False,
)
