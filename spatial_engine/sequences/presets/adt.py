"""Aria Digital Twin, exported: rectified/NS.{rgb,depth}.png, frames.json, and the CSV and JSON files of the dataset.

The recording itself is a fisheye video in a VRS file, which no signal holds: export and undistort it first with the
dataset's own tools. frames.json has {"frames": [{"timestamp_ns", "T_world_camera_rgb"}], "rectified": {fx fy cx cy}}.
"""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from spatial_engine.errors import UsageError
from spatial_engine.sequences.cameras import Fisheye624
from spatial_engine.sequences.known_objects import KnownObjects, box, read_mask
from spatial_engine.sequences.manifest import Camera, DepthImages, Gravity, Manifest, Poses, Scale, Times
from spatial_engine.sequences.presets import Images, Layout, Overrides, Preset
from spatial_engine.sources.image_groups import read_header

_STILL = -1
_NEAR_NS = 20_000_000
_SIZE_SIGMA_M = 0.02
"""Chosen: boxes lie loosely around round things."""
_POSES = Poses(rotation_sigma_deg=0.05, direction_sigma_deg=0.5, position_relative_sigma=0.01)


def _fits(folder: Path) -> bool:
    return (folder / "scene_objects.csv").is_file() and (folder / "3d_bounding_box.csv").is_file()


def _layouts(folder: Path) -> tuple[Layout, ...]:
    if not (folder / "frames.json").is_file() or not any(folder.glob("rectified/*.rgb.png")):
        raise UsageError(
            f"{folder} holds a fisheye recording, and no images without distortion",
            "export rectified/NS.rgb.png and frames.json with projectaria_tools (docs/sequences.md)",
        )
    exported = json.loads((folder / "frames.json").read_text(encoding="utf-8"))
    lens = exported["rectified"]
    manifest = Manifest(
        name=folder.resolve().name,
        images="rectified/*.rgb.png",
        licence="Aria Digital Twin (research)",
        times=Times(from_names="nanoseconds"),
        camera=Camera(fx=lens["fx"], fy=lens["fy"], cx=lens["cx"], cy=lens["cy"], focal_relative_sigma=0.002),
        poses=_POSES,
        depth=DepthImages(images="rectified/*.depth.png", unit_m=0.001, match="name", relative_sigma=0.005)
        if any(folder.glob("rectified/*.depth.png"))
        else None,
        gravity=Gravity(up_world=(0.0, 1.0, 0.0), sigma_deg=0.5),
        scale=Scale(kind="metric", relative_sigma=0.005, source="motion capture"),
        notes=(
            "the sensor stands on its side: up is to the picture's left",
            "boxes have no heading; no name is complete: one object may be called in several ways",
        ),
    )
    return (
        Layout(manifest=manifest, overrides=lambda images: _overrides(folder, exported["frames"], manifest, images)),
    )


def _overrides(folder: Path, frames: list[dict[str, Any]], manifest: Manifest, images: Images) -> Overrides:
    stamps = [int(image.name.split(".")[0]) for image in images]
    known = {int(one["timestamp_ns"]): np.array(one["T_world_camera_rgb"], dtype=np.float64) for one in frames}
    none = np.full((4, 4), np.nan)
    return Overrides(
        world_from_cam=np.stack([known.get(stamp, none) for stamp in stamps]),
        objects=_objects(folder, stamps, manifest, images),
    )


def _objects(folder: Path, stamps: list[int], manifest: Manifest, images: Images) -> KnownObjects:
    poses_of, sizes = _poses(folder / "scene_objects.csv"), _boxes(folder / "3d_bounding_box.csv")
    told = json.loads((folder / "instances.json").read_text(encoding="utf-8"))
    names = [name for name in poses_of if name in sizes]
    poses = np.full((len(stamps), len(names), 4, 4), np.nan)
    for k, name in enumerate(names):
        to_middle = np.eye(4)
        to_middle[:3, 3] = sizes[name].mean(axis=0)
        for image, stamp in enumerate(stamps):
            pose = _at(poses_of[name], stamp)
            if pose is not None:
                poses[image, k] = pose @ to_middle
    masks = [folder / "seg_rgb" / f"{stamp}.npz" for stamp in stamps]
    lens = _lens(folder / "calibration.json")
    assert manifest.camera is not None
    size_px = read_header(images[0])
    has_masks = lens is not None and any(mask.is_file() for mask in masks)
    return KnownObjects(
        labels=tuple(str(told.get(name, {}).get("category", "object")) for name in names),
        world_from_object=poses,
        size=np.array([np.ptp(sizes[name], axis=0) for name in names]).reshape(-1, 3),
        sigma=0.0 if has_masks else 0.01,
        size_sigma=_SIZE_SIGMA_M,
        others_stand_still=has_masks,
        masks=tuple(mask if mask.is_file() else None for mask in masks) if has_masks else (),
        of_value={int(name): k for k, name in enumerate(names)},
        read=read_mask
        if lens is None
        else lens.undistorted(manifest.camera, size_px.width_px, size_px.height_px, read_mask),
    )


def _at(timed: dict[int, np.ndarray], stamp: int) -> np.ndarray | None:
    """The pose nearest in time, None if it is too far; a static object has one pose without a time."""
    if _STILL in timed:
        return timed[_STILL]
    nearest = min(timed, key=lambda time: abs(time - stamp))
    return timed[nearest] if abs(nearest - stamp) <= _NEAR_NS else None


def _poses(path: Path) -> dict[str, dict[int, np.ndarray]]:
    found: dict[str, dict[int, np.ndarray]] = {}
    for uid, stamp, tx, ty, tz, w, x, y, z in _rows(path):
        rotation = Rotation.from_quat([float(x), float(y), float(z), float(w)]).as_matrix()
        found.setdefault(uid, {})[int(stamp)] = box(rotation, [float(tx), float(ty), float(tz)])
    return found


def _boxes(path: Path) -> dict[str, np.ndarray]:
    """Lower and upper corner of each box in the object's own axes."""
    return {uid: np.array([float(one) for one in ends]).reshape(3, 2).T for uid, _, *ends in _rows(path)}


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def _lens(path: Path) -> Fisheye624 | None:
    if not path.is_file():
        return None
    stated = json.loads(path.read_text(encoding="utf-8"))["camera-rgb"]
    return Fisheye624(params=tuple(float(one) for one in stated["params"]))


ADT = Preset(
    fits=_fits,
    layouts=_layouts,
    source="Pan et al., Aria Digital Twin, ICCV 2023, and the data format page of projectaria_tools",
    checked=True,
)
