"""ARKitScenes: lowres_wide/VIDEO_TIME.png, lowres_depth, lowres_wide_intrinsics/*.pincam, lowres_wide.traj, boxes."""

import json
from pathlib import Path

import numpy as np

from spatial_engine.errors import UsageError
from spatial_engine.sequences.known_objects import KnownObjects, box
from spatial_engine.sequences.manifest import CameraFiles, DepthImages, Gravity, Manifest, Poses, Scale, Times
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset

_BOXES = "*_3dod_annotation.json"


def _fits(folder: Path) -> bool:
    return (folder / "lowres_wide.traj").is_file() and (folder / "lowres_wide").is_dir()


def _layouts(folder: Path) -> tuple[Layout, ...]:
    has_boxes = any(folder.glob(_BOXES))
    read = (lambda images: _overrides(folder, images)) if has_boxes else None
    return (Layout(manifest=_manifest(folder), overrides=read),)


def _manifest(folder: Path) -> Manifest:
    has_depth = (folder / "lowres_depth").is_dir()
    return Manifest(
        name=folder.resolve().name,
        images="lowres_wide/*.png",
        licence="ARKitScenes (CC BY-NC-SA 4.0)",
        times=Times(from_names="seconds"),
        cameras=CameraFiles(files="lowres_wide_intrinsics/*.pincam", form="pincam"),
        poses=Poses(
            file="lowres_wide.traj", form="axis-angle", direction="w2c", match="time", tolerance_s=0.005,
            rotation_sigma_deg=0.5, direction_sigma_deg=3.0,
        ),
        depth=DepthImages(
            images="lowres_depth/*.png", unit_m=0.001, match="time", tolerance_s=0.005, relative_sigma=0.02
        ) if has_depth else None,
        gravity=Gravity(up_world=(0.0, 0.0, 1.0), sigma_deg=1.0),
        scale=Scale(kind="metric", relative_sigma=0.02, source="ARKit"),
        notes=("frames may lie on their side: metadata.csv says which way the sky is",),
    )  # fmt: skip


def _overrides(folder: Path, images: Images) -> Overrides:
    """Boxes of furniture, which stands still."""
    path = next(folder.glob(_BOXES))
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))["data"]
        boxes = [one["segments"]["obbAligned"] for one in listed]
        poses = [
            box(np.array(one["normalizedAxes"], dtype=np.float64).reshape(3, 3).T, one["centroid"]) for one in boxes
        ]
        labels = tuple(str(one["label"]) for one in listed)
        size = np.array([one["axesLengths"] for one in boxes], dtype=np.float64).reshape(-1, 3)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} holds no boxes: {error!r}", "data[*].segments.obbAligned") from error
    standing = np.array(poses).reshape(-1, 4, 4)
    objects = KnownObjects(
        labels=labels, world_from_object=np.tile(standing, (len(images), 1, 1, 1)), size=size, sigma=0.1
    )
    return Overrides(objects=objects)


ARKITSCENES = Preset(
    fits=_fits,
    layouts=_layouts,
    source="Baruch et al., ARKitScenes, NeurIPS 2021, DATA.md and the loader of its 3-D detection benchmark",
    checked=False,
)
